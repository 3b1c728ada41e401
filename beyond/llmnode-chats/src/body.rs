//! From a message to what is stored, and back. A large attachment becomes a blob, which stands once however often it is sent.
//!
//! A pause is stored without the messages at its beginning that the chat has already: they never change, so their number is enough.

use std::collections::HashMap;

use llmnode_model::internal::sha256_hex;
use llmnode_runtime::{Category, Message, NodeError, Paused};
use serde_json::{Map, Value};

use crate::store::{Blob, StoredMessage};

/// Bytes of an attachment's text that stays in its message.
const INLINE: usize = 16 << 10;

/// No part of a message has such a member.
const MARK: &str = "$blob";

/// In a stored pause: how many of its messages are the first ones of the chat. Without it, in older pauses: none.
const SHARED: &str = "$history";

/// A message on its way into the store.
pub(crate) struct Written {
    pub(crate) message: StoredMessage,
    pub(crate) blobs: Vec<Blob>,
}

pub(crate) fn written(
    number: u64,
    turn: &str,
    pinned: bool,
    message: &Message,
) -> Result<Written, NodeError> {
    let mut json = serde_json::to_value(message)?;
    let mut blobs = Vec::new();
    if let Some(Value::Array(parts)) = json.get_mut("content") {
        parts
            .iter_mut()
            .for_each(|part| take_large(part, &mut blobs));
    }
    Ok(Written {
        message: StoredMessage {
            number,
            turn: turn.to_owned(),
            pinned,
            failed: message.is_failure(),
            body: json.to_string(),
            blobs: blobs.iter().map(|blob: &Blob| blob.hash.clone()).collect(),
        },
        blobs,
    })
}

/// Texts of parts stay: only what stands deeper is an attachment's.
fn take_large(part: &mut Value, to: &mut Vec<Blob>) {
    let Value::Object(members) = part else { return };
    for value in members.values_mut().filter(|value| value.is_object()) {
        let Value::Object(attachment) = value else {
            continue;
        };
        for text in attachment.values_mut() {
            let Value::String(body) = text else { continue };
            if body.len() <= INLINE {
                continue;
            }
            let hash = sha256_hex(body.as_bytes());
            let mark = Map::from_iter([(MARK.to_owned(), Value::String(hash.clone()))]);
            let body = std::mem::take(body);
            *text = Value::Object(mark);
            if !to.iter().any(|blob| blob.hash == hash) {
                to.push(Blob { hash, body });
            }
        }
    }
}

/// `blobs`: bodies by their hashes.
pub(crate) fn read(
    stored: &StoredMessage,
    blobs: &HashMap<String, String>,
) -> Result<Message, NodeError> {
    let message: Message = if stored.blobs.is_empty() {
        serde_json::from_str(&stored.body).map_err(|fault| torn(stored.number, &fault))?
    } else {
        let mut json: Value =
            serde_json::from_str(&stored.body).map_err(|fault| torn(stored.number, &fault))?;
        if let Some(Value::Array(parts)) = json.get_mut("content") {
            for part in parts {
                put_back(part, blobs)
                    .map_err(|hash| torn(stored.number, &format!("the blob {hash} is missing")))?;
            }
        }
        serde_json::from_value(json).map_err(|fault| torn(stored.number, &fault))?
    };
    Ok(if stored.failed {
        message.failed()
    } else {
        message
    })
}

/// `history`: what the chat has, without pins.
pub(crate) fn pause_written(paused: &Paused, history: &[Message]) -> Result<String, NodeError> {
    let mut json = serde_json::to_value(paused)?;
    if let Some(Value::Array(messages)) = json.get_mut("messages") {
        let mut shared = 0;
        for (new, kept) in messages.iter().zip(history) {
            if *new != serde_json::to_value(kept)? {
                break;
            }
            shared += 1;
        }
        messages.drain(..shared);
        json[SHARED] = shared.into();
    }
    Ok(json.to_string())
}

/// The same pause after a decision. It lacks the same messages.
pub(crate) fn pause_decided(stored: &str, decided: &Paused) -> Result<String, NodeError> {
    let mut json = serde_json::to_value(decided)?;
    json[SHARED] = shared(stored)?.into();
    Ok(json.to_string())
}

/// How many of the chat's messages a stored pause begins with.
pub(crate) fn shared(stored: &str) -> Result<u64, NodeError> {
    let json: Value = serde_json::from_str(stored)?;
    Ok(json.get(SHARED).and_then(Value::as_u64).unwrap_or(0))
}

/// `history`: the messages that it lacks.
pub(crate) fn pause_read(stored: &str, history: &[Message]) -> Result<Paused, NodeError> {
    let mut json: Value = serde_json::from_str(stored)?;
    if let Some(Value::Array(messages)) = json.get_mut("messages") {
        let mut whole = Vec::with_capacity(history.len() + messages.len());
        for message in history {
            whole.push(serde_json::to_value(message)?);
        }
        whole.append(messages);
        *messages = whole;
    }
    Ok(serde_json::from_value(json)?)
}

fn torn(number: u64, fault: &dyn std::fmt::Display) -> NodeError {
    let why = format!(
        "message {number} of the conversation cannot be read: {fault}; repair the table, or delete the chat"
    );
    NodeError::new(Category::ConfigError, why)
}

/// `Err`: the hash of a blob that is missing.
fn put_back(part: &mut Value, blobs: &HashMap<String, String>) -> Result<(), String> {
    let Value::Object(members) = part else {
        return Ok(());
    };
    for value in members.values_mut() {
        let Value::Object(attachment) = value else {
            continue;
        };
        for text in attachment.values_mut() {
            let Some(hash) = text.get(MARK).and_then(Value::as_str) else {
                continue;
            };
            let body = blobs.get(hash).ok_or_else(|| hash.to_owned())?;
            *text = Value::String(body.clone());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use llmnode_runtime::Image;

    use super::*;

    #[test]
    fn large_attachments_become_blobs_and_come_back() {
        let image = |bytes: usize| Image::bytes("image/png", vec![7; bytes]).unwrap();
        let message = Message::user("Two pictures")
            .attach(image(100))
            .attach(image(20_000))
            .attach(image(20_000));
        let written = written(3, "turn", false, &message).unwrap();
        assert_eq!(written.blobs.len(), 1, "equal ones stand once");
        assert!(written.message.body.len() < 1_000);
        let blobs = written.blobs.into_iter().map(|blob| (blob.hash, blob.body));
        let blobs: HashMap<String, String> = blobs.collect();
        assert_eq!(read(&written.message, &blobs).unwrap(), message);
        let error = read(&written.message, &HashMap::new()).unwrap_err();
        assert!(error.to_string().contains("message 3"), "{error}");
    }

    #[test]
    fn a_failed_result_and_a_long_text_stay_as_they_are() {
        let long = Message::user("a".repeat(50_000));
        let failed = Message::tool("call_1", "no").failed();
        for message in [long, failed] {
            let written = written(1, "turn", false, &message).unwrap();
            assert!(written.blobs.is_empty());
            assert_eq!(read(&written.message, &HashMap::new()).unwrap(), message);
        }
    }
}
