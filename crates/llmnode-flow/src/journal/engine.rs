//! A journal whose records an engine keeps, for engines that replay.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use llmnode_runtime::{BoxFuture, Category, Group, Node, NodeError, Paused};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;

use super::error::JournalError;
use super::history::{History, PendingStep};
use super::journal::Journal;
use super::record::{Entry as RecordEntry, Record};
use super::resume::Resume;
use super::resume_check::config_error;
use crate::flow::{FlowCall, Position, ReplayedOutput};

/// How long an answer without calls waits for the end of its step, to be one entry with it.
const STEP: Duration = Duration::from_millis(5);

/// What an engine keeps of one turn of a flow: some records of its journal, and
/// whether it pauses or has ended. serde writes and reads it; what is in it is
/// llmnode's. It holds states, answers and results of tools in clear.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Entry(EntryData);

impl Entry {
    fn new(records: Vec<Record>, then: Option<EntryEnd>) -> Self {
        Entry(EntryData { records, then })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct EntryData {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    records: Vec<Record>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    then: Option<EntryEnd>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EntryEnd {
    Paused(Box<Paused>),
    InDoubt {
        node: String,
        at: Position,
        fault: Option<String>,
    },
    Returned(Value),
    Failed {
        category: Category,
        message: String,
    },
}

/// What follows an [`Entry`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ReplayStep<T> {
    /// The flow goes on.
    #[non_exhaustive]
    On {
        /// The step that is next.
        at: Position,
        /// How many steps are completed.
        steps: u64,
    },
    /// A person has to decide: [`Replay::decide`] takes what was paused, with the decisions.
    Waits(Paused),
    /// A node with `idempotent = false` may have been executed or not:
    /// [`Replay::settle`] says what happened.
    #[non_exhaustive]
    InDoubt {
        /// The node's name.
        node: String,
        /// The step it belongs to.
        at: Position,
        /// Why the last settlement could not be used.
        fault: Option<String>,
    },
    /// The flow has ended. An error has the category and the message of the flow's.
    Ended(Result<T, NodeError>),
}

/// What happened to a call that is in doubt.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "snake_case")]
pub enum InDoubtOutcome {
    /// It did not take effect, or may take effect again: it is executed again.
    Rerun,
    /// It took effect, and this is its output, as JSON: see [`ReplayStart::settles`].
    Happened(Value),
}

/// A flow on an engine that replays, such as Restate, DBOS or Temporal: the engine
/// keeps the flow's journal, an entry at a time.
///
/// Such an engine offers one thing: run this once, and keep what it returns. Each
/// [`next`](Replay::next) is one such call. After a crash, the engine gives back
/// the entries that it kept, in order, and executes the first one that it has not:
/// that one starts the flow from its journal. So no code of the flow runs during a
/// replay, and nothing in it has to be deterministic. What the engine does not keep
/// is not acknowledged to the flow, which goes no further.
///
/// ```
/// # mod llmnode { pub use llmnode_runtime::*; pub use llmnode_flow::*; }
/// use llmnode::NodeError;
/// use llmnode::journal::{Entry, Replay, ReplayStep};
/// # use std::future::Future;
/// # struct Engine;
/// # impl Engine {
/// #     async fn once(&self, _: String, next: impl Future<Output = Result<Entry, NodeError>>) -> Result<Entry, NodeError> { next.await }
/// #     async fn person(&self, paused: llmnode::Paused) -> llmnode::Paused { paused }
/// # }
///
/// async fn drive(engine: &Engine, mut replay: Replay<String>) -> Result<String, NodeError> {
///     loop {
///         // The engine runs it, or returns what it kept. If it fails, the engine tries again later.
///         let entry = engine.once(replay.name(), replay.next()).await?;
///         match replay.take(entry)? {
///             ReplayStep::On { .. } => {}
///             ReplayStep::Waits(paused) => replay.decide(engine.person(paused).await),
///             ReplayStep::Ended(outcome) => return outcome,
///             other => panic!("no node of this flow is executed at most once: {other:?}"),
///         }
///     }
/// }
/// ```
///
/// `next` returns an error only for a failure of the [transport](Group::Transport),
/// so that the engine waits and tries again; answers that came are kept. Every
/// other failure is the flow's outcome. Dropping this drops the flow.
///
/// An entry is a request, an answer with calls of tools, the result of a tool, or
/// the end of a step; an answer without calls waits up to 5 ms to be one entry with
/// the end of its step, unless it ends a turn of a chat in a database. It holds the
/// state after each step.
pub struct Replay<T> {
    start: Start,
    records: Arc<Vec<Record>>,
    under_way: Arc<Mutex<Option<UnderWay>>>,
    decided: Option<Paused>,
    settlement: Option<InDoubtOutcome>,
    at: Position,
    steps: u64,
    entries: u64,
    output: PhantomData<fn() -> T>,
}

type Start = Arc<dyn Fn(ReplayStart) -> BoxFuture<'static, Result<Value, NodeError>> + Send + Sync>;

impl<T: Serialize + DeserializeOwned> Replay<T> {
    /// Creates a replay. The function starts the flow: it makes the run, and
    /// returns what should come of it. It is called again after each crash and each
    /// pause, and returns what [`ReplayStart::resume`] makes of the flow's call:
    ///
    /// ```
    /// # mod llmnode { pub use llmnode_runtime::*; pub use llmnode_flow::*; }
    /// use llmnode::Run;
    /// use llmnode::flow::{RunExt, RunFlow};
    /// use llmnode::journal::Replay;
    /// # use serde::{Serialize, de::DeserializeOwned};
    /// # fn of<S, F>(model: llmnode::ScriptedModel, state: S, flow: F) -> Replay<S>
    /// # where
    /// #     S: Serialize + DeserializeOwned + Clone + Send + Sync + 'static,
    /// #     F: for<'r> RunFlow<'r, S, Action: Serialize + DeserializeOwned + Send> + Clone + Send + Sync + 'static,
    /// # {
    /// Replay::new(move |start| {
    ///     let (model, state, flow) = (model.clone(), state.clone(), flow.clone());
    ///     async move {
    ///         let mut run = Run::new(model).with_state(state);
    ///         start.resume(run.flow(flow))?.await?;
    ///         Ok(run.into_state())
    ///     }
    /// })
    /// # }
    /// ```
    pub fn new<F>(start: impl Fn(ReplayStart) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<T, NodeError>> + Send + 'static,
    {
        let start: Start = Arc::new(move |begin| {
            let flow = start(begin);
            Box::pin(async move {
                let output = flow.await?;
                serde_json::to_value(&output).map_err(|error| {
                    config_error(format!(
                        "what came of the flow cannot be written as JSON: {error}"
                    ))
                })
            })
        });
        Replay {
            start,
            records: Arc::default(),
            under_way: Arc::default(),
            decided: None,
            settlement: None,
            at: Position::default(),
            steps: 0,
            entries: 0,
            output: PhantomData,
        }
    }

    /// Returns a name for the next entry, for people who look into the engine: the
    /// step and the number of the entry. It is the same in each replay.
    pub fn name(&self) -> String {
        let number = self.entries + 1;
        if self.records.is_empty() {
            format!("start {number}")
        } else {
            format!("{} {number}", self.at)
        }
    }

    /// Returns what the engine should run once, and keep: the next entry.
    ///
    /// # Errors
    /// A failure of the transport, which may pass: the engine should try again after a while.
    pub fn next(&self) -> impl Future<Output = Result<Entry, NodeError>> + Send + 'static {
        let start = Arc::clone(&self.start);
        let under_way = Arc::clone(&self.under_way);
        let records = Arc::clone(&self.records);
        let decided = self.decided.clone();
        let settlement = self.settlement.clone();
        async move {
            // Dropped in the middle, it drops the flow, which begins anew from what was kept.
            let waiting = lock(&under_way).take();
            let mut flow = match waiting {
                Some(flow) => flow,
                None => {
                    if let (None, Some(PendingStep { node, at, .. })) =
                        (&settlement, in_doubt(&records))
                    {
                        return Ok(Entry::new(
                            Vec::new(),
                            Some(EntryEnd::InDoubt {
                                node,
                                at,
                                fault: None,
                            }),
                        ));
                    }
                    UnderWay::start(&start, (records, decided, settlement))
                }
            };
            let (entry, continues) = flow.next().await?;
            if continues {
                *lock(&under_way) = Some(flow);
            }
            Ok(entry)
        }
    }

    /// Takes an entry that the engine has kept, and tells the flow to go on.
    ///
    /// # Errors
    /// A `config_error`: what came of the flow cannot be read, so another version
    /// of the program wrote it.
    pub fn take(&mut self, entry: Entry) -> Result<ReplayStep<T>, NodeError> {
        let EntryData { records, then } = entry.0;
        self.entries += 1;
        for record in &records {
            match &record.0 {
                RecordEntry::Started(started) => self.at = started.at.clone(),
                RecordEntry::Stepped(step) => {
                    self.at = step.at.clone();
                    self.steps += 1;
                    // A decision holds for the step, also after a crash in it.
                    (self.decided, self.settlement) = (None, None);
                }
                // It holds for one more execution.
                RecordEntry::Resumed(resumed) if resumed.rerun => self.settlement = None,
                _ => {}
            }
        }
        Arc::make_mut(&mut self.records).extend(records);
        if let Some(flow) = &mut *lock(&self.under_way) {
            flow.is_kept();
        }
        Ok(match then {
            None => ReplayStep::On {
                at: self.at.clone(),
                steps: self.steps,
            },
            Some(EntryEnd::Paused(paused)) => ReplayStep::Waits(*paused),
            Some(EntryEnd::InDoubt { node, at, fault }) => {
                self.settlement = None;
                ReplayStep::InDoubt { node, at, fault }
            }
            Some(EntryEnd::Failed { category, message }) => {
                ReplayStep::Ended(Err(NodeError::new(category, message)))
            }
            Some(EntryEnd::Returned(output)) => {
                ReplayStep::Ended(Ok(serde_json::from_value(output).map_err(|error| {
                    config_error(format!(
                        "what came of the flow cannot be read: {error}; another version of the \
                         program wrote it"
                    ))
                })?))
            }
        })
    }

    /// Continues after [`ReplayStep::Waits`] with what was decided.
    pub fn decide(&mut self, paused: Paused) {
        self.decided = Some(paused);
    }

    /// Continues after [`ReplayStep::InDoubt`] with what happened.
    pub fn settle(&mut self, settlement: InDoubtOutcome) {
        self.settlement = Some(settlement);
    }

    /// Returns where the flow is, what was spent on it, and what is unknown, by the entries so far.
    ///
    /// # Errors
    /// None in practice: the records are in memory.
    pub async fn history(&self) -> Result<History, JournalError> {
        History::of(&mut Replayed::new(&self.records)).await
    }
}

impl<T> fmt::Debug for Replay<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay")
            .field("at", &self.at)
            .field("steps", &self.steps)
            .field("entries", &self.entries)
            .finish_non_exhaustive()
    }
}

