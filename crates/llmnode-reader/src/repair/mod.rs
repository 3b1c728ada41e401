//! One parser for JSON and for what is nearly JSON, in one pass. If it repaired
//! nothing, the text was JSON.
//!
//! A text and the place where a value begins come in; the value, its end and what
//! was repaired go out, or the first error with what is wrong there. The parser is
//! strict or lenient. There is one for both, so that a repair cannot change how
//! correct JSON is read, and so that an error says the same in both.
//!
//! A repair is made only if a single reading is left; anything else is an error at
//! its place, since the model can be asked again and a wrong value cannot be taken
//! back:
//!
//! - A comma between two lines is added only between two objects or two lists: two
//!   strings may be one that has a quotation mark in it, and two numbers one with a
//!   space.
//! - A bracket at the end of a text that broke off is added only where nothing can
//!   be missing before it: not in a list, whose next item may be lost, and not
//!   behind a number, whose next digit may be.
//! - A comment is skipped, unless it could hide content: an ellipsis, a property,
//!   the bracket that closes the object.
//! - A key that appears twice is dropped once if both values are equal, and an
//!   error if they are not.
//!
//! Strings are in `string.rs` (where a quotation mark ends one is most of the
//! work), words without quotation marks in `word.rs`, white space and comments in
//! `space.rs`. Whether the value fits a type is not known here: `coerce` and
//! `check` look at that.

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

/// A value that begins in a text, and what it took to parse it.
#[derive(Debug)]
pub(super) struct ParsedJson<'t> {
    pub(super) json: Json<'t>,
    /// The byte behind the value. What follows is up to the caller.
    pub(super) end: usize,
    pub(super) repairs: Repairs,
}

/// The first thing in a text that is no JSON, or that no repair can make JSON without a guess.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SyntaxError {
    /// The byte where it is.
    pub(super) at: usize,
    /// What is wrong. `None`: the text breaks off.
    pub(super) what: Option<Cow<'static, str>>,
}

/// The names of repairs, as they are in flags and records.
pub(super) mod kind {
    /// A comment that can hide nothing was left out.
    pub(crate) const COMMENT: &str = "comment";
    /// A comma was one too many, or was missing between two lines.
    pub(crate) const COMMA: &str = "comma";
    /// A string was in other quotation marks: `'a'`, `“a”`.
    pub(crate) const QUOTES: &str = "quotes";
    /// A literal was Python's: `None`, `True`.
    pub(crate) const LITERAL: &str = "literal";
    /// A key was in no quotation marks: `{name: 1}`.
    pub(crate) const BARE_KEY: &str = "bare_key";
    /// A string was in none.
    pub(crate) const BARE_STRING: &str = "bare_string";
    /// A line end or another control character stood in a string as it is.
    pub(crate) const CONTROL_CHARACTER: &str = "control_character";
    /// A backslash or a quotation mark in a string was not escaped, or one was that must not be.
    pub(crate) const ESCAPE: &str = "escape";
    /// White space was of a kind that JSON does not know.
    pub(crate) const SPACE: &str = "space";
    /// The last brackets were missing.
    pub(crate) const CLOSER: &str = "closer";
    /// A key appeared twice, with equal values.
    pub(crate) const DUPLICATE_KEY: &str = "duplicate_key";
    /// All of the JSON was escaped, as within a string.
    pub(crate) const QUOTED: &str = "quoted";
    /// A list was written as objects on lines of their own.
    pub(crate) const LINES: &str = "lines";
    /// A program's assignment was around the value: `const filter = {..};`.
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

/// Where the parser is in its text. The text may be longer than the value: what is
/// behind it is the caller's.
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

/// The first error ends the parsing: what follows it cannot be trusted.
type ParseResult<T> = Result<T, SyntaxError>;

impl<'t> Parser<'t> {
    /// `at`: the byte where the value begins.
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

    /// The byte that comes next. All that JSON has a meaning for is one byte.
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The character that comes next, for what only models write.
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

    /// Parses the value that begins here. Its first byte decides what it is;
    /// whatever JSON does not know is a word.
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

    /// Parses an object, whose bracket comes next. Duplicates are looked for at its end, once.
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

    /// Whether a key may begin here, so that between two lines only the comma is missing.
    fn is_key(&self) -> bool {
        match self.char() {
            Some(c) => is_quote(c) || c.is_alphabetic() || c == '_',
            None => false,
        }
    }

