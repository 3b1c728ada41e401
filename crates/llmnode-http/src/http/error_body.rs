//! Reads an error out of whatever a server, or a gateway before it, sends as one.
//!
//! There is no common form: an object, an object in an envelope, a list of those, a
//! text with JSON in it, a web page. And gateways put the provider's error into
//! their own, in any of these. So members are looked for by name in everything that
//! can be an envelope, up to a depth, and three things are kept apart, because they
//! are worth differently:
//!
//! - *fields*: values of members such as `code` and `type`, which a provider chose
//!   from a list;
//! - *codes*: the words of such a value, for names that nobody has listed;
//! - the *message*, which is for people, and may quote the prompt.

use std::time::Duration;

use http::StatusCode;
use llmnode_model::TokenUsage;
use llmnode_reader::ext::small_tree;
use llmnode_reader::text::floor_char_boundary;
use serde_json::{Map, Value};

use super::reported::value_of;
use super::retry_after::{number_of_seconds, protobuf_duration};
use super::usage::usage_of;

/// Of a message; nobody reads more.
const TEXT_CAP: usize = 16 * 1024;

#[derive(Debug, Default)]
pub(crate) struct ErrorBody {
    pub(crate) message: String,
    /// Codes, types, statuses and reasons, normalised by [`word`].
    pub(crate) fields: Vec<String>,
    /// The words of each field that is a name, in lower case.
    pub(crate) codes: Vec<Vec<String>>,
    pub(crate) status: Option<u16>,
    pub(crate) param: Option<String>,
    /// What the model wrote, where the server could not read it.
    pub(crate) wrote: Option<String>,
    pub(crate) retry_after: Option<Duration>,
    /// Failed requests may use tokens, too. The flag: a figure is impossible.
    pub(crate) usage: (Option<TokenUsage>, bool),
}

/// Members that hold an error. `detail` is FastAPI's, `base_resp` MiniMax's.
const ENVELOPES: [&str; 4] = ["error", "errors", "detail", "base_resp"];

/// Members with a text for people. The first that has one counts.
const TEXTS: [&str; 7] = [
    "message",
    "detail",
    "msg",
    "error_description",
    "description",
    "status_msg",
    "title",
];

/// Members with a code, without case and underscores.
const FIELDS: [&str; 8] = [
    "code",
    "type",
    "status",
    "reason",
    "errorcode",
    "errortype",
    "statuscode",
    "quotaid",
];

/// Members in which codes stand deeper.
const NESTED_MEMBERS: [&str; 4] = ["innererror", "metadata", "details", "violations"];

/// Seconds: Cloudflare's, and Hugging Face's while it loads a model.
const WAITS: [&str; 2] = ["retry_after", "estimated_time"];

/// So many envelopes are opened. Gateways put one around another, and a body that
/// has more of them is no error of a provider.
const MAX_DEPTH: usize = 4;

impl ErrorBody {
    /// Reads whatever a body has of an error. It cannot fail: what is found nowhere
    /// stays empty, and the status alone then says what happened.
    pub(crate) fn read(body: &[u8]) -> ErrorBody {
        let mut error = ErrorBody::default();
        match value_of(body) {
            Some(value) => {
                // OpenRouter reports a provider's failure in the choice.
                let mut envelope = &value;
                if value.get("error").is_none()
                    && let Some(choice) = value.pointer("/choices/0")
                    && choice.get("error").is_some_and(is_envelope)
                {
                    envelope = choice;
                }
                error.add(envelope, MAX_DEPTH);
                if error.status.is_none() {
                    let mut names = error.fields.iter();
                    error.status = names.find_map(|name| status_named(name));
                }
                let usage = value.get("usage").or_else(|| value.pointer("/error/usage"));
                error.usage = usage.map(usage_of).unwrap_or_default();
            }
            None => {
                let text = String::from_utf8_lossy(&body[..body.len().min(TEXT_CAP)]);
                error.message = if looks_like_html(body) {
                    without_tags(&text)
                } else {
                    text.trim().to_owned()
                };
            }
        }
        if let Some(wrote) = wrote_in(&error.message).map(str::to_owned) {
            error.wrote.get_or_insert(wrote);
            // As Groq says it. The text is in the next request, too, where the model is told.
            error.fields.push(word("tool_use_failed"));
        }
        let end = floor_char_boundary(&error.message, TEXT_CAP);
        error.message.truncate(end);
        error
    }

    /// Compared as codes are normalised.
    pub(crate) fn has(&self, field: &str) -> bool {
        self.fields.contains(&word(field))
    }

    /// Of several errors, the first.
    fn add(&mut self, value: &Value, depth: usize) {
        match value {
            Value::Array(errors) => {
                if let Some(first) = errors.first() {
                    self.add(first, depth);
                }
            }
            Value::String(text) => self.add_text(text, depth),
            Value::Object(_) if depth == 0 => self.add_fields(value, depth),
            Value::Object(outer) => {
                let inner = ENVELOPES
                    .iter()
                    .filter_map(|name| outer.get(*name))
                    .find(|inner| is_envelope(inner));
                if let Some(inner) = inner {
                    self.add(inner, depth - 1);
                    self.add_field(value, "");
                    return self.add_wait(value);
                }
                if let Some(Value::String(text)) = outer.get("error") {
                    self.message.clone_from(text);
                    // It may be a status or code instead of a text.
                    self.add_word(text);
                }
                self.add_fields(value, depth);
            }
            _ => {}
        }
    }

