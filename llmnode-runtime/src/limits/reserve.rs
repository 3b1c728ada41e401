//! What one request has reserved, until its spending is known.

use std::time::Duration;

use llmnode_model::internal::lock;
use llmnode_model::{Category, Completion, FinishReason, ModelError, TokenUsage};

use super::call::CallLimits;
use super::first::{FirstRequest, of_model};
use super::meter::{Capacity, Hold, Intent, QueueTicket, Spent};
use super::refusal::Unknown;
use super::request_tokens::RequestTokens;
use crate::ledger::{AnswerSoFar, answer_tokens};
use crate::money::Money;
use crate::prices::{Listed, Price};

/// Dropped before it is settled, it counts the usage reported so far, or else the estimate.
pub(crate) struct Reservation<'c> {
    limits: &'c CallLimits<'c>,
    holds: Vec<Hold>,
    names: [Option<&'c str>; 3],
    /// Boxed, since most requests reserve nothing.
    so_far: Option<Box<AnswerSoFar>>,
    first: Option<FirstRequest<'c>>,
    unsent: bool,
}

impl CallLimits<'_> {
    /// Reserves with every meter, in the order of arrival. `names`: of the model, the most reliable first. `own`: the time that
    /// the request has.
    pub(crate) async fn reserve<'c>(
        &'c self,
        tokens: impl FnOnce() -> RequestTokens,
        names: [Option<&'c str>; 3],
        own: impl FnOnce() -> Option<Duration>,
    ) -> Result<Reservation<'c>, (Category, String)> {
        if self.meters.is_empty() {
            return Ok(Reservation::new(self, Vec::new(), names, None));
        }
        let RequestTokens {
            prompt,
            answer,
            thinking,
            answers,
        } = tokens();
        let model = names.into_iter().flatten().next().unwrap_or_default();
        let first = self.first(model, own()).await;
        let known = || names.iter().flatten().copied();
        let counted = || {
            lock(&self.run.counted)
                .get(known().next().unwrap_or_default())
                .copied()
                .unwrap_or_default()
        };
        let intent = || Intent {
            prompt,
            expected: counted().expect(prompt),
            answer,
            thinking,
            answers,
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
                Ok(holds) => return Ok(Reservation::new(self, holds, names, first)),
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
    fn new(
        limits: &'c CallLimits<'c>,
        holds: Vec<Hold>,
        names: [Option<&'c str>; 3],
        first: Option<FirstRequest<'c>>,
    ) -> Self {
        Reservation {
            limits,
            holds,
            names,
            so_far: None,
            first,
            unsent: false,
        }
    }

    pub(crate) fn reports(&mut self, usage: TokenUsage) {
        if !self.holds.is_empty() {
            self.so_far.get_or_insert_default().reports(usage);
            self.raise(usage);
            self.begins_to_answer(usage);
        }
    }

    pub(crate) fn writes(&mut self, piece: &str) {
        if !self.holds.is_empty() {
            self.so_far.get_or_insert_default().writes(piece);
            self.begins_to_answer(TokenUsage::default());
        }
    }

    fn begins_to_answer(&mut self, usage: TokenUsage) {
        if let Some(first) = self.first.take() {
            self.learn(usage);
            first.passes();
        }
    }

    /// A prompt that has more tokens than expected takes their room at once.
    fn raise(&mut self, usage: TokenUsage) {
        let Some(input) = usage.input else { return };
        let price = self.price();
        for (meter, hold) in self.limits.meters.iter().zip(&mut self.holds) {
            meter.raise(hold, input, price);
        }
    }

    /// Until it is sent, dropping it returns the reservation.
    pub(crate) fn unsent(&mut self) {
        self.unsent = true;
    }

    pub(crate) fn settle(&mut self, outcome: &Result<Completion, ModelError>) {
        if self.holds.is_empty() {
            return;
        }
        let so_far = self.so_far.take().unwrap_or_default();
        let spent = match outcome {
            Ok(answer) => {
                let usage = larger(answer.usage, so_far.usage());
                match written_without_an_answer(answer) {
                    Some(written) if usage.and_then(|usage| usage.total()).is_none() => {
                        // What a filter withheld was written, too.
                        let written = Some(written).filter(|written| *written > 0);
                        self.estimated(usage, written.max(so_far.answered()))
                    }
                    _ => self.read(usage.unwrap_or_default(), answer.model.as_deref()),
                }
            }
            Err(error) if !error.sent || !error.reached => Spent::Unsent,
            Err(error) => {
                let usage = larger(error.usage.as_deref().copied(), so_far.usage());
                let answered = error.answered().max(so_far.answered());
                match usage {
                    Some(usage) if usage.total().is_some() => self.read(usage, None),
                    None if answered.is_none() && !error.may_have_used_tokens() => Spent::Refused,
                    _ if is_refusal(error) => self.estimated(usage, Some(answered.unwrap_or(0))),
                    _ => self.estimated(usage, answered),
                }
            }
        };
        self.close(&spent);
    }

    pub(crate) fn release(&mut self) {
        self.close(&Spent::Unsent);
    }

    fn estimated(&self, usage: Option<TokenUsage>, answered: Option<u64>) -> Spent<'c> {
        let usage = usage.unwrap_or_default();
        self.learn(usage);
        Spent::Estimated {
            usage,
            answered,
            price: self.price(),
        }
    }

    fn price(&self) -> Option<&'c Price> {
        self.names
            .into_iter()
            .flatten()
            .find_map(|name| self.limits.run.prices.of(name))
    }

    fn learn(&self, usage: TokenUsage) {
        if let (Some(input), Some(hold)) = (usage.input, self.holds.first()) {
            let mut counted = lock(&self.limits.run.counted);
            let model = self.names.into_iter().flatten().next().unwrap_or_default();
            of_model(&mut counted, model).learn(hold.prompt, input);
        }
    }

    fn read(&self, usage: TokenUsage, reported: Option<&str>) -> Spent<'c> {
        self.learn(usage);
        Spent::Read {
            tokens: usage.total().ok_or(Unknown::Usage),
            output: usage.output,
            money: self.money(usage, reported),
        }
    }

    fn money(&self, usage: TokenUsage, reported: Option<&str>) -> Result<Money, Unknown> {
        let prices = &self.limits.run.prices;
        let asked = self.names.into_iter().flatten();
        let listed = prices.first_listed(asked.clone());
        if let Some(Listed { name, price }) = prices.of_response(listed, reported, &usage) {
            return price
                .of(&usage)
                .ok_or_else(|| Unknown::cost(name, price, &usage));
        }
        match reported.into_iter().chain(asked).next() {
            Some(name) => Err(Unknown::price(name, prices.made())),
            None => Err(Unknown::Model),
        }
    }

    fn close(&mut self, spent: &Spent<'_>) {
        if self.holds.is_empty() {
            return;
        }
        for (meter, hold) in self.limits.meters.iter().zip(self.holds.drain(..)) {
            meter.settle(hold, spent);
        }
        if matches!(spent, Spent::Read { .. } | Spent::Estimated { .. })
            && let Some(first) = self.first.take()
        {
            first.passes();
        }
        self.first = None;
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if self.holds.is_empty() {
            return;
        }
        let so_far = self.so_far.take().unwrap_or_default();
        let spent = match so_far.usage() {
            Some(usage) if usage.total().is_some() => self.read(usage, None),
            None if self.unsent => Spent::Unsent,
            usage => {
                // It has taught nothing.
                self.first = None;
                self.estimated(usage, so_far.answered())
            }
        };
        self.close(&spent);
    }
}

