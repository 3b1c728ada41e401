//! One attempt: a request, its answer, and the judgement on it.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use llmnode_model::internal::{
    AnswerLimit, LimitSetter, PADDING, PromptParts, RateLimits, is_document, padding,
};
use llmnode_model::{
    ApiKind, BoxFuture, Category, ChatModel, Completion, Delta, FinishReason, Group, Message,
    ModelError, ProviderState, Request, ResponseFormat, Retry, Sink, TokenUsage,
};
use llmnode_reader::internal::{
    Thoughts, is_met_by, one_line, repeated_form, repeats_form, without_choices, without_thoughts,
};
use llmnode_reader::{Flag, Violation};
use tracing::Instrument;

use super::attempt_loop::Plan;
use super::batches::{Asked, AttemptSinkExt, BatchAsking, BatchPool, ask_in_batch};
use super::context::CallContext;
use super::core::Target;
use super::erased_node::{ErasedNode, judge};
use super::failure::{Cause, Failure, normalize_violations};
use super::listener::Listener;
use super::map_item::MapItem;
use super::paused_turn::with_paused;
use super::repetition::end;
use super::tools::{
    CalledInText, Round, TextCalls, answer_or_calls, called_in_text, forbidden_calls,
    misplaced_call,
};
use super::usage_checks::usage_flags;
use crate::clock::{Clock, StoppedTime, timeout_at};
use crate::ledger::{AttemptRecord, OpenAttempt, RequestInfo, RunEvent, prompt_tokens};
use crate::limits::{RequestTokens, Reservation};
use crate::prices::PriceTier;
use crate::settings::Resolved;
use crate::text::cut;
use crate::validate::AttemptInfo;

/// A provider may report names and ids of any length.
const MAX_WORD_BYTES: usize = 200;

const CHOICES: &str = "choices";

/// An answer that calls tools may have no text.
const CALLS_PLACEHOLDER: &str = "(calls)";

pub(super) async fn attempt(
    target: &Target<'_>,
    request: &Request,
    open: &mut OpenAttempt<'_>,
    asked: &mut dyn ErasedNode<'_>,
    attempt: &AttemptInfo,
    plan: &Plan<'_>,
) -> Result<Option<Box<Round>>, Failure> {
    let CallContext { core, limits, .. } = plan.context;
    let batches = plan.context.batches();
    if let Some(fault) = batches.and_then(|pool| batch_fault(pool, plan)) {
        return Err(Failure {
            sent: false,
            ..Failure::new(Category::ConfigError, fault)
        });
    }
    let attempt_timeout = request.attempt_timeout;
    let estimate = prompt_tokens(&request.messages);
    if let Some(item) = plan.context.item {
        item.asks(&|| target.model.shares_beginning(request));
    }
    let outcome = {
        // Pinned here: a future passed by value is stored again in each future that it passes through.
        let asking = pin!(async {
            let tokens = || RequestTokens::of(request, target.model, estimate);
            let names = target.names(request);
            // Requests that are sent together do not wait for a first one.
            let time_left = || match batches {
                Some(_) => Some(Duration::ZERO),
                None => plan.time_left(attempt_timeout),
            };
            let tier = match batches {
                Some(_) => PriceTier::Batch,
                None => PriceTier::of_request(request),
            };
            open.set_tier(tier);
            let room = batches.map(|batches| batches.room());
            let held = batches.map(|batches| batches.holds());
            let stopped = plan.stop();
            let reserved = limits
                .reserve_in(tier, room, tokens, names, time_left)
                .await;
            drop(stopped);
            drop(held);
            let mut reserved = match reserved {
                Ok(reserved) => reserved,
                Err((category, why)) => {
                    return Err(Failure {
                        sent: false,
                        ..Failure::new(category, why)
                    });
                }
            };
            open.set_request(
                &RequestInfo::chat(target.model, request),
                estimate,
                target.names(request),
                core.content_in_traces,
            );
            // A request that waits for a batch is recorded with all others of its order.
            if batches.is_none()
                && let Err(fault) = open.record_begin().await
            {
                reserved.release();
                return Err(Failure::unrecorded(fault));
            }
            plan.context.call.record_event(&RunEvent::RequestBegan {
                attempt: open.id,
                request,
            });
            let span = open.span().clone();
            ask(target, request, open, &mut reserved, asked, attempt, plan)
                .instrument(span)
                .await
        });
        match plan.stopped() {
            None => {
                let asking = pin!(in_attempt_timeout(&*core.clock, attempt_timeout, asking));
                limits.in_time(asking).await
            }
            // Boxed, so that calls without a batch reserve no room for it.
            Some(stopped) => {
                let asking = in_stopped_timeout(&*core.clock, stopped, attempt_timeout, asking);
                Box::pin(limits.in_time(asking)).await
            }
        }
    };
    match outcome {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(timeout)) => Err(timed_out(timeout, open)),
        Err(late) => Err(Failure::new(Category::LimitExceeded, late)),
    }
}

