//! What is done about a response beyond its plain judgement: an ordered list of
//! policies, one a file.
//!
//! The plain course is short: a request is sent, its answer is validated, and what
//! is wrong with it is told to the model. All that one server, one model or one
//! kind of answer needs besides is a [`Policy`]. The attempt asks the list below,
//! from the top, at four times:
//!
//! 1. [`before`](Policy::before) a request goes out: it may be changed;
//! 2. when a response was [`received`](Policy::received), before anybody validates
//!    it: is it an answer at all, and which text is it?
//! 3. [`after`](Policy::after) the judgement: is the failure another one, and does
//!    another request follow at once?
//! 4. when it is known what follows the failure, to [`explain`](Policy::explain) it
//!    to a person.
//!
//! At 2 and 3, the first policy that decides ends the walk. [`Next::Adapt`] does
//! not: it changes the response or the failure, and the policies below see it so.
//! At 1 and 4, all are asked. A policy has no state and calls nobody; what it must
//! remember of a call is in the [`History`](super::history::History), and what it
//! returns is carried out by `policy.rs`.
//!
//! # The order, and why
//!
//! Each policy stands below those whose changes it needs, and above those that must
//! not see what it has decided.
//!
//! | policy | stands here because |
//! |---|---|
//! | [`Padding`] | says whether a response that stopped at a limit is whole, which most below ask |
//! | [`UnusableAnswer`] | what was refused, filtered or is empty is nothing that may be read, called or corrected |
//! | [`UnenforcedSchema`] | only reports to the model's handle, and has to see rejections that those below take away |
//! | [`FullWindow`] | what does not fit was not answered: nobody below has anything to mend |
//! | [`FreeChoice`] | the handle has learned why the answer is bad: its text needs no complaint, cut or not |
//! | [`CutAnswer`] | calls that were cut must not come to `RunCalls`; a text that was cut is told as cut, not as wrong |
//! | [`PausedTurn`] | calls in a text, and the validators, need the whole text |
//! | [`CallsInText`] | turns a text into calls, for `RunCalls`; its complaint belongs to what `RejectedAnswer` stores |
//! | [`RunCalls`] | ends the walk for all calls: below it, a response is an answer |
//! | [`CopiedForm`] | the last one before the answer is validated, which a copy would often pass |
//! | [`InventedQuote`] | of summaries alone; what it refuses is an answer that would pass |
//! | [`RejectedAnswer`] | above are the failures that a replay must not repeat, below are those that it must |
//! | [`CopiedBound`] | flags good answers, which `CutAnswer` must not take away any more |
//! | [`AskForLess`] | takes what `CutAnswer` could not mend by a higher limit; once, then `LostAnswer` may |
//! | [`FailedCall`] | of texts only; `LostAnswer` is of typed answers |
//! | [`LastTurn`] | before a request: says that only an answer is left; its explanation comes first |
//! | [`LostAnswer`] | the last hope for a failure: only if nothing above says what follows it |
//! | [`Narrowing`] | of the next request alone: what it takes out of the complaints, nobody above reads any more |
//!
//! # How to add one
//!
//! For a server that wraps its answers in a tag, `wrapped_answer.rs` (this one is
//! tested, in `tests/wrapped_answer.rs`):
//!
//! ```ignore
//! //! For the gateway of Example Inc., which wraps every answer: `<answer>..</answer>`.
//!
//! use super::policy::{AttemptView, Change, Next, Policy};
//! use crate::run::response::Response;
//!
//! pub(super) struct WrappedAnswer;
//!
//! impl Policy for WrappedAnswer {
//!     fn received(&self, response: &Response, _: &mut AttemptView<'_>) -> Option<Next> {
//!         let text = response.text.trim();
//!         let inside = text.strip_prefix("<answer>")?.strip_suffix("</answer>")?;
//!         Some(Next::Adapt(Change::Text(inside.to_owned())))
//!     }
//! }
//! ```
//!
//! 1. The file says for which server or model it is, and has a type with the method
//!    of its time: here the text is to be another one before it is read. Whatever
//!    is not of this kind is `None`.
//! 2. Below, it gets its `mod`, its `use` and a line in [`POLICIES`]; above, its
//!    row in the table. This one stands after `PausedTurn`, which joins texts, and
//!    before `CallsInText`, which reads them.
//! 3. `tests/each.rs` gets a test of what it does, and of a response that it must
//!    leave alone; `tests/pairs.rs` gets a row for each policy that it may meet.
//!
//! What a policy makes of a text is what is validated, recorded, journaled and
//! returned. A program that reads the stream has seen the text as it came: what has
//! to be taken out of that, too, belongs into `run/attempt/written.rs`, as thoughts
//! do.

