//! One attempt of a node that asks a model: a request, its answer, the judgement on
//! it, and what its policies make of that.
//!
//! 1. Room is reserved under the limits, and the record begins (a request that
//!    cannot be recorded is not made).
//! 2. The request is sent (`send`); what the model reports meanwhile is written
//!    down at once (`sink`).
//! 3. The response is accounted for (`account`), so that it counts, whatever it is
//!    worth.
//! 4. The policies say whether it is an answer at all, the answer is validated, and
//!    the policies say what becomes of the judgement (`run/policies`).
//!
//! Room is reserved behind the gate of the endpoint (`model_attempts/gate.rs`), not
//! before it: a wait at a gate may take minutes, and whoever waits there must not
//! hold room that other calls could use. What is given back depends on how far the
//! request came: all of it if it did not go out, the tokens but not the request if
//! the provider refused it unread (`limits/reserve.rs`).
//!
//! The call may be dropped at any await. Each piece of a stream is therefore
//! counted twice as it comes (`sink`): for the reservation and for the record.
//! Dropped, the reservation is settled first, with the usage that was reported so
//! far or an estimate; then the attempt's record is committed as `cancelled` with
//! the same figures, and then the call's. An error event in the middle of a stream
//! takes the ordinary way: the model's client returns an error that has the usage
//! and the length so far, and `account` writes both down.
//!
//! All of it takes at most the time that an attempt has (`time`). The steps that do
//! not wait are functions of their own: what they need for a moment would otherwise
//! have its place in the future of every call.

mod account;
mod exchange;
mod judge;
mod send;
mod sink;
mod time;
mod written;

use std::pin::pin;
use std::time::Duration;

use llmnode_model::{Category, Request};
use tracing::Instrument;

pub(super) use self::account::{note_provider, record_failure, settle_response};
pub(super) use self::exchange::Exchange;
use self::judge::{Received, conclude, receive};
use self::send::{batch_fault, complete_in_batch, complete_streamed};
pub(super) use self::sink::AttemptSink;
pub(super) use self::time::in_time;
use super::attempt_loop::CallPlan;
use super::context::CallContext;
use super::erased_node::{ErasedNode, validate_answer};
use super::failure::Failure;
use super::history::History;
use super::response::Judgement;
use super::tools::Round;
use crate::ledger::{OpenAttempt, RequestInfo, prompt_tokens};
use crate::limits::{RequestTokens, Reservation};
use crate::prices::PriceTier;

/// Returns the calls of tools, if the response is no answer. The node keeps the value of an answer.
pub(super) async fn attempt(
    exchange: &Exchange<'_>,
    open: &mut OpenAttempt<'_>,
    node: &mut dyn ErasedNode<'_>,
    history: &mut History,
) -> Result<Option<Box<Round>>, Failure> {
    let &Exchange {
        target,
        request,
        plan,
        ..
    } = exchange;
    let batches = plan.context.batches();
    if let Some(fault) = batches.and_then(|pool| batch_fault(pool, plan)) {
        return Err(Failure::unsent(Category::ConfigError, fault));
    }
    if let Some(item) = plan.context.item {
        item.asks(&|| target.model.shares_beginning(request));
    }
    let outcome = {
        let begun = pin!(begin(exchange, open, node, history));
        in_time(plan, request.attempt_timeout, begun).await
    };
    outcome.unwrap_or_else(|late| Err(late.into_failure(open)))
}

/// Reserves room for the request and begins its record, before it is sent.
///
/// Room comes before the record: a request that waits for room, or finds none, has
/// not begun, and no journal needs to know of it. Once the journal has its begin,
/// it counts as sent until something says otherwise.
async fn begin(
    exchange: &Exchange<'_>,
    open: &mut OpenAttempt<'_>,
    node: &mut dyn ErasedNode<'_>,
    history: &mut History,
) -> Result<Option<Box<Round>>, Failure> {
    let &Exchange {
        target,
        request,
        plan,
        ..
    } = exchange;
    let CallContext { core, limits, .. } = plan.context;
    let batches = plan.context.batches();
    let estimate = prompt_tokens(&request.messages);
    let tier = match batches {
        Some(_) => PriceTier::Batch,
        None => PriceTier::of_request(request, target.model.api_kind()),
    };
    open.set_tier(tier);
    let mut reserved = {
        let room = batches.map(|batches| batches.room());
        let _held = batches.map(|batches| batches.holds());
        let _stopped = plan.stop();
        limits
            .reserve_in(
                tier,
                room,
                || RequestTokens::of(request, target.model, estimate),
                target.names(request),
                || time_to_wait(plan, request),
            )
            .await
            .map_err(|(category, why)| Failure::unsent(category, why))?
    };
    open.set_request(
        &RequestInfo::chat(target.model, request),
        estimate,
        target.names(request),
        core.content_in_traces,
    );
    // A request that waits for a batch is recorded with all others of its order.
    if batches.is_none()
        && let Err(fault) = open.record_begin(Some(request)).await
    {
        reserved.release();
        return Err(Failure::unrecorded(fault));
    }
    let span = open.span().clone();
    ask(exchange, open, &mut reserved, node, history)
        .instrument(span)
        .await
}

/// How long a request waits for the first one of its model. Those that are sent together do not.
fn time_to_wait(plan: &CallPlan<'_>, request: &Request) -> Option<Duration> {
    match plan.context.batches() {
        Some(_) => Some(Duration::ZERO),
        None => plan.time_left(request.attempt_timeout),
    }
}

/// Sends the request, accounts for the response, judges it, and asks the policies.
async fn ask(
    exchange: &Exchange<'_>,
    open: &mut OpenAttempt<'_>,
    reserved: &mut Reservation<'_>,
    node: &mut dyn ErasedNode<'_>,
    history: &mut History,
) -> Result<Option<Box<Round>>, Failure> {
    let &Exchange {
        target,
        request,
        plan,
        info,
    } = exchange;
    // A block, since a value that is moved keeps its room in the future.
    let Received {
        response,
        judgement,
    } = {
        let outcome = match plan.context.listener() {
            None => {
                let mut sink = AttemptSink {
                    open,
                    reserved,
                    written: None,
                    item: plan.context.item,
                };
                match plan.context.batches() {
                    None => target.model.complete(request, &mut sink).await,
                    // Boxed, so that calls without a batch reserve no room for it.
                    Some(_) => Box::pin(complete_in_batch(target, request, &mut sink, plan)).await,
                }
            }
            // Boxed, so that calls without a listener reserve no room for it.
            Some(listener) => {
                Box::pin(complete_streamed(
                    listener,
                    target.model,
                    request,
                    open,
                    reserved,
                    plan,
                ))
                .await
            }
        };
        receive(outcome, exchange, open, reserved, node, history)
    };
    let judgement = match judgement {
        Some(judgement) => judgement,
        None => {
            // A truncated answer counts only if it happens to be complete.
            let reader = match response.is_cut() {
                true => plan.settings.reader().whole_text(),
                false => plan.settings.reader(),
            };
            match validate_answer(node, &response.text, reader, info).await {
                Ok(validated) => Judgement::Valid(validated),
                Err(failure) => Judgement::Rejected(failure),
            }
        }
    };
    conclude(response, judgement, exchange, open, history)
}
