//! The counters of one scope: what was spent, and what is reserved.
//!
//! A limit is kept for what was *spent*; a request waits as long as *spent and
//! reserved* together leave no room for it. So a limit may be passed by the last
//! request, if that takes more than it has reserved, but never by two at once.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use llmnode_model::TokenUsage;
use llmnode_model::internal::lock;
use tokio::sync::{Notify, Semaphore, SemaphorePermit};

use super::batch_name::BatchName;
use super::limits::Limits;
use super::prior_spend::Spending;
use super::prompt::PromptTokens;
use super::quantity::Quantity;
use super::refusal::{Refusal, Scope, Unknown};
use super::request_tokens::AnswerTokens;
use crate::money::Money;
use crate::prices::{Price, PriceTier};

/// Assumed for an answer while the scope has seen none and `max_tokens` is not set.
const ANSWER: u64 = 256;
/// Assumed for one of a model that is sent a default, and may think.
const ANSWER_BELOW_DEFAULT: u64 = 8_192;

/// The limits of one scope, with what counts towards them.
pub(super) struct Meter {
    pub(super) scope: Scope,
    pub(super) limits: Limits,
    /// The limit of money, exactly. `None`: there is none, or it is no amount,
    /// which `faults` reports.
    money: Option<Money>,
    counters: Mutex<Counters>,
    /// One permit, held by the first request in the queue until it leaves.
    queue: Semaphore,
    /// Told when a reservation is settled, so that the first in the queue looks again.
    capacity: Notify,
}

struct Counters {
    /// When the first request began.
    began: Option<Instant>,
    requests: Quantity,
    tokens: Quantity,
    money: Quantity,
    tool_calls: u64,
    /// Of what is reserved, what requests of batches hold for up to a day.
    batch_requests: u64,
    in_batches: Amount,
    /// Whose they are.
    batch: Option<Arc<BatchName>>,
    /// Answers whose tokens were reported, and those tokens: for the mean.
    answers: u64,
    answered: u64,
    /// Why the limit of tokens cannot be enforced any longer. It stays: what one
    /// answer hid does not come back.
    unknown_tokens: Option<Unknown>,
    unknown_money: Option<Unknown>,
    /// How many requests wait.
    queued: usize,
}

/// Whether there is room for a request.
pub(super) enum Capacity {
    Free,
    /// There may be, when others have settled.
    Later,
    Never(Refusal),
}

/// What a request will take, before it is made.
#[derive(Clone, Copy)]
pub(super) struct Intent<'a> {
    /// The prompt by its characters alone.
    pub(super) prompt: PromptTokens,
    /// The prompt as the provider is expected to count it.
    pub(super) expected: PromptTokens,
    pub(super) answer: AnswerTokens,
    /// Tokens that the model may think with, if nothing else is known of its answers.
    pub(super) thinking: u64,
    /// How many the request asks for.
    pub(super) answers: u64,
    pub(super) model: Option<&'a str>,
    pub(super) price: Option<&'a Price>,
    /// When the table of prices was made, for the message about a missing one.
    pub(super) prices_made: Option<&'a str>,
    /// How it is asked, for that message.
    pub(super) tier: PriceTier,
    /// Of the map, if it is asked by a batch.
    pub(super) batch: Option<&'a Arc<BatchName>>,
    /// What is reserved in place of the most that it can use, if that is less.
    pub(super) mean: Option<Amount>,
}

/// What one request has reserved at one meter.
#[derive(Clone, Copy)]
pub(super) struct Hold {
    pub(super) prompt: PromptTokens,
    /// What is reserved: the most that the request is expected to take.
    most: Amount,
    /// They count if the usage is not reported.
    expected_input: u64,
    expected_output: u64,
    answers: u64,
    in_batch: bool,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Amount {
    pub(super) tokens: u64,
    pub(super) money: Money,
}

/// What came of a request.
pub(super) enum Spent<'p> {
    /// It never reached the provider.
    Unsent,
    /// The provider answered with an error, and counted no tokens.
    Refused,
    /// Not all is reported, as where a response breaks off: what is counts, and the
    /// rest by its estimate.
    Estimated {
        usage: TokenUsage,
        /// About how many tokens of an answer had come. `None`: nobody knows of any.
        answered: Option<u64>,
        price: Option<&'p Price>,
    },
    /// `Err`: the answer did not report the figure.
    Read {
        tokens: Result<u64, Unknown>,
        output: Option<u64>,
        money: Result<Money, Unknown>,
    },
}

