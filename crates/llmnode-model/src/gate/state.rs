//! What a gate knows.

use std::time::{Duration, Instant};

use super::counter::LastSecond;
use super::limits::RateLimits;
use super::place::{Place, Wait};
use crate::ids::CallId;

/// Without a wait that the server asks for: doubled with each failed probe, up to
/// the longest backoff of a retry.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(8);

/// A refusal comes at once, an answer may take minutes: each second without either,
/// one more request may probe.
const PROBE_EVERY: Duration = Duration::from_secs(1);

/// So many different calls in a row that got no answer are an outage.
const OUTAGE: usize = 3;

/// Of the requests that were taken in the second before the first refusal.
const FIRST_SHARE: f64 = 0.95;
/// How much slower each later refusal makes the pace: by what was taken since the last one.
const LATER_SHARES: std::ops::RangeInclusive<f64> = 0.9..=0.97;
/// The same for a pace that is far too high: the gate was open for less than a
/// quarter of the time, twice.
const HALVED: f64 = 0.5;
const SHORT_OPEN: f64 = 0.25;
/// The pace grows by so much in each of these times without a refusal, at first up
/// to a share of the one that was refused: to go beyond it costs a closing, so it
/// is tried once in a minute.
const GROWTH: f64 = 1.02;
const GROWTH_TIME: f64 = 5.0;
const BELOW_CEILING: f64 = 0.97;
const CEILING_TIME: f64 = 60.0;
/// Grown to so many times the one that was refused, it holds nobody back any more,
/// and the next refusal begins anew.
const FORGOTTEN: f64 = 10.0;
/// A server that refuses so many probes after the wait that it asked for itself is
/// down: that says nothing of the pace.
const DOWN: u32 = 2;
const SLOWEST: f64 = 0.02;
/// No header slows down for longer: limits of a day say hours.
const MOST_STATED: Duration = Duration::from_secs(60);

#[derive(Default)]
pub(super) struct State {
    closed: Option<Closed>,
    /// Since the last opening.
    open: OpenTime,
    pace: Option<LearnedPace>,
    stated: Option<StatedPace>,
    mean_tokens: f64,
    /// The first free place in the line.
    next: Option<Instant>,
    shift: Duration,
    sent: LastSecond,
    failing: Option<Failing>,
    /// When the newest request that was answered had entered.
    answered: Option<Instant>,
    pub(super) closings: u64,
}

/// The last calls got no answer, and none that was sent since did. What was sent
/// before may still be answered: a server that begins to refuse goes on with what
/// it has begun.
struct Failing {
    calls: Vec<CallId>,
    since: Instant,
}

struct Closed {
    at: Instant,
    until: Instant,
    /// Requests in the second before, and those of them that were refused.
    sent: u32,
    refused: u32,
    is_outage: bool,
    /// The server said how long to wait.
    has_retry_after: bool,
    failed_probes: u32,
    /// When the next request may probe, and when the newest one did.
    next_probe: Option<Instant>,
    probed: Option<Instant>,
}

#[derive(Default)]
struct OpenTime {
    since: Option<Instant>,
    /// When it was closed before that.
    closed: Option<Instant>,
    answered: u64,
    /// How often in a row it was open for a short time only.
    short: u32,
}

/// By the headers of the newest answer.
#[derive(Clone, Copy)]
struct StatedPace {
    /// Seconds between two requests.
    step: f64,
    until: Instant,
}

#[derive(Clone, Copy)]
struct LearnedPace {
    per_second: f64,
    since: Instant,
    /// The one that was refused.
    ceiling: f64,
}

impl LearnedPace {
    fn at(self, now: Instant) -> f64 {
        let seconds = now.saturating_duration_since(self.since).as_secs_f64();
        let most = (BELOW_CEILING * self.ceiling).max(self.per_second);
        let below =
            (self.per_second * GROWTH.powf(seconds.min(CEILING_TIME) / GROWTH_TIME)).min(most);
        below * GROWTH.powf((seconds - CEILING_TIME).max(0.0) / GROWTH_TIME)
    }
}

impl State {
    pub(super) fn closed_until(&self) -> Option<Instant> {
        self.closed.as_ref().map(|closed| closed.until)
    }

    /// By a rate limit: an outage holds back maps alone.
    pub(super) fn is_limited(&self) -> bool {
        self.closed.as_ref().is_some_and(|closed| !closed.is_outage)
    }

