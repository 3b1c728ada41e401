//! Calls of tools that a model writes as its text, because its server does not recognise them as calls.
//!
//! In comes an answer without calls; the reader says whether it consists of some (`llmnode_reader::internal::written_calls`). Out
//! goes what becomes of it:
//!
//! 1. a text, if it is none, or may be the answer itself;
//! 2. a text with a flag, if a call stands in anything that the model was shown: it repeats data, which is never executed;
//! 3. a round, if the calls may run;
//! 4. a bad answer, about which the model is told, if they may not: they are in a notation that is not read, they name a tool
//!    that is only called natively, the model was shown what cannot be read for calls (a picture, a PDF), or this is where only an
//!    answer is left.

use llmnode_model::{Attachment, Message, Request, Role, ToolCall, ToolSpec};
use llmnode_reader::internal::{InText, Shown, WrittenCall, attempted, written_calls};
use llmnode_reader::{Reader, Violation};

use super::round::{MAX_CALLS, Round, with_unique_ids};
use crate::run::erased_node::ErasedNode;
use crate::run::feedback::is_complaint;

/// Asks for the call again, in a way that is read.
const WRITE_THE_CALL: &str = "write only the call, or only the answer";
const CALL_NATIVELY: &str = "use the function calls of the API";

/// What may be done with calls in a text.
#[derive(Clone, Copy, Debug)]
pub(in crate::run) struct TextCalls {
    /// The server knows no calls, as far as is known.
    pub(in crate::run) may_run: bool,
    /// The node itself asks for them, so that tools run in this way that otherwise do not.
    pub(in crate::run) is_asked_for: bool,
}

/// What a text is, seen as calls.
pub(in crate::run) enum CalledInText {
    Nothing,
    /// It repeats a call that stands in the data.
    Quoted,
    Round(Box<Round>),
    Refused(Violation),
}

pub(in crate::run) fn called_in_text(
    text: &mut String,
    may: TextCalls,
    request: &Request,
    node: &mut dyn ErasedNode<'_>,
    reader: Reader,
) -> CalledInText {
    if request.tools.is_empty() {
        return CalledInText::Nothing;
    }
    let typed = node.schema().is_some();
    let Some(found) = written_calls(text, &names(request), typed) else {
        return CalledInText::Nothing;
    };
    if typed && node.read(text, reader).is_ok() {
        return CalledInText::Nothing;
    }
    match found {
        InText::Unread { .. } if shown_to_model(request).has_text(text) => CalledInText::Quoted,
        InText::Unread { tool } => CalledInText::Refused(not_read(tool.as_deref(), may, request)),
        InText::Calls { calls, marked } if request.answer_now || !may.may_run => {
            match marked && !is_quoted(&calls, request) {
                true => CalledInText::Refused(not_read(
                    calls.first().map(|call| &*call.name),
                    may,
                    request,
                )),
                false => CalledInText::Nothing,
            }
        }
        InText::Calls { calls, .. } if calls.len() > MAX_CALLS => CalledInText::Nothing,
        InText::Calls { calls, .. } => run(text, calls, may, request),
    }
}

fn run(
    text: &mut String,
    calls: Vec<WrittenCall>,
    may: TextCalls,
    request: &Request,
) -> CalledInText {
    // The answer's function is called like a tool.
    if let (Some(output), [call]) = (&request.output, &calls[..])
        && output.name() == call.name
    {
        text.clone_from(&call.arguments);
        return CalledInText::Nothing;
    }
    if is_quoted(&calls, request) {
        return CalledInText::Quoted;
    }
    if let Some(call) = calls.iter().find(|call| is_native_only(call, may, request)) {
        let why = format!(
            "is a call of `{}` in a text; nothing was called; {CALL_NATIVELY}",
            call.name
        );
        return CalledInText::Refused(Violation::new("", why));
    }
    if !may.is_asked_for && shows_more_than_texts(request) {
        let name = calls.first().map(|call| &*call.name).unwrap_or_default();
        let why = format!(
            "is a call of `{name}` in a text, beside a picture or a file that is not read for calls; nothing was called; \
             {CALL_NATIVELY}"
        );
        return CalledInText::Refused(Violation::new("", why));
    }
    let calls = calls
        .into_iter()
        .map(|call| ToolCall::new(call.id.unwrap_or_default(), call.name, call.arguments));
    CalledInText::Round(Round::of_calls(with_unique_ids(
        calls.collect(),
        &request.messages,
    )))
}

