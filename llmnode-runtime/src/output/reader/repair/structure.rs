//! Lists and objects: what follows what, and what closes them.

use std::borrow::Cow;

use super::super::json::Json;
use super::ahead::{begins_with_a_string, only_closers};
use super::bare::stands_for_a_value;
use super::fault::{Fault, What};
use super::frame::{Frame, Object, twice};
use super::notes::Repairs;
use super::scan::{Fuel, Scan, is_quote};
use super::string::Role;
use super::{DEPTH, Parsed};
use crate::flag::Repair;

pub(super) struct Parser<'t, 'f> {
    scan: Scan<'t, 'f>,
    begin: usize,
    /// The innermost that is open. Apart from the others, so that what isn't nested needs no memory.
    top: Option<Frame<'t>>,
    /// Those around it.
    below: Vec<Frame<'t>>,
    /// Whether the last value ended without a sign that it is complete: `12`, `tru`.
    loose: bool,
    /// Whether the last value is a string without quotes, of which what follows its comma may be a part.
    bare: bool,
    /// Whether a closer was added or changed, so that nothing but closers may follow.
    closed: bool,
    /// Whether a comma was missing at the end of a line.
    unseparated: bool,
    conflict: Option<(usize, String)>,
    /// Where a name stands for a value.
    name: Option<usize>,
}

impl<'t, 'f> Parser<'t, 'f> {
    pub(super) fn new(text: &'t str, begin: usize, lenient: bool, fuel: &'f Fuel) -> Self {
        let sure = begins_with_a_string(&text[begin..]);
        let scan = Scan { text, at: begin, lenient, repairs: Repairs::default(), sure, fuel };
        Parser {
            scan,
            begin,
            top: None,
            below: Vec::new(),
            loose: false,
            bare: false,
            closed: false,
            unseparated: false,
            conflict: None,
            name: None,
        }
    }

