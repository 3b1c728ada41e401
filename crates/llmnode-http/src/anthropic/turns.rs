//! A conversation as Anthropic's Messages takes it: turns that alternate, and the
//! system's text apart.
//!
//! Three rules of the API shape this file. Turns alternate between `user` and
//! `assistant`, so messages of one side are joined. The system's text is a member
//! of its own, but only at the beginning: a later system message becomes the
//! user's, since most models ignore one in the middle. Results of tools are blocks
//! of the user, and come first in their turn.

use std::borrow::Cow;

use llmnode_model::{Attachment, File, Image, Message, Part, Role};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::marks::{CacheControl, MOST_BLOCKS, Marks};
use crate::api::messages::Messages;
use crate::api::pieces::{Beside, Piece, kind_of, object, pieces};
use crate::api::prepared_request::PreparedRequest;
use crate::api::sent_calls::SentIds;

/// Its blocks, in order.
#[derive(Serialize)]
pub(super) struct Turn<'a> {
    role: Role,
    content: Vec<Block<'a>>,
}

/// Written by us, except `Carried`, which goes back as it came.
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
        name: Cow<'a, str>,
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
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    Image {
        source: Value,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    Document {
        source: Value,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    #[serde(untagged)]
    Carried(&'a RawValue),
}

/// The system's blocks and the turns. Errors are conversations that the API would
/// refuse with a message that does not help.
///
/// Marks for the cache are set while the blocks are written, since a text with a
/// mark within becomes two blocks. The mark at the end of the last request comes
/// when all turns are there: where that end is, depends on how they were joined.
pub(super) fn turns<'a>(
    messages: &'a Messages<'a>,
    prepared: &'a PreparedRequest<'a>,
    marks: Marks,
) -> Result<(Vec<Block<'a>>, Vec<Turn<'a>>), String> {
    let mut system = Vec::new();
    let mut turns: Vec<Turn<'a>> = Vec::new();
    let ids = SentIds::of(messages.iter(), prepared.id_form);
    for (at, message) in messages.iter().enumerate() {
        if message.role == Role::System && turns.is_empty() {
            let block = text(&message.content);
            system.extend(block.into_iter().flat_map(|block| marked(block, marks, at)));
            continue;
        }
        let (role, content) = match message.role {
            Role::Assistant => (Role::Assistant, assistant(message, ids.at(at), prepared)),
            Role::Tool => (Role::User, vec![result(message, ids.at(at))?]),
            _ => {
                let blocks = parts(message)?.into_iter();
                let blocks = blocks.enumerate().flat_map(|(place, block)| match place {
                    0 => marked(block, marks, at),
                    _ => vec![block],
                });
                (Role::User, blocks.collect())
            }
        };
        match turns.last_mut() {
            // Results come first by themselves, since they follow their calls.
            Some(last) if last.role == role => last.content.extend(content),
            _ if content.is_empty() => {}
            _ => turns.push(Turn { role, content }),
        }
    }
    match turns.first() {
        Some(first) if first.role == Role::Assistant => Err(
            "Anthropic's conversations begin with the user: leave out the first answer of the \
             history"
                .to_owned(),
        ),
        None => {
            Err("the conversation has no text: Anthropic wants a message of the user".to_owned())
        }
        Some(_) => {
            mark_last_request(&mut turns, marks);
            Ok((system, turns))
        }
    }
}

/// A text in two blocks, of which the first one has the mark.
fn marked(block: Block<'_>, marks: Marks, message: usize) -> Vec<Block<'_>> {
    let Block::Text { text: whole, .. } = block else {
        return vec![block];
    };
    let halves = marks
        .within(message)
        .and_then(|bytes| whole.split_at_checked(bytes));
    let Some((kept, rest)) = halves else {
        return vec![block];
    };
    let mut first = text(kept);
    if let Some(block) = &mut first {
        block.mark(marks.control());
    }
    first.into_iter().chain(text(rest)).collect()
}

/// The end of the last request, which stands before the newest answer, if it is too
/// far away to be found from the end.
fn mark_last_request(turns: &mut [Turn<'_>], marks: Marks) {
    if marks.end.is_none() {
        return;
    }
    let Some(answer) = turns.iter().rposition(|turn| turn.role == Role::Assistant) else {
        return;
    };
    let added: usize = turns[answer..].iter().map(|turn| turn.content.len()).sum();
    let before = turns[..answer].last_mut();
    if added >= MOST_BLOCKS
        && let Some(block) = before.and_then(|turn| turn.content.last_mut())
    {
        block.mark(marks.control());
    }
}

impl Block<'_> {
    fn mark(&mut self, control: CacheControl) {
        match self {
            Block::Text { cache_control, .. }
            | Block::ToolResult { cache_control, .. }
            | Block::Image { cache_control, .. }
            | Block::Document { cache_control, .. } => *cache_control = Some(control),
            // Blocks of the model: the end of a request is none.
            Block::ToolUse { .. } | Block::Carried(_) => {}
        }
    }
}

/// The API refuses blank text.
fn text(text: &str) -> Option<Block<'_>> {
    if text.trim().is_empty() {
        return None;
    }
    Some(Block::Text {
        text,
        beside: Beside::new(),
        cache_control: None,
    })
}

/// Media of a kind that a message cannot hold are the caller's to refuse.
fn parts(message: &Message) -> Result<Vec<Block<'_>>, String> {
    let mut blocks = Vec::new();
    for part in message.parts() {
        match part {
            Part::Text(piece) => blocks.extend(text(piece)),
            Part::Attachment(attachment) => blocks.push(attached(attachment)?),
            _ => {}
        }
    }
    Ok(blocks)
}

