//! Violations for a text that yields no value, each one short sentence with line and column.

use super::repair::SyntaxError;
use crate::text::{floor_char_boundary, one_line};
use crate::violation::Violation;

const EXCERPT_CHARS: usize = 30;

pub(super) fn line_and_column(text: &str, at: usize) -> String {
    let before = &text[..floor_char_boundary(text, at)];
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    format!(
        "line {} column {}",
        before.matches('\n').count() + 1,
        before[line..].chars().count() + 1
    )
}

pub(super) fn broken(text: &str, begin: usize, fault: &SyntaxError) -> Violation {
    let Some(what) = &fault.what else {
        let end = text.trim_end();
        let from = end
            .char_indices()
            .rev()
            .nth(EXCERPT_CHARS - 1)
            .map_or(0, |(at, _)| at)
            .max(begin.min(end.len()));
        let excerpt = one_line(&end[floor_char_boundary(end, from)..], usize::MAX);
        let message = format!(
            "the JSON that begins at {} is not complete; it ends in `{excerpt}`",
            line_and_column(text, begin)
        );
        return Violation::new("", message);
    };
    let from = floor_char_boundary(text, fault.at.saturating_sub(EXCERPT_CHARS));
    let to = floor_char_boundary(text, fault.at + EXCERPT_CHARS);
    let excerpt = one_line(&text[from..to.max(from)], usize::MAX);
    Violation::new(
        "",
        format!(
            "invalid JSON at {}: {what}, near `{excerpt}`",
            line_and_column(text, fault.at)
        ),
    )
}

pub(super) fn two(text: &str, first: usize, second: usize) -> Violation {
    let message = format!(
        "two different JSON values, at {} and at {}",
        line_and_column(text, first),
        line_and_column(text, second)
    );
    with_remedy(message, "answer with one JSON value only")
}

pub(super) fn unclosed_thinking(text: &str, begin: usize) -> Violation {
    let message = format!(
        "the thinking that begins at {} never ends, so there is no answer",
        line_and_column(text, begin)
    );
    with_remedy(message, "close it, and answer with one JSON value")
}

pub(super) fn nothing(text: &str, shape: Option<String>) -> Violation {
    let message = if text.trim().is_empty() {
        "the answer is empty"
    } else {
        "no JSON in the answer"
    };
    let remedy = "answer with one JSON value only";
    with_remedy(
        message,
        shape.map_or_else(|| remedy.to_owned(), |shape| format!("{remedy}: {shape}")),
    )
}

pub(super) fn not_only_json() -> Violation {
    Violation::new("", "the answer is not whole JSON")
}

pub(super) fn too_long() -> Violation {
    with_remedy(
        "the answer is not JSON, and too long to search for JSON (over 16 MiB)",
        "answer with one JSON value only",
    )
}

pub(super) fn too_many_values() -> Violation {
    with_remedy(
        "the answer has more values than are read (50,000 objects, or 500,000 values)",
        "answer with fewer values",
    )
}

fn with_remedy(message: impl Into<String>, remedy: impl Into<String>) -> Violation {
    Violation {
        remedy: remedy.into().into(),
        ..Violation::new("", message)
    }
}
