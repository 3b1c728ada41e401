//! Sends the request of an attempt: plainly, as a stream to a listener, or as a line of a batch.

use llmnode_model::{ChatModel, Completion, ModelError, Request};
use llmnode_reader::Flag;
use llmnode_reader::ext::{Thoughts, without_thoughts};

use super::account::flag;
use super::sink::AttemptSink;
use super::written::Written;
use crate::ledger::{OpenAttempt, prompt_tokens};
use crate::limits::{RequestTokens, Reservation};
use crate::prices::PriceTier;
use crate::run::attempt_loop::CallPlan;
use crate::run::batches::{Asked, BatchAsking, BatchPool, ask_in_batch};
use crate::run::core::Target;
use crate::run::failure::Failure;
use crate::run::listener::Listener;
use crate::settings::Resolved;

/// Why nothing of the map can be asked by a batch.
pub(super) fn batch_fault(pool: &BatchPool, plan: &CallPlan<'_>) -> Option<&'static str> {
    let of_run = plan.context.limits.time_left(None).map(|_| {
        "a limit of time of the run would pass while a batch is answered; leave it out, and set `BatchApi::within`"
    });
    pool.fault().or(of_run)
}

/// What cannot wait for a batch is asked directly, and in the time that an attempt has.
pub(super) async fn complete_in_batch(
    target: &Target<'_>,
    request: &Request,
    sink: &mut AttemptSink<'_, '_, '_, '_>,
    plan: &CallPlan<'_>,
) -> Result<Completion, ModelError> {
    let Some(pool) = plan.context.batches() else {
        return target.model.complete(request, sink).await;
    };
    let answer = {
        let _stopped = plan.stop();
        let waiting = BatchAsking {
            pool,
            target,
            request,
        };
        ask_in_batch(&waiting, sink).await
    };
    if let Asked::Answered(outcome) = answer {
        return *outcome;
    }
    let tier = PriceTier::of_request(request, target.model.api_kind());
    sink.open.leave_batch(tier, target.names(request));
    let estimate = prompt_tokens(&request.messages);
    let moved = {
        let _held = pool.holds();
        let _stopped = plan.stop();
        let tokens = || RequestTokens::of(request, target.model, estimate);
        // Boxed, since those that wait for a batch would reserve room for it.
        Box::pin(sink.reserved.move_to(tier, tokens)).await
    };
    if let Err((category, why)) = moved {
        return Err(ModelError::unsent(category, why));
    }
    if let Err(fault) = sink.open.record_begin(Some(request)).await {
        let failure = Failure::unrecorded(fault);
        return Err(ModelError::unsent(failure.category, failure.message));
    }
    target.model.complete(request, sink).await
}

pub(super) async fn complete_streamed(
    listener: &Listener<'_>,
    model: &dyn ChatModel,
    request: &Request,
    open: &mut OpenAttempt<'_>,
    reserved: &mut Reservation<'_>,
    plan: &CallPlan<'_>,
) -> Result<Completion, ModelError> {
    let settings = &plan.settings;
    let item = plan.context.item;
    listener.request_began();
    let thoughts = reads_thoughts(request, settings).then(Thoughts::default);
    let mut written = Written {
        listener,
        has_begun: false,
        text: String::new(),
        thoughts,
    };
    let mut watch = AttemptSink {
        open,
        reserved,
        written: Some(&mut written),
        item,
    };
    let outcome = listener
        .with_max_bytes(
            settings.max_output_bytes(),
            model.complete(request, &mut watch),
        )
        .await;
    written.end(outcome.as_ref().ok());
    outcome
}

/// Typed answers are what follows the thoughts, as the reader finds it.
fn reads_thoughts(request: &Request, settings: &Resolved<'_>) -> bool {
    settings.thoughts_in_text() && request.output.is_none()
}

/// Takes thoughts out of a text, and out of what stands beside calls: they are not
/// sent back as the model's words.
pub(super) fn take_thoughts(
    completion: &mut Completion,
    request: &Request,
    open: &mut OpenAttempt<'_>,
    settings: &Resolved<'_>,
) {
    let is_beside_calls = settings.thoughts_in_text() && !completion.calls.is_empty();
    if !is_beside_calls && !reads_thoughts(request, settings) {
        return;
    }
    if let Some((answer, thoughts)) = without_thoughts(&completion.text) {
        completion.text = answer;
        completion
            .reasoning
            .get_or_insert_default()
            .push_str(&thoughts);
        flag(open, Flag::AfterThinking);
    }
}
