//! The limits that a program sets.

use std::time::Duration;

use crate::money::Money;
use crate::text::const_setters;

/// What a call, a node, a map or a run may spend: requests, tokens, money,
/// executions of tools, and the time of a run. What is not set has no limit, except
/// for a node with tools: its outermost call makes at most 100 requests (with more
/// than 50 turns, twice as many as these), and executes at most twice as many tools,
/// calls within included, unless limits for it say otherwise.
///
/// Limits are checked before each request, so no answer is thrown away: a valid
/// answer that crosses a limit is returned, and the next request fails with
/// `limit_exceeded`. They apply to:
///
/// - [`Run::with_limits`](crate::Run::with_limits): all calls of a run together;
/// - [`Run::with_node_limits`](crate::Run::with_node_limits),
///   [`NodeFacts::limits`](crate::NodeFacts::limits): all calls of a node's type in
///   a run together;
/// - [`Map::limits`](crate::Map::limits): all calls of a map together;
/// - [`Call::limits`](crate::Call::limits),
///   [`Settings::limits`](crate::Settings::limits): each call by itself.
///
/// A call that a node makes through its [context](crate::Cx::call) also counts for
/// the calls and nodes around it.
///
/// The number of requests is exact under any concurrency. Tokens and money are
/// known only after the answer, so each request reserves the most that it can use:
/// a token for each byte, figures for its attachments, what the provider added
/// before, and `max_tokens`, or if that is not set the mean answer so far, at first
/// 256 tokens (8,192 for Anthropic's models, which are sent a default) and the
/// budget for thoughts. The first request of a model goes alone until it has
/// settled or begins to answer, for 5 s at most: only then is known what its
/// provider adds. A request that fits but for what others have reserved waits until
/// they settle, in order of arrival; one alone always goes.
///
/// With `max_tokens` set, a limit is exceeded by one request at most. Without it,
/// longer answers of the requests in flight exceed it, too. A limit of zero, or one
/// that is not a number, is a `config_error` of the call before any request.
///
/// A call that has begun and is no longer polled keeps its reservation. So do the calls of a
/// [`Map::stream`](crate::Map::stream) while the program awaits something else between two results. A call that waits
/// for their room there waits forever, unless it has a [`deadline`](crate::Settings::deadline).
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use std::time::Duration;
/// use llmnode::Limits;
///
/// const LIMITS: Limits = Limits::new().requests(10).tokens(5_000).money(0.05).time(Duration::from_secs(3600));
/// assert_eq!(LIMITS.requests, Some(10));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// The most requests to models, 1 or more. Each attempt is one.
    pub requests: Option<u64>,
    /// The most tokens of prompts and answers, 1 or more, as providers report them.
    /// After an answer without usage, this limit is `limit_unenforceable`.
    pub tokens: Option<u64>,
    /// The most money, above 0, in the unit of the run's
    /// [prices](crate::Run::with_prices). For a model without a price, and after an
    /// answer without usage, this limit is `limit_unenforceable`.
    pub money: Option<f64>,
    /// The most executions of tools, 1 or more. The calls of one answer that would
    /// cross it are not executed.
    pub tool_calls: Option<u64>,
    /// The longest time of a run by its clock, from its first request or visit of a
    /// graph's node, above 0. When it has passed, a request under way is cut. On a
    /// node or a call this is a `config_error`: a call has a
    /// [`deadline`](crate::Settings::deadline).
    pub time: Option<Duration>,
}

impl Limits {
    /// No limits.
    pub const fn new() -> Self {
        Limits {
            requests: None,
            tokens: None,
            money: None,
            tool_calls: None,
            time: None,
        }
    }

    const_setters! {
        /// Limits the number of requests.
        requests: u64,
        /// Limits the tokens of prompts and answers.
        tokens: u64,
        /// Limits the money, in the unit of the run's prices.
        money: f64,
        /// Limits the executions of tools.
        tool_calls: u64,
        /// Limits the time of a run.
        time: Duration,
    }

    pub(crate) fn or(self, others: Limits) -> Limits {
        Limits {
            requests: self.requests.or(others.requests),
            tokens: self.tokens.or(others.tokens),
            money: self.money.or(others.money),
            tool_calls: self.tool_calls.or(others.tool_calls),
            time: self.time.or(others.time),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        let Limits {
            requests,
            tokens,
            money,
            tool_calls,
            time,
        } = self;
        requests.is_none()
            && tokens.is_none()
            && money.is_none()
            && tool_calls.is_none()
            && time.is_none()
    }

    pub(super) fn faults(&self) -> Vec<String> {
        let zero = [
            (self.requests == Some(0), "requests"),
            (self.tokens == Some(0), "tokens"),
            (self.tool_calls == Some(0), "tool_calls"),
            (self.time == Some(Duration::ZERO), "time"),
        ];
        let zero = zero.into_iter().filter(|(is, _)| *is);
        let zero = zero.map(|(_, name)| format!("{name} is 0, so no request could be made"));
        let money = self.money.and_then(|money| match Money::from_f64(money) {
            None => Some(format!("money is {money}; it must be a number above 0")),
            Some(Money(0)) => Some(format!("money is {money}, so no request could be made")),
            Some(_) => None,
        });
        zero.chain(money).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_wins_figure_by_figure() {
        let (near, far) = (
            Limits::new().requests(1),
            Limits::new().requests(2).tokens(7),
        );
        assert_eq!(near.or(far), Limits::new().requests(1).tokens(7));
        assert!(Limits::new().or(Limits::default()).is_empty());
    }

    #[test]
    fn absurd_limits_have_a_fault() {
        let none = Limits::new();
        for absurd in [
            none.requests(0),
            none.tokens(0),
            none.time(Duration::ZERO),
            none.money(0.0),
            none.money(-1.0),
            none.money(f64::NAN),
            none.money(f64::INFINITY),
            none.money(1e-30),
        ] {
            assert_eq!(absurd.faults().len(), 1, "{absurd:?}");
        }
        let most = none
            .requests(u64::MAX)
            .tokens(1)
            .money(f64::MAX)
            .time(Duration::MAX);
        assert_eq!(most.faults(), Vec::<String>::new());
        assert_eq!(
            none.requests(0)
                .tokens(0)
                .time(Duration::ZERO)
                .money(0.0)
                .faults()
                .len(),
            4
        );
    }
}
