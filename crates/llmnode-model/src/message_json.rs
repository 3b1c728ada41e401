//! A message as JSON, to be stored: the form of OpenAI's API, and what is carried.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::{self, Error, SeqAccess, Visitor};
use serde::ser::{SerializeSeq, SerializeStruct};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::message::{Message, Part, Role, ToolInfo};
use super::prompt_parts::SentPrompt;
use super::provider_state::ProviderState;
use super::tool::{FoundTools, ToolCall};
use crate::media::{Attachment, AttachmentError, Audio, Detail, File, Image};

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let calls: Vec<_> = self.calls().iter().map(WireCall::from).collect();
        let rest = [
            !calls.is_empty(),
            self.answers().is_some(),
            self.carried().is_some(),
            self.tokens().is_some(),
            self.sent().is_some(),
            self.found().is_some(),
            self.is_pinned(),
        ];
        let length = 2 + rest.into_iter().filter(|is| *is).count();
        let mut message = to.serialize_struct("Message", length)?;
        message.serialize_field("role", &self.role)?;
        // Some servers refuse an empty text beside calls.
        let content = Some(Content(self)).filter(|_| calls.is_empty() || !self.content.is_empty());
        message.serialize_field("content", &content)?;
        if !calls.is_empty() {
            message.serialize_field("tool_calls", &calls)?;
        }
        if let Some(id) = self.answers() {
            message.serialize_field("tool_call_id", id)?;
        }
        if let Some(carried) = self.carried() {
            message.serialize_field("carried", &**carried)?;
        }
        if let Some(tokens) = self.tokens() {
            message.serialize_field("tokens", &tokens)?;
        }
        if let Some(sent) = self.sent() {
            message.serialize_field("sent", &**sent)?;
        }
        if let Some(found) = self.found() {
            message.serialize_field("found", found)?;
        }
        if self.is_pinned() {
            message.serialize_field("pinned", &true)?;
        }
        message.end()
    }
}

/// A message as JSON has it.
#[derive(Deserialize)]
#[serde(rename = "Message", deny_unknown_fields)]
struct Form {
    role: Role,
    #[serde(default)]
    content: Option<ParsedContent>,
    #[serde(default)]
    tool_calls: Vec<WireCall<'static>>,
    #[serde(default)]
    tool_call_id: Option<String>,
    #[serde(default)]
    carried: Option<ProviderState>,
    #[serde(default)]
    tokens: Option<u64>,
    #[serde(default)]
    sent: Option<SentPrompt>,
    #[serde(default)]
    found: Option<FoundTools>,
    #[serde(default)]
    pinned: bool,
}

/// Why no provider would take such a message.
fn fault(
    role: Role,
    has_content: bool,
    has_calls: bool,
    has_call_id: bool,
) -> Option<&'static str> {
    if !has_content && !has_calls {
        return Some("a message without `tool_calls` needs `content`");
    }
    match role {
        Role::Tool if !has_call_id => Some("a message of a tool needs a `tool_call_id`"),
        Role::Assistant | Role::Tool => None,
        _ if has_calls => Some("only messages of the assistant may have `tool_calls`"),
        _ => None,
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Form {
            role,
            content,
            tool_calls,
            tool_call_id,
            carried,
            tokens,
            sent,
            found,
            pinned,
        } = Form::deserialize(from)?;
        let fault = fault(
            role,
            content.is_some(),
            !tool_calls.is_empty(),
            tool_call_id.is_some(),
        );
        if let Some(fault) = fault {
            return Err(D::Error::custom(fault));
        }
        let ParsedContent(message) =
            content.unwrap_or_else(|| ParsedContent(Message::new(role, "")));
        let mut message = Message { role, ..message };
        let has_figures = tokens.is_some() || sent.is_some() || found.is_some() || pinned;
        if !tool_calls.is_empty() || tool_call_id.is_some() || carried.is_some() || has_figures {
            let calls = tool_calls.into_iter().map(ToolCall::from).collect();
            let carried = carried.map(Arc::new);
            message.tool_info = Some(Box::new(ToolInfo {
                calls,
                carried,
                answers: tool_call_id,
                failed: false,
                tokens,
                sent: sent.map(Arc::new),
                found,
                pinned,
            }));
        }
        Ok(message)
    }
}

/// Its content as OpenAI's API takes it.
pub struct Content<'a>(pub &'a Message);

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.0.attachments().next().is_none() {
            return to.serialize_str(&self.0.content);
        }
        let mut list = to.serialize_seq(None)?;
        for part in self.0.parts() {
            list.serialize_element(&to_wire(part))?;
        }
        list.end()
    }
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename = "function")]
pub(super) struct WireCall<'a> {
    id: Cow<'a, str>,
    function: WireFunction<'a>,
}

#[derive(Serialize, Deserialize)]
struct WireFunction<'a> {
    name: Cow<'a, str>,
    arguments: Cow<'a, str>,
}

impl<'a> From<&'a ToolCall> for WireCall<'a> {
    fn from(
        ToolCall {
            id,
            name,
            arguments,
            ..
        }: &'a ToolCall,
    ) -> Self {
        let function = WireFunction {
            name: name.into(),
            arguments: arguments.into(),
        };
        WireCall {
            id: id.into(),
            function,
        }
    }
}

