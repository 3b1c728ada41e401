//! Which stacks make sense. `#[llm_node]` refuses the same ones at compile time;
//! here they are checked for the settings of calls and runs, and for nodes that are
//! built when the program runs.

use llmnode_model::{Category, Group};

use super::recovery::{Failures, Recovery};
use crate::output::AnswerKind;

/// Checks one stack; the first fault is returned. `fallback`: the node has a fallback value.
pub(crate) fn check(
    failures: Failures,
    steps: &[Recovery],
    fallback: bool,
    answers: AnswerKind,
) -> Result<(), String> {
    let fault = key(failures, answers).or_else(|| order(steps)).or_else(|| {
        steps
            .iter()
            .find_map(|step| misplaced(step, failures, fallback, answers))
    });
    match fault {
        None => Ok(()),
        Some(fault) => Err(format!("recover({failures} = ..): {fault}")),
    }
}

/// Why these failures can have no stack at all.
fn key(failures: Failures, answers: AnswerKind) -> Option<String> {
    let Failures::Category(category) = failures else {
        return None;
    };
    if category == Category::ExecError {
        return Some(
            "`attempts` and `wait` say how often a node that asks no model is executed".to_owned(),
        );
    }
    if category.group() == Group::Stop && category != Category::LimitExceeded {
        return Some(format!(
            "the program itself ends a call with `{category}`; nothing recovers it"
        ));
    }
    let never = match (category, answers) {
        (Category::SchemaError, AnswerKind::RawText | AnswerKind::CheckedText) => {
            "the answer is raw text, which nothing reads"
        }
        (Category::ValidationError, AnswerKind::RawText) => {
            "the answer is raw text, which nothing checks"
        }
        _ => return None,
    };
    Some(never.to_owned())
}

/// Why the steps cannot stand in this order.
fn order(steps: &[Recovery]) -> Option<String> {
    if steps.is_empty() {
        return Some("no steps; `bubble` returns the failure at once".to_owned());
    }
    let end = steps
        .iter()
        .position(|step| matches!(step, Recovery::Fallback | Recovery::Bubble));
    if let Some(end) = end {
        match (&steps[end], &steps[end + 1..]) {
            (_, []) | (Recovery::Fallback, [Recovery::Bubble]) => {}
            (last, [next, ..]) => {
                return Some(format!(
                    "`{next}` comes after `{last}`, which ends the stack"
                ));
            }
        }
    }
    for (index, step) in steps.iter().enumerate() {
        if matches!(step, Recovery::Model(_)) && steps[..index].contains(step) {
            return Some(format!(
                "`{step}` is listed twice, and no model is asked twice"
            ));
        }
    }
    None
}

/// Why a step makes no sense for these failures of this node.
fn misplaced(
    step: &Recovery,
    failures: Failures,
    fallback: bool,
    answers: AnswerKind,
) -> Option<String> {
    match step {
        Recovery::Retry { .. } | Recovery::Repair { .. } | Recovery::Model(_) if is_limit(failures) => {
            Some(format!("a limit that is reached forbids further requests; leave `{step}` out"))
        }
        Recovery::Retry { times: 0, .. } | Recovery::Repair { times: 0 } => {
            Some(format!("`{step}` does nothing; leave it out"))
        }
        Recovery::Retry { wait: Some(wait), .. } if wait.to < wait.from => {
            Some(format!("the wait {wait} is an empty range: its start exceeds its end"))
        }
        Recovery::Retry { .. } if fails_again(failures) => {
            Some(format!("the same request fails with `{failures}` again; leave `{step}` out"))
        }
        Recovery::Repair { .. } if !is_answer(failures) => Some(format!(
            "only bad answers can be repaired, and `{failures}` is not one; use `retry` or `model`"
        )),
        Recovery::Repair { .. } if answers == AnswerKind::RawText && failures == Failures::Answer => Some(
            "the answer is raw text that nothing checks, of which only an `empty_response` can be \
             repaired; name that"
                .to_owned(),
        ),
        Recovery::Model(name) if name.trim().is_empty() => Some("the model's name is empty".to_owned()),
        Recovery::Fallback if !fallback => {
            Some("the node has no fallback value; add `fallback = path`".to_owned())
        }
        _ => None,
    }
}

fn is_limit(failures: Failures) -> bool {
    failures == Failures::Category(Category::LimitExceeded)
}

fn is_answer(failures: Failures) -> bool {
    match failures {
        Failures::Answer => true,
        Failures::Transport | Failures::Final => false,
        Failures::Category(category) => category.group() == Group::Answer,
    }
}

/// Failures that the same request has again, whenever it is sent.
fn fails_again(failures: Failures) -> bool {
    use Category::{ApiKeyError, BadRequest, ContextLengthError, NotFound, QuotaError};
    let never = [
        ApiKeyError,
        QuotaError,
        NotFound,
        BadRequest,
        ContextLengthError,
    ];
    match failures {
        Failures::Final => true,
        failures => matches!(failures, Failures::Category(category) if never.contains(&category)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: Failures = Failures::Category(Category::EmptyResponse);

    #[test]
    fn a_raw_text_that_nothing_checks_is_repaired_only_where_it_is_empty() {
        let repairs = |failures, answers| check(failures, &[Recovery::repair(1)], false, answers);
        assert!(
            repairs(Failures::Answer, AnswerKind::RawText)
                .unwrap_err()
                .contains("name that")
        );
        assert_eq!(repairs(EMPTY, AnswerKind::RawText), Ok(()));
        assert_eq!(repairs(Failures::Answer, AnswerKind::CheckedText), Ok(()));
        assert_eq!(repairs(Failures::Answer, AnswerKind::Json), Ok(()));
    }

    #[test]
    fn what_never_fails_has_no_stack() {
        let of = |category, answers| {
            check(
                Failures::Category(category),
                &[Recovery::Bubble],
                false,
                answers,
            )
        };
        for answers in [AnswerKind::RawText, AnswerKind::CheckedText] {
            assert!(
                of(Category::SchemaError, answers)
                    .unwrap_err()
                    .ends_with("which nothing reads")
            );
        }
        assert!(
            of(Category::ValidationError, AnswerKind::RawText)
                .unwrap_err()
                .ends_with("which nothing checks")
        );
        assert_eq!(
            of(Category::ValidationError, AnswerKind::CheckedText),
            Ok(())
        );
        assert_eq!(of(Category::SchemaError, AnswerKind::Json), Ok(()));
    }

    #[test]
    fn a_fallback_needs_a_value() {
        let falls_back = |fallback| {
            check(
                Failures::Answer,
                &[Recovery::Fallback],
                fallback,
                AnswerKind::Json,
            )
        };
        assert!(falls_back(false).unwrap_err().contains("fallback = path"));
        assert_eq!(falls_back(true), Ok(()));
    }
}
