//! The counters of one scope.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use tokio::sync::{Notify, Semaphore, SemaphorePermit};

use super::limits::Limits;
use super::prior_spend::Spending;
use super::prompt::PromptTokens;
use super::quantity::Quantity;
use super::refusal::{Refusal, Scope, Unknown};
use crate::money::Money;
use crate::panics::lock;
use crate::prices::Price;

/// What an answer is taken to have, in tokens, while the scope has seen none and `max_tokens` is not set.
const ANSWER: u64 = 256;

pub(super) struct Meter {
    pub(super) scope: Scope,
    pub(super) limits: Limits,
    /// The limit of money in whole numbers.
    money: Option<Money>,
    counters: Mutex<Counters>,
    /// The turn, which the first in line has until it leaves.
    queue: Semaphore,
    /// Wakes the first in line.
    capacity: Notify,
}

struct Counters {
    /// When the first request began.
    began: Option<Instant>,
    requests: Quantity,
    tokens: Quantity,
    money: Quantity,
    tool_calls: u64,
    /// How many answers told their tokens, and how many these were.
    answers: u64,
    answered: u64,
    unknown_tokens: Option<Unknown>,
    unknown_money: Option<Unknown>,
    /// How many requests wait for room.
    queued: usize,
}

/// Whether a request may be begun.
pub(super) enum Capacity {
    Free,
    /// Not before requests in flight have settled.
    Later,
    Never(Refusal),
}

/// A request about to be begun, as far as its spending is known.
#[derive(Clone, Copy)]
pub(super) struct Intent<'a> {
    pub(super) prompt: PromptTokens,
    /// With what the model counted before.
    pub(super) expected: PromptTokens,
    pub(super) max_tokens: Option<u32>,
    /// The name of the model, if it is known.
    pub(super) model: Option<&'a str>,
    pub(super) price: Option<&'a Price>,
}

/// What one request has reserved with one meter.
#[derive(Clone, Copy)]
pub(super) struct Hold {
    pub(super) prompt: PromptTokens,
    most: Amount,
    /// Counts if the usage is not reported.
    estimate: Amount,
}

