//! The progress of a call through its stacks: what was tried, and what is left.
//!
//! A stack is not walked by a pointer but by counts, one for each stack: failures
//! of different kinds alternate, and each kind goes on where it stopped. Another
//! model begins anew with all counts, and remembers what was still to come in the
//! stack that led to it (`onward`), for when it fails, too.

use std::collections::VecDeque;
use std::time::Duration;

use llmnode_model::{Category, Group, Retry};

use super::recovery::{Backoff, Failures, Recovery};
use super::stacks::{NOT_REPEATED, Stacks, is_transport};
use super::wait::{WaitLimit, jitter};
use crate::ledger::AttemptKind;
use crate::limits::TimeLeft;
use crate::validate::AttemptInfo;

/// Requests of a call that are sent in another way after a refusal. Who refuses a
/// fifth means no setting of ours.
const ADAPTIONS: u32 = 4;

pub(crate) struct Progress<'p> {
    stacks: &'p Stacks<'p>,
    /// For each stack, how many tries were taken of it.
    taken: Vec<Taken>,
    /// What validators see as the attempt's number.
    bad_answers: u32,
    adaptions: u32,
    /// Models asked so far, unless no stack leads to one. The run's own may have no name.
    models: Vec<String>,
    /// Remaining steps of the stack that led to the current model, for when that fails, too.
    onward: VecDeque<Recovery>,
}

struct Taken {
    stack: Failures,
    tries: u32,
}

/// `Err`: why the endpoint's retry budget grants none.
pub(crate) type Grant<'g> = dyn FnMut() -> Result<(), String> + Send + 'g;

/// All of a failure that matters for what follows it.
pub(crate) struct FailureFacts {
    pub(crate) category: Category,
    /// What the provider's client decided, if it differs from the category's default.
    pub(crate) decision: Option<Retry>,
    /// The wait that the server asks for.
    pub(crate) retry_after: Option<Duration>,
    /// How the answer begins, if it is the same as the last bad one. It ends this
    /// model's tries; another model or the fallback may follow.
    pub(crate) repeats: Option<String>,
    pub(crate) time_left: Option<TimeLeft>,
    /// The time of the call or the run is over: nothing can be asked again.
    pub(crate) too_late: bool,
    /// Something else bounds how often the request is sent in another way: turns,
    /// if the model is told about a mistake of its own, and the length of the
    /// conversation, if it is sent a shorter one each time.
    pub(crate) is_bounded: bool,
}

/// What follows a failed attempt.
#[derive(Debug, PartialEq)]
pub(crate) enum AfterFailure {
    Again { kind: AttemptKind, wait: Duration },
    Model(String),
    Fallback,
    Bubble,
}

/// What a call does at a gate that a rate limit closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtGate {
    Waits,
    /// It has a fallback value, so it waits no longer than a call outside of a map.
    FallsBack,
    /// It asks another model in place of waiting.
    OtherModel,
}

impl<'p> Progress<'p> {
    /// `first_model`: its name, which is asked for only where another model may follow.
    pub(crate) fn new(
        stacks: &'p Stacks<'p>,
        first_model: impl FnOnce() -> Option<String>,
    ) -> Self {
        let first_model = stacks.may_lead_to_a_model().then(first_model).flatten();
        Progress {
            stacks,
            taken: Vec::new(),
            bad_answers: 0,
            adaptions: 0,
            models: Vec::from_iter(first_model),
            onward: VecDeque::new(),
        }
    }

    /// Tries after bad answers keep counting, those after failures of the transport start again.
    pub(crate) fn next_turn(&mut self) {
        self.taken.retain(|taken| !is_transport(taken.stack));
    }

    /// What validators are told of the attempt that is about to be made.
    pub(crate) fn attempt(&self) -> AttemptInfo {
        if !self.stacks.asks_model() {
            return AttemptInfo::new(self.bad_answers, self.stacks.further_executions());
        }
        if let Some(corrections) = self.stacks.only_corrections() {
            let left = corrections.saturating_sub(self.taken(Failures::Answer));
            return AttemptInfo::new(self.bad_answers, self.bad_answers.saturating_add(left));
        }
        let (key, steps) = self.stacks.for_failure(Category::ValidationError, None);
        let left = tries(&steps).saturating_sub(self.taken(key));
        let attempt = AttemptInfo::new(self.bad_answers, self.bad_answers.saturating_add(left));
        let others = self.to_come(&steps).any(|step| match step {
            Recovery::Model(name) => !self.has_asked(name),
            step => *step == Recovery::Fallback,
        });
        attempt.with_fallback(others)
    }