    pub(super) fn failed_probes(&self) -> u32 {
        self.closed
            .as_ref()
            .map_or(0, |closed| closed.failed_probes)
    }

    pub(super) fn is_free(&mut self, now: Instant) -> bool {
        let is_paced = self.pace.is_some() || self.stated.is_some_and(|stated| now < stated.until);
        let is_free = self.closed.is_none() && !is_paced;
        if is_free {
            self.sent.add(now);
        }
        is_free
    }

    pub(super) fn line_up(&mut self, now: Instant) -> Place {
        let from = self.closed_until().unwrap_or(now);
        let at = self.next.map_or(from, |next| next.max(from));
        let step = self.step(now);
        if !step.is_zero() {
            self.next = at.checked_add(step);
        }
        Place {
            at,
            shift: self.shift,
            step,
        }
    }

    /// The time between two requests.
    fn step(&self, now: Instant) -> Duration {
        let pace = self
            .pace
            .map(|pace| pace.at(now))
            .or_else(|| self.closed.as_ref().and_then(Closed::first_pace));
        let learned = pace.map_or(0.0, |pace| 1.0 / pace.max(SLOWEST));
        let stated = self
            .stated
            .filter(|stated| now < stated.until)
            .map_or(0.0, |stated| stated.step);
        Duration::from_secs_f64(learned.max(stated))
    }

    pub(super) fn limited(&mut self, now: Instant, limits: RateLimits, tokens: Option<u64>) {
        if let Some(tokens) = tokens {
            let first = if self.mean_tokens == 0.0 { 1.0 } else { 0.125 };
            self.mean_tokens += first * (tokens as f64 - self.mean_tokens);
        }
        let of_requests = limits
            .requests
            .and_then(|limit| Some((limit.step(limits.is_providers)?, limit.reset)));
        let of_tokens = limits.tokens.and_then(|limit| {
            let step = limit.step(limits.is_providers)?;
            // An empty limit is empty for every request.
            let step = if limit.remaining == 0 && !limits.is_providers {
                step
            } else {
                step * self.mean_tokens.max(1.0)
            };
            Some((step, limit.reset))
        });
        let Some((step, reset)) = of_requests.into_iter().chain(of_tokens).reduce(
            |one: (f64, Duration), other: (f64, Duration)| {
                if one.0 >= other.0 { one } else { other }
            },
        ) else {
            self.stated = None;
            return;
        };
        let step = step.min(MOST_STATED.as_secs_f64());
        self.stated = now
            .checked_add(reset.min(MOST_STATED))
            .map(|until| StatedPace { step, until });
        let next = now.checked_add(Duration::from_secs_f64(step));
        self.next = self.next.max(next);
    }

    /// `Ok`: it is sent; whether it probes.
    pub(super) fn enter(&mut self, place: &Place, now: Instant) -> Result<bool, Wait> {
        let turn = place
            .at
            .checked_add(self.shift.saturating_sub(place.shift))
            .unwrap_or(place.at);
        let Some(closed) = &mut self.closed else {
            if turn > now {
                return Err(Wait::Until(turn));
            }
            self.sent.add(now);
            return Ok(false);
        };
        if now < closed.until {
            return Err(Wait::Until(closed.until.max(turn)));
        }
        if let Some(next_probe) = closed.next_probe.filter(|next| now < *next) {
            return Err(Wait::Probed(next_probe));
        }
        closed.next_probe = now.checked_add(PROBE_EVERY);
        closed.probed = Some(now);
        self.sent.add(now);
        Ok(true)
    }

    pub(super) fn leave(&mut self, place: &Place) {
        self.next = self.next.and_then(|next| next.checked_sub(place.step));
    }

    /// Whether others need not wait for it any longer.
    pub(super) fn probe_dropped(&mut self, sent: Instant) -> bool {
        let Some(closed) = self
            .closed
            .as_mut()
            .filter(|closed| closed.probed == Some(sent))
        else {
            return false;
        };
        closed.next_probe = None;
        closed.probed = None;
        true
    }

    pub(super) fn has_answered_since(&self, since: Instant) -> bool {
        self.answered.is_some_and(|sent| sent >= since)
    }

