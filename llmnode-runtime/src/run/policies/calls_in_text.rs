//! For servers that do not recognise the calls of their model and return them as
//! its text: llama.cpp without a template for tools, vLLM without a parser, and
//! models that write the notation of another one.
//!
//! The reader says whether a response consists of calls
//! (`llmnode_reader::calls::written_calls`). This says what becomes of it:
//!
//! 1. a text, if it is none, or may be the answer itself;
//! 2. a text with a flag, if a call stands in anything that the model was shown: it
//!    repeats data, which is never executed;
//! 3. a round, if the calls may run;
//! 4. a bad answer, about which the model is told, if they may not: they are in a
//!    notation that is not read, they name a tool that is only called natively, the
//!    model was shown what cannot be read for calls (a picture, a PDF), or this is
//!    where only an answer is left. As a call that the provider could not parse, it
//!    takes a turn.
//!
//! A bad answer with a call inside other text gets a complaint about that, first.

use llmnode_model::{Attachment, Category, Message, Request, Retry, Role, ToolCall, ToolSpec};
use llmnode_reader::calls::{InText, Shown, WrittenCall, attempted, written_calls};
use llmnode_reader::{Flag, Violation};

use super::policy::{AttemptView, Change, Next, Policy};
use crate::run::failure::Failure;
use crate::run::feedback::is_complaint;
use crate::run::response::{Judgement, Response};
use crate::run::tools::{MAX_CALLS, Round, search_name};

/// Asks for the call again, in a way that is read.
const WRITE_THE_CALL: &str = "write only the call, or only the answer";
const CALL_NATIVELY: &str = "use the function calls of the API";

pub(super) struct CallsInText;

impl Policy for CallsInText {
    fn received(&self, response: &Response, attempt: &mut AttemptView<'_>) -> Option<Next> {
        // More may follow what was cut.
        let is_whole = !response.was_stopped || response.padding > 0;
        let may_have_calls = response.round.is_none() && !attempt.request.tools.is_empty();
        if !is_whole || !may_have_calls || !attempt.settings.calls_in_text() {
            return None;
        }
        let is_typed = attempt.request.output.is_some();
        let names = names(attempt.request);
        let found = written_calls(&response.text, &names, is_typed)?;
        // Asked last, since it reads the whole text.
        if is_typed && (attempt.is_answer)(&response.text) {
            return None;
        }
        let allowed = Allowed::by(attempt);
        match decide(found, &response.text, allowed, attempt.request)? {
            CalledInText::Answer(text) => Some(Next::Adapt(Change::Text(text))),
            CalledInText::Quoted => Some(Next::Adapt(Change::Flag(Flag::QuotedCall))),
            CalledInText::Refused(violation) => Some(Next::GiveUp(Failure {
                retry: Some(Retry::Feedback),
                ..Failure::rejected(Category::SchemaError, vec![violation])
            })),
            CalledInText::Round(round) => {
                attempt.history.has_called_in_text = true;
                attempt.notes.flags.push(Flag::CallInText);
                Some(Next::Adapt(Change::Round(round)))
            }
        }
    }

    fn after(
        &self,
        response: &Response,
        judgement: &Judgement,
        attempt: &mut AttemptView<'_>,
    ) -> Option<Next> {
        let rejection = judgement.rejection()?;
        if rejection.category != Category::SchemaError || !Allowed::by(attempt).may_run {
            return None;
        }
        let complaint = misplaced_call(&response.text, attempt.request)?;
        Some(Next::Adapt(Change::Complaint(complaint)))
    }
}

/// What may be done with calls in a text.
#[derive(Clone, Copy)]
struct Allowed {
    /// The server knows no calls, as far as is known.
    may_run: bool,
    /// The node itself asks for them, so that tools run in this way that otherwise do not.
    is_asked_for: bool,
}

impl Allowed {
    fn by(attempt: &AttemptView<'_>) -> Self {
        let settings = attempt.settings;
        Allowed {
            may_run: settings.calls_in_text() && attempt.model.calls_in_text(attempt.request),
            is_asked_for: settings.node_asks_for_calls_in_text(),
        }
    }
}

/// What a text with calls is.
enum CalledInText {
    /// The answer's function is called like a tool: these are its arguments.
    Answer(String),
    /// It repeats a call that stands in the data.
    Quoted,
    Round(Box<Round>),
    Refused(Violation),
}

