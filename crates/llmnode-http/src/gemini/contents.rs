//! A conversation as Gemini takes it: contents of the user and the model, and the
//! system's text apart.
//!
//! Three rules of the API shape this file. A turn with calls is followed by a turn
//! with exactly their results, in the order of the calls, and nothing else in it;
//! images of results come in a turn behind. A result names the function and not
//! only its call. And the first call of a turn has a signature: that of the model's
//! thoughts, or Google's word for "none".

use std::borrow::Cow;

use llmnode_model::{Attachment, Message, Part, Role, ToolCall};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::api::messages::Messages;
use crate::api::pieces::{Beside, Piece, fits, object, pieces};
use crate::api::prepared_request::PreparedRequest;
use crate::api::sent_calls::SentIds;

/// What Google documents for calls whose signature another model's turn cannot have.
/// Source: Google's page on thought signatures.
const NO_SIGNATURE: &str = r#""skip_thought_signature_validator""#;

#[derive(Serialize)]
pub(super) struct Instruction<'a> {
    parts: Vec<SentPart<'a>>,
}

/// A turn.
#[derive(Serialize)]
pub(super) struct Content<'a> {
    role: &'static str,
    parts: Vec<SentPart<'a>>,
    /// There have to be as many results as calls, and nothing else.
    #[serde(skip)]
    has_results: bool,
}

/// A part of a turn. Text and calls may have members of Google's beside them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum SentPart<'a> {
    FunctionResponse(FunctionResponse<'a>),
    #[serde(rename_all = "camelCase")]
    InlineData {
        mime_type: &'a str,
        data: &'a str,
    },
    #[serde(rename_all = "camelCase")]
    FileData {
        file_uri: &'a str,
    },
    #[serde(untagged)]
    Text {
        text: &'a str,
        #[serde(flatten)]
        beside: Beside<'a>,
    },
    #[serde(untagged, rename_all = "camelCase")]
    Call {
        function_call: FunctionCall<'a>,
        #[serde(flatten)]
        beside: Beside<'a>,
    },
    /// A whole part, as it came.
    #[serde(untagged)]
    Carried(&'a RawValue),
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    id: Cow<'a, str>,
    name: Cow<'a, str>,
    args: Box<RawValue>,
}

#[derive(Serialize)]
struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    id: Cow<'a, str>,
    name: Cow<'a, str>,
    response: ToolOutcome<'a>,
}

/// The two members that Google documents for a result.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum ToolOutcome<'a> {
    Output(&'a str),
    Error(&'a str),
}

/// The calls of the last message, with their ids.
#[derive(Default)]
struct CalledFunctions<'a> {
    calls: &'a [ToolCall],
    ids: Vec<Cow<'a, str>>,
    /// A turn of this model keeps to what the model said, and is taken as it is.
    is_own: bool,
}

impl<'a> CalledFunctions<'a> {
    fn of(message: &'a Message, ids: &[Cow<'a, str>], prepared: &PreparedRequest<'_>) -> Self {
        let carried = prepared.carried(message);
        let is_own = carried.is_some_and(|carried| fits(message, carried));
        CalledFunctions {
            calls: message.calls(),
            ids: ids.to_vec(),
            is_own,
        }
    }

    /// As it is sent: an own call that came without an id goes back without one,
    /// and so does its result.
    fn id(&self, at: usize) -> Cow<'a, str> {
        let came_without = self.calls.get(at).is_some_and(|call| call.id.is_empty());
        if self.is_own && came_without {
            return Cow::default();
        }
        self.ids.get(at).cloned().unwrap_or_default()
    }
}

/// The results of a round, each with the place of its call.
#[derive(Default)]
struct Results<'a> {
    parts: Vec<(usize, SentPart<'a>)>,
    images: Vec<SentPart<'a>>,
}

/// Results are collected until the next message that is none.
pub(super) fn contents<'a>(
    messages: &'a Messages<'a>,
    prepared: &'a PreparedRequest<'a>,
) -> Result<(Option<Instruction<'a>>, Vec<Content<'a>>), String> {
    let mut system = Vec::new();
    let mut contents = Vec::new();
    let ids = SentIds::of(messages.iter(), prepared.id_form);
    let mut called = CalledFunctions::default();
    let mut results = Results::default();
    for (at, message) in messages.iter().enumerate() {
        if message.role != Role::Tool {
            std::mem::take(&mut results).end(&mut contents);
        }
        match message.role {
            Role::System if contents.is_empty() => system.extend(text(&message.content)),
            Role::Assistant => {
                called = CalledFunctions::of(message, ids.at(at), prepared);
                push(
                    &mut contents,
                    "model",
                    assistant(message, &called, prepared),
                );
            }
            Role::Tool => results.add(message, ids.at(at), &called, prepared)?,
            _ => push(&mut contents, "user", parts(message)?),
        }
    }
    results.end(&mut contents);
    if contents.is_empty() {
        return Err("the conversation has no text: Gemini wants a message of the user".to_owned());
    }
    Ok((
        (!system.is_empty()).then_some(Instruction { parts: system }),
        contents,
    ))
}

/// To the last turn, if it is of the same side.
fn push<'a>(contents: &mut Vec<Content<'a>>, role: &'static str, parts: Vec<SentPart<'a>>) {
    match contents.last_mut() {
        _ if parts.is_empty() => {}
        Some(last) if last.role == role && !last.has_results => last.parts.extend(parts),
        _ => contents.push(Content {
            role,
            parts,
            has_results: false,
        }),
    }
}

