//! What a program says of a map over a batch API.

use std::time::Duration;

const WITHIN: Duration = Duration::from_secs(26 * 3_600);
const LINGER: Duration = Duration::from_secs(10 * 60);
const MAX_REQUESTS: usize = 20_000;
const SHORTEST_POLL: Duration = Duration::from_secs(60);
const LONGEST_POLL: Duration = Duration::from_secs(10 * 60);

/// How a map asks by its provider's batch API: many requests in one order, answered within a day, mostly at half the price.
///
/// ```
/// # use std::time::Duration;
/// # use llmnode_runtime as llmnode;
/// use llmnode::BatchApi;
///
/// let overnight = BatchApi::new().within(Duration::from_secs(12 * 3_600)).then_at_once();
/// # let _ = overnight;
/// ```
#[derive(Clone, Debug)]
pub struct BatchApi {
    pub(super) within: Duration,
    pub(super) poll: Option<Duration>,
    pub(super) max_requests: usize,
    pub(super) linger: Duration,
    pub(super) at_once: bool,
    pub(super) keeps_files: bool,
    pub(super) once: bool,
    pub(super) reserves_mean: bool,
}

impl BatchApi {
    /// Waits for the answers: 26 hours for each batch, asking every 1 to 10 minutes whether it has ended.
    pub const fn new() -> Self {
        BatchApi {
            within: WITHIN,
            poll: None,
            max_requests: MAX_REQUESTS,
            linger: LINGER,
            at_once: false,
            keeps_files: false,
            once: false,
            reserves_mean: false,
        }
    }

    /// Waits for no answer: the map sends a batch, or looks once whether one has ended, and returns. Items without an answer fail
    /// as `paused`, and the message names their batch. Started again with the same journal, such as by cron, it goes on. A batch
    /// whose [time](Self::within) is over is cancelled by one start, and what it has answered is read by a later one.
    pub const fn once() -> Self {
        BatchApi {
            once: true,
            ..BatchApi::new()
        }
    }

    /// Sets how long each batch may take, from its creation. Then it is cancelled, what was answered is read, and the other
    /// requests fail with a `timeout`, which is tried again in the next batch as `transport_retries` say. So a map takes up to
    /// (1 + `retries` + `transport_retries`) times as long, each time with a quarter of an hour more for the cancel, but no more than
    /// this time again. Default: 26 hours, since providers promise 24.
    #[must_use]
    pub const fn within(mut self, time: Duration) -> Self {
        self.within = time;
        self
    }

    /// Sets the time between two looks at a batch. Default: 1 minute at first, growing to 10 minutes.
    #[must_use]
    pub const fn poll(mut self, time: Duration) -> Self {
        self.poll = Some(time);
        self
    }

    /// Sets how many requests a batch has at most. As soon as so many wait, they are sent, and the map takes its next nodes while
    /// they are answered, until five times as many calls have begun and not ended: that bounds the memory, since each takes about
    /// 10 KB and twice its prompt. So a map of 100,000 rows is five batches side by side by default, and one of a million takes
    /// ten times as long, unless this is set to 200,000. Default: 20,000; 0 counts as 1. A provider that takes fewer lines in an
    /// order gets several.
    #[must_use]
    pub const fn max_requests(mut self, requests: usize) -> Self {
        self.max_requests = if requests == 0 { 1 } else { requests };
        self
    }

    /// Sets how long a map over a stream waits for further nodes before it sends a batch that is not full. A map over an
    /// iterator never waits. Default: 10 minutes.
    #[must_use]
    pub const fn linger(mut self, time: Duration) -> Self {
        self.linger = time;
        self
    }

    /// Asks directly, at the full price, what is left when a batch has not ended in [time](Self::within), and what waits after
    /// the first batch, mostly corrections, if it is fewer than 20 requests. Default: they join the next batch.
    #[must_use]
    pub const fn then_at_once(mut self) -> Self {
        self.at_once = true;
        self
    }

    /// Leaves the uploaded files and those of the results with the provider. Default: they are deleted when the map has ended.
    #[must_use]
    pub const fn keep_files(mut self) -> Self {
        self.keeps_files = true;
        self
    }

    /// Reserves for each request the mean of what the requests of the first batch used, times 1.3, once that batch was read. Default:
    /// the most that the request can use, a token for each byte of its prompt, so that a limit near the true cost cuts the map into
    /// several batches. With the mean, most of what is left fits into one; but where its requests are larger than those of the first
    /// batch, the limit can be exceeded by more than one request.
    #[must_use]
    pub const fn reserve_mean(mut self) -> Self {
        self.reserves_mean = true;
        self
    }

    /// The time before the look of this number, from 0.
    pub(super) fn wait_before(&self, look: u32) -> Duration {
        let growing = SHORTEST_POLL.saturating_mul(look.saturating_add(1));
        self.poll.unwrap_or(growing.min(LONGEST_POLL))
    }
}

impl Default for BatchApi {
    fn default() -> Self {
        BatchApi::new()
    }
}
