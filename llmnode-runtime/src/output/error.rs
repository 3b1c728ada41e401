//! What is wrong with a text that gives no value, in one short sentence with line and column.

use super::repair::Fault;
use crate::text::{floor_char_boundary, one_line};
use crate::validate::Violation;

/// Characters of the text shown around a syntax error.
const EXCERPT: usize = 30;

/// Line and column of a place in a text, each from 1; columns count characters.
pub(super) fn place(text: &str, at: usize) -> String {
    let before = &text[..floor_char_boundary(text, at)];
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    format!("line {} column {}", before.matches('\n').count() + 1, before[line..].chars().count() + 1)
}

/// JSON that begins at `begin`, and is broken.
pub(super) fn broken(text: &str, begin: usize, fault: &Fault) -> Violation {
    let Some(what) = &fault.what else {
        let end = text.trim_end();
        let from =
            end.char_indices().rev().nth(EXCERPT - 1).map_or(0, |(at, _)| at).max(begin.min(end.len()));
        let excerpt = one_line(&end[floor_char_boundary(end, from)..], usize::MAX);
        let message =
            format!("the JSON that begins at {} is not complete; it ends in `{excerpt}`", place(text, begin));
        return Violation::new("", message);
    };
    let from = floor_char_boundary(text, fault.at.saturating_sub(EXCERPT));
    let to = floor_char_boundary(text, fault.at + EXCERPT);
    let excerpt = one_line(&text[from..to.max(from)], usize::MAX);
    Violation::new("", format!("invalid JSON at {}: {what}, near `{excerpt}`", place(text, fault.at)))
}

/// Two values that differ.
pub(super) fn two(text: &str, first: usize, second: usize) -> Violation {
    let message =
        format!("two different JSON values, at {} and at {}", place(text, first), place(text, second));
    asked(message, "answer with one JSON value only")
}

/// Thoughts that never end.
pub(super) fn endless(text: &str, begin: usize) -> Violation {
    let message =
        format!("the thinking that begins at {} never ends, so there is no answer", place(text, begin));
    asked(message, "close it, and answer with one JSON value")
}

/// No JSON; `shape`: what is wanted.
pub(super) fn nothing(text: &str, shape: Option<String>) -> Violation {
    let message = if text.trim().is_empty() { "the answer is empty" } else { "no JSON in the answer" };
    let ask = "answer with one JSON value only";
    asked(message, shape.map_or_else(|| ask.to_owned(), |shape| format!("{ask}: {shape}")))
}

pub(super) fn not_whole() -> Violation {
    Violation::new("", "the answer is not whole JSON")
}

pub(super) fn too_long() -> Violation {
    asked(
        "the answer is not JSON, and too long to search for JSON (over 16 MiB)",
        "answer with one JSON value only",
    )
}

fn asked(message: impl Into<String>, ask: impl Into<String>) -> Violation {
    Violation { ask: ask.into().into(), ..Violation::new("", message) }
}
