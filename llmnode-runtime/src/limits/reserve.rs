//! What one request has reserved, until its spending is known.
//!
//! A reservation is settled in one of four ways, each of which counts something
//! else: the request was never sent (nothing), the provider refused it without
//! reading it (a request, no tokens), it was answered with usage (that usage), or
//! it broke off (what was reported, and an estimate of the rest). Whoever drops a
//! reservation settles it in the last of these ways: a future that is cancelled has
//! no other chance to say what it cost.

use std::sync::Arc;
use std::time::Duration;

use llmnode_model::internal::lock;
use llmnode_model::{Category, Completion, FinishReason, ModelError, TokenUsage};

use super::batch_room::BatchRoom;
use super::call::CallLimits;
use super::first::{FirstRequest, of_model};
use super::meter::{Capacity, Hold, Intent, QueueTicket, Spent};
use super::refusal::Unknown;
use super::request_tokens::RequestTokens;
use crate::ledger::{AnswerSoFar, answer_tokens};
use crate::money::Money;
use crate::prices::{Listed, Price, PriceTier, Prices};

/// Dropped before it is settled, it counts the usage reported so far, or else the estimate.
pub(crate) struct Reservation<'c> {
    limits: &'c CallLimits<'c>,
    /// One for each of the meters, in their order. Empty: nothing is limited, or it is settled.
    holds: Vec<Hold>,
    /// Of the model, the most reliable first.
    names: [Option<&'c str>; 3],
    tier: PriceTier,
    /// Of the map, while it is asked by a batch.
    batch: Option<&'c Arc<BatchRoom>>,
    /// Boxed, since most requests reserve nothing.
    so_far: Option<Box<AnswerSoFar>>,
    /// Held while this is the first request of its model, for which the others wait.
    first: Option<FirstRequest<'c>>,
    /// The model has given the request up before anything of it went out: it has
    /// spent nothing.
    unsent: bool,
    /// The answer was read no further than to its last word, so that its usage is estimated.
    broke_off: bool,
    /// The answer is billed otherwise than by the price that was reserved for.
    other_price: bool,
}

impl CallLimits<'_> {
    /// Reserves at the standard price: see [`reserve_in`](Self::reserve_in).
    pub(crate) async fn reserve<'c>(
        &'c self,
        tokens: impl FnOnce() -> RequestTokens,
        names: [Option<&'c str>; 3],
        time_limit: impl FnOnce() -> Option<Duration>,
    ) -> Result<Reservation<'c>, (Category, String)> {
        self.reserve_in(PriceTier::Standard, None, tokens, names, time_limit)
            .await
    }

    /// Reserves with every meter, in the order of arrival. `names`: of the model,
    /// the most reliable first. `time_limit`: the time that the request has.
    /// `batch`: of the map, if it is asked by a batch.
    ///
    /// It tries again whenever its turn comes in the queue of the meter that was
    /// full, and keeps its place there as long as that meter is the one that is
    /// full. Prices and estimates are looked up in each turn, as they may have
    /// changed meanwhile.
    pub(crate) async fn reserve_in<'c>(
        &'c self,
        tier: PriceTier,
        batch: Option<&'c Arc<BatchRoom>>,
        tokens: impl FnOnce() -> RequestTokens,
        names: [Option<&'c str>; 3],
        time_limit: impl FnOnce() -> Option<Duration>,
    ) -> Result<Reservation<'c>, (Category, String)> {
        if self.meters.is_empty() {
            return Ok(Reservation::new(self, Vec::new(), (names, tier), None));
        }
        if let Some(batch) = batch {
            batch.reserves_at(&self.meters);
        }
        let tokens = tokens();
        let model = names.into_iter().flatten().next().unwrap_or_default();
        let first = self.first(model, time_limit()).await;
        let mut ticket: Option<QueueTicket<'_>> = None;
        loop {
            let intent = self.intent((tier, batch), &tokens, &names);
            let outcome = self.holds(intent, ticket.as_ref());
            // A place in the queue of another meter than the full one is given up:
            // it would hold others up for nothing.
            let kept = match &outcome {
                Err((full, Capacity::Later)) => ticket.take_if(|ticket| ticket.is_for(full)),
                _ => None,
            };
            drop(ticket.take());
            let mut next = match outcome {
                Ok(holds) => {
                    let mut reserved = Reservation::new(self, holds, (names, tier), first);
                    reserved.batch = batch;
                    return Ok(reserved);
                }
                Err((meter, Capacity::Never(refusal))) => {
                    return Err((refusal.category(), refusal.message(&meter.scope)));
                }
                Err((full, _)) => kept.unwrap_or_else(|| full.join_queue()),
            };
            next.wait_turn().await;
            ticket = Some(next);
        }
    }

    /// What the request will take, by what is known at this moment of its model.
    fn intent<'a>(
        &'a self,
        (tier, batch): (PriceTier, Option<&'a Arc<BatchRoom>>),
        tokens: &RequestTokens,
        names: &[Option<&'a str>; 3],
    ) -> Intent<'a> {
        let prices = self.run.prices.in_tier(tier);
        let mut named = names.iter().flatten().copied();
        let price = named.clone().find_map(|name| prices.of(name));
        let model = named.next();
        let counted = lock(&self.run.counted)
            .get(model.unwrap_or_default())
            .copied()
            .unwrap_or_default();
        Intent {
            prompt: tokens.prompt,
            expected: counted.expect(tokens.prompt),
            answer: tokens.answer,
            thinking: tokens.thinking,
            answers: tokens.answers,
            model,
            prices_made: prices.made(),
            tier,
            price,
            batch: batch.map(|batch| batch.name()),
            mean: batch.and_then(|batch| batch.mean()),
        }
    }
}