impl Meter {
    pub(super) fn new(scope: Scope, limits: Limits) -> Self {
        let counters = Counters {
            began: None,
            requests: Quantity::default(),
            tokens: Quantity::default(),
            money: Quantity::default(),
            tool_calls: 0,
            batch_requests: 0,
            in_batches: Amount::default(),
            batch: None,
            answers: 0,
            answered: 0,
            unknown_tokens: None,
            unknown_money: None,
            queued: 0,
        };
        let money = limits.money.and_then(Money::from_f64);
        let queue = Semaphore::new(1);
        let capacity = Notify::new();
        Meter {
            scope,
            limits,
            money,
            counters: Mutex::new(counters),
            queue,
            capacity,
        }
    }

    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = self.limits.faults();
        if self.limits.time.is_some() && !matches!(self.scope, Scope::Run) {
            faults.push("time limits only a run; set `deadline` for a call instead".to_owned());
        }
        faults
    }

    /// Whether an estimate of the request is needed at all.
    pub(super) fn counts_tokens(&self) -> bool {
        self.limits.tokens.is_some() || self.limits.money.is_some()
    }

    pub(super) fn begin_time(&self, now: Instant) {
        lock(&self.counters).began.get_or_insert(now);
    }

    pub(super) fn left(&self, now: Instant) -> Option<Duration> {
        let limit = self.limits.time?;
        let began = lock(&self.counters).began;
        Some(began.map_or(limit, |began| {
            limit.saturating_sub(now.saturating_duration_since(began))
        }))
    }

    /// Certain refusals come before unknown ones, and both before what a wait may
    /// change. A request that is not `queued` does not overtake one that is.
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
            None if counters.is_full(self.limits, self.money) => {
                let of_batch = counters.held_by_batch(self.limits, self.money);
                match of_batch.filter(|_| intent.batch.is_none()) {
                    Some(refusal) => Capacity::Never(refusal),
                    None => Capacity::Later,
                }
            }
            None if !queued && counters.queued > 0 => Capacity::Later,
            None => Capacity::Free,
        }
    }

    /// The refusal of so many calls, if they are too many.
    pub(super) fn check_tools(&self, count: u64) -> Option<Refusal> {
        let limit = self.limits.tool_calls?;
        let executed = lock(&self.counters).tool_calls;
        (executed.saturating_add(count) > limit).then(|| Refusal::tools(limit, executed, count))
    }

    pub(super) fn add_tools(&self, count: u64) {
        let mut counters = lock(&self.counters);
        counters.tool_calls = counters.tool_calls.saturating_add(count);
    }

    /// Takes a place at the end of the queue, which is left when the ticket is dropped.
    pub(super) fn join_queue(&self) -> QueueTicket<'_> {
        lock(&self.counters).queued += 1;
        QueueTicket {
            meter: self,
            turn: None,
        }
    }

    /// Takes the room for a request that has found it free. The caller holds the
    /// gate between the two.
    pub(super) fn reserve(&self, now: Instant, intent: Intent<'_>) -> Hold {
        let mut counters = lock(&self.counters);
        counters.began.get_or_insert(now);
        let input = intent.expected.most;
        let output = counters.expected_output(intent);
        let money = match intent.price {
            Some(price) => price.most_of_tokens(input, output),
            None => Money::default(),
        };
        let mut most = Amount {
            tokens: input.saturating_add(output),
            money,
        };
        if let Some(mean) = intent.mean {
            most.tokens = most.tokens.min(mean.tokens);
            most.money = most.money.min(mean.money);
        }
        if let Some(batch) = intent.batch {
            counters.batch_requests += 1;
            counters.in_batches.add(most);
            counters.batch = Some(Arc::clone(batch));
        }
        counters.requests.reserve(1);
        counters.tokens.reserve(most.tokens.into());
        counters.money.reserve(most.money.0);
        Hold {
            prompt: intent.prompt,
            most,
            expected_input: intent.expected.estimate,
            expected_output: output,
            answers: intent.answers,
            in_batch: intent.batch.is_some(),
        }
    }

    /// More of a request is known, which is under way: it has at least so many tokens of a prompt.
    pub(super) fn raise(&self, hold: &mut Hold, input: u64, price: Option<&Price>) {
        let tokens = input.saturating_add(hold.expected_output);
        let money = match price {
            Some(price) => price.of_tokens(input, hold.expected_output),
            None => Money::default(),
        };
        let before = hold.most;
        if tokens <= before.tokens && money <= before.money {
            return;
        }
        hold.most = Amount {
            tokens: before.tokens.max(tokens),
            money: before.money.max(money),
        };
        let more = Amount {
            tokens: hold.most.tokens - before.tokens,
            money: Money(hold.most.money.0.saturating_sub(before.money.0)),
        };
        let mut counters = lock(&self.counters);
        if hold.in_batch {
            counters.in_batches.add(more);
        }
        counters
            .tokens
            .reserve((hold.most.tokens - before.tokens).into());
        counters
            .money
            .reserve(hold.most.money.0.saturating_sub(before.money.0));
    }

    /// Counts what was spent in place of what was reserved, and lets the queue look again.
    pub(super) fn settle(&self, hold: Hold, spent: &Spent<'_>) {
        let reserved = hold.most;
        let amount = hold.spent_amount(spent);
        let requests = match spent {
            Spent::Unsent => 0,
            Spent::Refused | Spent::Estimated { .. } | Spent::Read { .. } => 1,
        };
        let mut counters = lock(&self.counters);
        if hold.in_batch {
            counters.leave_batch(reserved);
        }
        counters.requests.settle(1, requests);
        counters
            .tokens
            .settle(reserved.tokens.into(), amount.tokens.into());
        counters.money.settle(reserved.money.0, amount.money.0);
        if let Spent::Read {
            tokens,
            output,
            money,
        } = spent
        {
            counters.learn(*output, tokens.as_ref().err(), money.as_ref().err());
        }
        // Wakers are the executor's code: none is called under the lock.
        drop(counters);
        self.capacity.notify_one();
    }

    /// Lets the queue look again, since requests reserve less from now on.
    pub(super) fn look_again(&self) {
        self.capacity.notify_one();
    }

    /// Counts what was never reserved here: it was spent in another process.
    pub(super) fn add_prior_spend(&self, spent: &Spending) {
        let mut counters = lock(&self.counters);
        counters.requests.settle(0, spent.requests);
        counters.tokens.settle(0, spent.tokens);
        counters.money.settle(0, spent.money.0);
        counters.tool_calls = counters.tool_calls.saturating_add(spent.tool_calls);
        counters.learn(None, None, spent.unknown_money.as_ref());
    }
}

