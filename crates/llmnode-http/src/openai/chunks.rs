//! A chat completion that comes in chunks, from the events of a body.
//!
//! Chunks are gathered into the message that a whole response would have had, and
//! then read by `answer.rs`. What has to be decided on the way is which piece
//! belongs to which call: by index, as OpenAI says, by id where a server gives
//! several calls one index, and by the end of the arguments where it gives neither.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::ControlFlow;

use llmnode_model::ext::is_document;
use llmnode_model::{Category, Delta, FinishReason, ModelError, Retry, Sink, TokenUsage};
use llmnode_reader::Flag;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::answer;
use super::calls::{FunctionCall, ToolCall, ToolCalls, tool_calls};
use super::carried;
use super::response::{Choice, Choices, ContentTexts, Message, Response, content};
use crate::api::ends;
use crate::api::expected_calls::ExpectedCalls;
use crate::api::object_end::ObjectEnd;
use crate::api::padding::{PaddingWatch, estimate_unreported};
use crate::api::read_answer::{OTHER_CHOICES, ReadResult, Unreadable, has_other_price};
use crate::api::unreadable::{broken_off, piece};
use crate::api::wire::{End, StreamedAnswer};
use crate::http::error_body;
use crate::http::lenient::{
    Count, First, Indexed, first, known_object, object, set_if_changed, text, tokens, words,
};
use crate::http::reported::{self, Reporting};
use crate::http::sse::Event;
use crate::http::usage::Usage;

/// The members that are used.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Chunk<'a> {
    #[serde(borrow, deserialize_with = "text")]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "text")]
    model: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "first")]
    choices: Option<First<ChunkChoice<'a>>>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(deserialize_with = "object")]
    usage: Option<Usage>,
    #[serde(borrow, deserialize_with = "text")]
    service_tier: Option<Cow<'a, str>>,
}

impl<'a> Reporting<'a> for Chunk<'a> {
    type Figures = Usage;

    fn usage(&mut self) -> &mut Option<Usage> {
        &mut self.usage
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ChunkChoice<'a> {
    #[serde(deserialize_with = "tokens")]
    index: Count,
    #[serde(borrow, deserialize_with = "text")]
    finish_reason: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "known_object")]
    delta: Option<ChunkDelta<'a>>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    /// OpenRouter's, where the provider behind it failed.
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl ChunkChoice<'_> {
    fn has_failed(&self) -> bool {
        let reason = self.finish_reason.as_deref();
        let is_failure = reason.and_then(ends::finish) == Some(FinishReason::Error);
        is_failure && self.error.is_some_and(|error| error.get().starts_with('{'))
    }
}

/// Texts in all members that servers put them in.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ChunkDelta<'a> {
    #[serde(borrow, deserialize_with = "content")]
    content: ContentTexts<'a>,
    /// DeepSeek, vLLM and llama.cpp.
    #[serde(borrow, deserialize_with = "words")]
    reasoning_content: Option<Cow<'a, str>>,
    /// OpenRouter, Groq and vLLM.
    #[serde(borrow, deserialize_with = "words")]
    reasoning: Option<Cow<'a, str>>,
    #[serde(borrow, deserialize_with = "words")]
    refusal: Option<Cow<'a, str>>,
    #[serde(borrow)]
    reasoning_details: Option<&'a RawValue>,
    #[serde(borrow)]
    thinking_blocks: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "tool_calls")]
    tool_calls: ToolCalls<'a>,
    #[serde(borrow, deserialize_with = "known_object")]
    function_call: Option<FunctionCall<'a>>,
}

