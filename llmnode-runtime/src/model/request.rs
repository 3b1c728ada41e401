//! What is asked of a model.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::dialect::Dialect;
use super::message::Message;
use crate::ids::AttemptId;
use crate::output::OutputSchema;
use crate::text::names;

/// One request to a model. The attempt loop builds it once per call, and lends it for every attempt.
///
/// Its `Debug` form shows no content, and of the further fields the names.
#[derive(Clone)]
#[non_exhaustive]
pub struct Request {
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The provider's id of the model; `None`: the model's own default.
    pub model: Option<String>,
    /// The schema of the answer; `None`: text.
    pub output: Option<Arc<OutputSchema>>,
    /// How the schema is to be told; `None`: as the model does by itself. Without a schema it says nothing.
    pub dialect: Option<Dialect>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// The most tokens the answer may have.
    pub max_tokens: Option<u32>,
    /// The longest time of the attempt; `None`: the model's own. The loop ends an attempt that takes longer; a model with
    /// a timeout of its own lets this one hold instead.
    pub attempt_timeout: Option<Duration>,
    /// Further fields, passed to the provider as they are.
    pub extra: Map<String, Value>,
    /// The id of the attempt, for the provider's logs and one's own: `OpenAi` sends it as the header
    /// `x-client-request-id`. `None` outside of a call.
    pub correlation: Option<AttemptId>,
}

impl Request {
    /// A request for text, with nothing else set.
    pub fn new(messages: Vec<Message>) -> Self {
        Request {
            messages,
            model: None,
            output: None,
            dialect: None,
            temperature: None,
            max_tokens: None,
            attempt_timeout: None,
            extra: Map::new(),
            correlation: None,
        }
    }

    /// What is wrong with further fields that cannot be any.
    pub(crate) fn own_fields_in_extra(&self) -> impl Iterator<Item = String> {
        let own = ["messages", "model", "stream"].into_iter().filter(|field| self.extra.contains_key(*field));
        own.map(|field| format!("`extra` holds the field `{field}`, which is llmnode's own; leave it out"))
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("messages", &self.messages)
            .field("model", &self.model)
            .field("output", &self.output.as_deref().map(OutputSchema::name))
            .field("dialect", &self.dialect)
            .field("temperature", &self.temperature)
            .field("max_tokens", &self.max_tokens)
            .field("extra", &names(&self.extra))
            .field("correlation", &self.correlation)
            .finish()
    }
}
