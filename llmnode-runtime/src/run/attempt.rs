//! One attempt: a request, its answer, and the judgement on it.

mod account;
mod send;
mod sink;
mod time;
mod written;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use llmnode_model::internal::{AnswerLimit, LimitSetter, PADDING, is_document, padding};
use llmnode_model::{
    Category, ChatModel, Completion, FinishReason, Group, ModelError, ProviderState, Request,
    Retry, TokenUsage,
};
use llmnode_reader::internal::{is_met_by, one_line, repeated_form, repeats_form, without_choices};
use llmnode_reader::{Flag, Violation};
use tracing::Instrument;

use self::account::{MAX_WORD_BYTES, flag};
pub(super) use self::account::{note_provider, record_failure, settle_response};
use self::send::{batch_fault, complete_in_batch, complete_streamed, take_thoughts};
pub(super) use self::sink::AttemptSink;
use self::time::in_stopped_timeout;
pub(super) use self::time::{in_attempt_timeout, timed_out};
use super::attempt_loop::CallPlan;
use super::context::CallContext;
use super::core::Target;
use super::erased_node::{ErasedNode, judge};
use super::failure::{Failure, normalize_violations};
use super::paused_turn::with_paused;
use super::repetition::end;
use super::tools::{
    CalledInText, Round, TextCalls, answer_or_calls, called_in_text, forbidden_calls,
    misplaced_call,
};
use super::usage_checks::usage_flags;
use crate::ledger::{AttemptRecord, OpenAttempt, RequestInfo, RunEvent, prompt_tokens};
use crate::limits::{RequestTokens, Reservation};
use crate::prices::PriceTier;
use crate::settings::Resolved;
use crate::validate::AttemptInfo;

/// An answer that calls tools may have no text.
const CALLS_PLACEHOLDER: &str = "(calls)";

pub(super) async fn attempt(
    target: &Target<'_>,
    request: &Request,
    open: &mut OpenAttempt<'_>,
    asked: &mut dyn ErasedNode<'_>,
    attempt: &AttemptInfo,
    plan: &CallPlan<'_>,
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

async fn ask(
    target: &Target<'_>,
    request: &Request,
    open: &mut OpenAttempt<'_>,
    reserved: &mut Reservation<'_>,
    asked: &mut dyn ErasedNode<'_>,
    attempt: &AttemptInfo,
    plan: &CallPlan<'_>,
) -> Result<Option<Box<Round>>, Failure> {
    let CallPlan {
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

/// If true, the server did not enforce the schema.
fn shows_form(open: &OpenAttempt<'_>) -> bool {
    open.record().is_some_and(AttemptRecord::shows_form)
}

fn has_flag(open: &OpenAttempt<'_>, flag: &Flag) -> bool {
    open.record().is_some_and(|record| record.has_flag(flag))
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