/// `bytes` bounds its memory; `content` and `thinks` tell the timeouts whether the
/// model writes.
#[derive(Debug, Default)]
pub(super) struct PartialCompletion {
    id: Option<String>,
    model: Option<String>,
    text: String,
    refusal: String,
    thought: String,
    reasoning: String,
    content_thought: String,
    /// `reasoning_details` and `thinking_blocks`.
    thoughts: [Vec<Map<String, Value>>; 2],
    calls: Vec<Call>,
    /// By the index that the server gave, if it gave one.
    call_positions: HashMap<Option<u64>, CallPositions>,
    bytes: usize,
    content: usize,
    /// The last piece is of the thoughts.
    thinks: bool,
    finish_reason: Option<String>,
    /// How much had come when the reason of the end did.
    bytes_at_finish: Option<usize>,
    usage: Option<Usage>,
    /// How much had come when the usage was reported.
    bytes_at_usage: usize,
    /// A choice has come.
    answers: bool,
    /// There are further choices.
    others: bool,
    /// It is served in a tier that is not billed at the standard price.
    other_price: bool,
    /// The stream has come to its own end (`[DONE]`).
    done: bool,
    padding: PaddingWatch,
}

/// A call, gathered. Its end is watched, as a second call may follow in the same
/// place.
#[derive(Debug, Default)]
struct Call {
    id: String,
    name: String,
    arguments: String,
    arguments_end: ObjectEnd,
    extra_content: Option<Box<RawValue>>,
    thought_signature: Option<Box<RawValue>>,
}

/// Some servers give several calls the same index, and each its own id and name;
/// others change a call's id.
#[derive(Debug, Default)]
struct CallPositions {
    last: Option<usize>,
    by_id: HashMap<String, usize>,
}

impl StreamedAnswer for PartialCompletion {
    /// Takes the figures of a chunk first, since even a chunk that fails the answer
    /// says what it has cost.
    fn read(
        &mut self,
        event: Event<'_>,
        expected: ExpectedCalls<'_>,
        sink: &mut dyn Sink,
    ) -> ControlFlow<End> {
        let read = piece(event, reported::read);
        self.done = matches!(read, ControlFlow::Break(End::Complete));
        let Chunk {
            id,
            model,
            choices,
            error,
            usage,
            service_tier,
        } = read?;
        if !self.other_price && has_other_price(service_tier.as_deref()) {
            self.other_price = true;
            sink.flag(Flag::OtherPrice);
        }
        set_if_changed(&mut self.id, id);
        set_if_changed(&mut self.model, model);
        let has_usage = usage.is_some();
        self.add_usage(usage, sink);
        if error.is_some_and(|error| !matches!(error.get(), "null" | "false")) {
            return whole_body(event);
        }
        // Empty in the event with the usage.
        let First { answer, others } = choices.unwrap_or(First {
            answer: None,
            others: false,
        });
        if others && !self.others {
            self.others = true;
            sink.flag(OTHER_CHOICES);
        }
        let Some(choice) = answer else {
            if self.usage.is_none() && error_body::is_error(event.data) {
                return whole_body(event);
            }
            return ControlFlow::Continue(());
        };
        self.answers = true;
        let is_whole = choice.delta.is_none() && choice.message.is_some();
        if is_whole || choice.has_failed() {
            return whole_body(event);
        }
        // The usage may stand in the chunk of the last piece.
        let then = self.add_choice(choice, expected, sink);
        if has_usage {
            self.bytes_at_usage = self.bytes;
        }
        then
    }

    fn len(&self) -> usize {
        self.bytes
    }

    /// A report in the middle of the answer says what the prompt took.
    fn usage(&self) -> Option<TokenUsage> {
        let (usage, _) = self.usage.as_ref()?.figures();
        let usage = usage?;
        let continues = self.finish_reason.is_none() && self.bytes > self.bytes_at_usage;
        if continues {
            return Some(usage.of_the_prompt());
        }
        Some(usage)
    }

    fn content(&self) -> usize {
        self.content
    }

    /// Some servers write the same thoughts under several names.
    fn written(&self) -> usize {
        let thoughts = self.thought.len().max(self.reasoning.len());
        self.content + thoughts.max(self.content_thought.len())
    }

    /// Before the answer begins, and while it thinks.
    fn works_silently(&self) -> bool {
        self.content == 0 || self.thinks
    }