/// Why a flow starts: at its beginning, after a crash, or after a decision.
pub struct ReplayStart {
    journal: Replayed,
    decided: Option<Paused>,
    settlement: Option<InDoubtOutcome>,
    settles: Vec<Settles>,
    refused: Refused,
}

/// A call that is still in doubt, since what was said of it could not be used.
type Refused = Arc<Mutex<Option<EntryEnd>>>;

struct Settles {
    node: &'static str,
    happened: Box<dyn Happened>,
}

trait Happened: Send {
    fn read(&self, output: Value) -> Result<ReplayedOutput, serde_json::Error>;
}

struct Of<N>(PhantomData<fn() -> N>);

impl<N: Node<Output: DeserializeOwned> + 'static> Happened for Of<N> {
    fn read(&self, output: Value) -> Result<ReplayedOutput, serde_json::Error> {
        Ok(ReplayedOutput::of::<N>(serde_json::from_value(output)?))
    }
}

impl ReplayStart {
    /// Lets an output of this node, as JSON, settle a call of it that is [in
    /// doubt](ReplayStep::InDoubt).
    #[must_use]
    pub fn settles<N>(mut self) -> Self
    where
        N: Node + 'static,
        N::Output: DeserializeOwned,
    {
        self.settles.push(Settles {
            node: N::NAME,
            happened: Box::new(Of::<N>(PhantomData)),
        });
        self
    }

