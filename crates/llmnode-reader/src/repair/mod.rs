//! One parser for JSON and for what is nearly JSON, in one pass. If it repaired nothing, the text was JSON.
//!
//! A text and the place where a value begins come in; the value, its end and what was repaired go out, or the first error with
//! what is wrong there. The parser is strict or lenient. There is one for both, so that a repair cannot change how correct JSON is
//! read, and so that an error says the same in both.
//!
//! A repair is made only if a single reading is left; anything else is an error at its place, since the model can be asked again
//! and a wrong value cannot be taken back:
//!
//! - A comma between two lines is added only between two objects or two lists: two strings may be one that has a quotation mark in
//!   it, and two numbers one with a space.
//! - A bracket at the end of a text that broke off is added only where nothing can be missing before it: not in a list, whose next
//!   item may be lost, and not behind a number, whose next digit may be.
//! - A comment is skipped, unless it could hide content: an ellipsis, a property, the bracket that closes the object.
//! - A key that appears twice is dropped once if both values are equal, and an error if they are not.
//!
//! Strings are in `string.rs` (where a quotation mark ends one is most of the work), words without quotation marks in `word.rs`, white
//! space and comments in `space.rs`. Whether the value fits a type is not known here: `coerce` and `check` look at that.

mod notes;
mod space;
mod string;
mod word;

use std::borrow::Cow;

pub(super) use self::notes::Repairs;
pub(super) use self::space::{is_quote, is_space, skip_blank};
pub(super) use self::word::name_length;
use super::json::Json;

/// As in serde_json: the parser calls itself for each level, and must not run out of stack.
const MAX_DEPTH: usize = 127;

#[derive(Debug)]
pub(super) struct ParsedJson<'t> {
    pub(super) json: Json<'t>,
    /// The byte behind the value. What follows is up to the caller.
    pub(super) end: usize,
    pub(super) repairs: Repairs,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct SyntaxError {
    /// The byte where it is.
    pub(super) at: usize,
    /// What is wrong. `None`: the text breaks off.
    pub(super) what: Option<Cow<'static, str>>,
}

/// The names of repairs, as they are in flags and records.
pub(super) mod kind {
    pub(crate) const COMMENT: &str = "comment";
    pub(crate) const COMMA: &str = "comma";
    pub(crate) const QUOTES: &str = "quotes";
    pub(crate) const LITERAL: &str = "literal";
    pub(crate) const BARE_KEY: &str = "bare_key";
    pub(crate) const BARE_STRING: &str = "bare_string";
    pub(crate) const CONTROL_CHARACTER: &str = "control_character";
    pub(crate) const ESCAPE: &str = "escape";
    pub(crate) const SPACE: &str = "space";
    pub(crate) const CLOSER: &str = "closer";
    pub(crate) const DUPLICATE_KEY: &str = "duplicate_key";
    pub(crate) const QUOTED: &str = "quoted";
    pub(crate) const LINES: &str = "lines";
    pub(crate) const ASSIGNMENT: &str = "assignment";
}

/// Repairs only if `lenient`, and fails where a repair could lose something.
pub(super) fn parse(
    text: &str,
    begin: usize,
    lenient: bool,
) -> Result<ParsedJson<'_>, SyntaxError> {
    #[cfg(test)]
    super::counts::add(|counts| counts.parsed += 1);
    let mut parser = Parser::new(text, begin, lenient);
    let json = parser.value(Role::Item, 0)?;
    Ok(ParsedJson {
        json,
        end: parser.at,
        repairs: parser.repairs,
    })
}

/// Parses a text that is nothing but JSON. `None`: it is not.
pub(super) fn parse_strict(text: &str) -> Option<Json<'_>> {
    let text = text.trim_matches([' ', '\n', '\t', '\r']);
    let mut parser = Parser::new(text, 0, false);
    let json = parser.value(Role::Item, 0).ok()?;
    (parser.at == text.len()).then_some(json)
}

/// What a string or word is, which decides what may follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Key,
    Member,
    Item,
}