    /// The reason of the end came with the last bytes, and no call is half.
    fn is_complete(&self) -> bool {
        let ends = match self.finish_reason.as_deref() {
            Some(reason) if ends::is_of_calls(reason) => !self.calls.is_empty(),
            reason => reason.is_some_and(ends::is_known),
        };
        let is_last = self.bytes_at_finish == Some(self.bytes);
        ends && is_last && self.calls.iter().all(|call| is_document(&call.arguments))
    }

    /// Writes what was gathered as the message of a whole response, so that one reader
    /// decides what it is. A stream without a reason for its end has broken off, even
    /// if `[DONE]` came: the text may be half.
    fn finish(self: Box<Self>, expected: ExpectedCalls<'_>) -> ReadResult {
        if !self.answers && self.done {
            let message = "the stream ended without an answer";
            let failure = ModelError::new(Category::EmptyResponse, message);
            return Err(Unreadable::failure(failure.retry(Retry::Transport), None));
        }
        if self.finish_reason.is_none() {
            return Err(Unreadable::failure(broken_off(), None));
        }
        let PartialCompletion {
            id,
            model,
            text,
            refusal,
            thought,
            reasoning,
            thoughts,
            calls,
            ..
        } = *self;
        let finish_reason = self.finish_reason;
        let usage = self.usage;
        let [details, blocks] = thoughts.map(|list| to_raw_value(&list).ok());
        let arguments: Vec<_> = calls
            .iter()
            .map(|call| to_raw_value(&call.arguments).ok())
            .collect();
        let calls = calls
            .iter()
            .zip(&arguments)
            .map(|(call, arguments)| call.whole(arguments.as_deref()))
            .collect();
        let message = Message {
            content: ContentTexts {
                text: Some(Cow::Owned(text)),
                thought: non_empty(self.content_thought),
                refusal: None,
            },
            refusal: Some(Cow::Owned(refusal)),
            reasoning_content: non_empty(thought),
            reasoning: Some(Cow::Owned(reasoning)),
            reasoning_details: details.as_deref(),
            thinking_blocks: blocks.as_deref(),
            tool_calls: ToolCalls::of(calls),
            function_call: None,
        };
        let choice = Choice {
            finish_reason: finish_reason.map(Cow::Owned),
            message: Some(message),
            ..Choice::default()
        };
        let response = Response {
            id: id.map(Cow::Owned),
            model: model.map(Cow::Owned),
            choices: Choices::Answer(choice, false),
            usage,
            service_tier: None,
        };
        answer::completion(response, || false, self.done, expected)
    }
}

/// The answer is read as a whole one, from this event's data.
fn whole_body(event: Event<'_>) -> ControlFlow<End> {
    ControlFlow::Break(End::Body(event.data.to_vec()))
}

/// Some servers write an empty text where they mean none.
fn non_empty<'a>(text: String) -> Option<Cow<'a, str>> {
    if text.is_empty() {
        return None;
    }
    Some(Cow::Owned(text))
}

impl Call {
    /// The call as a response that is not streamed has it.
    fn whole<'a>(&'a self, arguments: Option<&'a RawValue>) -> ToolCall<'a> {
        ToolCall {
            id: Some(self.id.as_str().into()),
            function: Some(FunctionCall {
                name: Some(Cow::Borrowed(self.name.as_str())),
                arguments,
            }),
            extra_content: self.extra_content.as_deref(),
            thought_signature: self.thought_signature.as_deref(),
            ..ToolCall::default()
        }
    }
}

impl PartialCompletion {
    /// Figures of earlier chunks grow; how much had come by then says whether they
    /// can be the whole answer's.
    fn add_usage(&mut self, usage: Option<Usage>, sink: &mut dyn Sink) {
        let has_usage = usage.is_some();
        reported::grow(&mut self.usage, usage);
        if has_usage {
            self.bytes_at_usage = self.bytes;
            if let Some(usage) = self.usage() {
                sink.usage(usage);
            }
        }
    }

