//! Redaction of texts before they are written or compared.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::credential::{Secret, is_credential, redact};

/// Shorter values are hardly keys.
const MIN_SECRET_LEN: usize = 8;

type Redact = dyn Fn(&str) -> String + Send + Sync;

/// Removes credentials, and what else the program wants removed.
#[derive(Clone, Default)]
pub struct Redactor {
    secrets: Vec<Secret>,
    custom: Option<Arc<Redact>>,
}

impl Redactor {
    /// Finds credentials by the names of the variables.
    pub fn from_env() -> Self {
        let secrets = std::env::vars_os().filter_map(|(name, value)| {
            let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
            (value.len() >= MIN_SECRET_LEN && is_credential(&name)).then(|| Secret::new(value))
        });
        Redactor { secrets: secrets.collect(), custom: None }
    }

    /// Sets a function that every text goes through as well.
    pub fn redact(&mut self, redact: impl Fn(&str) -> String + Send + Sync + 'static) {
        self.custom = Some(Arc::new(redact));
    }

    /// A text is redacted as a whole: half a key would not be recognized.
    pub fn text(&self, text: &str) -> String {
        let clean = redact(text, &self.secrets);
        match &self.custom {
            Some(custom) => custom(&clean),
            None => clean,
        }
    }

    /// The same, if there is a text.
    pub fn option(&self, text: Option<&String>) -> Option<String> {
        text.map(|text| self.text(text))
    }

    /// Includes the names of members.
    pub fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => {
                let cleaned = std::mem::take(members).into_iter().map(|(name, mut member)| {
                    self.value(&mut member);
                    (self.text(&name), member)
                });
                *members = cleaned.collect();
            }
            _ => {}
        }
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}
