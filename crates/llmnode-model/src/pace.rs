//! How fast a handle may ask: what a program knows of its provider's limits.

use std::time::Duration;

/// How many requests, and how many tokens, a model's handle sends at most in a
/// minute or a second. The builder of every handle takes it (`.pace(..)`), and all
/// that use the handle and its clones share it.
///
/// It is for limits that are known: a call waits before it asks, instead of being
/// refused. Requests are spread over the time, not sent at once. The waits are part
/// of a call: its deadline bounds them, and its record has them. Tokens are those
/// of a whole request. They are estimated before it is sent (four characters each,
/// and an answer as long as those before), and corrected by what the provider
/// counts.
///
/// ```
/// # use llmnode_model as llmnode;
/// use llmnode::Pace;
///
/// let pace = Pace::per_minute().requests(500).tokens(200_000);
/// # let _ = pace;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    time: Duration,
    requests: Option<u32>,
    tokens: Option<u64>,
}

impl Pace {
    /// A pace of so much in a minute.
    pub const fn per_minute() -> Self {
        Pace {
            time: Duration::from_secs(60),
            requests: None,
            tokens: None,
        }
    }

    /// A pace of so much in a second.
    pub const fn per_second() -> Self {
        Pace {
            time: Duration::from_secs(1),
            requests: None,
            tokens: None,
        }
    }

    /// Sets how many requests are sent in that time, 1 or more. Default: any number; 0 counts as 1.
    #[must_use]
    pub const fn requests(self, requests: u32) -> Self {
        Pace {
            requests: Some(requests),
            ..self
        }
    }

    /// Sets how many tokens are sent and received in that time, 1 or more. Default:
    /// any number; 0 counts as 1.
    #[must_use]
    pub const fn tokens(self, tokens: u64) -> Self {
        Pace {
            tokens: Some(tokens),
            ..self
        }
    }

    pub(crate) fn request_time(self) -> Option<Duration> {
        Some(self.time / self.requests?.max(1))
    }

    /// In seconds.
    pub(crate) fn token_time(self) -> Option<f64> {
        Some(self.time.as_secs_f64() / self.tokens?.max(1) as f64)
    }
}
