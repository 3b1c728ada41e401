//! The content of a message as OpenAI's API takes it: a text, or a list of parts.

use std::fmt;

use serde::de::{self, SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::message::{Message, Part, Role};
use crate::media::{Attachment, AttachmentError, Audio, Detail, File, Image};

/// The content of a message.
pub(super) struct Content<'a>(pub(super) &'a Message);

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.0.attachments().next().is_none() {
            return to.serialize_str(&self.0.content);
        }
        let mut list = to.serialize_seq(None)?;
        for part in self.0.parts() {
            list.serialize_element(&wire(part))?;
        }
        list.end()
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WirePart<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: ImageUrl<'a> },
    File { file: WireFile<'a> },
    InputAudio { input_audio: InputAudio<'a> },
}

#[derive(Serialize)]
struct ImageUrl<'a> {
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum WireFile<'a> {
    Uploaded { file_id: &'a str },
    Sent { filename: &'a str, file_data: &'a str },
}

#[derive(Serialize)]
struct InputAudio<'a> {
    data: &'a str,
    format: &'a str,
}

fn wire(part: Part<'_>) -> WirePart<'_> {
    match part {
        Part::Text(text) => WirePart::Text { text },
        Part::Attachment(Attachment::Image(image)) => WirePart::ImageUrl {
            image_url: ImageUrl {
                url: image.as_url(),
                detail: image.given_detail().map(|detail| detail.as_str()),
            },
        },
        Part::Attachment(Attachment::File(file)) => WirePart::File {
            file: match file.data() {
                Some((name, data)) => WireFile::Sent { filename: name, file_data: data.as_url() },
                None => WireFile::Uploaded { file_id: file.uploaded().unwrap_or_default() },
            },
        },
        Part::Attachment(Attachment::Audio(audio)) => WirePart::InputAudio {
            input_audio: InputAudio { data: audio.data().base64(), format: audio.format() },
        },
    }
}

/// The content that was read, as a message whose role is still to be set.
pub(super) struct Read(pub(super) Message);

impl<'de> Deserialize<'de> for Read {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(TextOrParts)
    }
}

struct TextOrParts;

impl<'de> Visitor<'de> for TextOrParts {
    type Value = Read;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of parts")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Read, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Read, E> {
        Ok(Read(Message::new(Role::User, text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Read, A::Error> {
        let mut message = Message::user("");
        while let Some(part) = list.next_element::<ReadPart>()? {
            message = part.add_to(message).map_err(de::Error::custom)?;
        }
        Ok(Read(message))
    }
}

/// [`WirePart`], read.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum ReadPart {
    Text { text: String },
    ImageUrl { image_url: ReadImage },
    File { file: ReadFile },
    InputAudio { input_audio: ReadAudio },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadImage {
    url: String,
    #[serde(default)]
    detail: Option<Detail>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadFile {
    #[serde(default)]
    file_id: Option<String>,
    #[serde(default)]
    filename: Option<String>,
    #[serde(default)]
    file_data: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadAudio {
    data: String,
    format: String,
}

impl ReadPart {
    fn add_to(self, message: Message) -> Result<Message, AttachmentError> {
        let attachment: Attachment = match self {
            ReadPart::Text { text } => return Ok(message.text(text)),
            ReadPart::ImageUrl { image_url: ReadImage { url, detail } } => {
                let image = Image::url(url)?;
                match detail {
                    Some(detail) => image.detail(detail).into(),
                    None => image.into(),
                }
            }
            ReadPart::File { file } => match file {
                ReadFile { file_id: Some(id), filename: None, file_data: None } => File::id(&id)?.into(),
                ReadFile { file_id: None, filename: Some(name), file_data: Some(url) } => {
                    File::data_url(&name, &url)?.into()
                }
                _ => return Err(File::neither_id_nor_data()),
            },
            ReadPart::InputAudio { input_audio: ReadAudio { data, format } } => {
                Audio::base64(&format, &data)?.into()
            }
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
        assert_eq!(serde_json::to_string(&message).unwrap(), r#"{"role":"user","content":"a \"b\"\n"}"#);
    }

    #[test]
    fn every_kind_of_part() {
        let url = Image::url("https://a.example/b.png").unwrap();
        let image = Image::bytes("image/png", b"png").unwrap().detail(Detail::High);
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
        assert_eq!(content(&message), json!([{"type": "file", "file": {"file_id": "file-1"}}]));
    }
}
