//! Why an attempt failed, and what should follow.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use llmnode_model::{BoxError, Category, Group, ProviderState, Retry};
use llmnode_reader::Violation;
use llmnode_reader::ask::shortened;
use llmnode_reader::text::one_line;

use crate::error::NodeError;
use crate::pause::{Paused, PausedError};

pub(super) struct Failure {
    pub(super) category: Category,
    pub(super) message: String,
    /// Set if it differs from the category's default.
    pub(super) retry: Option<Retry>,
    pub(super) retry_after: Option<Duration>,
    pub(super) violations: Vec<Violation>,
    pub(super) answer: Option<String>,
    /// What the provider put beside the answer.
    pub(super) carried: Option<Arc<ProviderState>>,
    /// The answer was cut at a limit that nobody set, and is asked for again with a higher one.
    pub(super) raises_limit: bool,
    pub(super) sent: bool,
    pub(super) too_late: bool,
    pub(super) cause: Option<Box<Cause>>,
}

/// What a failure comes from. In one field, and boxed, since a failure is a part of
/// what every attempt returns.
pub(super) enum Cause {
    Source(BoxError),
    /// Of an execution. Only its message changes.
    Execution(NodeError),
}

impl Failure {
    pub(super) fn new(category: Category, message: impl Into<String>) -> Self {
        Failure {
            category,
            message: message.into(),
            retry: None,
            retry_after: None,
            violations: Vec::new(),
            answer: None,
            carried: None,
            raises_limit: false,
            sent: true,
            too_late: false,
            cause: None,
        }
    }

    /// Of a request that was not sent.
    pub(super) fn unsent(category: Category, message: impl Into<String>) -> Self {
        Failure {
            sent: false,
            ..Failure::new(category, message)
        }
    }

    pub(super) fn from_exec_error(error: NodeError) -> Self {
        let mut failure = Failure::new(error.category(), error.message());
        failure.retry_after = error.retry_after();
        // The inner call was already retried, by its own settings.
        failure.retry = error.has_failed_call().then_some(Retry::No);
        failure.cause = Some(Box::new(Cause::Execution(error)));
        failure
    }

    pub(super) fn too_late(message: String) -> Self {
        Failure {
            too_late: true,
            ..Failure::new(Category::Timeout, message)
        }
    }

    /// An event that cannot be recorded must not happen.
    pub(super) fn unrecorded(fault: BoxError) -> Self {
        let message = fault.to_string();
        let cause = Some(Box::new(Cause::Source(fault)));
        Failure {
            sent: false,
            cause,
            ..Failure::new(Category::Aborted, message)
        }
    }

    pub(super) fn of_tool(error: NodeError) -> Self {
        let message = one_line(format!("a tool failed: {}", error.message()), 700);
        let category = error.category();
        Failure {
            cause: Some(Box::new(Cause::Source(error.into()))),
            ..Failure::new(category, message)
        }
    }

    pub(super) fn paused(paused: Paused) -> Self {
        let waits = PausedError(paused);
        let message = waits.message();
        Failure {
            cause: Some(Box::new(Cause::Source(waits.into()))),
            ..Failure::new(Category::Paused, message)
        }
    }

    pub(super) fn rejected(category: Category, violations: Vec<Violation>) -> Self {
        let violations = normalize_violations(violations);
        let mut message = String::with_capacity(128);
        for violation in violations.iter().filter(|one| !one.warning) {
            if message.len() > 1000 {
                break;
            }
            let _ = write!(
                message,
                "{}{violation}",
                if message.is_empty() { "" } else { "; " }
            );
        }
        Failure {
            violations,
            ..Failure::new(category, one_line(message, 1000))
        }
    }

    /// Unlike the rest of the message, this part is never cut.
    pub(super) fn add(&mut self, note: &str) {
        if !note.is_empty() {
            self.message = one_line(std::mem::take(&mut self.message), 700) + note;
        }
    }

    /// Also true for a bad answer. `None`: the program ended the attempt, or a rate
    /// limit, for which there are gates.
    pub(super) fn endpoint_answered(&self) -> Option<bool> {
        if self.category == Category::RateLimitError {
            return None;
        }
        let failed =
            self.retry == Some(Retry::Transport) || self.category.group() == Group::Transport;
        (self.sent && self.category.group() != Group::Stop).then_some(!failed)
    }

    pub(super) fn into_error(self) -> NodeError {
        let source = match self.cause.map(|cause| *cause) {
            Some(Cause::Execution(error)) => return error.with_message(self.message),
            Some(Cause::Source(source)) => Some(source),
            None => None,
        };
        let error = NodeError::new(self.category, self.message).with_retry_after(self.retry_after);
        match source {
            Some(source) => error.with_source(source),
            None => error,
        }
    }
}

/// Bounded in number and length, since validators may return any. Warnings come last.
pub(super) fn normalize_violations(mut violations: Vec<Violation>) -> Vec<Violation> {
    const LISTED: usize = 256;
    violations.sort_by_key(|one| one.warning);
    if violations.len() > LISTED {
        violations.truncate(LISTED);
        violations.shrink_to_fit();
    }
    violations.into_iter().map(shortened).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_lists_complaints_up_to_a_kilobyte() {
        let warning = || {
            let mut warning = Violation::new("", "odd");
            warning.warning = true;
            warning
        };
        let some = vec![
            warning(),
            Violation::new("a", "is one"),
            Violation::new("b", "is two"),
        ];
        let failure = Failure::rejected(Category::ValidationError, some);
        assert_eq!(failure.message, "a: is one; b: is two");
        assert_eq!(failure.violations[2], warning(), "warnings last");

        let failure = Failure::rejected(
            Category::ValidationError,
            vec![Violation::new("a", "is bad"); 100_000],
        );
        assert_eq!(
            (failure.message.len(), failure.violations.len()),
            (1004, 256)
        );
        let many = (0..1000)
            .map(|_| warning())
            .chain([Violation::new("a", "is bad")])
            .collect();
        assert_eq!(
            Failure::rejected(Category::ValidationError, many).message,
            "a: is bad"
        );
    }
}
