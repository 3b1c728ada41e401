//! The content of a message as OpenAI's API takes it: a text, or a list of parts.

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use super::message::{Message, Part};
use crate::media::{Attachment, FileSource};

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
            file: match file.source() {
                FileSource::Id(file_id) => WireFile::Uploaded { file_id },
                FileSource::Data { name, data } => {
                    WireFile::Sent { filename: name, file_data: data.as_url() }
                }
            },
        },
        Part::Attachment(Attachment::Audio(audio)) => WirePart::InputAudio {
            input_audio: InputAudio { data: audio.data().base64(), format: audio.format() },
        },
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
