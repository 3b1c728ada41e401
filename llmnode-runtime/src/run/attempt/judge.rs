//! Between a response and its end: what the policies make of it, before it is validated and after.

use llmnode_model::{Completion, ModelError, Request};
use llmnode_reader::Flag;

use super::account::{Accounted, account, flag};
use super::exchange::Exchange;
use super::send::take_thoughts;
use crate::ledger::OpenAttempt;
use crate::limits::Reservation;
use crate::run::erased_node::ErasedNode;
use crate::run::failure::{Failure, normalize_violations};
use crate::run::history::History;
use crate::run::policies::{self, AttemptView, Notes};
use crate::run::response::{Ended, Judgement, Response, Validated};
use crate::run::tools::Round;
use crate::run::usage_checks::usage_flags;

/// A response that was accounted for.
pub(super) struct Received {
    pub(super) response: Response,
    /// `None`: it is an answer that has to be validated.
    pub(super) judgement: Option<Judgement>,
}

/// Accounts for what came, and asks the policies whether it is an answer.
pub(super) fn receive(
    mut outcome: Result<Completion, ModelError>,
    exchange: &Exchange<'_>,
    open: &mut OpenAttempt<'_>,
    reserved: &mut Reservation<'_>,
    node: &mut dyn ErasedNode<'_>,
    history: &mut History,
) -> Received {
    let settings = &exchange.plan.settings;
    if let Ok(completion) = &mut outcome {
        take_thoughts(completion, exchange.request, open, settings);
    }
    let Accounted {
        mut response,
        ended,
    } = match account(outcome, exchange.request, open, reserved) {
        Ok(accounted) => accounted,
        Err(failure) => {
            return Received {
                response: Response::missing(),
                judgement: Some(Judgement::Failed(failure)),
            };
        }
    };
    let mut is_answer = |text: &str| node.read(text, settings.reader()).is_ok();
    let mut attempt = view(exchange, open, ended, &mut is_answer, history);
    let judgement = policies::received(&mut response, &mut attempt);
    write_notes(attempt.notes, open);
    Received {
        response,
        judgement,
    }
}

/// Asks the policies what becomes of the judgement, and writes it down.
///
/// A bad answer that the journal has to repeat is written there before anything
/// else, since a good one is written by `accept`, and calls of tools by
/// `take_round`: each answer once. Flags of the policies go into the record of a
/// good answer alone.
pub(super) fn conclude(
    mut response: Response,
    mut judgement: Judgement,
    exchange: &Exchange<'_>,
    open: &mut OpenAttempt<'_>,
    history: &mut History,
) -> Result<Option<Box<Round>>, Failure> {
    // Behind the judgement no policy reads a text, or asks how the response ended.
    let mut is_answer = |_: &str| false;
    let mut attempt = view(exchange, open, Ended::default(), &mut is_answer, history);
    policies::after(&mut response, &mut judgement, &mut attempt);
    let notes = attempt.notes;
    if notes.is_journaled {
        open.emit_answer(&response.text, response.carried.as_ref(), false);
    }
    match judgement {
        Judgement::Turn => Ok(take_round(response, open)),
        Judgement::Valid(validated) => {
            accept(response, validated, exchange.request, open);
            write_notes(notes, open);
            Ok(None)
        }
        Judgement::Rejected(failure) | Judgement::Failed(failure) => {
            if !response.is_answer() {
                return Err(failure);
            }
            // The text goes back to the model with what was wrong with it.
            Err(Failure {
                answer: Some(response.text),
                carried: response.carried,
                ..failure
            })
        }
    }
}

/// What the policies see of the attempt now.
fn view<'a>(
    exchange: &Exchange<'a>,
    open: &'a OpenAttempt<'_>,
    ended: Ended,
    is_answer: &'a mut (dyn FnMut(&str) -> bool + 'a),
    history: &'a mut History,
) -> AttemptView<'a> {
    AttemptView {
        request: exchange.request,
        model: exchange.target.model,
        settings: &exchange.plan.settings,
        record: open.record(),
        ended,
        is_answer,
        history,
        notes: Notes::default(),
    }
}

fn write_notes(notes: Notes, open: &mut OpenAttempt<'_>) {
    for noted in notes.flags {
        flag(open, noted);
    }
}

/// The response is no answer: its tools are called, or the turn goes on.
fn take_round(mut response: Response, open: &mut OpenAttempt<'_>) -> Option<Box<Round>> {
    let mut round = response.round.take()?;
    round.carried = round.carried.take().or(response.carried);
    open.emit_round(&round.content, round.calls(), round.carried.as_ref());
    open.note(|record| record.keep_answer(response.text));
    if response.was_stopped {
        flag(open, Flag::LengthStop);
    }
    Some(round)
}

/// The answer is good: the journal has it first, and then the record.
fn accept(response: Response, validated: Validated, request: &Request, open: &mut OpenAttempt<'_>) {
    open.emit_answer(&response.text, response.carried.as_ref(), true);
    open.keep_carried(response.carried);
    open.note(|record| {
        record.keep_answer(response.text);
        record.flags.extend(validated.flags);
        if response.was_stopped {
            record.flags.push(Flag::LengthStop);
        }
        if !validated.warnings.is_empty() {
            record.flags.push(Flag::Warned);
        }
        record.violations = normalize_violations(validated.warnings);
    });
    let usage = open.record().and_then(|record| record.usage);
    for noted in usage_flags(request, usage) {
        flag(open, noted);
    }
}