    pub(super) fn run(mut self) -> Result<Parsed<'t>, Fault> {
        let root = self.root();
        // The text may be parsed again from here, so this counts.
        if !self.scan.fuel.spend(self.scan.at - self.begin) {
            return Err(self.scan.fault(self.scan.at, What::Tangled));
        }
        let json = root?;
        let Scan { at: end, repairs, .. } = self.scan;
        Ok(Parsed { json, end, repairs, conflict: self.conflict, name: self.name })
    }

    fn root(&mut self) -> Result<Json<'t>, Fault> {
        self.enter()?;
        loop {
            self.scan.space()?;
            let mut root = None;
            if matches!(self.scan.byte(), Some(b'}' | b']') | None) {
                root = self.close()?;
            } else if let Some(value) = self.item()? {
                self.put(value);
            } else {
                continue;
            }
            loop {
                if let Some(root) = root {
                    return Ok(root);
                }
                let end = self.scan.at;
                self.scan.space()?;
                match self.scan.byte() {
                    Some(b',') => break self.comma()?,
                    Some(b'}' | b']') | None => root = self.close()?,
                    _ if self.is_next_line(end)? => {
                        self.scan.repair(Repair::Comma, end, "a comma is missing")?;
                        self.unseparated = true;
                        break;
                    }
                    _ => {
                        return self
                            .scan
                            .wrong(self.scan.at, "expected a comma or the end of the list or object");
                    }
                }
            }
        }
    }

    /// Opens the list or object that begins here.
    fn enter(&mut self) -> Result<(), Fault> {
        let begin = self.scan.at;
        if self.below.len() + 1 == DEPTH && self.top.is_some() {
            self.scan.sure = true;
            return self.scan.wrong(begin, "too deep: JSON may be nested 127 times");
        }
        let frame = match self.scan.byte() {
            Some(b'{') => {
                Frame::Object(Object { begin, key: Cow::Borrowed(""), members: Vec::new(), quoted: false })
            }
            _ => Frame::List(Vec::new()),
        };
        if let Some(outer) = self.top.replace(frame) {
            self.below.push(outer);
        }
        self.scan.at += 1;
        self.scan.space()?;
        let comma = self.scan.at;
        if self.scan.byte() == Some(b',') {
            self.scan.repair(Repair::Comma, comma, "a comma before the first item")?;
            self.scan.at += 1;
            self.scan.space()?;
            if matches!(self.scan.byte(), Some(b',' | b'}' | b']')) {
                return self.scan.wrong(comma, "there is nothing at this comma");
            }
        }
        Ok(())
    }

    /// Reads an item or a member, or enters it.
    fn item(&mut self) -> Result<Option<Json<'t>>, Fault> {
        let role = match &self.top {
            Some(Frame::Object(_)) => {
                self.key()?;
                Role::Member
            }
            _ => Role::Item,
        };
        self.loose = false;
        let behind_words = std::mem::take(&mut self.bare);
        self.scan.prefix()?;
        let value = match self.scan.byte() {
            Some(b'{' | b'[') => {
                self.scan.sure |= role == Role::Member;
                return self.enter().map(|()| None);
            }
            Some(b'-' | b'+' | b'.' | b'0'..=b'9') => {
                if behind_words && self.ends_with_a_digit() {
                    return self.scan.wrong(
                        self.scan.at,
                        "a number, or a part of the string before the comma; put strings in quotes",
                    );
                }
                self.scan.sure |= role == Role::Member;
                self.loose = true;
                Json::Number(self.scan.number()?)
            }
            Some(b',' | b'}' | b']') => return self.scan.wrong(self.scan.at, "the value is missing"),
            None => return self.scan.truncated(),
            Some(_) if self.scan.char_at(self.scan.at).is_some_and(is_quote) => {
                self.scan.sure |= role == Role::Member;
                Json::String(self.scan.string(role)?)
            }
            Some(_) => {
                self.loose = true;
                let start = self.scan.at;
                let word = self.scan.word(role)?;
                self.bare = matches!(word, Json::String(_));
                if matches!(&word, Json::String(name) if stands_for_a_value(name)) {
                    self.name.get_or_insert(start);
                }
                if matches!(&word, Json::String(words) if words.contains(' '))
                    && self.scan.repairs.has(Repair::MissingQuote)
                {
                    return self
                        .scan
                        .wrong(start, "a string, or a part of one that has no end before; put it in quotes");
                }
                word
            }
        };
        Ok(Some(value))
    }

    /// Whether the last item does, so that a comma and a number may be the rest of it: `$1,234`, `March 3, 2024`.
    fn ends_with_a_digit(&self) -> bool {
        let Some(Frame::List(items)) = &self.top else { return false };
        matches!(items.last(), Some(Json::String(words)) if words.ends_with(char::is_numeric))
    }

    /// Reads a key and its colon.
    fn key(&mut self) -> Result<(), Fault> {
        self.scan.prefix()?;
        let quoted = self.scan.char_at(self.scan.at).is_some_and(is_quote);
        let start = self.scan.at;
        let key = if quoted { self.scan.string(Role::Key)? } else { self.scan.bare_key()? };
        let is_odd = |object: &Object<'_>| object.quoted || key.contains(' ');
        if self.bare && !quoted && matches!(&self.top, Some(Frame::Object(object)) if is_odd(object)) {
            return self
                .scan
                .wrong(start, "a key, or a part of the string before the comma; put both in quotes");
        }
        self.scan.space()?;
        match self.scan.byte() {
            Some(b':') => {
                self.scan.at += 1;
                self.scan.space()?;
            }
            None => return self.scan.truncated(),
            Some(_) if quoted && self.scan.char_at(self.scan.at).is_some_and(is_quote) => {
                self.scan.repair(Repair::Colon, self.scan.at, "expected a colon after the key")?;
            }
            Some(_) => return self.scan.wrong(self.scan.at, "expected a colon after the key"),
        }
        if let Some(Frame::Object(object)) = &mut self.top {
            object.key = key;
            object.quoted |= quoted;
        }
        self.scan.sure |= quoted;
        Ok(())
    }

    fn put(&mut self, value: Json<'t>) {
        match &mut self.top {
            Some(Frame::List(items)) => items.push(value),
            Some(Frame::Object(object)) => object.members.push((std::mem::take(&mut object.key), value)),
            None => {}
        }
    }

    /// Passes over the comma between two items, or over one too many.
    fn comma(&mut self) -> Result<(), Fault> {
        let mut comma = self.scan.at;
        if self.closed {
            return self.scan.wrong(comma, "text goes on after a bracket of the wrong kind");
        }
        // What follows a comma was not meant as a single word in brackets.
        self.scan.sure |= !self.loose;
        loop {
            self.scan.at += 1;
            self.scan.space()?;
            match self.scan.byte() {
                Some(b'}' | b']') => {
                    return self.scan.repair(Repair::Comma, comma, "a comma after the last item");
                }
                Some(b',') if matches!(self.top, Some(Frame::List(_))) => {
                    return self.scan.wrong(self.scan.at, "nothing stands between two commas");
                }
                Some(b',') => {
                    comma = self.scan.at;
                    self.scan.repair(Repair::Comma, comma, "nothing stands between two commas")?;
                }
                None => return self.scan.truncated(),
                Some(_) => return Ok(()),
            }
        }
    }

    /// Whether the next member, or list or object of a list of such, begins here, on another line than that on which the
    /// last one ended at `end`.
    fn is_next_line(&mut self, end: usize) -> Result<bool, Fault> {
        if self.closed || !self.scan.text[end..self.scan.at].contains('\n') {
            return Ok(false);
        }
        match (&self.top, self.scan.byte()) {
            (Some(Frame::Object(_)), _) => self.scan.is_key_ahead(self.scan.at),
            (Some(Frame::List(items)), Some(b'{')) => Ok(matches!(items.last(), Some(Json::Object(_)))),
            (Some(Frame::List(items)), Some(b'[')) => Ok(matches!(items.last(), Some(Json::Array(_)))),
            _ => Ok(false),
        }
    }

    /// Closes what the bracket here closes, or the end of the text. Returns the value if nothing is open then.
    fn close(&mut self) -> Result<Option<Json<'t>>, Fault> {
        let closes = self.closes()?;
        for _ in 0..closes {
            let value = match self.top.take() {
                Some(Frame::List(items)) => Json::Array(items),
                Some(Frame::Object(object)) => self.object(object),
                None => break,
            };
            self.top = self.below.pop();
            if self.top.is_none() {
                return Ok(Some(value));
            }
            self.put(value);
        }
        self.loose = false;
        Ok(None)
    }

    /// How many are closed here.
    fn closes(&mut self) -> Result<usize, Fault> {
        let at = self.scan.at;
        let wanted = self.top.as_ref().map(Frame::closer);
        let closer = self.scan.byte();
        if closer == wanted {
            self.scan.at += 1;
            return Ok(1);
        }
        let open = || self.top.iter().chain(self.below.iter().rev());
        let lists = open().take_while(|frame| matches!(frame, Frame::List(_))).count();
        let objects_only = open().all(|frame| matches!(frame, Frame::Object(_)));
        let depth = open().count();
        let closes = match closer {
            // A list that is open may lack items; an object, of which the last member is whole, lacks its brace.
            None if !self.scan.lenient
                || !objects_only
                || self.loose
                || self.is_empty()
                || self.is_unsure() =>
            {
                return self.scan.truncated();
            }
            // Of such marks it was assumed that the text is whole.
            None if [Repair::MissingQuote, Repair::InnerQuote]
                .iter()
                .any(|it| self.scan.repairs.has(*it)) =>
            {
                return self.scan.truncated();
            }
            None => depth,
            // Within an object, its brace closes its lists too.
            Some(b'}') if lists < depth => lists + 1,
            Some(b'}') => 1,
            Some(_) if objects_only => 1,
            Some(_) => return self.scan.wrong(at, "expected `}` before `]`"),
        };
        // `[[1]}`: a bracket too many, or one too few.
        let doubled = closer == Some(b'}')
            && matches!(&self.top, Some(Frame::List(items)) if matches!(&items[..], [Json::Array(_)]));
        if self.unseparated || doubled || (closer.is_some() && depth == 1 && self.is_empty()) {
            return self.scan.wrong(at, "a bracket of the wrong kind");
        }
        self.scan.repair(Repair::Closer, at, "a bracket of the wrong kind")?;
        self.scan.at += usize::from(closer.is_some());
        self.closed = true;
        if only_closers(&self.scan.text[self.scan.at..]) {
            return Ok(closes);
        }
        self.scan.wrong(at, "a bracket of the wrong kind")
    }

    /// Whether it was guessed which quotation marks end strings, or what the lines are, which a text that breaks off may belie.
    fn is_unsure(&self) -> bool {
        self.unseparated
            || self.scan.repairs.has(Repair::MissingQuote)
            || self.scan.repairs.has(Repair::InnerQuote)
    }

    /// Whether the innermost has nothing in it.
    fn is_empty(&self) -> bool {
        match &self.top {
            Some(Frame::Object(object)) => object.members.is_empty(),
            Some(Frame::List(items)) => items.is_empty(),
            None => true,
        }
    }

    /// The object with one member of each key.
    fn object(&mut self, object: Object<'t>) -> Json<'t> {
        let Object { begin, mut members, .. } = object;
        let twice = twice(&members);
        if twice.is_empty() {
            return Json::Object(members);
        }
        let mut dropped = vec![false; members.len()];
        for (first, second) in twice {
            self.scan.repairs.add(Repair::DuplicateKey, begin);
            if members[first].1 != members[second].1 && self.conflict.is_none() {
                self.conflict = Some((begin, members[first].0.to_string()));
            }
            dropped[second] = true;
        }
        let mut dropped = dropped.into_iter();
        members.retain(|_| !dropped.next().unwrap_or(false));
        Json::Object(members)
    }
}
