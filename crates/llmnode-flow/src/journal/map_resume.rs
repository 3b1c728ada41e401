//! A map that continues where another process stopped: a journal keeps its answers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use llmnode_runtime::ext::{
    JournaledAnswer, JournaledBatch, JournaledConversation, PriorSpend, Recorder, RunCore,
    RunEvent, RunRecorder, recorded_by,
};
use llmnode_runtime::internal::RunInternals as _;
use llmnode_runtime::{
    BatchApi, BoxError, BoxFuture, Map, Message, NodeError, Request, Run, ToolCall, Usage,
};

use super::durable::random_id;
use super::history::History;
use super::journal::Journal;
use super::record::{Entry, MapStarted, Record};
use super::recorder::JournalRecorder;
use super::replay::line_id;
use super::resume_check::config_error;
use crate::flow::Position;

/// Maps whose answers survive a crash. In the prelude, with the feature `journal`.
pub trait MapExt: Sized {
    /// Keeps each accepted answer in a journal. Started again with the same nodes,
    /// in this process or another one, the map returns what was answered before,
    /// and asks only for the rest.
    ///
    /// A request is known by its content: messages, model, settings and schema. Of
    /// equal requests each has its own answer. An answer from the journal is read
    /// and validated again. It makes no request and has no attempt in the record,
    /// which says how many there were
    /// ([`replayed`](llmnode_runtime::CallRecord::replayed)) and what they used
    /// ([`replayed_usage`](llmnode_runtime::CallRecord::replayed_usage)). Results
    /// of tools are kept in the same way. An answer that is no longer good is asked
    /// for again, and so is one that failed or came from a fallback value. The
    /// journal holds the answers unencrypted. Each is synced to the disk before its
    /// result is returned, unless
    /// [`Fsync::Never`](super::Fsync::Never) is set.
    ///
    /// What earlier processes spent is in the ledger afterwards, once, and counts
    /// for the limits of the map, of the run and of its nodes. A request that was
    /// under way when a process died counts as one without a report.
    ///
    /// If the journal has answers, and the first requests of the map are all
    /// others, the prompt has probably changed: that is a `config_error` before
    /// anything is sent, unless the map has [`allow_changes`](Map::allow_changes).
    /// Then the answers are [dropped](super::History::dropped), and everything is
    /// asked anew.
    ///
    /// If the journal cannot be read, or is that of a flow, the error is the map's
    /// only result. Within a flow that has a journal this is a `config_error`,
    /// since that journal keeps the flow's steps. A node with `idempotent = false`
    /// is not executed, since it is unknown whether it was executed before: its
    /// calls end as `aborted`.
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
        recorded_by(self, |core| {
            Box::pin(async move {
                let (answers, spent) = MapRecorder::read(Box::new(journal), core).await?;
                let recorder: Arc<dyn Recorder> = Arc::new(answers);
                Ok((recorder, spent))
            })
        })
    }
}

/// What a program does with the batches in a journal. In the prelude, with the feature `batch`.
pub trait BatchApiExt {
    /// Cancels the batches that a map left in this journal. What they answered so
    /// far is paid for, and the map gets it when it is started again. Returns how
    /// many were cancelled; those that have ended do not count.
    ///
    /// ```no_run
    /// # mod llmnode { pub use llmnode_runtime::*; pub use llmnode_flow::*; }
    /// use llmnode::journal::{BatchApiExt, JournalFile};
    /// # use llmnode::{BatchApi, Run};
    ///
    /// async fn stop(run: &Run) -> Result<(), Box<dyn std::error::Error>> {
    ///     let cancelled = BatchApi::cancel(run, JournalFile::open("letters.journal")?).await?;
    ///     println!("{cancelled} batches are cancelled");
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// The journal cannot be read, no model of the run has such batches, or the
    /// provider refuses. All others are cancelled even then, and the first error is
    /// returned.
    fn cancel<S: Sync>(
        run: &Run<S>,
        journal: impl Journal + 'static,
    ) -> impl Future<Output = Result<usize, NodeError>> + Send;
}

