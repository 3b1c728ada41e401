//! Which requests are refused.

use serde_json::Value;

use super::log::LoggedRequest;

/// Refuses what OpenAI's server would refuse, and what this one does not support.
pub(super) fn check(request: &LoggedRequest) -> Result<(), String> {
    let body = request.json().and_then(Value::as_object);
    let body = body.ok_or("We could not parse the JSON body of your request: it is not a JSON object.")?;
    if !body.get("model").is_some_and(Value::is_string) {
        return Err("you must provide a model parameter".to_owned());
    }
    let messages = body.get("messages").and_then(Value::as_array).filter(|m| !m.is_empty());
    let messages = messages.ok_or("Invalid 'messages': expected an array with at least one message.")?;
    if let Some(at) = messages.iter().position(|m| !m.get("role").is_some_and(Value::is_string)) {
        return Err(format!("Invalid 'messages[{at}].role': expected a string."));
    }
    for (at, message) in messages.iter().enumerate() {
        content(message).map_err(|fault| format!("Invalid 'messages[{at}].content{fault}"))?;
    }
    Ok(())
}

/// A text, a list of parts, or nothing. `Err`: the place, and what is wrong there.
fn content(message: &Value) -> Result<(), String> {
    let parts = match message.get("content") {
        None | Some(Value::Null | Value::String(_)) => return Ok(()),
        Some(Value::Array(parts)) if !parts.is_empty() => parts,
        Some(_) => return Err("': expected a string or an array of parts.".to_owned()),
    };
    let is_text_only = message.get("role").is_some_and(|role| role != "user");
    for (at, part) in parts.iter().enumerate() {
        let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
        if is_text_only && !matches!(kind, "text" | "refusal") {
            return Err(format!("[{at}]': only messages of the role 'user' take parts of type '{kind}'."));
        }
        if !is_part(part, kind) {
            return Err(format!("[{at}]': this is not a part of type '{kind}'."));
        }
    }
    Ok(())
}

fn is_part(part: &Value, kind: &str) -> bool {
    let text = |path: &str| part.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let given = |path: &str| !text(path).is_empty();
    match kind {
        "text" | "refusal" => part.get(kind).is_some_and(Value::is_string),
        "image_url" => {
            ["https://", "http://", "data:image/"].iter().any(|s| text("/image_url/url").starts_with(s))
        }
        "file" => {
            given("/file/file_id")
                != (given("/file/filename") && text("/file/file_data").starts_with("data:"))
        }
        "input_audio" => given("/input_audio/data") && given("/input_audio/format"),
        _ => false,
    }
}
