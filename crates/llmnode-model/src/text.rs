//! Text helpers: hashes, and white space after documents.

use std::fmt;

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

/// The SHA-256 of these bytes.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    hmac_sha256::Hash::hash(bytes)
}

/// The SHA-256 of the text that is written to it, piece by piece.
#[derive(Default)]
pub struct Sha256Text(hmac_sha256::Hash);

impl Sha256Text {
    /// The hash of all that was written.
    pub fn end(self) -> [u8; 32] {
        self.0.finalize()
    }
}

/// It cannot fail.
impl fmt::Write for Sha256Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text);
        Ok(())
    }
}

/// The SHA-256 of these bytes, in hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in sha256(bytes) {
        hex.extend(
            [byte >> 4, byte & 15].map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)])),
        );
    }
    hex
}

/// FNV-1a, for labels only: a text with the same hash is easily found.
pub fn fnv(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte: &u8| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// Whether this is a hash of an older version: 64 bits, so that it can be forged.
pub fn is_old_hash(name: &str) -> bool {
    name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// This many bytes of white space after a complete document end an answer: some
/// models write it until they are stopped.
pub const PADDING: usize = 64;

/// Returns how many bytes of white space follow a complete object or list; 0 if the
/// text is neither.
pub fn padding(text: &str) -> usize {
    let document = text.trim_ascii_end();
    if is_document(document) {
        text.len() - document.len()
    } else {
        0
    }
}

/// Whether the text is a complete object or list.
pub fn is_document(text: &str) -> bool {
    text.trim_ascii_end().ends_with(['}', ']']) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

pub(crate) fn names(fields: &Map<String, Value>) -> Vec<&str> {
    fields.keys().map(String::as_str).collect()
}
