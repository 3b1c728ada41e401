//! A flow that a journal follows: how it starts, goes on, and ends.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use llmnode_runtime::internal::{Import, RunCore, guarded};
use llmnode_runtime::{BoxFuture, Category, NodeError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::JournalError;
use super::history::{History, prefix};
use super::interface::Journal;
use super::keeper::Keeper;
use super::kept::Kept;
use super::permits::{Permits, refused, step_at};
use super::record::{Entry, Record, Resumed, Started, Stepped};
use super::value::{json, panicked, read_back, readable};
use crate::flow::{Beginning, Begun, FlowCall, Follower, Happened, Position};

pub(super) type Carry<'r, S> = Box<dyn FnOnce(&mut S, S) + Send + 'r>;

/// Follows a flow with a journal.
pub(super) struct Durable<'r, S> {
    journal: Option<Box<dyn Journal>>,
    keeper: Option<Arc<Keeper>>,
    /// The run that the journal has, and how many steps of it are completed.
    run: (String, u64),
    /// The flow was given a journal before this one.
    second: bool,
    pub(super) permits: Permits,
    pub(super) carry: Option<Carry<'r, S>>,
    pub(super) happened: Option<Happened>,
}

impl<S> Durable<'_, S> {
    pub(super) fn new<A>(call: &FlowCall<'_, S, A>, journal: impl Journal + 'static, resumes: bool) -> Self {
        let journal: Option<Box<dyn Journal>> = Some(Box::new(journal));
        let second = call.is_followed();
        let permits = Permits { resumes, ..Permits::default() };
        Durable {
            journal,
            keeper: None,
            run: Default::default(),
            second,
            permits,
            carry: None,
            happened: None,
        }
    }

    /// Puts the journal's state in the place of the run's.
    fn restore(&mut self, history: &History, state: &mut S) -> Result<(), NodeError>
    where
        S: DeserializeOwned,
    {
        let Some(json) = history.kept_state() else {
            return Err(refused("the journal has no state".to_owned()));
        };
        let given = std::mem::replace(state, read_back(json, "the state in the journal")?);
        if let Some(carry) = self.carry.take() {
            guarded(|| carry(state, given)).map_err(|said| panicked("carrying over the state", &said))?;
        }
        Ok(())
    }

    async fn start(
        &mut self,
        journal: Box<dyn Journal>,
        flow: Beginning<'_, S>,
    ) -> Result<Box<RunCore>, NodeError>
    where
        S: Serialize + DeserializeOwned,
    {
        let state = json(flow.state, "the state")?;
        // What cannot be read back is better found now than after a crash.
        read_back::<S>(&state, "the state that was just written")?;
        let started =
            Started { id: random_id(), outline: flow.outline, at: flow.at.clone(), state: Some(state) };
        flow.core.ledger.note_journal(&started.id, 1);
        self.run = (started.id.clone(), 0);
        let kept = Kept::new(prefix(&started.id, 0), Vec::new());
        self.keep(journal, Entry::Started(started).into(), kept, flow.at, flow.core).await
    }

    /// Writes the first record of this process.
    async fn keep(
        &mut self,
        journal: Box<dyn Journal>,
        record: Record,
        kept: Kept,
        at: &Position,
        core: &RunCore,
    ) -> Result<Box<RunCore>, NodeError> {
        let keeper = Arc::new(Keeper::new(journal, at.clone(), kept));
        keeper.add(record, at.clone());
        keeper.append_all().await.map_err(failed)?;
        self.keeper = Some(Arc::clone(&keeper));
        Ok(Box::new(core.recorded_by(keeper)))
    }

    async fn begin<A: DeserializeOwned + Send>(
        &mut self,
        flow: Beginning<'_, S>,
    ) -> Result<Begun<A>, NodeError>
    where
        S: Serialize + DeserializeOwned + Sync,
    {
        if self.second {
            return Err(refused(
                "the flow has more than one journal; leave out `.journal(..)` before `.resume(..)`, which also starts a run if \
                 the journal is empty"
                    .to_owned(),
            ));
        }
        // There is one: a flow begins once.
        let Some(mut journal) = self.journal.take() else {
            return Err(refused("a flow began twice".to_owned()));
        };
        let mut history = History::counting(flow.core);
        journal.read(&mut |record| history.take(record)).await.map_err(failed)?;
        history.close();
        self.permits.check_happened(&history, self.happened.as_ref())?;
        if history.is_empty() {
            return Ok(Begun::Steps { core: self.start(journal, flow).await?, taken: 0, happened: None });
        }
        if history.outline().is_none() {
            return Err(refused(
                "the journal is that of a map; give the flow a journal of its own".to_owned(),
            ));
        }
        self.permits.check(&history, &flow.outline, flow.at, self.happened.is_some())?;
        let ended =
            history.action().map(|action| read_back(action, "the action in the journal")).transpose()?;
        self.restore(&history, flow.state)?;
        *flow.at = history.position().clone();
        let (taken, core) = (history.steps(), flow.core);
        self.run = (history.run().to_owned(), taken);
        let kept = history.kept();
        let spent = history.count(core);
        if let Some(limits) = flow.limits {
            limits.carry_over(&spent);
        }
        if let Some(action) = ended {
            return Ok(Begun::Ended(action));
        }
        let resumed = Entry::Resumed(Resumed { rerun: self.permits.rerun }).into();
        let core = self.keep(journal, resumed, kept, flow.at, core).await?;
        Ok(Begun::Steps { core, taken, happened: self.happened.take() })
    }
}

