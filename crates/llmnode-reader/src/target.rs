//! What an answer is read as, and the fast path for text that is already JSON of the type.

use serde::de::DeserializeOwned;

use super::check::{CheckMode, Rules, expected_answer};
use super::json::Json;
use super::schema::OutputSchema;
use super::serde_observer::{Observed, Observer};
use super::tree::WRAPPER;
use crate::violation::Violation;

/// Copied from a template of the type.
const PLACEHOLDER: &str = "\"string\"";

/// A place for a value of a type that is not known here, so that the search for JSON is compiled once.
pub trait Slot {
    /// Reads the JSON as a value of the type, and keeps it.
    ///
    /// # Errors
    /// If it is not of the type.
    fn fill(&mut self, json: &str, observed: &Observed<'_>) -> Result<(), serde_json::Error>;
}

impl<T: DeserializeOwned> Slot for Option<T> {
    fn fill(&mut self, json: &str, observed: &Observed<'_>) -> Result<(), serde_json::Error> {
        let mut inner = serde_json::Deserializer::from_str(json);
        let value = T::deserialize(Observer {
            inner: &mut inner,
            observed,
        })?;
        inner.end()?;
        *self = Some(value);
        Ok(())
    }
}

pub(super) struct Target<'a> {
    pub(super) schema: Option<&'a OutputSchema>,
    pub(super) mode: CheckMode,
    pub(super) exact: bool,
    pub(super) whole_text: bool,
    /// The flag is set for `{"value": ..}`.
    pub(super) extra_check: &'a dyn Fn(&Json<'_>, bool) -> Vec<Violation>,
}

impl Target<'_> {
    pub(super) fn is_wrapped(&self) -> bool {
        self.schema.is_some_and(OutputSchema::is_wrapped)
    }

    pub(super) fn rules(&self) -> &Rules {
        match self.schema {
            Some(schema) => &schema.rules,
            None => Rules::any(),
        }
    }

    /// Returns false if the text has to take the slow path.
    pub(super) fn try_fast_path(&self, text: &str, slot: &mut dyn Slot) -> bool {
        if self.mode == CheckMode::Schema || self.schema.is_some_and(|schema| schema.states_bounds)
        {
            return false;
        }
        let json = if self.is_wrapped() {
            wrapped_value(text)
        } else {
            Some(text)
        };
        let absent = self.schema.map_or(&[][..], |schema| &schema.absent_as_null);
        json.is_some_and(|json| {
            let has_null = !absent.is_empty() && json.contains("null");
            let observed = Observed::strict(json, if has_null { absent } else { &[] });
            slot.fill(json, &observed).is_ok()
                && observed.is_clean()
                && !has_control_escape(json)
                && !is_unfilled_template(json)
        })
    }

    pub(super) fn expected_answer(&self) -> Option<String> {
        self.schema
            .and_then(|schema| expected_answer(&schema.rules, schema.is_wrapped()))
    }
}

pub(super) fn wrapped_value(text: &str) -> Option<&str> {
    let key = text
        .strip_prefix('{')?
        .trim_ascii_start()
        .strip_prefix('"')?
        .strip_prefix(WRAPPER)?;
    let value = key
        .strip_prefix('"')?
        .trim_ascii_start()
        .strip_prefix(':')?
        .trim_ascii_start();
    Some(value.strip_suffix('}')?.trim_ascii_end())
}

/// Templates are short, which bounds this search.
fn is_unfilled_template(json: &str) -> bool {
    const SHORT: usize = 512;
    json.len() < SHORT && json.contains(PLACEHOLDER)
}

/// `"\frac"` is LaTeX, not a form feed; no text has backspaces or form feeds.
fn has_control_escape(json: &str) -> bool {
    if !json.contains("\\b") && !json.contains("\\f") {
        return false;
    }
    // An escaped backslash starts no escape.
    let json = json.replace("\\\\", "");
    let is_text = |at: usize| {
        json.as_bytes()
            .get(at + 2)
            .is_some_and(u8::is_ascii_alphabetic)
    };
    ["\\b", "\\f"]
        .iter()
        .any(|escape| json.match_indices(escape).any(|(at, _)| is_text(at)))
}
