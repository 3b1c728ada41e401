//! What goes with one model of several.

use std::fmt;

use serde_json::{Map, Value};

use crate::model::Dialect;
use crate::text::names;

/// What every request to a registered model says, whichever node asks
/// ([`Run::model_with`](crate::Run::model_with)): it beats the run's settings and the node's attributes, and a call's
/// own settings beat it.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::ModelSettings;
///
/// let settings = ModelSettings::new().id("gpt-4o-mini").temperature(0.0).extra("seed", 7);
/// assert_eq!(settings.id.as_deref(), Some("gpt-4o-mini"));
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct ModelSettings {
    /// The provider's id of the model. Default: the handle's own.
    pub id: Option<String>,
    /// Sampling temperature, finite and 0 or more.
    pub temperature: Option<f64>,
    /// The most tokens an answer may have, 1 or more.
    pub max_tokens: Option<u32>,
    /// How the type of an answer is told. Default: as the model does by itself.
    pub dialect: Option<Dialect>,
    /// Further fields of the request, passed to the provider as they are. `messages`, `model`, `stream`, and a field
    /// of which there is a setting that is set, are a `config_error` of the call.
    pub extra: Map<String, Value>,
}

impl ModelSettings {
    /// Nothing set.
    pub fn new() -> Self {
        ModelSettings::default()
    }

    /// Sets the provider's id of the model.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
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

    /// Sets how the type of an answer is told.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = Some(dialect);
        self
    }

    /// Adds a further field to the request, such as `("seed", 7)`.
    #[must_use]
    pub fn extra(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra.insert(field.into(), value.into());
        self
    }
}

/// Shows the names of the further fields, not what is in them.
impl fmt::Debug for ModelSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelSettings")
            .field("id", &self.id)
            .field("temperature", &self.temperature)
            .field("max_tokens", &self.max_tokens)
            .field("dialect", &self.dialect)
            .field("extra", &names(&self.extra))
            .finish()
    }
}