/// Why nothing of the map can be asked by a batch.
fn batch_fault(pool: &BatchPool, plan: &Plan<'_>) -> Option<&'static str> {
    let of_run = plan.context.limits.time_left(None).map(|_| {
        "a limit of time of the run would pass while a batch is answered; leave it out, and set `BatchApi::within`"
    });
    pool.fault().or(of_run)
}

pub(super) async fn in_attempt_timeout<F: Future>(
    clock: &dyn Clock,
    timeout: Option<Duration>,
    attempt: F,
) -> Result<F::Output, Duration> {
    let end = timeout.and_then(|timeout| clock.now().checked_add(timeout));
    let (Some(timeout), Some(end)) = (timeout, end) else {
        return Ok(attempt.await);
    };
    timeout_at(clock, end, attempt).await.ok_or(timeout)
}

/// The same for a request that may wait for a batch: the timeout counts what is done besides.
async fn in_stopped_timeout<F: Future>(
    clock: &dyn Clock,
    stopped: &StoppedTime,
    timeout: Option<Duration>,
    attempt: F,
) -> Result<F::Output, Duration> {
    let end = timeout.and_then(|timeout| clock.now().checked_add(timeout));
    let (Some(timeout), Some(end)) = (timeout, end) else {
        return Ok(attempt.await);
    };
    let outcome = stopped.timeout_at(clock, end, attempt).await;
    outcome.ok_or(timeout)
}

pub(super) fn timed_out(timeout: Duration, open: &OpenAttempt<'_>) -> Failure {
    let failure = |message: String| Failure::new(Category::Timeout, message);
    if !open.has_begun() {
        let message = format!(
            "no request started within {timeout:?} (attempt_timeout, which includes the wait for room under limits)"
        );
        return Failure {
            sent: false,
            ..failure(message)
        };
    }
    if open.is_unsent() {
        return failure(format!(
            "no connection within {timeout:?} (attempt_timeout)"
        ));
    }
    if open.has_answer() {
        return failure(format!(
            "the answer was not validated within {timeout:?} (attempt_timeout)"
        ));
    }
    failure(format!(
        "no answer within {timeout:?} (attempt_timeout; the request may have been processed)"
    ))
}

async fn ask(
    target: &Target<'_>,
    request: &Request,
    open: &mut OpenAttempt<'_>,
    reserved: &mut Reservation<'_>,
    asked: &mut dyn ErasedNode<'_>,
    attempt: &AttemptInfo,
    plan: &Plan<'_>,
) -> Result<Option<Box<Round>>, Failure> {
    let Plan {
        context, settings, ..
    } = plan;
    let model = target.model;
    // A block, since a value that is moved keeps its room in the future.
    let mut answer = {
        let mut outcome = match context.listener() {
            None => {
                let mut sink = AttemptSink {
                    open,
                    reserved,
                    written: None,
                    item: plan.context.item,
                };
                match plan.context.batches() {
                    None => model.complete(request, &mut sink).await,
                    // Boxed, so that calls without a batch reserve no room for it.
                    Some(_) => Box::pin(complete_in_batch(target, request, &mut sink, plan)).await,
                }
            }
            // Boxed, so that calls without a listener reserve no room for it.
            Some(listener) => {
                Box::pin(complete_streamed(
                    listener, model, request, open, reserved, plan,
                ))
                .await
            }
        };
        if let Ok(completion) = &mut outcome {
            take_thoughts(completion, request, open, settings);
        }
        answer(outcome, request, open, reserved, settings)?
    };
    let may_run = settings.calls_in_text() && model.calls_in_text(request);
    if let Some(round) = take_round(&mut answer, may_run, request, open, asked, settings)? {
        return Ok(Some(round));
    }
    let judged = if repeats_shown_form(&answer, request, open) {
        Err(Failure::rejected(
            Category::SchemaError,
            vec![repeated_form()],
        ))
    } else {
        // A truncated answer counts only if it happens to be complete.
        let reader = if answer.is_cut() {
            settings.reader().whole_text()
        } else {
            settings.reader()
        };
        judge(asked, &answer.text, reader, attempt).await
    };
    finish(judged, answer, (model, may_run), request, open).map(|()| None)
}

/// What cannot wait for a batch is asked directly, and in the time that an attempt has.
async fn complete_in_batch(
    target: &Target<'_>,
    request: &Request,
    sink: &mut AttemptSink<'_, '_, '_, '_>,
    plan: &Plan<'_>,
) -> Result<Completion, ModelError> {
    let Some(pool) = plan.context.batches() else {
        return target.model.complete(request, sink).await;
    };
    let asking = BatchAsking {
        pool,
        model: target.model,
        request,
        names: target.names(request),
    };
    let stopped = plan.stop();
    let asked = ask_in_batch(asking, sink).await;
    drop(stopped);
    if let Asked::Answered(outcome) = asked {
        return *outcome;
    }
    let tier = PriceTier::of_request(request);
    sink.open.leave_batch(tier, target.names(request));
    let estimate = prompt_tokens(&request.messages);
    let tokens = || RequestTokens::of(request, target.model, estimate);
    let held = pool.holds();
    let stopped = plan.stop();
    let moved = sink.reserved.move_to(tier, tokens).await;
    drop(stopped);
    drop(held);
    if let Err((category, why)) = moved {
        return Err(ModelError::unsent(category, why));
    }
    if let Err(fault) = sink.open.record_begin().await {
        let failure = Failure::unrecorded(fault);
        return Err(ModelError::unsent(failure.category, failure.message));
    }
    target.model.complete(request, sink).await
}

fn take_round(
    answer: &mut ModelAnswer,
    may_run: bool,
    request: &Request,
    open: &mut OpenAttempt<'_>,
    asked: &mut dyn ErasedNode<'_>,
    settings: &Resolved<'_>,
) -> Result<Option<Box<Round>>, Failure> {
    let native = answer.round.take();
    let is_native = native.is_some();
    let round = match native {
        Some(round) => Some(round),
        None => round_in_text(answer, may_run, request, open, asked, settings)?,
    };
    let Some(mut round) = round else {
        return Ok(None);
    };
    round.carried = round.carried.take().or(answer.carried.take());
    open.journal_round(&round.content, round.calls(), round.carried.as_ref());
    open.note(|record| {
        record.keep_answer(std::mem::take(&mut answer.text));
        if !is_native {
            record.flags.push(Flag::CallInText);
            record
                .flags
                .extend(answer.stopped.then_some(Flag::LengthStop));
        }
    });
    Ok(Some(round))
}

fn round_in_text(
    answer: &mut ModelAnswer,
    may_run: bool,
    request: &Request,
    open: &mut OpenAttempt<'_>,
    asked: &mut dyn ErasedNode<'_>,
    settings: &Resolved<'_>,
) -> Result<Option<Box<Round>>, Failure> {
    let is_whole = !answer.stopped || answer.padding > 0;
    if !is_whole || !settings.calls_in_text() {
        return Ok(None);
    }
    let may = TextCalls {
        may_run,
        is_asked_for: settings.node_asks_for_calls_in_text(),
    };
    match called_in_text(&mut answer.text, may, request, asked, settings.reader()) {
        CalledInText::Nothing => Ok(None),
        CalledInText::Quoted => {
            flag(open, Flag::QuotedCall);
            Ok(None)
        }
        CalledInText::Round(round) => Ok(Some(round)),
        // As a call that the provider could not parse, it takes a turn.
        CalledInText::Refused(violation) => Err(Failure {
            answer: Some(std::mem::take(&mut answer.text)),
            carried: answer.carried.take(),
            retry: Some(Retry::Feedback),
            ..Failure::rejected(Category::SchemaError, vec![violation])
        }),
    }
}

fn repeats_shown_form(answer: &ModelAnswer, request: &Request, open: &mut OpenAttempt<'_>) -> bool {
    let schema = request.output.as_deref();
    schema.is_some_and(|schema| shows_form(open) && repeats_form(schema, &answer.text))
}

/// Kept out of the request's future, like `answer`.
fn finish(
    judged: Result<(Vec<Flag>, Vec<Violation>), Failure>,
    answer: ModelAnswer,
    (model, calls_in_text): (&dyn ChatModel, bool),
    request: &Request,
    open: &mut OpenAttempt<'_>,
) -> Result<(), Failure> {
    let cut = answer.is_cut();
    let ModelAnswer {
        text,
        stopped,
        carried,
        limit,
        ..
    } = answer;
    if !cut
        && let Some(schema) = request
            .output
            .as_deref()
            .map(without_choices)
            .filter(|_| deviates_from_schema(&judged))
        && !is_met_by(schema, &text)
    {
        model.unenforced(request);
    }
    match judged {
        // A text that was cut is shorter than it would be; a document that is complete is not.
        Ok(_) if cut && request.output.is_none() && limit.is_some_and(|limit| limit.rises) => {
            let failure = with_end(truncated(request, limit), &text);
            Err(Failure {
                answer: Some(text),
                ..failure
            })
        }
        Ok((flags, warnings)) => {
            open.journal_answer(&text, carried.as_ref(), true);
            open.keep_carried(carried);
            open.note(|record| {
                accepted(record, text, flags, warnings, stopped);
                record.flags.extend(usage_flags(request, record.usage));
            });
            Ok(())
        }
        // A refusal to call a tool: as after other refusals, the model is asked again at once.
        Err(bad) if bad.category == Category::SchemaError && has_flag(open, &Flag::FreeChoice) => {
            let bad = if cut {
                with_end(truncated(request, limit), &text)
            } else {
                bad
            };
            Err(Failure {
                answer: Some(text),
                carried,
                retry: Some(Retry::Adapted),
                ..bad
            })
        }
        Err(bad) if cut && bad.category.group() == Group::Answer => {
            let failure = with_end(truncated(request, limit), &text);
            Err(Failure {
                answer: Some(text),
                carried,
                ..failure
            })
        }
        Err(mut failure) => {
            if failure.category == Category::SchemaError
                && calls_in_text
                && let Some(call) = misplaced_call(&text, request)
            {
                let violations =
                    std::iter::once(call).chain(std::mem::take(&mut failure.violations));
                failure = Failure::rejected(Category::SchemaError, violations.collect());
            }
            if failure.category.group() == Group::Answer {
                open.journal_answer(&text, carried.as_ref(), false);
            }
            Err(Failure {
                answer: Some(text),
                carried,
                ..failure
            })
        }
    }
}

async fn complete_streamed(
    listener: &Listener<'_>,
    model: &dyn ChatModel,
    request: &Request,
    open: &mut OpenAttempt<'_>,
    reserved: &mut Reservation<'_>,
    plan: &Plan<'_>,
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

/// Takes thoughts out of a text, and out of what stands beside calls: they are not sent back as the model's words.
fn take_thoughts(
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

struct ModelAnswer {
    text: String,
    stopped: bool,
    /// White space, in bytes, written up to that limit after a complete document.
    padding: usize,
    carried: Option<Arc<ProviderState>>,
    limit: Option<AnswerLimit>,
    round: Option<Box<Round>>,
}

impl ModelAnswer {
    /// With less padding, further objects may follow on lines of their own.
    fn is_cut(&self) -> bool {
        self.stopped && self.padding < PADDING
    }
}

/// Kept out of the request's future, which would reserve space for it while it waits.
fn answer(
    outcome: Result<Completion, ModelError>,
    request: &Request,
    open: &mut OpenAttempt<'_>,
    reserved: &mut Reservation<'_>,
    settings: &Resolved<'_>,
) -> Result<ModelAnswer, Failure> {
    let mut completion = settle_response(outcome, open, reserved)?;
    let forbidden_calls = forbidden_calls(&completion, request);
    let round = answer_or_calls(&mut completion, request);
    let [thoughts, refused] = [&completion.reasoning, &completion.refusal]
        .map(|text| text.as_ref().map_or(0, |text| text.chars().count()));
    let Completion {
        text,
        refusal,
        finish,
        usage,
        model: answered_by,
        request_id,
        carried,
        limit,
        ..
    } = completion;
    let stopped = finish == Some(FinishReason::Length);
    let limits = (limit, settings.max_output_bytes());
    let padding = match &round {
        _ if !stopped => 0,
        None => padding(&text),
        Some(round)
            if round
                .calls()
                .iter()
                .all(|call| is_document(&call.arguments)) =>
        {
            round
                .calls()
                .last()
                .map_or(0, |call| padding(&call.arguments))
        }
        Some(_) => 0,
    };
    open.note(|record| {
        record.finish_reason = finish
            .as_ref()
            .map(|finish| one_line(finish.as_str(), MAX_WORD_BYTES));
        note_provider(record, usage, answered_by, request_id);
        match &round {
            None => record.estimate_unreported(text.chars().count() + refused + thoughts),
            Some(round) => record.estimate_unreported(round.characters() + thoughts),
        }
        if padding > 0 && usage.is_none_or(|usage| usage.output.is_none()) {
            record.flags.push(Flag::EstimatedUsage);
        }
        record.tools = forbidden_calls;
    });
    match finish {
        None => flag(open, Flag::NoFinishReason),
        Some(FinishReason::Other(_)) => flag(open, Flag::UnknownFinish),
        Some(_) => {}
    }
    if round.is_some() {
        let finish = finish.filter(|finish| *finish != FinishReason::Continue);
        return match unusable(CALLS_PLACEHOLDER, refusal, finish, usage, request, limits) {
            Some(failure) => Err(failure),
            None if stopped && padding == 0 => Err(truncated(request, limit)),
            None => {
                if stopped {
                    flag(open, Flag::LengthStop);
                }
                Ok(ModelAnswer {
                    text,
                    stopped,
                    padding,
                    carried,
                    limit,
                    round,
                })
            }
        };
    }
    if let Some(failure) = unusable(&text, refusal, finish, usage, request, limits) {
        return Err(Failure {
            answer: Some(text),
            carried,
            ..failure
        });
    }
    let (text, carried) = with_paused(request, text, carried);
    Ok(ModelAnswer {
        text,
        stopped,
        padding,
        carried,
        limit,
        round,
    })
}

pub(super) fn settle_response(
    mut outcome: Result<Completion, ModelError>,
    open: &mut OpenAttempt<'_>,
    reserved: &mut Reservation<'_>,
) -> Result<Completion, Failure> {
    let usage = match &mut outcome {
        Ok(completion) => completion.usage.as_mut(),
        Err(error) => error.usage.as_deref_mut(),
    };
    if let Some(usage) = usage {
        drop_impossible(usage, open);
    }
    reserved.settle(&outcome);
    if outcome.is_ok() {
        // The server was unreachable, but the model may have tried another one.
        open.note(|record| record.unsent = false);
    }
    let completion = outcome.map_err(|error| failed(error, open))?;
    open.answered(&completion);
    Ok(completion)
}

pub(super) fn note_provider(
    record: &mut AttemptRecord,
    usage: Option<TokenUsage>,
    model: Option<String>,
    request_id: Option<String>,
) {
    record.usage = usage.or(record.usage);
    replace(&mut record.model, model);
    replace(&mut record.request_id, request_id);
}

fn drop_impossible(usage: &mut TokenUsage, open: &mut OpenAttempt<'_>) {
    let possible = usage.possible();
    if *usage != possible {
        *usage = possible;
        flag(open, Flag::ImpossibleUsage);
    }
}

fn flag(open: &mut OpenAttempt<'_>, flag: Flag) {
    open.note(|record| {
        if !record.flags.contains(&flag) {
            record.flags.push(flag);
        }
    });
}

fn shows_form(open: &mut OpenAttempt<'_>) -> bool {
    let mut asked = None;
    open.note(|record| asked = record.response_format);
    matches!(
        asked,
        Some(ResponseFormat::JsonObject | ResponseFormat::Prompt)
    )
}

fn has_flag(open: &mut OpenAttempt<'_>, flag: &Flag) -> bool {
    let mut has = false;
    open.note(|record| has = record.flags.contains(flag));
    has
}

/// If true, the server did not enforce the schema.
fn deviates_from_schema(judged: &Result<(Vec<Flag>, Vec<Violation>), Failure>) -> bool {
    match judged {
        // A response format does not bind the thinking before the answer.
        Ok((flags, _)) => flags.iter().any(|flag| *flag != Flag::AfterThinking),
        Err(failure) => failure.category == Category::SchemaError,
    }
}

fn accepted(
    record: &mut AttemptRecord,
    text: String,
    flags: Vec<Flag>,
    warnings: Vec<Violation>,
    stopped: bool,
) {
    record.keep_answer(text);
    record.flags.extend(flags);
    if stopped {
        record.flags.push(Flag::LengthStop);
    }
    if !warnings.is_empty() {
        record.flags.push(Flag::Warned);
    }
    record.violations = normalize_violations(warnings);
}

/// The finish reason comes first: an answer that was filtered, refused or cut is never "corrected".
fn unusable(
    text: &str,
    refusal: Option<String>,
    finish: Option<FinishReason>,
    usage: Option<TokenUsage>,
    request: &Request,
    (limit, max_bytes): (Option<AnswerLimit>, usize),
) -> Option<Failure> {
    if let Some(refusal) = refusal {
        let said = one_line(&refusal, 200);
        return Some(Failure::new(
            Category::Refusal,
            format!("the model declined to answer: {said:?}"),
        ));
    }
    let empty = text.trim().is_empty();
    match finish {
        Some(FinishReason::ContentFilter) => Some(Failure::new(
            Category::ContentFilter,
            "the provider's filter withheld the answer",
        )),
        Some(FinishReason::Error) => Some(Failure::new(
            Category::ServerError,
            "the provider failed while it answered",
        )),
        Some(FinishReason::Continue) => Some(Failure::new(
            Category::TruncatedOutput,
            "the provider paused the turn where an answer was due; raise `turns`",
        )),
        Some(FinishReason::Length) if empty && fills_the_window(usage, request) => {
            Some(window_is_full())
        }
        Some(FinishReason::Length) if empty => Some(truncated(request, limit)),
        _ if empty => {
            let violations = vec![Violation::new(
                "",
                "the answer was empty; an answer is required",
            )];
            Some(Failure::rejected(Category::EmptyResponse, violations))
        }
        _ if text.len() > max_bytes => {
            let length = text.len();
            let message =
                format!("the answer has {length} bytes, more than max_output_bytes ({max_bytes})");
            Some(Failure::new(Category::TruncatedOutput, message))
        }
        _ => None,
    }
}

/// Servers that do not refuse a long prompt stop at once, with no room for the answer.
fn fills_the_window(usage: Option<TokenUsage>, request: &Request) -> bool {
    /// No model's window is smaller.
    const WINDOW: u64 = 500;
    let Some(TokenUsage {
        input: Some(input),
        output: Some(output),
        ..
    }) = usage
    else {
        return false;
    };
    let is_our_limit = request
        .max_tokens
        .is_some_and(|limit| output >= limit.into());
    input >= WINDOW && output <= input / 100 && !is_our_limit
}

fn window_is_full() -> Failure {
    let message = "the prompt filled the model's window, and no room was left for an answer; shorten it, or give the \
                   model a larger window";
    Failure::new(Category::ContextLengthError, message)
}

/// Shows where the answer was, since a loop without an end is not mended by a higher limit.
fn with_end(failure: Failure, text: &str) -> Failure {
    let message = format!("{}; {}", failure.message, end(text));
    Failure { message, ..failure }
}

/// Says whose limit it was. A default that can rise does, once a call, and counts as a refusal that the handle learns from.
fn truncated(request: &Request, limit: Option<AnswerLimit>) -> Failure {
    let set = request
        .max_tokens
        .map(|tokens| (tokens, LimitSetter::Program));
    let whose = match limit.map(|limit| (limit.tokens, limit.by)).or(set) {
        Some((tokens, LimitSetter::Program)) => {
            format!("max_tokens = {tokens}; raise it or ask for a shorter answer")
        }
        Some((tokens, LimitSetter::Default)) => {
            format!("the default of {tokens} tokens; set max_tokens, or ask for a shorter answer")
        }
        Some((tokens, LimitSetter::Model)) => {
            format!("the model's own, {tokens} tokens; ask for a shorter answer")
        }
        None => "the model's own; set max_tokens or ask for a shorter answer".to_owned(),
    };
    let message = format!("the answer stopped at the length limit ({whose})");
    let failure = Failure::new(Category::TruncatedOutput, message);
    if limit.is_some_and(|limit| limit.rises) && !request.raised {
        return Failure {
            retry: Some(Retry::Adapted),
            raises_limit: true,
            ..failure
        };
    }
    failure
}

pub(super) fn failed(error: ModelError, open: &mut OpenAttempt<'_>) -> Failure {
    open.broke_off(error.usage.as_deref().copied(), error.answered());
    let may_have_used_tokens = error.may_have_used_tokens();
    let costs_nothing = error.costs_nothing();
    open.note(|record| {
        record.status = error.status;
        record.unsent = !error.reached;
        let has_begun = record.usage.is_some()
            || record
                .estimate
                .is_some_and(|estimate| estimate.output.is_some());
        if !may_have_used_tokens && !has_begun {
            record.estimate = None;
        }
        if costs_nothing && !has_begun {
            record.costs_nothing();
        }
        replace(&mut record.request_id, error.request_id);
    });
    // Even a model that returned no choice can be reminded to answer.
    let fault = if error.answer.is_some() {
        &error.message
    } else {
        "there was no answer; an answer is required"
    };
    let violations = vec![Violation::new("", fault)];
    let retry = error.retry;
    let feedback = retry.unwrap_or(Retry::by_default(error.category)) == Retry::Feedback;
    Failure {
        retry,
        retry_after: error.retry_after,
        violations: if feedback { violations } else { Vec::new() },
        carried: error.answer.as_deref().and_then(Message::carried).cloned(),
        answer: error.answer.map(|answer| answer.content),
        sent: error.sent,
        cause: error.source.map(|source| Box::new(Cause::Source(source))),
        ..Failure::new(error.category, error.message)
    }
}

fn replace(slot: &mut Option<String>, word: Option<String>) {
    if let Some(word) = word {
        *slot = Some(cut(word, MAX_WORD_BYTES));
    }
}

/// Stores at once what a model reports during an attempt, so that it survives a dropped call.
pub(super) struct AttemptSink<'a, 'o, 'c, 'l> {
    pub(super) open: &'a mut OpenAttempt<'o>,
    pub(super) reserved: &'a mut Reservation<'c>,
    pub(super) written: Option<&'a mut Written<'l>>,
    /// Of a map: others may wait for the answer to begin.
    pub(super) item: Option<&'a MapItem<'a>>,
}

/// What a listener has of an answer so far.
pub(super) struct Written<'l> {
    listener: &'l Listener<'l>,
    has_begun: bool,
    /// As it came, thoughts included.
    text: String,
    /// Finds those in a text.
    thoughts: Option<Thoughts>,
}

impl Written<'_> {
    fn delta(&mut self, delta: Delta<'_>) {
        let listener = self.listener;
        self.has_begun |= !delta.text().is_empty();
        let Delta::Text(piece) = delta else {
            return listener.delta(delta);
        };
        self.text.push_str(piece);
        match &mut self.thoughts {
            Some(thoughts) => thoughts.push(piece, &mut |piece| listener.spoken(piece)),
            None => listener.delta(delta),
        }
    }

    /// What is returned is what was shown: the rest of it is shown now, such as all of it where a model does not stream, and a text
    /// that is another one is shown anew. Beside calls, a text is no answer.
    fn end(mut self, completion: Option<&Completion>) {
        if let Some(Completion { text, calls, .. }) = completion
            && *text != self.text
        {
            match text.strip_prefix(&*self.text) {
                Some(rest) => self.delta(Delta::Text(rest)),
                None if calls.is_empty() => self.begin_anew(text),
                None => {}
            }
        }
        if let Some(thoughts) = &mut self.thoughts {
            let listener = self.listener;
            thoughts.end(&mut |piece| listener.spoken(piece));
        }
    }

    /// Some servers say something else at the end than they said before.
    fn begin_anew(&mut self, text: &str) {
        self.listener.restarted(Category::BadResponse);
        self.thoughts = self.thoughts.take().map(|_| Thoughts::default());
        self.delta(Delta::Text(text));
    }
}

impl<'o> AttemptSinkExt<'o> for AttemptSink<'_, 'o, '_, '_> {
    fn open(&mut self) -> &mut OpenAttempt<'o> {
        self.open
    }
}

