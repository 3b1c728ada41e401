//! A flow that a journal follows: how it starts, goes on, and ends.

use std::future::IntoFuture;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::changes::{changes, fingerprint};
use super::error::JournalError;
use super::history::History;
use super::interface::Journal;
use super::keeper::Keeper;
use super::record::{Record, Resumed, Started, Stepped};
use super::value::{json, panicked, read_back, readable};
use crate::BoxFuture;
use crate::category::Category;
use crate::error::NodeError;
use crate::flow::{Beginning, Begun, FlowCall, FlowReporting, Follower, Outline, Position};
use crate::panics::guarded;
use crate::run::RunCore;

impl<'r, S, A> FlowCall<'r, S, A>
where
    S: Serialize + DeserializeOwned + Send + Sync + 'r,
    A: Serialize + DeserializeOwned + Send + 'static,
{
    /// Keeps each completed step, and what each request used, in a journal that is empty yet.
    ///
    /// A journal that has a run already is a `config_error`: [`resume`](FlowCall::resume) goes on with it. One that
    /// cannot be written is an `aborted`, and the state is that of the last step that was executed; the journal may not have this step,
    /// and then `resume` executes it again. A flow has one journal: a second one is a `config_error`.
    pub fn journal(self, journal: impl Journal + 'static) -> Self {
        let durable = Durable::new(&self, journal, false);
        self.followed_by(durable)
    }

    /// Starts, or goes on with the run of the flow that the journal has: from its last completed step, on the
    /// journal's state, which takes the place of the run's. A run that has ended gives its action again, and
    /// nothing is executed.
    ///
    /// What was spent before is in the ledger afterwards, once, and counts for the limits of the run and its nodes; a request that was under
    /// way at the crash counts as one without a report. [`max_steps`](FlowCall::max_steps) counts all steps since the start. By the clock, only the time counts in which a
    /// process runs.
    ///
    /// A run that the journal has goes on where it stands. With [`from`](FlowCall::from), this is a `config_error`, unless the run
    /// was started there.
    pub fn resume(self, journal: impl Journal + 'static) -> Resume<'r, S, A> {
        let durable = Durable::new(&self, journal, true);
        Resume { call: self, durable }
    }
}

/// A flow that goes on from its journal when it is awaited.
#[must_use = "a flow does nothing until it is awaited"]
pub struct Resume<'r, S, A> {
    call: FlowCall<'r, S, A>,
    durable: Durable<'r, S>,
}

impl<'r, S, A> Resume<'r, S, A> {
    /// Executes again what may have been executed before the crash, also a node with `idempotent = false`.
    pub fn rerun(mut self) -> Self {
        self.durable.rerun = true;
        self
    }

    /// Goes on although the flow has changed since: at the label where the journal stands, which there still has to be.
    pub fn allow_changes(mut self) -> Self {
        self.durable.allow_changes = true;
        self
    }

    /// Carries over what the journal's state lacks from the state of the run, such as a handle to a database in a
    /// field with `#[serde(skip)]`.
    pub fn carry_over(mut self, carry: impl FnOnce(&mut S, S) + Send + 'r) -> Self {
        self.durable.carry = Some(Box::new(carry));
        self
    }
}

impl<'r, S, A> Resume<'r, S, A>
where
    S: Serialize + DeserializeOwned + Send + Sync + 'r,
    A: Serialize + DeserializeOwned + Send + 'static,
{
    /// Asks for what the flow does in this process beside its action.
    pub fn report(self) -> FlowReporting<'r, S, A> {
        self.call.followed_by(self.durable).report()
    }
}

impl<'r, S, A> IntoFuture for Resume<'r, S, A>
where
    S: Serialize + DeserializeOwned + Send + Sync + 'r,
    A: Serialize + DeserializeOwned + Send + 'static,
{
    type Output = Result<A, NodeError>;
    type IntoFuture = BoxFuture<'r, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.call.followed_by(self.durable).into_future()
    }
}

type Carry<'r, S> = Box<dyn FnOnce(&mut S, S) + Send + 'r>;

/// Follows a flow with a journal.
struct Durable<'r, S> {
    journal: Option<Box<dyn Journal>>,
    keeper: Option<Arc<Keeper>>,
    resumes: bool,
    /// The flow was given a journal before this one.
    second: bool,
    rerun: bool,
    allow_changes: bool,
    carry: Option<Carry<'r, S>>,
}

