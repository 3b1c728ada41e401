//! Names of members that an API refuses: others stand for them in all that is sent,
//! and are changed back in all that comes.
//!
//! The node, its records and its journal know the type's names alone. Out go
//! schemas with the names of the wire (by the writer of schemas), and the arguments
//! and answers of earlier turns; in come arguments, answers, and the pieces of a
//! stream.

use std::time::Duration;

use llmnode_model::ext::PromptParts;
use std::borrow::Cow;

use llmnode_model::gate::RateLimits;
use llmnode_model::{Completion, Delta, Message, ResponseFormat, Role, Sink, TokenUsage, ToolCall};
use llmnode_reader::Flag;
use llmnode_reader::ask::{Names, Renamer};

use super::messages::Messages;
use super::prepared_request::PreparedRequest;

impl PreparedRequest<'_> {
    /// Of the answer, if its names differ. A form in the prompt has the type's names.
    pub(crate) fn answer_from_wire(&self) -> Option<Renamer<'_>> {
        self.answer(Names::OfType)
    }

    /// `to`: in which direction names are changed.
    fn answer(&self, to: Names) -> Option<Renamer<'_>> {
        let (format, schema) = self.typed()?;
        match format {
            ResponseFormat::JsonObject | ResponseFormat::Prompt => None,
            _ => Renamer::new(schema, self.names?, to),
        }
    }

    /// Of the arguments of a tool, if its names differ.
    fn arguments(&self, tool: &str, to: Names) -> Option<Renamer<'_>> {
        // Also a tool that this turn does not offer: it may have been called before.
        let spec = self
            .request
            .callable()
            .iter()
            .find(|spec| spec.name == tool)?;
        Renamer::new(self.allowed(&spec.schema), self.names?, to)
    }

    /// Gives calls and answer the names of their types.
    pub(crate) fn restore_names(&self, completion: &mut Completion) {
        if self.names.is_none() {
            return;
        }
        for call in &mut completion.calls {
            if let Some(renamer) = self.arguments(&call.name, Names::OfType) {
                call.arguments = renamer.whole(&call.arguments);
            }
        }
        if let Some(renamer) = self.answer_from_wire() {
            completion.text = renamer.whole(&completion.text);
        }
    }

    fn has_renamed_call(&self, message: &Message) -> bool {
        message
            .calls()
            .iter()
            .any(|call| self.arguments(&call.name, Names::OfWire).is_some())
    }

    /// Earlier answers are JSON of the type; the model sees them with the names
    /// that its schema has now.
    fn on_the_wire<'m>(&self, message: Cow<'m, Message>) -> Cow<'m, Message> {
        let mut answer = None;
        if message.role == Role::Assistant && is_json(&message.content) {
            answer = self.answer(Names::OfWire);
        }
        if answer.is_none() && !self.has_renamed_call(&message) {
            return message;
        }
        let mut calls: Vec<ToolCall> = Vec::with_capacity(message.calls().len());
        for call in message.calls() {
            calls.push(self.call_on_the_wire(call));
        }
        let content = match answer {
            Some(renamer) => renamer.whole(&message.content),
            None => message.content.clone(),
        };
        let carried = message.carried().cloned();
        let renamed = Message::new(message.role, content)
            .calling(calls)
            .carrying(carried);
        Cow::Owned(renamed)
    }

    fn call_on_the_wire(&self, call: &ToolCall) -> ToolCall {
        let mut call = call.clone();
        if let Some(renamer) = self.arguments(&call.name, Names::OfWire) {
            call.arguments = renamer.whole(&call.arguments);
        }
        call
    }
}

impl<'a> Messages<'a> {
    /// Earlier arguments and answers have the names that the schemas of this request have.
    pub(super) fn with_wire_names(self, prepared: &PreparedRequest<'_>) -> Self {
        let Some(profile) = prepared.names else {
            return self;
        };
        let output = prepared.request.output.as_deref();
        let mut schemas = prepared
            .request
            .callable()
            .iter()
            .map(|tool| &*tool.schema)
            .chain(output);
        if schemas.all(|schema| Renamer::new(schema, profile, Names::OfWire).is_none()) {
            return self;
        }
        let messages: Vec<Cow<'a, Message>> = match self {
            Messages::Unchanged(all) => all.iter().map(Cow::Borrowed).collect(),
            Messages::Rewritten(all) => all,
        };
        let mut renamed = Vec::with_capacity(messages.len());
        for message in messages {
            renamed.push(prepared.on_the_wire(message));
        }
        Messages::Rewritten(renamed)
    }
}

/// A text in a conversation may be no answer of a type.
fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// Passes on what it gets, the answer with the names of its type.
/// Names may be cut by pieces, so some text is kept back.
pub(crate) struct RenamingSink<'s> {
    renamer: Renamer<'s>,
    inner: &'s mut dyn Sink,
}

impl<'s> RenamingSink<'s> {
    pub(crate) fn new(renamer: Renamer<'s>, inner: &'s mut dyn Sink) -> Self {
        RenamingSink { renamer, inner }
    }

    /// A name that never ended.
    pub(crate) fn end(mut self) {
        let rest = self.renamer.end();
        if !rest.is_empty() {
            self.inner.delta(Delta::Text(&rest));
        }
    }
}

impl Sink for RenamingSink<'_> {
    fn request_id(&mut self, id: &str) {
        self.inner.request_id(id);
    }

    fn wants_prompt(&self) -> bool {
        self.inner.wants_prompt()
    }

    fn prompt_before(&self) -> Option<&PromptParts> {
        self.inner.prompt_before()
    }

    fn prompt(&mut self, parts: PromptParts, ttl: Option<Duration>) {
        self.inner.prompt(parts, ttl);
    }

    fn begins(&mut self) {
        self.inner.begins();
    }

    fn usage(&mut self, usage: TokenUsage) {
        self.inner.usage(usage);
    }

    fn response_format(&mut self, response_format: ResponseFormat) {
        self.inner.response_format(response_format);
    }

    fn refused(&mut self, part: &str) {
        self.inner.refused(part);
    }

    fn unsent(&mut self) {
        self.inner.unsent();
    }

    fn flag(&mut self, flag: Flag) {
        self.inner.flag(flag);
    }

    fn wants_rate_limits(&self) -> bool {
        self.inner.wants_rate_limits()
    }

    fn rate_limits(&mut self, limits: RateLimits) {
        self.inner.rate_limits(limits);
    }

    fn listens(&self) -> bool {
        self.inner.listens()
    }

    fn delta(&mut self, delta: Delta<'_>) {
        let Delta::Text(piece) = delta else {
            return self.inner.delta(delta);
        };
        let renamed = self.renamer.piece(piece);
        if !renamed.is_empty() {
            self.inner.delta(Delta::Text(&renamed));
        }
    }
}
