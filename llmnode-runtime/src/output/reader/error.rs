//! What is wrong with a text that gives no JSON, and where, in one short line for the model.

use std::fmt;

/// Characters of the text shown around a syntax error.
const EXCERPT: usize = 30;

/// Why no JSON was taken from a text. Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReadError {
    /// No JSON; `start` is how the text begins.
    Nothing { start: String },
    /// A list or a scalar where an object is wanted.
    NoObject { at: Place },
    /// Two values that differ, and where each begins.
    Ambiguous { first: Place, second: Place },
    /// JSON that ends before it is complete: where it begins.
    Truncated { begin: Place, excerpt: String },
    /// JSON with an error in it.
    Syntax { at: Place, what: String, excerpt: String },
}

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
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
            ReadError::Nothing { start } if start.is_empty() => {
                write!(f, "the answer is empty; answer with one JSON value")
            }
            ReadError::Nothing { .. } => write!(f, "no JSON in the answer; answer with one JSON value only"),
            ReadError::NoObject { at } => {
                write!(f, "the JSON at {at} is no object; answer with one JSON object")
            }
            ReadError::Ambiguous { first, second } => write!(
                f,
                "two different JSON values, at {first} and at {second}; answer with one JSON value only"
            ),
            ReadError::Truncated { begin, excerpt } => {
                write!(f, "the JSON that begins at {begin} is not complete; it ends in `{excerpt}`")
            }
            ReadError::Syntax { at, what, excerpt } => {
                write!(f, "invalid JSON at {at}: {what}, near `{excerpt}`")
            }
        }
    }
}

pub(super) fn nothing(text: &str) -> ReadError {
    ReadError::Nothing { start: one_line(text).take(EXCERPT * 2).collect() }
}

/// The error for the JSON that begins at `begin`, as serde_json saw it.
pub(super) fn broken(text: &str, begin: usize, error: &serde_json::Error) -> ReadError {
    if error.is_eof() {
        let end = text.trim_end();
        let from = end.char_indices().rev().nth(EXCERPT - 1).map_or(0, |(at, _)| at).max(begin);
        return ReadError::Truncated {
            begin: place(text, begin),
            excerpt: one_line(&end[from.min(end.len())..]).collect(),
        };
    }
    let at = boundary(text, begin + error_offset(&text[begin..], error));
    let from = boundary(text, at.saturating_sub(EXCERPT));
    let to = boundary(text, at + EXCERPT);
    let what = error.to_string();
    let what = what.split_once(" at line ").map_or(what.as_str(), |(what, _)| what).to_owned();
    ReadError::Syntax { at: place(text, at), what, excerpt: one_line(&text[from..to]).collect() }
}

/// A problem is told in one line, also where the text has several.
fn one_line(text: &str) -> impl Iterator<Item = char> {
    text.chars().map(|c| if c.is_control() { ' ' } else { c })
}

/// Where in `text` serde_json met the error: it counts lines from 1, and bytes in them.
pub(super) fn error_offset(text: &str, error: &serde_json::Error) -> usize {
    let line = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
    line + error.column().saturating_sub(1)
}

/// `at` or the next place after it where a character begins.
pub(super) fn boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// Where `part`, a slice of `text`, begins in it.
pub(super) fn offset_of(text: &str, part: &str) -> usize {
    part.as_ptr().addr().saturating_sub(text.as_ptr().addr())
}

pub(super) fn place(text: &str, offset: usize) -> Place {
    let before = &text[..boundary(text, offset)];
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    Place { line: before.matches('\n').count() + 1, column: before[line..].chars().count() + 1 }
}
