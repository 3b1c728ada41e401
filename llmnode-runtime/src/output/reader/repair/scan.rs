//! A place in a text, what stands there, and what may be passed over.

use std::cell::Cell;

use super::comment;
use super::fault::{Fault, What};
use super::notes::Repairs;
use crate::flag::Repair;

/// How much of a text may be looked at more than once, in bytes, so that the time stays linear for any text.
#[derive(Debug)]
pub(in super::super) struct Fuel(Cell<usize>);

impl Fuel {
    /// No text that was meant as JSON comes near it.
    const TIMES: usize = 12;

    pub(in super::super) fn of(text: &str) -> Self {
        Fuel(Cell::new(text.len().saturating_mul(Self::TIMES).saturating_add(4096)))
    }

    /// Whether there is enough left for `bytes` more.
    pub(in super::super) fn spend(&self, bytes: usize) -> bool {
        let left = self.0.get().checked_sub(bytes);
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }
}

/// A place in a text.
#[derive(Debug)]
pub(super) struct Scan<'t, 'f> {
    /// Up to where JSON may go on.
    pub(super) text: &'t str,
    /// Always where a character begins, or the end.
    pub(super) at: usize,
    pub(super) lenient: bool,
    pub(super) repairs: Repairs,
    /// Whether this can only be meant as JSON.
    pub(super) sure: bool,
    pub(super) fuel: &'f Fuel,
}

impl<'t> Scan<'t, '_> {
    pub(super) fn byte(&self) -> Option<u8> {
        self.byte_at(self.at)
    }

    pub(super) fn byte_at(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn char_at(&self, at: usize) -> Option<char> {
        match self.byte_at(at)? {
            ascii @ ..0x80 => Some(char::from(ascii)),
            _ => self.text[at..].chars().next(),
        }
    }

    pub(super) fn fault(&self, at: usize, what: What) -> Fault {
        Fault { what, at, reached: self.at.max(at), sure: self.sure }
    }

    pub(super) fn wrong<T>(&self, at: usize, words: &'static str) -> Result<T, Fault> {
        Err(self.fault(at, What::is(words)))
    }

    pub(super) fn truncated<T>(&self) -> Result<T, Fault> {
        let fault = self.fault(self.text.len(), What::Truncated);
        Err(Fault { sure: true, ..fault })
    }

    /// Notes a repair, or refuses it where nothing is repaired.
    pub(super) fn repair(&mut self, repair: Repair, at: usize, words: &'static str) -> Result<(), Fault> {
        if !self.lenient {
            return self.wrong(at, words);
        }
        self.repairs.add(repair, at);
        Ok(())
    }

    /// Passes over white space and comments.
    pub(super) fn space(&mut self) -> Result<(), Fault> {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.byte() {
            self.at += 1;
        }
        if !matches!(self.byte(), Some(b'/' | b'#' | 0x0b | 0x0c | 0x80..)) {
            return Ok(());
        }
        let (text, repairs) = (self.text, &mut self.repairs);
        let (mut first, mut swallowed) = (None, None);
        let end = skip_blank(text, self.at, &mut |repair, at| {
            first.get_or_insert(at);
            repairs.add(repair, at);
            if repair == Repair::Comment && comment::hides_a_member(&text[at..]) {
                swallowed.get_or_insert(at);
            }
        });
        match first.map(|at| swallowed.unwrap_or(at)) {
            Some(at) if !self.lenient => self.wrong(at, "JSON has no comments and no such white space"),
            Some(at) if swallowed.is_some() => {
                self.wrong(at, "a comment in which a member seems to stand; leave the comment out")
            }
            Some(at) if self.text[self.at..end].contains("...") || self.text[self.at..end].contains('…') => {
                self.wrong(at, "an ellipsis in a comment stands for what was left out; write all of it")
            }
            Some(at) if comment::stands_for_more(&self.text[self.at..end]) => {
                self.wrong(at, "words in a comment stand for what was left out; write all of it")
            }
            _ => {
                self.at = end;
                Ok(())
            }
        }
    }

    /// Where the next token begins. Notes nothing.
    ///
    /// # Errors
    /// The text was looked at too often.
    pub(super) fn ahead(&self, at: usize) -> Result<usize, Fault> {
        if self.byte_at(at).is_some_and(|byte| byte > b' ' && byte < 0x80 && byte != b'/' && byte != b'#') {
            return Ok(at);
        }
        let end = skip_blank(self.text, at, &mut |_, _| {});
        self.spend(end - at)?;
        Ok(end)
    }

    pub(super) fn spend(&self, bytes: usize) -> Result<(), Fault> {
        if self.fuel.spend(bytes) { Ok(()) } else { Err(self.fault(self.at, What::Tangled)) }
    }
}

/// Where white space and comments that begin at `at` end. `note` hears of those that JSON doesn't have.
pub(in super::super) fn skip_blank(text: &str, mut at: usize, note: &mut impl FnMut(Repair, usize)) -> usize {
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at) {
        let (repair, end) = match byte {
            b' ' | b'\n' | b'\t' | b'\r' => {
                at += 1;
                continue;
            }
            0x0b | 0x0c => (Repair::Space, at + 1),
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                (Repair::Comment, line_end(text, at).unwrap_or(text.len()))
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                (Repair::Comment, text[at + 2..].find("*/").map_or(text.len(), |found| at + 2 + found + 2))
            }
            // On the last line, what closes the JSON may stand behind it: it is rarer than `//`.
            b'#' => match line_end(text, at) {
                Some(end) if !is_hash_tag(&text[at..end]) => (Repair::Comment, end),
                _ => return at,
            },
            0x80.. => match text[at..].chars().next().filter(|c| is_space(*c)) {
                Some(c) => (Repair::Space, at + c.len_utf8()),
                None => return at,
            },
            _ => return at,
        };
        note(repair, at);
        at = end;
    }
    at
}

/// Whether a line is a word such as `#ff0000,` and no comment.
pub(super) fn is_hash_tag(line: &str) -> bool {
    let word = line.trim_start_matches('#').trim_end();
    word.starts_with(char::is_alphanumeric) && !word.contains(char::is_whitespace)
}

fn line_end(text: &str, at: usize) -> Option<usize> {
    text[at..].find('\n').map(|found| at + found)
}

/// White space, also of no width.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}

/// Whether a string may begin with it.
pub(in super::super) fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`' | '´' | '“' | '”' | '„' | '‘' | '’' | '‚')
}
