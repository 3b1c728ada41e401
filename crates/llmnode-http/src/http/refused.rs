//! Which part of a request an error refuses as such, so that it can be asked in another way.

use super::error_body::ErrorBody;

/// The part of a request that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    MaxTokens,
    Temperature,
    /// Streams.
    Stream,
    /// What a stream is asked to tell beside the answer.
    StreamOptions,
    /// Any response format.
    Format,
    /// The response format `json_schema`.
    JsonSchema,
    /// The type of response format that was asked for, whichever it was.
    FormatType,
    /// This schema, as a response format or as the parameters of a function.
    Schema,
    /// Functions, or that the model is forced to call one.
    Tools,
    /// That the model has to call a function.
    ToolChoice,
}

/// Codes that say that a field or its value is not supported.
const MARKS: [&str; 4] =
    ["unsupported_parameter", "unsupported_value", "unknown_parameter", "unrecognized_request_argument"];

/// The same in words, for servers that send no code.
const PHRASES: [&str; 16] = [
    "not supported",
    "isn't supported",
    "unsupported",
    "does not support",
    "doesn't support",
    "do not support",
    "not available",
    "unavailable",
    "not enabled",
    "not implemented",
    "unknown parameter",
    "unknown field",
    "unrecognized",
    "not permitted",
    "not allowed",
    "cannot find field",
];

/// The fields that can be asked for in another way.
const FIELDS: [(&str, Refused); 14] = [
    ("max_tokens", Refused::MaxTokens),
    ("max_completion_tokens", Refused::MaxTokens),
    ("temperature", Refused::Temperature),
    ("stream_options", Refused::StreamOptions),
    ("streaming", Refused::Stream),
    ("'stream'", Refused::Stream),
    ("response_format", Refused::Format),
    ("response format", Refused::Format),
    ("json_schema", Refused::JsonSchema),
    ("structured output", Refused::JsonSchema),
    ("function calling", Refused::Tools),
    ("tool calling", Refused::Tools),
    ("tool_choice", Refused::ToolChoice),
    ("tool", Refused::Tools),
];

/// What says it by itself, in lower case. Some servers send it with the state of a failure of their own.
const SAID: [(&str, Refused); 19] = [
    // OpenAI and those who copy it.
    ("invalid schema for response_format", Refused::Schema),
    ("invalid schema for function", Refused::Schema),
    ("json_schema.strict", Refused::Schema),
    // Azure.
    ("enabled only for api versions", Refused::JsonSchema),
    // llama.cpp, and what stands on it.
    ("json schema conversion failed", Refused::Schema),
    ("failed to parse grammar", Refused::Schema),
    ("requires --jinja", Refused::Tools),
    // vLLM.
    ("features not supported by xgrammar", Refused::Schema),
    ("grammar error", Refused::Schema),
    ("invalid grammar specification", Refused::Schema),
    ("--enable-auto-tool-choice", Refused::Tools),
    // Google.
    ("too many states for serving", Refused::Schema),
    ("exceeds the maximum allowed nesting depth", Refused::Schema),
    ("generation_config.response_schema", Refused::Schema),
    ("generation_config.response_json_schema", Refused::Schema),
    // Cerebras, Groq, Ollama, OpenRouter.
    ("unsupported json schema", Refused::Schema),
    ("invalid json schema", Refused::Schema),
    ("does not support tools", Refused::Tools),
    ("no endpoints found that support tool use", Refused::Tools),
];

/// What leads to a list of the values that are taken.
const OFFERS: [&str; 5] =
    ["must be ", "supported values are", "input should be", "expected one of", "supported types are"];

/// States that a server's own failures come with, where only the plainest words count.
const FAILED: [u16; 3] = [404, 500, 501];