    /// Parses a key, its colon, and the space around both.
    fn key(&mut self) -> ParseResult<Cow<'t, str>> {
        let is_quoted = self.char().is_some_and(is_quote);
        let key = if is_quoted {
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

    /// Parses a list, whose bracket comes next.
    ///
    /// A single word without quotation marks in brackets is a place to fill in,
    /// `[name]`, rather than a list of it. An address is one.
    fn list(&mut self, depth: usize) -> ParseResult<Json<'t>> {
        self.at += 1;
        self.lists += 1;
        let mut items = Vec::new();
        let words_before = self.repairs.times(kind::BARE_STRING);
        while self.has_next(true, items.is_empty(), |parser| {
            parser.is_next_item(items.last())
        })? {
            let item = self.value(Role::Item, depth + 1)?;
            items.push(item);
        }
        self.lists -= 1;
        let has_bare_word = self.repairs.times(kind::BARE_STRING) > words_before;
        let is_one_word = matches!(&items[..], [Json::String(word)] if !word.contains("://"));
        if is_one_word && has_bare_word {
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

    /// Goes over what is between two members or items, and says whether another one
    /// follows; `false`: the bracket was closed.
    ///
    /// `first`: there was none yet. `is_next`: whether what stands here begins
    /// another one, so that only the comma is missing.
    ///
    /// A comma too many is dropped where it can hide nothing: behind the last
    /// member, and in objects, whose members have names. In a list each comma may
    /// stand for an item that is missing.
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
        let is_only_commas = first && closes && commas > 0;
        if (list && commas > 1) || is_only_commas {
            return self.wrong(comma, "a value is missing at this comma");
        }
        // Between two members there is one comma, elsewhere none.
        let is_between = !first && !closes;
        if commas > usize::from(is_between) {
            self.repair(kind::COMMA, comma, "one comma too many")?;
        }
        let may_begin = first || commas > 0;
        match self.byte() {
            Some(b'}') if !list => self.close(),
            Some(b']') if list => self.close(),
            Some(b'}' | b']') => self.wrong(self.at, "a bracket of the wrong kind"),
            None => self.end_of_text(may_begin),
            Some(_) if may_begin => Ok(true),
            Some(_) if self.text[end..self.at].contains('\n') && is_next(self) => {
                self.repair(kind::COMMA, end, "a comma is missing")?;
                Ok(true)
            }
            Some(_) => self.wrong(self.at, "expected a comma or the end of the list or object"),
        }
    }

    /// Goes behind a closing bracket. What is behind it is complete, whatever was before.
    fn close(&mut self) -> ParseResult<bool> {
        self.at += 1;
        self.open_ended = false;
        self.commented = false;
        Ok(false)
    }

    /// Adds the closing bracket of an object, if only that is missing.
    ///
    /// A complete object lacks only its bracket. A list may lack items, a number
    /// digits; a comment may hide anything.
    fn end_of_text(&mut self, unfinished: bool) -> ParseResult<bool> {
        let may_lack_more = unfinished || self.lists > 0 || self.open_ended || self.commented;
        if !self.lenient || may_lack_more {
            return self.truncated();
        }
        self.repair(kind::CLOSER, self.at, "a closing bracket is missing")?;
        Ok(false)
    }

    /// Drops duplicates with equal values, and fails for others: nobody knows which
    /// of them is meant.
    fn reject_duplicates(
        &mut self,
        begin: usize,
        mut members: Vec<(Cow<'t, str>, Json<'t>)>,
    ) -> ParseResult<Json<'t>> {
        let pairs = duplicate_keys(&members);
        if pairs.is_empty() {
            return Ok(Json::Object(members));
        }
        for pair in &pairs {
            let (key, value) = &members[pair.first];
            let (_, other) = &members[pair.second];
            if value != other {
                let key = crate::text::one_line(&**key, 60);
                let what =
                    format!("the key {key:?} appears twice in one object, with different values");
                return self.wrong(begin, what);
            }
        }
        self.repair(
            kind::DUPLICATE_KEY,
            begin,
            "a key appears twice in one object",
        )?;
        let mut is_dropped = vec![false; members.len()];
        for pair in pairs {
            is_dropped[pair.second] = true;
        }
        let mut is_dropped = is_dropped.into_iter();
        members.retain(|_| !is_dropped.next().unwrap_or(false));
        Ok(Json::Object(members))
    }
}

/// Two members of an object that have the same key, by their indexes.
struct DuplicatePair {
    first: usize,
    /// Behind the first one in the text.
    second: usize,
}

/// The pairs of members with the same key; of three, the first with the second and
/// the second with the third.
fn duplicate_keys<T>(members: &[(Cow<'_, str>, T)]) -> Vec<DuplicatePair> {
    // Most objects are small, and comparing pairs allocates nothing.
    if members.len() <= 12 && !has_duplicate(members) {
        return Vec::new();
    }
    // A stable sort: members with the same key stay in their order.
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by(|a, b| members[*a].0.cmp(&members[*b].0));
    let mut pairs = Vec::new();
    for neighbours in order.windows(2) {
        let first = neighbours[0];
        let second = neighbours[1];
        if members[first].0 == members[second].0 {
            pairs.push(DuplicatePair { first, second });
        }
    }
    pairs
}

fn has_duplicate<T>(members: &[(Cow<'_, str>, T)]) -> bool {
    for (index, (key, _)) in members.iter().enumerate() {
        let earlier = &members[..index];
        if earlier.iter().any(|(other, _)| other == key) {
            return true;
        }
    }
    false
}