impl<'c> Reservation<'c> {
    fn new(
        limits: &'c CallLimits<'c>,
        holds: Vec<Hold>,
        (names, tier): ([Option<&'c str>; 3], PriceTier),
        first: Option<FirstRequest<'c>>,
    ) -> Self {
        Reservation {
            limits,
            holds,
            names,
            tier,
            batch: None,
            so_far: None,
            first,
            unsent: false,
            broke_off: false,
            other_price: false,
        }
    }

    /// It is asked in another way than it was reserved for, and may cost more than
    /// that: gives back what it holds, and waits for room at the other price.
    ///
    /// # Errors
    /// As [`CallLimits::reserve_in`]. Then nothing is held.
    pub(crate) async fn move_to(
        &mut self,
        tier: PriceTier,
        tokens: impl FnOnce() -> RequestTokens,
    ) -> Result<(), (Category, String)> {
        self.release();
        let limits = self.limits;
        *self = limits
            .reserve_in(tier, None, tokens, self.names, || {
                // By now, its batch has begun: it waits for no first request.
                Some(Duration::ZERO)
            })
            .await?;
        Ok(())
    }

    /// The provider has reported usage in the middle of an answer.
    pub(crate) fn reports(&mut self, usage: TokenUsage) {
        if !self.holds.is_empty() {
            self.so_far.get_or_insert_default().reports(usage);
            self.raise(usage);
            self.begins_to_answer(usage);
        }
    }

    /// A piece of the answer has come. It is counted, for the case that no usage ever is.
    pub(crate) fn writes(&mut self, piece: &str) {
        if !self.holds.is_empty() {
            self.so_far.get_or_insert_default().writes(piece);
            self.begins_to_answer(TokenUsage::default());
        }
    }

    /// The provider has read the prompt, so that nobody needs to wait for this request any longer.
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

    /// The model says that nothing of the request went out, and that it gives it up.
    ///
    /// Without this word, a reservation that is dropped counts as sent. That holds for
    /// the moment before the model is asked, too: by then the journal may have
    /// written that the request begins, and whoever resumes counts it.
    pub(crate) fn unsent(&mut self) {
        self.unsent = true;
    }

    /// The model says that the answer is good, and that its usage could not come.
    pub(crate) fn breaks_off(&mut self) {
        self.broke_off = true;
    }

    /// The provider says that its tokens alone are not what it bills.
    pub(crate) fn has_other_price(&mut self) {
        self.other_price = true;
    }

    /// Counts what came of the request in place of what was reserved.
    pub(crate) fn settle(&mut self, outcome: &Result<Completion, ModelError>) {
        if self.holds.is_empty() {
            return;
        }
        let so_far = self.so_far.take().unwrap_or_default();
        let spent = match outcome {
            Ok(completion) => self.spent_on_answer(completion, &so_far),
            Err(error) => self.spent_on_failure(error, &so_far),
        };
        self.close(&spent);
    }

    fn spent_on_answer(&self, completion: &Completion, so_far: &AnswerSoFar) -> Spent<'c> {
        let usage = larger(completion.usage, so_far.usage());
        let is_reported = usage.and_then(|usage| usage.total()).is_some();
        if !is_reported && (self.broke_off || is_no_answer(completion)) {
            // What a filter withheld was written, too.
            let written = Some(written(completion)).filter(|written| *written > 0);
            return self.estimated(usage, written.max(so_far.answered()));
        }
        self.read(usage.unwrap_or_default(), completion.model.as_deref())
    }

    fn spent_on_failure(&self, error: &ModelError, so_far: &AnswerSoFar) -> Spent<'c> {
        if !error.sent || !error.reached {
            return Spent::Unsent;
        }
        let usage = larger(error.usage.as_deref().copied(), so_far.usage());
        let answered = error.answered().max(so_far.answered());
        match usage {
            Some(usage) if usage.total().is_some() => self.read(usage, None),
            None if answered.is_none() && !error.may_have_used_tokens() => Spent::Refused,
            _ if is_refusal(error) => self.estimated(usage, Some(answered.unwrap_or(0))),
            _ => self.estimated(usage, answered),
        }
    }

