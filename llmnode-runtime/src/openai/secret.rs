//! Keeps keys out of every text.

use std::fmt;

/// Shorter values are no secrets (`none`, `EMPTY`), and replacing them would garble every message.
const SHORTEST: usize = 8;

/// What keys of known providers begin with.
const PREFIXES: [&str; 9] = ["sk-", "sk_", "gsk_", "xai-", "hf_", "pplx-", "nvapi-", "AIza", "AKIA"];

const REDACTED: &str = "[redacted]";

/// A value that no `Debug` shows.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Secret(String);

impl Secret {
    pub(super) fn new(value: impl Into<String>) -> Self {
        Secret(value.into())
    }

    /// The value itself, for the request alone.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

/// The text without these secrets.
pub(super) fn without(mut text: String, secrets: &[Secret]) -> String {
    for secret in secrets.iter().map(Secret::reveal).filter(|value| value.len() >= SHORTEST) {
        if text.contains(secret) {
            text = text.replace(secret, REDACTED);
        }
    }
    text
}

/// The text without these secrets, and without anything that has the shape of a key or follows `Bearer`.
pub(super) fn redact(text: &str, secrets: &[Secret]) -> String {
    let text = without(text.to_owned(), secrets);
    let mut clean = String::with_capacity(text.len());
    let mut after_bearer = false;
    for piece in text.split_inclusive(|c: char| !is_key_character(c)) {
        let word = piece.trim_end_matches(|c: char| !is_key_character(c));
        let is_key = PREFIXES.iter().any(|prefix| word.starts_with(prefix)) && word.len() >= SHORTEST;
        let is_redacted = REDACTED.contains(word);
        if is_key || (after_bearer && word.len() >= SHORTEST && !is_redacted) {
            clean.push_str(REDACTED);
            clean.push_str(&piece[word.len()..]);
        } else {
            clean.push_str(piece);
        }
        after_bearer = word.eq_ignore_ascii_case("bearer") || (after_bearer && word.is_empty());
    }
    clean
}

/// Providers put stars into keys that they quote.
fn is_key_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '*' | '.' | '~' | '+' | '/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_and_shapes() {
        let secrets = [Secret::new("canary-value-1"), Secret::new("none")];
        for (text, clean) in [
            ("key canary-value-1, none", "key [redacted], none"),
            (
                "Incorrect API key provided: sk-test*****6789. You",
                "Incorrect API key provided: [redacted] You",
            ),
            ("Authorization: Bearer abcdefgh12345 sent", "Authorization: Bearer [redacted] sent"),
            ("Authorization: Bearer canary-value-1", "Authorization: Bearer [redacted]"),
            ("a bearer of news", "a bearer of news"),
            ("risk-averse task-1", "risk-averse task-1"),
            ("key=AIzaSy012345&x", "key=[redacted]&x"),
            ("größe sk-1234567", "größe [redacted]"),
            ("", ""),
        ] {
            assert_eq!(redact(text, &secrets), clean);
            assert_eq!(redact(clean, &secrets), clean, "once is enough");
        }
        assert_eq!(format!("{secrets:?}"), "[[redacted], [redacted]]");
    }
}
