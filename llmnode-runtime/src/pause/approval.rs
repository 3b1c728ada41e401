//! What a person decides about the call of a tool.

use std::fmt;

use llmnode_model::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call_state::Paused;
use super::decision::Decision;
use super::waiting::WaitingCall;

/// What is decided about the call of a tool that needs an approval.
///
/// It goes to [`Paused::decide`](crate::Paused::decide), or is the answer of the handler of
/// [`Run::with_approval`](crate::Run::with_approval).
///
/// As JSON it is `"yes"`, `{"no": "why"}`, `{"edit": arguments}`, or `null` for later, so that a decision can come from elsewhere:
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::Approval;
///
/// let decision: Approval = serde_json::from_str(r#"{"no": "too dear"}"#)?;
/// assert!(decision == Approval::no("too dear"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Approval(pub(super) Option<Decision>);

/// What a handler of [`Run::with_approval`](crate::Run::with_approval) returns.
#[diagnostic::on_unimplemented(
    message = "a handler of `with_approval` returns a future of an `Approval`, and this one returns `{Self}`",
    label = "not a future of an `Approval`",
    note = "write `|call| async move {{ if .. {{ Approval::yes() }} else {{ Approval::no(\"why\") }} }}`"
)]
pub trait ApprovalFuture: Future<Output = Approval> + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<F: Future<Output = Approval> + Send + 'static> ApprovalFuture for F {}

/// What `approve` takes: a conversation that paused, with its decisions.
#[diagnostic::on_unimplemented(
    message = "`approve` takes the decided `Paused`, and this is `{Self}`",
    label = "not a `Paused`",
    note = "decide each call that waits: `let paused = paused.decide(&id, Approval::yes())?;`, then `approve(paused)`"
)]
pub trait IntoPaused {
    /// Itself.
    fn into_paused(self) -> Paused;
}

impl IntoPaused for Paused {
    fn into_paused(self) -> Paused {
        self
    }
}

impl Approval {
    /// The tool runs. Its arguments are validated again first, with the state as it is then.
    pub fn yes() -> Self {
        Approval(Some(Decision::Yes))
    }

    /// The tool does not run. The model reads "not allowed: " and the reason.
    pub fn no(why: impl Into<String>) -> Self {
        Approval(Some(Decision::No(why.into())))
    }

    /// The tool runs with these arguments, which are read and validated like those of the model.
    pub fn edit(arguments: impl Into<Value>) -> Self {
        Approval(Some(Decision::Edit(arguments.into())))
    }

    /// Nothing is decided yet: the call of the agent pauses.
    pub fn later() -> Self {
        Approval(None)
    }

    pub(crate) fn is_later(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn decision(self) -> Option<Decision> {
        self.0
    }
}

impl fmt::Debug for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            None => "Approval::later",
            Some(decision) => decision.name(),
        })
    }
}

pub(crate) type Approver = dyn Fn(WaitingCall) -> BoxFuture<'static, Approval> + Send + Sync;
