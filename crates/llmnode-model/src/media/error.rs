//! Why something cannot be attached.

/// Why something cannot be attached. It shows no content, but the path of a file
/// that cannot be read.
///
/// In a function that returns `NodeError`, `?` makes it a `prep_error`.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct AttachmentError {
    message: String,
    #[source]
    source: Option<std::io::Error>,
}

impl AttachmentError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        AttachmentError {
            message: message.into(),
            source: None,
        }
    }

    pub(super) fn unreadable(path: &std::path::Path, source: std::io::Error) -> Self {
        AttachmentError {
            message: format!("{} cannot be read: {source}", path.display()),
            source: Some(source),
        }
    }
}
