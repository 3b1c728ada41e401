//! Whatever has no quotes: numbers, literals, keys and strings.

use std::borrow::Cow;

use super::space::{is_quote, is_space};
use super::{Json, ParseResult, Parser, Role, kind};
use crate::decimal::is_number;

/// Models that repeat the schema write type names as values: `{"name": string}`.
const TYPES: [&str; 9] = [
    "string", "number", "integer", "int", "float", "boolean", "bool", "object", "array",
];

impl<'t> Parser<'t> {
    pub(super) fn number(&mut self) -> ParseResult<Json<'t>> {
        let start = self.at;
        let is_part =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_');
        self.at += self.text.as_bytes()[start..]
            .iter()
            .take_while(|byte| is_part(byte))
            .count();
        self.open_ended = true;
        let digits = &self.text[start..self.at];
        if is_number(digits) {
            return Ok(Json::Number(Cow::Borrowed(digits)));
        }
        if self.at == self.text.len() {
            return self.truncated();
        }
        if is_number(digits.trim_start_matches(['-', '0'])) {
            return self.wrong(
                start,
                "a number may not begin with 0; a string must be in quotes",
            );
        }
        self.wrong(
            start,
            "this is not a JSON number; a string must be in quotes",
        )
    }

    pub(super) fn word(&mut self, role: Role) -> ParseResult<Json<'t>> {
        let start = self.at;
        if is_ellipsis(&self.text[start..]) {
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
        let rest = &self.text[start..];
        let end = rest.find([',', ']', '}', '\n', '\r']);
        let line = &rest[..end.unwrap_or(rest.len())];
        let comment = [" /", " #", "\t/", "\t#"]
            .iter()
            .filter_map(|mark| line.find(mark))
            .min();
        let words = line[..comment.unwrap_or(line.len())].trim_end_matches(is_space);
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

    fn bare_string(&mut self, role: Role, start: usize, words: &'t str) -> ParseResult<Json<'t>> {
        let literals = [
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
        if literals
            .iter()
            .any(|literal| words.eq_ignore_ascii_case(literal))
        {
            return self.wrong(
                start,
                "write `null`, `true` or `false`, or put a string in quotes",
            );
        }
        if TYPES.iter().any(|name| words.eq_ignore_ascii_case(name))
            || words.bytes().all(|byte| byte == b'_')
        {
            return self.wrong(start, "a type's name in place of a value; write the value");
        }
        let is_address = !words.contains(char::is_whitespace) && words.contains("://");
        let several = role == Role::Item && words.contains(char::is_whitespace);
        if several
            || words.contains(|c: char| {
                let mark = is_quote(c) && c != '\'' && c != '’';
                mark || c.is_control() || (!is_address && "{[()\\=;<>|:/+#&*@$%^~".contains(c))
            })
            || words.contains("...")
            || words.contains('…')
            || is_quoted(words)
        {
            return self.wrong(start, "a string must be in quotes");
        }
        self.repair(kind::BARE_STRING, start, "a string must be in quotes")?;
        Ok(Json::String(Cow::Borrowed(words)))
    }

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

fn is_ellipsis(text: &str) -> bool {
    text.starts_with('…') || text.starts_with("..")
}

pub(in super::super) fn name_length(text: &str) -> usize {
    if !text.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$') {
        return 0;
    }
    text.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$' | '-' | '.'))
        .unwrap_or(text.len())
}

fn is_quoted(words: &str) -> bool {
    let mut before = ' ';
    let mut chars = words.chars().peekable();
    while let Some(c) = chars.next() {
        if is_quote(c)
            && !(before.is_alphanumeric()
                && chars.peek().is_some_and(|next| next.is_alphanumeric()))
        {
            return true;
        }
        before = c;
    }
    false
}
