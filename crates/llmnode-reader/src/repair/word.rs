//! Whatever has no quotes: numbers, literals, keys and strings.
//!
//! A word is read up to what can only be behind it: a comma, a bracket, the end of
//! the line, a comment. A literal of another language (`None`, `True`) is taken for
//! JSON's, a word for a string, if nothing in it looks like something else: a
//! type's name, an expression, a quotation.

use std::borrow::Cow;

use super::space::{is_quote, is_space};
use super::{Json, ParseResult, Parser, Role, kind};
use crate::decimal::is_number;

/// Models that repeat the schema write type names as values: `{"name": string}`.
const TYPES: [&str; 9] = [
    "string", "number", "integer", "int", "float", "boolean", "bool", "object", "array",
];

/// What other languages write for no value or no number. Nobody knows which of
/// JSON's literals is meant, or whether a string is.
const LITERALS: [&str; 9] = [
    "null",
    "true",
    "false",
    "none",
    "nil",
    "nan",
    "inf",
    "infinity",
    "undefined",
];
impl<'t> Parser<'t> {
    /// Parses a number, whose digits or sign come next. It keeps its digits:
    /// nothing is rounded here.
    pub(super) fn number(&mut self) -> ParseResult<Json<'t>> {
        let start = self.at;
        while self.byte().is_some_and(may_be_in_number) {
            self.at += 1;
        }
        self.open_ended = true;
        let digits = &self.text[start..self.at];
        if is_number(digits) {
            return Ok(Json::Number(Cow::Borrowed(digits)));
        }
        if self.at == self.text.len() {
            return self.truncated();
        }
        let what = if is_number(digits.trim_start_matches(['-', '0'])) {
            "a number may not begin with 0; a string must be in quotes"
        } else {
            "this is not a JSON number; a string must be in quotes"
        };
        self.wrong(start, what)
    }

    /// Parses a word that is not in quotes: a literal, or a string.
    pub(super) fn word(&mut self, role: Role) -> ParseResult<Json<'t>> {
        let start = self.at;
        let rest = &self.text[start..];
        if is_ellipsis(rest) {
            return self.wrong(
                start,
                "an ellipsis, which means that something was left out; write all of it",
            );
        }
        if self.byte() == Some(b'.') {
            return self.wrong(
                start,
                "a number may not begin with a point; write a 0 before it",
            );
        }
        if !self.char().is_some_and(|c| c.is_alphabetic() || c == '_') {
            return self.wrong(start, "expected a value");
        }
        let end = rest.find([',', ']', '}', '\n', '\r']);
        let line = &rest[..end.unwrap_or(rest.len())];
        let words = without_comment(line).trim_end_matches(is_space);
        // A text that ends here may break off within the word.
        if end.is_none() && !matches!(words, "null" | "true" | "false") {
            return self.truncated();
        }
        self.at = start + words.len();
        self.open_ended = true;
        let literal = match words {
            "null" => return Ok(Json::Null),
            "true" => return Ok(Json::Bool(true)),
            "false" => return Ok(Json::Bool(false)),
            "None" => Json::Null,
            "True" => Json::Bool(true),
            "False" => Json::Bool(false),
            _ => return self.bare_string(role, start, words),
        };
        self.repair(
            kind::LITERAL,
            start,
            "JSON writes `null`, `true` and `false` in lower case",
        )?;
        Ok(literal)
    }

    /// Takes words for a string, if they can be nothing else.
    fn bare_string(&mut self, role: Role, start: usize, words: &'t str) -> ParseResult<Json<'t>> {
        if is_one_of(words, &LITERALS) {
            return self.wrong(
                start,
                "write `null`, `true` or `false`, or put a string in quotes",
            );
        }
        let is_blank_to_fill = words.bytes().all(|byte| byte == b'_');
        if is_one_of(words, &TYPES) || is_blank_to_fill {
            return self.wrong(start, "a type's name in place of a value; write the value");
        }
        let has_space = words.contains(char::is_whitespace);
        let is_address = !has_space && words.contains("://");
        // Words in a list may be several items whose commas are missing.
        let may_be_several = role == Role::Item && has_space;
        let may_be_code = words.contains(|c| is_odd_in_word(c, is_address));
        let leaves_out = words.contains("...") || words.contains('…');
        if may_be_several || may_be_code || leaves_out || is_quoted(words) {
            return self.wrong(start, "a string must be in quotes");
        }
        self.repair(kind::BARE_STRING, start, "a string must be in quotes")?;
        Ok(Json::String(Cow::Borrowed(words)))
    }

    /// Parses a key that is not in quotes, which is one name.
    pub(super) fn bare_key(&mut self) -> ParseResult<Cow<'t, str>> {
        let start = self.at;
        let end = start + name_length(&self.text[start..]);
        if end == start {
            let what = match self.byte() {
                Some(b':') => "the key is missing",
                _ if is_ellipsis(&self.text[start..]) => {
                    "an ellipsis, which means that something was left out; write all of it"
                }
                _ => "expected a key in quotes",
            };
            return self.wrong(start, what);
        }
        self.at = end;
        self.repair(kind::BARE_KEY, start, "a key must be in quotes")?;
        Ok(Cow::Borrowed(&self.text[start..end]))
    }
}

/// Bytes that a number has, or that make one of something else: `2024-05-01`, `0x1f`, `1_000`.
fn may_be_in_number(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_')
}

fn is_one_of(words: &str, names: &[&str]) -> bool {
    names.iter().any(|name| words.eq_ignore_ascii_case(name))
}

/// The line up to its comment. A mark right behind a word is a part of it, as in `C#` or `a/b`.
fn without_comment(line: &str) -> &str {
    let mut end = line.len();
    for mark in [" /", " #", "\t/", "\t#"] {
        if let Some(at) = line.find(mark) {
            end = end.min(at);
        }
    }
    &line[..end]
}

/// Whether a character does not belong in a string without quotes. Addresses have
/// many that other words do not.
fn is_odd_in_word(c: char, is_address: bool) -> bool {
    if c.is_control() {
        return true;
    }
    let is_apostrophe = matches!(c, '\'' | '’');
    let is_mark = is_quote(c) && !is_apostrophe;
    let is_syntax = "{[()\\=;<>|:/+#&*@$%^~".contains(c);
    is_mark || (is_syntax && !is_address)
}
/// Two points are enough: no number or name begins with one.
fn is_ellipsis(text: &str) -> bool {
    text.starts_with('…') || text.starts_with("..")
}

/// The bytes of the name that a text begins with; 0: it begins with none. Names of
/// variables, tags and keys.
pub(in super::super) fn name_length(text: &str) -> usize {
    if !text.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$') {
        return 0;
    }
    text.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$' | '-' | '.'))
        .unwrap_or(text.len())
}

/// Whether there is a quotation mark that is no apostrophe within a word.
fn is_quoted(words: &str) -> bool {
    let mut before = ' ';
    let mut chars = words.chars().peekable();
    while let Some(c) = chars.next() {
        let is_before_word = chars.peek().is_some_and(|next| next.is_alphanumeric());
        let is_within_word = before.is_alphanumeric() && is_before_word;
        if is_quote(c) && !is_within_word {
            return true;
        }
        before = c;
    }
    false
}
