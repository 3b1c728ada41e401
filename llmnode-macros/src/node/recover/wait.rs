//! `wait = 10s`, for retries without a wait of their own.

use syn::Error;

use super::keys::Group;
use super::{Action, Stack};
use crate::diagnostics::Errors;
use crate::macro_args::{items, key, value};
use crate::node::args::NodeArgs;

/// A wait that nothing uses is a mistake: someone believes that the node waits.
pub(super) fn check(args: &NodeArgs, errors: &mut Errors) {
    let Some(wait) = key(&args.wait) else { return };
    let stacks = items(&args.recover);
    let group_is_stated = stacks.iter().any(|stack| stack.key == "transport");
    // The default stack of the transport retries, and uses the wait.
    let by_default = !group_is_stated && value(&args.transport_retries) != Some(&0);
    let mut transport = stacks
        .iter()
        .filter(|stack| stack.group == Group::Transport);
    if by_default || transport.any(takes_wait) {
        return;
    }
    let message = if stacks.iter().any(|stack| stack.group == Group::Transport) {
        "no `retry` of `recover` uses this wait; drop it"
    } else {
        "`wait` is the pause before a retry, and `transport_retries = 0` allows none; drop one of \
         them"
    };
    errors.push(Error::new(wait.span(), message));
}

/// Whether a retry of the stack has no wait of its own. A faulty stack may have
/// one.
fn takes_wait(stack: &Stack) -> bool {
    match &stack.steps {
        Some(steps) => steps
            .iter()
            .any(|step| matches!(step.action, Action::Retry { wait: None, .. })),
        None => true,
    }
}
