//! What stands around a value: nothing that counts, a call, or prose; or a sign that the value goes on.

use std::ops::Range;

use super::error::{ReadError, place};
use super::find::{Search, is_json};
use super::repair::{Repairs, is_quote, skip_blank};
use crate::flag::Repair;

mod code;

/// What a part of a text begins with, and where code stands in it.
pub(super) struct Lead {
    /// Where its comments and white space end.
    blank: usize,
    comments: Repairs,
    /// Where what is in the bracket begins, if a call comes next: `callback(`.
    call: Option<usize>,
    /// In their order.
    code: Vec<Range<usize>>,
}

impl Lead {
    /// `code`: where fences of code stand in the part.
    pub(super) fn of(text: &str, start: usize, code: Vec<Range<usize>>) -> Self {
        let (blank, mut comments) = blank(text, start);
        let name =
            text[blank..].bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let open = text[blank + name..].trim_start_matches(' ');
        let call = open.starts_with('(').then(|| text.len() - open.len() + 1).filter(|_| name > 0);
        let call = call.map(|open| {
            let (end, inner) = self::blank(text, open);
            comments.extend(&inner);
            end
        });
        Lead { blank, comments, call, code }
    }

    fn is_code(&self, at: usize) -> bool {
        let next = self.code.partition_point(|code| code.end <= at);
        self.code.get(next).is_some_and(|code| code.contains(&at))
    }

    /// Those before it.
    pub(super) fn comments(&self) -> Repairs {
        self.comments.clone()
    }

    /// Where the first of what counts begins.
    pub(super) fn begin(&self) -> usize {
        self.call.unwrap_or(self.blank)
    }
}

/// Why a value is perhaps none by itself, and where. Many of prose may have to be passed over, so that the place is
/// sought when it is told.
#[derive(Debug)]
pub(super) enum Doubt {
    /// It seems to be a part of another one.
    Part(usize),
    /// It seems to go on behind its end.
    GoesOn(usize),
    /// It seems to be a part of code.
    Code(usize),
    Tangled,
}

impl Doubt {
    pub(super) fn told(self, text: &str) -> ReadError {
        match self {
            Doubt::Part(at) => ReadError::Part { at: place(text, at) },
            Doubt::GoesOn(at) => ReadError::GoesOn { at: place(text, at) },
            Doubt::Code(at) => ReadError::Code { at: place(text, at) },
            Doubt::Tangled => ReadError::Tangled,
        }
    }
}

/// What stands around a value.
pub(super) struct Around {
    /// Comments, a call, a comma.
    pub(super) repairs: Repairs,
    pub(super) in_prose: bool,
}

impl Around {
    /// What stands around the value at `begin..end`.
    ///
    /// # Errors
    /// The value seems to go on behind its end, or to be a part of another one.
    pub(super) fn of(
        text: &str,
        begin: usize,
        end: usize,
        lead: &Lead,
        search: Search<'_, '_>,
    ) -> Result<Around, Doubt> {
        let before = &text[..begin];
        if is_item(before) || is_member(before) || is_member_of_lines(before) || is_tagged_argument(before) {
            return Err(Doubt::Part(begin));
        }
        if !is_apart(&text[end..])
            && let Some(at) = goes_on(text, begin, end).or_else(|| closes_more(text, begin, end))
        {
            return Err(Doubt::GoesOn(at));
        }
        let in_prose = Around { repairs: Repairs::default(), in_prose: true };
        let called = lead.call == Some(begin);
        let named = text[begin..].starts_with('{') && code::is_name(&text[..begin]);
        if lead.is_code(begin) || (!called && (named || code::is_before(&text[..begin]))) {
            return Err(Doubt::Code(begin));
        }
        if lead.blank != begin && !called {
            return Ok(in_prose);
        }
        let mut repairs = lead.comments.clone();
        let rest = tail(text, end, called, &mut repairs);
        if !search.fuel.spend(rest - end) {
            return Err(Doubt::Tangled);
        }
        let is_all = rest == text.len();
        if called && !is_all {
            return Err(Doubt::Code(begin));
        }
        if search.wanted.repaired {
            return Ok(if is_all { Around { repairs, in_prose: false } } else { in_prose });
        }
        let is_alone = !called && text[end..].trim().is_empty();
        Ok(if is_alone { Around { in_prose: !lead.comments.is_none(), ..in_prose } } else { in_prose })
    }
}

/// Where comments, and what ends a call or a line, end.
fn tail(text: &str, end: usize, called: bool, repairs: &mut Repairs) -> usize {
    let (mut at, comments) = blank(text, end);
    repairs.extend(&comments);
    let mut pass = |mark: char, at: usize| {
        let found = text[at..].starts_with(mark);
        let (end, comments) = blank(text, at + usize::from(found));
        repairs.extend(&comments);
        (found, end)
    };
    let (mut closed, mut comma) = (false, None);
    if called {
        (closed, at) = pass(')', at);
        (_, at) = pass(';', at);
    } else {
        let before = at;
        let found;
        (found, at) = pass(',', at);
        comma = found.then_some(before);
    }
    if let Some(at) = comma {
        repairs.add(Repair::Comma, at);
    }
    if called {
        repairs.add(Repair::Call, end);
        if !closed {
            repairs.add(Repair::Closer, end);
        }
    }
    at
}

/// Whether white space and then a word or nothing follows, as behind most values: nothing goes on there.
fn is_apart(behind: &str) -> bool {
    let next = behind.trim_start();
    next.len() < behind.len() && !next.starts_with(['"', '\'', ',', '}', ']'])
}

