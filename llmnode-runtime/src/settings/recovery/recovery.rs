//! The steps of a recovery, and the failures that they are for.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::time::Duration;

use llmnode_model::Category;

/// The failures that a stack of steps is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Failures {
    /// Failures of one category of the groups answer, transport and final, or
    /// `limit_exceeded`, which takes only
    /// [`Recovery::Fallback`] and [`Recovery::Bubble`].
    Category(Category),
    /// Failures of the group answer whose category has no stack.
    Answer,
    /// Failures of the group transport whose category has no stack.
    Transport,
    /// Failures of the group final whose category has no stack.
    Final,
}

impl From<Category> for Failures {
    fn from(category: Category) -> Self {
        Failures::Category(category)
    }
}

impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failures::Category(category) => category.fmt(f),
            Failures::Answer => f.pad("answer"),
            Failures::Transport => f.pad("transport"),
            Failures::Final => f.pad("final"),
        }
    }
}

/// One step of a recovery.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::Recovery;
///
/// assert_eq!(Recovery::repair(2).to_string(), "repair(2)");
/// assert_eq!(Recovery::Model("small".into()).to_string(), "model(\"small\")");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recovery {
    /// The same request again.
    Retry {
        /// How often, 1 or more.
        times: u32,
        /// The wait before each. `None`: in the group transport the `wait` of the
        /// settings, elsewhere none. The server's wait is added.
        wait: Option<Backoff>,
    },
    /// The answer goes back to the model with what is wrong with it.
    Repair {
        /// How often, 1 or more.
        times: u32,
    },
    /// Another model is asked, from the original prompt: a name registered on the
    /// run, or else an id for the run's own model. All steps before this one apply
    /// to it anew. A call asks no model twice.
    Model(Cow<'static, str>),
    /// The node's fallback value becomes the output.
    Fallback,
    /// The failure is returned as the call's error.
    Bubble,
}

impl Recovery {
    /// The same request again, up to `times` times.
    pub const fn retry(times: u32) -> Self {
        Recovery::Retry { times, wait: None }
    }

    /// The same request again, up to `times` times, each after a wait.
    pub const fn retry_with(times: u32, wait: Backoff) -> Self {
        Recovery::Retry {
            times,
            wait: Some(wait),
        }
    }

    /// A correction, up to `times` times.
    pub const fn repair(times: u32) -> Self {
        Recovery::Repair { times }
    }

    pub(crate) const fn asks_again(&self) -> bool {
        !matches!(self, Recovery::Fallback | Recovery::Bubble)
    }

    /// Another model, by a name registered on the run or else the provider's id.
    pub const fn model(name: &'static str) -> Self {
        Recovery::Model(Cow::Borrowed(name))
    }
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Recovery::Retry { times, wait: None } => write!(f, "retry({times})"),
            Recovery::Retry {
                times,
                wait: Some(wait),
            } => write!(f, "retry({times}, {wait})"),
            Recovery::Repair { times } => write!(f, "repair({times})"),
            Recovery::Model(name) => write!(f, "model({name:?})"),
            Recovery::Fallback => f.write_str("fallback"),
            Recovery::Bubble => f.write_str("bubble"),
        }
    }
}

/// The wait before a retry, which is added to what the server asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The shortest wait.
    pub from: Duration,
    /// The longest wait. If it equals `from`, the wait is fixed. Otherwise the wait
    /// is random, with a bound that starts at twice `from` and doubles with each
    /// try up to `to`.
    pub to: Duration,
}

impl Backoff {
    /// A fixed wait.
    pub const fn fixed(wait: Duration) -> Self {
        Backoff {
            from: wait,
            to: wait,
        }
    }

    /// A random wait whose bound grows from try to try.
    pub const fn growing(from: Duration, to: Duration) -> Self {
        Backoff { from, to }
    }
}

impl From<Duration> for Backoff {
    fn from(wait: Duration) -> Self {
        Backoff::fixed(wait)
    }
}

impl From<Range<Duration>> for Backoff {
    fn from(range: Range<Duration>) -> Self {
        Backoff::growing(range.start, range.end)
    }
}

impl fmt::Display for Backoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.from, self.to) {
            (from, to) if from == to => write!(f, "{from:?}"),
            (from, to) => write!(f, "{from:?}..{to:?}"),
        }
    }
}
