//! Audio attachments.

use std::path::Path;

use super::data::{self, Data};
use super::error::AttachmentError;
use super::{kind, label};

/// About 100 seconds of speech.
const TOKENS: u64 = 1000;
/// Of a recording without compression, and of one with: 32 tokens a second, of at
/// least so many bytes.
const BYTES_OF_A_TOKEN: u64 = 250;
const PACKED_BYTES_OF_A_TOKEN: u64 = 60;

/// A recording that a model listens to. Clones share the content.
///
/// Providers accept WAV and MP3, and some accept other types. If a provider reports
/// no usage, it is estimated at 1000 tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audio {
    data: Data,
}

impl Audio {
    /// Creates a recording from bytes of this media type, such as `audio/wav` or
    /// `audio/mpeg`. A parameter of the type is dropped.
    ///
    /// # Errors
    /// If the type is not an audio media type, or there are no bytes or more than
    /// [`Attachment::MAX_BYTES`](super::Attachment::MAX_BYTES).
    pub fn bytes(media_type: &str, bytes: impl AsRef<[u8]>) -> Result<Self, AttachmentError> {
        let media_type = kind::media_type(media_type)?;
        if !media_type.starts_with("audio/") {
            return Err(AttachmentError::new(format!(
                "`{media_type}` is not an audio media type"
            )));
        }
        Ok(Audio {
            data: Data::new(&media_type, bytes.as_ref())?,
        })
    }

    pub(crate) fn base64(format: &str, base64: &str) -> Result<Self, AttachmentError> {
        let subtype = if format == "mp3" { "mpeg" } else { format };
        let url = format!("data:audio/{subtype};base64,{base64}");
        let (media_type, bytes) = data::decode(&url)?;
        Audio::bytes(media_type, bytes)
    }

    /// Reads a recording from disk. Its first bytes determine the type: WAV, MP3,
    /// FLAC or Ogg. It blocks the thread. In async code, read the file with
    /// `tokio::fs::read` and pass it to [`bytes`](Audio::bytes).
    ///
    /// # Errors
    /// If the file cannot be read, is none of these, or has more than
    /// [`Attachment::MAX_BYTES`](super::Attachment::MAX_BYTES).
    pub fn open(path: impl AsRef<Path>) -> Result<Self, AttachmentError> {
        let bytes = data::read(path.as_ref())?;
        match kind::guess(&bytes).filter(|found| found.starts_with("audio/")) {
            Some(found) => Audio::bytes(found, bytes),
            None => Err(AttachmentError::new(format!(
                "{} does not begin like a WAV, MP3, FLAC or Ogg file; name its type with \
                 `Audio::bytes`",
                path.as_ref().display()
            ))),
        }
    }

    /// Returns the bytes.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// Returns the name of the format in requests, such as `wav` or `mp3`.
    pub fn format(&self) -> &str {
        match self.data.media_type().trim_start_matches("audio/") {
            "mpeg" | "mpeg3" | "x-mpeg-3" => "mp3",
            "wave" | "vnd.wave" => "wav",
            other => other.trim_start_matches("x-"),
        }
    }

    pub(super) fn tokens(&self) -> u64 {
        TOKENS
    }

    pub(super) fn most_tokens(&self) -> u64 {
        let bytes_of_a_token = match self.format() {
            "wav" => BYTES_OF_A_TOKEN,
            _ => PACKED_BYTES_OF_A_TOKEN,
        };
        (self.data.size() as u64)
            .div_ceil(bytes_of_a_token)
            .max(TOKENS)
    }

    /// `[audio audio/wav, 3200 bytes, #1f3a9c02]`
    pub(super) fn label(&self) -> String {
        format!("[audio {}]", label::data(&self.data))
    }
}
