//! A call that asks by a batch: it parks its request, says in the journal that the request is part of an order, and reads the
//! result of its line as the response.

use std::sync::Arc;

use llmnode_model::batch::BatchWire;
use llmnode_model::{Category, ChatModel, Completion, ModelError, Request, Sink};

use super::parked::{LineAnswer, LineOutcome, Planned};
use super::pool::BatchPool;
use crate::ledger::{BatchAttempt, OpenAttempt};
use crate::run::core::Target;

/// What came of a request that parked.
pub(in crate::run) enum Asked {
    Answered(Box<Result<Completion, ModelError>>),
    /// It is to be asked directly.
    Directly,
}

impl Asked {
    fn answered(outcome: Result<Completion, ModelError>) -> Self {
        Asked::Answered(Box::new(outcome))
    }
}

/// A request that parks.
pub(in crate::run) struct BatchAsking<'a> {
    pub(in crate::run) pool: &'a Arc<BatchPool>,
    pub(in crate::run) target: &'a Target<'a>,
    pub(in crate::run) request: &'a Request,
}

/// A sink that stands before an attempt's record.
pub(in crate::run) trait AttemptSinkExt<'o>: Sink {
    fn open(&mut self) -> &mut OpenAttempt<'o>;
}

/// Parks the request until its line has a result. A provider whose queue is full makes it park again.
pub(in crate::run) async fn ask_in_batch<'o>(
    waiting: &BatchAsking<'_>,
    sink: &mut impl AttemptSinkExt<'o>,
) -> Asked {
    let wire = match batch_api(waiting.target.model) {
        Ok(wire) => wire,
        Err(error) => return Asked::answered(Err(error)),
    };
    let Some(line_id) = line_id(waiting, sink) else {
        let message = "a batch may outlive its process, so a map over a batch API needs a journal; add \
                       `.resume(JournalFile::open(..)?)`";
        return Asked::answered(Err(ModelError::unsent(Category::ConfigError, message)));
    };
    loop {
        let line = match wire.line(waiting.request, sink) {
            Ok(line) => line,
            Err(error) => return Asked::answered(Err(error)),
        };
        let id = Arc::clone(&line_id);
        let mut parked = waiting.pool.park(id, line, Arc::clone(&wire));
        match parked.planned().await {
            Some(Planned::In { batch, ack }) => {
                let attempt = BatchAttempt::planned(batch.name.clone(), line_id.to_string());
                // In the journal with all others of the order, before the order is sent.
                sink.open().begin_in_batch(attempt, waiting.request);
                parked.place.take_again();
                drop(ack);
            }
            Some(Planned::Directly) => return Asked::Directly,
            Some(Planned::Failed(failed)) => return Asked::answered(Err(failed.into_error())),
            None => return Asked::answered(Err(is_gone())),
        }
        match parked.outcome().await {
            Some(LineOutcome::Response(answer)) => {
                let LineAnswer { response, times } = *answer;
                sink.open()
                    .batch_answered(times.batch, times.submitted, times.ended);
                drop(parked);
                return Asked::answered(wire.answer(waiting.request, response, sink));
            }
            Some(LineOutcome::Failed(failed)) => return Asked::answered(Err(failed.into_error())),
            Some(LineOutcome::Again) => {}
            None => return Asked::answered(Err(is_gone())),
        }
    }
}

fn batch_api(model: &dyn ChatModel) -> Result<Arc<dyn BatchWire>, ModelError> {
    model.batch_api().ok_or_else(|| {
        let message = format!(
            "the model {:?} has no batch API here; with the feature `batch`, `OpenAi`, `Anthropic` and `Gemini` have one at \
             their providers' own hosts. Leave out `batch_api`, or ask such a model",
            model.model().unwrap_or_default()
        );
        ModelError::unsent(Category::ConfigError, message)
    })
}

/// `None`: there is no journal.
fn line_id<'o>(waiting: &BatchAsking<'_>, sink: &mut impl AttemptSinkExt<'o>) -> Option<Arc<str>> {
    let recorder = waiting.pool.recorder()?;
    let conversation = sink.open().journal_key.as_ref()?.conversation.clone();
    let names = waiting.target.names(waiting.request);
    let line = recorder.line(&conversation, waiting.request, names);
    Some(line.into())
}

/// The map ends, and with it the batch's future.
fn is_gone() -> ModelError {
    ModelError::unsent(Category::Cancelled, "the map ended before its batch did")
}
