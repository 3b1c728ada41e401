//! Lists of batches, page after page.
//!
//! A list says that a batch is not there, and then it is sent. So one that cannot be
//! read is an error, and never an empty one.

use std::time::Duration;

use llmnode_model::{Category, ModelError};
use serde_json::Value;

/// Of a hundred batches each.
/// A bound, so that a list that goes in circles ends.
pub(crate) const MOST_PAGES: usize = 1_000;

/// So far may this machine's clock be from a provider's: a time zone taken for
/// another is the most. What a batch is known by is read in any case.
pub(crate) const CLOCKS_DIFFER: Duration = Duration::from_secs(14 * 3_600);

/// A batch that was not among so many may still be there, so that this is no "not found".
pub(crate) fn too_many_pages() -> ModelError {
    let message = format!("the list of batches has more than {MOST_PAGES} pages");
    ModelError::new(Category::BadResponse, message)
}

/// What a server answered in place of a list.
pub(crate) fn no_list() -> ModelError {
    let message = "the answer is no list of batches that can be read";
    ModelError::new(Category::BadResponse, message)
}

/// A page as OpenAI and Anthropic write it.
pub(crate) struct Page {
    pub(crate) batches: Vec<Value>,
    has_more: bool,
}

impl Page {
    pub(crate) fn of(mut list: Value) -> Result<Self, ModelError> {
        let has_more = list["has_more"] == true;
        // As servers in Go write a list without members.
        let is_empty = list["object"] == "list" && !has_more;
        match list.get_mut("data").map(Value::take) {
            Some(Value::Array(batches)) => Ok(Page { batches, has_more }),
            Some(Value::Null) if is_empty => Ok(Page {
                batches: Vec::new(),
                has_more,
            }),
            _ => Err(no_list()),
        }
    }

    /// The id after which the next page begins. `None`: this is the last one.
    pub(crate) fn next(&self) -> Result<Option<&str>, ModelError> {
        if !self.has_more {
            return Ok(None);
        }
        let last = self.batches.last().and_then(|last| last["id"].as_str());
        last.map(Some).ok_or_else(no_list)
    }
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_no_list_is_no_empty_one() {
        for answer in [
            json!({"error": {"message": "busy"}}),
            json!({"data": null, "has_more": false}),
            json!([]),
            json!("busy"),
        ] {
            assert!(Page::of(answer.clone()).is_err(), "{answer}");
        }
        let of_go = json!({"object": "list", "data": null, "has_more": false});
        assert!(Page::of(of_go).unwrap().batches.is_empty());
        let cut = json!({"data": [{"status": "completed"}], "has_more": true});
        assert!(Page::of(cut).unwrap().next().is_err());
        let all = Page::of(json!({"data": []})).unwrap();
        assert_eq!(all.next().unwrap(), None);
    }

    #[cfg(feature = "gemini")]
    #[test]
    fn a_token_stays_one_value() {
        assert_eq!(percent_encoded("a-b_c="), "a-b_c%3D");
        assert_eq!(percent_encoded("x+/&y"), "x%2B%2F%26y");
    }
}