    /// Looks at the stack for rate limits: a closed gate is one that another call has met.
    pub(crate) fn at_gate(&self) -> AtGate {
        let (_, steps) = self.stacks.for_failure(Category::RateLimitError, None);
        let has_other_model = self
            .to_come(&steps)
            .any(|step| matches!(step, Recovery::Model(name) if !self.has_asked(name)));
        if has_other_model {
            return AtGate::OtherModel;
        }
        match self.to_come(&steps).any(|step| *step == Recovery::Fallback) {
            true => AtGate::FallsBack,
            false => AtGate::Waits,
        }
    }

    /// What may follow a failure that has these steps.
    fn to_come<'s>(&'s self, steps: &'s [Recovery]) -> impl Iterator<Item = &'s Recovery> {
        steps
            .iter()
            .chain(&self.onward)
            .take_while(|step| **step != Recovery::Bubble)
    }

    /// Whether somebody stated how often a request is repeated after a rate limit.
    pub(crate) fn states_rate_limits(&self) -> bool {
        self.stacks.states(Category::RateLimitError, None)
    }

    pub(crate) fn longest_wait(&self) -> Duration {
        WaitLimit::new(self.stacks).longest
    }

    /// What follows this failure, with a note on what was left out, for the error's message.
    ///
    /// Steps are looked at in the order of the stack. One that has tries left is
    /// taken, unless there is a reason against a further try; then all of its tries
    /// count as taken, so that no later failure comes back to it. A request that is
    /// *adapted* (sent in another way, after a refusal that showed how) comes
    /// before all stacks: it is the same try, made right.
    pub(crate) fn after(
        &mut self,
        failed: &FailureFacts,
        grant: &mut Grant<'_>,
    ) -> (AfterFailure, String) {
        let mut note = String::new();
        if failed.decision == Some(Retry::Adapted) {
            match self.adapt(failed) {
                Ok(next) => return (next, note),
                Err(why) => note = why,
            }
        }
        if self.stacks.counts(failed.category) {
            self.bad_answers = self.bad_answers.saturating_add(1);
        }
        if self.stacks.withhold(failed.category, failed.decision) {
            note = NOT_REPEATED.to_owned();
        }
        let (key, steps) = self.stacks.for_failure(failed.category, failed.decision);
        let mut passed = 0_u32;
        let mut steps = steps.into_iter();
        while let Some(step) = steps.next() {
            let tries = tries(std::slice::from_ref(&step));
            let taken = self.taken(key).saturating_sub(passed);
            passed = passed.saturating_add(tries);
            if taken < tries && !failed.too_late {
                match self.again(&step, key, taken, failed, grant) {
                    Ok(next) => return (next, note),
                    Err(why) => {
                        *self.counter(key) = passed;
                        note = why;
                    }
                }
            }
            if let Some(next) = self.next_without_retry(step, failed) {
                if let AfterFailure::Model(_) = next {
                    steps.rev().for_each(|step| self.onward.push_front(step));
                }
                return (next, note);
            }
        }
        (self.onward(failed), note)
    }

    /// The failure's own stack is used up: continues with the one that led to the model.
    fn onward(&mut self, failed: &FailureFacts) -> AfterFailure {
        let category = failed.category;
        // A fallback model without a price does not keep the models after it from being asked.
        if category.group() == Group::Stop && category != Category::LimitUnenforceable {
            return AfterFailure::Bubble;
        }
        while let Some(step) = self.onward.pop_front() {
            // Repetition is up to the stacks of this model's own failures.
            if let Some(next) = self.next_without_retry(step, failed) {
                return next;
            }
        }
        AfterFailure::Bubble
    }

    /// A step that is no repetition.
    fn next_without_retry(
        &mut self,
        step: Recovery,
        failed: &FailureFacts,
    ) -> Option<AfterFailure> {
        match step {
            Recovery::Model(name) if !failed.too_late && !self.has_asked(&name) => {
                Some(self.change_model(name.into_owned()))
            }
            Recovery::Fallback => Some(AfterFailure::Fallback),
            Recovery::Bubble => Some(AfterFailure::Bubble),
            Recovery::Model(_) | Recovery::Retry { .. } | Recovery::Repair { .. } => None,
        }
    }

