//! What a handle remembers for the cache: which beginnings were sent, and when.
//!
//! Only hashes are kept, never a text. All of it is bounded: when a table is full,
//! it is emptied, which costs a write at most.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::refusal::beliefs::Asker;

const MOST_ENTRIES: usize = 4_096;
/// A request that has not ended after this time holds up nobody.
const PATIENCE: Duration = Duration::from_secs(60);
const MINUTE: Duration = Duration::from_secs(60);
/// What one machine of OpenAI takes of one key in a minute.
const REQUESTS_OF_A_LANE: usize = 15;
/// That is 7,680 requests a minute of one node.
const MOST_LANES: usize = 512;

/// Shared by all clones of a handle.
#[derive(Debug, Default)]
pub(crate) struct CacheMemory(Mutex<Tables>);

#[derive(Debug, Default)]
struct Tables {
    models: HashMap<String, ModelTraffic>,
    shared: HashMap<u64, SharedState>,
    /// How the beginning of a conversation was sent, by its hash.
    forms: HashMap<u64, SentForm>,
    lanes: HashMap<u64, Lanes>,
}

/// How often the model was asked, and whether it takes explicit options.
#[derive(Debug, Default)]
struct ModelTraffic {
    requests: u64,
    takes_options: bool,
}

/// One beginning of requests.
#[derive(Debug, Default)]
struct SharedState {
    /// When a request with this beginning was last answered.
    seen: Option<Instant>,
    /// When one with a mark was.
    kept: Option<Instant>,
    writing: Option<Writing>,
}

/// Who is about to write the beginning. Its own retries are not others.
#[derive(Clone, Copy, Debug)]
struct Writing {
    asker: Asker,
    since: Instant,
}

/// How likely another request with the same beginning is, before anything is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Likely {
    Certain,
    IfSeen,
    Never,
}

/// How a conversation began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SentForm {
    pub(crate) marks: bool,
}

/// When the requests of the last minute were sent, lane by lane.
#[derive(Debug, Default)]
struct Lanes(Vec<VecDeque<Instant>>);

/// What one request does with a beginning that others have, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Share {
    hash: u64,
    /// It reads what is kept, or is the one that writes it.
    pub(crate) marks: bool,
    /// Another request with this beginning was answered a short time ago.
    pub(crate) is_repeat: bool,
}

impl Share {
    /// Of a line, which is marked if others are certain to begin like it. Its end
    /// tells the memory nothing.
    pub(crate) fn of_line(likely: Likely) -> Self {
        Share {
            marks: likely == Likely::Certain,
            ..Share::default()
        }
    }
}

impl CacheMemory {
    /// Whether this request marks the beginning. If nothing is kept yet, one
    /// request writes it; the others go without a mark.
    pub(crate) fn share(&self, hash: u64, asker: Asker, likely: Likely, ttl: Duration) -> Share {
        if likely == Likely::Never {
            return Share::default();
        }
        let mut tables = self.lock();
        let state = entry(&mut tables.shared, hash);
        let is_repeat = is_within(state.seen, ttl);
        let is_anothers = state
            .writing
            .is_some_and(|writing| writing.asker != asker && writing.since.elapsed() < PATIENCE);
        let may_write = !is_anothers && (is_repeat || likely == Likely::Certain);
        let reads = is_within(state.kept, ttl);
        if may_write && !reads {
            state.writing = Some(Writing {
                asker,
                since: Instant::now(),
            });
        }
        Share {
            hash,
            marks: reads || may_write,
            is_repeat,
        }
    }

    /// The server answers: what the request has marked can be read.
    pub(crate) fn begun(&self, share: Share) {
        if share.hash == 0 {
            return;
        }
        let mut tables = self.lock();
        let state = entry(&mut tables.shared, share.hash);
        state.seen = Some(Instant::now());
        if share.marks {
            state.kept = Some(Instant::now());
            state.writing = None;
        }
    }

    /// The request has ended. It may have failed before anything was written.
    pub(crate) fn ended(&self, share: Share) {
        if share.hash != 0 && share.marks {
            entry(&mut self.lock().shared, share.hash).writing = None;
        }
    }

    /// A request to this model was answered; `took_options`: one with explicit options.
    pub(crate) fn answered(&self, model: &str, took_options: bool) {
        let mut tables = self.lock();
        if tables.models.len() >= MOST_ENTRIES {
            tables.models.clear();
        }
        let traffic = tables.models.entry(model.to_owned()).or_default();
        traffic.requests = traffic.requests.saturating_add(1);
        traffic.takes_options |= took_options;
    }

