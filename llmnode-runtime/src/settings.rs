//! What a call may be told beside its prompt: by the call, the run, or the node's attributes.

use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::category::Category;
use crate::error::NodeError;

/// The settings that a node's attributes state; every call of the node starts from them.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Attributes {
    /// The model to ask: a name registered on the run, or else the provider's id.
    pub model: Option<&'static str>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// The most tokens an answer may have.
    pub max_tokens: Option<u32>,
    /// More calls after a bad answer.
    pub retries: Option<u32>,
    /// More tries of the same request after a failure of the transport.
    pub transport_retries: Option<u32>,
}

impl Attributes {
    /// Nothing stated.
    pub const fn new() -> Self {
        Attributes {
            model: None,
            temperature: None,
            max_tokens: None,
            retries: None,
            transport_retries: None,
        }
    }

    /// States the model.
    #[must_use]
    pub const fn model(mut self, model: &'static str) -> Self {
        self.model = Some(model);
        self
    }

    /// States the temperature.
    #[must_use]
    pub const fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// States the most tokens an answer may have.
    #[must_use]
    pub const fn max_tokens(mut self, max_tokens: u32) -> Self {
        self.max_tokens = Some(max_tokens);
        self
    }

    /// States how many more calls follow bad answers.
    #[must_use]
    pub const fn retries(mut self, retries: u32) -> Self {
        self.retries = Some(retries);
        self
    }

    /// States how many more tries follow failures of the transport.
    #[must_use]
    pub const fn transport_retries(mut self, transport_retries: u32) -> Self {
        self.transport_retries = Some(transport_retries);
        self
    }
}

/// Settings of one call ([`Call::settings`](crate::Call::settings)) or of all calls of a run
/// ([`Run::with_settings`](crate::Run::with_settings)).
///
/// What a call says beats what the run says, which beats the node's attributes, which beat the model's own. A value
/// that cannot be is a `config_error` of the call, before any request.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// let settings = llmnode::Settings::new().temperature(0.0).retries(1);
/// assert_eq!(settings.retries, Some(1));
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Settings {
    /// The model to ask: a name registered on the run, or else the provider's id. Default: the model's own.
    pub model: Option<String>,
    /// Sampling temperature, finite and 0 or more. Default: the provider's.
    pub temperature: Option<f64>,
    /// The most tokens an answer may have, 1 or more. Default: the provider's.
    pub max_tokens: Option<u32>,
    /// More calls after a bad answer. Default 0. A run's `retries` do not concern nodes whose answer is raw
    /// text, which nothing can find bad; the call's own are an error there.
    pub retries: Option<u32>,
    /// More tries of the same request after a failure of the transport. Default 2.
    pub transport_retries: Option<u32>,
    /// The longest wait before a further try; a longer one fails at once. Default 60 s.
    pub max_wait: Option<Duration>,
    /// The longest answer, in bytes, 1 or more; a longer one is a `truncated_output`. Default: no bound but the
    /// provider's.
    pub max_output_bytes: Option<usize>,
    /// How many of the newest bad answers the model is shown, each with what was wrong: 1 or more. Default 3.
    pub feedback_rounds: Option<usize>,
    /// Whether the second identical bad answer in a row ends the call, whatever is left of `retries`.
    /// Default: no.
    pub stop_on_repeat: Option<bool>,
    /// Further fields of the request, passed to the provider as they are.
    pub extra: Map<String, Value>,
}

/// Shows the names of the further fields, not what is in them.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("model", &self.model)
            .field("temperature", &self.temperature)
            .field("max_tokens", &self.max_tokens)
            .field("retries", &self.retries)
            .field("transport_retries", &self.transport_retries)
            .field("max_wait", &self.max_wait)
            .field("max_output_bytes", &self.max_output_bytes)
            .field("feedback_rounds", &self.feedback_rounds)
            .field("stop_on_repeat", &self.stop_on_repeat)
            .field("extra", &names(&self.extra))
            .finish()
    }
}

/// The names of an object's members.
pub(crate) fn names(fields: &Map<String, Value>) -> Vec<&str> {
    fields.keys().map(String::as_str).collect()
}

impl Settings {
    /// Nothing set.
    pub fn new() -> Self {
        Settings::default()
    }

    /// Sets the model: a name registered on the run, or else the provider's id.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the temperature.
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Sets the most tokens an answer may have.
    #[must_use]
    pub fn max_tokens(mut self, max_tokens: u32) -> Self {
        self.max_tokens = Some(max_tokens);
        self
    }

