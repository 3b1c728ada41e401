//! The service on Restate: a workflow whose key is `flow:id`, and one `ctx.run` for
//! each entry of the journal.

use std::collections::HashMap;
use std::sync::Arc;

use llmnode::flow::Position;
use llmnode::journal::{Entry, InDoubtOutcome, Replay, ReplayStep};
use llmnode::{Category, NodeError, Paused};
use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch;

use crate::flow_service::{Ended, FlowService, Settling};
use crate::wire::{Decision, InDoubt, Outcome, Settled, Status};

/// What a worker serves. Dropped with the last handler.
pub(crate) struct Workflow {
    pub(crate) flows: HashMap<String, FlowService>,
    pub(crate) settling: Settling,
    pub(crate) max_entry: u64,
    /// Whether the worker is to end.
    pub(crate) ending: watch::Receiver<bool>,
}

#[restate_sdk::workflow(name = "Llmnode", client_visibility = "pub(crate)")]
impl Workflow {
    #[handler]
    async fn run(
        &self,
        ctx: WorkflowContext<'_>,
        input: Json<Value>,
    ) -> Result<Json<Outcome<Value, Value>>, HandlerError> {
        let replay = self.replay(ctx.key(), input.into_inner())?;
        let status = Status {
            invocation: ctx.invocation_id().to_owned(),
            ..Status::default()
        };
        let mut driver = Driver {
            ctx: &ctx,
            replay,
            status,
            ending: self.ending.clone(),
            counted: 0,
        };
        driver.set();
        match driver.drive(self.max_entry).await {
            Ok(outcome) => Ok(Json(outcome)),
            Err(Stop::Ends) => Err("this worker ends; another one goes on".into()),
            Err(Stop::Failed(error)) => {
                driver.end();
                Err(error.into())
            }
        }
    }

    #[handler]
    async fn status(&self, ctx: SharedWorkflowContext<'_>) -> Result<Json<Status>, HandlerError> {
        status(&ctx).await.map(Json)
    }

    /// Refuses what does not fit what waits.
    #[handler]
    async fn decide(
        &self,
        ctx: SharedWorkflowContext<'_>,
        decision: Json<Decision>,
    ) -> Result<(), HandlerError> {
        let status = status(&ctx).await?;
        let decision = decision.into_inner();
        refuse(decision.fault(&status))?;
        keep_first(&ctx, &pause_name(status.wait), decision).await
    }

    #[handler]
    async fn rerun(
        &self,
        ctx: SharedWorkflowContext<'_>,
        wait: Json<Settled>,
    ) -> Result<(), HandlerError> {
        settle(
            &ctx,
            Settled {
                output: None,
                ..wait.into_inner()
            },
        )
        .await
    }

    #[handler]
    async fn happened(
        &self,
        ctx: SharedWorkflowContext<'_>,
        output: Json<Settled>,
    ) -> Result<(), HandlerError> {
        let settled = output.into_inner();
        refuse(
            settled
                .output
                .is_none()
                .then(|| "`output` is missing".to_owned()),
        )?;
        settle(&ctx, settled).await
    }

    #[handler]
    async fn cancel(&self, ctx: SharedWorkflowContext<'_>) -> Result<(), HandlerError> {
        let status = status(&ctx).await?;
        refuse(status.ended.then(|| "the run has ended".to_owned()))?;
        ctx.invocation_handle(status.invocation).cancel();
        Ok(())
    }
}

impl Workflow {
    fn replay(&self, key: &str, input: Value) -> Result<Replay<Ended>, TerminalError> {
        let (flow, _) = key.split_once(':').unwrap_or((key, ""));
        let served = self.flows.get(flow).ok_or_else(|| {
            let mut names: Vec<&str> = self.flows.keys().map(String::as_str).collect();
            names.sort_unstable();
            let message = format!(
                "not_found: there is no flow {flow:?}; this worker has: {}",
                names.join(", ")
            );
            TerminalError::new_with_code(404, message)
        })?;
        Ok(served(input, Arc::clone(&self.settling)))
    }
}

async fn status(ctx: &SharedWorkflowContext<'_>) -> Result<Status, HandlerError> {
    let status = ctx.get::<Json<Status>>("status").await?;
    let status = status.ok_or_else(|| {
        TerminalError::new_with_code(
            404,
            format!("there is no run {:?}, or it has not begun", ctx.key()),
        )
    })?;
    Ok(status.into_inner())
}

