//! A conversation as Anthropic's Messages takes it: turns that alternate, and the system's text apart.

use std::borrow::Cow;
use std::collections::BTreeMap;

use llmnode_model::internal::{CarriedPart, Json, sha256_hex};
use llmnode_model::{Attachment, File, Image, Message, Part, Role};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::openai::prepared_request::PreparedRequest;
use crate::openai::request::Messages;

#[derive(Serialize)]
pub(super) struct Turn<'a> {
    role: Role,
    content: Vec<Block<'a>>,
}

type Beside<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block<'a> {
    Text {
        text: &'a str,
        #[serde(flatten)]
        beside: Beside<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: &'a str,
        input: Box<RawValue>,
        #[serde(flatten)]
        beside: Beside<'a>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        content: Vec<Block<'a>>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    Image {
        source: Value,
    },
    Document {
        source: Value,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
    },
    /// A whole part, as it came.
    #[serde(untagged)]
    Carried(&'a RawValue),
}

#[derive(Clone, Copy, Serialize)]
#[serde(tag = "type", rename = "ephemeral")]
pub(super) struct CacheControl {
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

impl CacheControl {
    pub(super) fn new(for_an_hour: bool) -> Self {
        CacheControl { ttl: for_an_hour.then_some("1h") }
    }
}

/// The system's text and the turns.
pub(super) fn turns<'a>(
    messages: &'a Messages<'a>,
    prepared: &'a PreparedRequest<'a>,
) -> Result<(Vec<Block<'a>>, Vec<Turn<'a>>), String> {
    let mut system = Vec::new();
    let mut turns: Vec<Turn<'a>> = Vec::new();
    for message in messages.iter() {
        if message.role == Role::System && turns.is_empty() {
            system.extend(text(&message.content));
            continue;
        }
        let (role, content) = match message.role {
            Role::Assistant => (Role::Assistant, assistant(message, prepared.carried(message))),
            Role::Tool => (Role::User, vec![result(message)?]),
            _ => (Role::User, parts(message)?),
        };
        match turns.last_mut() {
            // Results come first by themselves: they follow their calls.
            Some(last) if last.role == role => last.content.extend(content),
            _ if content.is_empty() => {}
            _ => turns.push(Turn { role, content }),
        }
    }
    match turns.first() {
        Some(first) if first.role == Role::Assistant => {
            Err("Anthropic's conversations begin with the user: leave out the first answer of the history"
                .to_owned())
        }
        None => Err("the conversation has no text: Anthropic wants a message of the user".to_owned()),
        Some(_) => Ok((system, turns)),
    }
}

/// Blank text is refused.
fn text(text: &str) -> Option<Block<'_>> {
    let block = || Block::Text { text, beside: Beside::new(), cache_control: None };
    (!text.trim().is_empty()).then(block)
}

fn parts(message: &Message) -> Result<Vec<Block<'_>>, String> {
    let blocks = message.parts().filter_map(|part| match part {
        Part::Text(piece) => text(piece).map(Ok),
        Part::Attachment(attachment) => Some(attached(attachment)),
        _ => None,
    });
    blocks.collect()
}

fn attached(attachment: &Attachment) -> Result<Block<'_>, String> {
    match attachment {
        Attachment::Image(image) => Ok(Block::Image { source: image_source(image) }),
        Attachment::File(file) => document(file),
        _ => Err("Anthropic takes no audio; send its text".to_owned()),
    }
}

fn image_source(image: &Image) -> Value {
    match image.data() {
        Some(data) => json!({"type": "base64", "media_type": data.media_type(), "data": data.base64()}),
        None => json!({"type": "url", "url": image.as_url()}),
    }
}

