//! Messages of a conversation: text, with attachments at places in it.

use std::borrow::Cow;
use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::wire::Content;
use crate::media::Attachment;
use crate::text::floor_char_boundary;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Role {
    /// The program's standing instruction.
    System,
    /// The program.
    User,
    /// The model.
    Assistant,
}

/// One message of a conversation. Its `Debug` form shows no content.
///
/// It serializes as OpenAI's API takes it: `{"role": "user", "content": "…"}`, where the content is a list of parts,
/// attachments in full, if there are any.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said: the text of all parts. Nothing stands in it for an attachment.
    pub content: String,
    attachments: Vec<Placed>,
}

/// An attachment and the byte of the text before which it stands.
#[derive(Clone, PartialEq, Eq)]
struct Placed {
    at: usize,
    attachment: Attachment,
}

/// A part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part<'a> {
    /// Text.
    Text(&'a str),
    /// An image, a file or sound.
    Attachment(&'a Attachment),
}

impl Message {
    /// A message of text.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Message { role, content: content.into(), attachments: Vec::new() }
    }

    /// A message of the program's standing instruction.
    pub fn system(content: impl Into<String>) -> Self {
        Message::new(Role::System, content)
    }

    /// A message of the program, or of the person that it speaks for.
    pub fn user(content: impl Into<String>) -> Self {
        Message::new(Role::User, content)
    }

    /// A message of the model.
    pub fn assistant(content: impl Into<String>) -> Self {
        Message::new(Role::Assistant, content)
    }

    /// Adds an attachment behind the text so far.
    #[must_use]
    pub fn attach(mut self, attachment: impl Into<Attachment>) -> Self {
        self.push(attachment.into());
        self
    }

    /// Goes on with text, behind what was attached.
    #[must_use]
    pub fn text(mut self, text: impl AsRef<str>) -> Self {
        self.content.push_str(text.as_ref());
        self
    }

    /// Adds an attachment behind the text so far.
    pub(crate) fn push(&mut self, attachment: Attachment) {
        self.attachments.push(Placed { at: self.content.len(), attachment });
    }

    /// The attachments, in order.
    pub fn attachments(&self) -> impl Iterator<Item = &Attachment> {
        self.attachments.iter().map(|placed| &placed.attachment)
    }

    /// Text and attachments in order. Beside attachments, text of nothing but spaces and line breaks is no part: some
    /// providers refuse it.
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let text = self.content.as_str();
        let plain = self.attachments.is_empty();
        let mut from = 0;
        let places = self.attachments.iter().map(|placed| (placed.at, Some(&placed.attachment)));
        places.chain([(text.len(), None)]).flat_map(move |(at, attachment)| {
            // The text is public, and may have been changed since.
            let at = floor_char_boundary(text, at.max(from));
            let piece = &text[from..at];
            from = at;
            let said = plain || !piece.trim().is_empty();
            [said.then_some(Part::Text(piece)), attachment.map(Part::Attachment)].into_iter().flatten()
        })
    }

    /// The text with each attachment in its short form, for people to read.
    pub(crate) fn shown(&self) -> Cow<'_, str> {
        if self.attachments.is_empty() {
            return Cow::Borrowed(&self.content);
        }
        let mut shown = String::with_capacity(self.content.len() + 64 * self.attachments.len());
        let mut from = 0;
        for Placed { at, attachment } in &self.attachments {
            let at = floor_char_boundary(&self.content, (*at).max(from));
            shown.push_str(&self.content[from..at]);
            shown.push_str(&attachment.label());
            from = at;
        }
        shown.push_str(&self.content[from..]);
        Cow::Owned(shown)
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut message = to.serialize_struct("Message", 2)?;
        message.serialize_field("role", &self.role)?;
        message.serialize_field("content", &Content(self))?;
        message.end()
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Message {{ role: {:?}, content: {} bytes", self.role, self.content.len())?;
        if !self.attachments.is_empty() {
            write!(f, ", attachments: {}", self.attachments.len())?;
        }
        f.write_str(" }")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::media::Image;

    fn image() -> Image {
        Image::bytes("image/png", b"png").unwrap()
    }

    #[test]
    fn parts_come_in_order_without_blanks() {
        let attachment = Attachment::from(image());
        let message = Message::user(" \n").attach(image()).text("a\n").attach(image()).attach(image());
        let (text, image) = (Part::Text("a\n"), Part::Attachment(&attachment));
        assert!(message.parts().eq([image, text, image, image]));
        assert!(Message::user("").parts().eq([Part::Text("")]));
    }

    #[test]
    fn debug_tells_sizes_alone() {
        let message = Message::user("secret").attach(image());
        assert_eq!(format!("{message:?}"), "Message { role: User, content: 6 bytes, attachments: 1 }");
        assert_eq!(format!("{:?}", Message::user("secret")), "Message { role: User, content: 6 bytes }");
    }

    proptest! {
        #[test]
        fn a_text_that_was_changed_is_all_there(texts in prop::collection::vec("[aé\n]{0,5}", 1..5), then in "[a€]{0,9}") {
            let first = Message::user(texts[0].clone());
            let mut message = texts[1..].iter().fold(first, |message, text| message.attach(image()).text(text));
            prop_assert_eq!(message.shown().replace(&Attachment::from(image()).label(), ""), texts.concat());
            message.content = then.clone();
            prop_assert_eq!(message.shown().replace(&Attachment::from(image()).label(), ""), then);
            prop_assert_eq!(message.parts().filter(|part| matches!(part, Part::Attachment(_))).count(), texts.len() - 1);
        }
    }
}