/// What becomes of a text in which the reader has found calls. `None`: it is a
/// text.
///
/// Whether a call is quoted is asked before anything is made of it, and only where
/// something would be: all that the model was shown is read for it.
fn decide(found: InText, text: &str, allowed: Allowed, request: &Request) -> Option<CalledInText> {
    match found {
        InText::Unread { .. } if shown_to_model(request).has_text(text) => {
            Some(CalledInText::Quoted)
        }
        InText::Unread { tool } => {
            let complaint = not_read(tool.as_deref(), allowed, request);
            Some(CalledInText::Refused(complaint))
        }
        InText::Calls { calls, marked } if request.answer_now || !allowed.may_run => {
            if !marked || is_quoted(&calls, request) {
                return None;
            }
            let first = calls.first().map(|call| &*call.name);
            Some(CalledInText::Refused(not_read(first, allowed, request)))
        }
        InText::Calls { calls, .. } if calls.len() > MAX_CALLS => None,
        InText::Calls { calls, .. } => Some(run(calls, allowed, request)),
    }
}

/// The calls may run, as far as the server and the settings go. What is left to ask
/// is whether these may.
fn run(calls: Vec<WrittenCall>, allowed: Allowed, request: &Request) -> CalledInText {
    // The answer's function is called like a tool.
    if let (Some(output), [call]) = (&request.output, &calls[..])
        && output.name() == call.name
    {
        return CalledInText::Answer(call.arguments.clone());
    }
    if is_quoted(&calls, request) {
        return CalledInText::Quoted;
    }
    let native_only = calls
        .iter()
        .find(|call| is_native_only(call, allowed, request));
    if let Some(WrittenCall { name, .. }) = native_only {
        let why = format!("is a call of `{name}` in a text; nothing was called; {CALL_NATIVELY}");
        return CalledInText::Refused(Violation::new("", why));
    }
    if !allowed.is_asked_for && shows_more_than_texts(request) {
        let name = calls.first().map(|call| &*call.name).unwrap_or_default();
        let why = format!(
            "is a call of `{name}` in a text, beside a picture or a file that is not read for calls; nothing was called; \
             {CALL_NATIVELY}"
        );
        return CalledInText::Refused(Violation::new("", why));
    }
    let mut tool_calls = Vec::with_capacity(calls.len());
    for WrittenCall {
        id,
        name,
        arguments,
        ..
    } in calls
    {
        tool_calls.push(ToolCall::new(id.unwrap_or_default(), name, arguments));
    }
    CalledInText::Round(Round::new(tool_calls, &request.messages))
}

/// Calls that end the conversation are, and what must not happen by mistake, unless
/// the node itself takes it from texts.
fn is_native_only(call: &WrittenCall, allowed: Allowed, request: &Request) -> bool {
    request
        .callable()
        .iter()
        .filter(|tool| tool.name == call.name)
        .any(|tool| {
            let is_guarded = tool.at_most_once || tool.needs_approval;
            tool.external || (is_guarded && !allowed.is_asked_for)
        })
}

fn not_read(tool: Option<&str>, allowed: Allowed, request: &Request) -> Violation {
    let tool = tool.map(|name| format!(" of `{name}`")).unwrap_or_default();
    let how = match (request.answer_now, allowed.may_run) {
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
fn misplaced_call(text: &str, request: &Request) -> Option<Violation> {
    if request.answer_now || request.tools.is_empty() {
        return None;
    }
    let names = names(request);
    let name = attempted(text, &names)?;
    let repeats_data = match written_calls(text, &names, true) {
        Some(InText::Calls { calls, .. }) => is_quoted(&calls, request),
        _ => false,
    };
    let message = if repeats_data {
        format!("repeats a call of `{name}` that stands in the data; nothing was called")
    } else {
        format!("has a call of `{name}` inside other text; {WRITE_THE_CALL}")
    };
    Some(Violation::new("", message))
}

/// A text may call what is not listed yet, but not through `call_tool`: that would
/// hide what is called.
fn names(request: &Request) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for tool in request.callable() {
        names.push(&tool.name);
    }
    names.extend(search_name(request));
    names
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

/// All texts of the request. Read only where an answer looks like a call: a
/// conversation may be long.
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
        for (name, value) in fields {
            shown.add(&format!("{name}: {value}"));
        }
    }
    shown
}

/// An answer with a call that the model was asked to write again.
fn is_to_be_repeated(answer: &Message, next: Option<&Message>) -> bool {
    let Some(next) = next else {
        return false;
    };
    answer.role == Role::Assistant && is_complaint(next) && next.content.contains(WRITE_THE_CALL)
}

/// What was called before may be called again, but not what the arguments quote.
fn add_message(message: &Message, shown: &mut Shown) {
    shown.add(&message.content);
    for attachment in message.attachments() {
        for text in attachment.texts() {
            shown.add(&text);
        }
    }
    for call in message.calls() {
        shown.add(&call.arguments);
    }
}
