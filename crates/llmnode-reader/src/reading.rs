//! The reader as a tool of its own: a model's text in, a value and what was done to read it out.

use std::fmt;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::answer::{ReadResult, read, read_any, read_by_schema};
use super::check::violations;
use super::json::Json;
use super::reader::Reader;
use super::schema::OutputSchema;
use crate::flag::Repair;
use crate::text::{visible, write_joined};
use crate::violation::Violation;

/// A value that was read, and what was changed to read it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reading<T> {
    /// The value.
    pub value: T,
    /// What was changed to read it, each kind once. Empty for clean JSON.
    pub repairs: Vec<Repair>,
}

impl<T> Reading<T> {
    /// Without what only llmnode's nodes need of an answer.
    fn from_result(result: ReadResult<T>) -> Result<Self, ReadError> {
        match result {
            Ok(answer) => Ok(Reading {
                value: answer.value,
                repairs: answer.repairs,
            }),
            Err(violations) => Err(ReadError { violations }),
        }
    }
}

/// Why a text was not read.
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
        let violations: Vec<String> = self
            .violations
            .iter()
            .map(|one| visible(&one.to_string()).into_owned())
            .collect();
        write_joined(&violations, "\n", f)
    }
}

impl Reader {
    /// Reads a value of any kind.
    ///
    /// # Errors
    /// What is wrong with the text, and where.
    pub fn value(&self, text: &str) -> Result<Reading<Value>, ReadError> {
        Reading::from_result(read_any(text, *self))
    }

    /// Reads a value of a type. Its validators do not run.
    ///
    /// ```
    /// # use llmnode_reader as llmnode;
    /// let reading = llmnode::Reader::new().read::<Vec<u8>>("[1, 2]")?;
    /// assert_eq!(reading.value, [1, 2]);
    /// # Ok::<_, llmnode::ReadError>(())
    /// ```
    ///
    /// # Errors
    /// What is wrong with the text, each with its path in the JSON.
    pub fn read<T: DeserializeOwned + JsonSchema + 'static>(
        &self,
        text: &str,
    ) -> Result<Reading<T>, ReadError> {
        Reading::from_result(read(text, &OutputSchema::of::<T>(), *self))
    }

    /// Reads JSON that conforms to a schema that is known only at run time.
    /// `pattern`, `format` and other keywords that the reader does not know are not
    /// checked. If the schema is not an object's, a `{"value": ..}` is unwrapped.
    ///
    /// ```
    /// # use llmnode_reader as llmnode;
    /// use llmnode::{OutputSchema, Reader};
    /// use serde_json::json;
    ///
    /// let schema = OutputSchema::from_value("sizes", json!({
    ///     "type": "array", "items": {"type": "string", "enum": ["small", "large"]}
    /// }));
    /// let reading = Reader::new().conforming(r#"["small", "Large"]"#, &schema)?;
    /// assert_eq!(reading.value, json!(["small", "large"]));
    /// assert_eq!(reading.repairs[0].place, "[1]");
    /// # Ok::<_, llmnode::ReadError>(())
    /// ```
    ///
    /// # Errors
    /// Everything that is wrong with the text, each with its path in the JSON.
    pub fn conforming(
        &self,
        text: &str,
        schema: &OutputSchema,
    ) -> Result<Reading<Value>, ReadError> {
        Reading::from_result(read_by_schema(
            text,
            schema,
            *self,
            &|value: &Json<'_>, wrapped: bool| violations(&schema.rules, value, wrapped),
        ))
    }
}
