//! The pace that a program states, as two lanes: requests and tokens.

use std::time::{Duration, Instant};

use crate::pace::Pace;

/// What was not used is kept for so long.
const KEPT: Duration = Duration::from_secs(1);

pub(super) struct Lanes {
    requests: Option<Lane>,
    tokens: Option<Lane>,
    /// The tokens of an answer, on average.
    mean_answer: f64,
}

struct Lane {
    /// Seconds for one.
    step: f64,
    next: Option<Instant>,
}

/// What a request took of the pace.
#[derive(Clone, Copy)]
pub(super) struct Paced {
    /// When it may be sent.
    pub(super) at: Instant,
    tokens: f64,
}

impl Lanes {
    pub(super) fn new(pace: Pace) -> Self {
        let request_time = pace.request_time().map(|time| time.as_secs_f64());
        Lanes {
            requests: request_time.map(|step| Lane { step, next: None }),
            tokens: pace.token_time().map(|step| Lane { step, next: None }),
            mean_answer: 0.0,
        }
    }

    pub(super) fn take(&mut self, now: Instant, prompt: u64) -> Paced {
        let tokens = prompt as f64 + self.mean_answer;
        let requests = self.requests.as_mut().map(|lane| lane.take(now, 1.0));
        let of_tokens = self.tokens.as_mut().map(|lane| lane.take(now, tokens));
        Paced {
            at: requests
                .into_iter()
                .chain(of_tokens)
                .fold(now, Instant::max),
            tokens,
        }
    }

    /// It was not sent.
    pub(super) fn give_back(&mut self, paced: Paced) {
        self.requests
            .iter_mut()
            .for_each(|lane| lane.give_back(1.0));
        self.tokens
            .iter_mut()
            .for_each(|lane| lane.give_back(paced.tokens));
    }

    /// The provider has counted it.
    pub(super) fn counted(&mut self, paced: Paced, total: u64, output: Option<u64>) {
        if let Some(output) = output {
            self.mean_answer += (output as f64 - self.mean_answer) / 8.0;
        }
        self.tokens
            .iter_mut()
            .for_each(|lane| lane.give_back(paced.tokens - total as f64));
    }
}

impl Lane {
    fn take(&mut self, now: Instant, amount: f64) -> Instant {
        let next = self
            .next
            .unwrap_or(now)
            .max(now.checked_sub(KEPT).unwrap_or(now));
        self.next = next.checked_add(seconds(self.step * amount));
        next.max(now)
    }

    fn give_back(&mut self, amount: f64) {
        let by = seconds((self.step * amount).abs());
        self.next = self.next.and_then(|next| {
            if amount > 0.0 {
                next.checked_sub(by)
            } else {
                next.checked_add(by)
            }
        });
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_spread_and_tokens_are_corrected() {
        let begin = Instant::now();
        let after = |paced: Paced| (paced.at - begin).as_millis();
        let mut lanes = Lanes::new(Pace::per_minute().requests(60));
        let first: Vec<u128> = (0..4).map(|_| after(lanes.take(begin, 1))).collect();
        assert_eq!(first, [0, 1000, 2000, 3000]);
        let last = lanes.take(begin, 1);
        lanes.give_back(last);
        assert_eq!(after(lanes.take(begin, 1)), 4000);

        let mut lanes = Lanes::new(Pace::per_second().tokens(1000));
        let large = lanes.take(begin, 5000);
        assert_eq!(
            after(large),
            0,
            "one that is larger than a second's worth is sent, and the next one waits"
        );
        lanes.counted(large, 3000, None);
        assert_eq!(after(lanes.take(begin, 1)), 3000);
    }
}