impl Sink for AttemptSink<'_, '_, '_, '_> {
    fn wait(&self, time: Option<Duration>) -> BoxFuture<'_, ()> {
        match time {
            Some(time) => self.open.clock().sleep(time),
            None => self.open.clock().never(),
        }
    }

    fn request_id(&mut self, id: &str) {
        self.open
            .note(|record| record.request_id = Some(one_line(id, MAX_WORD_BYTES)));
    }

    fn wants_prompt(&self) -> bool {
        true
    }

    fn prompt(&mut self, parts: PromptParts, ttl: Option<Duration>) {
        self.open.asks(parts, ttl);
    }

    fn begins(&mut self) {
        if let Some(item) = self.item {
            item.is_answered();
        }
    }

    fn usage(&mut self, mut usage: TokenUsage) {
        drop_impossible(&mut usage, self.open);
        self.open.reports(usage);
        self.reserved.reports(usage);
    }

    fn response_format(&mut self, response_format: ResponseFormat) {
        self.open
            .note(|record| record.response_format = Some(response_format));
    }

    fn api(&mut self, api: ApiKind) {
        self.open.note(|record| record.api = Some(api));
    }

    fn refused(&mut self, part: &str) {
        self.open.note(|record| {
            if part == CHOICES {
                record.narrowed.clear();
            }
            record.refused.push(one_line(part, MAX_WORD_BYTES));
        });
    }

    fn unsent(&mut self) {
        self.open.note(|record| record.unsent = true);
        self.reserved.unsent();
    }

    fn flag(&mut self, flag: Flag) {
        self::flag(self.open, flag);
    }

    fn wants_rate_limits(&self) -> bool {
        self.open.wants_rate_limits
    }

    fn rate_limits(&mut self, limits: RateLimits) {
        self.open.rate_limits = Some(Box::new(limits));
    }

    fn listens(&self) -> bool {
        self.written.is_some()
    }

    fn delta(&mut self, delta: Delta<'_>) {
        self.open.writes(delta.text());
        self.reserved.writes(delta.text());
        let Some(written) = &mut self.written else {
            return;
        };
        if !written.has_begun {
            self.open.begins_to_answer();
        }
        written.delta(delta);
    }
}
