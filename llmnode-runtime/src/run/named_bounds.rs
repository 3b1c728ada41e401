//! Whether a corrected answer is the bound that a complaint named.
//!
//! A complaint has to name a bound ("must be at least 15"), and a small model
//! copies it. In come the complaints of a turn, as they were told, and at last the
//! answer that was accepted. A value of it that stands in a complaint about its own
//! place is flagged; what the complaint says it *was* is not in the answer any
//! more, or it would be refused again.

use llmnode_reader::internal::WRAPPER;
use llmnode_reader::{Reader, Violation};
use serde_json::Value;

/// The complaints of a turn that name a bound.
#[derive(Default)]
pub(super) struct NamedBounds(Vec<Violation>);

impl NamedBounds {
    /// Adds those of a correction. A bound has a digit in it, and a model reads no warnings.
    pub(super) fn add(&mut self, violations: &[Violation]) {
        for violation in violations {
            if !violation.warning && has_digit(&violation.message) {
                self.0.push(violation.clone());
            }
        }
    }

    pub(super) fn are_met_exactly(&self, accepted: &str) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let Ok(read) = Reader::new().value(accepted) else {
            return false;
        };
        self.0.iter().any(|violation| {
            let value = at(&read.value, &violation.path);
            value.is_some_and(|value| is_named(value, &violation.message))
        })
    }

    pub(super) fn end(&mut self) {
        self.0.clear();
    }
}

/// The value at a path such as `steps[2].item`.
fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    if let Some(found) = steps(path).try_fold(value, within) {
        return Some(found);
    }
    // What wraps a value that is no object may be left out.
    let mut steps = steps(path);
    steps.next().filter(|first| *first == WRAPPER)?;
    steps.try_fold(value, within)
}

fn steps(path: &str) -> impl Iterator<Item = &str> {
    path.split(['.', '['])
        .filter(|step| !step.is_empty())
        .map(|step| step.trim_end_matches(']'))
}

fn within<'v>(value: &'v Value, step: &str) -> Option<&'v Value> {
    match value {
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        value => value.get(step),
    }
}

/// As a number, or as a text with a digit in it, such as a date.
fn is_named(value: &Value, message: &str) -> bool {
    match value {
        Value::Number(number) => numbers(message).any(|named| Some(named) == number.as_f64()),
        Value::String(text) => has_digit(text) && words(message).any(|word| word == text),
        _ => false,
    }
}

fn has_digit(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit())
}

/// The words of a complaint, without the marks around them.
fn words(message: &str) -> impl Iterator<Item = &str> {
    message
        .split_whitespace()
        .map(|word| word.trim_matches(is_mark))
}

fn is_mark(c: char) -> bool {
    matches!(c, '"' | '\'' | '`' | ',' | ';' | ':' | '(' | ')' | '.')
}

fn numbers(message: &str) -> impl Iterator<Item = f64> {
    words(message).filter_map(|word| word.parse().ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_at_its_own_place_that_was_named_is_at_its_bound() {
        let of = |path: &str, message: &str, accepted: Value| {
            let mut bounds = NamedBounds::default();
            bounds.add(&[Violation::new(path, message)]);
            bounds.are_met_exactly(&accepted.to_string())
        };
        let least = "is 3, must be at least 15";
        assert!(of("age", least, json!({"age": 15})));
        assert!(of(
            "rows[1].age",
            least,
            json!({"rows": [{"age": 3}, {"age": 15.0}]})
        ));
        assert!(of("value", least, json!(15)), "the wrapper may be left out");
        assert!(of(
            "born",
            "must not be before 2020-01-31.",
            json!({"born": "2020-01-31"})
        ));
        assert!(!of("age", least, json!({"age": 16})));
        assert!(
            !of("age", least, json!({"age": 1, "size": 15})),
            "another place"
        );
        assert!(
            !of(
                "name",
                "has 2 characters, must have 5",
                json!({"name": "Marie"})
            ),
            "a length is no value"
        );
        assert!(!of("", "is no answer", json!({"age": 15})));
    }
}
