//! What may be spent.

use std::time::Duration;

/// How much a call, a node or a run may spend: requests, tokens, money, time. What is not set has no bound.
///
/// Limits are checked before each request, so that an answer is never thrown away: the one that crosses a limit
/// is returned if it is valid, and the next request fails with `limit_exceeded`. Where they hold:
///
/// - `Run::with_limits`: all calls of a run together;
/// - `Run::with_node_limits`, `Attributes::limits`:
///   all calls of a node's type in a run together;
/// - `Call::limits`, `Settings::limits`: each call by itself.
///
/// A call that a node makes through its [context](crate::Cx::call) counts for the calls and nodes around it, too.
///
/// Requests are exact under any concurrency. Tokens and money are known only after the answer, so that each
/// request reserves an estimate until then: a quarter of a token for each character of its messages, plus
/// `max_tokens`, or where that is not set the mean answer so far, at first 256 tokens. A limit that is zero or no
/// number is a `config_error` of the call, before any request.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use std::time::Duration;
/// use llmnode::Limits;
///
/// const LIMITS: Limits = Limits::new().requests(10).tokens(5_000).money(0.05).time(Duration::from_secs(30));
/// assert_eq!(LIMITS.requests, Some(10));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// The most requests to models, 1 or more. Every try is one.
    pub requests: Option<u64>,
    /// The most tokens of prompts and answers, 1 or more, as providers report them. An answer without usage makes
    /// this limit `limit_unenforceable`.
    pub tokens: Option<u64>,
    /// The most money, above 0, in the unit of the run's prices. A model without a
    /// price and an answer without usage make this limit `limit_unenforceable`.
    pub money: Option<f64>,
    /// The longest time by the run's clock, above 0. Of a call: since it began, waits included; of a node and a
    /// run: since their first request. A request under way is cut when the time is up.
    pub time: Option<Duration>,
}

impl Limits {
    /// No limits.
    pub const fn new() -> Self {
        Limits { requests: None, tokens: None, money: None, time: None }
    }

    /// Limits the number of requests.
    #[must_use]
    pub const fn requests(mut self, requests: u64) -> Self {
        self.requests = Some(requests);
        self
    }

    /// Limits the tokens of prompts and answers.
    #[must_use]
    pub const fn tokens(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Limits the money, in the unit of the run's prices.
    #[must_use]
    pub const fn money(mut self, money: f64) -> Self {
        self.money = Some(money);
        self
    }

    /// Limits the time.
    #[must_use]
    pub const fn time(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }
}
