//! A stream of server-sent events in answer to a plain request, joined to the response that was asked for.

use llmnode_runtime::{Category, ModelError};
use serde_json::{Value, json};

use crate::http::usage::usage_of;

/// What begins a line of such a stream, and no JSON.
const BEGINS: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b":"];

/// Members of which each event has a piece.
const PIECES: [&str; 4] = ["content", "text", "refusal", "arguments"];

/// The whole response that the events make, or the first error among them; `None` if the body is no such stream, or one
/// of its events is no JSON.
///
/// # Errors
/// The answer came in pieces, and none says why it ended.
pub(super) fn joined(body: &[u8]) -> Option<Result<Vec<u8>, ModelError>> {
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body).trim_ascii_start();
    if !BEGINS.iter().any(|begin| body.starts_with(begin)) {
        return None;
    }
    let text = std::str::from_utf8(body).ok()?.replace("\r\n", "\n").replace('\r', "\n");
    let mut whole = Value::Null;
    for event in text.split("\n\n") {
        let lines = event.lines().filter_map(|line| line.strip_prefix("data:"));
        let data = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n");
        if data.is_empty() || data.trim() == "[DONE]" {
            continue;
        }
        let mut part: Value = serde_json::from_str(&data).ok()?;
        if event.lines().any(|line| matches!(line, "event: error" | "event:error")) {
            part = json!({"error": part});
        }
        let is_error = !matches!(part.get("error"), None | Some(Value::Null | Value::Bool(false)));
        join(&mut whole, part, "");
        if is_error {
            whole["choices"] = Value::Null;
            return serde_json::to_vec(&whole).ok().map(Ok);
        }
    }
    if let Some(choice) = whole.pointer_mut("/choices/0").filter(|choice| choice["delta"].is_object()) {
        choice["message"] = choice["delta"].take();
        if choice["finish_reason"].is_null() {
            let mut failure = ModelError::new(Category::Network, "the stream ended before the answer did");
            failure.usage = whole.get("usage").and_then(|usage| usage_of(usage).0);
            return Some(Err(failure));
        }
    }
    whole.is_object().then(|| serde_json::to_vec(&whole).ok().map(Ok))?
}

/// Adds a part to what is there: a piece of a text behind it, elements by their index, anything else in its place.
fn join(whole: &mut Value, part: Value, name: &str) {
    match (whole, part) {
        (_, Value::Null) => {}
        (Value::String(text), Value::String(piece)) if PIECES.contains(&name) => text.push_str(&piece),
        (Value::Object(whole), Value::Object(part)) => {
            for (name, value) in part {
                join(whole.entry(name.as_str()).or_insert(Value::Null), value, &name);
            }
        }
        (Value::Array(whole), Value::Array(part)) => {
            for value in part {
                match whole.iter_mut().find(|own| own["index"] == value["index"]) {
                    Some(own) => join(own, value, ""),
                    None => whole.push(value),
                }
            }
        }
        (whole, part) => *whole = part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(body: &str) -> Option<Value> {
        joined(body.as_bytes()).map(|body| serde_json::from_slice(&body.unwrap()).unwrap())
    }

    #[test]
    fn pieces_are_joined() {
        let body = "\u{feff}: comment\r\n\r\ndata: {\"id\":\"r\",\"model\":\"m\",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\r\n\r\n\
            data:{\"id\":\"r\",\"choices\":[{\"delta\":{\"content\":\"{\\\"a\\\":\"}}]}\r\n\r\n\
            data: {\"choices\":[{\"delta\":{\"content\":\n\
            data: \" 1}\"},\"finish_reason\":\"stop\"}]}\n\n\
            data: {\"choices\":[],\"usage\":{\"prompt_tokens\":10}}\n\n\
            data: [DONE]\n\n";
        let expected = json!({
            "id": "r", "model": "m", "usage": {"prompt_tokens": 10},
            "choices": [{"message": {"content": "{\"a\": 1}"}, "finish_reason": "stop"}],
        });
        let joined = of(body).unwrap();
        for name in ["id", "model", "usage"] {
            assert_eq!(joined[name], expected[name]);
        }
        let choice = &joined["choices"][0];
        assert_eq!(choice["message"]["content"], expected["choices"][0]["message"]["content"]);
        assert_eq!(choice["finish_reason"], "stop");
        let parts = r#"data: {"choices":[{"delta":{"content":[{"text":"a"}]}}]}
            
data: {"choices":[{"delta":{"content":[{"text":"b"}]},"finish_reason":"stop"}]}"#
            .replace("            \n", "\n");
        assert_eq!(of(&parts).unwrap()["choices"][0]["message"]["content"], json!([{"text": "ab"}]));
    }

    #[test]
    fn the_arguments_of_calls_are_joined() {
        let call =
            |call: &str| format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{call}]}}}}]}}\n\n");
        let body = call(r#"{"index":0,"id":"c","function":{"name":"F","arguments":""}}"#)
            + &call(r#"{"index":0,"function":{"arguments":"{\"a\""}}"#)
            + &call(r#"{"index":1,"function":{"name":"G","arguments":"{}"}}"#)
            + &call(r#"{"index":0,"function":{"arguments":":1}"}}"#)
            + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}";
        let calls = of(&body).unwrap()["choices"][0]["message"]["tool_calls"].take();
        assert_eq!(calls[0]["function"], json!({"name": "F", "arguments": "{\"a\":1}"}));
        assert_eq!(calls[1]["function"], json!({"name": "G", "arguments": "{}"}));
    }

    #[test]
    fn a_whole_response_as_the_only_event() {
        let response = json!({"choices": [{"message": {"content": "a"}, "finish_reason": null}]});
        let joined = of(&format!("event: message\ndata: {response}\n\n")).unwrap();
        assert_eq!(joined["choices"][0]["message"], response["choices"][0]["message"]);
    }

    #[test]
    fn the_first_error_is_the_response() {
        let body = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":{\"total_tokens\":7}}\n\n\
            data: {\"error\":{\"code\":429}}\n\ndata: {\"error\":1}\n\n";
        let error = json!({"choices": null, "error": {"code": 429}, "usage": {"total_tokens": 7}});
        assert_eq!(of(body), Some(error));
        let named = of("event: error\ndata: {\"message\":\"busy\"}\n\n").unwrap();
        assert_eq!(named["error"]["message"], "busy");
    }

    #[test]
    fn what_breaks_off_is_no_answer() {
        let body = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":{\"total_tokens\":7}}\n\ndata: [DONE]\n\n";
        let failure = joined(body).unwrap().unwrap_err();
        assert_eq!((failure.category, failure.usage.unwrap().total), (Category::Network, Some(7)));
    }

    #[test]
    fn what_is_no_stream() {
        for body in
            ["", "{}", "data", ": only a comment\n\n", "data: [DONE]\n\n", "data: {\"a\":", "<p>data: {}"]
        {
            assert_eq!(of(body), None, "{body}");
        }
    }
}