struct Parser<'t> {
    text: &'t str,
    /// Always a character boundary.
    at: usize,
    lenient: bool,
    repairs: Repairs,
    /// The number of open lists: text that breaks off may lack items.
    lists: usize,
    /// Set for a last value that may be incomplete: `12`, `tru`.
    open_ended: bool,
    /// Set behind a comment, which may contain a closing bracket.
    commented: bool,
}

type ParseResult<T> = Result<T, SyntaxError>;

impl<'t> Parser<'t> {
    fn new(text: &'t str, at: usize, lenient: bool) -> Self {
        let repairs = Repairs::default();
        Parser {
            text,
            at,
            lenient,
            repairs,
            lists: 0,
            open_ended: false,
            commented: false,
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn char(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// An error at a place. It is returned for whatever was expected there.
    fn wrong<T>(&self, at: usize, what: impl Into<Cow<'static, str>>) -> ParseResult<T> {
        Err(SyntaxError {
            at,
            what: Some(what.into()),
        })
    }

    /// The text ends where something has to follow.
    fn truncated<T>(&self) -> ParseResult<T> {
        Err(SyntaxError {
            at: self.text.len(),
            what: None,
        })
    }

    /// Notes a repair, or fails with `what` if the parser is strict.
    fn repair(&mut self, kind: &'static str, at: usize, what: &'static str) -> ParseResult<()> {
        if !self.lenient {
            return self.wrong(at, what);
        }
        self.repairs.add(kind, at);
        Ok(())
    }

    fn value(&mut self, role: Role, depth: usize) -> ParseResult<Json<'t>> {
        self.open_ended = false;
        match self.byte() {
            Some(b'{' | b'[') if depth >= MAX_DEPTH => {
                self.wrong(self.at, "JSON may be nested 127 times")
            }
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => self.string(role).map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b',' | b'}' | b']') => self.wrong(self.at, "a value is missing"),
            None => self.truncated(),
            Some(_) if self.char().is_some_and(is_quote) => self.string(role).map(Json::String),
            Some(_) => self.word(role),
        }
    }

    fn object(&mut self, depth: usize) -> ParseResult<Json<'t>> {
        let begin = self.at;
        self.at += 1;
        let mut members = Vec::new();
        while self.has_next(false, members.is_empty(), Self::is_key)? {
            let key = self.key()?;
            let value = self.value(Role::Member, depth + 1)?;
            members.push((key, value));
        }
        self.reject_duplicates(begin, members)
    }

    fn is_key(&self) -> bool {
        self.char()
            .is_some_and(|c| is_quote(c) || c.is_alphabetic() || c == '_')
    }