    /// The request in another way. `Err`: it was sent in so many ways that another is no hope.
    fn adapt(&mut self, failed: &FailureFacts) -> Result<AfterFailure, String> {
        let adaptions = self.adaptions + u32::from(!failed.is_bounded);
        if adaptions > ADAPTIONS {
            return Err(String::new());
        }
        let wait = self.servers_wait(failed)?;
        self.adaptions = adaptions;
        Ok(AfterFailure::Again {
            kind: AttemptKind::Adapted,
            wait,
        })
    }

    /// `Err`: why there is no further try; empty if obvious.
    fn again(
        &mut self,
        step: &Recovery,
        key: Failures,
        taken: u32,
        failed: &FailureFacts,
        grant: &mut Grant<'_>,
    ) -> Result<AfterFailure, String> {
        if failed.decision == Some(Retry::No) && !self.stacks.asks_model() {
            // The inner call was already retried, and its error says how that ended.
            return Err(String::new());
        }
        if failed.decision == Some(Retry::No) {
            return Err(format!(
                "; `{step}` does not apply, since this failure rules out another try"
            ));
        }
        if let Some(answer) = &failed.repeats {
            return Err(format!(
                "; the same answer twice, {answer}: `choices`, a response format that is enforced, \
                 or another model may help; with `stop_on_repeat = false` it is asked again"
            ));
        }
        let (kind, wait) = match step {
            Recovery::Retry { wait, .. } => {
                (AttemptKind::Retry, self.wait(*wait, key, taken, failed)?)
            }
            _ => (AttemptKind::Correction, self.servers_wait(failed)?),
        };
        if kind == AttemptKind::Retry && is_transport(key) {
            self.withdraw(failed, grant)?;
        }
        *self.counter(key) += 1;
        Ok(AfterFailure::Again { kind, wait })
    }

    /// The budget of the endpoint is for outages. A number of retries that somebody
    /// stated counts, whatever is left.
    fn withdraw(&self, failed: &FailureFacts, grant: &mut Grant<'_>) -> Result<(), String> {
        if failed.category == Category::RateLimitError {
            return Ok(());
        }
        let granted = grant();
        if self.stacks.states(failed.category, failed.decision) {
            Ok(())
        } else {
            granted
        }
    }

    /// The wait before a retry. Without a `backoff`, failures of the transport have
    /// one that is random; others have none.
    fn wait(
        &self,
        backoff: Option<Backoff>,
        key: Failures,
        taken: u32,
        failed: &FailureFacts,
    ) -> Result<Duration, String> {
        let limit = WaitLimit::new(self.stacks);
        let (ours, longest) = match backoff {
            Some(backoff) => (backoff.wait(taken), limit.longest.max(backoff.to)),
            None if is_transport(key) => (jitter(taken), limit.longest),
            None => (Duration::ZERO, limit.longest),
        };
        limit.wait_before_retry(ours, longest, failed.retry_after, failed.time_left.as_ref())
    }

    /// No backoff: only the wait that the server asks for.
    fn servers_wait(&self, failed: &FailureFacts) -> Result<Duration, String> {
        match failed.retry_after {
            None => Ok(Duration::ZERO),
            Some(_) => self.wait(
                Some(Backoff::fixed(Duration::ZERO)),
                Failures::Answer,
                0,
                failed,
            ),
        }
    }

    fn has_asked(&self, model: &str) -> bool {
        self.models.iter().any(|name| name == model)
    }

    /// All counts are of one model.
    fn change_model(&mut self, name: String) -> AfterFailure {
        self.models.push(name.clone());
        self.taken.clear();
        self.adaptions = 0;
        self.bad_answers = 0;
        AfterFailure::Model(name)
    }

    fn taken(&self, key: Failures) -> u32 {
        let mut taken = self.taken.iter();
        let found = taken.find(|taken| taken.stack == key);
        found.map_or(0, |taken| taken.tries)
    }

    fn counter(&mut self, key: Failures) -> &mut u32 {
        let position = self.taken.iter().position(|taken| taken.stack == key);
        let index = position.unwrap_or(self.taken.len());
        if position.is_none() {
            self.taken.push(Taken {
                stack: key,
                tries: 0,
            });
        }
        &mut self.taken[index].tries
    }
}

/// How many tries these steps have. A step that is no repetition has none.
fn tries(steps: &[Recovery]) -> u32 {
    steps.iter().fold(0, |sum: u32, step| match step {
        Recovery::Retry { times, .. } | Recovery::Repair { times } => sum.saturating_add(*times),
        Recovery::Model(_) | Recovery::Fallback | Recovery::Bubble => sum,
    })
}
