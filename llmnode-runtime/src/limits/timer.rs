//! How much time of a scope has passed.

use std::time::{Duration, Instant};

/// The time of one scope.
#[derive(Clone, Copy)]
pub(super) enum Timer {
    /// Time passes from the begin on, or else from the first request.
    Clock(Option<Instant>),
    /// Time passes while requests are under way; of several at once, for each. So a node that is seldom called
    /// keeps its time for when it is.
    Requests { spent: Duration, under_way: u32, counted_to: Option<Instant> },
}

impl Timer {
    pub(super) const fn of_requests() -> Self {
        Timer::Requests { spent: Duration::ZERO, under_way: 0, counted_to: None }
    }

    pub(super) fn passed(&self, now: Instant) -> Duration {
        let since =
            |then: Option<Instant>| then.map_or(Duration::ZERO, |then| now.saturating_duration_since(then));
        match *self {
            Timer::Clock(began) => since(began),
            Timer::Requests { spent, under_way, counted_to } => {
                spent.saturating_add(since(counted_to).saturating_mul(under_way))
            }
        }
    }

    /// Adds what requests took in earlier processes. By the clock, time passes only while the process runs.
    pub(super) fn carry_over(&mut self, time: Duration) {
        if let Timer::Requests { spent, .. } = self {
            *spent = spent.saturating_add(time);
        }
    }

    pub(super) fn begin_request(&mut self, now: Instant) {
        match self {
            Timer::Clock(began) => {
                began.get_or_insert(now);
            }
            Timer::Requests { .. } => self.count(now, 1),
        }
    }

    /// Without a time, where the clock has none to tell, none has passed.
    pub(super) fn end_request(&mut self, now: Option<Instant>) {
        if let Timer::Requests { counted_to, .. } = *self
            && let Some(now) = now.or(counted_to)
        {
            self.count(now, -1);
        }
    }

    fn count(&mut self, now: Instant, more: i32) {
        let passed = self.passed(now);
        if let Timer::Requests { spent, under_way, counted_to } = self {
            *spent = passed;
            *under_way = under_way.saturating_add_signed(more);
            // Requests side by side may come here in another order than they looked at the clock.
            *counted_to = counted_to.map_or(Some(now), |counted| Some(counted.max(now)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_side_by_side_each_take_their_time() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut timer = Timer::of_requests();
        timer.begin_request(at(0));
        timer.begin_request(at(2));
        assert_eq!(timer.passed(at(5)).as_secs(), 2 + 2 * 3);
        timer.end_request(Some(at(5)));
        timer.end_request(Some(at(6)));
        assert_eq!(timer.passed(at(100)).as_secs(), 9, "nothing is under way");
        timer.begin_request(at(100));
        assert_eq!(timer.passed(at(101)).as_secs(), 10);
        timer.end_request(None);
        assert_eq!(timer.passed(at(200)).as_secs(), 9, "without a time none has passed");
    }

    #[test]
    fn a_clock_runs_from_the_first_request() {
        let now = Instant::now();
        let mut timer = Timer::Clock(None);
        assert_eq!(timer.passed(now), Duration::ZERO);
        timer.begin_request(now);
        timer.end_request(Some(now));
        assert_eq!(timer.passed(now + Duration::from_secs(7)).as_secs(), 7);
    }
}
