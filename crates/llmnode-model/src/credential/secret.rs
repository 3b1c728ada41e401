//! Keeps keys out of every text.

use std::fmt;

/// Shorter values are replaced only as complete words, and never recognised by their prefix.
const LONG: usize = 8;

/// Shorter values can be guessed anyway.
const SHORTEST: usize = 4;

/// Entered where a key is asked for but not needed.
const PLACEHOLDERS: [&str; 10] = [
    "none", "null", "empty", "dummy", "test", "fake", "local", "ollama", "no-key", "token",
];

/// Of keys of model providers, GitHub, GitLab, Slack and clouds.
const PREFIXES: [&str; 21] = [
    "sk-",
    "sk_",
    "gsk_",
    "xai-",
    "hf_",
    "pplx-",
    "nvapi-",
    "AIza",
    "AKIA",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxa-",
    "xoxb-",
    "xoxp-",
    "xoxr-",
    "xoxs-",
];

const REDACTED: &str = "[redacted]";

/// A value that no `Debug` shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A value that is not to be shown.
    pub fn new(value: impl Into<String>) -> Self {
        Secret(value.into())
    }

    /// The value itself, for the request alone.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

/// The text without these secrets.
pub fn redact_secrets(mut text: String, secrets: &[Secret]) -> String {
    for secret in secrets.iter().map(Secret::reveal) {
        if secret.len() < SHORTEST || !text.contains(secret) {
            continue;
        }
        if secret.len() >= LONG || !secret.chars().all(is_key_character) {
            text = text.replace(secret, REDACTED);
        } else if !is_placeholder(secret) {
            text = redact_words(&text, |word| word == secret);
        }
    }
    text
}

fn is_placeholder(secret: &str) -> bool {
    PLACEHOLDERS
        .iter()
        .any(|word| word.eq_ignore_ascii_case(secret))
}

fn redact_words(text: &str, is_secret: impl Fn(&str) -> bool) -> String {
    let mut clean = String::with_capacity(text.len());
    for piece in text.split_inclusive(|c: char| !is_key_character(c)) {
        let word = piece.trim_end_matches(|c: char| !is_key_character(c));
        // A full stop is not part of the word before it.
        let core = word.trim_end_matches('.');
        clean.push_str(if is_secret(core) { REDACTED } else { core });
        clean.push_str(&piece[core.len()..]);
    }
    clean
}

/// The text without these secrets, and without anything that has the shape of a key
/// or follows `Bearer`.
pub fn redact(text: &str, secrets: &[Secret]) -> String {
    let text = redact_secrets(text.to_owned(), secrets);
    let mut clean = String::with_capacity(text.len());
    let mut after_bearer = false;
    for piece in text.split_inclusive(|c: char| !is_key_character(c)) {
        let word = piece.trim_end_matches(|c: char| !is_key_character(c));
        let is_key = has_key_prefix(word);
        let is_redacted = REDACTED.contains(word);
        if is_key || (after_bearer && word.len() >= LONG && !is_redacted) {
            clean.push_str(REDACTED);
            clean.push_str(&piece[word.len()..]);
        } else {
            clean.push_str(piece);
        }
        after_bearer = word.eq_ignore_ascii_case("bearer") || (after_bearer && word.is_empty());
    }
    clean
}

/// Whether the word begins as keys of a known kind do.
pub(super) fn has_key_prefix(word: &str) -> bool {
    word.len() >= LONG && PREFIXES.iter().any(|prefix| word.starts_with(prefix))
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
        let secrets = ["canary-value-1", "none", "s3cr", "abc", " ", ""].map(Secret::new);
        for (text, clean) in [
            ("key canary-value-1, none", "key [redacted], none"),
            (
                "Incorrect API key provided: sk-test*****6789. You",
                "Incorrect API key provided: [redacted] You",
            ),
            (
                "Authorization: Bearer abcdefgh12345 sent",
                "Authorization: Bearer [redacted] sent",
            ),
            (
                "Authorization: Bearer canary-value-1",
                "Authorization: Bearer [redacted]",
            ),
            (
                "the key s3cr, `s3cr`. s3cr.",
                "the key [redacted], `[redacted]`. [redacted].",
            ),
            ("s3crets and abc", "s3crets and abc"),
            ("a bearer of news", "a bearer of news"),
            ("risk-averse task-1", "risk-averse task-1"),
            ("key=AIzaSy012345&x", "key=[redacted]&x"),
            ("größe sk-1234567", "größe [redacted]"),
            ("", ""),
        ] {
            assert_eq!(redact(text, &secrets), clean);
            assert_eq!(redact(clean, &secrets), clean, "once is enough");
        }
        assert_eq!(format!("{:?}", secrets[0]), "[redacted]");
    }
}
