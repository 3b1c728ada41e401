//! Reads an error out of whatever a server or a gateway between sends for one.

use std::time::Duration;

use serde_json::Value;

use super::retry_after::protobuf_duration;

/// Longer texts are cut before anything looks at them.
const TEXT_CAP: usize = 16 * 1024;

/// What an error body says, wherever it says it.
#[derive(Debug, Default)]
pub(super) struct ErrorBody {
    /// The text for people; empty if there is none.
    pub(super) message: String,
    /// Codes, types, states and reasons, in lower case.
    pub(super) marks: Vec<String>,
    /// The HTTP status in a numeric code.
    pub(super) status: Option<u16>,
    /// The request's field that is at fault.
    pub(super) param: Option<String>,
    /// The wait that the body asks for.
    pub(super) retry_after: Option<Duration>,
}

impl ErrorBody {
    /// Reads `{"error": {..}}`, `{"error": ".."}`, flat objects, lists of errors, `{"detail": ..}`, HTML and text.
    pub(super) fn read(body: &[u8]) -> ErrorBody {
        let mut error = ErrorBody::default();
        match serde_json::from_slice::<Value>(body) {
            Ok(value) => error.add(&value),
            Err(_) => {
                let text = String::from_utf8_lossy(&body[..body.len().min(TEXT_CAP)]);
                error.message =
                    if looks_like_html(body) { without_tags(&text) } else { text.trim().to_owned() };
            }
        }
        cut(&mut error.message, TEXT_CAP);
        error
    }

    /// Whether one of the marks is `mark`.
    pub(super) fn is_marked(&self, mark: &str) -> bool {
        self.marks.iter().any(|own| own == mark)
    }

    fn add(&mut self, value: &Value) {
        match value {
            Value::Array(errors) => errors.first().into_iter().for_each(|first| self.add(first)),
            Value::String(text) => self.message.clone_from(text),
            Value::Object(outer) => match outer.get("error") {
                Some(inner @ Value::Object(_)) => self.add_fields(inner),
                Some(Value::String(text)) => {
                    self.message.clone_from(text);
                    self.add_fields(value);
                }
                _ => self.add_fields(value),
            },
            _ => {}
        }
    }

    fn add_fields(&mut self, error: &Value) {
        let text = ["message", "detail"].iter().find_map(|field| error.get(field)).map(describe);
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.message = text;
        }
        // What the provider behind a router said.
        if let Some(raw) = error.pointer("/metadata/raw") {
            self.message = format!("{}: {}", self.message, describe(raw));
        }
        for field in ["/code", "/type", "/status", "/innererror/code"] {
            self.add_mark(error.pointer(field));
        }
        for detail in error.get("details").and_then(Value::as_array).into_iter().flatten() {
            self.add_mark(detail.get("reason"));
            for violation in detail.get("violations").and_then(Value::as_array).into_iter().flatten() {
                self.add_mark(violation.get("quotaId"));
            }
            let delay = detail.get("retryDelay").and_then(Value::as_str).and_then(protobuf_duration);
            self.retry_after = self.retry_after.or(delay);
        }
        self.param = error.get("param").and_then(Value::as_str).map(str::to_owned);
    }

    /// A numeric mark is a status; as a word it would say nothing.
    fn add_mark(&mut self, mark: Option<&Value>) {
        let status = match mark {
            Some(Value::Number(number)) => number.as_u64().and_then(|number| u16::try_from(number).ok()),
            Some(Value::String(word)) => match word.parse() {
                Ok(status) => Some(status),
                Err(_) => {
                    self.marks.push(word.to_ascii_lowercase());
                    None
                }
            },
            _ => None,
        };
        self.status = self.status.or(status.filter(|status| (400..600).contains(status)));
    }
}

/// Whether a body is a page rather than data.
pub(super) fn looks_like_html(body: &[u8]) -> bool {
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    body.trim_ascii_start().starts_with(b"<")
}

