//! Files, such as PDFs.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::data::{self, Data};
use super::error::AttachmentError;
use super::{kind, label, size};

const MAX_NAME: usize = 255;
/// About a page of a PDF, as text and as an image.
const TOKENS_OF_A_PAGE: u64 = 1500;
const MOST_OF_A_PAGE: u64 = 3_000;

/// A file that a model reads, such as a PDF: its bytes, or the id that the provider
/// gave it. Clones share the content.
///
/// If a provider reports no usage, it is estimated at 1500 tokens a page, and a
/// text at a quarter of a token per byte. The pages of a file that packs them, or
/// that is no PDF, are assumed to have 20 kB.
///
/// ```
/// # use llmnode_model as llmnode;
/// use llmnode::{File, Message};
///
/// let notes = File::bytes("notes.txt", "text/plain", "The key is under the mat.")?; // or `File::open("notes.txt")?`
/// let question = Message::user("Where is the key?").attach(notes); // in a prompt: `{notes:attach}`
/// assert_eq!(question.attachments().count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct File {
    source: Source,
}

#[derive(Clone, PartialEq, Eq)]
enum Source {
    Id(Arc<str>),
    Data {
        name: Arc<str>,
        data: Data,
        pages: u64,
    },
}

impl File {
    /// Creates a file from bytes, with a name that the model sees and a media type
    /// such as `application/pdf`. A parameter of the type is dropped.
    ///
    /// # Errors
    /// If it is not a media type, the name is empty, longer than 255 bytes or has a
    /// control character, or there are no bytes or more than
    /// [`Attachment::MAX_BYTES`](super::Attachment::MAX_BYTES).
    pub fn bytes(
        name: &str,
        media_type: &str,
        bytes: impl AsRef<[u8]>,
    ) -> Result<Self, AttachmentError> {
        check("name", name)?;
        let bytes = bytes.as_ref();
        let data = Data::new(&kind::media_type(media_type)?, bytes)?;
        let pages = if is_text(data.media_type()) {
            0
        } else {
            size::pages(bytes)
        };
        Ok(File {
            source: Source::Data {
                name: name.into(),
                data,
                pages,
            },
        })
    }

    /// Creates a file that was uploaded to the provider, from the id that the provider gave it.
    ///
    /// # Errors
    /// If the id is empty, longer than 255 bytes or has a control character.
    pub fn id(id: &str) -> Result<Self, AttachmentError> {
        check("id", id)?;
        Ok(File {
            source: Source::Id(id.into()),
        })
    }

    pub(crate) fn data_url(name: &str, url: &str) -> Result<Self, AttachmentError> {
        let (media_type, bytes) = data::decode(url)?;
        File::bytes(name, media_type, bytes)
    }

    pub(crate) fn neither_id_nor_data() -> AttachmentError {
        AttachmentError::new(
            "a file has a `file_id`, or a `filename` and `file_data`, and nothing else",
        )
    }

    /// Reads a PDF or a text in UTF-8 from disk; the bytes decide which it is. Its
    /// name is the last part of the path. It blocks the thread. In async code, read
    /// the file with `tokio::fs::read` and pass it to [`bytes`](File::bytes).
    ///
    /// # Errors
    /// If the file cannot be read, is neither, or has more than
    /// [`Attachment::MAX_BYTES`](super::Attachment::MAX_BYTES).
    pub fn open(path: impl AsRef<Path>) -> Result<Self, AttachmentError> {
        let path = path.as_ref();
        let bytes = data::read(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match kind::guess(&bytes) {
            Some(found @ "application/pdf") => File::bytes(&name, found, &bytes),
            None if is_utf8_text(&bytes) => File::bytes(&name, "text/plain", &bytes),
            _ => Err(AttachmentError::new(format!(
                "{} is neither a PDF nor a text in UTF-8; name its type with `File::bytes`",
                path.display()
            ))),
        }
    }

    /// Returns the id that the provider gave it. `None`: the request has the bytes.
    pub fn uploaded(&self) -> Option<&str> {
        if let Source::Id(id) = &self.source {
            Some(id)
        } else {
            None
        }
    }

    /// Returns the name that the model sees, and the bytes. `None`: the provider has them.
    pub fn data(&self) -> Option<(&str, &Data)> {
        if let Source::Data { name, data, .. } = &self.source {
            Some((name, data))
        } else {
            None
        }
    }

    pub(super) fn sent_bytes(&self) -> usize {
        match &self.source {
            Source::Id(id) => id.len(),
            Source::Data { name, data, .. } => name.len() + data.as_url().len(),
        }
    }

    /// `[file "report.pdf" application/pdf, 5120 bytes, #1f3a9c02]`
    pub(super) fn label(&self) -> String {
        match &self.source {
            Source::Id(id) => format!("[file id {id:?}]"),
            Source::Data { name, data, .. } => format!("[file {name:?} {}]", label::data(data)),
        }
    }

    pub(super) fn tokens(&self) -> u64 {
        match &self.source {
            Source::Data { data, pages: 0, .. } => data.size() as u64 / 4,
            Source::Data { pages, .. } => TOKENS_OF_A_PAGE.saturating_mul(*pages),
            Source::Id(_) => TOKENS_OF_A_PAGE,
        }
    }

    /// No tokenizer makes more than one token of a byte.
    pub(super) fn most_tokens(&self) -> u64 {
        match &self.source {
            Source::Data { data, pages: 0, .. } => data.size() as u64,
            Source::Data { pages, .. } => MOST_OF_A_PAGE.saturating_mul(*pages),
            Source::Id(_) => MOST_OF_A_PAGE,
        }
    }
}

fn is_text(media_type: &str) -> bool {
    const SUBTYPES: [&str; 4] = ["json", "xml", "yaml", "csv"];
    media_type.starts_with("text/") || SUBTYPES.iter().any(|subtype| media_type.ends_with(subtype))
}

fn check(what: &str, word: &str) -> Result<(), AttachmentError> {
    let fault = if word.trim().is_empty() {
        "is empty"
    } else if word.len() > MAX_NAME {
        "is longer than 255 bytes"
    } else if word.contains(char::is_control) {
        "contains a control character"
    } else {
        return Ok(());
    };
    Err(AttachmentError::new(format!(
        "the {what} of the file {fault}"
    )))
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File")
            .field("source", &self.source)
            .finish()
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Id(id) => write!(f, "Id({} bytes)", id.len()),
            Source::Data { data, .. } => data.fmt(f),
        }
    }
}

fn is_utf8_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0'))
}
