//! What stands without quotes: literals, keys and strings.

use std::borrow::Cow;

use super::super::json::Json;
use super::comment;
use super::fault::{Fault, What};
use super::number::is_number;
use super::scan::{Scan, is_quote, is_space};
use super::string::Role;
use crate::flag::Repair;

impl<'t> Scan<'t, '_> {
    /// A literal, or a string without quotes.
    pub(super) fn word(&mut self, role: Role) -> Result<Json<'t>, Fault> {
        let start = self.at;
        if !self.char_at(start).is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '$')) {
            let words = if self.rest().starts_with('…') {
                "an ellipsis stands for what was left out; write all of it"
            } else {
                "expected a value"
            };
            return self.wrong(start, words);
        }
        let word = self.words(role)?;
        let (value, literal) = match word {
            "null" => return Ok(Json::Null),
            "true" => return Ok(Json::Bool(true)),
            "false" => return Ok(Json::Bool(false)),
            "None" | "Null" | "NULL" => (Json::Null, true),
            "True" | "TRUE" => (Json::Bool(true), true),
            "False" | "FALSE" => (Json::Bool(false), true),
            "NaN" | "nan" | "NAN" | "Infinity" | "infinity" | "inf" | "Inf" => {
                return self.wrong(start, "JSON has no such number");
            }
            "undefined" => {
                return self.wrong(start, "JSON has no `undefined`; write `null`, or leave it out");
            }
            text if role == Role::Item && comment::leaves_out(text) => {
                return self.wrong(start, "words that stand for what was left out; write all of it");
            }
            text if role == Role::Item && ["and ", "or "].iter().any(|joint| text.starts_with(joint)) => {
                return self.wrong(start, "a word that joins items, or a part of this one; put it in quotes");
            }
            text if is_nearly_literal(text) || is_cut(text) || is_choice(text) => {
                return self.wrong(
                    start,
                    "a literal or a string; write `null`, `true` or `false`, or put a string in quotes",
                );
            }
            text => (Json::String(Cow::Borrowed(text)), false),
        };
        if literal {
            self.repair(Repair::Literal, start, "JSON writes `null`, `true` and `false` in lower case")?;
        } else {
            self.repair(Repair::BareString, start, "a string must stand in quotes")?;
        }
        Ok(value)
    }

    /// The words up to what ends a string without quotes.
    fn words(&mut self, role: Role) -> Result<&'t str, Fault> {
        let (text, start) = (self.text, self.at);
        let is_address = is_address(self.rest());
        let mut before = ' ';
        for c in self.rest().chars() {
            match c {
                ',' | ']' | '}' => break,
                '\n' | '\r' if role == Role::Item || is_address => break,
                '\n' if before == '\n' => break,
                '\n' if is_nearly_literal(text[start..self.at].trim_end())
                    && self.is_key_ahead(self.ahead(self.at)?)? =>
                {
                    break;
                }
                c if c.is_whitespace() && is_address => break,
                '/' | '#' if before.is_whitespace() && is_comment(self.rest()) => break,
                // Nothing but a comment can be glued to a literal.
                '#' if is_nearly_literal(&text[start..self.at]) => break,
                '/' if is_nearly_literal(&text[start..self.at]) && is_comment(self.rest()) => break,
                '/' if self.rest().starts_with("/*") => {
                    return self.wrong(self.at, "a string with such characters must stand in quotes");
                }
                '#' if !is_address && (before.is_whitespace() || is_perhaps_comment(self.rest())) => {
                    return self.wrong(self.at, "a string with such characters must stand in quotes");
                }
                ':' | '/' | '(' | ')' | '=' | ';' | '|' if is_address => {}
                '\'' | '’' if before.is_alphanumeric() => {
                    let next = self.rest().chars().nth(1);
                    if !next.is_some_and(char::is_alphanumeric) {
                        return self.wrong(self.at, "a quotation mark in a string without quotes");
                    }
                }
                '{' | '[' | '(' | ')' | '\\' | '=' | ';' | '<' | '>' | '|' | ':' | '+' => {
                    return self.wrong(self.at, "a string with such characters must stand in quotes");
                }
                '.' | '…' if c == '…' || self.rest().starts_with("...") => {
                    return self.wrong(self.at, "an ellipsis stands for what was left out; write all of it");
                }
                '/' if self.rest().starts_with("//") => {
                    return self.wrong(self.at, "a string with such characters must stand in quotes");
                }
                c if is_quote(c) => {
                    return self.wrong(self.at, "a quotation mark in a string without quotes");
                }
                c if c.is_control() && !c.is_whitespace() => {
                    return self.wrong(self.at, "a control character");
                }
                _ => {}
            }
            before = if c == '\r' { before } else { c };
            self.at += c.len_utf8();
        }
        if self.at == text.len() {
            // Perhaps no JSON at all, but a bracket in prose.
            return Err(self.fault(self.at, What::Truncated));
        }
        let words = text[start..self.at].trim_end_matches(is_space);
        if let Some(line) = words.find('\n').filter(|line| is_nearly_literal(words[..*line].trim())) {
            return self.wrong(start + line, "a line end behind a literal; a comma is missing");
        }
        // The space behind it may be none of JSON.
        self.at = start + words.len();
        Ok(words)
    }

    /// A key without quotes.
    pub(super) fn bare_key(&mut self) -> Result<Cow<'t, str>, Fault> {
        let start = self.at;
        let end = key_end(self.text, start);
        let key = &self.text[start..end];
        if key.is_empty() || (key.starts_with(|c: char| c.is_ascii_digit()) && !is_number(key)) {
            let words = match self.byte() {
                Some(b':') => "the key is missing",
                _ if self.rest().starts_with(['…', '.']) => {
                    "an ellipsis stands for what was left out; write all of it"
                }
                _ => "expected a key in quotes",
            };
            return self.wrong(start, words);
        }
        let end = self.end_of_words(end);
        let key = &self.text[start..end];
        self.at = end;
        // Else it is no key, and the place to show is behind it.
        let next = super::skip_blank(self.text, end, &mut |_, _| {});
        if self.byte_at(next) == Some(b':') {
            self.repair(Repair::BareKey, start, "a key must stand in quotes")?;
        }
        Ok(Cow::Borrowed(key))
    }

    /// Where a key of several words ends, if a colon follows it, and this cannot be prose.
    fn end_of_words(&self, first: usize) -> usize {
        let mut end = first;
        while self.sure && self.byte_at(end) == Some(b' ') {
            let word = key_end(self.text, end + 1);
            if word == end + 1 || word - first > 64 {
                return first;
            }
            end = word;
        }
        if self.byte_at(end) == Some(b':') { end } else { first }
    }

    /// Passes over the letter before a string of Python that says what all strings of JSON are: `u'..'`.
    pub(super) fn prefix(&mut self) -> Result<(), Fault> {
        if is_prefixed(self.rest()) {
            self.repair(Repair::Quotes, self.at, "strings and keys must stand in double quotes")?;
            self.at += 1;
        }
        Ok(())
    }

    /// Whether a key and its colon begin at `at`.
    pub(super) fn is_key_ahead(&self, at: usize) -> Result<bool, Fault> {
        let at = at + usize::from(is_prefixed(self.text.get(at..).unwrap_or("")));
        let end = match self.char_at(at) {
            Some(quote) if is_quote(quote) => match self.quoted_end(at, quote) {
                Some(end) => end,
                None => {
                    self.spend(self.text.len() - at)?;
                    return Ok(false);
                }
            },
            _ => key_end(self.text, at),
        };
        self.spend(end - at)?;
        let colon = self.ahead(end)?;
        let is_key = match self.byte_at(colon) {
            Some(b':') => !self.text[colon..].starts_with("://"),
            // Of a key that the text breaks off behind.
            next => next.is_none(),
        };
        Ok(end > at && is_key)
    }

    /// Where what begins with a quotation mark ends, by the next such mark.
    fn quoted_end(&self, open: usize, quote: char) -> Option<usize> {
        let mut at = open + quote.len_utf8();
        loop {
            at = self.next_mark(at, quote)?;
            let mark = self.char_at(at)?;
            if mark != '\\' {
                return Some(at + mark.len_utf8());
            }
            at += 1 + self.char_at(at + 1).map_or(0, char::len_utf8);
        }
    }
}

