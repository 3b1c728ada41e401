//! How a model is asked for the type of its answer.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a model is asked for the type of an answer. By default llmnode begins with
/// [`Strict`](ResponseFormat::Strict), or with [`Schema`](ResponseFormat::Schema)
/// if the strict subset cannot express the type.
///
/// If an endpoint refuses a response format, the same call asks with the next one,
/// and later calls begin with that: `Tool`, `Strict`, `Schema`, `JsonObject`,
/// `Prompt`. The record of an attempt has the response format
/// (`AttemptRecord::response_format`).
///
/// ```
/// # use llmnode_model as llmnode;
/// use llmnode::ResponseFormat;
///
/// assert_eq!(ResponseFormat::JsonObject.as_str(), "json_object");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResponseFormat {
    /// A response format with a schema in OpenAI's strict subset, which binds the
    /// model. A type that the subset cannot express (a map, a tuple of mixed types,
    /// ..) is a `config_error` before the request, which names each place and what
    /// to write instead.
    Strict,
    /// A response format with plain JSON Schema (2020-12). Some endpoints enforce it.
    Schema,
    /// A response format that asks for any JSON object ("JSON mode"); a form of the
    /// answer ends the system message.
    JsonObject,
    /// No response format. A form of the answer ends the system message.
    Prompt,
    /// A forced call of one function, whose parameters are the schema. Its
    /// arguments are the answer.
    Tool,
}

impl ResponseFormat {
    /// Returns its name, such as `"json_object"`.
    pub const fn as_str(self) -> &'static str {
        match self {
            ResponseFormat::Strict => "strict",
            ResponseFormat::Schema => "schema",
            ResponseFormat::JsonObject => "json_object",
            ResponseFormat::Prompt => "prompt",
            ResponseFormat::Tool => "tool",
        }
    }
}

impl fmt::Display for ResponseFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_json() {
        for response_format in [
            ResponseFormat::Strict,
            ResponseFormat::Schema,
            ResponseFormat::JsonObject,
            ResponseFormat::Prompt,
            ResponseFormat::Tool,
        ] {
            assert_eq!(
                serde_json::to_value(response_format).unwrap(),
                response_format.as_str()
            );
        }
    }
}
