//! A conversation as the Responses API takes it: a list of items, and the system's text apart.
//!
//! The order of items is checked by the server: reasoning has to be followed by
//! what it led to, a result by its call's id. A turn of the model goes back item
//! for item, as `answer.rs` has kept it; a turn that was edited goes back as text
//! and calls alone.

use std::borrow::Cow;

use llmnode_model::{Attachment, Message, Part, ResponseFormat, Role, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::super::cache_marks::{BREAKPOINT, Breakpoint};
use crate::api::cache_fields::SharedEnd;
use crate::api::messages::Messages;
use crate::api::pieces::{Beside, Piece, kind_of, pieces};
use crate::api::prepared_request::PreparedRequest;
use crate::api::sent_calls::SentIds;

/// One entry of `input`.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Item<'a> {
    Message {
        role: &'static str,
        content: Vec<ContentPart<'a>>,
        #[serde(flatten)]
        beside: Beside<'a>,
    },
    FunctionCall {
        call_id: Cow<'a, str>,
        name: Cow<'a, str>,
        arguments: &'a str,
        #[serde(flatten)]
        beside: Beside<'a>,
    },
    FunctionCallOutput {
        call_id: Cow<'a, str>,
        output: Output<'a>,
    },
    #[serde(untagged)]
    Carried(&'a RawValue),
}

/// What a tool returned: a text, or a list of parts if it has media.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Output<'a> {
    Text(&'a str),
    Parts(Vec<ContentPart<'a>>),
}

/// `input_..` is the program's, `output_..` the model's.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ContentPart<'a> {
    InputText {
        text: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        prompt_cache_breakpoint: Option<Breakpoint>,
    },
    InputImage {
        image_url: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        detail: Option<&'static str>,
    },
    InputFile {
        #[serde(flatten)]
        source: FileSource<'a>,
    },
    OutputText {
        text: &'a str,
        /// A part that did not come from this API has none, and strict servers want the list.
        #[serde(skip_serializing_if = "Option::is_none")]
        annotations: Option<[(); 0]>,
        #[serde(flatten)]
        beside: Beside<'a>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum FileSource<'a> {
    Data {
        filename: &'a str,
        file_data: &'a str,
    },
    Uploaded {
        file_id: &'a str,
    },
}

impl<'a> ContentPart<'a> {
    fn text(text: impl Into<Cow<'a, str>>) -> Self {
        ContentPart::InputText {
            text: text.into(),
            prompt_cache_breakpoint: None,
        }
    }

    /// The cache keeps what ends here.
    fn marked(text: impl Into<Cow<'a, str>>) -> Self {
        ContentPart::InputText {
            text: text.into(),
            prompt_cache_breakpoint: Some(BREAKPOINT),
        }
    }
}

/// The text of the system apart, and all else. `instructions` take no mark of the
/// cache: where the system's text gets one, it is a message of the developer. In
/// JSON mode the text of the system is the first item: the API looks there alone
/// for the word JSON, without which it refuses that mode.
pub(super) fn items<'a>(
    messages: &'a Messages<'a>,
    prepared: &'a PreparedRequest<'a>,
) -> Result<(Option<String>, Vec<Item<'a>>), String> {
    let mut system: Vec<&str> = Vec::new();
    let mut items: Vec<Item<'a>> = Vec::new();
    let ids = SentIds::of(messages.iter(), prepared.id_form);
    let mark = prepared.cache_mark(messages);
    for (at, message) in messages.iter().enumerate() {
        match message.role {
            Role::System if items.is_empty() => system.push(&message.content),
            Role::Assistant => assistant(message, ids.at(at), prepared, &mut items),
            Role::Tool => items.push(result(message, ids.at(at))?),
            _ => {
                let mut content = parts(message)?;
                if let Some(mark) = mark
                    && mark.message == at
                {
                    set_mark(&mut content, mark.bytes);
                }
                // It says nothing.
                if message.parts().next().is_none() {
                    continue;
                }
                items.push(Item::Message {
                    role: "user",
                    content,
                    beside: Beside::new(),
                });
            }
        }
    }
    let system = system.join("\n\n");
    let system = if system.is_empty() {
        None
    } else {
        Some(system)
    };
    let is_json_mode = matches!(prepared.typed(), Some((ResponseFormat::JsonObject, _)));
    let is_marked = prepared.cache.shared == Some(SharedEnd::System);
    if !is_json_mode && !is_marked {
        return Ok((system, items));
    }
    if let Some(text) = system {
        let part = if is_marked {
            ContentPart::marked(text)
        } else {
            ContentPart::text(text)
        };
        let role = if is_json_mode { "system" } else { "developer" };
        let first = Item::Message {
            role,
            content: vec![part],
            beside: Beside::new(),
        };
        items.insert(0, first);
    }
    Ok((None, items))
}

/// What a tool returned, with the id of its call: a text, and only with media a list.
fn result<'a>(message: &'a Message, ids: &[Cow<'a, str>]) -> Result<Item<'a>, String> {
    let has_images = message.attachments().next().is_some();
    let output = match has_images {
        true => Output::Parts(parts(message)?),
        false => Output::Text(&message.content),
    };
    Ok(Item::FunctionCallOutput {
        call_id: ids.first().cloned().unwrap_or_default(),
        output,
    })
}

/// Marks the text up to so many bytes, which is then a part of its own.
fn set_mark(content: &mut Vec<ContentPart<'_>>, bytes: usize) {
    let Some(ContentPart::InputText {
        text: Cow::Borrowed(text),
        ..
    }) = content.first()
    else {
        return;
    };
    let Some((kept, rest)) = text.split_at_checked(bytes) else {
        return;
    };
    content[0] = ContentPart::marked(kept);
    if !rest.is_empty() {
        content.insert(1, ContentPart::text(rest));
    }
}

fn parts(message: &Message) -> Result<Vec<ContentPart<'_>>, String> {
    let mut parts = Vec::new();
    for part in message.parts() {
        match part {
            Part::Text(text) => parts.push(ContentPart::text(text)),
            Part::Attachment(attachment) => parts.push(attached(attachment)?),
            _ => {}
        }
    }
    Ok(parts)
}

/// By bytes or by the id of an uploaded file.
fn attached(attachment: &Attachment) -> Result<ContentPart<'_>, String> {
    match attachment {
        Attachment::Image(image) => {
            let detail = image.given_detail().map(|detail| detail.as_str());
            Ok(ContentPart::InputImage {
                image_url: image.as_url(),
                detail,
            })
        }
        Attachment::File(file) => Ok(ContentPart::InputFile {
            source: match file.data() {
                Some((filename, data)) => FileSource::Data {
                    filename,
                    file_data: data.as_url(),
                },
                None => FileSource::Uploaded {
                    file_id: file.uploaded().unwrap_or_default(),
                },
            },
        }),
        _ => Err(
            "the Responses API takes no audio; ask by chat completions, or send its text"
                .to_owned(),
        ),
    }
}

/// A turn of the model, item by item, as it was written. Texts that stood in one
/// message come into one again: a text begins a message only where a member of the
/// message itself was kept beside it, or where none is open.
///
/// The API refuses reasoning without the text and the calls that followed it.
fn assistant<'a>(
    message: &'a Message,
    ids: &[Cow<'a, str>],
    prepared: &PreparedRequest<'_>,
    items: &mut Vec<Item<'a>>,
) {
    let carried = prepared.carried(message).unwrap_or_default();
    let turn = items.len();
    for piece in pieces(message, carried, false, is_of_the_model) {
        match piece {
            Piece::Text(text, beside) if beside.is_empty() && text.trim().is_empty() => {}
            Piece::Text(text, beside) => {
                let beside_part = members_of(&beside, "part").unwrap_or_default();
                let annotations = (!beside_part.contains_key("annotations")).then_some([]);
                let part = ContentPart::OutputText {
                    text,
                    annotations,
                    beside: beside_part,
                };
                match (members_of(&beside, "item"), items[turn..].last_mut()) {
                    (None, Some(Item::Message { content, .. })) => content.push(part),
                    (item, _) => items.push(Item::Message {
                        role: "assistant",
                        content: vec![part],
                        beside: item.unwrap_or_default(),
                    }),
                }
            }
            Piece::Call {
                at,
                call: ToolCall {
                    name, arguments, ..
                },
                beside,
            } => items.push(Item::FunctionCall {
                call_id: ids.get(at).cloned().unwrap_or_default(),
                name: prepared.sent_name(name),
                arguments: if arguments.is_empty() {
                    "{}"
                } else {
                    arguments
                },
                beside,
            }),
            Piece::Other(item) => items.push(Item::Carried(item)),
        }
    }
}

/// Whether an item is one that a model writes, beside texts and calls of functions:
/// thoughts, and what OpenAI's own tools do. A message is none, but for the
/// assistant's commentary.
pub(super) fn is_of_the_model(item: &RawValue) -> bool {
    const OWN: [&str; 7] = [
        "compaction",
        "mcp_approval_request",
        "mcp_list_tools",
        "program",
        "program_output",
        "reasoning",
        "tool_search_output",
    ];
    /// The program's, as is the output of a function.
    const GIVEN: [&str; 4] = [
        "computer_call_output",
        "custom_tool_call_output",
        "function_call",
        "function_call_output",
    ];
    let Some(kind) = kind_of(item) else {
        return false;
    };
    match &*kind {
        "message" => is_commentary(item),
        kind if GIVEN.contains(&kind) => false,
        kind => OWN.contains(&kind) || kind.ends_with("_call") || kind.ends_with("_call_output"),
    }
}

/// What the model says on its way, between its calls: it is no answer.
fn is_commentary(item: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Commentary<'a> {
        #[serde(borrow)]
        role: Cow<'a, str>,
        #[serde(borrow)]
        phase: Cow<'a, str>,
    }
    let item = serde_json::from_str::<Commentary<'_>>(item.get());
    item.is_ok_and(|item| item.role == "assistant" && item.phase == "commentary")
}

/// The members of an object that was kept beside a text, under this name.
fn members_of<'a>(beside: &Beside<'a>, name: &str) -> Option<Beside<'a>> {
    serde_json::from_str(beside.get(name)?.get()).ok()
}
