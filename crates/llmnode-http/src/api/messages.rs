//! The messages of a request, and what is asked of all APIs alike.
//!
//! An answer's type is asked for by a schema where the API and the model take one,
//! and in words otherwise. The words go into the system message, so that they are
//! part of the cached beginning; at the end of the user's message only where the
//! system message has been sent already, or is the same for turns with another
//! form.

use std::borrow::Cow;

use llmnode_model::{Message, Part, ResponseFormat, Role};
use llmnode_reader::OutputSchema;
use llmnode_reader::ask::{Profile, choices_in_words, instruction, reminder, sent};
use serde_json::value::RawValue;

use super::prepared_request::PreparedRequest;
use super::request_shape::RequestShape;
use crate::refusal::parts;

/// Borrowed as long as nothing changes.
pub(crate) enum Messages<'a> {
    Unchanged(&'a [Message]),
    Rewritten(Vec<Cow<'a, Message>>),
}

impl<'a> Messages<'a> {
    /// The messages, whichever way they are held.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Message> {
        let (borrowed, owned): (&[Message], &[Cow<'a, Message>]) = match self {
            Messages::Unchanged(all) => (all, &[]),
            Messages::Rewritten(all) => (&[], all),
        };
        borrowed
            .iter()
            .chain(owned.iter().map(|message| &**message))
    }

    /// For a model that knows no system role: its text begins the user's first message.
    /// A message of its own would be a turn that nobody said.
    fn without_system(self) -> Self {
        let messages: Vec<Cow<'a, Message>> = match self {
            Messages::Unchanged(all) => all.iter().map(Cow::Borrowed).collect(),
            Messages::Rewritten(all) => all,
        };
        let (system, mut rest): (Vec<_>, Vec<_>) = messages
            .into_iter()
            .partition(|message| message.role == Role::System);
        let texts: Vec<&str> = system.iter().map(|message| &*message.content).collect();
        let text = texts.join("\n\n");
        if text.trim().is_empty() {
            return Messages::Rewritten(rest);
        }
        match rest.iter_mut().find(|message| message.role == Role::User) {
            Some(first) => {
                let begun = with_beginning(first, &format!("{text}\n\n"));
                *first = Cow::Owned(begun);
            }
            None => rest.insert(0, Cow::Owned(Message::user(text))),
        }
        Messages::Rewritten(rest)
    }

    /// Values that the request's schema lacks go into the prompt's last user
    /// message: they are data.
    fn with_words(self, question: Option<usize>, words: Option<String>, count: usize) -> Self {
        let (Some(mut at), Some(words)) = (question, words) else {
            return self;
        };
        let mut messages: Vec<Cow<'a, Message>> = match self {
            Messages::Unchanged(all) => all.iter().map(Cow::Borrowed).collect(),
            Messages::Rewritten(all) => {
                at += all.len().saturating_sub(count);
                all
            }
        };
        if let Some(message) = messages.get_mut(at) {
            let with_words = message.as_ref().clone().text(words);
            *message = Cow::Owned(with_words);
        }
        Messages::Rewritten(messages)
    }
}

/// Adds a description of the type if the rest of the request has none.
///
/// In this order: the description of the type, the lists of choices in words, the
/// names of the wire, and last the system's text of a model that takes none. The
/// names come behind all that is written here, since they have to fit it; the
/// system's text comes last, since it may hold the description by then.
pub(crate) fn instructed<'a>(prepared: &PreparedRequest<'a>) -> Messages<'a> {
    let PreparedRequest { request, shape, .. } = *prepared;
    let RequestShape {
        quirks,
        schema,
        choices,
        ..
    } = shape;
    let typed = schema.and_then(|(format, _)| Some((format, request.output.as_deref()?)));
    let is_ignored = quirks.unenforced.is_some();
    // This very call has found out that the server ignores the schema.
    let found_out =
        is_ignored && request.correlation.map(|attempt| attempt.call()) == quirks.unenforced;
    let words = typed.and_then(|(format, schema)| words(format, schema, choices && !is_ignored));
    let question = request.question.map(usize::from);
    let ends_with_user = match request.messages.last() {
        Some(last) => last.role == Role::User,
        None => false,
    };
    let is_described = typed.is_some_and(|(format, _)| format == ResponseFormat::Prompt);
    let at_end = shape.keeps_function && is_described && ends_with_user;
    let place = if found_out || at_end {
        request.messages.len().checked_sub(1)
    } else {
        question
    };
    let messages = match typed {
        Some((ResponseFormat::JsonObject | ResponseFormat::Prompt, schema)) => {
            Messages::Rewritten(with_instruction(&request.messages, schema, at_end))
        }
        // The server ignores the schema. The call that found out gets it at the
        // end: its system message is sent.
        Some((ResponseFormat::Strict | ResponseFormat::Schema, schema)) if is_ignored => {
            Messages::Rewritten(with_instruction(&request.messages, schema, found_out))
        }
        _ => Messages::Unchanged(&request.messages),
    };
    let messages = messages
        .with_words(place, words, request.messages.len())
        .with_wire_names(prepared);
    if prepared.leaves_out(parts::Part::System) {
        messages.without_system()
    } else {
        messages
    }
}

/// Attachments stay in their order.
fn with_beginning(message: &Message, text: &str) -> Message {
    message
        .parts()
        .fold(Message::user(text), |message, part| match part {
            Part::Text(text) => message.text(text),
            Part::Attachment(attachment) => message.attach(attachment.clone()),
            _ => message,
        })
}

/// What is said about the answer beside its schema.
fn words(format: ResponseFormat, schema: &OutputSchema, is_sent: bool) -> Option<String> {
    let reminder = match format {
        ResponseFormat::JsonObject | ResponseFormat::Prompt => reminder(schema),
        _ => None,
    };
    match (choices_in_words(schema, is_sent), reminder) {
        (Some(lists), Some(reminder)) => Some(lists + &reminder),
        (lists, reminder) => lists.or(reminder),
    }
}

/// The flag: the schema is strict.
pub(crate) fn strict_or(schema: &OutputSchema, profile: Profile) -> (&RawValue, bool) {
    match schema.strict() {
        Ok(strict) => (strict, true),
        Err(_) => (sent(schema, profile), false),
    }
}

/// With a description of the type, for a model that accepts no schema.
fn with_instruction<'a>(
    messages: &'a [Message],
    schema: &OutputSchema,
    at_end: bool,
) -> Vec<Cow<'a, Message>> {
    if at_end {
        return with_instruction_at_end(messages, schema);
    }
    let instruction = instruction(schema);
    let (system, rest) = match messages.split_first() {
        Some((first, rest)) if first.role == Role::System => {
            (first.clone().text("\n\n").text(instruction), rest)
        }
        _ => (Message::system(instruction), messages),
    };
    let mut all = Vec::with_capacity(1 + rest.len());
    all.push(Cow::Owned(system));
    all.extend(rest.iter().map(Cow::Borrowed));
    all
}

/// Behind the user's own text.
fn with_instruction_at_end<'a>(
    messages: &'a [Message],
    schema: &OutputSchema,
) -> Vec<Cow<'a, Message>> {
    let mut messages: Vec<_> = messages.iter().map(Cow::Borrowed).collect();
    if let Some(last) = messages.last_mut() {
        let instruction = instruction(schema);
        let instructed = last.as_ref().clone().text("\n\n").text(instruction);
        *last = Cow::Owned(instructed);
    }
    messages
}
