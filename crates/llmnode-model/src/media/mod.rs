//! Images, files and audio as parts of a message.
//!
//! ```
//! # use llmnode_model as llmnode;
//! use llmnode::media::Detail;
//! use llmnode::{Image, Message};
//!
//! # fn main() -> Result<(), llmnode::media::AttachmentError> {
//! let photo = Image::url("https://example.com/cat.png")?.detail(Detail::Low);
//! let message = Message::user("What is this?").attach(photo).text("Be brief.");
//! # assert_eq!(message.parts().count(), 3);
//! # Ok(())
//! # }
//! ```
//!
//! In a prompt, write `{photo:attach}` for a field of one of these types, or an
//! `Option`, a `Vec` or an array of them.
//!
//! Bytes are encoded once, when the attachment is made; clones, retries and
//! corrections share them. One attachment has at most [`Attachment::MAX_BYTES`],
//! those of a prompt together at most [`Attachment::MAX_TOTAL`]. Pass larger ones
//! by URL, or as a file that was uploaded to the provider.

mod audio;
mod data;
mod error;
mod file;
mod image;
mod kind;
mod label;
mod size;

use std::fmt;

pub use audio::Audio;
pub use data::Data;
pub use error::AttachmentError;
pub use file::File;
pub use image::{Detail, Image};

/// A part of a message that is not text. Clones share its content. `Debug` shows
/// none of it. There is no `Display`, so that a prompt cannot write it as text.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Attachment {
    /// An image.
    Image(Image),
    /// A file.
    File(File),
    /// Audio.
    Audio(Audio),
}

impl Attachment {
    /// The most bytes of one attachment, before they are encoded: 20 MiB.
    pub const MAX_BYTES: usize = data::MAX_BYTES;

    /// The most bytes of all attachments of a prompt, as they are sent: 50 MiB.
    pub const MAX_TOTAL: usize = 50 * 1024 * 1024;

    /// Returns the short form for transcripts and traces: `[image image/png, 68
    /// bytes, #1f3a9c02]`. It ends with a hash of the content. For a URL, it leaves
    /// out what may be a key.
    pub fn label(&self) -> String {
        match self {
            Attachment::Image(image) => image.label(),
            Attachment::File(file) => file.label(),
            Attachment::Audio(audio) => audio.label(),
        }
    }

    /// Returns the word for its kind: `"image"`, `"file"` or `"audio"`.
    pub fn kind(&self) -> &'static str {
        match self {
            Attachment::Image(_) => "image",
            Attachment::File(_) => "file",
            Attachment::Audio(_) => "audio",
        }
    }

    /// What stands in it as text: a name, and a content that is no binary data.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        let (name, data) = match self {
            Attachment::Image(image) => (None, image.data()),
            Attachment::File(file) => file
                .data()
                .map_or((None, None), |(name, data)| (Some(name), Some(data))),
            Attachment::Audio(_) => (None, None),
        };
        name.map(str::to_owned)
            .into_iter()
            .chain(data.and_then(Data::readable))
    }

    /// Whether [`texts`](Self::texts) has all that a model can read in it: not of a
    /// picture, of sound, of a PDF, or of what only the provider has.
    pub fn is_text(&self) -> bool {
        match self {
            Attachment::File(file) => file.data().is_some_and(|(_, data)| data.is_text()),
            // Also of one in SVG, which may draw its letters.
            Attachment::Image(_) | Attachment::Audio(_) => false,
        }
    }

    /// Returns how many bytes of a request it takes, as Base64 or as a URL.
    pub fn sent_bytes(&self) -> usize {
        match self {
            Attachment::Image(image) => image.as_url().len(),
            Attachment::File(file) => file.sent_bytes(),
            Attachment::Audio(audio) => audio.data().base64().len(),
        }
    }

    /// Returns how many tokens it takes: an estimate, as only the provider knows the figure.
    pub fn tokens(&self) -> u64 {
        match self {
            Attachment::Image(image) => image.tokens(),
            Attachment::File(file) => file.tokens(),
            Attachment::Audio(audio) => audio.tokens(),
        }
    }

    /// What a request that has it makes room for, under a limit.
    pub fn most_tokens(&self) -> u64 {
        match self {
            Attachment::Image(image) => image.most_tokens(),
            Attachment::File(file) => file.most_tokens(),
            Attachment::Audio(audio) => audio.most_tokens(),
        }
    }
}

macro_rules! kinds {
    ($($kind:ident),*) => {
        $(impl From<$kind> for Attachment {
            fn from(one: $kind) -> Self {
                Attachment::$kind(one)
            }
        })*

        impl fmt::Debug for Attachment {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Attachment::$kind(one) => one.fmt(f),)*
                }
            }
        }
    };
}
kinds!(Image, File, Audio);

#[cfg(test)]
mod tests;
