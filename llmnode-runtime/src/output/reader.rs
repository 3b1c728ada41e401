//! From a model's text to the value: the whole text strictly, else the one JSON value in a fence or in prose.
//!
//! Nothing is repaired, and nothing is guessed: where the text holds two different values, or one that
//! breaks off, that is a problem for the model to mend.

mod error;
mod find;
mod json;
#[allow(dead_code, reason = "finding the JSON of a text builds on it")]
mod repair;

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

pub(crate) use find::Source;
use find::find_json;
pub(crate) use json::Json;

use super::OutputSchema;
use super::check::objections;
use super::schema::WRAPPER;
use crate::text::one_line_shortened;
use crate::validate::Violation;

/// A value read from a model's text.
#[derive(Debug)]
pub(crate) struct Read<T> {
    pub(crate) value: T,
    /// Where in the text its JSON was.
    pub(crate) source: Source,
    /// Whether it came as `{"value": ..}`, so that its paths begin with `value` for the model.
    pub(crate) unwrapped: bool,
}

/// Reads the value of `schema`'s type. Clean JSON is parsed once; everything else costs a second look.
///
/// # Errors
/// What is wrong: at present one problem, the first that serde meets.
pub(crate) fn read<T: DeserializeOwned>(
    text: &str,
    schema: &OutputSchema,
) -> Result<Read<T>, Vec<Violation>> {
    if let Some((value, json)) = read_clean(text, schema) {
        let value = judged(Ok(value), json, schema, schema.is_wrapped())?;
        return Ok(Read { value, source: Source::Whole, unwrapped: schema.is_wrapped() });
    }
    let found =
        find_json(text, !schema.is_wrapped()).map_err(|error| vec![Violation::new("", error.to_string())])?;
    let (value, unwrapped) = from_json(found.json, schema)?;
    Ok(Read { value, source: found.source, unwrapped })
}

/// The value of a text that is JSON of the type as it stands, and the JSON itself.
fn read_clean<'t, T: DeserializeOwned>(text: &'t str, schema: &OutputSchema) -> Option<(T, &'t str)> {
    if schema.adds_nulls() && text.contains("null") {
        return None;
    }
    let text = find::trimmed(text);
    // Both kinds are objects in the schema; serde would fill a struct from a list as well.
    if !text.starts_with('{') {
        return None;
    }
    let json = if schema.is_wrapped() { unwrapped(text)? } else { text };
    Some((serde_json::from_str(json).ok()?, json))
}

/// What serde made of JSON, where nothing else speaks against it.
fn judged<T>(
    outcome: Result<T, Violation>,
    json: &str,
    schema: &OutputSchema,
    wrapped: bool,
) -> Result<T, Vec<Violation>> {
    match outcome {
        Ok(value) if !schema.states_bounds() => Ok(value),
        Ok(value) => match objections(json, schema, wrapped, None) {
            none if none.is_empty() => Ok(value),
            objections => Err(objections),
        },
        Err(refusal) => Err(objections(json, schema, wrapped, Some(refusal))),
    }
}

/// What `{"value": ..}` wraps. Its text, as each type that is read in one way more is compiled once more.
fn unwrapped(json: &str) -> Option<&str> {
    serde_json::from_str::<Wrapped<'_>>(json).ok().map(|wrapped| wrapped.value.get())
}

/// `{"value": ..}` and no other member.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Wrapped<'a> {
    #[serde(borrow)]
    value: &'a RawValue,
}

fn from_json<T: DeserializeOwned>(json: &str, schema: &OutputSchema) -> Result<(T, bool), Vec<Violation>> {
    let may_wrap = schema.is_wrapped() && json.starts_with('{');
    let wrapped = if may_wrap { unwrapped(json) } else { None };
    let (json, prefix) = wrapped.map_or((json, ""), |value| (value, WRAPPER));
    let outcome = typed(json, schema).map_err(|error| violation(&error, prefix));
    match judged(outcome, json, schema, wrapped.is_some()) {
        Ok(value) => Ok((value, wrapped.is_some())),
        Err(mut violations) => {
            if schema.is_wrapped()
                && wrapped.is_none()
                && let Some(first) = violations.first_mut()
            {
                first.message.push_str("; answer as {\"value\": ..} with that one member");
            }
            Err(violations)
        }
    }
}

type PathError = serde_path_to_error::Error<serde_json::Error>;

fn typed<T: DeserializeOwned>(json: &str, schema: &OutputSchema) -> Result<T, PathError> {
    if schema.adds_nulls() && json.contains("null") {
        let mut value: Value =
            serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(json))?;
        // Only then, since a `Value` forgets duplicate keys and rounds large numbers.
        if schema.drop_added_nulls(&mut value) > 0 {
            // By way of its text, as above.
            return serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(
                &value.to_string(),
            ));
        }
    }
    serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(json))
}

fn violation(error: &PathError, prefix: &str) -> Violation {
    let inner = match error.path().to_string() {
        root if root == "." => String::new(),
        path => path,
    };
    let dot = if prefix.is_empty() || inner.is_empty() || inner.starts_with('[') { "" } else { "." };
    Violation::new(format!("{prefix}{dot}{inner}"), message(error.inner()))
}

/// serde's words. The path says where; line and column would point into JSON that may have been cut out.
fn message(error: &serde_json::Error) -> String {
    let mut message = error.to_string();
    if error.line() > 0 {
        let place = format!(" at line {} column {}", error.line(), error.column());
        if let Some(words) = message.strip_suffix(&place) {
            message.truncate(words.len());
        }
    }
    // serde quotes the value it did not expect, and lists what it did at the end.
    one_line_shortened(message, 600)
}

#[cfg(test)]
mod tests;
