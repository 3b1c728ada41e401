//! What a request may use: the tokens of all that it carries, and of the answer that it allows.
//!
//! In comes a request as the attempt loop has it, before an API writes it. Out goes
//! what a reservation makes room for. It has to see whatever reaches the model:
//! texts, calls and their results, tools and schemas, attachments, what goes back
//! to a provider as it came, and the fields that a program adds itself. What only
//! the provider adds is learned from its first counts ([`first`](super::first)).
//! Without a limit nobody asks.

use llmnode_model::{Attachment, ChatModel, Message, Reasoning, Request};
use llmnode_reader::OutputSchema;
use serde_json::{Map, Value};

use super::prompt::PromptTokens;

/// What a request may use, before anything is known of it.
#[derive(Clone, Copy)]
pub(crate) struct RequestTokens {
    pub(crate) prompt: PromptTokens,
    pub(crate) answer: AnswerTokens,
    /// The most that the model thinks, where the answer has no other limit.
    pub(crate) thinking: u64,
    /// How many answers the program asks for in a field of the provider's own: each
    /// costs, and one is read.
    pub(crate) answers: u64,
}

/// The tokens of an answer that a request makes room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerTokens {
    /// At most this many, as the program or the model wants it.
    AtMost(u32),
    /// About as many as the answers before: the limit that is sent is nobody's, and much higher.
    BelowDefault(u32),
    /// About as many as the answers before.
    Unknown,
}

/// Of each part, which has a few around it.
const AROUND: usize = 16;

impl RequestTokens {
    /// `estimate`: of the prompt.
    pub(crate) fn of(request: &Request, model: &dyn ChatModel, estimate: u64) -> Self {
        let attachments = request
            .messages
            .iter()
            .flat_map(Message::attachments)
            .count() as u64;
        let prompt = PromptTokens {
            estimate,
            most: most_tokens(request),
            least: least_tokens(request),
            attachments,
        };
        RequestTokens {
            prompt,
            answer: AnswerTokens::of(request, model),
            thinking: thinking_tokens(request),
            answers: answers(request),
        }
    }
}

impl AnswerTokens {
    fn of(request: &Request, model: &dyn ChatModel) -> Self {
        if let Some(tokens) = limit_in_extra(request) {
            return AnswerTokens::AtMost(tokens);
        }
        match model.max_tokens(request) {
            Some(tokens) if model.has_default_limit(request) => AnswerTokens::BelowDefault(tokens),
            Some(tokens) => AnswerTokens::AtMost(tokens),
            None => AnswerTokens::Unknown,
        }
    }
}

/// One token per byte of all that a request carries, less for what is packed, and a
/// figure for each attachment.
fn most_tokens(request: &Request) -> u64 {
    let attached = request.messages.iter().flat_map(Message::attachments);
    let attached = attached
        .map(Attachment::most_tokens)
        .fold(0, u64::saturating_add);
    let tools = request.tools.iter();
    let tools =
        tools.map(|tool| tool.name.len() + tool.description.len() + bytes_of_schema(&tool.schema));
    let bytes = request.messages.iter().map(bytes_of_message).sum::<usize>()
        + tools.sum::<usize>()
        + request.output.as_deref().map_or(0, bytes_of_schema)
        + request.all_extra().map(bytes_of_fields).sum::<usize>();
    attached.saturating_add(bytes as u64)
}

fn bytes_of_message(message: &Message) -> usize {
    /// Of thoughts that are encrypted or signed.
    const CARRIED_BYTES_OF_A_TOKEN: usize = 3;
    let calls = message.calls().iter();
    let calls = calls.map(|call| AROUND + call.id.len() + call.name.len() + call.arguments.len());
    let carried = message.carried().map_or(0, |carried| {
        carried.bytes().div_ceil(CARRIED_BYTES_OF_A_TOKEN)
    });
    AROUND
        + message.content.len()
        + message.answers().map_or(0, str::len)
        + calls.sum::<usize>()
        + carried
}

fn bytes_of_schema(schema: &OutputSchema) -> usize {
    AROUND + schema.name().len() + schema.plain().get().len()
}

/// Some are tools of the provider, or texts.
fn bytes_of_fields(fields: &Map<String, Value>) -> usize {
    if fields.is_empty() {
        0
    } else {
        serde_json::to_string(fields).map_or(0, |json| json.len())
    }
}

/// About the fewest tokens of the texts: few words have more letters than eight.
fn least_tokens(request: &Request) -> u64 {
    const LETTERS: usize = 8;
    let characters: usize = request
        .messages
        .iter()
        .map(|message| message.content.chars().count())
        .sum();
    (characters / LETTERS) as u64
}

/// The limit of the answer where the program writes it in a field of the provider's own.
fn limit_in_extra(request: &Request) -> Option<u32> {
    const FIELDS: [&[&str]; 4] = [
        &["max_tokens"],
        &["max_completion_tokens"],
        &["max_output_tokens"],
        &["generationConfig", "maxOutputTokens"],
    ];
    largest_figure(request, &FIELDS).map(|tokens| u32::try_from(tokens).unwrap_or(u32::MAX))
}

/// The most that the model may think, as the program says.
fn thinking_tokens(request: &Request) -> u64 {
    const FIELDS: [&[&str]; 3] = [
        &["thinking", "budget_tokens"],
        &["generationConfig", "thinkingConfig", "thinkingBudget"],
        &["thinking_budget"],
    ];
    match request.reasoning {
        Some(Reasoning::Budget(tokens)) => tokens.into(),
        _ => largest_figure(request, &FIELDS).unwrap_or(0),
    }
}

