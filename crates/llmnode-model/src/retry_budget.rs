//! The retries that the calls of one endpoint share, so that they do not make an outage worse.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The retries that a bucket holds unless the program says otherwise. 64 workers
/// whose requests take a minute to fail make 640 in ten minutes: 100 retries among
/// them are 1.19 requests a call, and faster failures less.
const CAPACITY: u32 = 100;

/// A retry costs five tokens, and a success without one returns one. At a random
/// failure rate p, a call gains (1 − p) tokens and loses 5 (p² + p³) to its two
/// retries, so the bucket stays full up to p = 0.32; where half of all requests
/// fail, the returned tokens pay for 0.2 retries a call.
const COST: u64 = 5;
const REWARD: u64 = 1;

/// The retries that all calls of an endpoint share, as a bucket of tokens that starts full.
///
/// A retry after a failure of the transport takes one token out. It returns the
/// token unless it fails the same way. Five requests that succeed at the first try
/// add one. So occasional faults cost nothing. When an endpoint is down, its calls
/// fail after one request each instead of three, with the same category and a
/// message that says why there was no retry.
///
/// Clones share the bucket. Each `OpenAi` has its own, which its clones share;
/// `OpenAiBuilder::retry_budget` sets another. The default has room for 100
/// retries. A program with more calls in flight needs more, since a rate limit may
/// send all of them into their retry at once. Corrections and adapted requests are
/// not counted.
///
/// ```
/// # use llmnode_model as llmnode;
/// use llmnode::{RetryBudget, ScriptedModel};
///
/// let budget = RetryBudget::new(500);
/// let model = ScriptedModel::new().with_retry_budget(budget.clone());
/// assert_eq!(budget.available(), Some(500));
/// ```
#[derive(Clone)]
pub struct RetryBudget(Option<Arc<Bucket>>);

struct Bucket {
    capacity: u64,
    tokens: AtomicU64,
}

impl RetryBudget {
    /// Creates a full bucket with room for this many retries. With 0, nothing is ever retried.
    pub fn new(retries: u32) -> Self {
        let capacity = u64::from(retries) * COST;
        RetryBudget(Some(Arc::new(Bucket {
            capacity,
            tokens: AtomicU64::new(capacity),
        })))
    }

    /// Creates a budget that grants every retry.
    pub fn unlimited() -> Self {
        RetryBudget(None)
    }

    /// Returns how many retries it would grant now. `None`: any number.
    pub fn available(&self) -> Option<u32> {
        let tokens = self.0.as_ref()?.tokens.load(Ordering::Relaxed);
        Some(u32::try_from(tokens / COST).unwrap_or(u32::MAX))
    }

    /// Returns how many retries it has room for. `None`: any number.
    pub fn capacity(&self) -> Option<u32> {
        let capacity = self.0.as_ref()?.capacity;
        Some(u32::try_from(capacity / COST).unwrap_or(u32::MAX))
    }

    fn withdraw(&self) -> Option<Withdrawal> {
        if let Some(bucket) = &self.0 {
            let before = bucket
                .tokens
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |tokens: u64| {
                    tokens.checked_sub(COST)
                })
                .ok()?;
            if before < 2 * COST {
                tracing::warn!(
                    target: "llmnode::retry_budget",
                    capacity = bucket.capacity / COST,
                    "the last retry of an endpoint's budget is taken: until its requests succeed \
                     again, failures are not retried",
                );
            }
        }
        Some(Withdrawal(self.clone()))
    }

    fn add(&self, tokens: u64) {
        if let Some(Bucket {
            capacity,
            tokens: held,
        }) = self.0.as_deref()
        {
            // Cannot fail: the closure always returns a value.
            let _ = held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |held: u64| {
                Some((held + tokens).min(*capacity))
            });
        }
    }
}

impl Default for RetryBudget {
    fn default() -> Self {
        RetryBudget::new(CAPACITY)
    }
}

impl fmt::Debug for RetryBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.available(), self.capacity()) {
            (Some(available), Some(capacity)) => {
                write!(f, "RetryBudget({available} of {capacity} retries)")
            }
            _ => f.write_str("RetryBudget(unlimited)"),
        }
    }
}

/// Returned on drop, however the call ends, unless the retry failed.
struct Withdrawal(RetryBudget);

impl Withdrawal {
    fn spend(mut self) {
        self.0 = RetryBudget::unlimited();
    }
}

impl Drop for Withdrawal {
    fn drop(&mut self) {
        self.0.add(COST);
    }
}

/// The retries of one call.
pub struct BudgetedRetries<'m> {
    budget: Option<&'m RetryBudget>,
    pending: Option<Withdrawal>,
}

impl<'m> BudgetedRetries<'m> {
    /// Those of a budget; without one they are unlimited.
    pub fn of_budget(budget: Option<&'m RetryBudget>) -> Self {
        BudgetedRetries {
            budget,
            pending: None,
        }
    }

    /// `answered`: whether the endpoint answered, however bad the answer; `None` if
    /// that is unknown.
    pub fn settle(&mut self, answered: Option<bool>) {
        match (self.pending.take(), answered) {
            (Some(withdrawal), Some(false)) => withdrawal.spend(),
            (None, Some(true)) => self
                .budget
                .into_iter()
                .for_each(|budget| budget.add(REWARD)),
            // Otherwise, the drop returns the tokens.
            _ => {}
        }
    }