impl Amount {
    fn add(&mut self, more: Amount) {
        self.tokens = self.tokens.saturating_add(more.tokens);
        self.money = self.money.plus(more.money);
    }
}

impl Hold {
    fn spent_amount(&self, spent: &Spent<'_>) -> Amount {
        match spent {
            Spent::Unsent | Spent::Refused => Amount::default(),
            Spent::Estimated {
                usage,
                answered,
                price,
            } => self.estimate(*usage, *answered, *price),
            // No estimate may hide that the limit cannot be enforced: what is not
            // reported counts nothing here, and makes the meter refuse the next
            // request.
            Spent::Read { tokens, money, .. } => Amount {
                tokens: tokens.as_ref().copied().unwrap_or_default(),
                money: money.as_ref().copied().unwrap_or_default(),
            },
        }
    }

    /// What is reported, and an estimate of the rest.
    fn estimate(&self, usage: TokenUsage, answered: Option<u64>, price: Option<&Price>) -> Amount {
        // Some servers report a 0 at first.
        let input = usage
            .input
            .filter(|input| *input > 0)
            .unwrap_or(self.expected_input);
        // Of several answers one is read, so that the others are as long as it.
        let answered = answered.map(|tokens| tokens.saturating_mul(self.answers));
        let output = usage.output.max(answered).unwrap_or(self.expected_output);
        let mut whole = usage;
        whole.input = Some(input);
        whole.output = Some(output);
        let money = match price {
            Some(price) => price
                .of(&whole)
                .unwrap_or_else(|| price.of_tokens(input, output)),
            None => Money::default(),
        };
        Amount {
            tokens: input.saturating_add(output).max(usage.total.unwrap_or(0)),
            money,
        }
    }
}

/// A place in the queue of a meter. Passes its turn on when dropped, also by a panic.
pub(super) struct QueueTicket<'m> {
    meter: &'m Meter,
    turn: Option<SemaphorePermit<'m>>,
}

