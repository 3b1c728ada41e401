//! One parser for JSON and for what is nearly JSON, in one pass. If it repaired nothing, the text was JSON.
//!
//! A repair is made only if a single reading is left; anything else is an error at its place.

mod notes;
mod space;
mod string;
mod word;

use std::borrow::Cow;

pub(super) use self::notes::Repairs;
pub(super) use self::space::{is_quote, is_space, skip_blank};
pub(super) use self::word::name_length;
use super::json::Json;

const MAX_DEPTH: usize = 127;

#[derive(Debug)]
pub(super) struct ParsedJson<'t> {
    pub(super) json: Json<'t>,
    pub(super) end: usize,
    pub(super) repairs: Repairs,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct SyntaxError {
    pub(super) at: usize,
    pub(super) what: Option<Cow<'static, str>>,
}

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

pub(super) fn parse_strict(text: &str) -> Option<Json<'_>> {
    let text = text.trim_matches([' ', '\n', '\t', '\r']);
    let mut parser = Parser::new(text, 0, false);
    let json = parser.value(Role::Item, 0).ok()?;
    (parser.at == text.len()).then_some(json)
}

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

    fn wrong<T>(&self, at: usize, what: impl Into<Cow<'static, str>>) -> ParseResult<T> {
        Err(SyntaxError {
            at,
            what: Some(what.into()),
        })
    }

    fn truncated<T>(&self) -> ParseResult<T> {
        Err(SyntaxError {
            at: self.text.len(),
            what: None,
        })
    }

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
        // Not for strings and numbers: two lines may be one string, and a number the rest of one.
        let is_next = |items: &[Json<'t>], parser: &Self| {
            matches!(
                (items.last(), parser.byte()),
                (Some(Json::Object(_)), Some(b'{')) | (Some(Json::Array(_)), Some(b'['))
            )
        };
        while self.has_next(true, items.is_empty(), |parser| is_next(&items, parser))? {
            items.push(self.value(Role::Item, depth + 1)?);
        }
        self.lists -= 1;
        if matches!(&items[..], [Json::String(word)] if !word.contains("://"))
            && self.repairs.times(kind::BARE_STRING) > words
        {
            return self.wrong(self.at - 1, "a word in brackets is not taken for a list");
        }
        Ok(Json::Array(items))
    }

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
            Some(_) if self.text[end..self.at].contains('\n') && is_next(self) => self
                .repair(kind::COMMA, end, "a comma is missing")
                .map(|()| true),
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
        self.repair(kind::CLOSER, self.at, "a closing bracket is missing")
            .map(|()| false)
    }

    /// Drops duplicates with equal values.
    fn reject_duplicates(
        &mut self,
        begin: usize,
        mut members: Vec<(Cow<'t, str>, Json<'t>)>,
    ) -> ParseResult<Json<'t>> {
        let duplicate_keys = duplicate_keys(&members);
        if duplicate_keys.is_empty() {
            return Ok(Json::Object(members));
        }
        if let Some((first, _)) = duplicate_keys
            .iter()
            .find(|(one, other)| members[*one].1 != members[*other].1)
        {
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
        duplicate_keys
            .into_iter()
            .for_each(|(_, second)| dropped[second] = true);
        let mut dropped = dropped.into_iter();
        members.retain(|_| !dropped.next().unwrap_or(false));
        Ok(Json::Object(members))
    }
}

fn duplicate_keys<T>(members: &[(Cow<'_, str>, T)]) -> Vec<(usize, usize)> {
    let same = |a: usize, b: usize| members[a].0 == members[b].0;
    // Most objects are small, and comparing pairs allocates nothing.
    if members.len() <= 12 && !(1..members.len()).any(|b| (0..b).any(|a| same(a, b))) {
        return Vec::new();
    }
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by(|a, b| members[*a].0.cmp(&members[*b].0));
    order
        .windows(2)
        .map(|pair| (pair[0], pair[1]))
        .filter(|(a, b)| same(*a, *b))
        .collect()
}