/// The part of our request that this error refuses as such. A value that is merely out of range is no reason to
/// leave the part out.
pub(crate) fn refused(status: u16, error: &ErrorBody) -> Option<Refused> {
    let is_refusal = matches!(status, 400 | 422);
    if !is_refusal && !FAILED.contains(&status) {
        return None;
    }
    let text = error.message.to_lowercase();
    let said = SAID.iter().find(|(phrase, _)| text.contains(phrase)).map(|(_, part)| *part);
    if said.is_some() || !is_refusal {
        return said;
    }
    let (at, part) = field(error, &text)?;
    let is_format = matches!(part, Refused::Format | Refused::JsonSchema);
    if let Some(offer) = offered(&text[at..]).filter(|_| is_format) {
        return of_types(offer);
    }
    let refuses =
        MARKS.iter().any(|mark| error.has(mark)) || PHRASES.iter().any(|phrase| text.contains(phrase));
    match part {
        _ if !refuses => None,
        Refused::Format if text.contains("json_schema") => Some(Refused::JsonSchema),
        Refused::Format if text.contains("json_object") || text[at..].contains(" type") => {
            Some(Refused::FormatType)
        }
        part => Some(part),
    }
}

/// The field that is at fault, and where the text comes to it: the one that the error names as such, or else the first
/// in the text, which a remedy follows.
fn field(error: &ErrorBody, text: &str) -> Option<(usize, Refused)> {
    if error.param.as_deref() == Some("stream") {
        return Some((0, Refused::Stream));
    }
    let named = |field: &&str| {
        let param = error.param.as_deref().unwrap_or_default();
        param.strip_prefix(*field).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    if let Some((_, part)) = FIELDS.iter().find(|(field, _)| named(field)) {
        return Some((0, *part));
    }
    let found = FIELDS.iter().filter_map(|(field, part)| Some((text.find(field)?, *part)));
    found.min_by_key(|(at, _)| *at)
}

/// What the text offers instead. It may quote what was sent behind that.
fn offered(text: &str) -> Option<&str> {
    let offer = OFFERS.iter().find_map(|lead| Some(text.split_once(lead)?.1))?;
    offer.split(['"', '.', ')', ']', '\n']).next()
}

/// What is refused where these types of response format are offered.
fn of_types(offer: &str) -> Option<Refused> {
    match (offer.contains("json_schema"), offer.contains("json_object")) {
        (true, true) => None,
        (false, true) => Some(Refused::JsonSchema),
        (true, false) => Some(Refused::FormatType),
        (false, false) => Some(Refused::Format),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(status: u16, message: &str, param: Option<&str>, code: Option<&str>) -> Option<Refused> {
        let body = serde_json::json!({"error": {"message": message, "param": param, "code": code}});
        refused(status, &ErrorBody::read(body.to_string().as_bytes()))
    }

    #[test]
    fn parameters_that_are_refused_as_such() {
        for (message, param, code, expected) in [
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                Some("max_tokens"),
                Some("unsupported_parameter"),
                Some(Refused::MaxTokens),
            ),
            (
                "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
                None,
                None,
                Some(Refused::MaxTokens),
            ),
            (
                "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
                Some("temperature"),
                Some("unsupported_value"),
                Some(Refused::Temperature),
            ),
            (
                "Invalid 'temperature': decimal below minimum value",
                Some("temperature"),
                Some("decimal_below_min_value"),
                None,
            ),
            (
                "max_tokens is too large: 100000. This model supports at most 4096",
                Some("max_tokens"),
                None,
                None,
            ),
            ("max_tokens must be at least 1", None, None, None),
            ("Unsupported parameter: 'seed'", Some("seed"), Some("unsupported_parameter"), None),
            ("no", None, None, None),
        ] {
            assert_eq!(of(400, message, param, code), expected, "{message}");
        }
        assert_eq!(of(500, "temperature is not supported", Some("temperature"), None), None);
    }

    #[test]
    fn what_is_offered_is_not_refused() {
        for (message, expected) in [
            ("'response_format.type' must be 'text' or 'json_object'", Some(Refused::JsonSchema)),
            ("'response_format.type' must be 'json_schema' or 'text'", Some(Refused::FormatType)),
            ("response_format must be text", Some(Refused::Format)),
            (
                "Invalid value: 'object' of response_format. Supported values are: 'json_object', 'json_schema', and 'text'.",
                None,
            ),
        ] {
            assert_eq!(of(400, message, None, None), expected, "{message}");
        }
    }
}
