//! What a model reports of an attempt before its end.

use std::fmt;
use std::time::Duration;

use llmnode_reader::Flag;

use super::gate::RateLimits;
use super::prompt_parts::PromptParts;
use super::response_format::ResponseFormat;
use crate::BoxFuture;
use crate::api_kind::ApiKind;
use crate::usage::TokenUsage;

/// Receives what is known of an attempt before it has ended.
pub trait Sink: Send {
    /// The provider's id of the request.
    fn request_id(&mut self, id: &str);

    /// The usage so far. The last one counts.
    fn usage(&mut self, usage: TokenUsage);

    /// How the model is asked for the type of the answer. Default: does nothing.
    fn response_format(&mut self, response_format: ResponseFormat) {
        let _ = response_format;
    }

    /// The API by which the model is asked. Default: does nothing.
    fn api(&mut self, api: ApiKind) {
        let _ = api;
    }

    /// A part of the request that is not sent, because the model is known to refuse it: see
    /// `AttemptRecord::refused`. Default: does nothing.
    fn refused(&mut self, part: &str) {
        let _ = part;
    }

    /// Nothing of the request was sent, and it is given up. A model also calls this
    /// when it is dropped before it has a connection. Default: does nothing.
    fn unsent(&mut self) {}

    /// The server has taken the request, and answers: what it has written to its
    /// cache can be read. Default: does nothing.
    fn begins(&mut self) {}

    /// Whether somebody compares the request with the one before it. Default: `false`.
    fn wants_prompt(&self) -> bool {
        false
    }

    /// What the request before this one in its conversation was made of, so that a
    /// model need not read again what both have. Default: `None`.
    fn prompt_before(&self) -> Option<&PromptParts> {
        None
    }

    /// What the request is made of, and how long the provider keeps it. Default: does nothing.
    fn prompt(&mut self, parts: PromptParts, ttl: Option<Duration>) {
        let _ = (parts, ttl);
    }

    /// A flag of the response. Default: does nothing.
    fn flag(&mut self, flag: Flag) {
        let _ = flag;
    }

    /// Whether somebody asks for what the answer says of rate limits. Default: `false`.
    fn wants_rate_limits(&self) -> bool {
        false
    }

    /// What the answer says of rate limits. Default: does nothing.
    fn rate_limits(&mut self, limits: RateLimits) {
        let _ = limits;
    }

    /// Whether somebody reads the answer while it is written. If so, the model asks
    /// for a stream and passes its pieces to [`delta`](Sink::delta). Default:
    /// `false`.
    fn listens(&self) -> bool {
        false
    }

    /// The next piece of the answer. The pieces of text make up
    /// [`Completion::text`](crate::Completion::text). Default: does nothing.
    fn delta(&mut self, delta: Delta<'_>) {
        let _ = delta;
    }

    /// Waits by the clock of the run that asks: models for tests are as slow as a
    /// test says. `None`: for ever; it ends where the clock knows that nothing will
    /// end the wait. Default: tokio's clock.
    fn wait(&self, time: Option<Duration>) -> BoxFuture<'_, ()> {
        match time {
            Some(time) => Box::pin(tokio::time::sleep(time)),
            None => Box::pin(std::future::pending()),
        }
    }
}

/// A piece of an answer that is being written.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delta<'a> {
    /// Text of the answer.
    Text(&'a str),
    /// Text of the model's reasoning, which is not part of the answer.
    Reasoning(&'a str),
}

impl<'a> Delta<'a> {
    /// Returns the piece, of whatever kind.
    pub fn text(&self) -> &'a str {
        match self {
            Delta::Text(text) | Delta::Reasoning(text) => text,
        }
    }
}

impl fmt::Debug for Delta<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Delta::Text(_) => "Text",
            Delta::Reasoning(_) => "Reasoning",
        };
        write!(f, "{kind}({} bytes)", self.text().len())
    }
}
