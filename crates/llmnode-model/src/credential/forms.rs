//! The forms in which a secret stands in texts.
//!
//! A key of several lines (PEM), or a password with a quotation mark, is written in
//! another way in most places: recordings, cassettes and arguments of tools are
//! JSON, sometimes JSON within JSON, and URLs are percent-encoded. Who looks for
//! the value alone finds none of these.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use serde_json::Value;

/// Shorter values are replaced only as complete words, and never recognised by their prefix.
pub(super) const LONG: usize = 8;
/// A shorter password of a URL would be found in too many words.
const MIN_PASSWORD_LEN: usize = 6;
/// A shorter piece of base64 would be found in too many words.
const MIN_BASE64_LEN: usize = 10;
/// A shorter line of a key is hardly recognised as one.
const MIN_KEY_LINE_LEN: usize = 32;

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

/// Whether the word begins as keys of a known kind do.
pub(super) fn has_key_prefix(word: &str) -> bool {
    word.len() >= LONG && PREFIXES.iter().any(|prefix| word.starts_with(prefix))
}

/// Whether a value is a credential by its looks: a PEM block, a key with a known
/// prefix, a URL with a password.
pub fn is_credential_value(value: &str) -> bool {
    value.contains("-----BEGIN ")
        || has_key_prefix(value.trim())
        || password_of_url(value).is_some()
}

/// The value as it may stand in texts: as it is, escaped in JSON once and twice,
/// percent-encoded, in base64; the password of a URL by itself; each line of a key
/// by itself. The longer forms come first.
pub(crate) fn written_forms(value: &str) -> Vec<String> {
    let mut forms = encoded_forms(value);
    let trimmed = value.trim();
    if trimmed != value {
        forms.extend(encoded_forms(trimmed));
    }
    if let Some(password) = password_of_url(value) {
        let decoded = percent_decoded(password);
        forms.extend(encoded_forms(password));
        forms.extend(encoded_forms(&decoded));
    }
    forms.extend(key_lines(value).map(str::to_owned));
    forms.retain(|form| !form.is_empty());
    forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    forms.dedup();
    forms
}

fn encoded_forms(value: &str) -> Vec<String> {
    let mut forms = vec![value.to_owned()];
    for once in spellings_in_json(value) {
        forms.push(json_escaped(&once));
        forms.push(once);
    }
    for digits in [b"0123456789ABCDEF", b"0123456789abcdef"] {
        let encoded = percent_encoded(value, digits);
        forms.push(encoded.replace("%20", "+"));
        forms.push(encoded);
    }
    for engine in [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD] {
        forms.push(engine.encode(value));
    }
    forms.extend(within_base64(value, &STANDARD_NO_PAD));
    forms.extend(within_base64(value, &URL_SAFE_NO_PAD));
    forms
}

/// As it stands in a longer text that is in base64, such as `user:password`: three
/// bytes are four characters, so that it begins at one of three places. Characters
/// that its neighbours decide as well are left out.
fn within_base64(value: &str, engine: &impl Engine) -> Vec<String> {
    let mut forms = Vec::new();
    for before in 0..3 {
        let mut bytes = vec![0; before];
        bytes.extend(value.as_bytes());
        let encoded = engine.encode(&bytes);
        let begin = (before * 8).div_ceil(6);
        let end = bytes.len() * 8 / 6;
        let whole_groups = encoded.get(begin..end).unwrap_or_default();
        if whole_groups.len() >= MIN_BASE64_LEN {
            forms.push(whole_groups.to_owned());
        }
    }
    forms
}

/// As serde writes it, as Python does (letters of ASCII alone), as Go does (nothing
/// that HTML reads), and as PHP does.
fn spellings_in_json(value: &str) -> [String; 4] {
    let usual = json_escaped(value);
    let python = escaped_where(&usual, |c| !c.is_ascii());
    let go = escaped_where(&usual, |c| matches!(c, '<' | '>' | '&'));
    let php = python.replace('/', "\\/");
    [usual, python, go, php]
}

fn escaped_where(json: &str, is_escaped: impl Fn(char) -> bool) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if is_escaped(c) {
            c.encode_utf16(&mut [0; 2])
                .iter()
                .for_each(|unit| escaped.push_str(&format!("\\u{unit:04x}")));
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// Without the quotation marks around it.
fn json_escaped(text: &str) -> String {
    let quoted = Value::String(text.to_owned()).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn percent_encoded(text: &str, digits: &[u8; 16]) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.push(char::from(digits[usize::from(byte >> 4)]));
            encoded.push(char::from(digits[usize::from(byte & 15)]));
        }
    }
    encoded
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            _ => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Of `scheme://user:password@host`.
fn password_of_url(value: &str) -> Option<&str> {
    let (_, behind_scheme) = value.split_once("://")?;
    let authority = behind_scheme.split(['/', '?', '#']).next()?;
    let (user, _) = authority.rsplit_once('@')?;
    let (_, password) = user.split_once(':')?;
    (password.len() >= MIN_PASSWORD_LEN).then_some(password)
}

/// The lines of a key of several lines: base64, and nothing else.
fn key_lines(value: &str) -> impl Iterator<Item = &str> {
    value.lines().map(str::trim).filter(|line: &&str| {
        line.len() >= MIN_KEY_LINE_LEN
            && line
                .bytes()
                .all(|byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
    })
}
