//! Keeps keys out of every text.

use std::fmt;
use std::sync::Arc;

use super::forms::{LONG, has_key_prefix, written_forms};

/// Shorter values can be guessed anyway.
const SHORTEST: usize = 4;

/// Entered where a key is asked for but not needed.
const PLACEHOLDERS: [&str; 10] = [
    "none", "null", "empty", "dummy", "test", "fake", "local", "ollama", "no-key", "token",
];

const REDACTED: &str = "[redacted]";

/// Stands where a text was cut.
const CUT: char = '…';

/// A value that no `Debug` shows.
#[derive(Clone)]
pub struct Secret {
    value: String,
    /// As it may stand in texts, the longest first.
    forms: Arc<[String]>,
}

impl Secret {
    /// A value that is not to be shown.
    pub fn new(value: impl Into<String>) -> Self {
        let value = value.into();
        let forms = match value.len() {
            0..LONG => vec![value.clone()],
            _ => written_forms(&value),
        };
        Secret {
            value,
            forms: forms.into(),
        }
    }

    /// Bytes of the longest form in which texts may have it. Where a text is cut,
    /// so many bytes may be the rest of it.
    pub fn longest_form(&self) -> usize {
        self.forms.first().map_or(0, String::len)
    }

    /// The value itself, for the request alone.
    pub fn reveal(&self) -> &str {
        &self.value
    }
}

/// By the values: the forms follow from them.
impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

/// The text without these secrets, in whichever form they stand in it.
pub fn redact_secrets(mut text: String, secrets: &[Secret]) -> String {
    for secret in secrets {
        for form in secret.forms.iter() {
            text = without_form(text, form);
        }
    }
    if text.contains(CUT) {
        for secret in secrets {
            text = without_begins(text, &secret.value);
        }
    }
    text
}

fn without_form(text: String, form: &str) -> String {
    if form.len() < SHORTEST || !text.contains(form) {
        return text;
    }
    if form.len() >= LONG || !form.chars().all(is_key_character) {
        return text.replace(form, REDACTED);
    }
    if is_placeholder(form) {
        return text;
    }
    redact_words(&text, |word| word == form)
}

/// A text may have been cut within a secret, whose beginning is then at its end.
fn without_begins(text: String, secret: &str) -> String {
    let Some(begin) = secret.get(..LONG) else {
        return text;
    };
    if !begins_secretly(secret) {
        return text;
    }
    let mut clean = String::with_capacity(text.len());
    for piece in text.split_inclusive(CUT) {
        let whole = piece.strip_suffix(CUT).unwrap_or(piece).trim_end();
        let mut begins = whole.match_indices(begin);
        let is_cut = whole.len() < piece.len();
        match begins.find(|(at, _)| is_cut && secret.starts_with(&whole[*at..])) {
            Some((at, _)) => {
                clean.push_str(&whole[..at]);
                clean.push_str(REDACTED);
                clean.push_str(&piece[whole.len()..]);
            }
            None => clean.push_str(piece),
        }
    }
    clean
}

/// The beginning of a key says something of it. That of a URL, of a path or of a PEM
/// file stands in honest texts, too: `https://…`, `/home/user/…`.
fn begins_secretly(secret: &str) -> bool {
    secret.chars().all(is_key_character) && !secret.starts_with(['/', '.', '~'])
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

    #[test]
    fn a_secret_is_found_in_other_forms_and_where_a_text_was_cut() {
        let secrets = ["pa/ss+wo\"rd", "canary-value-1"].map(Secret::new);
        for (text, clean) in [
            ("x?p=pa%2Fss%2Bwo%22rd&y", "x?p=[redacted]&y"),
            (r#"{"p": "pa/ss+wo\"rd"}"#, r#"{"p": "[redacted]"}"#),
            ("Basic dTpjYW5hcnktdmFsdWUtMQ==", "Basic dTp[redacted]Q=="),
            ("the key canary-val…", "the key [redacted]…"),
            (
                "the key canary-val … and so on",
                "the key [redacted] … and so on",
            ),
            ("the key canary-val", "the key canary-val"),
            ("the key canary…", "the key canary…"),
            ("canary-vat canary-va…", "canary-vat [redacted]…"),
        ] {
            assert_eq!(redact(text, &secrets), clean);
            assert_eq!(redact_secrets(clean.to_owned(), &secrets), clean);
        }
    }

    #[test]
    fn how_a_url_or_a_path_begins_is_no_secret() {
        let secrets = [
            "postgres://app:canary-1@db",
            "/home/user/canary-app",
            "-----BEGIN PRIVATE KEY-----\ncanary-2\n",
        ]
        .map(Secret::new);
        for text in [
            "from mysql to postgres…",
            "see postgres://…",
            "put it under /home/user/…",
            "-----BEGIN …",
        ] {
            assert_eq!(redact_secrets(text.to_owned(), &secrets), text);
        }
    }
}