    /// How many requests of this model were answered.
    pub(crate) fn requests(&self, model: &str) -> u64 {
        self.lock()
            .models
            .get(model)
            .map_or(0, |traffic| traffic.requests)
    }

    /// Whether the model has answered a request with explicit options.
    pub(crate) fn takes_options(&self, model: &str) -> bool {
        self.lock()
            .models
            .get(model)
            .is_some_and(|traffic| traffic.takes_options)
    }

    /// How the conversation with this beginning was sent first.
    pub(crate) fn form(&self, begins: u64) -> Option<SentForm> {
        self.lock().forms.get(&begins).copied()
    }

    /// The first form stays: `or_insert`.
    pub(crate) fn keep_form(&self, begins: u64, marks: bool) {
        let mut tables = self.lock();
        if tables.forms.len() >= MOST_ENTRIES {
            tables.forms.clear();
        }
        tables.forms.entry(begins).or_insert(SentForm { marks });
    }

    /// The first lane that has had fewer requests in the last minute than its
    /// machine takes: a lane is warm the longer the more requests it has, so that
    /// no more are opened than are needed.
    pub(crate) fn lane(&self, hash: u64) -> u32 {
        let mut tables = self.lock();
        let lanes = &mut entry(&mut tables.lanes, hash).0;
        for lane in lanes.iter_mut() {
            while lane.front().is_some_and(|at| at.elapsed() >= MINUTE) {
                lane.pop_front();
            }
        }
        let free = lanes
            .iter()
            .position(|lane| lane.len() < REQUESTS_OF_A_LANE);
        let at = match free {
            Some(at) => at,
            None if lanes.len() < MOST_LANES => {
                lanes.push(VecDeque::new());
                lanes.len() - 1
            }
            // More than anybody's limits allow: the oldest request makes room.
            None => 0,
        };
        lanes[at].push_back(Instant::now());
        if lanes[at].len() > REQUESTS_OF_A_LANE {
            lanes[at].pop_front();
        }
        u32::try_from(at).unwrap_or(0)
    }

    /// A thread that panicked has left a table that is still right: each change is
    /// one statement.
    fn lock(&self) -> MutexGuard<'_, Tables> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether it happened, and not longer ago than that.
fn is_within(at: Option<Instant>, time: Duration) -> bool {
    at.is_some_and(|at| at.elapsed() < time)
}

fn entry<T: Default>(table: &mut HashMap<u64, T>, hash: u64) -> &mut T {
    if table.len() >= MOST_ENTRIES && !table.contains_key(&hash) {
        table.clear();
    }
    table.entry(hash).or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Duration = Duration::from_secs(300);

    fn marks(memory: &CacheMemory, asker: u64, likely: Likely) -> bool {
        memory.share(7, Asker::Request(asker), likely, TTL).marks
    }

    #[tokio::test(start_paused = true)]
    async fn one_request_writes_and_the_others_read() {
        let memory = CacheMemory::default();
        let first = memory.share(7, Asker::Request(1), Likely::Certain, TTL);
        assert!(first.marks);
        assert!(!marks(&memory, 2, Likely::Certain), "it would write, too");
        memory.begun(first);
        assert!(marks(&memory, 3, Likely::Certain) && marks(&memory, 4, Likely::IfSeen));
        tokio::time::advance(TTL).await;
        assert!(!marks(&memory, 5, Likely::IfSeen), "it is gone");
        // The one that was to write it failed.
        let again = memory.share(7, Asker::Request(6), Likely::Certain, TTL);
        memory.ended(again);
        assert!(again.marks && marks(&memory, 8, Likely::Certain));
    }

    #[tokio::test(start_paused = true)]
    async fn a_lane_takes_fifteen_requests_a_minute() {
        let memory = CacheMemory::default();
        let lanes: Vec<u32> = (0..40).map(|_| memory.lane(7)).collect();
        assert_eq!((lanes[14], lanes[15], lanes[39]), (0, 1, 2));
        tokio::time::advance(MINUTE).await;
        assert_eq!(memory.lane(7), 0);
    }

    #[test]
    fn the_memory_is_bounded() {
        let memory = CacheMemory::default();
        for hash in 0..3 * MOST_ENTRIES as u64 {
            memory.share(hash + 1, Asker::Request(hash), Likely::Certain, TTL);
            memory.keep_form(hash, true);
        }
        let tables = memory.lock();
        assert!(tables.shared.len() <= MOST_ENTRIES && tables.forms.len() <= MOST_ENTRIES);
    }
}