/// An attachment as the API takes it. `Err`: it takes none of this kind.
fn attached(attachment: &Attachment) -> Result<Block<'_>, String> {
    match attachment {
        Attachment::Image(image) => Ok(Block::Image {
            source: image_source(image),
            cache_control: None,
        }),
        Attachment::File(file) => document(file),
        _ => Err("Anthropic takes no audio; send its text".to_owned()),
    }
}

/// By its bytes or by its URL, which Anthropic loads itself.
fn image_source(image: &Image) -> Value {
    match image.data() {
        Some(data) => {
            json!({"type": "base64", "media_type": data.media_type(), "data": data.base64()})
        }
        None => json!({"type": "url", "url": image.as_url()}),
    }
}

/// PDF and plain text, or a file that was uploaded to Anthropic.
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
        return Ok(Block::Document {
            source,
            title: Some(name),
            cache_control: None,
        });
    }
    let id = file.uploaded().unwrap_or_default();
    if !id.starts_with("file_") {
        return Err(format!(
            "the file id {id:?} is not one of Anthropic's, which begin with `file_`"
        ));
    }
    Ok(Block::Document {
        source: json!({"type": "file", "file_id": id}),
        title: None,
        cache_control: None,
    })
}

/// A result refers to its call by id. A failed one says so.
fn result<'a>(message: &'a Message, ids: &[Cow<'a, str>]) -> Result<Block<'a>, String> {
    let mut content = parts(message)?;
    let is_error = message.is_failure();
    if is_error && content.is_empty() {
        // Anthropic refuses a failure without text.
        content.extend(text("The tool failed."));
    }
    Ok(Block::ToolResult {
        tool_use_id: ids.first().cloned().unwrap_or_default(),
        content,
        is_error,
        cache_control: None,
    })
}

/// The turn of the model in its own blocks. Thoughts of another model are left out.
fn assistant<'a>(
    message: &'a Message,
    ids: &[Cow<'a, str>],
    prepared: &PreparedRequest<'_>,
) -> Vec<Block<'a>> {
    let carried = prepared.carried(message).unwrap_or_default();
    let mut blocks = Vec::new();
    for piece in pieces(message, carried, true, is_of_the_model) {
        blocks.extend(block(piece, ids, prepared));
    }
    blocks
}

/// Anthropic refuses blocks of blank text.
fn block<'a>(
    piece: Piece<'a>,
    ids: &[Cow<'a, str>],
    prepared: &PreparedRequest<'_>,
) -> Option<Block<'a>> {
    match piece {
        Piece::Text(text, _) if text.trim().is_empty() => None,
        Piece::Text(text, beside) => Some(Block::Text {
            text,
            beside,
            cache_control: None,
        }),
        Piece::Call { at, call, beside } => Some(Block::ToolUse {
            id: ids.get(at).cloned().unwrap_or_default(),
            name: prepared.sent_name(&call.name),
            input: object(&call.arguments),
            beside,
        }),
        Piece::Other(part) => Some(Block::Carried(part)),
    }
}

/// Whether a block is one that a model writes, beside texts and calls: thoughts,
/// and what Anthropic's own tools do. The result of a tool of the program is none.
fn is_of_the_model(block: &RawValue) -> bool {
    const OWN: [&str; 4] = [
        "compaction",
        "container_upload",
        "redacted_thinking",
        "thinking",
    ];
    let Some(kind) = kind_of(block) else {
        return false;
    };
    OWN.contains(&&*kind) || kind.ends_with("_tool_use") || kind.ends_with("_tool_result")
}
