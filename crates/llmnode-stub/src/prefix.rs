//! Signatures of thoughts, bound to what stood before them as Anthropic binds its own: one is a digest of the model, the
//! system's text, the tools and the messages before. So whether a request changed any of them is seen from its body alone.

use serde_json::{Value, json};

use super::api::Api;
use super::model_answer::list;

/// With the digest, a text in base64.
const MARK: &str = "stubThought/";

/// The signature of an answer to this request.
pub(super) fn signature(api: Api, model: &str, body: &Value) -> String {
    signature_at(api, model, body, usize::MAX)
}

/// Whether a signature is one of this server's, but not of this place.
pub(super) fn is_of_other_prefix(
    signature: &str,
    api: Api,
    model: &str,
    body: &Value,
    at: usize,
) -> bool {
    signature.starts_with(MARK) && signature != signature_at(api, model, body, at)
}

/// `at`: how many messages count.
fn signature_at(api: Api, model: &str, body: &Value, at: usize) -> String {
    let (system, turns) = match api {
        Api::Chat => ("", "messages"),
        Api::Responses => ("instructions", "input"),
        Api::Messages => ("system", "messages"),
        Api::Gemini => ("systemInstruction", "contents"),
    };
    let before: Vec<Value> = list(&body[turns])
        .iter()
        .take(at)
        .map(without_marks)
        .collect();
    let bound = json!([
        model,
        without_marks(&body[system]),
        without_marks(&body["tools"]),
        before
    ]);
    format!("{MARK}{:016x}", digest(&bound.to_string()))
}

/// Marks of caches move along without changing the prompt, and a text may be its only block.
fn without_marks(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| *name != "cache_control");
            let kept = kept.map(|(name, value)| {
                let value = match value {
                    // One block and a text are the same content.
                    Value::String(text) if name == "content" => {
                        json!([{"type": "text", "text": text}])
                    }
                    other => without_marks(other),
                };
                (name.clone(), value)
            });
            Value::Object(kept.collect())
        }
        Value::Array(items) => items.iter().map(without_marks).collect(),
        other => other.clone(),
    }
}

/// FNV-1a.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_holds_for_its_own_beginning() {
        let asked = json!({"system": "Be brief.", "messages": [{"role": "user", "content": "Hi"}]});
        let given = signature(Api::Messages, "m", &asked);
        let thought = json!({"type": "thinking", "thinking": "", "signature": given});
        let next = json!({"system": "Be brief.", "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]},
            {"role": "assistant", "content": [thought]},
            {"role": "user", "content": "And?"},
        ]});
        assert!(!is_of_other_prefix(&given, Api::Messages, "m", &next, 1));
        assert!(is_of_other_prefix(&given, Api::Messages, "other", &next, 1));
        let mut changed = next.clone();
        changed["system"] = json!("Be long.");
        assert!(is_of_other_prefix(&given, Api::Messages, "m", &changed, 1));
        assert!(!is_of_other_prefix("c2ln", Api::Messages, "m", &changed, 1));
    }
}
