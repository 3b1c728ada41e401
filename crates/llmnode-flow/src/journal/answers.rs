//! A map that goes on where another process stopped: a journal keeps its answers.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use llmnode_runtime::internal::{Event, KeptAnswer, Recorder, is_recorded, recorded_by};
use llmnode_runtime::{BoxError, BoxFuture, Map, Message, NodeError, Request, ToolCall};

use super::durable::failed;
use super::interface::Journal;
use super::keeper::Keeper;
use super::kept::{self, Kept, Left};
use super::permits::refused;
use super::record::Entry;
use crate::flow::Position;

/// Maps whose answers survive a crash. In the prelude, with the feature `journal`.
pub trait MapExt: Sized {
    /// Keeps each accepted answer in a journal. Started again with the same nodes, in this process or another one,
    /// the map returns what was answered before, and asks only for the rest.
    ///
    /// A request is known by its content: messages, model, settings and schema. Of equal requests each has its own
    /// answer. An answer from the journal is read and validated again. It makes no request, counts for no limit, and
    /// has no attempt in the record, which says how many there were ([`replayed`](llmnode_runtime::CallRecord::replayed)). Results of
    /// tools are kept in the same way. An answer that is no longer good is asked again, and so is one that failed or
    /// came from a fallback value. Answers are in the journal in clear. Each is synced to the disk before its result
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
    kept: Mutex<Kept>,
    keeper: Keeper,
    /// The name of a node that was called, and must not be executed again.
    once: OnceLock<String>,
}

impl Answers {
    async fn read(mut journal: Box<dyn Journal>) -> Result<Self, NodeError> {
        let mut left = Vec::new();
        let mut is_of_a_flow = false;
        let mut take = |record: super::Record| match record.0 {
            Entry::Answered(answered) => left.push(Left::Answer(answered)),
            Entry::ToolEnded(ended) => left.push(Left::Result(*ended)),
            _ => is_of_a_flow = true,
        };
        journal.read(&mut take).await.map_err(failed)?;
        if is_of_a_flow {
            return Err(refused(
                "the journal is that of a flow; give the map a journal of its own".to_owned(),
            ));
        }
        let keeper = Keeper::new(journal, Position::default(), Kept::default());
        Ok(Answers { kept: Mutex::new(Kept::new(String::new(), left)), keeper, once: OnceLock::new() })
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recorder for Answers {
    fn note(&self, event: Event<'_>) {
        match event {
            // One that was rejected is asked for again, and so is an item that failed.
            Event::Answered { answer, .. } if !answer.accepted => {}
            Event::Answered { .. } | Event::ToolEnded { .. } => self.keeper.note(event),
            Event::CallBegan { call, .. } => {
                self.once.get_or_init(|| call.node.to_owned());
            }
            _ => {}
        }
    }

    fn keeps_begins(&self) -> bool {
        false
    }

    fn conversation(
        &self,
        request: &Request,
        names: [Option<&str>; 3],
        within: Option<&str>,
    ) -> Option<llmnode_runtime::internal::Kept> {
        let conversation = self.kept().conversation(request, names, within);
        Some(llmnode_runtime::internal::Kept { conversation, root: None })
    }

    fn name(&self, request: &Request, names: [Option<&str>; 3]) -> String {
        kept::name(request, names)
    }

    fn answer(&self, conversation: &str, request: &str) -> Option<KeptAnswer> {
        self.kept().answer(conversation, request)
    }

    fn result(&self, conversation: &str, call: &ToolCall) -> Option<Message> {
        self.kept().result(conversation, call)
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