async fn settle(ctx: &SharedWorkflowContext<'_>, settled: Settled) -> Result<(), HandlerError> {
    let status = status(ctx).await?;
    refuse(settled.fault(&status))?;
    keep_first(ctx, &doubt_name(status.wait), settled).await
}

/// What a promise holds: the answer, and the invocation that gave it.
#[derive(Serialize, Deserialize)]
struct Given<T> {
    /// Empty in promises of older workers.
    #[serde(default)]
    by: String,
    #[serde(flatten)]
    what: T,
}

/// Refuses all but the first. Handlers run at once, so a look before says nothing:
/// Restate keeps the answer that resolves the promise first, and each handler looks
/// afterwards whose that is.
async fn keep_first<T>(
    ctx: &SharedWorkflowContext<'_>,
    name: &str,
    what: T,
) -> Result<(), HandlerError>
where
    T: Serialize + for<'de> Deserialize<'de> + 'static,
{
    let by = ctx.invocation_id().to_owned();
    ctx.resolve_promise(
        name,
        Json(Given {
            by: by.clone(),
            what,
        }),
    );
    let kept = ctx.promise::<Json<Given<T>>>(name).await?.into_inner();
    Ok(refuse(
        (kept.by != by).then(|| "that is decided".to_owned()),
    )?)
}

fn refuse(fault: Option<String>) -> Result<(), TerminalError> {
    fault.map_or(Ok(()), |fault| {
        Err(TerminalError::new_with_code(409, fault))
    })
}

fn pause_name(wait: u64) -> String {
    format!("pause {wait}")
}

fn doubt_name(wait: u64) -> String {
    format!("doubt {wait}")
}

/// Why this process does no more for a run.
enum Stop {
    /// The worker is to end. Restate gives the run to another one.
    Ends,
    Failed(TerminalError),
}

impl From<TerminalError> for Stop {
    fn from(error: TerminalError) -> Self {
        Stop::Failed(error)
    }
}

impl From<NodeError> for Stop {
    /// As the client reads it.
    fn from(error: NodeError) -> Self {
        Stop::Failed(TerminalError::new(format!("{}: {error}", error.category())))
    }
}

/// What Restate keeps of one `ctx.run`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kept {
    Entry(Entry),
    /// A failure that may pass, for the status. Of the same step's further ones nothing is kept.
    Failed(String),
    /// It has this many bytes, and is not kept.
    TooLong(u64),
}

fn keep(
    entry: Result<Entry, NodeError>,
    is_first: bool,
    max: u64,
) -> Result<Vec<u8>, HandlerError> {
    let entry = entry.map_err(|error| format!("{}: {error}", error.category()));
    let kept = match entry {
        Ok(entry) => Kept::Entry(entry),
        Err(failure) if is_first => Kept::Failed(failure),
        // Restate tries again.
        Err(failure) => return Err(failure.into()),
    };
    let json = serde_json::to_vec(&kept)?;
    let bytes = json.len() as u64;
    if bytes <= max {
        Ok(json)
    } else {
        Ok(serde_json::to_vec(&Kept::TooLong(bytes))?)
    }
}

/// One process's work on one run.
struct Driver<'c, 'r> {
    ctx: &'c WorkflowContext<'r>,
    replay: Replay<Ended>,
    status: Status,
    ending: watch::Receiver<bool>,
    /// The steps when the figures were counted last.
    counted: u64,
}

impl Driver<'_, '_> {
    async fn drive(&mut self, max_entry: u64) -> Result<Outcome<Value, Value>, Stop> {
        loop {
            let entry = self.next(max_entry).await?;
            match self.replay.take(entry)? {
                ReplayStep::On { at, steps, .. } => self.stands_at(at, steps).await,
                ReplayStep::Waits(paused) => self.waits(paused).await?,
                ReplayStep::InDoubt {
                    node, at, fault, ..
                } => self.in_doubt(InDoubt { node, at }, fault).await?,
                ReplayStep::Ended(outcome) => return self.ended(outcome).await,
                _ => {
                    return Err(NodeError::new(
                        Category::Aborted,
                        "a turn that this version does not know",
                    )
                    .into());
                }
            }
        }
    }

