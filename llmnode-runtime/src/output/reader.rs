//! The reader as a tool of its own: a model's text in, a value and what was done to read it out.

use std::fmt;

use serde_json::Value;

use super::check::{Judge, violations};
use super::json::Json;
use super::schema::OutputSchema;
use super::spec::{Answer, LlmOutput, Read, read, read_any, read_by_schema};
use super::target::Target;
use crate::flag::Note;
use crate::text::write_joined;
use crate::validate::Violation;

/// Reads JSON out of what a model wrote, as nodes do.
///
/// JSON of the type as it stands is what serde_json makes of it, unless that would lose something: a member that stands
/// twice, or a number that would be rounded. Otherwise the reader looks for the JSON behind thoughts, in code fences and
/// between other words, repairs it, and makes it fit the type, where nothing is lost.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::Reader;
///
/// let reading = Reader::new().value("Here it is:\n```json\n{\"count\": 3}\n```")?;
/// assert_eq!(reading.value["count"], 3);
/// assert_eq!(reading.notes[0].flag, llmnode::Flag::Fenced);
/// # Ok::<_, llmnode::ReadError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    exact: bool,
    whole: bool,
}

/// A value that was read, and what was done to read it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reading<T> {
    /// The value.
    pub value: T,
    /// What was done to read it, each kind once, in the order of the first of each; empty for clean JSON.
    pub notes: Vec<Note>,
}

impl<T> Reading<T> {
    fn of(answer: Read<T>) -> Result<Self, ReadError> {
        let read = |answer: Answer<T>| Reading { value: answer.value, notes: answer.notes };
        answer.map(read).map_err(|violations| ReadError { violations })
    }
}

/// Why a text was not read. Nothing of it counts then.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub struct ReadError {
    violations: Vec<Violation>,
}

impl ReadError {
    /// Everything that is wrong, in the order of the text; at least one.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_joined(&self.violations, "\n", f)
    }
}

impl Default for Reader {
    fn default() -> Self {
        Reader::new()
    }
}

impl Reader {
    /// A reader as nodes have it: it repairs what is nearly JSON, and takes what is nearly of the type, where nothing is lost.
    pub const fn new() -> Self {
        Reader { exact: false, whole: false }
    }

    /// Sets whether JSON is taken only as it stands: nothing is repaired, and nothing changed to fit a type. It is still
    /// looked for in fences and between words. Default: no.
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// use llmnode::Reader;
    ///
    /// let text = "{\"sizes\": ['small', 7,]}";
    /// assert!(Reader::new().value(text).is_ok());
    /// assert!(Reader::new().exact(true).value(text).is_err());
    /// ```
    #[must_use]
    pub const fn exact(mut self, exact: bool) -> Self {
        self.exact = exact;
        self
    }

    /// Takes a text only if it is whole JSON of the type as it stands: it was cut, or is no model's.
    #[must_use]
    pub(crate) const fn whole(self) -> Self {
        Reader { exact: true, whole: true }
    }

    pub(super) fn target(self, schema: Option<&OutputSchema>) -> Target<'_> {
        let Reader { exact, whole } = self;
        Target { schema, judge: Judge::Type, exact, whole, objections: &|_, _| Vec::new() }
    }

    /// Reads a value of any kind.
    ///
    /// # Errors
    /// What is wrong with the text, and where.
    pub fn value(&self, text: &str) -> Result<Reading<Value>, ReadError> {
        Reading::of(read_any(text, *self))
    }

    /// Reads a value of a type. Its validators do not run.
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// let reading = llmnode::Reader::new().read::<Vec<u8>>("[1, 2]")?;
    /// assert_eq!(reading.value, [1, 2]);
    /// # Ok::<_, llmnode::ReadError>(())
    /// ```
    ///
    /// # Errors
    /// What is wrong with the text, each with its path in the JSON.
    pub fn read<T: LlmOutput>(&self, text: &str) -> Result<Reading<T>, ReadError> {
        Reading::of(read(text, &OutputSchema::of::<T>(), *self))
    }

    /// Reads JSON that conforms to a schema which is known at run time only. Of its keywords those are checked that
    /// [`PrimitiveBuilder::output_schema`](crate::primitive::PrimitiveBuilder::output_schema) names; others are for the model alone. Where the
    /// schema is no object's, a value that came as `{"value": ..}` is unwrapped.
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// use llmnode::{OutputSchema, Reader};
    /// use serde_json::json;
    ///
    /// let schema = OutputSchema::from_value("sizes", json!({
    ///     "type": "array", "items": {"type": "string", "enum": ["small", "large"]}
    /// }));
    /// let reading = Reader::new().conforming(r#"["small", "Large"]"#, &schema)?;
    /// assert_eq!(reading.value, json!(["small", "large"]));
    /// assert_eq!(reading.notes[0].place, "[1]");
    /// # Ok::<_, llmnode::ReadError>(())
    /// ```
    ///
    /// # Errors
    /// Everything that is wrong with the text, each with its path in the JSON.
    pub fn conforming(&self, text: &str, schema: &OutputSchema) -> Result<Reading<Value>, ReadError> {
        let objections = |value: &Json<'_>, wrapped: bool| violations(&schema.rules, value, wrapped);
        Reading::of(read_by_schema(text, schema, *self, &objections))
    }
}