    /// A reason may come before the last piece of the answer.
    fn add_choice(
        &mut self,
        choice: ChunkChoice<'_>,
        expected: ExpectedCalls<'_>,
        sink: &mut dyn Sink,
    ) -> ControlFlow<End> {
        if let Some(reason) = choice.finish_reason
            && !reason.is_empty()
        {
            self.finish_reason = Some(reason.into_owned());
        }
        let has_begun = self.bytes > 0;
        let delta = choice.delta.unwrap_or_default();
        if let Err(broken) = delta.tool_calls.check(expected) {
            return ControlFlow::Break(End::Failure(broken));
        }
        self.add(delta, expected, sink);
        if self.finish_reason.is_some() {
            let bytes = if has_begun { self.bytes } else { 0 };
            self.bytes_at_finish.get_or_insert(bytes);
        } else if self.is_padded() {
            estimate_unreported(self.usage(), sink);
            self.finish_reason = Some("length".to_owned());
            return ControlFlow::Break(End::Complete);
        }
        ControlFlow::Continue(())
    }

    /// Small models write white space without end behind a whole answer.
    fn is_padded(&mut self) -> bool {
        let written = self.calls.last().map_or(&self.text, |call| &call.arguments);
        self.padding.is_padded(written)
    }

    /// Text or arguments came.
    fn writes(&mut self, bytes: usize) {
        self.content += bytes;
        self.thinks &= bytes == 0;
    }

    /// Each member on its own: one chunk may have several.
    ///
    /// Thoughts come first, since they are written first: a listener sees them before
    /// the text of the same chunk. Of thoughts under several names one is shown, and
    /// all are kept: which of them the server wants back, only it knows.
    fn add(&mut self, delta: ChunkDelta<'_>, expected: ExpectedCalls<'_>, sink: &mut dyn Sink) {
        let thought = delta.reasoning_content.as_deref();
        let reasoning = delta.reasoning.as_deref();
        let thought = thought.filter(|thought| !thought.is_empty());
        let content_thought = delta.content.thought.as_deref();
        if let Some(thought) = thought.or(reasoning).or(content_thought) {
            sink.delta(Delta::Reasoning(thought));
        }
        for (all, piece) in [
            (&mut self.thought, thought),
            (&mut self.reasoning, reasoning),
            (&mut self.content_thought, content_thought),
        ] {
            let piece = piece.unwrap_or_default();
            self.bytes += piece.len();
            self.thinks |= !piece.is_empty();
            all.push_str(piece);
        }
        for (all, pieces) in self
            .thoughts
            .iter_mut()
            .zip([delta.reasoning_details, delta.thinking_blocks])
        {
            let Some(pieces) = pieces else { continue };
            self.bytes += pieces.get().len();
            carried::join_thoughts(all, pieces);
        }
        if let Some(content) = delta.content.text {
            // If there is a function for the answer, this may not be the answer.
            if expected.function.is_none() {
                sink.delta(Delta::Text(&content));
            }
            self.bytes += content.len();
            self.writes(content.len());
            self.text.push_str(&content);
        }
        if let Some(refusal) = delta.refusal.or(delta.content.refusal) {
            self.bytes += refusal.len();
            self.writes(refusal.len());
            self.refusal.push_str(&refusal);
        }
        let single = delta.function_call.map(|function| ToolCall {
            function: Some(function),
            ..ToolCall::default()
        });
        let pieces = delta.tool_calls.calls.into_iter().chain(single);
        for call in pieces.filter(|call| !call.is_stub()) {
            self.call(&call, expected, sink);
        }
    }

    /// A piece of a call. What is no call of a function, such as an empty member that
    /// a gateway adds, is passed over.
    fn call(&mut self, piece: &ToolCall<'_>, expected: ExpectedCalls<'_>, sink: &mut dyn Sink) {
        let id = piece.id.as_deref().unwrap_or_default();
        // A call may begin with its id alone.
        if piece.function.is_some() || piece.lacks_function() {
            let none = FunctionCall::default();
            self.called(
                piece,
                piece.function.as_ref().unwrap_or(&none),
                id,
                expected,
                sink,
            );
        }
    }

