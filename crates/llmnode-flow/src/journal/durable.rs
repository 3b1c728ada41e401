//! A flow with a journal: how it starts, continues and ends.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use llmnode_model::internal::catch_panic;
use llmnode_runtime::ext::{LedgerImport, RunCore};
use llmnode_runtime::{BoxFuture, NodeError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::history::{History, prefix};
use super::journal::Journal;
use super::record::{Entry, Record, Resumed, Started, Stepped};
use super::recorder::JournalRecorder;
use super::replay::ReplayStore;
use super::resume_check::{ResumeCheck, config_error, step_at};
use super::value::{json, panicked, read_back, readable};
use crate::flow::{FlowCall, FlowStart, Position, ReplayedOutput, Replayer, StartPoint};

pub(super) type Carry<'r, S> = Box<dyn FnOnce(&mut S, S) + Send + 'r>;

pub(super) struct JournalReplayer<'r, S> {
    journal: Option<Box<dyn Journal>>,
    recorder: Option<Arc<JournalRecorder>>,
    /// The id of the journal's run, and how many of its steps are completed.
    run: (String, u64),
    has_other_journal: bool,
    pub(super) resume_check: ResumeCheck,
    pub(super) carry: Option<Carry<'r, S>>,
    pub(super) happened: Option<ReplayedOutput>,
}

impl<S> JournalReplayer<'_, S> {
    pub(super) fn new<A>(
        call: &FlowCall<'_, S, A>,
        journal: impl Journal + 'static,
        resumes: bool,
    ) -> Self {
        let journal: Option<Box<dyn Journal>> = Some(Box::new(journal));
        let has_other_journal = call.has_replayer();
        let resume_check = ResumeCheck {
            resumes,
            ..ResumeCheck::default()
        };
        JournalReplayer {
            journal,
            recorder: None,
            run: Default::default(),
            has_other_journal,
            resume_check,
            carry: None,
            happened: None,
        }
    }

    fn restore(&mut self, history: &History, state: &mut S) -> Result<(), NodeError>
    where
        S: DeserializeOwned,
    {
        let Some(json) = history.kept_state() else {
            return Err(config_error("the journal has no state".to_owned()));
        };
        let of_program = std::mem::replace(state, read_back(json, "the state in the journal")?);
        if let Some(carry) = self.carry.take() {
            catch_panic(|| carry(state, of_program))
                .map_err(|panic| panicked("carrying over the state", &panic))?;
        }
        Ok(())
    }

    async fn start(
        &mut self,
        journal: Box<dyn Journal>,
        flow: FlowStart<'_, S>,
    ) -> Result<Box<RunCore>, NodeError>
    where
        S: Serialize + DeserializeOwned,
    {
        let state = json(flow.state, "the state")?;
        // Better found now than after a crash.
        read_back::<S>(&state, "the state that was just written")?;
        let started = Started {
            id: random_id(),
            outline: flow.outline,
            at: flow.at.clone(),
            state: Some(state),
        };
        flow.core.ledger.set_journal_records(&started.id, 1);
        self.run = (started.id.clone(), 0);
        let replay = ReplayStore::new(prefix(&started.id, 0), Vec::new());
        self.keep(
            journal,
            Entry::Started(started).into(),
            replay,
            flow.at,
            flow.core,
        )
        .await
    }

    async fn keep(
        &mut self,
        journal: Box<dyn Journal>,
        record: Record,
        replay: ReplayStore,
        at: &Position,
        core: &RunCore,
    ) -> Result<Box<RunCore>, NodeError> {
        let recorder = Arc::new(JournalRecorder::new(journal, at.clone(), replay));
        recorder.add(record, at.clone());
        recorder.append_all().await.map_err(NodeError::from)?;
        self.recorder = Some(Arc::clone(&recorder));
        Ok(Box::new(core.recorded_by(recorder)))
    }

    fn take_journal(&mut self) -> Result<Box<dyn Journal>, NodeError> {
        if self.has_other_journal {
            return Err(config_error(
                "the flow has more than one journal; leave out `.journal(..)` before \
                 `.resume(..)`, which also starts a run if the journal is empty"
                    .to_owned(),
            ));
        }
        // Never missing: a flow begins once.
        self.journal
            .take()
            .ok_or_else(|| config_error("a flow began twice".to_owned()))
    }

    /// Reads the journal before anything else: what it says decides whether the
    /// flow starts, goes on after its last step, or has ended, and what it has
    /// spent counts before the first request. Checks come before the state is put
    /// back, so that a flow whose program has changed leaves its caller's state as
    /// it was.
    async fn begin<A: DeserializeOwned + Send>(
        &mut self,
        flow: FlowStart<'_, S>,
    ) -> Result<StartPoint<A>, NodeError>
    where
        S: Serialize + DeserializeOwned + Sync,
    {
        let mut journal = self.take_journal()?;
        let mut history = History::counting(flow.core);
        journal
            .read(&mut |record| history.take(record))
            .await
            .map_err(NodeError::from)?;
        history.close();
        self.resume_check
            .check_happened(&history, self.happened.as_ref())?;
        if history.is_empty() {
            return Ok(StartPoint::Steps {
                core: self.start(journal, flow).await?,
                taken: 0,
                happened: None,
            });
        }
        if history.outline().is_none() {
            return Err(config_error(
                "the journal is that of a map; give the flow a journal of its own".to_owned(),
            ));
        }
        self.resume_check
            .check(&history, &flow.outline, flow.at, self.happened.is_some())?;
        let ended = history
            .action()
            .map(|action| read_back(action, "the action in the journal"))
            .transpose()?;
        self.restore(&history, flow.state)?;
        *flow.at = history.position().clone();
        let taken = history.steps();
        let core = flow.core;
        self.run = (history.run().to_owned(), taken);
        let replay = history.replay();
        let spent = history.count(core);
        if let Some(limits) = flow.limits {
            limits.add_prior_spend(&spent);
        }
        if let Some(action) = ended {
            return Ok(StartPoint::Ended(action));
        }
        let resumed = Entry::Resumed(Resumed {
            rerun: self.resume_check.rerun,
            drops_answers: false,
        });
        let core = self
            .keep(journal, resumed.into(), replay, flow.at, core)
            .await?;
        Ok(StartPoint::Steps {
            core,
            taken,
            happened: self.happened.take(),
        })
    }
}

