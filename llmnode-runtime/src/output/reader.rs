//! From a model's text to the value: the whole text strictly, else the one JSON value in a fence or in prose, and
//! where none of that is JSON, what becomes JSON by repairs that lose nothing.
//!
//! Nothing is guessed: where the text holds two different values, or one that breaks off, that is a problem for
//! the model to mend.

mod around;
mod candidates;
mod error;
mod fence;
mod find;
mod json;
mod prose;
mod repair;
mod serde_words;
mod thinking;

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

pub(crate) use self::error::ReadError;
pub(crate) use self::find::Found;
pub(crate) use self::find::without_thoughts;
use self::find::{Wanted, find_json};
pub(crate) use self::json::{Json, doubled_key, parse};
pub(super) use self::serde_words::{EXPECTED_INTEGER, HAS_MEMBER};
use super::OutputSchema;
use super::check::{objections, shape, too_long};
use super::schema::WRAPPER;
use crate::flag::{Flag, Note};
use crate::validate::Violation;

/// A value read from a model's text.
#[derive(Debug)]
pub(crate) struct Read<T> {
    pub(crate) value: T,
    /// What was done to read it, each kind once.
    pub(crate) notes: Vec<Note>,
    /// Whether it came as `{"value": ..}`, so that its paths begin with `value` for the model.
    pub(crate) unwrapped: bool,
}

/// How much is done to find JSON in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// None: the whole text is JSON, or is refused.
    Whole,
    /// It is looked for behind thoughts, in fences and in prose.
    Strict,
    /// And what is nearly JSON is repaired.
    Repair,
}

/// What JSON is read into. The type stands behind it, so that all that looks for the JSON is compiled once.
pub(crate) trait Slot {
    /// Keeps what serde makes of strict JSON.
    fn fill(&mut self, json: &str) -> Result<(), serde_json::Error>;

    /// The same, with the path of what serde refuses. It takes as long again.
    fn fill_with_path(&mut self, json: &str) -> Result<(), PathError>;
}

impl<T: DeserializeOwned> Slot for Option<T> {
    fn fill(&mut self, json: &str) -> Result<(), serde_json::Error> {
        *self = Some(serde_json::from_str(json)?);
        Ok(())
    }

    fn fill_with_path(&mut self, json: &str) -> Result<(), PathError> {
        *self = Some(serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(json))?);
        Ok(())
    }
}

/// Reads the value of `schema`'s type into `to`. Clean JSON is parsed once, also in a fence; everything else costs more.
///
/// # Errors
/// What is wrong: at present one problem, the first that serde meets.
pub(crate) fn read(
    text: &str,
    schema: &OutputSchema,
    effort: Effort,
    to: &mut dyn Slot,
) -> Result<Read<()>, Vec<Violation>> {
    if let Some(json) = read_clean(text, schema, to) {
        judged(Ok(()), json, schema, schema.is_wrapped())?;
        return Ok(Read { value: (), notes: Vec::new(), unwrapped: schema.is_wrapped() });
    }
    if effort != Effort::Whole
        && let Some((json, begin)) = read_fenced(text, schema, to)
    {
        judged(Ok(()), json, schema, schema.is_wrapped())?;
        let notes = vec![Note { flag: Flag::Fenced, place: error::place(text, begin).to_string(), times: 1 }];
        return Ok(Read { value: (), notes, unwrapped: schema.is_wrapped() });
    }
    let found = find(text, !schema.is_wrapped(), effort).map_err(|error| vec![told(&error, Some(schema))])?;
    let unwrapped =
        from_json(&found.json, schema, to).map_err(|problems| flawed(text, &found).unwrap_or(problems))?;
    Ok(Read { value: (), notes: found.notes, unwrapped })
}