    /// Sets how many more calls follow bad answers.
    #[must_use]
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = Some(retries);
        self
    }

    /// Sets how many more tries follow failures of the transport.
    #[must_use]
    pub fn transport_retries(mut self, transport_retries: u32) -> Self {
        self.transport_retries = Some(transport_retries);
        self
    }

    /// Sets the longest wait before a further try.
    #[must_use]
    pub fn max_wait(mut self, max_wait: Duration) -> Self {
        self.max_wait = Some(max_wait);
        self
    }

    /// Sets the longest answer, in bytes.
    #[must_use]
    pub fn max_output_bytes(mut self, bytes: usize) -> Self {
        self.max_output_bytes = Some(bytes);
        self
    }

    /// Sets how many of the newest bad answers the model is shown.
    #[must_use]
    pub fn feedback_rounds(mut self, rounds: usize) -> Self {
        self.feedback_rounds = Some(rounds);
        self
    }

    /// Sets whether the second identical bad answer in a row ends the call.
    #[must_use]
    pub fn stop_on_repeat(mut self, stop: bool) -> Self {
        self.stop_on_repeat = Some(stop);
        self
    }

    /// Adds a further field to the request, such as `("seed", 7)`.
    #[must_use]
    pub fn extra(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra.insert(field.into(), value.into());
        self
    }
}

/// What holds for one call, after call, run and attributes have spoken.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) model: Option<String>,
    pub(crate) temperature: Option<f64>,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) retries: u32,
    pub(crate) transport_retries: u32,
    pub(crate) max_wait: Duration,
    pub(crate) max_output_bytes: usize,
    pub(crate) feedback_rounds: usize,
    pub(crate) stop_on_repeat: bool,
    pub(crate) extra: Map<String, Value>,
}

impl Resolved {
    /// The first word wins: call, run, attributes, default.
    pub(crate) fn new(call: &Settings, run: &Settings, node: &Attributes) -> Result<Self, NodeError> {
        let mut extra = run.extra.clone();
        extra.extend(call.extra.iter().map(|(field, value)| (field.clone(), value.clone())));
        let resolved = Resolved {
            model: call.model.clone().or_else(|| run.model.clone()).or_else(|| node.model.map(str::to_owned)),
            temperature: call.temperature.or(run.temperature).or(node.temperature),
            max_tokens: call.max_tokens.or(run.max_tokens).or(node.max_tokens),
            retries: call.retries.or(run.retries).or(node.retries).unwrap_or(0),
            transport_retries: call
                .transport_retries
                .or(run.transport_retries)
                .or(node.transport_retries)
                .unwrap_or(2),
            max_wait: call.max_wait.or(run.max_wait).unwrap_or(Duration::from_secs(60)),
            max_output_bytes: call.max_output_bytes.or(run.max_output_bytes).unwrap_or(usize::MAX),
            feedback_rounds: call.feedback_rounds.or(run.feedback_rounds).unwrap_or(3),
            stop_on_repeat: call.stop_on_repeat.or(run.stop_on_repeat).unwrap_or(false),
            extra,
        };
        resolved.check()?;
        Ok(resolved)
    }

    fn check(&self) -> Result<(), NodeError> {
        let fault = match self {
            Resolved { temperature: Some(t), .. } if !t.is_finite() || *t < 0.0 => {
                format!("temperature is {t}; it must be a number, 0 or more")
            }
            Resolved { max_tokens: Some(0), .. } => {
                "max_tokens is 0; an answer needs at least one token".to_owned()
            }
            Resolved { max_output_bytes: 0, .. } => {
                "max_output_bytes is 0; an answer needs at least one byte".to_owned()
            }
            Resolved { feedback_rounds: 0, .. } => {
                "feedback_rounds is 0; a model that is not shown its answer cannot correct it".to_owned()
            }
            Resolved { model: Some(model), .. } if model.trim().is_empty() => {
                "the model's name is empty".to_owned()
            }
            _ => return Ok(()),
        };
        Err(NodeError::new(Category::ConfigError, fault))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_beats_run_beats_attributes() {
        let node = Attributes::new().model("node").temperature(0.1).retries(1);
        let run = Settings::new().model("run").temperature(0.2).extra("seed", 1).extra("top_p", 0.5);
        let call = Settings::new().model("call").extra("seed", 2);
        let resolved = Resolved::new(&call, &run, &node).unwrap();
        assert_eq!(resolved.model.as_deref(), Some("call"));
        assert_eq!(resolved.temperature, Some(0.2));
        assert_eq!((resolved.retries, resolved.transport_retries), (1, 2));
        assert_eq!(Value::from(resolved.extra), serde_json::json!({"seed": 2, "top_p": 0.5}));
    }

    #[test]
    fn absurd_settings_are_config_errors() {
        for call in [
            Settings::new().temperature(f64::NAN),
            Settings::new().temperature(-1.0),
            Settings::new().max_tokens(0),
            Settings::new().model(" "),
            Settings::new().max_output_bytes(0),
            Settings::new().feedback_rounds(0),
        ] {
            let error = Resolved::new(&call, &Settings::new(), &Attributes::new()).unwrap_err();
            assert_eq!(error.category(), Category::ConfigError);
        }
    }
}
