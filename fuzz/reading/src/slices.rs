//! What serde_json makes of the parts of a text.

use serde::de::DeserializeOwned;
use serde_json::Deserializer;

/// Whether some part of `text` is JSON that serde_json reads as `value`.
pub(crate) fn any_is<T: DeserializeOwned + PartialEq>(text: &str, value: &T) -> bool {
    starts(text).any(|start| read::<T>(&text[start..]).as_ref() == Some(value))
}

fn starts(text: &str) -> impl Iterator<Item = usize> {
    let begins = |c: char| c.is_ascii_digit() || "{[\"-tfn".contains(c);
    text.char_indices()
        .filter(move |(_, c)| begins(*c))
        .map(|(at, _)| at)
}

fn read<T: DeserializeOwned>(text: &str) -> Option<T> {
    T::deserialize(&mut Deserializer::from_str(text)).ok()
}

/// The text without white space and marks around it, as the reader takes it.
pub(crate) fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}'..='\u{200d}' | '\u{2060}')
    })
}
