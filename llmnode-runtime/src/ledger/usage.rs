//! Figures of tokens and money, each known or unknown. Unknown is never zero, and
//! does not spoil the sums.

use std::fmt::{self, Display};
use std::ops::AddAssign;

use llmnode_model::TokenUsage;
use llmnode_reader::text::plural;
use serde::{Deserialize, Serialize};

use crate::money::Money;

/// A sum of figures, some of which may be unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Tokens {
    /// The sum of the known figures.
    pub known: u64,
    /// How many requests did not report theirs.
    pub unreported_calls: u64,
}

impl Tokens {
    /// Returns the sum if every request reported its figure.
    pub fn total(&self) -> Option<u64> {
        (self.unreported_calls == 0).then_some(self.known)
    }

    fn add(&mut self, tokens: Option<u64>) {
        match tokens {
            Some(tokens) => self.known = self.known.saturating_add(tokens),
            None => self.unreported_calls = self.unreported_calls.saturating_add(1),
        }
    }

    fn merge(&mut self, other: Tokens) {
        self.known = self.known.saturating_add(other.known);
        self.unreported_calls = self.unreported_calls.saturating_add(other.unreported_calls);
    }
}

/// The sum of what requests cost, in the unit of the run's prices. Some costs may be unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Cost {
    known: Money,
    /// How many requests have no known cost: their model has no price, or they did
    /// not report their usage, or they wrote to a cache and the price has none for
    /// that.
    pub unknown_calls: u64,
}

impl Cost {
    /// Returns the sum of the known costs.
    pub fn known(&self) -> f64 {
        self.known.to_f64()
    }

    /// Returns the sum if the cost of every request is known.
    pub fn total(&self) -> Option<f64> {
        (self.unknown_calls == 0).then(|| self.known())
    }

    fn add(&mut self, cost: Option<f64>) {
        match cost.and_then(Money::from_f64) {
            Some(cost) => self.known = self.known.plus(cost),
            None => self.unknown_calls = self.unknown_calls.saturating_add(1),
        }
    }

    fn merge(&mut self, other: Cost) {
        self.known = self.known.plus(other.known);
        self.unknown_calls = self.unknown_calls.saturating_add(other.unknown_calls);
    }
}

/// The usage of several requests.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{NodeError, Reply, Run, ScriptedModel};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let run = Run::new(ScriptedModel::new().reply(Reply::text("7").usage(None)));
/// run.extract::<u8>("seven").await?;
/// let usage = run.ledger().total();
/// assert_eq!(usage.total.total(), None); // unknown is not 0
/// assert_eq!(usage.to_string(), "1 request, 0 tokens, 1 request without a report");
///
/// # Ok::<(), NodeError>(()) }).unwrap();
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "UsageJson")]
#[non_exhaustive]
pub struct Usage {
    /// How many requests were sent, or may have been.
    pub requests: u64,
    /// Tokens of the prompts.
    pub input: Tokens,
    /// Tokens of the answers.
    pub output: Tokens,
    /// All tokens: the provider's totals, or else input plus output.
    pub total: Tokens,
    /// Prompt tokens that came from a cache, a part of `input`.
    pub cached: Tokens,
    /// Prompt tokens that were written to a cache, a part of `input`.
    pub cache_write: Tokens,
    /// Answer tokens that were spent on reasoning, a part of `output`.
    pub reasoning: Tokens,
    /// The cost, for models with [prices](crate::Run::with_prices).
    pub cost: Cost,
    /// An estimate for the requests that reported no total, from their characters.
    /// It is in none of the sums above.
    pub estimated: u64,
}

impl Usage {
    /// Returns which share of the prompts' tokens came from the provider's cache,
    /// from 0 to 1. `None`: some request did not report it, or there are none.
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// # fn example(run: &llmnode::Run) {
    /// if let Some(share) = run.ledger().total().cached_share() {
    ///     println!("{:.0} % of the prompts came from the cache", 100.0 * share);
    /// }
    /// # }
    /// ```
    pub fn cached_share(&self) -> Option<f64> {
        let cached = self.cached.total()?;
        let input = self.input.total().filter(|input| *input > 0)?;
        #[expect(clippy::cast_precision_loss, reason = "a share needs no more digits")]
        let share = cached as f64 / input as f64;
        // Some providers count cached tokens beside the prompt's.
        Some(share.min(1.0))
    }

    pub(super) fn add_one(&mut self, usage: TokenUsage, cost: Option<f64>) {
        self.requests = self.requests.saturating_add(1);
        self.input.add(usage.input);
        self.output.add(usage.output);
        self.total.add(usage.total());
        self.cached.add(usage.cached);
        self.cache_write.add(usage.cache_write);
        self.reasoning.add(usage.reasoning);
        self.cost.add(cost);
    }

    pub(super) fn unreported() -> Self {
        let mut usage = Usage::default();
        usage.add_one(TokenUsage::default(), None);
        usage
    }