impl<'a> Results<'a> {
    /// A result whose call is not there takes the next place: the conversation was
    /// edited.
    fn add(
        &mut self,
        message: &'a Message,
        ids: &[Cow<'a, str>],
        called: &CalledFunctions<'a>,
        prepared: &PreparedRequest<'_>,
    ) -> Result<(), String> {
        let id: Cow<'a, str> = ids.first().cloned().unwrap_or_default();
        let next = self.parts.len();
        let of_call = called.ids.iter().position(|call| *call == id);
        let id = of_call.map_or(id, |at| called.id(at));
        let at = of_call.unwrap_or(next);
        let name = called.calls.get(at).map_or("", |call| &call.name);
        let name = prepared.sent_name(name);
        let images = message
            .attachments()
            .map(attached)
            .collect::<Result<Vec<_>, _>>()?;
        let content = &*message.content;
        let response = match message.is_failure() {
            true => ToolOutcome::Error(content),
            false if content.is_empty() && !images.is_empty() => {
                ToolOutcome::Output("The image follows.")
            }
            false => ToolOutcome::Output(content),
        };
        self.images.extend(images);
        self.parts.push((
            at,
            SentPart::FunctionResponse(FunctionResponse { id, name, response }),
        ));
        Ok(())
    }

    /// One content, in the order of the calls.
    fn end(mut self, contents: &mut Vec<Content<'a>>) {
        if self.parts.is_empty() {
            return;
        }
        self.parts.sort_by_key(|(at, _)| *at);
        let parts = self.parts.into_iter().map(|(_, part)| part).collect();
        contents.push(Content {
            role: "user",
            parts,
            has_results: true,
        });
        push(contents, "user", self.images);
    }
}

/// Empty text is refused.
fn text(text: &str) -> Option<SentPart<'_>> {
    (!text.trim().is_empty()).then(|| SentPart::Text {
        text,
        beside: Beside::new(),
    })
}

fn parts(message: &Message) -> Result<Vec<SentPart<'_>>, String> {
    let parts = message.parts().filter_map(|part| match part {
        Part::Text(piece) => text(piece).map(Ok),
        Part::Attachment(attachment) => Some(attached(attachment)),
        _ => None,
    });
    parts.collect()
}

/// By bytes, or by the address of a file that was uploaded.
fn attached(attachment: &Attachment) -> Result<SentPart<'_>, String> {
    let (data, uri) = match attachment {
        Attachment::Image(image) => (image.data(), image.as_url()),
        Attachment::File(file) => (
            file.data().map(|(_, data)| data),
            file.uploaded().unwrap_or_default(),
        ),
        Attachment::Audio(audio) => (Some(audio.data()), ""),
        _ => return Err("Gemini takes images, files and audio".to_owned()),
    };
    match data {
        Some(data) => Ok(SentPart::InlineData {
            mime_type: data.media_type(),
            data: data.base64(),
        }),
        None if ["https://", "http://", "gs://"]
            .iter()
            .any(|begin| uri.starts_with(begin)) =>
        {
            Ok(SentPart::FileData { file_uri: uri })
        }
        None => Err(format!(
            "the file id {uri:?} is not one of Google's, which begin with `https://` or `gs://`"
        )),
    }
}

/// The model's own parts, as far as they are its own; see `api/pieces.rs`.
fn assistant<'a>(
    message: &'a Message,
    called: &CalledFunctions<'a>,
    prepared: &PreparedRequest<'_>,
) -> Vec<SentPart<'a>> {
    let carried = prepared.carried(message).unwrap_or_default();
    let pieces = pieces(message, carried, true, is_of_the_model);
    // Gemini wants a signature with the first call of a turn. A call that another
    // model made has none.
    let mut unsigned = if called.is_own || pieces.iter().any(is_signed_call) {
        None
    } else {
        serde_json::from_str(NO_SIGNATURE).ok()
    };
    let parts = pieces.into_iter().filter_map(|piece| match piece {
        Piece::Text(piece, beside) if beside.is_empty() => text(piece),
        Piece::Text(text, beside) => Some(SentPart::Text { text, beside }),
        Piece::Call {
            at,
            call,
            mut beside,
        } => {
            beside.extend(
                unsigned
                    .take()
                    .map(|signature| (Cow::Borrowed("thoughtSignature"), signature)),
            );
            let function_call = FunctionCall {
                id: called.id(at),
                name: prepared.sent_name(&call.name),
                args: object(&call.arguments),
            };
            Some(SentPart::Call {
                function_call,
                beside,
            })
        }
        Piece::Other(part) => Some(SentPart::Carried(part)),
    });
    parts.collect()
}

fn is_signed_call(piece: &Piece<'_>) -> bool {
    matches!(piece, Piece::Call { beside, .. } if beside.contains_key("thoughtSignature"))
}

/// Whether a part is one that a model writes, beside texts and calls: thoughts,
/// media, and what Google's own tools do. The result of a function is none.
fn is_of_the_model(part: &RawValue) -> bool {
    const MEMBERS: [&str; 13] = [
        "codeExecutionResult",
        "executableCode",
        "fileData",
        "inlineData",
        "mediaResolution",
        "partMetadata",
        "text",
        "thought",
        "thoughtSignature",
        "thought_signature",
        "toolCall",
        "toolResponse",
        "videoMetadata",
    ];
    let members = serde_json::from_str::<Beside<'_>>(part.get()).unwrap_or_default();
    !members.is_empty() && members.keys().all(|name| MEMBERS.contains(&&**name))
}