fn larger(one: Option<TokenUsage>, other: Option<TokenUsage>) -> Option<TokenUsage> {
    let (Some(known), Some(reported)) = (one, other) else {
        return one.or(other);
    };
    Some(known.larger(reported))
}

/// About how many tokens were written of what is no answer: a refusal, or what was filtered or failed. `None`: it is one.
fn written_without_an_answer(completion: &Completion) -> Option<u64> {
    let is_withheld = matches!(
        completion.finish,
        Some(FinishReason::ContentFilter | FinishReason::Error)
    );
    let refusal = completion
        .refusal
        .as_deref()
        .filter(|refusal| !refusal.is_empty());
    if !is_withheld && refusal.is_none() {
        return None;
    }
    let reasoning = completion.reasoning.as_deref().unwrap_or_default();
    let characters = [
        completion.text.as_str(),
        reasoning,
        refusal.unwrap_or_default(),
    ]
    .map(|text| text.chars().count());
    Some(answer_tokens(characters.into_iter().sum()))
}

/// Of a server that read the prompt, and wrote nothing.
fn is_refusal(error: &ModelError) -> bool {
    let is_withheld = matches!(error.category, Category::ContentFilter | Category::Refusal);
    is_withheld && error.status.is_some_and(|status| status >= 400)
}
