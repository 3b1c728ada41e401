//! Violations for a text that yields no value, each one short sentence with line and column.
//!
//! Models read them, so each says what to do, where that is not plain: a change of
//! a sentence is a change of prompts.

use super::repair::SyntaxError;
use crate::text::{floor_char_boundary, one_line};
use crate::violation::Violation;

/// On either side of a fault: enough to find it by.
const EXCERPT_CHARS: usize = 30;

/// As editors count: both from 1, columns in characters.
pub(super) fn line_and_column(text: &str, at: usize) -> String {
    let before = &text[..floor_char_boundary(text, at)];
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    format!(
        "line {} column {}",
        before.matches('\n').count() + 1,
        before[line..].chars().count() + 1
    )
}

/// JSON that does not parse. Of a text that breaks off, its end is shown, else what
/// is around the fault.
pub(super) fn broken(text: &str, begin: usize, fault: &SyntaxError) -> Violation {
    let Some(what) = &fault.what else {
        return incomplete(text, begin);
    };
    let from = floor_char_boundary(text, fault.at.saturating_sub(EXCERPT_CHARS));
    let to = floor_char_boundary(text, fault.at + EXCERPT_CHARS);
    let excerpt = one_line(&text[from..to.max(from)], usize::MAX);
    let place = line_and_column(text, fault.at);
    let message = format!("invalid JSON at {place}: {what}, near `{excerpt}`");
    Violation::new("", message)
}

/// JSON that breaks off. Its end shows a model where it was cut.
fn incomplete(text: &str, begin: usize) -> Violation {
    let text = text.trim_end();
    let mut last_characters = text.char_indices().rev();
    let near_end = match last_characters.nth(EXCERPT_CHARS - 1) {
        Some((at, _)) => at,
        None => 0,
    };
    let from = near_end.max(begin.min(text.len()));
    let excerpt = one_line(&text[floor_char_boundary(text, from)..], usize::MAX);
    let message = format!(
        "the JSON that begins at {} is not complete; it ends in `{excerpt}`",
        line_and_column(text, begin)
    );
    Violation::new("", message)
}

/// Two values that the type takes, and that are not the same.
pub(super) fn two(text: &str, first: usize, second: usize) -> Violation {
    let message = format!(
        "two different JSON values, at {} and at {}",
        line_and_column(text, first),
        line_and_column(text, second)
    );
    with_remedy(message, "answer with one JSON value only")
}

/// Of a text that is nothing but thoughts, as far as anybody can tell.
pub(super) fn unclosed_thinking(text: &str, begin: usize) -> Violation {
    let message = format!(
        "the thinking that begins at {} never ends, so there is no answer",
        line_and_column(text, begin)
    );
    with_remedy(message, "close it, and answer with one JSON value")
}

/// A text without any JSON. `shape`: what was expected, in words.
pub(super) fn nothing(text: &str, shape: Option<String>) -> Violation {
    let message = if text.trim().is_empty() {
        "the answer is empty"
    } else {
        "no JSON in the answer"
    };
    let mut remedy = "answer with one JSON value only".to_owned();
    if let Some(shape) = shape {
        remedy.push_str(": ");
        remedy.push_str(&shape);
    }
    with_remedy(message, remedy)
}

/// For callers who said that nothing may surround the JSON: the text is not from a
/// model, so there is nothing to ask of one.
pub(super) fn not_only_json() -> Violation {
    Violation::new("", "the answer is not whole JSON")
}

/// Of a text in which no JSON is looked for.
pub(super) fn too_long() -> Violation {
    with_remedy(
        "the answer is not JSON, and too long to search for JSON (over 16 MiB)",
        "answer with one JSON value only",
    )
}

/// Of JSON that would fill the memory.
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
