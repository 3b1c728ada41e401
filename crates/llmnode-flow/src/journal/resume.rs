//! Gives a flow a journal: from the start, or to resume.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use llmnode_runtime::ext::IntoPaused;
use llmnode_runtime::{Node, NodeError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::durable::JournalReplayer;
use super::journal::Journal;
use crate::flow::{FlowCall, FlowReport, ReplayedOutput};

/// A type that a journal can keep: the state and the action of a flow that survives a crash.
/// It is implemented for every type that serde can write and read.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be kept in a journal",
    label = "this flow's state or action cannot be written and read back",
    note = "a journal keeps the state after each step, and the action of the flow: derive \
            `serde::Serialize` and `serde::Deserialize` for `{Self}`"
)]
pub trait Keep: Serialize + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Keep for T {}

impl<'r, S, A> FlowCall<'r, S, A>
where
    A: Send + 'static,
{
    /// Keeps each completed step, and what each request used, in an empty journal.
    /// If the journal has a run already, this is a `config_error`: use
    /// [`resume`](FlowCall::resume) to continue it. If the journal cannot be
    /// written, the flow ends with `aborted`, and the state is that after the last
    /// executed step. The journal may lack this step; `resume` then executes it
    /// again. A flow has one journal: a second one is a `config_error`.
    pub fn journal(mut self, journal: impl Journal + 'static) -> Self
    where
        S: Keep + Send + Sync,
        A: Keep,
    {
        let durable = JournalReplayer::new(&self, journal, false);
        self.follow(durable);
        self
    }

    /// Starts the flow, or continues the run that the journal has, after its last
    /// completed step. The journal's state replaces the run's. If the run has
    /// ended, its action is returned again, and nothing is executed.
    ///
    /// What was spent before is in the ledger afterwards, once, and counts for the
    /// limits of the run, its nodes and the flow. A request that was under way at
    /// the crash counts as one without a report. Tools count if the journal has
    /// their results. [`max_steps`](FlowCall::max_steps) counts all steps since the
    /// start. Limits of time count only while a process runs. A run always
    /// continues where it stopped. With [`from`](FlowCall::from), this is a
    /// `config_error`, unless the run was started there.
    pub fn resume(self, journal: impl Journal + 'static) -> Resume<'r, S, A>
    where
        S: Keep + Send + Sync,
        A: Keep,
    {
        let durable = JournalReplayer::new(&self, journal, true);
        Resume {
            call: self,
            durable: Some((durable, FlowCall::follow)),
        }
    }
}

/// A flow that continues from its journal when it is first polled. Settings written
/// afterwards have no effect.
#[must_use = "a flow does nothing until it is awaited"]
pub struct Resume<'r, S, A> {
    call: FlowCall<'r, S, A>,
    /// Taken when the flow starts.
    durable: Option<(JournalReplayer<'r, S>, Follow<'r, S, A>)>,
}

/// A function pointer, so that only its creation needs `S: Keep` and `A: Keep`.
type Follow<'r, S, A> = fn(&mut FlowCall<'r, S, A>, JournalReplayer<'r, S>);

impl<'r, S, A> Resume<'r, S, A> {
    /// Executes again what may have been executed before the crash, even a node
    /// with `idempotent = false`. If you know that it was executed, use
    /// [`happened`](Resume::happened) instead.
    pub fn rerun(self) -> Self {
        self.with(|durable| durable.resume_check.rerun = true)
    }

    /// Continues with the output that the node of the step under way returned
    /// before the crash, so that it is not executed again. Use it if the call of a
    /// node with `idempotent = false` is [in doubt](super::History::in_doubt), and
    /// you can see elsewhere that it took effect.
    ///
    /// The step is prepared from the state as usual, and its `store`, `post` or
    /// `route` gets the output. No validator checks it. The node is that of the
    /// step: [`Batch<N>`](crate::flow::Batch) for a batch of `N`, a tuple for
    /// parallel nodes, and the node that made the call if it is not the step's own.
    /// Another node is a `config_error` that names the right one. It is also a
    /// `config_error` if nothing is in doubt. If the process dies again before the
    /// step is completed, call `happened` again.
    pub fn happened<N: Node + 'static>(self, output: N::Output) -> Self {
        self.with(|durable| durable.happened = Some(ReplayedOutput::of::<N>(output)))
    }

    pub(super) fn happened_as(self, output: ReplayedOutput) -> Self {
        self.with(|durable| durable.happened = Some(output))
    }

    /// Continues a conversation that [paused](llmnode_runtime::Paused) in the step
    /// under way. The journal has what was asked and done so far. Without this, the
    /// step pauses once more with the same calls, and makes no request.
    pub fn approve(mut self, paused: impl IntoPaused) -> Self {
        self.call = self.call.approve(paused);
        self
    }

    /// Lets [`approve`](Resume::approve) run an approved call of a tool whose
    /// description or parameters are not those that were shown.
    pub fn allow_changed_tool(mut self) -> Self {
        self.call = self.call.allow_changed_tool();
        self
    }

    /// Continues even if the flow has changed. The flow must still have the label
    /// where the run stopped.
    pub fn allow_changes(self) -> Self {
        self.with(|durable| durable.resume_check.allow_changes = true)
    }

    /// Copies from the state of the run what the journal's state lacks, such as a
    /// database handle in a field with `#[serde(skip)]`.
    pub fn carry_over(self, carry: impl FnOnce(&mut S, S) + Send + 'r) -> Self {
        self.with(|durable| durable.carry = Some(Box::new(carry)))
    }

    fn with(mut self, set: impl FnOnce(&mut JournalReplayer<'r, S>)) -> Self {
        if let Some((durable, _)) = &mut self.durable {
            set(durable);
        }
        self
    }

    /// Returns the record of what the flow does in this process beside its action.
    pub fn report(
        mut self,
    ) -> impl Future<Output = Result<FlowReport<A>, NodeError>> + Send + Unpin + use<'r, S, A>
    where
        S: Send + Sync,
        A: Send + 'static,
    {
        self.start();
        self.call.report()
    }

    fn start(&mut self) {
        if let Some((durable, follow)) = self.durable.take() {
            follow(&mut self.call, durable);
        }
    }
}

impl<S, A> Future for Resume<'_, S, A>
where
    S: Send + Sync,
    A: Send + 'static,
{
    type Output = Result<A, NodeError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.start();
        Pin::new(&mut self.call).poll(cx)
    }
}

impl<S, A> std::fmt::Debug for Resume<'_, S, A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Resume").field(&self.call).finish()
    }
}