impl<S, A> Replayer<S, A> for JournalReplayer<'_, S>
where
    S: Serialize + DeserializeOwned + Send + Sync,
    A: Serialize + DeserializeOwned + Send + 'static,
{
    fn begin<'f>(
        &'f mut self,
        flow: FlowStart<'f, S>,
    ) -> BoxFuture<'f, Result<StartPoint<A>, NodeError>> {
        Box::pin(JournalReplayer::begin(self, flow))
    }

    fn step_ended(
        &mut self,
        left: Position,
        at: &Position,
        state: &S,
        action: Option<&A>,
    ) -> BoxFuture<'_, Result<(), NodeError>> {
        let Some(recorder) = self.recorder.clone() else {
            return Box::pin(std::future::ready(Ok(())));
        };
        let step = step_record(left, at, state, action);
        let at = at.clone();
        self.run.1 += 1;
        let prefix = prefix(&self.run.0, self.run.1);
        Box::pin(async move {
            let unfit = step
                .map(|step| recorder.record_step(Entry::Stepped(step).into(), at, prefix))
                .err();
            // What the step used is recorded even if its state cannot be.
            let written = recorder.append_all().await.map_err(NodeError::from);
            unfit.map_or(written, Err)
        })
    }

    fn failed(&mut self) -> BoxFuture<'_, ()> {
        let recorder = self.recorder.clone();
        Box::pin(async move {
            if let Some(recorder) = recorder
                && let Err(error) = recorder.append_all().await
            {
                // The flow ends with the error of its step, which says more.
                tracing::warn!(target: "llmnode::journal", "{error}");
            }
        })
    }
}

fn step_record<S, A>(
    left: Position,
    at: &Position,
    state: &S,
    action: Option<&A>,
) -> Result<Stepped, NodeError>
where
    S: Serialize + DeserializeOwned,
    A: Serialize + DeserializeOwned,
{
    let step = step_at(&left);
    let state = readable(state, &format!("the state after {step}"))?;
    let action = action
        .map(|action| readable(action, &format!("the flow's action after {step}")))
        .transpose()?;
    Ok(Stepped {
        left,
        at: at.clone(),
        state: Some(state),
        action,
    })
}

pub(super) fn random_id() -> String {
    format!("{:016x}", RandomState::new().hash_one(0_u8))
}
