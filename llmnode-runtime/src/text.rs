//! Text helpers: hashes, and cutting.

use llmnode_reader::internal::{floor_char_boundary, one_line};
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

/// The SHA-256 of these bytes, in hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in hmac_sha256::Hash::hash(bytes) {
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

/// This many bytes of white space after a complete document end an answer: some models write it until they are stopped.
pub const PADDING: usize = 64;

/// Returns how many bytes of white space follow a complete object or list; 0 if the text is neither.
pub fn padding(text: &str) -> usize {
    let document = text.trim_ascii_end();
    if is_document(document) { text.len() - document.len() } else { 0 }
}

pub(crate) fn is_document(text: &str) -> bool {
    text.trim_ascii_end().ends_with(['}', ']']) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Builds a regex, given the limit of its program in bytes, and returns it with the longest text to search in. The time of a
/// search is at most the size of the program times that of the text. A regex does not report its size, so this finds the
/// smallest limit that lets it pass.
///
/// # Errors
/// The pattern is invalid, or its program is larger than 16 KiB.
pub fn bounded_regex<R, E>(build: impl Fn(usize) -> Result<R, E>) -> Result<(R, usize), E> {
    let (step, most, work) = (256, 16 * 1024, 50 << 20);
    let regex = build(most)?;
    let (mut low, mut high) = (1, most / step);
    while low < high {
        let middle = (low + high) / 2;
        if build(middle * step).is_ok() { high = middle } else { low = middle + 1 }
    }
    Ok((regex, work / (high * step)))
}

/// A `Debug` that shows only these fields: the others are content, or of no use to a reader.
macro_rules! impl_debug {
    ($([$($generics:tt)*])? $name:ident $(<$($arguments:tt),*>)?: $($field:ident),*) => {
        impl<$($($generics)*)?> std::fmt::Debug for $name $(<$($arguments),*>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name))$(.field(stringify!($field), &self.$field))*.finish_non_exhaustive()
            }
        }
    };
}
pub(crate) use impl_debug;

macro_rules! const_setters {
    ($($(#[$about:meta])* $setting:ident: $type:ty,)*) => {$(
        $(#[$about])*
        #[must_use]
        pub const fn $setting(mut self, $setting: $type) -> Self {
            self.$setting = Some($setting);
            self
        }
    )*};
}
pub(crate) use const_setters;

pub(crate) fn cut(mut text: String, cap: usize) -> String {
    if text.len() > cap {
        text.truncate(floor_char_boundary(&text, cap));
        text.shrink_to_fit();
    }
    text
}

/// A path of names, such as `a -> b -> … -> c`; of a long one the first and the last.
pub(crate) fn shortened(path: &[&str]) -> String {
    const SHOWN: usize = 3;
    let join =
        |names: &[&str]| names.iter().map(|name| one_line(*name, 100)).collect::<Vec<_>>().join(" -> ");
    match path.len() {
        all if all <= 2 * SHOWN + 1 => join(path),
        all => format!("{} -> … -> {}", join(&path[..SHOWN]), join(&path[all - SHOWN..])),
    }
}

pub(crate) fn names(fields: &Map<String, Value>) -> Vec<&str> {
    fields.keys().map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_between_characters() {
        assert_eq!(cut("häuser".to_owned(), 2), "h");
    }
}