/// Where a value that ends at `end` goes on, by what follows: a word glued to it, or a further string.
fn goes_on(text: &str, begin: usize, end: usize) -> Option<usize> {
    let next = text[end..].chars().next()?;
    let quoted = is_quote(next) && next != '`' && !text[..begin].ends_with(next) && !is_closing(next);
    if quoted || next.is_alphanumeric() || matches!(next, '_' | '\\') {
        return Some(end);
    }
    if is_method(&text[end..]) {
        return Some(end);
    }
    let line = text[end..].trim_start_matches([' ', '\t']);
    let at = text.len() - line.len();
    if line.starts_with('"') && at > end {
        return Some(at);
    }
    // Also behind closers too many, and on further lines.
    let closers = |c: char| c.is_whitespace() || matches!(c, '}' | ']');
    let behind = text[end..].trim_start_matches(closers);
    let (rest, comma) = match behind.strip_prefix(',') {
        Some(rest) => (rest.trim_start(), true),
        None => (behind, false),
    };
    (if comma { is_next(rest) } else { is_key(rest) }).then(|| text.len() - rest.len())
}

/// Whether code goes on with what is made of the value: `.map(`.
fn is_method(behind: &str) -> bool {
    behind.strip_prefix('.').is_some_and(|name| {
        let open = name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        open.len() < name.len() && open.starts_with('(')
    })
}

/// Whether a further member or item begins, behind a comma.
fn is_next(text: &str) -> bool {
    let behind = text.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
    let word = &text[..text.len() - behind.len()];
    let behind = behind.trim_start_matches(' ');
    text.starts_with(['"', '\'', '{', '['])
        || (!word.is_empty() && behind.starts_with([':', ']', '}']))
        || (is_json(word) && (behind.is_empty() || behind.starts_with(['\n', '\r', ','])))
}

/// Whether a key in quotes and its colon begin, of no more than some words.
fn is_key(text: &str) -> bool {
    let Some(quote) = text.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        return false;
    };
    let text = &text[1..];
    let end = text.bytes().take(200).position(|byte| byte == quote as u8 || byte == b'\n');
    end.is_some_and(|end| {
        text[end..].starts_with(quote) && text[end + 1..].trim_start_matches(' ').starts_with(':')
    })
}

/// Where brackets are closed that nothing opened, and that may have stood within the value.
fn closes_more(text: &str, begin: usize, end: usize) -> Option<usize> {
    let rest = text[end..].trim_start_matches(|c: char| c.is_whitespace() || c == ',');
    // What is closed by a bracket of the other kind was an item or a member of more.
    let own = if text[begin..].starts_with('{') { "}" } else { "]" };
    // With nothing nested in it, no member can have come to another place.
    let is_nested = || text[begin + 1..end].contains(['{', '[']);
    let closer = rest.get(..1).filter(|next| matches!(*next, "}" | "]"));
    closer.is_some_and(|next| next != own || is_nested()).then(|| text.len() - rest.len())
}

/// Whether what follows `before` is an item behind another one, though no list was read.
fn is_item(before: &str) -> bool {
    let before = before.trim_end().strip_suffix(',');
    before.is_some_and(|before| before.trim_end().ends_with(['}', ']']))
}

/// Whether the value is that of a member of which the object was not read: `"key": `.
fn is_member(before: &str) -> bool {
    let Some(key) = before.trim_end().strip_suffix(':').and_then(|key| key.trim_end().strip_suffix('"'))
    else {
        return false;
    };
    // A quotation mark that none began on the line: the beginning is lost.
    let Some(open) = key.rfind(['"', '\n']).filter(|open| key[*open..].starts_with('"')) else {
        return true;
    };
    let before = key[..open].trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with(['\n', ',', '{'])
}

/// Whether the value is that of a member of which the others stand on lines of their own, as YAML writes them:
/// `name: Ann↵tags: `.
fn is_member_of_lines(before: &str) -> bool {
    const ANSWERS: [&str; 8] =
        ["answer", "final_answer", "output", "result", "response", "json", "final", "return"];
    let key = |line: &str| {
        let line = line.trim_start_matches([' ', '-', '*']);
        let is_key = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_';
        let length = line.bytes().take(64).take_while(is_key).count();
        (length > 0 && line[length..].starts_with(": ")).then_some(length)
    };
    let Some(line) = before.strip_suffix(": ") else { return false };
    let word = line.trim_end_matches(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    let indent = word.strip_suffix("- ").or_else(|| word.strip_suffix("* ")).unwrap_or(word);
    let Some(above) = indent.trim_end_matches(' ').strip_suffix('\n') else { return false };
    let own = &line[word.len()..];
    let above = above.trim_end().rsplit('\n').next().unwrap_or(above);
    !own.is_empty() && !ANSWERS.contains(&own) && key(above).is_some()
}

/// Whether the value is one argument of a call that is written in tags: `<parameter=name>`, `<arg_value>`.
fn is_tagged_argument(before: &str) -> bool {
    const NAMES: [&str; 5] = ["parameter", "param", "arg", "argument", "arg_value"];
    const LONGEST: usize = 120;
    let Some(tag) = before.trim_end().strip_suffix('>') else { return false };
    let near = &tag.as_bytes()[tag.len().saturating_sub(LONGEST)..];
    let Some(open) = near.iter().rposition(|byte| *byte == b'<') else { return false };
    let tag = &near[open + 1..];
    let length = tag.iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'_').count();
    NAMES.iter().any(|name| tag[..length].eq_ignore_ascii_case(name.as_bytes()))
}

/// Whether it can close a quotation around the value.
fn is_closing(c: char) -> bool {
    matches!(c, '”' | '’' | '“')
}

fn blank(text: &str, at: usize) -> (usize, Repairs) {
    let mut comments = Repairs::default();
    let end = skip_blank(text, at, &mut |repair, at| {
        if repair == Repair::Comment {
            comments.add(repair, at);
        }
    });
    (end, comments)
}