#[derive(Clone, Copy)]
struct Amount {
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
    pub(super) fn new(scope: Scope, limits: Limits) -> Self {
        let counters = Counters {
            began: None,
            requests: Quantity::default(),
            tokens: Quantity::default(),
            money: Quantity::default(),
            tool_calls: 0,
            answers: 0,
            answered: 0,
            unknown_tokens: None,
            unknown_money: None,
            queued: 0,
        };
        let money = limits.money.and_then(Money::from_f64);
        let (queue, capacity) = (Semaphore::new(1), Notify::new());
        Meter { scope, limits, money, counters: Mutex::new(counters), queue, capacity }
    }

    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = self.limits.faults();
        if self.limits.time.is_some() && !matches!(self.scope, Scope::Run) {
            faults.push("time limits only a run; set `deadline` for a call instead".to_owned());
        }
        faults
    }

    pub(super) fn begin_time(&self, now: Instant) {
        lock(&self.counters).began.get_or_insert(now);
    }

    /// The time left; `None`: without bound.
    pub(super) fn left(&self, now: Instant) -> Option<Duration> {
        let limit = self.limits.time?;
        let began = lock(&self.counters).began;
        Some(began.map_or(limit, |began| limit.saturating_sub(now.saturating_duration_since(began))))
    }

    /// Whether a request may start. What is certain comes before what is unknown, and that before what a wait may change.
    /// A request that is not `queued` does not overtake one that is.
    pub(super) fn capacity(&self, now: Instant, intent: Intent<'_>, queued: bool) -> Capacity {
        if self.left(now) == Some(Duration::ZERO) {
            return Capacity::Never(Refusal::Late(self.limits.time.unwrap_or_default()));
        }
        let counters = lock(&self.counters);
        let never = counters
            .spent(self.limits, self.money)
            .or_else(|| counters.unenforceable(self.limits.tokens, self.money, intent));
        match never {
            Some(refusal) => Capacity::Never(refusal),
            None if counters.is_full(self.limits, self.money) => Capacity::Later,
            None if !queued && counters.queued > 0 => Capacity::Later,
            None => Capacity::Free,
        }
    }

    /// Why so many further tools may not be executed.
    pub(super) fn check_tools(&self, count: u64) -> Option<Refusal> {
        let limit = self.limits.tool_calls?;
        let executed = lock(&self.counters).tool_calls;
        (executed.saturating_add(count) > limit).then(|| Refusal::tools(limit, executed, count))
    }

    pub(super) fn add_tools(&self, count: u64) {
        let mut counters = lock(&self.counters);
        counters.tool_calls = counters.tool_calls.saturating_add(count);
    }

    /// A place at the end of the line.
    pub(super) fn join_queue(&self) -> QueueTicket<'_> {
        lock(&self.counters).queued += 1;
        QueueTicket { meter: self, turn: None }
    }

    pub(super) fn reserve(&self, now: Instant, intent: Intent<'_>) -> Hold {
        let mut counters = lock(&self.counters);
        counters.began.get_or_insert(now);
        let mean = counters.answered.checked_div(counters.answers).unwrap_or(ANSWER);
        let output = intent.max_tokens.map_or(mean, u64::from);
        let amount = |prompt: u64| Amount {
            tokens: prompt.saturating_add(output),
            money: intent.price.map(|price| price.of_tokens(prompt, output)).unwrap_or_default(),
        };
        let Intent { prompt, expected, .. } = intent;
        let hold = Hold { prompt, most: amount(expected.most), estimate: amount(expected.estimate) };
        counters.requests.reserve(1);
        counters.tokens.reserve(hold.most.tokens.into());
        counters.money.reserve(hold.most.money.0);
        hold
    }

    /// Puts what was spent in the place of what was reserved.
    pub(super) fn settle(&self, Hold { most, estimate, .. }: Hold, spent: &Spent) {
        let (requests, tokens, money) = match spent {
            Spent::Unsent => (0, 0, 0),
            Spent::Refused => (1, 0, 0),
            Spent::Unread => (1, estimate.tokens.into(), estimate.money.0),
            // What an answer does not tell makes the limit unenforceable, which no estimate shall hide.
            Spent::Read { tokens, money, .. } => {
                let tokens = tokens.as_ref().map_or(0, |tokens| u128::from(*tokens));
                (1, tokens, money.as_ref().map_or(0, |money| money.0))
            }
        };
        let mut counters = lock(&self.counters);
        counters.requests.settle(1, requests);
        counters.tokens.settle(most.tokens.into(), tokens);
        counters.money.settle(most.money.0, money);
        if let Spent::Read { tokens, output, money } = spent {
            counters.learn(*output, tokens.as_ref().err(), money.as_ref().err());
        }
        // Wakers are code of the executor: none wakes under the lock.
        drop(counters);
        self.capacity.notify_one();
    }

    pub(super) fn add_prior_spend(&self, spent: &Spending) {
        let mut counters = lock(&self.counters);
        counters.requests.settle(0, spent.requests);
        counters.tokens.settle(0, spent.tokens);
        counters.money.settle(0, spent.money.0);
        counters.tool_calls = counters.tool_calls.saturating_add(spent.tool_calls);
        counters.learn(None, None, spent.unknown_money.as_ref());
    }
}

/// A place in the line for a meter's room. Dropped, also by a panic, it hands its turn on.
pub(super) struct QueueTicket<'m> {
    meter: &'m Meter,
    /// There as soon as this is the first in line.
    turn: Option<SemaphorePermit<'m>>,
}

impl QueueTicket<'_> {
    pub(super) fn is_for(&self, meter: &Meter) -> bool {
        std::ptr::eq(self.meter, meter)
    }

    /// Waits until this is the first in line; and once it is, until there may be room.
    pub(super) async fn wait_turn(&mut self) {
        match self.turn {
            // It is never closed.
            None => self.turn = self.meter.queue.acquire().await.ok(),
            Some(_) => self.meter.capacity.notified().await,
        }
    }
}

impl Drop for QueueTicket<'_> {
    fn drop(&mut self) {
        lock(&self.meter.counters).queued -= 1;
    }
}

impl Counters {
    /// Which limit is reached by what is spent.
    fn spent(&self, limits: Limits, money: Option<Money>) -> Option<Refusal> {
        match (limits.requests, limits.tokens, money) {
            (Some(limit), ..) if self.requests.spent >= limit.into() => {
                Some(Refusal::requests(limit, self.requests))
            }
            (_, Some(limit), _) if self.tokens.spent >= limit.into() => {
                Some(Refusal::tokens(limit, self.tokens))
            }
            (.., Some(limit)) if self.money.spent >= limit.0 => Some(Refusal::money(limit, self.money)),
            _ => None,
        }
    }

    /// Whether requests in flight have reserved what is left.
    fn is_full(&self, limits: Limits, money: Option<Money>) -> bool {
        limits.requests.is_some_and(|limit| self.requests.is_full(limit.into()))
            || limits.tokens.is_some_and(|limit| self.tokens.is_full(limit.into()))
            || money.is_some_and(|limit| self.money.is_full(limit.0))
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
