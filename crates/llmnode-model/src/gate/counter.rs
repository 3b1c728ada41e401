//! How many requests were sent in the last second.

use std::time::Instant;

/// The newest part has only begun, so there is one more than a second has.
const PARTS: usize = 21;
const PART_MS: u32 = 50;
const PARTS_A_SECOND: u64 = 20;

/// Counts in parts of a second, so that its size does not grow with the number of requests.
#[derive(Default)]
pub(super) struct LastSecond {
    /// When the first part of all began.
    begin: Option<Instant>,
    /// The number of the newest part.
    newest: u64,
    counts: [u32; PARTS],
}

impl LastSecond {
    pub(super) fn add(&mut self, now: Instant) {
        let part = self.move_to(now);
        let count = &mut self.counts[part];
        *count = count.saturating_add(1);
    }

    pub(super) fn sum(&mut self, now: Instant) -> u32 {
        self.move_to(now);
        self.counts
            .iter()
            .fold(0, |sum, count| sum.saturating_add(*count))
    }

    fn move_to(&mut self, now: Instant) -> usize {
        let begin = *self.begin.get_or_insert(now);
        let since = now.saturating_duration_since(begin);
        let part = since.as_secs() * PARTS_A_SECOND + u64::from(since.subsec_millis() / PART_MS);
        let parts = PARTS as u64;
        if part >= self.newest.saturating_add(parts) {
            self.counts = [0; PARTS];
            self.newest = part;
        }
        while self.newest < part {
            self.newest += 1;
            self.counts[place(self.newest)] = 0;
        }
        place(self.newest)
    }
}

fn place(part: u64) -> usize {
    usize::try_from(part % PARTS as u64).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_older_than_a_second_no_longer_counts() {
        let begin = Instant::now();
        let at = |ms| begin + Duration::from_millis(ms);
        let mut counter = LastSecond::default();
        for ms in [0, 10, 500, 990] {
            counter.add(at(ms));
        }
        assert_eq!(counter.sum(at(990)), 4);
        assert_eq!(
            counter.sum(at(1040)),
            4,
            "the first part is as old as a second"
        );
        assert_eq!(counter.sum(at(1060)), 2, "the first part is gone");
        assert_eq!(counter.sum(at(1600)), 1);
        assert_eq!(counter.sum(at(100_000)), 0);
        counter.add(at(100_001));
        assert_eq!(counter.sum(at(100_002)), 1);
    }
}
