//! A tool that asks a person in the middle of its work, in the protocol of
//! 2026-07-28: `input_required`.
//!
//! In comes what the server wants to know before it goes on; out goes the error
//! with which the call of the agent pauses, and later, with the person's replies,
//! the same request once more. What the server wants to get back (`requestState`)
//! is kept in the pause and shown to nobody. Only forms are passed on: what asks
//! for a model's answer (`sampling`), for folders (`roots`), or sends a person to
//! another site (`mode: url`) is refused, since nobody here has agreed to it.

use std::collections::BTreeMap;

use llmnode_runtime::Question;
use llmnode_runtime::ext::{AskedReplies, AskedReply, Asks};
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ElicitRequestParams, ElicitationCapability,
    ErrorCode, ErrorData, FormElicitationCapability, InputRequest, InputRequiredResult,
};
use serde_json::{Value, json};

use crate::clean;

/// Of what one call asks at once.
const MOST_QUESTIONS: usize = 16;
const MAX_QUESTION_BYTES: usize = 64 * 1024;

/// How often a server may answer that the same request should be sent once more,
/// without asking anything.
pub(crate) const MOST_ROUNDS: usize = 10;

/// What the model reads when a server no longer knows its question.
pub(crate) const EXPIRED: &str = "the question expired; call the tool again";

/// The reason of an error by which a server says that it does not take its state
/// back: it is too old, or was changed.
pub(crate) const EXPIRED_STATE: &str = "invalid_request_state";

/// What a client declares that passes questions on.
pub(crate) fn capabilities() -> ClientCapabilities {
    let form = FormElicitationCapability::default();
    let mut capabilities = ClientCapabilities::default();
    capabilities.elicitation = Some(ElicitationCapability::new().with_form(form));
    capabilities
}

/// What a server wants before it goes on.
pub(crate) enum Wanted {
    /// The same request once more, with this state.
    Again(Option<String>),
    Replies(Asks),
}

/// Reads what a server wants. `Err`: it cannot have that, in words for the model.
pub(crate) fn readable(
    required: InputRequiredResult,
    redact: impl Fn(&str) -> String,
) -> Result<Wanted, String> {
    let memory = required.request_state;
    let requests = required.input_requests.unwrap_or_default();
    if requests.is_empty() {
        return Ok(Wanted::Again(memory));
    }
    if requests.len() > MOST_QUESTIONS {
        let many = requests.len();
        return Err(format!(
            "the server asks {many} questions at once; at most {MOST_QUESTIONS} are passed on"
        ));
    }
    let mut questions = BTreeMap::new();
    for (name, request) in requests {
        questions.insert(name, question(request, &redact)?);
    }
    Ok(Wanted::Replies(Asks { questions, memory }))
}

fn question(request: InputRequest, redact: impl Fn(&str) -> String) -> Result<Question, String> {
    let refused = match request {
        InputRequest::Elicitation(request) => match request.params {
            ElicitRequestParams::FormElicitationParams {
                message,
                requested_schema,
                ..
            } => {
                let schema = serde_json::to_value(requested_schema).unwrap_or_default();
                return form(&redact(&message), &redact(&schema.to_string()));
            }
            _ => "to send a person to another site",
        },
        InputRequest::CreateMessage(_) => "for the answer of a model",
        InputRequest::ListRoots(_) => "for folders of this machine",
        _ => "for what this client does not know",
    };
    tracing::warn!("a call of a tool is refused: its server asks {refused}");
    Err(format!(
        "the server asks {refused}, which this client refuses"
    ))
}

fn form(message: &str, schema: &str) -> Result<Question, String> {
    if schema.len() > MAX_QUESTION_BYTES {
        return Err("the server asks with a form that is too long".to_owned());
    }
    let mut schema: Value = serde_json::from_str(schema)
        .map_err(|_| "the server asks with a form that cannot be read".to_owned())?;
    clean::clean_schema(&mut schema, &clean::description);
    if clean::has_hidden(&schema) {
        return Err("the server asks with a form that has invisible characters".to_owned());
    }
    Ok(Question::new(&clean::description(message), schema))
}

/// The request once more, with what a person replied.
pub(crate) fn with_replies(
    request: CallToolRequestParams,
    replies: AskedReplies,
) -> CallToolRequestParams {
    let responses = replies
        .replies
        .into_iter()
        .map(|(name, reply)| (name, response(reply)));
    let request = request.with_input_responses(responses.collect());
    match replies.memory {
        Some(state) => request.with_request_state(state),
        None => request,
    }
}

fn response(reply: AskedReply) -> Value {
    match reply {
        AskedReply::Answer(content) => json!({"action": "accept", "content": content}),
        AskedReply::Declined => json!({"action": "decline"}),
    }
}

pub(crate) fn is_expired(error: &ErrorData) -> bool {
    let reason = error.data.as_ref().and_then(|data| data["reason"].as_str());
    error.code == ErrorCode::INVALID_PARAMS && reason == Some(EXPIRED_STATE)
}