    fn key(&mut self) -> ParseResult<Cow<'t, str>> {
        let quoted = self.char().is_some_and(is_quote);
        let key = if quoted {
            self.string(Role::Key)?
        } else {
            self.bare_key()?
        };
        self.space()?;
        match self.byte() {
            Some(b':') => self.at += 1,
            None => return self.truncated(),
            Some(_) => return self.wrong(self.at, "expected a colon after the key"),
        }
        self.space()?;
        Ok(key)
    }

    fn list(&mut self, depth: usize) -> ParseResult<Json<'t>> {
        self.at += 1;
        self.lists += 1;
        let mut items = Vec::new();
        let words = self.repairs.times(kind::BARE_STRING);
        while self.has_next(true, items.is_empty(), |parser| {
            parser.is_next_item(items.last())
        })? {
            items.push(self.value(Role::Item, depth + 1)?);
        }
        self.lists -= 1;
        let is_one_word = matches!(&items[..], [Json::String(word)] if !word.contains("://"));
        if is_one_word && self.repairs.times(kind::BARE_STRING) > words {
            return self.wrong(self.at - 1, "a word in brackets is not taken for a list");
        }
        Ok(Json::Array(items))
    }

    /// Whether an item begins here that can only be another one than the last.
    ///
    /// Not for strings and numbers: two lines may be one string, and a number the rest of one.
    fn is_next_item(&self, last: Option<&Json<'t>>) -> bool {
        match last {
            Some(Json::Object(_)) => self.byte() == Some(b'{'),
            Some(Json::Array(_)) => self.byte() == Some(b'['),
            _ => false,
        }
    }

    /// Goes over what is between two members or items, and says whether another one follows; `false`: the bracket was closed.
    ///
    /// `first`: there was none yet. `is_next`: whether what stands here begins another one, so that only the comma is missing.
    fn has_next(
        &mut self,
        list: bool,
        first: bool,
        is_next: impl Fn(&Self) -> bool,
    ) -> ParseResult<bool> {
        let end = self.at;
        self.space()?;
        let comma = self.at;
        let mut commas = 0_usize;
        while self.byte() == Some(b',') {
            self.at += 1;
            commas += 1;
            self.commented = false;
            self.space()?;
        }
        let closes = matches!(self.byte(), Some(b'}' | b']'));
        if (list && commas > 1) || (first && closes && commas > 0) {
            return self.wrong(comma, "a value is missing at this comma");
        }
        if commas > usize::from(!first && !closes) {
            self.repair(kind::COMMA, comma, "one comma too many")?;
        }
        match self.byte() {
            Some(b'}') if !list => self.close(),
            Some(b']') if list => self.close(),
            Some(b'}' | b']') => self.wrong(self.at, "a bracket of the wrong kind"),
            None => self.end_of_text(first || commas > 0),
            Some(_) if first || commas > 0 => Ok(true),
            Some(_) if self.text[end..self.at].contains('\n') && is_next(self) => {
                self.repair(kind::COMMA, end, "a comma is missing")?;
                Ok(true)
            }
            Some(_) => self.wrong(self.at, "expected a comma or the end of the list or object"),
        }
    }

    fn close(&mut self) -> ParseResult<bool> {
        self.at += 1;
        self.open_ended = false;
        self.commented = false;
        Ok(false)
    }

    /// A complete object lacks only its bracket. A list may lack items, a number digits; a comment may hide anything.
    fn end_of_text(&mut self, unfinished: bool) -> ParseResult<bool> {
        if !self.lenient || unfinished || self.lists > 0 || self.open_ended || self.commented {
            return self.truncated();
        }
        self.repair(kind::CLOSER, self.at, "a closing bracket is missing")?;
        Ok(false)
    }

    /// Drops duplicates with equal values, and fails for others: nobody knows which of them is meant.
    fn reject_duplicates(
        &mut self,
        begin: usize,
        mut members: Vec<(Cow<'t, str>, Json<'t>)>,
    ) -> ParseResult<Json<'t>> {
        let duplicate_keys = duplicate_keys(&members);
        if duplicate_keys.is_empty() {
            return Ok(Json::Object(members));
        }
        let different = duplicate_keys
            .iter()
            .find(|(one, other)| members[*one].1 != members[*other].1);
        if let Some((first, _)) = different {
            let key = crate::text::one_line(&*members[*first].0, 60);
            return self.wrong(
                begin,
                format!("the key {key:?} appears twice in one object, with different values"),
            );
        }
        self.repair(
            kind::DUPLICATE_KEY,
            begin,
            "a key appears twice in one object",
        )?;
        let mut dropped = vec![false; members.len()];
        for (_, second) in duplicate_keys {
            dropped[second] = true;
        }
        let mut dropped = dropped.into_iter();
        members.retain(|_| !dropped.next().unwrap_or(false));
        Ok(Json::Object(members))
    }
}

/// Pairs of members with the same key, by their indexes, the earlier one first.
fn duplicate_keys<T>(members: &[(Cow<'_, str>, T)]) -> Vec<(usize, usize)> {
    // Most objects are small, and comparing pairs allocates nothing.
    if members.len() <= 12 && !has_duplicate(members) {
        return Vec::new();
    }
    // A stable sort: members with the same key stay in their order.
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by(|a, b| members[*a].0.cmp(&members[*b].0));
    let mut duplicates = Vec::new();
    for pair in order.windows(2) {
        let first = pair[0];
        let second = pair[1];
        if members[first].0 == members[second].0 {
            duplicates.push((first, second));
        }
    }
    duplicates
}

fn has_duplicate<T>(members: &[(Cow<'_, str>, T)]) -> bool {
    members.iter().enumerate().any(|(index, (key, _))| {
        let mut earlier = members[..index].iter();
        earlier.any(|(other, _)| other == key)
    })
}
