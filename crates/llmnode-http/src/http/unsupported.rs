//! Which part of a request an error refuses as unsupported, so that it can be asked differently.

use llmnode_model::Reasoning;

use super::error_body::ErrorBody;
use super::reasoning::{Refused, Thinking, refused};
use super::refused_turns::{TurnPart, refused_turn};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnsupportedFeature {
    MaxTokens,
    Temperature,
    Reasoning(Refused),
    Stream,
    StreamOptions,
    Include,
    Format,
    JsonSchema,
    /// Whichever type of response format was sent.
    FormatType,
    /// This schema, as a response format or as the parameters of a function.
    Schema,
    /// Functions, or forcing a call.
    Tools,
    /// Gemini's name for a function's parameters as a JSON schema, or a word of that schema.
    JsonSchemaParameters,
    /// Only forcing a call.
    ToolChoice,
    Carried,
    /// A part of the conversation.
    Turn(TurnPart),
    /// In a turn that began without it.
    Thinking,
}

const UNSUPPORTED_CODES: [&str; 4] =
    ["unsupported_parameter", "unsupported_value", "unknown_parameter", "unrecognized_request_argument"];

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

const FIELDS: [(&str, UnsupportedFeature); 20] = [
    ("max_tokens", UnsupportedFeature::MaxTokens),
    ("max_completion_tokens", UnsupportedFeature::MaxTokens),
    ("temperature", UnsupportedFeature::Temperature),
    ("stream_options", UnsupportedFeature::StreamOptions),
    ("streaming", UnsupportedFeature::Stream),
    ("'stream'", UnsupportedFeature::Stream),
    ("response_format", UnsupportedFeature::Format),
    ("output_config", UnsupportedFeature::Format),
    ("output_format", UnsupportedFeature::Format),
    ("response format", UnsupportedFeature::Format),
    ("text.format", UnsupportedFeature::Format),
    // Google.
    ("response_mime_type", UnsupportedFeature::Format),
    ("json mode", UnsupportedFeature::Format),
    ("responsejsonschema", UnsupportedFeature::JsonSchema),
    ("json_schema", UnsupportedFeature::JsonSchema),
    ("structured output", UnsupportedFeature::JsonSchema),
    ("function calling", UnsupportedFeature::Tools),
    ("tool calling", UnsupportedFeature::Tools),
    ("tool_choice", UnsupportedFeature::ToolChoice),
    ("tool", UnsupportedFeature::Tools),
];

/// Conclusive without a field; in lower case. Some servers send these with the status of a failure of their own.
const CONCLUSIVE_PHRASES: [(&str, UnsupportedFeature); 36] = [
    // OpenAI and servers that copy it.
    ("invalid schema for response_format", UnsupportedFeature::Schema),
    ("invalid schema for function", UnsupportedFeature::Schema),
    ("json_schema.strict", UnsupportedFeature::Schema),
    // Azure.
    ("enabled only for api versions", UnsupportedFeature::JsonSchema),
    // llama.cpp, and servers built on it.
    ("json schema conversion failed", UnsupportedFeature::Schema),
    ("failed to parse grammar", UnsupportedFeature::Schema),
    ("requires --jinja", UnsupportedFeature::Tools),
    // vLLM.
    ("features not supported by xgrammar", UnsupportedFeature::Schema),
    ("grammar error", UnsupportedFeature::Schema),
    ("invalid grammar specification", UnsupportedFeature::Schema),
    ("--enable-auto-tool-choice", UnsupportedFeature::Tools),
    // Google.
    ("parametersjsonschema", UnsupportedFeature::JsonSchemaParameters),
    ("parameters_json_schema", UnsupportedFeature::JsonSchemaParameters),
    ("too many states for serving", UnsupportedFeature::Schema),
    ("exceeds the maximum allowed nesting depth", UnsupportedFeature::Schema),
    ("generation_config.response_schema", UnsupportedFeature::Schema),
    ("generation_config.response_json_schema", UnsupportedFeature::Schema),
    // Cerebras, Groq, Ollama, OpenRouter.
    ("unsupported json schema", UnsupportedFeature::Schema),
    ("invalid json schema", UnsupportedFeature::Schema),
    ("does not support tools", UnsupportedFeature::Tools),
    ("no endpoints found that support tool use", UnsupportedFeature::Tools),
    // Anthropic, Google and OpenAI, of thoughts that are sent back.
    ("invalid `signature`", UnsupportedFeature::Carried),
    ("invalid signature", UnsupportedFeature::Carried),
    ("cannot be modified", UnsupportedFeature::Carried),
    ("thought signature is not valid", UnsupportedFeature::Carried),
    ("corrupted thought signature", UnsupportedFeature::Carried),
    ("encrypted content is not supported", UnsupportedFeature::Include),
    ("reasoning.encrypted_content", UnsupportedFeature::Include),
    ("encrypted content", UnsupportedFeature::Carried),
    ("items are not persisted", UnsupportedFeature::Carried),
    ("item['content'] is not an array", UnsupportedFeature::Carried),
    // Anthropic.
    ("expected `thinking` or `redacted_thinking`", UnsupportedFeature::Thinking),
    ("tool_choice forces tool use", UnsupportedFeature::ToolChoice),
    ("`temperature` may only be set to 1", UnsupportedFeature::Temperature),
    ("`temperature` is deprecated", UnsupportedFeature::Temperature),
    ("too many optional parameters", UnsupportedFeature::Schema),
];