/// Calls that end the conversation are, and what must not happen by mistake, unless the node itself takes it from texts.
fn is_native_only(call: &WrittenCall, may: TextCalls, request: &Request) -> bool {
    request
        .tools
        .iter()
        .filter(|tool| tool.name == call.name)
        .any(|tool| {
            let is_guarded = tool.at_most_once || tool.needs_approval;
            tool.external || (is_guarded && !may.is_asked_for)
        })
}

fn not_read(tool: Option<&str>, may: TextCalls, request: &Request) -> Violation {
    let tool = tool.map(|name| format!(" of `{name}`")).unwrap_or_default();
    let how = match (request.answer_now, may.may_run) {
        (true, _) => "no more calls are possible: answer".to_owned(),
        (false, false) => CALL_NATIVELY.to_owned(),
        (false, true) => {
            format!("{WRITE_THE_CALL}; a call is {{\"name\": <tool>, \"arguments\": <object>}}")
        }
    };
    Violation::new(
        "",
        format!("is a call{tool} in a notation that is not read; nothing was called; {how}"),
    )
}

/// A call inside other text, or one that repeats data, in an answer that was refused.
pub(in crate::run) fn misplaced_call(text: &str, request: &Request) -> Option<Violation> {
    if request.answer_now || request.tools.is_empty() {
        return None;
    }
    let name = attempted(text, &names(request))?;
    let quoted = match written_calls(text, &names(request), true) {
        Some(InText::Calls { calls, .. }) => is_quoted(&calls, request),
        _ => false,
    };
    let message = if quoted {
        format!("repeats a call of `{name}` that stands in the data; nothing was called")
    } else {
        format!("has a call of `{name}` inside other text; {WRITE_THE_CALL}")
    };
    Some(Violation::new("", message))
}

fn names(request: &Request) -> Vec<&str> {
    request.tools.iter().map(|tool| &*tool.name).collect()
}

fn is_quoted(calls: &[WrittenCall], request: &Request) -> bool {
    let shown = shown_to_model(request);
    calls.iter().take(MAX_CALLS).any(|call| shown.has(call))
}

/// A call that stands in a picture would not be found.
fn shows_more_than_texts(request: &Request) -> bool {
    !request
        .messages
        .iter()
        .flat_map(Message::attachments)
        .all(Attachment::is_text)
}

/// All texts of the request. Read only where an answer looks like a call: a conversation may be long.
fn shown_to_model(request: &Request) -> Shown {
    let mut shown = Shown::default();
    let question = request.question.map_or(request.messages.len(), usize::from);
    for (at, message) in request.messages.iter().enumerate() {
        // Feedback stands behind the question; before it, the same words are data.
        if at < question || !is_to_be_repeated(message, request.messages.get(at + 1)) {
            add_message(message, &mut shown);
        }
    }
    for ToolSpec {
        description,
        schema,
        ..
    } in request.tools.iter()
    {
        shown.add(description);
        shown.add(schema.plain().get());
    }
    if let Some(output) = &request.output {
        shown.add(output.plain().get());
    }
    // Documents may stand in fields of the provider's own.
    for fields in request.all_extra() {
        fields
            .iter()
            .for_each(|(name, value)| shown.add(&format!("{name}: {value}")));
    }
    shown
}

/// An answer with a call that the model was asked to write again.
fn is_to_be_repeated(answer: &Message, next: Option<&Message>) -> bool {
    let is_asked = |next: &Message| is_complaint(next) && next.content.contains(WRITE_THE_CALL);
    answer.role == Role::Assistant && next.is_some_and(is_asked)
}

/// What was called before may be called again, but not what the arguments quote.
fn add_message(message: &Message, shown: &mut Shown) {
    shown.add(&message.content);
    for attachment in message.attachments() {
        attachment.texts().for_each(|text| shown.add(&text));
    }
    message
        .calls()
        .iter()
        .for_each(|call| shown.add(&call.arguments));
}
