//! What differs between the APIs of models. Sending, waiting, classifying, learning, streaming and redacting are written once.

use std::ops::ControlFlow;

use llmnode_model::{ModelError, Request, Sink, TokenUsage};

use super::expected_calls::ExpectedCalls;
use super::prepared_request::PreparedRequest;
use super::read_answer::ReadResult;
use crate::http::capabilities::Quirks;
use crate::http::endpoint::ApiPath;
use crate::http::reasoning::{Efforts, Thinking};
use crate::http::response_formats::Formats;
use crate::http::sse::Event;
use crate::http::url::Url;

/// From a base, a model and whether it streams.
pub(crate) type UrlOf = fn(&Url, &str, bool) -> Result<Url, String>;

/// By what the model refuses, and how it is asked to think.
pub(crate) type LimitOf = fn(&Request, Quirks, Option<Thinking>) -> u32;

pub(crate) struct Wire {
    pub(crate) name: llmnode_model::Wire,
    /// As OpenTelemetry's `gen_ai.provider.name`.
    pub(crate) provider: &'static str,
    /// Names it in what is stored.
    pub(crate) tag: &'static str,
    /// What people call its provider.
    pub(crate) title: &'static str,
    /// The type that users make.
    pub(crate) handle: &'static str,
    /// The header of its keys.
    pub(crate) key_header: &'static str,
    /// The environment's variables.
    pub(crate) key: &'static str,
    pub(crate) model: &'static str,
    /// Its example is the default.
    pub(crate) api: ApiPath,
    /// Fields of a request that come from the node, so that `extra` may not have them.
    pub(crate) own: &'static [&'static str],
    /// Fields of ours that `extra` may add to.
    pub(crate) joined: &'static [&'static str],
    pub(crate) formats: Formats,
    pub(crate) efforts: Efforts,
    /// Of a request for this model, if it is not the endpoint's own. The flag: whether it streams.
    pub(crate) url: Option<UrlOf>,
    /// The ends of the provider's own hosts, which hand on no call as text. Other servers may, whatever API they speak.
    pub(crate) hosts: &'static [&'static str],
    /// The most tokens that are asked for, where a request has to name them.
    pub(crate) limit: Option<LimitOf>,
    pub(crate) encode: fn(&PreparedRequest<'_>) -> Result<Vec<u8>, String>,
    pub(crate) read: fn(&[u8], ExpectedCalls<'_>) -> ReadResult,
    pub(crate) stream: fn() -> Box<dyn StreamedAnswer>,
}

/// An answer, from the events of a body.
pub(crate) trait StreamedAnswer: Send {
    /// `Break(Ok(()))`: it is complete.
    fn read(
        &mut self,
        event: Event<'_>,
        wanted: ExpectedCalls<'_>,
        sink: &mut dyn Sink,
    ) -> ControlFlow<Result<(), ModelError>>;

    /// The memory that it takes, to be capped.
    fn len(&self) -> usize;

    fn usage(&self) -> Option<TokenUsage>;

    /// `Err` if the response is this body instead.
    fn finish(self: Box<Self>, wanted: ExpectedCalls<'_>) -> Result<ReadResult, Vec<u8>>;
}
