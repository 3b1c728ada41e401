//! Which stacks make sense. `#[llm_node]` refuses the same at compile time.

use super::step::{Failures, Step};
use crate::category::{Category, Group};

/// What is wrong with a stack, and what to write instead. `fallback`: the node has a fallback value; `text`: its
/// answer is raw text.
pub(crate) fn check(failures: Failures, steps: &[Step], fallback: bool, text: bool) -> Result<(), String> {
    let fault = key(failures, text)
        .or_else(|| order(steps))
        .or_else(|| steps.iter().find_map(|step| misplaced(step, failures, fallback, text)));
    match fault {
        None => Ok(()),
        Some(fault) => Err(format!("recover({failures} = ..): {fault}")),
    }
}

fn key(failures: Failures, text: bool) -> Option<String> {
    let Failures::Category(category) = failures else { return None };
    if category.group() == Group::Stop && category != Category::LimitExceeded {
        return Some(format!("the program itself ends a call with `{category}`; nothing recovers it"));
    }
    let of_reading = matches!(category, Category::SchemaError | Category::ValidationError);
    (of_reading && text).then(|| "the answer is raw text, which nothing reads or checks".to_owned())
}

fn order(steps: &[Step]) -> Option<String> {
    if steps.is_empty() {
        return Some("no steps; `bubble` returns the failure at once".to_owned());
    }
    let ends = |step: &Step| matches!(step, Step::Fallback | Step::Bubble);
    if let Some(end) = steps.iter().position(ends) {
        match (&steps[end], &steps[end + 1..]) {
            (_, []) | (Step::Fallback, [Step::Bubble]) => {}
            (last, [next, ..]) => {
                return Some(format!("`{next}` stands behind `{last}`, which is the last step"));
            }
        }
    }
    steps.iter().enumerate().find_map(|(index, step)| {
        let again = matches!(step, Step::Model(_)) && steps[..index].contains(step);
        again.then(|| format!("`{step}` stands there twice, and no model is asked twice"))
    })
}

fn misplaced(step: &Step, failures: Failures, fallback: bool, text: bool) -> Option<String> {
    match step {
        Step::Retry { .. } | Step::Repair { .. } | Step::Model(_) if is_limit(failures) => {
            Some(format!("a limit that is reached forbids further requests; leave `{step}` out"))
        }
        Step::Retry { times: 0, .. } | Step::Repair { times: 0 } => {
            Some(format!("`{step}` does nothing; leave it out"))
        }
        Step::Retry { wait: Some(wait), .. } if wait.to < wait.from => {
            Some(format!("the wait {wait} goes down"))
        }
        Step::Retry { .. } if fails_again(failures) => {
            Some(format!("the same request fails with `{failures}` again; leave `{step}` out"))
        }
        Step::Repair { .. } if !is_answer(failures) => Some(format!(
            "only bad answers can be repaired, and `{failures}` is none; use `retry` or `model`"
        )),
        Step::Repair { .. } if text && failures == Failures::Answer => Some(
            "the answer is raw text, of which only an `empty_response` can be repaired; name that".to_owned(),
        ),
        Step::Model(name) if name.trim().is_empty() => Some("the model's name is empty".to_owned()),
        Step::Fallback if !fallback => {
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
        Failures::Transport => false,
        Failures::Category(category) => category.group() == Group::Answer,
    }
}

fn fails_again(failures: Failures) -> bool {
    use Category::{ApiKeyError, BadRequest, ContextLengthError, NotFound, QuotaError};
    let never = [ApiKeyError, QuotaError, NotFound, BadRequest, ContextLengthError];
    matches!(failures, Failures::Category(category) if never.contains(&category))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: Failures = Failures::Category(Category::EmptyResponse);

    #[test]
    fn a_raw_text_is_repaired_only_where_it_is_empty() {
        let repairs = |failures, text| check(failures, &[Step::repair(1)], false, text);
        assert!(repairs(Failures::Answer, true).unwrap_err().contains("name that"));
        assert_eq!(repairs(EMPTY, true), Ok(()));
        assert_eq!(repairs(Failures::Answer, false), Ok(()));
    }

    #[test]
    fn a_fallback_needs_a_value() {
        let falls_back = |fallback| check(Failures::Answer, &[Step::Fallback], fallback, false);
        assert!(falls_back(false).unwrap_err().contains("fallback = path"));
        assert_eq!(falls_back(true), Ok(()));
    }
}