mod ask_for_less;
mod calls_in_text;
mod copied_bound;
mod copied_form;
mod cut_answer;
mod failed_call;
mod free_choice;
mod full_window;
mod invented_quote;
mod last_turn;
mod lost_answer;
mod narrowing;
mod padding;
mod paused_turn;
mod policy;
mod rejected_answer;
mod run_calls;
#[cfg(test)]
mod tests;
mod unenforced_schema;
mod unusable_answer;

use std::ops::ControlFlow;

use self::ask_for_less::AskForLess;
use self::calls_in_text::CallsInText;
use self::copied_bound::CopiedBound;
use self::copied_form::CopiedForm;
pub(super) use self::copied_form::is_copied_form;
use self::cut_answer::CutAnswer;
use self::failed_call::FailedCall;
use self::free_choice::FreeChoice;
use self::full_window::FullWindow;
use self::invented_quote::InventedQuote;
use self::last_turn::LastTurn;
use self::lost_answer::LostAnswer;
use self::narrowing::Narrowing;
use self::padding::Padding;
use self::paused_turn::PausedTurn;
pub(super) use self::paused_turn::count_paused;
use self::policy::Policy;
pub(super) use self::policy::{AttemptView, FailedAttempt, Notes, RequestPlan};
use self::rejected_answer::RejectedAnswer;
use self::run_calls::RunCalls;
use self::unenforced_schema::UnenforcedSchema;
use self::unusable_answer::UnusableAnswer;
use super::failure::Failure;
use super::response::{Judgement, Response};

/// All policies, in the order in which they are asked.
static POLICIES: &[&dyn Policy] = &[
    &Padding,
    &UnusableAnswer,
    &UnenforcedSchema,
    &FullWindow,
    &FreeChoice,
    &CutAnswer,
    &PausedTurn,
    &CallsInText,
    &RunCalls,
    &CopiedForm,
    &InventedQuote,
    &RejectedAnswer,
    &CopiedBound,
    &AskForLess,
    &FailedCall,
    &LastTurn,
    &LostAnswer,
    &Narrowing,
];

/// Changes a request that is about to follow.
pub(super) fn before(mut plan: RequestPlan<'_>) {
    for policy in POLICIES {
        policy.before(&mut plan);
    }
}

/// What a response is without being validated. `None`: it is an answer, and has to be.
pub(super) fn received(
    response: &mut Response,
    attempt: &mut AttemptView<'_>,
) -> Option<Judgement> {
    received_by(POLICIES, response, attempt)
}

/// As [`received`], by another list.
fn received_by(
    policies: &[&dyn Policy],
    response: &mut Response,
    attempt: &mut AttemptView<'_>,
) -> Option<Judgement> {
    for policy in policies {
        let Some(next) = policy.received(response, attempt) else {
            continue;
        };
        if let ControlFlow::Break(judgement) = next.on_response(response, attempt) {
            return judgement;
        }
    }
    None
}

/// What becomes of a judgement.
pub(super) fn after(
    response: &mut Response,
    judgement: &mut Judgement,
    attempt: &mut AttemptView<'_>,
) {
    for policy in POLICIES {
        let Some(next) = policy.after(response, judgement, attempt) else {
            continue;
        };
        if next.on_judgement(response, judgement, attempt).is_break() {
            return;
        }
    }
}

/// Adds to the message of a failure what a person should know.
pub(super) fn explain(failure: &mut Failure, attempt: &FailedAttempt<'_>) {
    for policy in POLICIES {
        if let Some(note) = policy.explain(failure, attempt) {
            failure.add(&note);
        }
    }
}
