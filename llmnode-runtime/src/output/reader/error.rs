//! What is wrong with a text that gives no JSON, and where, in one short line for the model.

use std::fmt;

use super::repair::{Fault, What};
use crate::text::one_line;

/// Characters of the text shown around a syntax error.
const EXCERPT: usize = 30;

/// Why no JSON was taken from a text. Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReadError {
    /// The text is empty.
    Empty,
    /// No JSON.
    Nothing,
    /// A list or a scalar where an object is wanted.
    NoObject { at: Place },
    /// Two values that differ, and where each begins.
    Ambiguous { first: Place, second: Place },
    /// JSON that ends before it is complete: where it begins.
    Truncated { begin: Place, excerpt: String },
    /// JSON with an error in it.
    Syntax { at: Place, what: String, excerpt: String },
    /// Text behind the JSON looks as if the JSON went on.
    GoesOn { at: Place },
    /// The JSON is an item of something that was not read.
    Part { at: Place },
    /// The JSON stands in code.
    Code { at: Place },
    /// Words in braces, among other words.
    Words { at: Place },
    /// `{}` or `[]` among other words.
    Mention { at: Place },
    /// Thoughts that never end.
    Thinking { at: Place },
    /// Too many places at which JSON could begin or a string end.
    Tangled,
    /// Longer than what is searched.
    TooLong,
    /// Other text stands beside the JSON, where nothing may.
    NotWhole,
}

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} column {}", self.line, self.column)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Empty => f.write_str("the answer is empty"),
            ReadError::Nothing => f.write_str("no JSON in the answer"),
            ReadError::NoObject { at } => {
                write!(f, "the JSON at {at} is no object")
            }
            ReadError::Ambiguous { first, second } => {
                write!(f, "two different JSON values, at {first} and at {second}")
            }
            ReadError::Truncated { begin, excerpt } => {
                write!(f, "the JSON that begins at {begin} is not complete; it ends in `{excerpt}`")
            }
            ReadError::Syntax { at, what, excerpt } => {
                write!(f, "invalid JSON at {at}: {what}, near `{excerpt}`")
            }
            ReadError::GoesOn { at } => write!(f, "the text at {at} follows the JSON as if that went on"),
            ReadError::Part { at } => {
                write!(f, "the JSON at {at} seems to be a part of more, which is no JSON")
            }
            ReadError::Code { at } => write!(f, "the JSON at {at} stands within code"),
            ReadError::Words { at } => write!(f, "the words in braces at {at} are not taken for JSON"),
            ReadError::Mention { at } => {
                write!(f, "the empty value at {at} among other text is not taken for the answer")
            }
            ReadError::Thinking { at } => {
                write!(f, "the thinking that begins at {at} never ends, so there is no answer")
            }
            ReadError::NotWhole => f.write_str("the answer is not whole JSON"),
            ReadError::Tangled => {
                f.write_str("too many brackets and quotation marks to tell where JSON begins")
            }
            ReadError::TooLong => f.write_str(
                "the answer is no JSON as it stands, and too long to look for JSON in it (over 16 MiB)",
            ),
        }
    }
}

impl ReadError {
    /// What a model is asked to do about it; empty where the fact says that.
    pub(crate) fn ask(&self) -> &'static str {
        match self {
            ReadError::Empty => "answer with one JSON value",
            ReadError::NoObject { .. } => "answer with one JSON object",
            ReadError::GoesOn { .. } | ReadError::Part { .. } => "answer with one complete JSON value only",
            ReadError::Thinking { .. } => "close it, and answer with one JSON value",
            ReadError::Words { .. } => "put keys and strings in quotes, and answer with one JSON value only",
            ReadError::Truncated { .. } | ReadError::Syntax { .. } | ReadError::NotWhole => "",
            ReadError::Nothing
            | ReadError::Ambiguous { .. }
            | ReadError::Code { .. }
            | ReadError::Mention { .. }
            | ReadError::Tangled
            | ReadError::TooLong => "answer with one JSON value only",
        }
    }
}

pub(super) fn nothing(text: &str) -> ReadError {
    if text.is_empty() { ReadError::Empty } else { ReadError::Nothing }
}

/// The error for the JSON that begins at `begin`, as the parser saw it.
pub(super) fn faulty(text: &str, begin: usize, fault: &Fault) -> ReadError {
    match &fault.what {
        What::Tangled => ReadError::Tangled,
        What::Truncated => truncated(text, begin, fault.at),
        What::Wrong(words) => syntax(text, fault.at, words.to_string()),
    }
}

/// The error for the JSON `json` that begins at `begin`, as serde_json saw it.
pub(super) fn broken(text: &str, begin: usize, json: &str, error: &serde_json::Error) -> ReadError {
    if error.is_eof() {
        return truncated(text, begin, begin + json.len());
    }
    let what = error.to_string();
    let what = what.split_once(" at line ").map_or(what.as_str(), |(what, _)| what).to_owned();
    syntax(text, begin + error_offset(json, error), what)
}

/// JSON that begins at `begin` and breaks off where the text before `end` does.
fn truncated(text: &str, begin: usize, end: usize) -> ReadError {
    let end = text[..boundary(text, end)].trim_end();
    let from = end.char_indices().rev().nth(EXCERPT - 1).map_or(0, |(at, _)| at).max(begin);
    let excerpt = one_line(&end[boundary(end, from)..], usize::MAX);
    ReadError::Truncated { begin: place(text, begin), excerpt }
}

/// An error at a place, in words.
pub(super) fn syntax(text: &str, at: usize, what: String) -> ReadError {
    let at = boundary(text, at);
    let from = boundary(text, at.saturating_sub(EXCERPT));
    let to = boundary(text, at + EXCERPT);
    ReadError::Syntax { at: place(text, at), what, excerpt: one_line(&text[from..to], usize::MAX) }
}

/// Where in `text` serde_json met the error: it counts lines from 1, and bytes in them.
fn error_offset(text: &str, error: &serde_json::Error) -> usize {
    let line = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
    line + error.column().saturating_sub(1)
}

/// `at` or the next place after it where a character begins.
pub(super) fn boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// Places of a text, one behind the other: many are found in one pass.
pub(super) struct Places<'t> {
    text: &'t str,
    offset: usize,
    last: Place,
}

impl<'t> Places<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Places { text, offset: 0, last: Place { line: 1, column: 1 } }
    }

    pub(super) fn at(&mut self, offset: usize) -> Place {
        let offset = boundary(self.text, offset);
        if offset < self.offset {
            *self = Places::of(self.text);
        }
        let next = place(&self.text[self.offset..], offset - self.offset);
        let column = if next.line == 1 { self.last.column + next.column - 1 } else { next.column };
        self.last = Place { line: self.last.line + next.line - 1, column };
        self.offset = offset;
        self.last
    }
}

pub(super) fn place(text: &str, offset: usize) -> Place {
    let before = &text[..boundary(text, offset)];
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    Place { line: before.matches('\n').count() + 1, column: before[line..].chars().count() + 1 }
}