/// Where a list of one string without quotes ends that has nothing but letters, digits and spaces: prose and templates
/// have many, which need not be parsed to be passed over.
pub(in super::super) fn word_in_brackets(text: &str, begin: usize) -> Option<usize> {
    let inner = text[begin..]
        .strip_prefix('[')
        .filter(|inner| inner.starts_with(|c: char| c.is_ascii_alphabetic()))?;
    let length =
        inner.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'_')).count();
    let closed = inner[length..].starts_with(']') && !is_nearly_literal(inner[..length].trim_end());
    closed.then_some(begin + length + 2)
}

/// Whether it could be meant as a literal of another language.
fn is_nearly_literal(word: &str) -> bool {
    let words = ["null", "true", "false", "none", "nil", "nan", "inf", "infinity", "undefined"];
    words.iter().any(|literal| word.eq_ignore_ascii_case(literal))
}

/// Whether it is the beginning of a literal: `tru`.
fn is_cut(word: &str) -> bool {
    const FEW: usize = 3;
    let word = word.to_ascii_lowercase();
    word.len() >= FEW && ["null", "true", "false"].iter().any(|literal| literal.starts_with(&word))
}

/// Whether it offers a literal and something else, as a form to be filled in does: `true/false`, `null or 1`.
fn is_choice(words: &str) -> bool {
    let behind = |literal: &&str| words.strip_prefix(*literal).map(str::trim_start);
    let mut rests = ["true", "false", "null"].iter().filter_map(behind);
    rests.any(|rest| rest.starts_with('/') || rest.starts_with("or "))
}

