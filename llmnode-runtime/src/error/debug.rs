//! What `main` prints: what went wrong where, without the model's text.

use std::collections::HashSet;
use std::fmt;

use llmnode_model::{Category, Group};
use llmnode_reader::text::visible;

use super::{Inner, NodeError};
use crate::ledger::AttemptRecord;

impl fmt::Debug for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            category,
            node,
            position,
            retry_after,
            ..
        } = &*self.0;
        let mut shown = f.debug_struct("NodeError");
        shown.field("category", category);
        if !node.is_empty() {
            shown.field("node", node);
        }
        if let Some(position) = position {
            shown.field("position", position);
        }
        if !self.attempts().is_empty() {
            shown.field("attempts", &self.attempts().len());
        }
        match self.attempts().last() {
            Some(last) if category.group() == Group::Answer && !last.violations.is_empty() => {
                shown.field("violations", &violations(last));
            }
            // Refusals quote the answer, and a validator's panic may show the value it checked.
            _ if category.group() == Group::Answer
                || matches!(category, Category::Refusal | Category::Panic) =>
            {
                shown.field("message", &"may quote the model: print the error with `{}`");
            }
            _ => {
                shown.field("message", &Lines(&self.shown()));
            }
        }
        if let Some(wait) = retry_after {
            shown.field("retry_after", wait);
        }
        shown.finish_non_exhaustive()
    }
}

/// A text of several lines, such as what differs from a recording, is printed as lines.
struct Lines<'t>(&'t str);

impl fmt::Debug for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.contains('\n') {
            true => write!(f, "\n{}\n", visible(self.0)),
            false => write!(f, "{:?}", self.0),
        }
    }
}

/// A longer answer was cut, so not all of its words are known.
const LONGEST: usize = 64 * 1024 - 4;

fn violations(attempt: &AttemptRecord) -> Vec<String> {
    let answer = attempt
        .answer
        .as_deref()
        .filter(|answer| answer.len() < LONGEST)
        .map(str::to_lowercase);
    let words: Option<HashSet<_>> = answer
        .as_deref()
        .map(|answer| answer.split(is_separator).collect());
    let wrong = attempt
        .violations
        .iter()
        .filter(|violation| !violation.warning);
    let shown = wrong.map(|violation| {
        let reason = match &words {
            Some(words) => without_words(&unquoted(&violation.message), words),
            None => "…".to_owned(),
        };
        match unquoted(&violation.path).as_str() {
            "" => reason,
            path => format!("{path}: {reason}"),
        }
    });
    shown.take(8).collect()
}

fn is_separator(c: char) -> bool {
    !c.is_alphanumeric()
}

fn unquoted(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if !matches!(c, '"' | '`') {
            kept.push(c);
            continue;
        }
        kept.push('…');
        while let Some(inner) = rest.next() {
            match inner {
                '\\' => drop(rest.next()),
                end if end == c => break,
                _ => {}
            }
        }
    }
    kept
}

fn is_hidden(word: &str, answer: &HashSet<&str>) -> bool {
    let is_small = word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    !word.is_ascii() || !is_small && answer.contains(word.to_ascii_lowercase().as_str())
}

/// Validators may quote the answer without quotation marks, so its words are hidden, but for those of up to two
/// letters. Words of other scripts always are: their boundaries are unknown here.
fn without_words(reason: &str, answer: &HashSet<&str>) -> String {
    let mut shown = String::new();
    for piece in reason.split_inclusive(is_separator) {
        let word = piece.trim_end_matches(is_separator);
        match (is_hidden(word, answer), &piece[word.len()..]) {
            (false, _) => shown.push_str(piece),
            (true, rest) if shown.trim_end().ends_with('…') => shown.push_str(rest.trim_start()),
            (true, rest) => shown.extend(["…", rest]),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(reason: &str, answer: &str) -> String {
        let answer = answer.to_lowercase();
        without_words(&unquoted(reason), &answer.split(is_separator).collect())
    }

    #[test]
    fn a_reason_has_neither_quotations_nor_words_of_the_answer() {
        for (reason, answer, expected) in [
            (
                r#""axe" is not available"#,
                r#"{"item": "axe"}"#,
                "… is not available",
            ),
            (
                "axe is not available",
                r#"{"item": "Axe"}"#,
                "… is not available",
            ),
            (
                "the red axe, is it?",
                r#"{"item": "red axe"}"#,
                "the … , is it?",
            ),
            (
                r#"expected one of `a`, found "b \" c"#,
                "",
                "expected one of …, found …",
            ),
            ("42 is over 7", "[42, 7]", "… is over …"),
            ("鍵はない", "鍵", "…"),
            ("is empty", r#"{"item": ""}"#, "is empty"),
            ("", "", ""),
        ] {
            assert_eq!(shown(reason, answer), expected, "{reason}");
        }
    }
}
