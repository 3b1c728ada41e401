//! Bytes as requests carry them: a data URL, encoded once.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::error::AttachmentError;
use super::kind;

/// The bytes of an attachment, in base64, with their media type. Clones share them.
#[derive(Clone, PartialEq, Eq)]
pub struct Data {
    /// `data:image/png;base64,…`
    url: Arc<str>,
    /// Where the base64 begins.
    from: usize,
    size: usize,
}

pub(super) const MAX_BYTES: usize = 20 * 1024 * 1024;
const SCHEME: &str = "data:";
const ENCODING: &str = ";base64,";

impl Data {
    pub(super) fn new(media_type: &str, bytes: &[u8]) -> Result<Self, AttachmentError> {
        let size = bytes.len();
        if size == 0 {
            return Err(AttachmentError::new(format!(
                "there are no bytes of type {media_type}"
            )));
        }
        if size > MAX_BYTES {
            return Err(too_large(&format!("attachment of type {media_type}"), size));
        }
        let from = SCHEME.len() + media_type.len() + ENCODING.len();
        let mut url = String::with_capacity(from + size.div_ceil(3) * 4);
        url.extend([SCHEME, media_type, ENCODING]);
        STANDARD.encode_string(bytes, &mut url);
        Ok(Data {
            url: url.into(),
            from,
            size,
        })
    }

    /// Returns the media type, such as `image/png`.
    pub fn media_type(&self) -> &str {
        &self.url[SCHEME.len()..self.from - ENCODING.len()]
    }

    /// Returns the bytes in base64.
    pub fn base64(&self) -> &str {
        &self.url[self.from..]
    }

    /// Returns all of it as a URL: `data:image/png;base64,…`.
    pub fn as_url(&self) -> &str {
        &self.url
    }

    /// Returns the content, if it is text in UTF-8.
    pub fn text(&self) -> Option<String> {
        String::from_utf8(STANDARD.decode(self.base64()).ok()?).ok()
    }

    /// As [`text`](Self::text), also of a text in another encoding: its ASCII characters are right.
    pub(super) fn readable(&self) -> Option<String> {
        if !self.media_type().starts_with("text/") {
            return self.text();
        }
        let bytes = STANDARD.decode(self.base64()).ok()?;
        // UTF-16 has a zero beside each of them.
        let bytes: Vec<u8> = bytes.into_iter().filter(|byte| *byte != 0).collect();
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Whether a text is all that it is: a PDF may be written in letters, too.
    pub(super) fn is_text(&self) -> bool {
        const PDF: &str = "application/pdf";
        let Ok(bytes) = STANDARD.decode(self.base64()) else {
            return false;
        };
        let is_pdf = self.media_type() == PDF || kind::guess(&bytes) == Some(PDF);
        let is_named_text = self.media_type().starts_with("text/");
        !is_pdf && (is_named_text || std::str::from_utf8(&bytes).is_ok())
    }

    /// Returns how many bytes there are, before they are encoded.
    pub fn size(&self) -> usize {
        self.size
    }
}

impl std::fmt::Debug for Data {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Data {{ {}, {} bytes }}", self.media_type(), self.size)
    }
}

pub(super) fn decode(url: &str) -> Result<(&str, Vec<u8>), AttachmentError> {
    let scheme = url
        .get(..SCHEME.len())
        .filter(|scheme| scheme.eq_ignore_ascii_case(SCHEME));
    let (media_type, base64) = scheme
        .and_then(|_| url[SCHEME.len()..].split_once(ENCODING))
        .ok_or_else(|| {
            AttachmentError::new("the data URL is not in base64; write `data:image/png;base64,…`")
        })?;
    let size = base64.len() / 4 * 3;
    if size > MAX_BYTES + 3 {
        return Err(too_large("data URL", size));
    }
    let bytes = STANDARD.decode(base64);
    bytes
        .map(|bytes| (media_type, bytes))
        .map_err(|_| AttachmentError::new("the base64 of the data URL is broken"))
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, AttachmentError> {
    // Checked before it is opened: opening a pipe waits for its other end.
    let about =
        std::fs::metadata(path).map_err(|source| AttachmentError::unreadable(path, source))?;
    if !about.is_file() {
        return Err(AttachmentError::new(format!(
            "{} is not a file",
            path.display()
        )));
    }
    let mut bytes = Vec::new();
    let most = MAX_BYTES as u64 + 1;
    std::fs::File::open(path)
        .and_then(|file| file.take(most).read_to_end(&mut bytes))
        .map_err(|source| AttachmentError::unreadable(path, source))?;
    if bytes.len() > MAX_BYTES {
        let size = usize::try_from(about.len())
            .unwrap_or(usize::MAX)
            .max(bytes.len());
        return Err(too_large(&format!("file {}", path.display()), size));
    }
    Ok(bytes)
}

fn too_large(what: &str, size: usize) -> AttachmentError {
    AttachmentError::new(format!(
        "the {what} has {size} bytes, more than the {MAX_BYTES} that an attachment may have; make \
         it smaller, or name it by its URL or its id at the provider"
    ))
}