    /// Starts the flow, or continues it after its last entry.
    ///
    /// # Errors
    /// A `config_error`: the output of a call that is in doubt cannot be read, or
    /// [`settles`](Self::settles) was not called for its node. The replay asks for
    /// another settlement then.
    pub fn resume<'r, S, A>(self, flow: FlowCall<'r, S, A>) -> Result<Resume<'r, S, A>, NodeError>
    where
        S: Serialize + DeserializeOwned + Send + Sync,
        A: Serialize + DeserializeOwned + Send + 'static,
    {
        let in_doubt = in_doubt(&self.journal.records);
        let mut resume = flow.resume(self.journal);
        if let Some(paused) = self.decided {
            resume = resume.approve(paused);
        }
        match self.settlement {
            None => Ok(resume),
            Some(InDoubtOutcome::Rerun) => Ok(resume.rerun()),
            Some(InDoubtOutcome::Happened(output)) => {
                // Without a call in doubt, the flow says so itself.
                let PendingStep { node, at, .. } =
                    in_doubt.ok_or_else(|| config_error("no call is in doubt".to_owned()))?;
                output_of(&node, output, &self.settles)
                    .map(|output| resume.happened_as(output))
                    .map_err(|fault| {
                        *lock(&self.refused) = Some(EntryEnd::InDoubt {
                            node,
                            at,
                            fault: Some(fault.clone()),
                        });
                        config_error(fault)
                    })
            }
        }
    }
}