/// Reads a value of any kind.
///
/// # Errors
/// What is wrong.
pub(crate) fn read_value(text: &str, effort: Effort) -> Result<Read<Value>, Vec<Violation>> {
    if let Ok(value) = serde_json::from_str(find::trimmed(text)) {
        return Ok(Read { value, notes: Vec::new(), unwrapped: false });
    }
    let found = find(text, false, effort).map_err(|error| vec![told(&error, None)])?;
    let mut value = None::<Value>;
    with_path(&found.json, &mut value)
        .map_err(|error| flawed(text, &found).unwrap_or_else(|| vec![violation(&error, "")]))?;
    Ok(Read { value: value.unwrap_or_default(), notes: found.notes, unwrapped: false })
}

/// The one JSON value of a text, as strict JSON; `object`: an object is wanted.
///
/// # Errors
/// No JSON, two values that differ, or JSON that is broken or incomplete.
fn find(text: &str, object: bool, effort: Effort) -> Result<Found<'_>, ReadError> {
    let found = find_json(text, Wanted { object, repaired: effort == Effort::Repair })?;
    if effort == Effort::Whole && !found.notes.is_empty() { Err(ReadError::NotWhole) } else { Ok(found) }
}

/// An error, and what was wanted, if there is nothing to show what is wrong with.
fn told(error: &ReadError, schema: Option<&OutputSchema>) -> Violation {
    let wanted = schema.filter(|_| matches!(error, ReadError::Empty | ReadError::Nothing)).and_then(shape);
    let ask = match wanted {
        Some(wanted) => format!("{}: {wanted}", error.ask()).into(),
        None => error.ask().into(),
    };
    Violation { ask, ..Violation::new("", error.to_string()) }
}

/// What is wrong with JSON that is passed over without an error, but not read: half a character in a string, say.
fn flawed(text: &str, found: &Found<'_>) -> Option<Vec<Violation>> {
    let Cow::Borrowed(json) = found.json else { return None };
    let begin = find::offset(text, json);
    let fault = repair::flaw(&text[..begin + json.len()], begin)?;
    Some(vec![Violation::new("", error::faulty(text, begin, &fault).to_string())])
}

/// All values of a text, as strict JSON; none, if it has nothing like JSON.
///
/// # Errors
/// JSON that is broken or incomplete.
pub(crate) fn find_every(text: &str, effort: Effort) -> Result<Vec<Found<'_>>, ReadError> {
    find::find_every(text, effort == Effort::Repair)
}

/// Reads JSON that conforms to the schema of the type, and is not wrapped.
///
/// # Errors
/// What is wrong all the same.
pub(crate) fn of_json(json: &str, schema: &OutputSchema, to: &mut dyn Slot) -> Result<(), Vec<Violation>> {
    judged(typed(json, schema, "", to), json, schema, false)
}

/// Reads a text that is JSON of the type as it stands; gives the JSON itself.
fn read_clean<'t>(text: &'t str, schema: &OutputSchema, to: &mut dyn Slot) -> Option<&'t str> {
    if schema.may_read_again || (schema.may_hide_nulls && text.contains("null")) {
        return None;
    }
    let text = find::trimmed(text);
    // Both kinds are objects in the schema; serde would fill a struct from a list as well.
    if !text.starts_with('{') {
        return None;
    }
    let json = if schema.is_wrapped() { wrapped_value(text)? } else { text };
    to.fill(json).ok()?;
    Some(json)
}

/// What stands between `{"value":` and `}`, if the text begins and ends so: JSON, unless there is more in it.
fn wrapped_value(text: &str) -> Option<&str> {
    let key = text.strip_prefix('{')?.trim_ascii_start().strip_prefix('"')?.strip_prefix(WRAPPER)?;
    let value = key.strip_prefix('"')?.trim_ascii_start().strip_prefix(':')?.trim_ascii_start();
    Some(value.strip_suffix('}')?.trim_ascii_end())
}

