//! What one request has reserved, until its spending is known.

use llmnode_model::internal::lock;
use llmnode_model::{Category, Completion, ModelError, TokenUsage};

use super::call::CallLimits;
use super::meter::{Capacity, Hold, Intent, QueueTicket, Spent};
use super::prompt::{AnswerTokens, PromptTokens};
use super::refusal::Unknown;
use crate::money::Money;

/// Dropped before it is settled, it counts the usage reported so far, or else the estimate.
pub(crate) struct Reservation<'c> {
    limits: &'c CallLimits<'c>,
    holds: Vec<Hold>,
    names: [Option<&'c str>; 3],
    /// Boxed, since most requests reserve nothing.
    seen: Option<Box<TokenUsage>>,
    unsent: bool,
}

impl CallLimits<'_> {
    /// Reserves with every meter, in the order of arrival. `names`: of the model, the most reliable first.
    pub(crate) async fn reserve<'c>(
        &'c self,
        prompt: PromptTokens,
        answer: AnswerTokens,
        names: [Option<&'c str>; 3],
    ) -> Result<Reservation<'c>, (Category, String)> {
        if self.meters.is_empty() {
            return Ok(Reservation::new(self, Vec::new(), names));
        }
        let known = || names.iter().flatten().copied();
        let counted =
            || lock(&self.run.counted).get(known().next().unwrap_or_default()).copied().unwrap_or_default();
        let intent = || Intent {
            prompt,
            expected: counted().expect(prompt),
            answer,
            model: known().next(),
            made: self.run.prices.made(),
            price: known().find_map(|name| self.run.prices.of(name)),
        };
        let mut ticket: Option<QueueTicket<'_>> = None;
        loop {
            let outcome = self.holds(intent(), ticket.as_ref());
            let kept = match &outcome {
                Err((full, Capacity::Later)) => ticket.take_if(|ticket| ticket.is_for(full)),
                _ => None,
            };
            drop(ticket.take());
            ticket = match outcome {
                Ok(holds) => return Ok(Reservation::new(self, holds, names)),
                Err((meter, Capacity::Never(refusal))) => {
                    return Err((refusal.category(), refusal.message(&meter.scope)));
                }
                Err((full, _)) => Some(kept.unwrap_or_else(|| full.join_queue())),
            };
            if let Some(ticket) = &mut ticket {
                ticket.wait_turn().await;
            }
        }
    }
}

impl<'c> Reservation<'c> {
    fn new(limits: &'c CallLimits<'c>, holds: Vec<Hold>, names: [Option<&'c str>; 3]) -> Self {
        Reservation { limits, holds, names, seen: None, unsent: false }
    }

    pub(crate) fn record_usage(&mut self, usage: TokenUsage) {
        if !self.holds.is_empty() {
            self.seen = Some(Box::new(usage));
        }
    }

    fn seen(&self) -> Option<TokenUsage> {
        self.seen.as_deref().copied()
    }

    /// Until it is sent, dropping it returns the reservation.
    pub(crate) fn unsent(&mut self) {
        self.unsent = true;
    }

    pub(crate) fn settle(&mut self, outcome: &Result<Completion, ModelError>) {
        if self.holds.is_empty() {
            return;
        }
        let spent = match outcome {
            Ok(answer) => {
                self.read(answer.usage.or(self.seen()).unwrap_or_default(), answer.model.as_deref())
            }
            Err(error) if !error.sent || !error.reached => Spent::Unsent,
            Err(error) => match error.usage.as_deref().copied().or(self.seen()) {
                Some(usage) => self.read(usage, None),
                None if error.may_have_used_tokens() => Spent::Unread,
                None => Spent::Refused,
            },
        };
        self.close(&spent);
    }

    pub(crate) fn release(&mut self) {
        self.close(&Spent::Unsent);
    }

    fn read(&self, usage: TokenUsage, reported: Option<&str>) -> Spent {
        if let (Some(input), Some(hold)) = (usage.input, self.holds.first()) {
            let mut counted = lock(&self.limits.run.counted);
            let model = self.names.into_iter().flatten().next().unwrap_or_default();
            counted.entry(model.to_owned()).or_default().learn(hold.prompt, input);
        }
        Spent::Read {
            tokens: usage.total().ok_or(Unknown::Usage),
            output: usage.output,
            money: self.money(usage, reported),
        }
    }

    fn money(&self, usage: TokenUsage, reported: Option<&str>) -> Result<Money, Unknown> {
        let names = || reported.into_iter().chain(self.names.into_iter().flatten());
        match names().find_map(|name| Some((name, self.limits.run.prices.of(name)?))) {
            Some((name, price)) => price.of(&usage).ok_or_else(|| Unknown::cost(name, price, &usage)),
            None => {
                let unpriced = |name| Unknown::price(name, self.limits.run.prices.made());
                Err(names().next().map_or(Unknown::Model, unpriced))
            }
        }
    }

    fn close(&mut self, spent: &Spent) {
        if self.holds.is_empty() {
            return;
        }
        for (meter, hold) in self.limits.meters.iter().zip(self.holds.drain(..)) {
            meter.settle(hold, spent);
        }
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let seen_usage = self.seen().filter(|usage| usage.total().is_some());
        let fallback = if self.unsent { Spent::Unsent } else { Spent::Unread };
        self.close(&seen_usage.map_or(fallback, |usage| self.read(usage, None)));
    }
}