fn answers(request: &Request) -> u64 {
    const FIELDS: [&[&str]; 2] = [&["n"], &["generationConfig", "candidateCount"]];
    largest_figure(request, &FIELDS).unwrap_or(1).max(1)
}

/// Whatever API is asked.
fn largest_figure(request: &Request, paths: &[&[&str]]) -> Option<u64> {
    request
        .all_extra()
        .flat_map(|fields| paths.iter().filter_map(move |path| figure(fields, path)))
        .max()
}

fn figure(fields: &Map<String, Value>, path: &[&str]) -> Option<u64> {
    let (first, within) = path.split_first()?;
    let value = within
        .iter()
        .try_fold(fields.get(*first)?, |value, name| value.get(name))?;
    value.as_u64()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use llmnode_model::ext::{CarriedPart, Json};
    use llmnode_model::{
        ApiKind, File, Image, Message, ProviderState, Request, ScriptedModel, ToolCall, ToolSpec,
    };
    use serde_json::json;

    use super::*;

    fn most(change: impl FnOnce(&mut Request)) -> u64 {
        let mut request = Request::new(vec![Message::user("Hello")]);
        change(&mut request);
        most_tokens(&request)
    }

    #[test]
    fn all_that_a_request_carries_counts() {
        let plain = most(|_| {});
        let is_seen = |change: &dyn Fn(&mut Request), at_least: u64| {
            let more = most(|request| change(request)) - plain;
            assert!(more >= at_least, "{more} of {at_least}");
        };
        let carried = || {
            let parts = vec![CarriedPart::Other(Json::of(&"x".repeat(3_000)).unwrap())];
            Some(Arc::new(ProviderState::new("anthropic", "m", parts)))
        };
        let call = || ToolCall::new("call_1", "search", "y".repeat(500));
        let schema = OutputSchema::from_value(
            "answer",
            json!({"type": "string", "description": "d".repeat(700)}),
        );
        let schema = Arc::new(schema);
        is_seen(
            &|request| {
                request
                    .messages
                    .push(Message::assistant("").carrying(carried()))
            },
            1_000,
        );
        is_seen(
            &|request| {
                request
                    .messages
                    .push(Message::assistant("").calling([call()]))
            },
            500,
        );
        is_seen(
            &|request| {
                request
                    .messages
                    .push(Message::tool("call_1", "z".repeat(400)))
            },
            400,
        );
        is_seen(&|request| request.output = Some(Arc::clone(&schema)), 700);
        is_seen(
            &|request| {
                let tool = ToolSpec::new("search", "e".repeat(300), Arc::clone(&schema));
                request.tools = Arc::from([tool]);
            },
            1_000,
        );
        is_seen(
            &|request| drop(request.extra.insert("note".into(), json!("n".repeat(600)))),
            600,
        );
        is_seen(
            &|request| {
                let fields = Map::from_iter([("tools".to_owned(), json!(["t".repeat(800)]))]);
                request
                    .extra_on
                    .get_or_insert_default()
                    .insert(ApiKind::Gemini, fields);
            },
            800,
        );
        let unknown = Image::url("https://a.example/b.png").unwrap();
        is_seen(
            &|request| {
                request
                    .messages
                    .push(Message::user("").attach(unknown.clone()))
            },
            3_000,
        );
        let packed = File::bytes("a.pdf", "application/pdf", [b' '; 50_000]).unwrap();
        is_seen(
            &|request| {
                request
                    .messages
                    .push(Message::user("").attach(packed.clone()))
            },
            9_000,
        );
    }

    #[test]
    fn what_limits_an_answer_is_read_wherever_it_stands() {
        let model = ScriptedModel::new();
        let answer = |change: &dyn Fn(&mut Request)| {
            let mut request = Request::new(vec![Message::user("Hello")]);
            change(&mut request);
            let tokens = RequestTokens::of(&request, &model, 1);
            (tokens.answer, tokens.thinking)
        };
        assert_eq!(answer(&|_| {}), (AnswerTokens::Unknown, 0));
        assert_eq!(
            answer(&|request| request.max_tokens = Some(9)),
            (AnswerTokens::AtMost(9), 0)
        );
        let extra = |request: &mut Request| {
            drop(
                request
                    .extra
                    .insert("max_completion_tokens".into(), json!(700)),
            );
            let fields = json!({"generationConfig": {"thinkingConfig": {"thinkingBudget": 512}}});
            let fields = fields.as_object().unwrap().clone();
            request
                .extra_on
                .get_or_insert_default()
                .insert(ApiKind::Gemini, fields);
        };
        assert_eq!(answer(&extra), (AnswerTokens::AtMost(700), 512));
        let several = |request: &mut Request| drop(request.extra.insert("n".into(), json!(5)));
        let candidates = |request: &mut Request| {
            let fields = json!({"generationConfig": {"candidateCount": 3}});
            let fields = fields.as_object().unwrap().clone();
            request
                .extra_on
                .get_or_insert_default()
                .insert(ApiKind::Gemini, fields);
        };
        let of = |change: &dyn Fn(&mut Request)| {
            let mut request = Request::new(vec![Message::user("Hello")]);
            change(&mut request);
            RequestTokens::of(&request, &model, 1).answers
        };
        assert_eq!([of(&|_| {}), of(&several), of(&candidates)], [1, 5, 3]);
        let budget = |request: &mut Request| request.reasoning = Some(Reasoning::Budget(2_000));
        assert_eq!(answer(&budget), (AnswerTokens::Unknown, 2_000));
    }
}