fn document(file: &File) -> Result<Block<'_>, String> {
    if let Some((name, data)) = file.data() {
        let source = match (data.media_type(), data.text()) {
            ("application/pdf", _) => {
                json!({"type": "base64", "media_type": "application/pdf", "data": data.base64()})
            }
            (kind, Some(text)) if kind.starts_with("text/") => {
                json!({"type": "text", "media_type": "text/plain", "data": text})
            }
            (kind, _) => {
                return Err(format!(
                    "Anthropic takes files of PDF and text, not {kind}; send the file's text"
                ));
            }
        };
        return Ok(Block::Document { source, title: Some(name) });
    }
    let id = file.uploaded().unwrap_or_default();
    if !id.starts_with("file_") {
        return Err(format!("the file id {id:?} is not one of Anthropic's, which begin with `file_`"));
    }
    Ok(Block::Document { source: json!({"type": "file", "file_id": id}), title: None })
}

fn result(message: &Message) -> Result<Block<'_>, String> {
    Ok(Block::ToolResult {
        tool_use_id: id(message.answers().unwrap_or_default()),
        content: parts(message)?,
        is_error: message.is_failure(),
    })
}

/// A turn of the assistant: text and calls from the message, so that edited ones count, and the rest as it came.
fn assistant<'a>(message: &'a Message, carried: Option<&'a [CarriedPart]>) -> Vec<Block<'a>> {
    let calls = message.calls();
    let call = |at: usize, beside| {
        let call = &calls[at];
        Block::ToolUse { id: id(&call.id), name: &call.name, input: object(&call.arguments), beside }
    };
    let carried = carried.unwrap_or_default();
    let (text_bytes, listed) = carried.iter().fold((0usize, 0), |(bytes, calls), part| match part {
        CarriedPart::Text { bytes: more, .. } => (bytes.saturating_add(*more), calls),
        CarriedPart::Call { .. } => (bytes, calls + 1),
        CarriedPart::Other(_) => (bytes, calls),
    });
    let fits = text_bytes == message.content.len() && listed == calls.len();
    let mut blocks = Vec::new();
    if !fits {
        // What stood where is not known any more: thoughts come first.
        blocks.extend(carried.iter().filter_map(whole));
        blocks.extend(text(&message.content));
        blocks.extend((0..calls.len()).map(|at| call(at, Beside::new())));
        return blocks;
    }
    let mut rest = message.content.as_str();
    for part in carried {
        match part {
            CarriedPart::Text { bytes, beside } => {
                let (piece, behind) = rest.split_at_checked(*bytes).unwrap_or((rest, ""));
                rest = behind;
                if !piece.trim().is_empty() {
                    blocks.push(Block::Text {
                        text: piece,
                        beside: members(beside.as_ref()),
                        cache_control: None,
                    });
                }
            }
            CarriedPart::Call { at, beside } if *at < calls.len() => {
                blocks.push(call(*at, members(beside.as_ref())));
            }
            CarriedPart::Call { .. } => {}
            CarriedPart::Other(_) => blocks.extend(whole(part)),
        }
    }
    blocks
}

fn whole(part: &CarriedPart) -> Option<Block<'_>> {
    match part {
        CarriedPart::Other(json) => Some(Block::Carried(json.raw())),
        _ => None,
    }
}

fn members(json: Option<&Json>) -> Beside<'_> {
    json.and_then(|json| serde_json::from_str(json.raw().get()).ok()).unwrap_or_default()
}

/// The API takes 1 to 64 characters of `a-z A-Z 0-9 _ -`. Call and result come to the same.
fn id(id: &str) -> Cow<'_, str> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    match (1..=64).contains(&id.len()) && id.bytes().all(fits) {
        true => Cow::Borrowed(id),
        false => Cow::Owned(format!("c{}", &sha256_hex(id.as_bytes())[..32])),
    }
}

/// The arguments of a call as an object, which the API wants.
fn object(arguments: &str) -> Box<RawValue> {
    let is_object = serde_json::from_str::<Map<String, Value>>(arguments).is_ok();
    let raw = is_object.then(|| RawValue::from_string(arguments.to_owned()).ok()).flatten();
    raw.unwrap_or_else(|| RawValue::from_string("{}".to_owned()).unwrap_or_default())
}
