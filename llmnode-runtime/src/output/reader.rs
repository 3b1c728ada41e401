//! The reader on its own: takes a model's text, and returns a value and what was changed to read it.

use std::fmt;

use serde_json::Value;

use super::check::{CheckMode, violations};
use super::json::Json;
use super::schema::OutputSchema;
use super::spec::{Answer, LlmOutput, ReadResult, read, read_any, read_by_schema};
use super::target::Target;
use crate::flag::Note;
use crate::text::write_joined;
use crate::validate::Violation;

/// Reads JSON out of the text of a model, as nodes do.
///
/// serde_json reads clean JSON of the type, unless that would lose something: a repeated property, or a number that
/// would be rounded. Otherwise the reader looks for the JSON after thoughts, in code fences and between other text,
/// repairs it, and makes it fit the type, if nothing is lost.
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
    whole_text: bool,
}

/// A value that was read, and what was changed to read it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reading<T> {
    /// The value.
    pub value: T,
    /// What was changed to read it, each kind once. Empty for clean JSON.
    pub notes: Vec<Note>,
}

impl<T> Reading<T> {
    fn of(answer: ReadResult<T>) -> Result<Self, ReadError> {
        let read = |answer: Answer<T>| Reading { value: answer.value, notes: answer.notes };
        answer.map(read).map_err(|violations| ReadError { violations })
    }
}

/// Why a text could not be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub struct ReadError {
    violations: Vec<Violation>,
}

impl ReadError {
    /// Returns everything that is wrong, in the order of the text; at least one violation.
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
    /// Creates a reader with repair and typed reading, as nodes have it.
    pub const fn new() -> Self {
        Reader { exact: false, whole_text: false }
    }

    /// Sets whether JSON is accepted only as it is: nothing is repaired or changed to fit a type. It is still found
    /// in fences and between text. Default: no.
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

    /// For texts that another program wrote, or that were already cut out of an answer: nothing may surround the JSON.
    #[must_use]
    pub(crate) const fn whole_text(self) -> Self {
        Reader { exact: true, whole_text: true }
    }

    pub(super) fn target(self, schema: Option<&OutputSchema>) -> Target<'_> {
        let Reader { exact, whole_text } = self;
        Target { schema, mode: CheckMode::Type, exact, whole_text, extra_check: &|_, _| Vec::new() }
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

    /// Reads JSON that conforms to a schema that is known only at run time. The keywords that
    /// [`PrimitiveBuilder::output_schema`](crate::primitive::PrimitiveBuilder::output_schema) names are checked. If
    /// the schema is not an object's, a `{"value": ..}` is unwrapped.
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
        let extra_check = |value: &Json<'_>, wrapped: bool| violations(&schema.rules, value, wrapped);
        Reading::of(read_by_schema(text, schema, *self, &extra_check))
    }
}
