//! Strings in quotes of all kinds: where they end, and what they hold.

use std::borrow::Cow;

use super::fault::Fault;
use super::scan::{Scan, is_quote};
use crate::flag::Repair;

mod decode;
mod inner;

/// What a string is for, which says what may follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Key,
    /// The value of a member.
    Member,
    /// An item of a list.
    Item,
}

/// What follows a quotation mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Follow {
    /// What can follow the end of a string and hardly anything else.
    Strong,
    /// What can follow the end of a string.
    Weak,
    /// A colon: this was the end of a key, though no key is due here.
    Colon,
    /// Another quotation mark.
    Quote,
    /// A key and its colon on another line: the string's end, and a comma is missing.
    Line,
    Other,
}

/// Whether `c` can end a string that `quote` began.
pub(super) fn ends(quote: char, c: char) -> bool {
    match quote {
        '“' | '”' | '„' => matches!(c, '“' | '”'),
        '‘' | '’' | '‚' => matches!(c, '‘' | '’'),
        '`' | '´' => matches!(c, '`' | '´'),
        other => other == c,
    }
}

impl<'t> Scan<'t, '_> {
    /// The string that begins with the quotation mark here.
    pub(super) fn string(&mut self, role: Role) -> Result<Cow<'t, str>, Fault> {
        let open = self.at;
        let quote = self.char_at(open).unwrap_or('"');
        if quote != '"' {
            self.repair(Repair::Quotes, open, "strings and keys must stand in double quotes")?;
        }
        if role != Role::Key && matches!(quote, '"' | '\'') {
            let triple = if quote == '"' { "\"\"\"" } else { "'''" };
            if self.rest().starts_with(triple) {
                return self.triple(open, triple);
            }
        }
        let start = open + quote.len_utf8();
        let mut inner = Vec::new();
        let mut escapes = false;
        let mut at = start;
        loop {
            let from = at;
            at = match self.next_mark(at, quote) {
                None if role == Role::Member => return self.without_end(start, self.text.len()),
                None => return self.truncated(),
                Some(at) => at,
            };
            let Some(mark) = self.char_at(at).filter(|c| *c != '\\') else {
                escapes = true;
                at += 1 + self.char_at(at + 1).map_or(0, char::len_utf8);
                continue;
            };
            let after = at + mark.len_utf8();
            // What is no string of JSON here is none of JSON at all.
            let follow = if self.lenient { self.follow(after, role)? } else { Follow::Strong };
            match follow {
                Follow::Strong | Follow::Weak => {
                    if let Some(missing) = self.judge(role, start, &inner, at, follow)? {
                        self.at = missing;
                        return self.content(start, missing, escapes, quote);
                    }
                    self.at = after;
                    // Whatever is wrong within it: this is no prose.
                    self.sure |= follow == Follow::Strong || (quote == '"' && role != Role::Key);
                    return self.content(start, at, escapes, quote);
                }
                Follow::Line if inner.is_empty() => {
                    self.at = after;
                    self.sure = true;
                    return self.content(start, at, escapes, quote);
                }
                Follow::Colon => {
                    return self.wrong(at, "a quotation mark before a colon, where no key is due");
                }
                Follow::Quote | Follow::Line => {
                    return self.wrong(
                        at,
                        "two quotation marks with nothing between them: a comma is missing, or `\\\"` within a string",
                    );
                }
                Follow::Other if role == Role::Key => {
                    return self.wrong(after, "expected a colon after the key");
                }
                Follow::Other => {
                    // All this may have to be looked at again.
                    self.spend(after - from)?;
                    inner.push(at);
                }
            }
            at = after;
        }
    }

    /// Where the next backslash or mark that could end the string is.
    pub(super) fn next_mark(&self, from: usize, quote: char) -> Option<usize> {
        let bytes = self.text.as_bytes().get(from..)?;
        if quote.is_ascii() && quote != '`' {
            let quote = quote as u8;
            return bytes.iter().position(|byte| *byte == quote || *byte == b'\\').map(|found| from + found);
        }
        self.text[from..].find(|c| c == '\\' || ends(quote, c)).map(|found| from + found)
    }

    fn follow(&self, after: usize, role: Role) -> Result<Follow, Fault> {
        let at = self.ahead(after)?;
        Ok(match (self.byte_at(at), role) {
            (Some(b':'), Role::Key) => Follow::Strong,
            (Some(b':'), _) => Follow::Colon,
            (None, Role::Key) => Follow::Weak,
            (Some(b',' | b'}' | b']'), Role::Key) => Follow::Other,
            (None | Some(b'}' | b']'), _) => Follow::Weak,
            (Some(b','), Role::Item) => Follow::Strong,
            (Some(b','), _) => {
                let mut next = self.ahead(at + 1)?;
                while self.byte_at(next) == Some(b',') {
                    self.spend(1)?;
                    next = self.ahead(next + 1)?;
                }
                match self.byte_at(next) {
                    None | Some(b'}' | b']') => Follow::Weak,
                    Some(_) if self.is_key_ahead(next)? => Follow::Strong,
                    Some(_) => Follow::Other,
                }
            }
            (Some(_), Role::Member) if self.text[after..at].contains('\n') && self.is_key_ahead(at)? => {
                Follow::Line
            }
            (Some(_), role) if self.char_at(at).is_some_and(is_quote) => {
                if role == Role::Key && at > after {
                    Follow::Weak
                } else {
                    Follow::Quote
                }
            }
            (Some(_), _) => Follow::Other,
        })
    }

    /// A string in three quotation marks on each side, in which single ones say nothing.
    fn triple(&mut self, open: usize, marks: &str) -> Result<Cow<'t, str>, Fault> {
        self.repair(Repair::Quotes, open, "strings must stand in double quotes")?;
        let start = open + 3;
        let Some(end) = self.text[start..].find(marks).map(|found| start + found) else {
            self.at = open;
            return self.truncated();
        };
        if self.text[start..end].trim_start().starts_with([',', ':', '}', ']']) {
            return self.wrong(open, "three quotation marks, which may be a string of one");
        }
        if self.text[end + 3..].starts_with(&marks[..1]) {
            return self.wrong(end, "more than three quotation marks");
        }
        self.at = end + 3;
        let escapes = self.text[start..end].contains('\\');
        self.decoded(start, end, escapes, '"')
    }
}