    pub(crate) fn merge(&mut self, other: &Usage) {
        self.requests = self.requests.saturating_add(other.requests);
        self.input.merge(other.input);
        self.output.merge(other.output);
        self.total.merge(other.total);
        self.cached.merge(other.cached);
        self.cache_write.merge(other.cache_write);
        self.reasoning.merge(other.reasoning);
        self.cost.merge(other.cost);
        self.estimated = self.estimated.saturating_add(other.estimated);
    }
}

/// Writes a sum, such as `1,403 tokens, 1 request without a report`.
impl Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.known == 1 { "token" } else { "tokens" };
        write!(f, "{} {word}", with_commas(self.known))?;
        match self.unreported_calls {
            0 => Ok(()),
            some => write!(f, ", {} without a report", plural(some, "request")),
        }
    }
}

/// Writes a sum, such as `0.0028, 1 request of unknown cost`.
impl Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.known)?;
        match self.unknown_calls {
            0 => Ok(()),
            some => write!(f, ", {} of unknown cost", plural(some, "request")),
        }
    }
}

/// Writes requests and tokens, and what they cost if any of it is known, such as
/// `3 requests, 1,403 tokens, 1 request without a report, cost 0.0028`.
impl Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", plural(self.requests, "request"), self.total)?;
        let priced = self.cost.unknown_calls < self.requests;
        if priced {
            write!(f, ", cost {}", self.cost)
        } else {
            Ok(())
        }
    }
}

fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let (head, tail) = digits.split_at(first);
    let groups = tail
        .as_bytes()
        .chunks(3)
        .map(|group| String::from_utf8_lossy(group));
    let head = Some(head.into()).filter(|_| first > 0);
    head.into_iter().chain(groups).collect::<Vec<_>>().join(",")
}

/// Adds figures that you select, such as those of all calls with one label.
impl AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        self.merge(other);
    }
}

/// Adds figures that you select, such as those of all calls with one label.
impl AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        self.merge(&other);
    }
}

/// Boxed, since most calls have none.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Replayed(Option<Box<Usage>>);

impl Replayed {
    pub(crate) fn add(&mut self, usage: &Usage) {
        self.0.get_or_insert_default().merge(usage);
    }

    pub(crate) fn merge(&mut self, other: &Replayed) {
        other.0.iter().for_each(|usage| self.add(usage));
    }

    pub(crate) fn usage(&self) -> Usage {
        self.0.as_deref().copied().unwrap_or_default()
    }

    pub(crate) fn is_none(&self) -> bool {
        self.0.is_none()
    }
}

