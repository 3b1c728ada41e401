//! Images.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::data::{self, Data};
use super::error::AttachmentError;
use super::size::Pixels;
use super::{kind, label};

const MAX_URL: usize = 16 * 1024;
/// Of the whole image, and of an image at low detail.
const TOKENS: u64 = 85;
/// Of a tile, as OpenAI counts them.
const TOKENS_OF_A_TILE: u64 = 170;
/// Of a tile, where a provider counts most: Anthropic's, a token for 750 pixels.
const MOST_OF_A_TILE: u64 = 350;
/// Of an image whose pixels nobody knows: 1024 × 1024.
const TILES: u64 = 4;
const MOST_TOKENS: u64 = 3_000;
const TILE: u32 = 512;
/// A larger one is made smaller.
const LONGEST: u32 = 2048;

/// An image: its bytes, or a URL that the provider reads. Clones share the content.
///
/// Most providers accept PNG, JPEG, GIF and WebP. A model without vision answers
/// with an error of its provider, most often a `bad_request`.
///
/// If a provider reports no usage, it is estimated by its tiles of 512 × 512
/// pixels, once it fits into 2048 × 2048: 85 tokens, and 170 for each; at 765 if
/// its pixels are unknown, at 85 with [`Detail::Low`].
///
/// ```
/// # use llmnode_model as llmnode;
/// use llmnode::{Image, Message};
///
/// let photo = Image::bytes("image/png", b"\x89PNG\r\n\x1a\n...")?; // or `Image::open("photo.png")?`
/// let message = Message::user("What is this?").attach(photo);
/// # let _ = message;
/// # Ok::<(), llmnode::media::AttachmentError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    source: Source,
    detail: Option<Detail>,
    pixels: Option<Pixels>,
}

#[derive(Clone, PartialEq, Eq)]
enum Source {
    Url(Arc<str>),
    Data(Data),
}

/// How closely a model looks at an image. The provider decides what that means in
/// pixels and tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Detail {
    /// The provider decides.
    Auto,
    /// A small copy of it, at a low and flat price.
    Low,
    /// In full.
    High,
}

impl Detail {
    /// Returns its name in requests: `auto`, `low` or `high`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Detail::Auto => "auto",
            Detail::Low => "low",
            Detail::High => "high",
        }
    }
}

impl Image {
    /// Creates an image at an `http` or `https` URL, which the *provider* reads;
    /// llmnode never does. A `data:` URL in base64 is read like
    /// [`bytes`](Image::bytes).
    ///
    /// A model server in your network may reach addresses that your users cannot.
    /// Check URLs that come from them.
    ///
    /// # Errors
    /// If it is not such a URL, or is longer than 16 KiB.
    pub fn url(url: impl AsRef<str>) -> Result<Self, AttachmentError> {
        let url = url.as_ref();
        if starts_with(url, "data:") {
            let (media_type, bytes) = data::decode(url)?;
            return Image::bytes(media_type, bytes);
        }
        let host = ["https://", "http://"]
            .into_iter()
            .find(|scheme| starts_with(url, scheme))
            .map(|scheme| &url[scheme.len()..]);
        let fault = match host {
            None => "does not begin with `https://`, `http://` or `data:`",
            Some(host) if host.is_empty() || host.starts_with(['/', '?', '#']) => "names no host",
            Some(_) if url.len() > MAX_URL => "is longer than 16 KiB",
            Some(_) if url.contains(|c: char| c.is_control() || c.is_whitespace()) => {
                "contains a space or a control character, which must be escaped"
            }
            Some(_) => {
                return Ok(Image {
                    source: Source::Url(url.into()),
                    detail: None,
                    pixels: None,
                });
            }
        };
        Err(AttachmentError::new(format!(
            "the URL of the image {fault}"
        )))
    }