    /// Whether calls fail in a row, and nothing that entered at this time or later was answered.
    pub(super) fn may_be_down(&self, since: Instant) -> bool {
        self.failing.is_some() && !self.has_answered_since(since)
    }

    pub(super) fn is_failing(&self) -> bool {
        self.failing.is_some()
    }

    pub(super) fn is_open(&self) -> bool {
        self.closed.is_none()
    }

    /// What an answer says whether the gate is open or closed.
    pub(super) fn count_answer(&mut self, sent: Option<Instant>) {
        self.open.answered = self.open.answered.saturating_add(1);
        self.answered = self.answered.max(sent);
        self.failing
            .take_if(|failing| sent.is_none_or(|sent| sent >= failing.since));
    }

    /// Returns whether the gate has opened.
    pub(super) fn answered(&mut self, now: Instant, sent: Option<Instant>) -> bool {
        self.count_answer(sent);
        let Some(closed) = &self.closed else {
            return false;
        };
        let is_news = match sent {
            Some(sent) => sent > closed.at,
            None => now >= closed.until,
        };
        if is_news {
            self.reopen(now);
        }
        is_news
    }

    pub(super) fn refused(
        &mut self,
        now: Instant,
        sent: Option<Instant>,
        retry_after: Option<Duration>,
        most: Duration,
    ) {
        self.failing = None;
        match &mut self.closed {
            // It went out before: it tells of the same limit.
            Some(closed) if sent.is_some_and(|sent| sent <= closed.at) => {
                closed.refused = closed.refused.saturating_add(1);
                let until =
                    retry_after.and_then(|retry_after| now.checked_add(retry_after.min(most)));
                self.close_until(until.unwrap_or(now));
            }
            // One that never lined up says nothing of the probe.
            Some(_) if sent.is_none() => {}
            Some(_) => self.close_again(now, retry_after, most),
            None => self.close(now, retry_after, most, false),
        }
    }

    /// Returns whether the gate was closed.
    pub(super) fn failed(
        &mut self,
        now: Instant,
        sent: Option<Instant>,
        call: CallId,
        unreached: bool,
    ) -> bool {
        match &self.closed {
            Some(closed) if sent.is_none_or(|sent| sent <= closed.at) => false,
            Some(_) => {
                self.close_again(now, None, LONGEST_WAIT);
                true
            }
            None => {
                let failing = self.failing.get_or_insert_with(|| Failing {
                    calls: Vec::new(),
                    since: now,
                });
                if !failing.calls.contains(&call) {
                    failing.calls.push(call);
                }
                let is_outage = unreached || failing.calls.len() >= OUTAGE;
                if is_outage {
                    self.failing = None;
                    self.close(now, None, LONGEST_WAIT, true);
                }
                is_outage
            }
        }
    }

    fn close(
        &mut self,
        now: Instant,
        retry_after: Option<Duration>,
        most: Duration,
        is_outage: bool,
    ) {
        self.closings += 1;
        let sent = self.sent.sum(now);
        self.closed = Some(Closed {
            at: now,
            until: now,
            sent,
            refused: 1,
            is_outage,
            has_retry_after: retry_after.is_some(),
            failed_probes: 0,
            next_probe: None,
            probed: None,
        });
        self.close_until(
            now.checked_add(retry_after.unwrap_or(FIRST_WAIT).min(most))
                .unwrap_or(now),
        );
    }

    fn close_again(&mut self, now: Instant, retry_after: Option<Duration>, most: Duration) {
        self.closings += 1;
        let Some(closed) = &mut self.closed else {
            return;
        };
        closed.failed_probes = closed.failed_probes.saturating_add(1);
        closed.next_probe = None;
        closed.probed = None;
        let doubled = FIRST_WAIT
            .saturating_mul(1 << closed.failed_probes.min(10))
            .min(LONGEST_WAIT);
        self.close_until(
            now.checked_add(retry_after.unwrap_or(doubled).min(most))
                .unwrap_or(now),
        );
    }

    /// Later than before, or not at all. All in line move with it.
    fn close_until(&mut self, until: Instant) {
        let Some(closed) = &mut self.closed else {
            return;
        };
        let by = until.saturating_duration_since(closed.until);
        closed.until = closed.until.max(until);
        self.move_line(by);
    }

    fn move_line(&mut self, by: Duration) {
        self.shift = self.shift.saturating_add(by);
        self.next = self.next.and_then(|next| next.checked_add(by));
    }

