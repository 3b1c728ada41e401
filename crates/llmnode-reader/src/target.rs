//! What an answer is read as, and the fast path for text that is already JSON of the type.
//!
//! The fast path is most calls: serde reads the text, and an observer watches that
//! nothing was lost without a word. What it is not sure of goes the slow way, which
//! comes to the same value or says what is wrong; so the fast path may refuse, but
//! must never accept what the slow way would not.

use serde::de::DeserializeOwned;

use super::check::{CheckMode, Rules, expected_answer};
use super::json::Json;
use super::schema::OutputSchema;
use super::serde_observer::{Observed, Observer};
use super::tree::WRAPPER;
use crate::violation::Violation;

/// Copied from a template of the type.
const PLACEHOLDER: &str = "\"string\"";

/// A place for a value of a type that is not known here, so that the search for
/// JSON is compiled once.
pub trait Slot {
    /// Reads the JSON as a value of the type, and keeps it. After an error, what it holds does not count.
    ///
    /// # Errors
    /// If it is not of the type.
    fn fill(&mut self, json: &str, observed: &Observed<'_>) -> Result<(), serde_json::Error>;
}

impl<T: DeserializeOwned> Slot for Option<T> {
    fn fill(&mut self, json: &str, observed: &Observed<'_>) -> Result<(), serde_json::Error> {
        let mut inner = serde_json::Deserializer::from_str(json);
        // Kept before the end is looked for: to drop it there would be more code for every type.
        *self = Some(T::deserialize(Observer {
            inner: &mut inner,
            observed,
        })?);
        inner.end()
    }
}

/// What an answer is read as, and how leniently.
pub(super) struct Target<'a> {
    pub(super) schema: Option<&'a OutputSchema>,
    pub(super) mode: CheckMode,
    /// Nothing is repaired or coerced.
    pub(super) exact: bool,
    /// Nothing may be around the JSON.
    pub(super) whole_text: bool,
    /// The flag is set for `{"value": ..}`.
    pub(super) extra_check: &'a dyn Fn(&Json<'_>, bool) -> Vec<Violation>,
}

impl Target<'_> {
    /// Whether the answer is an object around the value.
    pub(super) fn is_wrapped(&self) -> bool {
        self.schema.is_some_and(OutputSchema::is_wrapped)
    }

    /// Without a schema, those that any value meets.
    pub(super) fn rules(&self) -> &Rules {
        match self.schema {
            Some(schema) => &schema.rules,
            None => Rules::any(),
        }
    }

    /// Has serde read the text. Returns false if the text has to take the slow
    /// path; the slot's value does not count then.
    pub(super) fn try_fast_path(&self, text: &str, slot: &mut dyn Slot) -> bool {
        let states_bounds = self.schema.is_some_and(|schema| schema.states_bounds);
        // serde checks neither a schema nor bounds.
        if self.mode == CheckMode::Schema || states_bounds {
            return false;
        }
        let json = if self.is_wrapped() {
            wrapped_value(text)
        } else {
            Some(text)
        };
        let Some(json) = json else {
            return false;
        };
        let mut absent_as_null: &[String] = match self.schema {
            Some(schema) => &schema.absent_as_null,
            None => &[],
        };
        // Members are compared with the names only if there is a `null` at all.
        if !absent_as_null.is_empty() && !json.contains("null") {
            absent_as_null = &[];
        }
        let observed = Observed::strict(json, absent_as_null);
        let is_read = slot.fill(json, &observed).is_ok() && observed.is_clean();
        is_read && !has_control_escape(json) && !is_unfilled_template(json)
    }

    /// What is asked for, in a few words.
    pub(super) fn expected_answer(&self) -> Option<String> {
        let schema = self.schema?;
        expected_answer(&schema.rules, schema.is_wrapped())
    }
}

/// The text of the value in `{"value": ..}`, found without parsing it.
pub(super) fn wrapped_value(text: &str) -> Option<&str> {
    let object = text.strip_prefix('{')?.trim_ascii_start();
    let key = object.strip_prefix('"')?.strip_prefix(WRAPPER)?;
    let behind_key = key.strip_prefix('"')?.trim_ascii_start();
    let value = behind_key.strip_prefix(':')?.trim_ascii_start();
    Some(value.strip_suffix('}')?.trim_ascii_end())
}

/// Templates are short, which bounds this search.
fn is_unfilled_template(json: &str) -> bool {
    const SHORT: usize = 512;
    json.len() < SHORT && json.contains(PLACEHOLDER)
}

/// `"\frac"` is LaTeX, not a form feed; no text has backspaces or form feeds.
fn has_control_escape(json: &str) -> bool {
    // Most answers have no escape at all, which is found in one pass.
    if !json.contains('\\') {
        return false;
    }
    if !json.contains("\\b") && !json.contains("\\f") {
        return false;
    }
    // An escaped backslash starts no escape.
    let json = json.replace("\\\\", "");
    for escape in ["\\b", "\\f"] {
        for (at, _) in json.match_indices(escape) {
            let next = json.as_bytes().get(at + escape.len());
            if next.is_some_and(u8::is_ascii_alphabetic) {
                return true;
            }
        }
    }
    false
}