/// Reads a text whose one fence holds JSON of the type as it stands; gives the JSON itself, and where it begins.
fn read_fenced<'t>(text: &'t str, schema: &OutputSchema, to: &mut dyn Slot) -> Option<(&'t str, usize)> {
    if text.len() > find::LONGEST || thinking::is_mentioned(text) {
        return None;
    }
    let mut blocks = fence::Blocks::of(text, 0..text.len());
    let (block, None) = (blocks.next()?, blocks.next()) else {
        return None;
    };
    // JSON beside the fence may be a rival, or have it in one of its strings.
    if text[..block.content.start].contains(['{', '[']) || text[block.content.end..].contains('{') {
        return None;
    }
    let content = &text[block.content];
    let json = read_clean(content, schema, to)?;
    Some((json, find::offset(text, find::trimmed(content))))
}

/// What serde made of JSON, where nothing else speaks against it.
fn judged(
    outcome: Result<(), Violation>,
    json: &str,
    schema: &OutputSchema,
    wrapped: bool,
) -> Result<(), Vec<Violation>> {
    match outcome {
        Ok(()) if !schema.states_bounds => Ok(()),
        Ok(()) => match objections(json, schema, wrapped, None) {
            none if none.is_empty() => Ok(()),
            objections => Err(objections),
        },
        Err(refusal) => Err(objections(json, schema, wrapped, Some(refusal))),
    }
}

/// What `{"value": ..}` wraps.
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

/// Reads JSON that may be wrapped; tells whether it was.
fn from_json(json: &str, schema: &OutputSchema, to: &mut dyn Slot) -> Result<bool, Vec<Violation>> {
    let may_wrap = schema.is_wrapped() && json.starts_with('{');
    let wrapped = if may_wrap { unwrapped(json) } else { None };
    let (json, prefix) = wrapped.map_or((json, ""), |value| (value, WRAPPER));
    match judged(typed(json, schema, prefix, to), json, schema, wrapped.is_some()) {
        Ok(()) => Ok(wrapped.is_some()),
        Err(mut violations) => {
            if schema.is_wrapped()
                && wrapped.is_none()
                && let Some(first) = violations.first_mut()
            {
                first.ask = "write the whole answer as {\"value\": ..}".into();
            }
            Err(violations)
        }
    }
}

type PathError = serde_path_to_error::Error<serde_json::Error>;

/// Reads strict JSON, which stands at `place` in the answer.
fn typed(json: &str, schema: &OutputSchema, place: &str, to: &mut dyn Slot) -> Result<(), Violation> {
    if schema.may_read_again
        && let Some(violation) = too_long(json, schema, place)
    {
        return Err(violation);
    }
    without_nulls(json, schema, to).map_err(|error| violation(&error, place))
}

fn without_nulls(json: &str, schema: &OutputSchema, to: &mut dyn Slot) -> Result<(), PathError> {
    if schema.adds_nulls && json.contains("null") {
        let mut value = None::<Value>;
        with_path(json, &mut value)?;
        // Only then, since a `Value` forgets duplicate keys and rounds large numbers.
        if let Some(mut value) = value
            && schema.drop_added_nulls(&mut value) > 0
        {
            // By way of its text: each type that is read in one way more is compiled once more.
            return with_path(&value.to_string(), to);
        }
    }
    with_path(json, to)
}

/// Reads strict JSON, with the path of what serde refuses.
fn with_path(json: &str, to: &mut dyn Slot) -> Result<(), PathError> {
    match to.fill(json) {
        Ok(()) => Ok(()),
        Err(_) => to.fill_with_path(json),
    }
}

fn violation(error: &PathError, prefix: &str) -> Violation {
    let inner = match error.path().to_string() {
        root if root == "." => String::new(),
        path => path,
    };
    let dot = if prefix.is_empty() || inner.is_empty() || inner.starts_with('[') { "" } else { "." };
    Violation::new(format!("{prefix}{dot}{inner}"), serde_words::told(error.inner()))
}

#[cfg(test)]
mod tests;