fn output_of(node: &str, output: Value, settles: &[Settles]) -> Result<ReplayedOutput, String> {
    let settles = settles
        .iter()
        .find(|settles| settles.node == node)
        .ok_or_else(|| {
            format!(
                "the program does not say how to read an output of `{node}`: \
                 `ReplayStart::settles` does, or settle it by a rerun"
            )
        })?;
    settles
        .happened
        .read(output)
        .map_err(|error| format!("that is no output of `{node}`: {error}"))
}

impl fmt::Debug for ReplayStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplayStart")
            .field("is_decided", &self.decided.is_some())
            .field("settlement", &self.settlement)
            .finish_non_exhaustive()
    }
}

/// The call that has to be settled before the flow can start.
fn in_doubt(records: &[Record]) -> Option<PendingStep> {
    let mut history = History::default();
    records
        .iter()
        .cloned()
        .for_each(|record| history.take(record));
    history.close();
    history.in_doubt().cloned()
}

/// A flow in a task of its own, between two entries.
struct UnderWay {
    events: mpsc::Receiver<Event>,
    shared: Arc<Shared>,
    refused: Refused,
    task: JoinHandle<()>,
    /// Tells the flow that its record is kept.
    kept: Option<oneshot::Sender<()>>,
    /// To be returned after what came before it has been kept.
    failed: Option<NodeError>,
}

enum Event {
    /// A record that has to be kept before the flow goes on.
    Vital(oneshot::Sender<()>),
    Over(Result<Value, NodeError>),
}

/// Records that wait for the next entry.
#[derive(Default)]
struct Shared {
    records: Mutex<Vec<Record>>,
    /// An answer that can wait for the end of its step is among them.
    answered: Notify,
}

impl UnderWay {
    fn start(
        start: &Start,
        (records, decided, settlement): (Arc<Vec<Record>>, Option<Paused>, Option<InDoubtOutcome>),
    ) -> Self {
        let (sender, events) = mpsc::channel(1);
        let shared = Arc::<Shared>::default();
        let refused = Refused::default();
        let journal = Replayed {
            records,
            to: Some((sender.clone(), Arc::clone(&shared))),
        };
        let flow = start(ReplayStart {
            journal,
            decided,
            settlement,
            settles: Vec::new(),
            refused: Arc::clone(&refused),
        });
        let task = tokio::spawn(async move {
            let outcome = flow.await;
            // Nobody waits for it any more.
            let _ = sender.send(Event::Over(outcome)).await;
        });
        UnderWay {
            events,
            shared,
            refused,
            task,
            kept: None,
            failed: None,
        }
    }