    /// The members of the object that is the error itself.
    fn add_fields(&mut self, error: &Value, depth: usize) {
        let mut texts = TEXTS
            .iter()
            .filter_map(|field| error.get(field))
            .map(describe);
        if let Some(text) = texts.find(|text| !text.is_empty()) {
            self.add_text(&text, depth);
        }
        if let Some(raw) = error.pointer("/metadata/raw") {
            let outer = std::mem::take(&mut self.message);
            self.add_text(&describe(raw), depth);
            self.message = format!("{outer}: {}", self.message);
        }
        self.add_field(error, "");
        self.add_wait(error);
        if self.param.is_none()
            && let Some(Value::String(param)) = error.get("param")
        {
            self.param = Some(param.clone());
        }
        // Groq's.
        if self.wrote.is_none()
            && let Some(written) = error.get("failed_generation")
        {
            let written = describe(written);
            self.wrote = if written.is_empty() {
                None
            } else {
                Some(written)
            };
        }
    }

    /// Gateways may pass on the provider's error as a string.
    fn add_text(&mut self, text: &str, depth: usize) {
        let may_be_json = depth > 0 && text.trim_start().starts_with(['{', '[']);
        let envelope = if may_be_json {
            small_tree(text.as_bytes()).filter(is_envelope)
        } else {
            None
        };
        match envelope {
            Some(inner) => self.add(&inner, depth - 1),
            None => {
                self.add_litellm(text);
                text.clone_into(&mut self.message);
            }
        }
        if self.message.is_empty() {
            text.clone_into(&mut self.message);
        }
    }

    /// A code, wherever it is nested. The names of its members are compared without
    /// case and underscores.
    fn add_field(&mut self, value: &Value, name: &str) {
        let is_code_member = FIELDS.contains(&name);
        match value {
            Value::Object(members) if name.is_empty() || NESTED_MEMBERS.contains(&name) => {
                for (name, value) in members {
                    self.add_field(value, &plain(name));
                }
            }
            Value::Array(values) if NESTED_MEMBERS.contains(&name) => {
                for value in values {
                    self.add_field(value, name);
                }
            }
            Value::Number(number) if is_code_member => self.add_word(&number.to_string()),
            Value::String(text) if is_code_member => self.add_word(text),
            // OpenRouter quotes flagged text here, so the value is not read.
            _ if name == "flaggedinput" => self.fields.push(name.to_owned()),
            _ => {}
        }
    }

    /// A number in the range of statuses is one.
    fn add_word(&mut self, text: &str) {
        let word = word(text);
        match word.parse() {
            Ok(status) if (400..600).contains(&status) => {
                self.status.get_or_insert(status);
            }
            _ => self.fields.push(word),
        }
        // A text has spaces, and may quote the prompt.
        if !text.contains(char::is_whitespace) {
            self.codes.push(words(text));
        }
    }

    /// LiteLLM puts names of error classes before the text, and may append the provider's own body.
    fn add_litellm(&mut self, text: &str) {
        for part in text.split(": ") {
            let Some(class) = part.strip_prefix("litellm.") else {
                break;
            };
            self.add_word(class);
        }
        if text.starts_with("litellm.")
            && let Some(at) = text.find('{')
            && let Some(inner) = small_tree(&text.as_bytes()[at..])
        {
            self.add_field(inner.get("error").unwrap_or(&inner), "");
        }
    }

    /// How long the server asks to wait: Google's `retryDelay`, else a member with
    /// seconds. What was found first stays, since it stands nearer to the error.
    fn add_wait(&mut self, error: &Value) {
        if let Some(Value::Array(details)) = error.get("details") {
            for detail in details {
                let delay = detail.get("retryDelay").and_then(Value::as_str);
                let delay = delay.and_then(protobuf_duration);
                self.retry_after = self.retry_after.or(delay);
            }
        }
        let wait = WAITS
            .iter()
            .find_map(|field| number_of_seconds(error.get(field)?));
        self.retry_after = self.retry_after.or(wait);
    }
}

/// Letters and digits in lower case, without a namespace, `Error` or `Exception`.
pub(crate) fn word(text: &str) -> String {
    let name = text.rsplit('#').next().unwrap_or_default();
    let plain = plain(name);
    for end in ["error", "exception"] {
        if let Some(begin) = plain.strip_suffix(end)
            && !begin.is_empty()
        {
            return begin.to_owned();
        }
    }
    plain
}

