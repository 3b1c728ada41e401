//! The counters of one scope.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::carried::Spending;
use super::gauge::Gauge;
use super::limits::Limits;
use super::money::Money;
use super::prices::Price;
use super::refusal::{Refusal, Scope, Unknown};
use super::timer::Timer;
use crate::panics::lock;

/// What an answer is taken to have, in tokens, while the scope has seen none and `max_tokens` is not set.
const ANSWER: u64 = 256;

pub(super) struct Meter {
    pub(super) scope: Scope,
    pub(super) limits: Limits,
    /// The limit of money in whole numbers.
    money: Option<Money>,
    counters: Mutex<Counters>,
}

struct Counters {
    time: Timer,
    requests: Gauge,
    tokens: Gauge,
    money: Gauge,
    /// How many answers told their tokens, and how many these were.
    answers: u64,
    answered: u64,
    unknown_tokens: Option<Unknown>,
    unknown_money: Option<Unknown>,
}

/// A request about to be begun, as far as its spending is known.
#[derive(Clone, Copy)]
pub(super) struct Intent<'a> {
    /// The tokens of the prompt, estimated.
    pub(super) prompt: u64,
    pub(super) max_tokens: Option<u32>,
    /// The name of the model, if it is known.
    pub(super) model: Option<&'a str>,
    pub(super) price: Option<&'a Price>,
}

/// What one request has reserved with one meter.
#[derive(Clone, Copy)]
pub(super) struct Hold {
    tokens: u64,
    money: Money,
}

pub(super) enum Spent {
    /// It was never begun.
    Unsent,
    /// The provider answered with an error, and counted no tokens.
    Refused,
    /// Nobody knows: its response was not read whole. The estimate stands.
    Unread,
    /// What its usage tells.
    Read { tokens: Result<u64, Unknown>, output: Option<u64>, money: Result<Money, Unknown> },
}

impl Meter {
    pub(super) fn new(scope: Scope, limits: Limits, time: Timer) -> Self {
        let counters = Counters {
            time,
            requests: Gauge::default(),
            tokens: Gauge::default(),
            money: Gauge::default(),
            answers: 0,
            answered: 0,
            unknown_tokens: None,
            unknown_money: None,
        };
        Meter { scope, limits, money: limits.money.and_then(Money::from_f64), counters: Mutex::new(counters) }
    }

    /// The time left; `None`: without bound.
    pub(super) fn left(&self, now: Instant) -> Option<Duration> {
        let limit = self.limits.time?;
        Some(limit.saturating_sub(lock(&self.counters).time.passed(now)))
    }

    /// Why a request may not be begun. What is certain comes before what is unknown.
    pub(super) fn refusal(&self, now: Instant, intent: Intent<'_>) -> Option<Refusal> {
        if self.left(now) == Some(Duration::ZERO) {
            return self.limits.time.map(Refusal::Late);
        }
        let counters = lock(&self.counters);
        let Limits { requests, tokens, .. } = self.limits;
        counters
            .spent(requests, tokens, self.money)
            .or_else(|| counters.unenforceable(tokens, self.money, intent))
    }

    pub(super) fn reserve(&self, now: Instant, intent: Intent<'_>) -> Hold {
        let mut counters = lock(&self.counters);
        counters.time.begin_request(now);
        let mean = counters.answered.checked_div(counters.answers).unwrap_or(ANSWER);
        let output = intent.max_tokens.map_or(mean, u64::from);
        let money = intent.price.map(|price| price.of_tokens(intent.prompt, output)).unwrap_or_default();
        let hold = Hold { tokens: intent.prompt.saturating_add(output), money };
        counters.requests.reserve(1);
        counters.tokens.reserve(hold.tokens.into());
        counters.money.reserve(hold.money.0);
        hold
    }

    /// Puts what was spent in the place of what was reserved.
    pub(super) fn settle(&self, now: Option<Instant>, hold: Hold, spent: &Spent) {
        let (estimate, price) = (u128::from(hold.tokens), hold.money.0);
        let (requests, tokens, money) = match spent {
            Spent::Unsent => (0, 0, 0),
            Spent::Refused => (1, 0, 0),
            Spent::Unread => (1, estimate, price),
            // What an answer does not tell makes the limit unenforceable, which no estimate shall hide.
            Spent::Read { tokens, money, .. } => {
                let tokens = tokens.as_ref().map_or(0, |tokens| u128::from(*tokens));
                (1, tokens, money.as_ref().map_or(0, |money| money.0))
            }
        };
        let mut counters = lock(&self.counters);
        counters.time.end_request(now);
        counters.requests.settle(1, requests);
        counters.tokens.settle(estimate, tokens);
        counters.money.settle(price, money);
        if let Spent::Read { tokens, output, money } = spent {
            counters.learn(*output, tokens.as_ref().err(), money.as_ref().err());
        }
    }

    pub(super) fn carry_over(&self, spent: &Spending) {
        let mut counters = lock(&self.counters);
        counters.time.carry_over(spent.time);
        counters.requests.settle(0, spent.requests);
        counters.tokens.settle(0, spent.tokens);
        counters.money.settle(0, spent.money.0);
        counters.learn(None, None, spent.unknown_money.as_ref());
    }
}

impl Counters {
    /// Which limit is reached.
    fn spent(&self, requests: Option<u64>, tokens: Option<u64>, money: Option<Money>) -> Option<Refusal> {
        let in_flight = self.requests.reserved;
        match (requests, tokens, money) {
            (Some(limit), ..) if self.requests.is_full(limit.into()) => {
                Some(Refusal::requests(limit, self.requests))
            }
            (_, Some(limit), _) if self.tokens.is_full(limit.into()) => {
                Some(Refusal::tokens(limit, self.tokens, in_flight))
            }
            (.., Some(limit)) if self.money.is_full(limit.0) => {
                Some(Refusal::money(limit, self.money, in_flight))
            }
            _ => None,
        }
    }

    /// Which limit cannot be checked.
    fn unenforceable(
        &self,
        tokens: Option<u64>,
        money: Option<Money>,
        intent: Intent<'_>,
    ) -> Option<Refusal> {
        if let (Some(limit), Some(unknown)) = (tokens, &self.unknown_tokens) {
            return Some(Refusal::unknown_tokens(limit, unknown.clone()));
        }
        let unpriced = || intent.model.filter(|_| intent.price.is_none()).map(Unknown::price);
        Some(Refusal::unknown_money(money?, self.unknown_money.clone().or_else(unpriced)?))
    }

    /// What an answer says about later ones.
    fn learn(&mut self, output: Option<u64>, tokens: Option<&Unknown>, money: Option<&Unknown>) {
        if let Some(output) = output {
            self.answers = self.answers.saturating_add(1);
            self.answered = self.answered.saturating_add(output);
        }
        self.unknown_tokens = self.unknown_tokens.take().or_else(|| tokens.cloned());
        self.unknown_money = self.unknown_money.take().or_else(|| money.cloned());
    }
}