impl<S, A> Follower<S, A> for Durable<'_, S>
where
    S: Serialize + DeserializeOwned + Send + Sync,
    A: Serialize + DeserializeOwned + Send + 'static,
{
    fn begin<'f>(&'f mut self, flow: Beginning<'f, S>) -> BoxFuture<'f, Result<Begun<A>, NodeError>> {
        Box::pin(Durable::begin(self, flow))
    }

    fn stepped(
        &mut self,
        left: Position,
        at: &Position,
        state: &S,
        action: Option<&A>,
    ) -> BoxFuture<'_, Result<(), NodeError>> {
        let Some(keeper) = self.keeper.clone() else { return Box::pin(std::future::ready(Ok(()))) };
        let step = stepped(left, at, state, action);
        let at = at.clone();
        self.run.1 += 1;
        let prefix = prefix(&self.run.0, self.run.1);
        Box::pin(async move {
            let unfit = step.map(|step| keeper.stepped(Entry::Stepped(step).into(), at, prefix)).err();
            // What the step used is kept in any case.
            let written = keeper.append_all().await.map_err(failed);
            unfit.map_or(written, Err)
        })
    }

    fn failed(&mut self) -> BoxFuture<'_, ()> {
        let keeper = self.keeper.clone();
        Box::pin(async move {
            if let Some(keeper) = keeper
                && let Err(error) = keeper.append_all().await
            {
                // The flow ends with the error of its step, which says more.
                tracing::warn!(target: "llmnode::journal", "{error}");
            }
        })
    }
}

/// The record of a step, if what it left can be read back.
fn stepped<S, A>(left: Position, at: &Position, state: &S, action: Option<&A>) -> Result<Stepped, NodeError>
where
    S: Serialize + DeserializeOwned,
    A: Serialize + DeserializeOwned,
{
    let step = step_at(&left);
    let state = readable(state, &format!("the state after {step}"))?;
    let action =
        action.map(|action| readable(action, &format!("the flow's action after {step}"))).transpose()?;
    Ok(Stepped { left, at: at.clone(), state: Some(state), action })
}

/// What tells a journal from all others.
pub(super) fn random_id() -> String {
    format!("{:016x}", RandomState::new().hash_one(0_u8))
}

/// What is wrong with a journal itself is no fault of the moment.
pub(super) fn failed(error: JournalError) -> NodeError {
    let category = match error {
        JournalError::Format(_)
        | JournalError::Foreign { .. }
        | JournalError::Damaged { .. }
        | JournalError::Locked { .. } => Category::ConfigError,
        _ => Category::Aborted,
    };
    NodeError::new(category, error.to_string()).with_source(error)
}