    /// Finds the call that the piece belongs to, and adds it.
    ///
    /// 1. A piece without an id may begin another call at the same index. Then the
    ///    index is given up, so that a new call gets it.
    /// 2. Its call is found, or begins (`call_position`).
    /// 3. Name, arguments and what stands beside them are added. If the call is the
    ///    answer, its arguments are shown as text while they come: only the first
    ///    call can be that.
    fn called(
        &mut self,
        piece: &ToolCall<'_>,
        called: &FunctionCall<'_>,
        id: &str,
        expected: ExpectedCalls<'_>,
        sink: &mut dyn Sink,
    ) {
        if id.is_empty() && self.begins_another(piece.index.tokens, called) {
            self.call_positions
                .entry(piece.index.tokens)
                .or_default()
                .last = None;
        }
        let is_named = called.name.as_deref().is_some_and(|name| !name.is_empty());
        let calls_before = self.calls.len();
        let at = self.call_position(piece.index.tokens, id, is_named);
        let begins = self.calls.len() > calls_before;
        let call = &mut self.calls[at];
        // Some servers repeat the name in each piece.
        if let Some(name) = called.name.as_deref().filter(|name| *name != call.name) {
            self.bytes += name.len();
            call.name.push_str(name);
        }
        let arguments = called.arguments();
        if at == 0
            && expected.function.is_some_and(|function| {
                call.name == function || (call.name.is_empty() && !expected.tools)
            })
        {
            sink.delta(Delta::Text(&arguments));
        }
        for (kept, new) in [
            (&mut call.extra_content, piece.extra_content),
            (&mut call.thought_signature, piece.thought_signature),
        ] {
            if let Some(new) = new {
                self.bytes += new.get().len();
                *kept = Some(new.to_owned());
            }
        }
        self.bytes += arguments.len();
        call.arguments_end.push(&arguments);
        call.arguments.push_str(&arguments);
        let name = called
            .name
            .as_deref()
            .filter(|_| begins)
            .map_or(0, str::len);
        self.writes(arguments.len() + name);
    }

    /// Without ids, several whole calls may have the same index.
    fn begins_another(&mut self, index: Option<u64>, called: &FunctionCall<'_>) -> bool {
        let last = self
            .call_positions
            .get(&index)
            .and_then(|positions| positions.last);
        let is_named = called.name.as_deref().is_some_and(|name| !name.is_empty());
        let Some(last) = last.filter(|_| is_named) else {
            return false;
        };
        let Call {
            name,
            arguments,
            arguments_end,
            ..
        } = &mut self.calls[last];
        !name.is_empty() && arguments_end.is_whole(arguments) && !called.arguments().is_empty()
    }

    /// The place of the call with this index and id; a new one, if there is none
    /// that it can belong to. Asked in this order, the surest first:
    ///
    /// 1. the last call of this index, if the piece has no id, or the same one, or if
    ///    the call has none yet;
    /// 2. the call of this index that had this id before;
    /// 3. the last call of this index, if the piece has no name and the call has one:
    ///    some servers give each piece an id of its own.
    fn call_position(&mut self, index: Option<u64>, id: &str, is_named: bool) -> usize {
        let CallPositions { last, by_id } = self.call_positions.entry(index).or_default();
        let position =
            last.filter(|at| id.is_empty() || [id, ""].contains(&self.calls[*at].id.as_str()));
        let position = position
            .or_else(|| by_id.get(id).copied())
            .or_else(|| last.filter(|at: &usize| !is_named && !self.calls[*at].name.is_empty()));
        let at = position.unwrap_or_else(|| {
            // A call takes memory even without a name.
            self.bytes += size_of::<Call>();
            self.calls.push(Call::default());
            *last.insert(self.calls.len() - 1)
        });
        let call = &mut self.calls[at];
        if call.id.is_empty() && !id.is_empty() {
            self.bytes += id.len();
            id.clone_into(&mut call.id);
            by_id.insert(call.id.clone(), at);
        }
        at
    }
}

impl Indexed for ChunkChoice<'_> {
    fn index(&self) -> Count {
        self.index
    }
}

#[cfg(test)]
mod tests;