    /// `Err` is appended to the message of the failure.
    pub fn grant(&mut self) -> Result<(), String> {
        let Some(budget) = self.budget else {
            return Ok(());
        };
        self.pending = budget.withdraw();
        match self.pending {
            Some(_) => Ok(()),
            None if budget.capacity() == Some(0) => Err(
                "; it was not retried, because the retry budget of the endpoint has no room"
                    .to_owned(),
            ),
            None => Err(
                "; it was not retried, because the retry budget of the endpoint is empty: too many \
                 of its requests failed recently"
                    .to_owned(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BoxFuture, Category, ChatModel, Completion, ModelError, Request, Sink};

    struct Model(Option<RetryBudget>);

    impl ChatModel for Model {
        fn complete<'a>(
            &'a self,
            _: &'a Request,
            _: &'a mut dyn Sink,
        ) -> BoxFuture<'a, Result<Completion, ModelError>> {
            Box::pin(async {
                Err(ModelError::unsent(
                    Category::ConfigError,
                    "it has a budget alone",
                ))
            })
        }

        fn retry_budget(&self) -> Option<&RetryBudget> {
            self.0.as_ref()
        }
    }

    fn model(budget: &RetryBudget) -> Model {
        Model(Some(budget.clone()))
    }

    #[test]
    fn a_failed_retry_is_paid_for_and_a_good_one_is_not() {
        let budget = RetryBudget::new(2);
        let model = model(&budget);
        let mut retries = BudgetedRetries::of(&model);
        retries.settle(Some(false));
        assert_eq!(budget.available(), Some(2), "the first try costs nothing");
        retries.grant().unwrap();
        assert_eq!(budget.available(), Some(1));
        retries.settle(Some(true));
        assert_eq!(budget.available(), Some(2));
        for left in [1, 0] {
            retries.grant().unwrap();
            retries.settle(Some(false));
            assert_eq!(budget.available(), Some(left));
        }
        let why = retries.grant().unwrap_err();
        assert!(
            why.contains("it was not retried") && why.contains("retry budget"),
            "{why}"
        );
        retries.settle(Some(false));
        assert_eq!(budget.available(), Some(0));
    }

    #[test]
    fn five_successes_without_a_retry_make_one() {
        let budget = RetryBudget::new(1);
        let model = model(&budget);
        let mut retries = BudgetedRetries::of(&model);
        retries.grant().unwrap();
        retries.settle(Some(false));
        for _ in 0..4 {
            retries.settle(Some(true));
        }
        assert_eq!(budget.available(), Some(0));
        for _ in 0..9 {
            retries.settle(Some(true));
        }
        assert_eq!(
            budget.available(),
            Some(1),
            "and never more than there is room for"
        );
    }

    #[test]
    fn an_attempt_that_says_nothing_of_the_endpoint_changes_nothing() {
        let budget = RetryBudget::new(2);
        let model = model(&budget);
        let mut retries = BudgetedRetries::of(&model);
        retries.grant().unwrap();
        retries.settle(None);
        assert_eq!(budget.available(), Some(2));
        retries.grant().unwrap();
        retries.settle(Some(false));
        (0..9).for_each(|_| retries.settle(None));
        assert_eq!(budget.available(), Some(1));
    }

    #[test]
    fn a_call_that_is_dropped_gives_its_retry_back() {
        let budget = RetryBudget::new(3);
        let model = model(&budget);
        let mut retries = BudgetedRetries::of(&model);
        retries.grant().unwrap();
        assert_eq!(budget.available(), Some(2));
        drop(retries);
        assert_eq!(budget.available(), Some(3));
    }

    #[test]
    fn none_and_unlimited() {
        let model = model(&RetryBudget::unlimited());
        let mut retries = BudgetedRetries::of(&model);
        for _ in 0..1000 {
            retries.grant().unwrap();
            retries.settle(Some(false));
        }
        assert_eq!(
            format!("{:?}", model.retry_budget().unwrap()),
            "RetryBudget(unlimited)"
        );
        let model = Model(None);
        assert!(BudgetedRetries::of(&model).grant().is_ok());
        let none = RetryBudget::new(0);
        assert_eq!(
            (none.available(), none.withdraw().is_none()),
            (Some(0), true)
        );
        let model = Model(Some(none));
        assert!(
            BudgetedRetries::of(&model)
                .grant()
                .unwrap_err()
                .ends_with("has no room")
        );
        assert_eq!(
            format!("{:?}", RetryBudget::default()),
            "RetryBudget(100 of 100 retries)"
        );
        assert_eq!(RetryBudget::new(u32::MAX).capacity(), Some(u32::MAX));
    }

    #[test]
    fn threads_neither_make_nor_lose_tokens() {
        let budget = RetryBudget::new(7);
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    for _ in 0..10_000 {
                        drop(budget.withdraw());
                    }
                });
            }
        });
        assert_eq!(budget.available(), Some(7));
    }
}
