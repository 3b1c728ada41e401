//! A map that goes on where another process stopped: a journal keeps its answers.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use llmnode_runtime::internal::{Event, Recorder, Replay, hashed, is_recorded, recorded_by};
use llmnode_runtime::{BoxError, BoxFuture, Map, NodeError, Request};
use serde_json::json;

use super::durable::failed;
use super::interface::Journal;
use super::keeper::Keeper;
use super::permits::refused;
use super::record::{Answered, Entry};
use crate::flow::Position;

/// Maps whose answers survive a crash. In the prelude, with the feature `journal`.
pub trait MapExt: Sized {
    /// Keeps each accepted answer in a journal. Started again with the same nodes, in this process or another one,
    /// the map returns what was answered before, and asks only for the rest.
    ///
    /// A request is known by its content: messages, model, settings and schema. Of equal requests each has its own
    /// answer. An answer from the journal is read and validated again. It makes no request, counts for no limit, and
    /// has no attempt in the record. An answer that is no longer good is asked again, and so is one that failed or
    /// came from a fallback value. Answers are in the journal in clear. Each is forced to the disk before its result
    /// is returned, unless [`Fsync::Never`](super::Fsync::Never) is set.
    ///
    /// If the journal cannot be read, or is that of a flow, the error is the map's only result. Within a flow that
    /// has a journal this is a `config_error`, since that journal keeps the flow's steps. A node with
    /// `idempotent = false` is not executed, since nothing tells whether it was before: its calls end as `aborted`.
    ///
    /// ```no_run
    /// # mod llmnode { pub use llmnode_runtime::*; pub use llmnode_flow::*; }
    /// use llmnode::journal::{JournalFile, MapExt};
    /// # use llmnode::{Exec, Node, NodeError, Run};
    ///
    /// async fn rate_all<N>(run: &Run, nodes: Vec<N>) -> Result<Vec<N::Output>, Box<dyn std::error::Error>>
    /// where
    ///     N: Exec<()> + Send + Sync,
    /// {
    ///     let journal = JournalFile::open("ratings.journal")?;
    ///     Ok(run.map(nodes).concurrency(16).resume(journal).try_all().await?)
    /// }
    /// ```
    #[must_use = "a map does nothing until it is awaited"]
    fn resume(self, journal: impl Journal + 'static) -> Self;
}

impl<'r, T: Send + 'r> MapExt for Map<'r, T> {
    fn resume(self, journal: impl Journal + 'static) -> Self {
        let recorded = is_recorded(&self);
        recorded_by(self, async move {
            if recorded {
                let message =
                    "a map within a flow with a journal keeps no answers of its own; leave out `resume`";
                return Err(refused(message.to_owned()));
            }
            let answers: Arc<dyn Recorder> = Arc::new(Answers::read(Box::new(journal)).await?);
            Ok(answers)
        })
    }
}

/// The answers of a map.
struct Answers {
    /// Those that an earlier process was given, by request, oldest first.
    kept: Mutex<HashMap<String, VecDeque<String>>>,
    keeper: Keeper,
    /// The name of a node that was called, and must not be executed again.
    once: OnceLock<String>,
}

impl Answers {
    async fn read(mut journal: Box<dyn Journal>) -> Result<Self, NodeError> {
        let mut kept: HashMap<String, VecDeque<String>> = HashMap::new();
        let mut is_of_a_flow = false;
        let mut take = |record: super::Record| match record.0 {
            Entry::Answered(Answered { request, answer }) => {
                kept.entry(request).or_default().push_back(answer)
            }
            _ => is_of_a_flow = true,
        };
        journal.read(&mut take).await.map_err(failed)?;
        if is_of_a_flow {
            return Err(refused(
                "the journal is that of a flow; give the map a journal of its own".to_owned(),
            ));
        }
        let keeper = Keeper::new(journal, Position::default());
        Ok(Answers { kept: Mutex::new(kept), keeper, once: OnceLock::new() })
    }
}

impl Recorder for Answers {
    fn note(&self, event: Event<'_>) {
        match event {
            Event::Answered { request, answer } => {
                let answered = Answered { request: request.to_owned(), answer: answer.to_owned() };
                self.keeper.add(Entry::Answered(answered).into(), Position::default());
            }
            Event::CallBegan { call, .. } => {
                self.once.get_or_init(|| call.node.to_owned());
            }
            _ => {}
        }
    }

    fn replay(&self, request: &Request, names: [Option<&str>; 3]) -> Option<Replay> {
        let request = name(request, names);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = kept.get_mut(&request).and_then(VecDeque::pop_front);
        Some(Replay { request, answer })
    }

    fn write(&self) -> BoxFuture<'_, Result<(), BoxError>> {
        let Some(node) = self.once.get() else { return self.keeper.write() };
        let fault = format!(
            "the node `{node}` says `idempotent = false`, and a map with `resume` executes its nodes again as it goes on; \
             leave out `resume`, or let a flow with a journal call it"
        );
        Box::pin(std::future::ready(Err(fault.into())))
    }
}

/// What tells a request from others: whatever of it changes what a model answers.
fn name(request: &Request, names: [Option<&str>; 3]) -> String {
    let Request { messages, output, tools, dialect, temperature, max_tokens, extra, .. } = request;
    let schema = output.as_ref().map(|schema| (schema.name(), schema.plain()));
    let mut whole = json!([messages, schema, dialect, temperature, max_tokens, extra, names]);
    if let Some(whole) = whole.as_array_mut() {
        whole.extend(tools.iter().map(|tool| json!([tool.name, tool.description, tool.schema.plain()])));
    }
    hashed(whole.to_string().as_bytes())
}