/// The text of a message that may be a string, a list of faults or an object.
fn describe(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(faults) => faults.iter().map(describe).collect::<Vec<_>>().join("; "),
        Value::Object(fault) => {
            let text = ["msg", "message", "detail", "error"].iter().find_map(|field| fault.get(*field));
            let at = fault.get("loc").and_then(Value::as_array).map(|at| {
                let at = at.iter().map(|step| step.as_str().map_or_else(|| step.to_string(), str::to_owned));
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

/// The text of a page on one line.
fn without_tags(page: &str) -> String {
    let text = page.split('<').filter_map(|piece| piece.split_once('>')).map(|(_, text)| text.trim());
    text.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Cuts at a character's boundary.
fn cut(text: &mut String, cap: usize) {
    if text.len() > cap {
        let end = (0..=cap).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_gives_its_message() {
        for (body, message) in [
            (r#"{"error":{"message":"no","type":"t","param":null,"code":null}}"#, "no"),
            (r#"{"error":"model 'q' not found"}"#, "model 'q' not found"),
            (r#"{"object":"error","message":"too long","type":"BadRequestError","code":400}"#, "too long"),
            (r#"[{"error":{"code":400,"message":"API key not valid"}}]"#, "API key not valid"),
            (r#"{"detail":"Not Found"}"#, "Not Found"),
            (r#"{"detail":[{"loc":["body","n",0],"msg":"required"},{"msg":"b"}]}"#, "body.n.0: required; b"),
            (r#"{"object":"error","message":{"detail":[{"loc":["body"],"msg":"bad"}]}}"#, "body: bad"),
            (r#"{"error":{"message":null}}"#, ""),
            (r#"{"error":{"message":["a","b"]}}"#, "a; b"),
            (r#"{"error":{"message":"upstream","metadata":{"raw":"slow"}}}"#, "upstream: slow"),
            ("<html><head><title>502 Bad Gateway</title></head><hr>nginx</html>", "502 Bad Gateway nginx"),
            (" overloaded \n", "overloaded"),
            ("\"just a string\"", "just a string"),
            ("", ""),
            ("[]", ""),
            ("null", ""),
        ] {
            assert_eq!(ErrorBody::read(body.as_bytes()).message, message, "{body}");
        }
    }

    #[test]
    fn numbers_are_states_and_words_are_marks() {
        let read = |body: &str| ErrorBody::read(body.as_bytes());
        let error =
            read(r#"{"error":{"message":"Invalid API Key","type":"authentication_error","code":401}}"#);
        assert_eq!((error.status, error.is_marked("authentication_error")), (Some(401), true));
        assert_eq!(read(r#"{"error":{"code":"429"}}"#).status, Some(429));
        assert_eq!(read(r#"{"error":{"code":1301}}"#).status, None);
        assert_eq!(read(r#"{"error":{"code":-1e300}}"#).status, None);
        let azure = read(r#"{"error":{"code":null,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#);
        assert!(azure.is_marked("responsibleaipolicyviolation"));
    }

    #[test]
    fn google_details() {
        let error = ErrorBody::read(
            br#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"RequestsPerDay"}]},{"retryDelay":"14s"}]}}"#,
        );
        assert_eq!(error.marks, ["resource_exhausted", "requestsperday"]);
        assert_eq!(error.retry_after, Some(Duration::from_secs(14)));
    }

    #[test]
    fn hostile_bodies_are_cut() {
        let mut body = "é".repeat(TEXT_CAP).into_bytes();
        assert!(ErrorBody::read(&body).message.len() <= 2 * TEXT_CAP);
        body = format!(r#"{{"error":"{}"}}"#, "é".repeat(TEXT_CAP)).into_bytes();
        assert!(ErrorBody::read(&body).message.len() <= TEXT_CAP);
        assert_eq!(ErrorBody::read("[".repeat(100_000).as_bytes()).status, None);
        assert_eq!(ErrorBody::read(&[0xFF, 0xFE, b'<']).status, None);
    }
}
