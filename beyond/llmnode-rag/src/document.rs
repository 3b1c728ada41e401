//! Documents, as they are written into a store.

use std::collections::BTreeMap;

use llmnode_runtime::{Category, NodeError};
use serde_json::Value;

/// Metadata of a document, by name: texts, numbers and booleans.
pub type Metadata = BTreeMap<String, Value>;

/// A text, and where it comes from. Its `Debug` form does not show the text.
///
/// ```
/// # use llmnode_rag as llmnode;
/// use llmnode::Document;
///
/// let page = Document::new("manual.md", "The key is under the mat.").meta("language", "en").meta("year", 2026);
/// assert_eq!(page.source, "manual.md");
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Document {
    /// The name of the source, such as a path or a URL. Writing a source again replaces its old text.
    pub source: String,
    /// The text.
    pub text: String,
    /// Metadata by which searches can be filtered.
    pub metadata: Metadata,
}

/// What a collection writes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a document",
    label = "not a document",
    note = "write `Document::new(source, text)`, with the name under which the text is replaced and cited"
)]
pub trait IntoDocument {
    /// Itself.
    fn into_document(self) -> Document;
}

impl IntoDocument for Document {
    fn into_document(self) -> Document {
        self
    }
}

impl Document {
    /// Creates a document without metadata.
    pub fn new(source: impl Into<String>, text: impl Into<String>) -> Self {
        Document {
            source: source.into(),
            text: text.into(),
            metadata: Metadata::new(),
        }
    }

    /// Adds metadata: a text, a number or a boolean under a name of 1 to 64 characters. A second value of a name replaces
    /// the first.
    #[must_use]
    pub fn meta(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }

    /// Whether a store can hold it.
    pub(crate) fn check(&self) -> Result<(), NodeError> {
        let length = self.source.len();
        let fault = if length == 0 || length > 1024 {
            format!("a document's source has {length} bytes; a source has 1 to 1024")
        } else if let Err(why) = check_metadata(&self.metadata) {
            format!("the document {:?} has {why}", self.source)
        } else {
            return Ok(());
        };
        Err(NodeError::new(Category::ConfigError, fault))
    }
}

impl std::fmt::Debug for Document {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let length = self.text.len();
        let text = format_args!("{length} bytes");
        f.debug_struct("Document")
            .field("source", &self.source)
            .field("text", &text)
            .finish_non_exhaustive()
    }
}

pub(crate) fn check_metadata(metadata: &Metadata) -> Result<(), String> {
    for (name, value) in metadata {
        if name.is_empty() || name.len() > 64 {
            return Err(format!(
                "metadata of the name {name:?}; a name has 1 to 64 bytes"
            ));
        }
        // Stores use names with a colon themselves.
        if name.contains(':') {
            return Err(format!(
                "metadata of the name {name:?}; leave out the colon"
            ));
        }
        if !(value.is_string() || value.is_boolean() || value.is_number()) {
            return Err(format!(
                "metadata {name:?} that is neither a text nor a number nor a boolean; write lists as several documents, or as a text"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_no_store_can_hold_is_refused_by_name() {
        let message = |document: Document| document.check().unwrap_err().message().to_owned();
        assert!(message(Document::new("", "text")).contains("0 bytes"));
        assert!(message(Document::new("a", "").meta("tags", json!(["x"]))).contains("\"tags\""));
        assert!(message(Document::new("a", "").meta("in:a", 1)).contains("colon"));
        assert!(message(Document::new("a", "").meta("", 1)).contains("1 to 64"));
        assert!(
            Document::new("a", "")
                .meta("year", 1.5)
                .meta("draft", false)
                .check()
                .is_ok()
        );
    }

    #[test]
    fn debug_shows_no_text() {
        let shown = format!("{:?}", Document::new("a.md", "secret words"));
        assert!(shown.contains("a.md") && shown.contains("12 bytes") && !shown.contains("secret"));
    }
}