#[derive(Deserialize)]
struct UsageJson {
    requests: u64,
    input: Tokens,
    output: Tokens,
    total: Tokens,
    cached: Figure,
    /// Older versions did not write it.
    cache_write: Option<Figure>,
    reasoning: Figure,
    cost: Option<Cost>,
    estimated: u64,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Figure {
    Tokens(Tokens),
    /// Ledgers and flow records of version 1 did not count the requests without a figure.
    Sum(u64),
}

impl Figure {
    /// A plain sum does not say how many requests reported nothing: assumes all, or
    /// all but one if the sum is not 0.
    fn of(self, requests: u64) -> Tokens {
        match self {
            Figure::Tokens(tokens) => tokens,
            Figure::Sum(known) => Tokens {
                known,
                unreported_calls: requests.saturating_sub(u64::from(known > 0)),
            },
        }
    }
}

impl From<UsageJson> for Usage {
    fn from(written: UsageJson) -> Self {
        let UsageJson {
            requests,
            input,
            output,
            total,
            cached,
            cache_write,
            reasoning,
            cost,
            estimated,
        } = written;
        let cached = cached.of(requests);
        let reasoning = reasoning.of(requests);
        let cache_write = cache_write.unwrap_or(Figure::Sum(0)).of(requests);
        let cost = cost.unwrap_or(Cost {
            known: Money::default(),
            unknown_calls: requests,
        });
        Usage {
            requests,
            input,
            output,
            total,
            cached,
            cache_write,
            reasoning,
            cost,
            estimated,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use llmnode_model::internal::Ids;

    use super::*;
    use crate::ledger::{AttemptKind, AttemptRecord, Estimate};

    fn request(usage: Option<TokenUsage>, estimate: Option<Estimate>) -> AttemptRecord {
        let id = Ids::default().next().attempt(0);
        let record = AttemptRecord::new(id, AttemptKind::First, (None, Duration::ZERO), None);
        AttemptRecord {
            usage,
            estimate,
            ..record
        }
    }

    #[test]
    fn unknown_is_counted_not_zero() {
        let mut usage = Usage::default();
        let reported = TokenUsage::new(10, 5);
        usage.add(&request(Some(reported), None));
        usage.add(&request(
            None,
            Some(Estimate {
                input: 4,
                output: None,
            }),
        ));
        assert_eq!(
            (
                usage.requests,
                usage.total.known,
                usage.total.unreported_calls
            ),
            (2, 15, 1)
        );
        assert_eq!((usage.total.total(), usage.estimated), (None, 4));
    }

    #[test]
    fn cached_and_reasoning_tokens_are_unknown_where_nobody_reports_them() {
        let mut usage = Usage::default();
        assert_eq!(
            (usage.cached.total(), usage.reasoning.total()),
            (Some(0), Some(0)),
            "no request, no token"
        );
        let mut reported = TokenUsage::default();
        [reported.cached, reported.cache_write, reported.reasoning] = [Some(0), Some(2), Some(3)];
        usage.add(&request(Some(reported), None));
        assert_eq!(
            (usage.cached.total(), usage.reasoning.total()),
            (Some(0), Some(3))
        );
        let mut sum = usage;
        [reported.cached, reported.cache_write, reported.reasoning] = [Some(5), None, None];
        sum.add(&request(Some(reported), None));
        sum.merge(&usage);
        assert_eq!((sum.cached.total(), sum.reasoning.total()), (Some(5), None));
        assert_eq!(
            (sum.reasoning.known, sum.reasoning.unreported_calls),
            (6, 1)
        );
        assert_eq!(
            (sum.cache_write.known, sum.cache_write.unreported_calls),
            (4, 1)
        );
        let mut written = serde_json::to_value(sum).unwrap();
        assert_eq!(
            serde_json::from_value::<Usage>(written.clone()).unwrap(),
            sum
        );
        written.as_object_mut().unwrap().remove("cache_write");
        let older = serde_json::from_value::<Usage>(written)
            .unwrap()
            .cache_write;
        assert_eq!((older.known, older.unreported_calls), (0, 3));
    }

    #[test]
    fn a_sum_with_an_unknown_part_is_at_least_what_is_known() {
        let mut tokens = Tokens::default();
        tokens.add(Some(40));
        assert_eq!(tokens.total(), Some(40));
        tokens.add(None);
        assert_eq!(
            (tokens.known, tokens.unreported_calls, tokens.total()),
            (40, 1, None)
        );
    }

    #[test]
    fn money_adds_up_and_is_read_from_what_had_none() {
        let mut usage = Usage::default();
        assert_eq!(usage.cost.total(), Some(0.0));
        for cost in [0.1, 0.2] {
            usage.add(&AttemptRecord {
                cost: Some(cost),
                ..request(None, None)
            });
        }
        assert_eq!(usage.cost.total(), Some(0.3), "sums are exact");
        usage.add(&request(None, None));
        usage += usage;
        assert_eq!(
            (
                usage.cost.known(),
                usage.cost.unknown_calls,
                usage.cost.total()
            ),
            (0.6, 2, None)
        );
        let mut written = serde_json::to_value(usage).unwrap();
        assert_eq!(
            written["cost"],
            serde_json::json!({"known": 0.6, "unknown_calls": 2})
        );
        assert_eq!(
            serde_json::from_value::<Usage>(written.clone()).unwrap(),
            usage
        );
        written.as_object_mut().unwrap().remove("cost");
        assert_eq!(
            serde_json::from_value::<Usage>(written)
                .unwrap()
                .cost
                .unknown_calls,
            6
        );
    }

    #[test]
    fn sums_are_written_with_what_is_unknown() {
        let mut usage = Usage::default();
        assert_eq!(usage.to_string(), "0 requests, 0 tokens");
        usage.add(&request(Some(TokenUsage::new(1_400, 3)), None));
        assert_eq!(usage.to_string(), "1 request, 1,403 tokens");
        usage.add(&request(None, None));
        assert_eq!(
            usage.total.to_string(),
            "1,403 tokens, 1 request without a report"
        );
        let priced = AttemptRecord {
            cost: Some(0.0028),
            ..request(Some(TokenUsage::new(1, 0)), None)
        };
        usage.add(&priced);
        assert_eq!(usage.cost.to_string(), "0.0028, 2 requests of unknown cost");
        assert_eq!(
            usage.to_string(),
            "3 requests, 1,404 tokens, 1 request without a report, cost 0.0028, 2 requests of unknown cost"
        );
        for (number, written) in [(1, "1 token"), (999, "999 tokens"), (1_000, "1,000 tokens")] {
            assert_eq!(
                Tokens {
                    known: number,
                    unreported_calls: 0
                }
                .to_string(),
                written
            );
        }
        let most = Tokens {
            known: u64::MAX,
            unreported_calls: 0,
        };
        assert_eq!(most.to_string(), "18,446,744,073,709,551,615 tokens");
    }

    #[test]
    fn sums_saturate() {
        let mut tokens = Tokens::default();
        tokens.add(Some(u64::MAX));
        tokens.add(Some(1));
        assert_eq!(tokens.known, u64::MAX);
    }
}
