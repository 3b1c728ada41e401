//! Lists of batches, page after page.

use llmnode_model::{Category, ModelError};

/// Of a hundred batches each.
/// A bound, so that a list that goes in circles ends.
pub(crate) const MOST_PAGES: usize = 1_000;

/// A batch that was not among so many may still be there, so that this is no "not found".
pub(crate) fn too_many_pages() -> ModelError {
    let message = format!("the list of batches has more than {MOST_PAGES} pages");
    ModelError::new(Category::BadResponse, message)
}

/// As a value in a query. OpenAI's and Anthropic's lists go on after an id, which needs no escapes.
#[cfg(feature = "gemini")]
pub(crate) fn percent_encoded(text: &str) -> String {
    use std::fmt::Write as _;
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            byte if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) => {
                encoded.push(char::from(byte));
            }
            byte => {
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    encoded
}

#[cfg(all(test, feature = "gemini"))]
mod tests {
    use super::percent_encoded;

    #[test]
    fn a_token_stays_one_value() {
        assert_eq!(percent_encoded("a-b_c="), "a-b_c%3D");
        assert_eq!(percent_encoded("x+/&y"), "x%2B%2F%26y");
    }
}