    async fn next(&mut self, max: u64) -> Result<Entry, Stop> {
        if *self.ending.borrow() {
            return Err(Stop::Ends);
        }
        let mut kept = self.kept(max).await?;
        if let Ok(Kept::Failed(failure)) = kept {
            self.status.failure = Some(failure);
            self.set();
            kept = self.kept(max).await?;
        }
        let (category, fault) = match kept {
            Ok(Kept::Entry(entry)) => return Ok(entry),
            Ok(Kept::Failed(failure)) => (Category::Aborted, format!("failed twice: {failure}")),
            Ok(Kept::TooLong(bytes)) => (
                Category::Aborted,
                format!("has {bytes} bytes, and at most {max} are kept"),
            ),
            // Another version wrote it.
            Err(error) => (Category::ConfigError, format!("cannot be read: {error}")),
        };
        Err(NodeError::new(
            category,
            format!("an entry of the step {} {fault}", self.status.at),
        )
        .into())
    }

    async fn kept(&self, max: u64) -> Result<Result<Kept, serde_json::Error>, TerminalError> {
        let name = self.replay.name();
        let next = self.replay.next();
        let is_first = self.status.failure.is_none();
        let kept = self
            .ctx
            .run(move || async move { keep(next.await, is_first, max) })
            .name(name)
            .await?;
        Ok(serde_json::from_slice(&kept))
    }

    fn end(&mut self) {
        self.status.ended = true;
        self.status.waiting.clear();
        (self.status.in_doubt, self.status.failure) = (None, None);
        self.set();
    }

    fn set(&self) {
        self.ctx.set("status", Json(self.status.clone()));
    }

    async fn count(&mut self) {
        if let Ok(history) = self.replay.history().await {
            self.status.usage = history.ledger().total();
            self.status.unknown = history.unknown().len() as u64;
        }
    }

    async fn stands_at(&mut self, at: Position, steps: u64) {
        if (self.status.steps, &self.status.at) != (steps, &at) {
            (self.status.at, self.status.steps, self.status.failure) = (at, steps, None);
            // A count reads all records: with ever longer intervals, all counts
            // together stay in proportion to them.
            if steps >= self.counted + self.counted / 16 {
                self.counted = steps;
                self.count().await;
            }
            self.set();
        }
    }

    async fn waits(&mut self, mut paused: Paused) -> Result<(), Stop> {
        self.count().await;
        loop {
            self.status.wait += 1;
            (self.status.waiting, self.status.failure) = (paused.waiting(), None);
            self.set();
            let decision: Decision = self.promised(&pause_name(self.status.wait)).await?;
            self.status.waiting.clear();
            match decided(&paused, decision) {
                Ok(decided) => {
                    paused = decided;
                    break;
                }
                Err(error) => self.status.fault = Some(error.to_string()),
            }
        }
        self.status.fault = None;
        self.set();
        self.replay.decide(paused);
        Ok(())
    }

    async fn in_doubt(&mut self, in_doubt: InDoubt, fault: Option<String>) -> Result<(), Stop> {
        self.count().await;
        self.status.wait += 1;
        (self.status.in_doubt, self.status.fault, self.status.failure) =
            (Some(in_doubt), fault, None);
        self.set();
        let settled: Settled = self.promised(&doubt_name(self.status.wait)).await?;
        (self.status.in_doubt, self.status.fault) = (None, None);
        self.set();
        self.replay.settle(
            settled
                .output
                .map_or(InDoubtOutcome::Rerun, InDoubtOutcome::Happened),
        );
        Ok(())
    }

    async fn promised<T: Serialize + for<'de> Deserialize<'de> + 'static>(
        &mut self,
        name: &str,
    ) -> Result<T, Stop> {
        tokio::select! {
            biased;
            answer = self.ctx.promise::<Json<Given<T>>>(name) => Ok(answer?.into_inner().what),
            _ = self.ending.wait_for(|ending| *ending) => Err(Stop::Ends),
        }
    }

    async fn ended(
        &mut self,
        outcome: Result<Ended, NodeError>,
    ) -> Result<Outcome<Value, Value>, Stop> {
        self.count().await;
        let Ended { state, action } = outcome?;
        self.end();
        let Status { usage, unknown, .. } = self.status;
        Ok(Outcome {
            state,
            action,
            usage,
            unknown,
        })
    }
}

fn decided(paused: &Paused, decision: Decision) -> Result<Paused, NodeError> {
    let (calls, results) = decision.parts();
    let paused = calls
        .into_iter()
        .try_fold(paused.clone(), |paused, (id, to)| paused.decide(&id, to))?;
    results
        .into_iter()
        .try_fold(paused, |paused, (id, result)| paused.answer(&id, result))
}