/// Whether it is a name that stands for a value: of a type, as in a schema that was repeated (`{"name": string}`), or of
/// a variable (`$name`), or a blank to be filled in (`___`).
pub(super) fn stands_for_a_value(word: &str) -> bool {
    let types = [
        "string", "str", "number", "int", "integer", "float", "double", "bool", "boolean", "object", "array",
        "any",
    ];
    let is_name = |name: &str| name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let kind = word.trim_end_matches('?');
    types.iter().any(|name| kind.eq_ignore_ascii_case(name))
        || word.strip_prefix('$').is_some_and(is_name)
        || word.bytes().all(|byte| byte == b'_')
}

fn is_prefixed(text: &str) -> bool {
    text.strip_prefix('u').is_some_and(|text| text.starts_with(['"', '\'']))
}

fn key_end(text: &str, start: usize) -> usize {
    let is_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '.');
    if !text[start..].starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$')) {
        return start;
    }
    text[start..].find(|c: char| !is_key(c)).map_or(text.len(), |found| start + found)
}

/// Whether it begins as `https://` does.
fn is_address(text: &str) -> bool {
    let scheme = text.bytes().take(16).take_while(u8::is_ascii_alphanumeric).count();
    scheme > 1 && text[scheme..].starts_with("://")
}

/// Whether `#` glued to a word may as well begin a comment: `some# one`, unlike `C#,` and `item#3`.
fn is_perhaps_comment(text: &str) -> bool {
    text[1..].starts_with(|next: char| next.is_whitespace() || is_quote(next))
}

fn is_comment(text: &str) -> bool {
    text.starts_with("//") || text.starts_with("/*") || text.starts_with("# ") || text.starts_with("#\n")
}

impl What {
    /// Whether the search is over, since it would take too long.
    pub(in super::super) fn is_tangled(&self) -> bool {
        *self == What::Tangled
    }
}