impl From<WireCall<'_>> for ToolCall {
    fn from(
        WireCall {
            id,
            function: WireFunction { name, arguments },
        }: WireCall<'_>,
    ) -> Self {
        ToolCall::new(id, name, arguments)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum WirePart<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: WireImage<'a> },
    File { file: WireFile<'a> },
    InputAudio { input_audio: WireAudio<'a> },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireImage<'a> {
    url: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    detail: Option<Detail>,
}

/// Either `file_id`, or `filename` and `file_data`.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct WireFile<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file_id: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_data: Option<Cow<'a, str>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireAudio<'a> {
    data: Cow<'a, str>,
    format: Cow<'a, str>,
}

fn to_wire(part: Part<'_>) -> WirePart<'_> {
    match part {
        Part::Text(text) => WirePart::Text { text: text.into() },
        Part::Attachment(Attachment::Image(image)) => WirePart::ImageUrl {
            image_url: WireImage {
                url: image.as_url().into(),
                detail: image.given_detail(),
            },
        },
        Part::Attachment(Attachment::File(file)) => WirePart::File {
            file: match file.data() {
                Some((name, data)) => WireFile {
                    file_id: None,
                    filename: Some(name.into()),
                    file_data: Some(data.as_url().into()),
                },
                None => WireFile {
                    file_id: file.uploaded().map(Into::into),
                    ..WireFile::default()
                },
            },
        },
        Part::Attachment(Attachment::Audio(audio)) => WirePart::InputAudio {
            input_audio: WireAudio {
                data: audio.data().base64().into(),
                format: audio.format().into(),
            },
        },
    }
}

pub(super) struct ParsedContent(pub(super) Message);

impl<'de> Deserialize<'de> for ParsedContent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(TextOrParts)
    }
}

struct TextOrParts;

impl<'de> Visitor<'de> for TextOrParts {
    type Value = ParsedContent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of parts")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ParsedContent, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<ParsedContent, E> {
        Ok(ParsedContent(Message::new(Role::User, text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ParsedContent, A::Error> {
        let mut message = Message::user("");
        while let Some(part) = list.next_element::<WirePart<'_>>()? {
            message = part.add_to(message).map_err(de::Error::custom)?;
        }
        Ok(ParsedContent(message))
    }
}

impl WirePart<'_> {
    fn add_to(self, message: Message) -> Result<Message, AttachmentError> {
        let attachment: Attachment = match self {
            WirePart::Text { text } => return Ok(message.text(text)),
            WirePart::ImageUrl {
                image_url: WireImage { url, detail },
            } => {
                let image = Image::url(url)?;
                match detail {
                    Some(detail) => image.detail(detail).into(),
                    None => image.into(),
                }
            }
            WirePart::File { file } => match file {
                WireFile {
                    file_id: Some(id),
                    filename: None,
                    file_data: None,
                } => File::id(&id)?.into(),
                WireFile {
                    file_id: None,
                    filename: Some(name),
                    file_data: Some(url),
                } => File::data_url(&name, &url)?.into(),
                _ => return Err(File::neither_id_nor_data()),
            },
            WirePart::InputAudio {
                input_audio: WireAudio { data, format },
            } => Audio::base64(&format, &data)?.into(),
        };
        Ok(message.attach(attachment))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::media::{Audio, Detail, File, Image};

    fn content(message: &Message) -> Value {
        serde_json::to_value(message).unwrap()["content"].take()
    }

    #[test]
    fn text_stays_a_text() {
        let message = Message::user("a \"b\"").text("\n");
        assert_eq!(
            serde_json::to_string(&message).unwrap(),
            r#"{"role":"user","content":"a \"b\"\n"}"#
        );
    }

    #[test]
    fn every_kind_of_part() {
        let url = Image::url("https://a.example/b.png").unwrap();
        let image = Image::bytes("image/png", b"png")
            .unwrap()
            .detail(Detail::High);
        let message = Message::user("one ")
            .attach(url)
            .text("\n")
            .attach(image)
            .attach(File::bytes("a \"b\".pdf", "application/pdf", b"pdf").unwrap())
            .attach(File::id("file-1").unwrap())
            .attach(Audio::bytes("audio/mpeg", b"mp3").unwrap())
            .text(" two");
        let parts = json!([
            {"type": "text", "text": "one "},
            {"type": "image_url", "image_url": {"url": "https://a.example/b.png"}},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n", "detail": "high"}},
            {"type": "file", "file": {"filename": "a \"b\".pdf", "file_data": "data:application/pdf;base64,cGRm"}},
            {"type": "file", "file": {"file_id": "file-1"}},
            {"type": "input_audio", "input_audio": {"data": "bXAz", "format": "mp3"}},
            {"type": "text", "text": " two"},
        ]);
        assert_eq!(content(&message), parts);
    }

    #[test]
    fn an_attachment_alone_has_no_text() {
        let message = Message::user("").attach(File::id("file-1").unwrap());
        assert_eq!(
            content(&message),
            json!([{"type": "file", "file": {"file_id": "file-1"}}])
        );
    }
}