    fn reopen(&mut self, now: Instant) {
        let Some(closed) = self.closed.take() else {
            return;
        };
        self.move_line(now.saturating_duration_since(closed.until));
        self.pace = self.next_pace(&closed, now);
        self.open.since = Some(now);
        self.open.closed = Some(closed.at);
        self.open.answered = 0;
    }

    fn next_pace(&mut self, closed: &Closed, now: Instant) -> Option<LearnedPace> {
        self.pace = self
            .pace
            .filter(|pace| pace.at(closed.at) < FORGOTTEN * pace.ceiling);
        let before = self.pace.map(|pace| pace.at(closed.at));
        if closed.is_down() || closed.sent <= closed.refused {
            let pace = self.pace?;
            let per_second = pace.at(closed.at);
            return Some(LearnedPace {
                per_second,
                since: now,
                ceiling: pace.ceiling.max(per_second),
            });
        }
        let per_second = match before {
            None => closed.first_pace()?,
            Some(before) => before * self.share(closed, before),
        };
        let ceiling = before.unwrap_or(per_second / FIRST_SHARE);
        Some(LearnedPace {
            per_second: per_second.max(SLOWEST),
            since: now,
            ceiling,
        })
    }

    fn share(&mut self, closed: &Closed, before: f64) -> f64 {
        let (Some(since), Some(closed_before)) = (self.open.since, self.open.closed) else {
            return FIRST_SHARE;
        };
        let cycle = closed
            .at
            .saturating_duration_since(closed_before)
            .as_secs_f64();
        let open = closed.at.saturating_duration_since(since).as_secs_f64();
        self.open.short = if open < SHORT_OPEN * cycle {
            self.open.short.saturating_add(1)
        } else {
            0
        };
        if self.open.short > 1 {
            return HALVED;
        }
        // It held for a while, so it is hardly too high.
        if open >= GROWTH_TIME {
            return *LATER_SHARES.end();
        }
        let taken = self.open.answered as f64 / cycle.max(0.001);
        (taken / before).clamp(*LATER_SHARES.start(), *LATER_SHARES.end())
    }
}

impl Closed {
    fn is_down(&self) -> bool {
        self.is_outage || (self.has_retry_after && self.failed_probes >= DOWN)
    }

    /// Of a server of which nothing was known before. `None`: it took nothing.
    fn first_pace(&self) -> Option<f64> {
        let taken = self.sent.saturating_sub(self.refused);
        (!self.is_down() && taken > 0).then(|| FIRST_SHARE * f64::from(taken))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Ids;

    /// The pace after the server took this many requests in a second, and refused one more.
    fn pace_after(state: &mut State, taken: u32, now: Instant) -> f64 {
        const WAIT: Duration = Duration::from_secs(1);
        for _ in 0..=taken {
            state.sent.add(now);
        }
        state.refused(now, Some(now), Some(WAIT), WAIT);
        let probed = now + WAIT;
        assert!(state.answered(probed, Some(probed)));
        state.pace.unwrap().at(probed)
    }

    /// Answers may take minutes: those of requests that were sent before say
    /// nothing of what is refused now.
    #[test]
    fn only_an_answer_to_a_later_request_ends_a_row_of_failures() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut state = State::default();
        let mut ids = Ids::default();
        let mut fails = |state: &mut State, seconds| {
            state.failed(at(seconds), Some(at(seconds)), ids.next(), false)
        };
        assert!(!fails(&mut state, 10));
        state.count_answer(Some(at(9)));
        assert!(!fails(&mut state, 11));
        assert!(state.may_be_down(at(10)));
        state.count_answer(Some(at(12)));
        assert!(!state.may_be_down(at(10)));
        assert!(!fails(&mut state, 13));
        assert!(!fails(&mut state, 14));
        state.count_answer(Some(at(12)));
        assert!(fails(&mut state, 15));
    }

    #[test]
    fn a_pace_that_has_grown_for_long_is_learned_anew() {
        let begin = Instant::now();
        for hours in [1, 1000] {
            let mut state = State::default();
            assert_eq!(pace_after(&mut state, 100, begin).round(), 95.0);
            let later = begin + Duration::from_secs(hours * 3600);
            assert_eq!(pace_after(&mut state, 100, later).round(), 95.0, "{hours}");
        }
    }
}