const ALTERNATIVES_PREFIXES: [&str; 5] =
    ["must be ", "supported values are", "input should be", "expected one of", "supported types are"];

/// Only conclusive phrases count under these.
const SERVER_FAILURE_STATUSES: [u16; 3] = [404, 500, 501];

/// A value out of range is not a reason to leave the part out. Also returns how the model was asked to think.
pub(crate) fn unsupported(
    status: u16,
    error: &ErrorBody,
    thinking: Option<(Reasoning, Thinking)>,
) -> Option<UnsupportedFeature> {
    let is_refusal = matches!(status, 400 | 422);
    if !is_refusal && !SERVER_FAILURE_STATUSES.contains(&status) {
        return None;
    }
    let text = error.message.to_lowercase();
    let turn = refused_turn(error.param.as_deref().unwrap_or_default(), &text);
    if is_refusal && turn.is_some() {
        return turn.map(UnsupportedFeature::Turn);
    }
    let said = CONCLUSIVE_PHRASES.iter().find(|(phrase, _)| text.contains(phrase)).map(|(_, part)| *part);
    if said.is_some() || !is_refusal {
        return said;
    }
    let refuses = UNSUPPORTED_CODES.iter().any(|mark| error.has(mark))
        || PHRASES.iter().any(|phrase| text.contains(phrase));
    if let Some(refused) = thinking.and_then(|asked| refused(asked, error, &text, refuses)) {
        return Some(UnsupportedFeature::Reasoning(refused));
    }
    let (at, part) = field(error, &text)?;
    let is_format = matches!(part, UnsupportedFeature::Format | UnsupportedFeature::JsonSchema);
    if let Some(offer) = alternatives(&text[at..]).filter(|_| is_format) {
        return excluded_by_alternatives(offer);
    }
    match part {
        _ if !refuses => None,
        UnsupportedFeature::Format if text.contains("json_schema") => Some(UnsupportedFeature::JsonSchema),
        UnsupportedFeature::Format if text.contains("json_object") || text[at..].contains(" type") => {
            Some(UnsupportedFeature::FormatType)
        }
        part => Some(part),
    }
}

/// With its position: the field that the error names, else the first in the text, since a later one may be the remedy.
fn field(error: &ErrorBody, text: &str) -> Option<(usize, UnsupportedFeature)> {
    if error.param.as_deref() == Some("stream") {
        return Some((0, UnsupportedFeature::Stream));
    }
    if error.param.as_deref().is_some_and(|param| param.split('[').next() == Some("include")) {
        return Some((0, UnsupportedFeature::Include));
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

/// The text may quote the request after the list.
fn alternatives(text: &str) -> Option<&str> {
    let offer = ALTERNATIVES_PREFIXES.iter().find_map(|lead| Some(text.split_once(lead)?.1))?;
    offer.split(['"', '.', ')', ']', '\n']).next()
}

fn excluded_by_alternatives(offer: &str) -> Option<UnsupportedFeature> {
    match (offer.contains("json_schema"), offer.contains("json_object")) {
        (true, true) => None,
        (false, true) => Some(UnsupportedFeature::JsonSchema),
        (true, false) => Some(UnsupportedFeature::FormatType),
        (false, false) => Some(UnsupportedFeature::Format),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(status: u16, message: &str, param: Option<&str>, code: Option<&str>) -> Option<UnsupportedFeature> {
        let body = serde_json::json!({"error": {"message": message, "param": param, "code": code}});
        unsupported(status, &ErrorBody::read(body.to_string().as_bytes()), None)
    }

    #[test]
    fn parameters_that_are_refused_as_such() {
        for (message, param, code, expected) in [
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                Some("max_tokens"),
                Some("unsupported_parameter"),
                Some(UnsupportedFeature::MaxTokens),
            ),
            (
                "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
                None,
                None,
                Some(UnsupportedFeature::MaxTokens),
            ),
            (
                "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
                Some("temperature"),
                Some("unsupported_value"),
                Some(UnsupportedFeature::Temperature),
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
            ("'response_format.type' must be 'text' or 'json_object'", Some(UnsupportedFeature::JsonSchema)),
            ("'response_format.type' must be 'json_schema' or 'text'", Some(UnsupportedFeature::FormatType)),
            ("response_format must be text", Some(UnsupportedFeature::Format)),
            (
                "Invalid value: 'object' of response_format. Supported values are: 'json_object', 'json_schema', and 'text'.",
                None,
            ),
        ] {
            assert_eq!(of(400, message, None, None), expected, "{message}");
        }
    }
}
