//! The request to a model.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use llmnode_reader::OutputSchema;
use serde_json::{Map, Value};

use super::api_kind::{ApiKind, join_field};
use super::cache::CachePlan;
use super::message::Message;
use super::reasoning::Reasoning;
use super::response_format::ResponseFormat;
use super::tool::ToolSpec;
use crate::ids::AttemptId;
use crate::text::names;

/// A request to a model. The attempt loop builds it once per call and lends it to every attempt.
///
/// Its `Debug` form shows no content, and only the names of the extra fields.
///
/// ```
/// # use llmnode_model as llmnode;
/// use llmnode::{Message, Request};
///
/// let mut request = Request::new(vec![Message::system("You are brief."), Message::user("Why is the sky blue?")]);
/// request.temperature = Some(0.0);
/// assert!(request.transcript().contains("Why is the sky blue?"));
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Request {
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The provider's id of the model. `None`: the model's default.
    pub model: Option<String>,
    /// The schema of the answer. `None`: text.
    pub output: Option<Arc<OutputSchema>>,
    /// The tools that the model is shown. They are the same in all requests of a
    /// call, for the sake of prompt caches, unless tools are found on the way.
    pub tools: Arc<[ToolSpec]>,
    /// All tools that may be called, if some of them are not in `tools` yet.
    pub all_tools: Option<Arc<[ToolSpec]>>,
    /// Whether the model has to answer now, without a call of a tool.
    pub answer_now: bool,
    /// How the model is asked for the schema. `None`: the model decides. Without a
    /// schema it has no effect.
    pub response_format: Option<ResponseFormat>,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// The most tokens of the answer.
    pub max_tokens: Option<u32>,
    /// How much the model thinks. `None`: the model decides.
    pub reasoning: Option<Reasoning>,
    /// The longest time of the attempt. `None`: the model's own. The loop ends an
    /// attempt that takes longer. It replaces a timeout of the model itself.
    pub attempt_timeout: Option<Duration>,
    /// Fields that are passed to the provider as they are.
    pub extra: Map<String, Value>,
    /// Such fields for one API alone, which are joined to those for all.
    pub extra_on: Option<Box<BTreeMap<ApiKind, Map<String, Value>>>>,
    /// Whether a limit that nobody set has cut the last answer, so that a higher one is sent.
    pub raised: bool,
    /// Which message the prompt ends with. What the user's message has to say
    /// besides goes to its end.
    pub question: Option<u16>,
    /// What of the prompt is worth keeping in the provider's cache. `None` outside of a call.
    pub cache: Option<CachePlan>,
    /// The id of the attempt, for the provider's logs. `OpenAi` sends it as the
    /// header `x-client-request-id`. `None` outside of a call.
    pub correlation: Option<AttemptId>,
}

impl Request {
    /// Creates a request for text, with nothing else set.
    pub fn new(messages: Vec<Message>) -> Self {
        Request {
            messages,
            model: None,
            output: None,
            tools: Arc::default(),
            all_tools: None,
            answer_now: false,
            response_format: None,
            temperature: None,
            max_tokens: None,
            reasoning: None,
            attempt_timeout: None,
            extra: Map::new(),
            extra_on: None,
            raised: false,
            question: None,
            cache: None,
            correlation: None,
        }
    }

    /// All tools that may be called, also those that are not listed yet.
    pub fn callable(&self) -> &[ToolSpec] {
        self.all_tools.as_deref().unwrap_or(&self.tools)
    }

    /// All fields that the program adds itself: for every API, and for one alone.
    pub fn all_extra(&self) -> impl Iterator<Item = &Map<String, Value>> {
        self.extra_on
            .iter()
            .flat_map(|all| all.values())
            .chain([&self.extra])
    }

    /// The request as this API is asked, if it has fields of its own.
    pub fn on(&self, api: ApiKind) -> Option<Box<Request>> {
        let fields = self.extra_on.as_ref()?.get(&api)?;
        let mut request = self.clone();
        fields
            .iter()
            .for_each(|(name, value)| join_field(&mut request.extra, name, value));
        Some(Box::new(request))
    }

    /// Returns a complaint for each field of `extra` that the provider's handle sets itself.
    ///
    /// Such a request is refused before it is sent, since one of the two values
    /// would win without a word.
    pub fn reserved_fields_in_extra(
        &self,
        reserved: &'static [&'static str],
    ) -> impl Iterator<Item = String> {
        let reserved = reserved
            .iter()
            .filter(|field| self.extra.contains_key(**field));
        reserved.map(|field| {
            format!("`extra` contains the field `{field}`, which llmnode sets itself; leave it out")
        })
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("messages", &self.messages)
            .field("model", &self.model)
            .field("output", &self.output.as_deref().map(OutputSchema::name))
            .field("tools", &self.tools)
            .field("response_format", &self.response_format)
            .field("temperature", &self.temperature)
            .field("max_tokens", &self.max_tokens)
            .field("reasoning", &self.reasoning)
            .field("extra", &names(&self.extra))
            .field(
                "extra_on",
                &self
                    .extra_on
                    .iter()
                    .flat_map(|all| all.iter())
                    .map(|(wire, fields)| (wire, names(fields)))
                    .collect::<Vec<_>>(),
            )
            .field("correlation", &self.correlation)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does not compile when a field is added: one that changes the answer has to
    /// be part of the keys by which journals (`llmnode-flow`, `journal/replay.rs`)
    /// and cassettes (`llmnode-cassette`, `request_key.rs`) find an answer again.
    #[test]
    fn every_field_is_in_the_keys_of_answers_or_changes_none() {
        let Request {
            messages,
            model: _,
            output: _,
            tools: _,
            // Journals take it in place of `tools`: what is found on the way is no
            // part of what is asked.
            all_tools: _,
            answer_now: _,
            response_format: _,
            temperature: _,
            max_tokens: _,
            reasoning: _,
            extra: _,
            extra_on: _,
            // In the key of cassettes: the shorter answer is in none of journals.
            raised: _,
            // Do not change what is answered.
            attempt_timeout: _,
            question: _,
            cache: _,
            correlation: _,
        } = Request::new(Vec::new());
        assert!(messages.is_empty());
    }
}