    /// Gives everything back: the request is not made.
    pub(crate) fn release(&mut self) {
        self.close(&Spent::Unsent);
    }

    /// Not all is reported, so the rest is estimated.
    fn estimated(&self, usage: Option<TokenUsage>, answered: Option<u64>) -> Spent<'c> {
        let usage = usage.unwrap_or_default();
        self.learn(usage);
        Spent::Estimated {
            usage,
            answered,
            price: self.price(),
        }
    }

    fn prices(&self) -> &'c Prices {
        self.limits.run.prices.in_tier(self.tier)
    }

    fn price(&self) -> Option<&'c Price> {
        self.names
            .into_iter()
            .flatten()
            .find_map(|name| self.prices().of(name))
    }

    /// Notes how far the estimate of the prompt was off, for the next request of the model.
    fn learn(&self, usage: TokenUsage) {
        if let (Some(input), Some(hold)) = (usage.input, self.holds.first()) {
            let mut counted = lock(&self.limits.run.counted);
            let model = self.names.into_iter().flatten().next().unwrap_or_default();
            of_model(&mut counted, model).learn(hold.prompt, input);
        }
    }

    /// The answer is whole, so what it does not report is unknown. `reported`: the
    /// model's name in the answer.
    fn read(&self, usage: TokenUsage, reported: Option<&str>) -> Spent<'c> {
        self.learn(usage);
        Spent::Read {
            tokens: usage.total().ok_or(Unknown::Usage),
            output: usage.output,
            money: self.money(usage, reported),
        }
    }

    fn money(&self, usage: TokenUsage, reported: Option<&str>) -> Result<Money, Unknown> {
        if self.other_price {
            return Err(Unknown::OtherPrice);
        }
        let prices = self.prices();
        let names = self.names.into_iter().flatten();
        let listed = prices.first_listed(names.clone());
        if let Some(Listed { name, price }) = prices.of_response(listed, reported, &usage) {
            return price
                .of(&usage)
                .ok_or_else(|| Unknown::cost(name, price, &usage));
        }
        match reported.into_iter().chain(names).next() {
            Some(name) => Err(Unknown::price_in(self.tier, name, prices.made())),
            None => Err(Unknown::Model),
        }
    }

    /// The one place where holds become counts. After it, the reservation is empty,
    /// and dropping it does nothing.
    fn close(&mut self, spent: &Spent<'_>) {
        if self.holds.is_empty() {
            return;
        }
        if let (Some(batch), Spent::Read { tokens, money, .. }) = (self.batch, spent)
            && let Ok(tokens) = tokens
        {
            let money = money.as_ref().copied().unwrap_or_default();
            batch.answered(*tokens, money);
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

/// Figure by figure, as a provider may report some in the stream and others at its end.
fn larger(one: Option<TokenUsage>, other: Option<TokenUsage>) -> Option<TokenUsage> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.larger(other)),
        _ => one.or(other),
    }
}

/// A refusal, or what was filtered or failed.
fn is_no_answer(completion: &Completion) -> bool {
    let is_withheld = matches!(
        completion.finish,
        Some(FinishReason::ContentFilter | FinishReason::Error)
    );
    let refusal = completion.refusal.as_deref().unwrap_or_default();
    is_withheld || !refusal.is_empty()
}

/// About how many tokens were written.
fn written(completion: &Completion) -> u64 {
    let of_text = [
        Some(&completion.text),
        completion.reasoning.as_ref(),
        completion.refusal.as_ref(),
    ];
    let of_calls = completion.calls.iter().map(|call| &call.arguments);
    let texts = of_text.into_iter().flatten().chain(of_calls);
    answer_tokens(texts.map(|text| text.chars().count()).sum())
}

/// Of a server that read the prompt, and wrote nothing.
fn is_refusal(error: &ModelError) -> bool {
    let is_withheld = matches!(error.category, Category::ContentFilter | Category::Refusal);
    is_withheld && error.status.is_some_and(|status| status >= 400)
}
