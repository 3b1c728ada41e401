//! How a model is told the type of its answer.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a model is asked for the type of an answer. By default llmnode begins with [`Strict`](Dialect::Strict), or
/// with [`Schema`](Dialect::Schema) if the strict dialect cannot express the type.
///
/// If an endpoint refuses a dialect, the same call asks with the next one, and later calls begin with that: `Tool`,
/// `Strict`, `Schema`, `JsonObject`, `Prompt`. The record of an attempt has the dialect
/// ([`AttemptRecord::dialect`](crate::AttemptRecord::dialect)).
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{Dialect, Settings};
///
/// let call = Settings::new().dialect(Dialect::Tool);
/// let registered_model = Settings::new().dialect(Dialect::JsonObject);
/// assert_eq!(Dialect::JsonObject.as_str(), "json_object");
/// # let _ = (call, registered_model);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Dialect {
    /// A response format with a schema in OpenAI's strict subset, which binds the model. A type that the subset
    /// cannot express (a map, a tuple of mixed types, ..) is a `config_error` before the request, which names each
    /// place and what to write instead.
    Strict,
    /// A response format with plain JSON Schema (2020-12). Some endpoints enforce it.
    Schema,
    /// A response format that asks for any JSON object ("JSON mode"); the schema ends the system message.
    JsonObject,
    /// No response format. The schema ends the system message.
    Prompt,
    /// A forced call of one function, whose parameters are the schema. Its arguments are the answer.
    Tool,
}

impl Dialect {
    /// Returns its name, such as `"json_object"`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Dialect::Strict => "strict",
            Dialect::Schema => "schema",
            Dialect::JsonObject => "json_object",
            Dialect::Prompt => "prompt",
            Dialect::Tool => "tool",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_json() {
        for dialect in [Dialect::Strict, Dialect::Schema, Dialect::JsonObject, Dialect::Prompt, Dialect::Tool]
        {
            assert_eq!(serde_json::to_value(dialect).unwrap(), dialect.as_str());
        }
    }
}