/// Letters and digits in lower case.
fn plain(name: &str) -> String {
    name.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

/// Splits `NOT_ENOUGH_BALANCE`, `not-enough-balance` and `NotEnoughBalance` alike,
/// and `LLMError` into two words.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut last = ' ';
    let mut rest = name.chars().take(200).peekable();
    while let Some(c) = rest.next() {
        let ends_capitals =
            last.is_ascii_uppercase() && rest.peek().is_some_and(char::is_ascii_lowercase);
        let begins_word = c.is_ascii_uppercase() && (last.is_ascii_lowercase() || ends_capitals);
        if !c.is_ascii_alphanumeric() || begins_word {
            words.push(String::new());
        }
        if c.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(c.to_ascii_lowercase());
        }
        last = c;
    }
    words
}

/// Ollama and llama.cpp quote the model: `error parsing tool call: raw='..',
/// err=..`, `Failed to parse input at pos 7: ..`.
fn wrote_in(message: &str) -> Option<&str> {
    if let Some(quoted) = message.strip_prefix("error parsing tool call: raw='") {
        return match quoted.rsplit_once("', err=") {
            Some((written, _)) => Some(written),
            None => Some(quoted),
        };
    }
    let behind = message.strip_prefix("Failed to parse input at pos ")?;
    let (_, written) = behind.split_once(": ")?;
    Some(written)
}

/// `Too Many Requests` as a code is the status of that reason.
fn status_named(name: &str) -> Option<u16> {
    for number in 400..600 {
        let status = StatusCode::from_u16(number).ok()?;
        if let Some(reason) = status.canonical_reason()
            && word(reason) == name
        {
            return Some(number);
        }
    }
    None
}

/// FastAPI's list of faults (`msg` and `loc`) is a text, not an envelope.
fn is_envelope(value: &Value) -> bool {
    match value {
        Value::Object(fault) => !fault.contains_key("msg") || !fault.contains_key("loc"),
        Value::Array(errors) => match errors.first() {
            Some(first) => first.is_object() && is_envelope(first),
            None => false,
        },
        _ => false,
    }
}

/// For events of a stream: an error may stand beside empty choices.
pub(crate) fn has_error(body: &[u8]) -> bool {
    let Some(body) = value_of(body) else {
        return false;
    };
    let error = body.get(0).unwrap_or(&body).get("error");
    error.is_some_and(|error| !matches!(error, Value::Null | Value::Bool(false)))
}

/// For a successful response without an answer.
pub(crate) fn is_error(body: &[u8]) -> bool {
    let Some(Value::Object(body)) = value_of(body) else {
        return false;
    };
    let has_code = ["code", "type", "status", "error_code"]
        .into_iter()
        .any(|name| has_value(&body, name));
    let has_message = body.get("message").is_some_and(Value::is_string);
    let of_choice = body
        .get("choices")
        .and_then(|choices| choices.pointer("/0/error"));
    let of_minimax = body
        .get("base_resp")
        .and_then(|base| base.get("status_code"));
    let listed = body.get("errors").and_then(Value::as_array);
    let is_minimax_error = of_minimax.is_some_and(|code| code.as_i64() != Some(0));
    let lists_errors = listed.is_some_and(|errors| !errors.is_empty());
    has_value(&body, "error")
        || of_choice.is_some_and(Value::is_object)
        || is_error_object(&body)
        || is_minimax_error
        || lists_errors
        || has_value(&body, "detail")
        || (has_message && has_code)
}

/// Servers write `"error": null` and `"error": false` beside an answer.
fn has_value(body: &Map<String, Value>, name: &str) -> bool {
    !matches!(
        body.get(name),
        None | Some(Value::Null | Value::Bool(false))
    )
}

/// vLLM and others: `"object": "error"`.
fn is_error_object(body: &Map<String, Value>) -> bool {
    ["object", "type"]
        .iter()
        .any(|name| body.get(*name).and_then(Value::as_str) == Some("error"))
}

/// Also XML, which no model's API sends.
pub(crate) fn looks_like_html(body: &[u8]) -> bool {
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    body.trim_ascii_start().starts_with(b"<")
}

/// Faults with their places, as `body.model: field required`.
fn describe(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(faults) => faults.iter().map(describe).collect::<Vec<_>>().join("; "),
        Value::Object(fault) => {
            let text = ["msg", "message", "detail", "error"]
                .iter()
                .find_map(|field| fault.get(*field));
            let at = fault.get("loc").and_then(Value::as_array).map(|at| {
                let at = at.iter().map(|step| {
                    step.as_str()
                        .map_or_else(|| step.to_string(), str::to_owned)
                });
                at.collect::<Vec<_>>().join(".")
            });
            match (at, text.map(describe)) {
                (Some(at), Some(text)) => format!("{at}: {text}"),
                (None, Some(text)) => text,
                (_, None) => value.to_string(),
            }
        }
        _ => value.to_string(),
    }
}

/// The text of a page is often the reason.
fn without_tags(page: &str) -> String {
    let text = page
        .split('<')
        .filter_map(|piece| piece.split_once('>'))
        .map(|(_, text)| text.trim());
    text.filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests;