impl<S> Durable<'_, S> {
    fn new<A>(call: &FlowCall<'_, S, A>, journal: impl Journal + 'static, resumes: bool) -> Self {
        let journal: Option<Box<dyn Journal>> = Some(Box::new(journal));
        let second = call.is_followed();
        Durable { journal, keeper: None, resumes, second, rerun: false, allow_changes: false, carry: None }
    }

    /// Whether a run may go on from what its journal tells.
    fn check(&self, history: &History, outline: &Outline, from: &Position) -> Result<(), NodeError> {
        if !self.resumes {
            let stands = if history.has_ended() {
                "has ended".to_owned()
            } else {
                format!("stands at `{}`", history.position())
            };
            return Err(refused(format!(
                "the journal has a run of the flow `{}` already, which {stands} after {} steps; `resume` goes on with it, and \
                 another run takes another journal",
                history.flow(),
                history.steps()
            )));
        }
        // The program that started the run there says the same again.
        if !from.is_start() && history.started_at() != Some(from) {
            return Err(refused(format!(
                "the flow is to start at `{from}`, and the journal has a run of it, which stands at `{}`: leave out `from` to go \
                 on there, or take another journal to start at `{from}`",
                history.position()
            )));
        }
        let changes = match history.outline() {
            Some((print, was)) if !self.allow_changes && print != fingerprint(outline) => {
                changes(was, outline)
            }
            _ => Vec::new(),
        };
        if !changes.is_empty() {
            return Err(refused(format!(
                "the flow `{}` has changed since the journal's run of it started: {}; let the program that started it end it, \
                 begin anew with another journal, or go on all the same with `.resume(..).allow_changes()`",
                history.flow(),
                changes.join("; ")
            )));
        }
        match history.once() {
            Some(call) if !self.rerun && !history.has_ended() => Err(refused(format!(
                "the node `{}` was called in the step at `{}`, which was not completed; it says `idempotent = false`, so it is not \
                 executed again. See whether its effect took place; `.resume(..).rerun()` executes it once more",
                call.node, call.at
            ))),
            _ => Ok(()),
        }
    }

    /// Puts the journal's state in the place of the run's.
    fn restore(&mut self, history: &History, state: &mut S) -> Result<(), NodeError>
    where
        S: DeserializeOwned,
    {
        let Some(json) = history.state() else {
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
        let started = Started {
            id: format!("{:016x}", RandomState::new().hash_one(0_u8)),
            fingerprint: fingerprint(&flow.outline),
            outline: flow.outline,
            at: flow.at.clone(),
            state: Some(state),
        };
        flow.core.ledger.note_journal(&started.id, 1);
        self.keep(journal, Record::Started(started), flow.at, flow.core).await
    }

    /// Writes the first record of this process.
    async fn keep(
        &mut self,
        journal: Box<dyn Journal>,
        record: Record,
        at: &Position,
        core: &RunCore,
    ) -> Result<Box<RunCore>, NodeError> {
        let keeper = Arc::new(Keeper::new(journal, at.clone()));
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
                "the flow was given more than one journal, and keeps one: leave out `.journal(..)` before `.resume(..)`, which \
                 also starts a run where the journal is empty"
                    .to_owned(),
            ));
        }
        // There is one: a flow begins once.
        let Some(mut journal) = self.journal.take() else {
            return Err(refused("a flow began twice".to_owned()));
        };
        let mut history = History::counting(flow.core.ledger.clone(), flow.core.limits.carrying());
        journal.read(&mut |record| history.take(record)).await.map_err(failed)?;
        history.close();
        if history.is_empty() {
            return Ok(Begun::Steps { core: self.start(journal, flow).await?, taken: 0 });
        }
        self.check(&history, &flow.outline, flow.at)?;
        let ended =
            history.action().map(|action| read_back(action, "the action in the journal")).transpose()?;
        self.restore(&history, flow.state)?;
        *flow.at = history.position().clone();
        let (taken, core) = (history.steps(), flow.core);
        if let Some(carried) = history.enter_into(&core.ledger) {
            core.limits.carry_over(&carried);
        }
        if let Some(action) = ended {
            return Ok(Begun::Ended(action));
        }
        let resumed = Record::Resumed(Resumed { rerun: self.rerun });
        Ok(Begun::Steps { core: self.keep(journal, resumed, flow.at, core).await?, taken })
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
        Box::pin(async move {
            let unfit = step.map(|step| keeper.add(Record::Stepped(step), at)).err();
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
    let step = if left.is_start() { "the first step".to_owned() } else { format!("the step at `{left}`") };
    let state = readable(state, &format!("the state after {step}"))?;
    let action =
        action.map(|action| readable(action, &format!("the flow's action after {step}"))).transpose()?;
    Ok(Stepped { left, at: at.clone(), state: Some(state), action })
}

fn refused(message: String) -> NodeError {
    NodeError::new(Category::ConfigError, message)
}

/// What is wrong with a journal itself is no fault of the moment.
fn failed(error: JournalError) -> NodeError {
    let category = match error {
        JournalError::Format(_) | JournalError::Foreign { .. } | JournalError::Damaged { .. } => {
            Category::ConfigError
        }
        _ => Category::Aborted,
    };
    NodeError::new(category, error.to_string()).with_source(error)
}

impl<S, A> std::fmt::Debug for Resume<'_, S, A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Resume").field(&self.call).finish()
    }
}
