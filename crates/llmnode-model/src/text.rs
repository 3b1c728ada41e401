//! Text helpers: hashes, and white space after documents.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

/// The SHA-256 of these bytes.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    hmac_sha256::Hash::hash(bytes)
}

/// The SHA-256 of these bytes, in hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in sha256(bytes) {
        hex.extend([byte >> 4, byte & 15].map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)])));
    }
    hex
}

/// FNV-1a, for labels only: a text with the same hash is easily found.
pub fn fnv(bytes: &[u8]) -> u64 {
    let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, fold)
}

/// Whether this is a hash of an older version: 64 bits, so that it can be forged.
pub fn is_old_hash(name: &str) -> bool {
    name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a person does not see this character, or sees others in another order because of it: control characters but line ends
/// and tabs, zero-width ones, those that change the direction of a text, and spaces that look like the usual one.
pub fn is_hidden(c: char) -> bool {
    let control = c.is_control() && !matches!(c, '\n' | '\t');
    let unseen = matches!(c,
        '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{1680}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}'
        | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}');
    control || unseen
}

/// Writes each character that a person does not see as JSON writes it, such as `\u202e`: within a string of JSON it is the same text.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| shown.push_str(&format!("\\u{unit:04x}")));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// This many bytes of white space after a complete document end an answer: some models write it until they are stopped.
pub const PADDING: usize = 64;

/// Returns how many bytes of white space follow a complete object or list; 0 if the text is neither.
pub fn padding(text: &str) -> usize {
    let document = text.trim_ascii_end();
    if is_document(document) { text.len() - document.len() } else { 0 }
}

/// Whether the text is a complete object or list.
pub fn is_document(text: &str) -> bool {
    text.trim_ascii_end().ends_with(['}', ']']) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

pub(crate) fn names(fields: &Map<String, Value>) -> Vec<&str> {
    fields.keys().map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_does_not_see_is_written_out() {
        let text = "pay\u{202e} 5\u{200b}\u{9b}\u{1b}\u{e0041}\ta\nb";
        assert_eq!(visible(text), "pay\\u202e 5\\u200b\\u009b\\u001b\\udb40\\udc41\ta\nb");
        let read: String = serde_json::from_str(&format!("\"{}\"", visible("a\u{202e}\u{e0041}b"))).unwrap();
        assert_eq!(read, "a\u{202e}\u{e0041}b");
        assert_eq!(visible("Ärger, 北京, 😀"), "Ärger, 北京, 😀");
    }
}