impl BatchApiExt for BatchApi {
    async fn cancel<S: Sync>(
        run: &Run<S>,
        mut journal: impl Journal + 'static,
    ) -> Result<usize, NodeError> {
        let mut history = History::default();
        journal
            .read(&mut |record| history.take(record))
            .await
            .map_err(NodeError::from)?;
        let mut cancelled = 0;
        let mut first_error = None;
        for batch in history.open_batches() {
            match run.core().cancel_batch(&batch).await {
                Ok(is_cancelled) => cancelled += usize::from(is_cancelled),
                // The others cost money meanwhile.
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        first_error.map_or(Ok(cancelled), Err)
    }
}

struct MapRecorder {
    recorder: JournalRecorder,
    non_idempotent_node: OnceLock<String>,
    /// What its answers used; `None`: it has none.
    figures: Option<String>,
    has_matched: AtomicBool,
    /// Those that an earlier process left.
    batches: Vec<JournaledBatch>,
}

impl MapRecorder {
    /// What was spent on earlier answers counts for the run from now on.
    async fn read(
        mut journal: Box<dyn Journal>,
        core: &RunCore,
    ) -> Result<(Self, PriorSpend), NodeError> {
        let mut history = History::counting(core);
        journal
            .read(&mut |record| history.take(record))
            .await
            .map_err(NodeError::from)?;
        history.close();
        if history.outline().is_some() {
            return Err(config_error(
                "the journal is that of a flow; give the map a journal of its own".to_owned(),
            ));
        }
        let started = history
            .run()
            .is_empty()
            .then(|| Entry::MapStarted(MapStarted { id: random_id() }));
        let started = started.map(Record::from);
        started
            .iter()
            .cloned()
            .for_each(|record| history.take(record));
        let replay = history.replay();
        let figures = replay.figures();
        let recorder = JournalRecorder::new(journal, Position::default(), replay);
        recorder.count_batches(history.batches_planned());
        let batches = history.open_batches();
        if let Some(record) = started {
            recorder.add(record, Position::default());
            recorder.append_all().await.map_err(NodeError::from)?;
        }
        let non_idempotent_node = OnceLock::new();
        let has_matched = AtomicBool::new(false);
        Ok((
            MapRecorder {
                recorder,
                non_idempotent_node,
                figures,
                has_matched,
                batches,
            },
            history.count(core),
        ))
    }
}

impl Drop for MapRecorder {
    fn drop(&mut self) {
        self.recorder.warn_of_unused();
    }
}

impl RunRecorder for MapRecorder {
    fn record(&self, event: &RunEvent<'_>) {
        match event {
            // Rejected answers and failed items are asked for again.
            RunEvent::Answered { answer, .. } if !answer.accepted && !answer.in_batch => {}
            // Each process calls each item again.
            RunEvent::CallEnded { record, .. } if record.attempts.is_empty() => {}
            RunEvent::ExecBegins { call } => {
                self.non_idempotent_node
                    .get_or_init(|| call.node.to_owned());
            }
            _ => self.recorder.record(event),
        }
    }
}

impl Recorder for MapRecorder {
    fn conversation(
        &self,
        request: &Request,
        names: [Option<&str>; 3],
        within: Option<&str>,
    ) -> Option<JournaledConversation> {
        self.recorder.conversation(request, names, within)
    }

    fn name(&self, request: &Request, names: [Option<&str>; 3]) -> String {
        self.recorder.name(request, names)
    }

    fn answer(
        &self,
        conversation: &str,
        request: &str,
    ) -> Option<(JournaledAnswer, Option<Box<Usage>>)> {
        let answer = self.recorder.answer(conversation, request);
        if answer.is_some() {
            self.has_matched.store(true, Ordering::Relaxed);
        }
        answer
    }

    fn line(&self, conversation: &str, request: &Request, names: [Option<&str>; 3]) -> String {
        line_id(conversation, request, names)
    }

    fn batch_name(&self) -> String {
        self.recorder.next_batch()
    }

    fn batches(&self) -> Vec<JournaledBatch> {
        self.batches.clone()
    }

    fn result(&self, conversation: &str, call: &ToolCall) -> Option<Message> {
        self.recorder.result(conversation, call)
    }

    fn unmatched(&self) -> Option<String> {
        self.figures
            .clone()
            .filter(|_| !self.has_matched.load(Ordering::Relaxed))
    }

    fn drop_answers(&self) {
        self.recorder.drop_answers();
    }

    fn put_back(&self, conversations: &[Arc<str>]) {
        self.recorder.put_back(conversations);
    }

    fn has_lost(&self) -> bool {
        self.recorder.has_lost()
    }

    fn write(&self) -> BoxFuture<'_, Result<(), BoxError>> {
        let Some(node) = self.non_idempotent_node.get() else {
            return self.recorder.write();
        };
        let fault = format!(
            "the node `{node}` has `idempotent = false`, but a map with `resume` executes its \
             nodes again when it continues; leave out `resume`, or call the node in a flow with a \
             journal"
        );
        Box::pin(async {
            // Keeps the answers that other items got.
            self.recorder.append_all().await?;
            Err(fault.into())
        })
    }
}