    /// Creates an image from bytes of this media type, such as `image/png`. A
    /// parameter of the type is dropped.
    ///
    /// # Errors
    /// If the type is not a media type of images, there are no bytes or more than
    /// [`Attachment::MAX_BYTES`](super::Attachment::MAX_BYTES), or they clearly have another type.
    pub fn bytes(media_type: &str, bytes: impl AsRef<[u8]>) -> Result<Self, AttachmentError> {
        let media_type = kind::media_type(media_type)?;
        let bytes = bytes.as_ref();
        if !media_type.starts_with("image/") {
            let message = format!(
                "`{media_type}` is not an image media type; attach it as a `File` or `Audio`"
            );
            return Err(AttachmentError::new(message));
        }
        if let Some(other) = kind::guess(bytes).filter(|found| *found != media_type) {
            return Err(AttachmentError::new(format!(
                "the bytes of the {media_type} are of type {other}"
            )));
        }
        let data = Data::new(&media_type, bytes)?;
        Ok(Image {
            source: Source::Data(data),
            detail: None,
            pixels: Pixels::of(bytes),
        })
    }

    /// Reads an image from disk. Its first bytes determine the type: PNG, JPEG, GIF, WebP or BMP.
    ///
    /// It blocks the thread. In async code, read the file with `tokio::fs::read` and pass it to
    /// [`bytes`](Image::bytes).
    ///
    /// # Errors
    /// If the file cannot be read, is none of these, or has more than
    /// [`Attachment::MAX_BYTES`](super::Attachment::MAX_BYTES).
    pub fn open(path: impl AsRef<Path>) -> Result<Self, AttachmentError> {
        let bytes = data::read(path.as_ref())?;
        match kind::guess(&bytes).filter(|found| found.starts_with("image/")) {
            Some(found) => Image::bytes(found, bytes),
            None => Err(AttachmentError::new(format!(
                "{} does not begin like a PNG, JPEG, GIF, WebP or BMP file; name its type with \
                 `Image::bytes`",
                path.as_ref().display()
            ))),
        }
    }

    /// Sets how closely the model looks. Default: the provider's.
    #[must_use]
    pub fn detail(mut self, detail: Detail) -> Self {
        self.detail = Some(detail);
        self
    }

    /// Returns what [`detail`](Image::detail) set.
    pub fn given_detail(&self) -> Option<Detail> {
        self.detail
    }

    /// Returns the URL as it is sent, `data:…` for bytes.
    pub fn as_url(&self) -> &str {
        match &self.source {
            Source::Url(url) => url,
            Source::Data(data) => data.as_url(),
        }
    }

    /// Returns the bytes. `None`: the image is at a URL.
    pub fn data(&self) -> Option<&Data> {
        match &self.source {
            Source::Url(_) => None,
            Source::Data(data) => Some(data),
        }
    }

    /// `[image image/png, 68 bytes, #1f3a9c02]`
    pub(super) fn label(&self) -> String {
        let source = match &self.source {
            Source::Url(url) => label::url(url),
            Source::Data(data) => label::data(data),
        };
        match self.detail {
            Some(detail) => format!("[image {source}, detail {}]", detail.as_str()),
            None => format!("[image {source}]"),
        }
    }

    pub(super) fn tokens(&self) -> u64 {
        match self.detail {
            Some(Detail::Low) => TOKENS,
            _ => TOKENS + TOKENS_OF_A_TILE * self.tiles().unwrap_or(TILES),
        }
    }

    /// Not all providers know a low detail.
    pub(super) fn most_tokens(&self) -> u64 {
        self.tiles()
            .map_or(MOST_TOKENS, |tiles| TOKENS + MOST_OF_A_TILE * tiles)
    }

    fn tiles(&self) -> Option<u64> {
        self.pixels.map(|pixels| pixels.tiles(TILE, LONGEST))
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Image");
        match &self.source {
            Source::Url(url) => shown.field("url", &format_args!("{} bytes", url.len())),
            Source::Data(data) => shown.field("data", data),
        };
        shown.field("detail", &self.detail).finish()
    }
}

/// Schemes are written in any case.
fn starts_with(url: &str, scheme: &str) -> bool {
    url.get(..scheme.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
}