    /// The next entry, and whether more of this task will follow it.
    async fn next(&mut self) -> Result<(Entry, bool), NodeError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let event = tokio::select! {
            biased;
            event = self.events.recv() => event,
            () = self.shared.answered.notified() => {
                match tokio::time::timeout(STEP, self.events.recv()).await {
                    Ok(event) => event,
                    Err(_) => return Ok((self.entry(None), true)),
                }
            }
        };
        Ok(match event {
            Some(Event::Vital(kept)) => {
                self.kept = Some(kept);
                (self.entry(None), true)
            }
            Some(Event::Over(outcome)) => return self.over(outcome),
            None => {
                let message = "the task of the flow is gone, by a panic or the end of the runtime";
                let then = EntryEnd::Failed {
                    category: Category::Panic,
                    message: message.to_owned(),
                };
                (self.entry(Some(then)), false)
            }
        })
    }

    fn over(&mut self, outcome: Result<Value, NodeError>) -> Result<(Entry, bool), NodeError> {
        let refused = lock(&self.refused).take();
        let then = match outcome {
            Ok(output) => EntryEnd::Returned(output),
            Err(error) => match (error.paused(), refused) {
                (Some(paused), _) => EntryEnd::Paused(Box::new(paused)),
                (None, Some(in_doubt)) => in_doubt,
                // What was spent is kept before the engine tries again.
                (None, None) if error.category().group() == Group::Transport => {
                    if lock(&self.shared.records).is_empty() {
                        return Err(error);
                    }
                    self.failed = Some(error);
                    return Ok((self.entry(None), true));
                }
                (None, None) => EntryEnd::Failed {
                    category: error.category(),
                    message: error.to_string(),
                },
            },
        };
        Ok((self.entry(Some(then)), false))
    }

    fn entry(&self, then: Option<EntryEnd>) -> Entry {
        Entry::new(std::mem::take(&mut *lock(&self.shared.records)), then)
    }

    fn is_kept(&mut self) {
        if let Some(kept) = self.kept.take() {
            // The flow was dropped meanwhile.
            let _ = kept.send(());
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The journal of a flow whose records an engine keeps.
struct Replayed {
    records: Arc<Vec<Record>>,
    /// `None`: it is only read.
    to: Option<(mpsc::Sender<Event>, Arc<Shared>)>,
}

impl Replayed {
    fn new(records: &Arc<Vec<Record>>) -> Self {
        Replayed {
            records: Arc::clone(records),
            to: None,
        }
    }
}

impl Journal for Replayed {
    fn read<'j>(
        &'j mut self,
        each: &'j mut (dyn FnMut(Record) + Send),
    ) -> BoxFuture<'j, Result<(), JournalError>> {
        // It is read once, when the flow starts.
        let records = std::mem::take(&mut self.records);
        Box::pin(async move {
            records.iter().cloned().for_each(each);
            Ok(())
        })
    }

    fn append<'j>(&'j mut self, record: &'j Record) -> BoxFuture<'j, Result<(), JournalError>> {
        Box::pin(async move {
            let gone =
                || JournalError::Other("the engine has given the flow to another process".into());
            let Some((events, shared)) = &self.to else {
                return Err(gone());
            };
            lock(&shared.records).push(record.clone());
            match weight(record) {
                Weight::Figures => Ok(()),
                Weight::Answer => {
                    shared.answered.notify_one();
                    Ok(())
                }
                Weight::Vital => {
                    let (kept, is_kept) = oneshot::channel();
                    events.send(Event::Vital(kept)).await.map_err(|_| gone())?;
                    is_kept.await.map_err(|_| gone())
                }
            }
        })
    }
}

enum Weight {
    /// It goes with the next entry.
    Figures,
    /// It waits a moment for the end of its step.
    Answer,
    Vital,
}

fn weight(record: &Record) -> Weight {
    match &record.0 {
        RecordEntry::AttemptEnded(_)
        | RecordEntry::AttemptForgotten(_)
        | RecordEntry::CallEnded(_)
        | RecordEntry::Resumed(_) => Weight::Figures,
        // A chat's store commits the turn before the step ends: without the answer,
        // it would be asked for and paid again.
        RecordEntry::Answered(answered) if answered.calls.is_empty() && !answered.of_chat => {
            Weight::Answer
        }
        _ => Weight::Vital,
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it holds such a lock.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
