//! Stacks that parse and yet make no sense.
//!
//! Each fault is a step that can never be taken, or could not help. They are
//! refused and not ignored, since somebody relies on them: a `retry` of a wrong
//! key, or a `fallback` behind a `bubble`.

use syn::{Error, LitStr};

use super::keys::{Group, LIMIT, NOT_RETRYABLE};
use super::{Action, Stack, Step, wait};
use crate::diagnostics::Errors;
use crate::macro_args::{items, key};
use crate::node::args::NodeArgs;

/// How much can be wrong with an answer: nothing of raw text, what its validators
/// say, or its form as well.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerKind {
    RawText,
    ValidatedText,
    Typed,
}

/// Stack by stack, then what the stacks together make of the other arguments.
pub(crate) fn check(args: &NodeArgs, answers: AnswerKind, errors: &mut Errors) {
    let stacks = items(&args.recover);
    for stack in stacks {
        // A category that this node's answers never have.
        let expected = match answers {
            AnswerKind::RawText if stack.key == "validation_error" => {
                Some("`output = …` or `validate = path`")
            }
            AnswerKind::RawText | AnswerKind::ValidatedText if stack.key == "schema_error" => {
                Some("`output = …`")
            }
            _ => None,
        };
        if let Some(expected) = expected {
            let message = format!(
                "raw text never fails with `{}`; add {expected}, or drop it",
                stack.key
            );
            errors.push(Error::new(stack.key.span(), message));
        } else if let Some(steps) = &stack.steps {
            self::steps(stack, steps, args, answers, errors);
        }
    }
    counts(stacks, args, errors);
    check_fallbacks_reached(stacks, args, errors);
    wait::check(args, errors);
}

/// The steps of one stack, in their order.
fn steps(stack: &Stack, steps: &[Step], args: &NodeArgs, answers: AnswerKind, errors: &mut Errors) {
    if steps.is_empty() {
        errors.push(Error::new(
            stack.at,
            "the stack has no step; write `[bubble]` to return the error at once",
        ));
    }
    // A call asks each model once: another `model("a")` would find it used up.
    let mut models: Vec<&LitStr> = vec![];
    for step in steps {
        let fault = match &step.action {
            Action::Retry { .. } | Action::Repair { .. } | Action::Model(_)
                if stack.key == LIMIT =>
            {
                Some(format!(
                    "a limit that is reached forbids further requests; `{LIMIT}` takes only \
                     `fallback` and `bubble`"
                ))
            }
            Action::Retry { .. } => futile_retry(stack),
            Action::Repair { .. } => futile_repair(stack, answers),
            Action::Fallback if args.fallback.is_none() => Some(
                "`fallback` calls a function; add `fallback = path` beside `recover`, or drop the \
                 step"
                    .into(),
            ),
            Action::Model(model) => {
                if models.iter().any(|other| other.value() == model.value()) {
                    let message = "a call asks each model only once; name another model, or drop \
                                   the step";
                    errors.push(Error::new(model.span(), message));
                }
                models.push(model);
                None
            }
            Action::Fallback | Action::Bubble => None,
        };
        if let Some(message) = fault {
            errors.push(Error::new(step.name.span(), message));
        }
    }
    // What stands behind a step that ends the call.
    let ends = steps
        .iter()
        .position(|step| matches!(step.action, Action::Fallback | Action::Bubble));
    if let Some(end) = ends
        && let Some(unreached) = first_unreached(steps, end)
    {
        let message = format!(
            "`{}` ends the call, so this step is never reached; drop it",
            steps[end].name
        );
        errors.push(Error::new(unreached.name.span(), message));
    }
}

/// The step behind the one that ends the call. `bubble` may follow `fallback`, which can fail.
fn first_unreached(steps: &[Step], end: usize) -> Option<&Step> {
    let rest = &steps[end + 1..];
    match (&steps[end].action, rest) {
        (Action::Fallback, [bubble, behind @ ..]) if matches!(bubble.action, Action::Bubble) => {
            behind.first()
        }
        _ => rest.first(),
    }
}

/// The transport is fine and the request is not.
fn futile_retry(stack: &Stack) -> Option<String> {
    (stack.key == "final" || NOT_RETRYABLE.iter().any(|lasting| stack.key == lasting)).then(|| {
        format!(
            "the same request would fail with `{}` again; use `model(\"…\")`, `fallback` or \
             `bubble`",
            stack.key
        )
    })
}

/// Repairing is showing the model its answer with what is wrong: that needs an
/// answer, and something that judged it.
fn futile_repair(stack: &Stack, answers: AnswerKind) -> Option<String> {
    match stack.group {
        Group::Answer if answers == AnswerKind::RawText && stack.key == "answer" => Some(
            "nothing checks raw text; add `output = …` or `validate = path`, or repair \
             `empty_response` alone"
                .into(),
        ),
        Group::Answer => None,
        Group::Transport => Some(format!(
            "`{}` has no answer to correct; use `retry`",
            stack.key
        )),
        _ => Some(format!(
            "an answer is not corrected after `{}`; use `model(\"…\")`, `fallback` or `bubble`",
            stack.key
        )),
    }
}

/// `retries` and `transport_retries` are shorthands for a stack.
fn counts(stacks: &[Stack], args: &NodeArgs, errors: &mut Errors) {
    let counts = [
        ("answer", "repair", &args.retries),
        ("transport", "retry", &args.transport_retries),
    ];
    // The group's stack replaces what the shorthand would make.
    for (group, step, count) in counts {
        if let Some(count) = key(count).filter(|_| stacks.iter().any(|stack| stack.key == group)) {
            let message = format!(
                "the stack for `{group}` in `recover` already says how often, by `{step}(…)`; drop \
                 `{count}`"
            );
            errors.push(Error::new(count.span(), message));
        }
    }
}

/// The groups' defaults contain both kinds of fallback: if all three are replaced,
/// another stack must have one. `fallback` and `fallback_model` beside `recover`
/// are used by the default stacks only.
fn check_fallbacks_reached(stacks: &[Stack], args: &NodeArgs, errors: &mut Errors) {
    if !["answer", "transport", "final"]
        .into_iter()
        .all(|group: &str| stacks.iter().any(|stack| stack.key == group))
    {
        return;
    }
    if let Some(key) = key(&args.fallback_model) {
        let message = "`recover` replaces all stacks that would ask the fallback model; write \
                       `model(\"…\")` in one of them instead";
        errors.push(Error::new(key.span(), message));
    }
    // A faulty stack may have contained it.
    if let Some(key) = key(&args.fallback).filter(|_| {
        !stacks.iter().any(|stack: &Stack| match &stack.steps {
            Some(steps) => steps
                .iter()
                .any(|step| matches!(step.action, Action::Fallback)),
            None => true,
        })
    }) {
        let message = "no stack has the step `fallback`, so the function is never called; add the \
                       step, or drop this";
        errors.push(Error::new(key.span(), message));
    }
}