impl QueueTicket<'_> {
    pub(super) fn is_for(&self, meter: &Meter) -> bool {
        std::ptr::eq(self.meter, meter)
    }

    /// Waits until it is the first in the queue, or if it is, until there may be room.
    pub(super) async fn wait_turn(&mut self) {
        match self.turn {
            // The semaphore is never closed.
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
    /// The mean is that of requests, whose answers a node asks for in the same number.
    fn expected_output(&self, intent: Intent<'_>) -> u64 {
        let answers = intent.answers;
        match intent.answer {
            AnswerTokens::AtMost(tokens) => u64::from(tokens).saturating_mul(answers),
            AnswerTokens::BelowDefault(most) => {
                let most = u64::from(most).saturating_mul(answers);
                self.mean_output(ANSWER_BELOW_DEFAULT, intent).min(most)
            }
            AnswerTokens::Unknown => self.mean_output(ANSWER, intent),
        }
    }

    /// The mean of the answers so far, or `first` for each answer while there is none.
    fn mean_output(&self, first: u64, intent: Intent<'_>) -> u64 {
        match self.answered.checked_div(self.answers) {
            Some(mean) => mean,
            None => first
                .saturating_add(intent.thinking)
                .saturating_mul(intent.answers),
        }
    }

    /// The refusal, if a limit is reached by what was spent: no wait can change that.
    fn spent(&self, limits: Limits, money: Option<Money>) -> Option<Refusal> {
        match (limits.requests, limits.tokens, money) {
            (Some(limit), ..) if self.requests.spent >= limit.into() => {
                Some(Refusal::requests(limit, self.requests))
            }
            (_, Some(limit), _) if self.tokens.spent >= limit.into() => {
                Some(Refusal::tokens(limit, self.tokens))
            }
            (.., Some(limit)) if self.money.spent >= limit.0 => {
                Some(Refusal::money(limit, self.money))
            }
            _ => None,
        }
    }

    /// Whether what is reserved leaves no room: that changes when it is settled.
    fn is_full(&self, limits: Limits, money: Option<Money>) -> bool {
        limits
            .requests
            .is_some_and(|limit| self.requests.is_full(limit.into()))
            || limits
                .tokens
                .is_some_and(|limit| self.tokens.is_full(limit.into()))
            || money.is_some_and(|limit| self.money.is_full(limit.0))
    }

    /// The refusal, if what requests of a batch have reserved leaves no room,
    /// whatever becomes of all others: it may take a day.
    fn held_by_batch(&self, limits: Limits, money: Option<Money>) -> Option<Refusal> {
        let batch = self.batch.as_ref()?;
        let requests = Quantity {
            spent: self.requests.spent,
            reserved: self.batch_requests.into(),
        };
        let tokens = Quantity {
            spent: self.tokens.spent,
            reserved: self.in_batches.tokens.into(),
        };
        let cost = Quantity {
            spent: self.money.spent,
            reserved: self.in_batches.money.0,
        };
        match (limits.requests, limits.tokens, money) {
            (Some(limit), ..) if requests.is_full(limit.into()) => {
                Some(Refusal::requests_in_batch(limit, batch.describe()))
            }
            (_, Some(limit), _) if tokens.is_full(limit.into()) => {
                Some(Refusal::tokens_in_batch(limit, batch.describe()))
            }
            (.., Some(limit)) if cost.is_full(limit.0) => {
                Some(Refusal::money_in_batch(limit, batch.describe()))
            }
            _ => None,
        }
    }

    fn leave_batch(&mut self, reserved: Amount) {
        self.batch_requests = self.batch_requests.saturating_sub(1);
        let held = &mut self.in_batches;
        held.tokens = held.tokens.saturating_sub(reserved.tokens);
        held.money = Money(held.money.0.saturating_sub(reserved.money.0));
        if self.batch_requests == 0 {
            self.batch = None;
        }
    }

    /// The refusal, if a figure that a limit needs is unknown, or will be.
    fn unenforceable(
        &self,
        tokens: Option<u64>,
        money: Option<Money>,
        intent: Intent<'_>,
    ) -> Option<Refusal> {
        if let (Some(limit), Some(unknown)) = (tokens, &self.unknown_tokens) {
            return Some(Refusal::unknown_tokens(limit, unknown.clone()));
        }
        let limit = money?;
        if let Some(unknown) = &self.unknown_money {
            return Some(Refusal::unknown_money(limit, unknown.clone()));
        }
        if intent.tier == PriceTier::Other {
            return Some(Refusal::unknown_money(limit, Unknown::OtherPrice));
        }
        match (intent.model, intent.price) {
            (Some(model), None) => {
                let unknown = Unknown::price_in(intent.tier, model, intent.prices_made);
                Some(Refusal::unknown_money(limit, unknown))
            }
            _ => None,
        }
    }

    /// Notes what an answer took, and what it did not report. Of several unknown
    /// figures the first is told.
    fn learn(&mut self, output: Option<u64>, tokens: Option<&Unknown>, money: Option<&Unknown>) {
        if let Some(output) = output {
            self.answers = self.answers.saturating_add(1);
            self.answered = self.answered.saturating_add(output);
        }
        self.unknown_tokens = self.unknown_tokens.take().or_else(|| tokens.cloned());
        self.unknown_money = self.unknown_money.take().or_else(|| money.cloned());
    }
}
