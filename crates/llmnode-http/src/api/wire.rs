//! What differs between the APIs of models. Sending, waiting, classifying,
//! learning, streaming and redacting are written once.
//!
//! Each API is one `const` of this type, and a module that has the functions in it.
//! Adding an API is adding such a module; nothing in this room asks which one it
//! is, apart from a few places that say so.

use std::ops::ControlFlow;

use llmnode_model::ext::AnswerLimit;
use llmnode_model::{ModelError, Request, Sink, TokenUsage};
use llmnode_reader::ask::Profile;

use super::expected_calls::ExpectedCalls;
use super::prepared_request::PreparedRequest;
use super::read_answer::ReadResult;
use super::sent_calls::IdForm;
use crate::http::endpoint::ApiPath;
use crate::http::sse::Event;
use crate::http::url::Url;
use crate::refusal::efforts::{Efforts, Thinking};
use crate::refusal::quirks::Quirks;
use crate::refusal::response_formats::Formats;

/// From the base, the model, and whether it streams.
pub(crate) type UrlOf = fn(&Url, &str, bool) -> Result<Url, String>;

pub(crate) type LimitOf = fn(&Request, Quirks, Option<Thinking>) -> AnswerLimit;

/// Data first, then the three functions that write a body, read one, and read a
/// stream.
pub(crate) struct Wire {
    pub(crate) name: llmnode_model::ApiKind,
    /// OpenTelemetry's `gen_ai.provider.name`.
    pub(crate) provider: &'static str,
    /// Its name in stored data.
    pub(crate) tag: &'static str,
    // How people call it, and the handle's own name: both for messages.
    pub(crate) title: &'static str,
    pub(crate) handle: &'static str,
    // Where the key goes, and the variables of the environment that have it.
    pub(crate) key_header: &'static str,
    pub(crate) key: &'static str,
    /// With its header.
    pub(crate) other_key: Option<(&'static str, &'static str)>,
    pub(crate) base_url: &'static str,
    /// The variable of the environment that names a model.
    pub(crate) model: &'static str,
    /// Its example is the default.
    pub(crate) api: ApiPath,
    /// Fields that come from the node, so that `extra` may not set them.
    pub(crate) reserved_fields: &'static [&'static str],
    /// Fields that we write and `extra` may add to.
    pub(crate) joined: &'static [&'static str],
    /// Set if it refuses names of members, so that others stand for them.
    pub(crate) names: Option<Profile>,
    // The forms of an answer, and the ways of thinking, each from the best on.
    pub(crate) formats: Formats,
    pub(crate) efforts: Efforts,
    /// Set if the URL depends on the model. The flag: whether it streams.
    pub(crate) url: Option<UrlOf>,
    /// Suffixes of the provider's own hosts, which never return a call as text.
    /// Other servers of this API may.
    pub(crate) hosts: &'static [&'static str],
    /// Of an API that has to be sent one.
    pub(crate) limit: Option<LimitOf>,
    /// Of the ids of calls, unless the builder knows better.
    pub(crate) id_form: IdForm,
    /// Writes the body of a request.
    pub(crate) encode: fn(&PreparedRequest<'_>) -> Result<Vec<u8>, String>,
    /// Reads an answer that came whole.
    pub(crate) read: fn(&[u8], ExpectedCalls<'_>) -> ReadResult,
    /// Begins to read one that comes in events.
    pub(crate) stream: fn() -> Box<dyn StreamedAnswer>,
}

/// Why a stream is read no further.
/// An error has the form of a body, so that it is read like one.
pub(crate) enum End {
    Complete,
    /// An error, or a complete response.
    Body(Vec<u8>),
    Failure(ModelError),
}

/// About how many tokens so many bytes of an answer are.
pub(crate) fn tokens_of(bytes: usize) -> u64 {
    const BYTES_OF_A_TOKEN: u64 = 4;
    match bytes as u64 {
        0 => 0,
        bytes => (bytes / BYTES_OF_A_TOKEN).max(1),
    }
}

/// An answer that comes in events. It is asked after each event how far it is, for
/// the timeouts and for what was used if it breaks off.
pub(crate) trait StreamedAnswer: Send {
    /// One event. `Break`: the stream ends here.
    fn read(
        &mut self,
        event: Event<'_>,
        expected: ExpectedCalls<'_>,
        sink: &mut dyn Sink,
    ) -> ControlFlow<End>;

    /// Called between the reads of a body, where a call may be dropped: reports
    /// usage that `read` has not.
    fn flush(&mut self, sink: &mut dyn Sink) {
        let _ = sink;
    }

    /// How much memory it takes.
    fn len(&self) -> usize;

    /// As far as it was reported.
    fn usage(&self) -> Option<TokenUsage>;

    /// How much text and arguments there are so far, in bytes.
    fn content(&self) -> usize;

    /// How much the model has written so far, in bytes: its thoughts, too.
    fn written(&self) -> usize;

    /// About how many tokens of the answer there are so far. `None`: it has not begun.
    fn answered(&self) -> Option<u64> {
        let reported = self.usage().and_then(|usage| usage.output);
        let written = tokens_of(self.written());
        match reported.unwrap_or(0).max(written) {
            0 => None,
            answered => Some(answered),
        }
    }

    /// Whether the model may be at work in silence: it has not begun to write, or
    /// it thinks, or a tool of the provider runs.
    fn works_silently(&self) -> bool;

    /// Whether the answer is whole although the stream has not ended. Used when a
    /// connection breaks at the end.
    fn is_complete(&self) -> bool {
        false
    }

    /// Failures get the [`usage`](Self::usage) later.
    fn finish(self: Box<Self>, expected: ExpectedCalls<'_>) -> ReadResult;
}
