//! Notices that nothing of a test moves its clock.
//!
//! A `TestClock` moves by waits alone. Where all that is under way waits for a socket or a thread, none moves it:
//! the deadline that a call waits for never passes, and the test hangs. So one thread of the process looks at the clocks whose times
//! are awaited. Where one has shown no sign of life for a while, it wakes those who wait: whoever still runs is polled, and a runtime
//! that is busy elsewhere takes no notice. After four such calls with no other sign, which is a second, the wait panics with what to do.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// How often the thread looks, and how long a clock is left alone.
const LOOK: Duration = Duration::from_millis(250);

/// What is polled this soon after it was woken was polled because of that.
const ANSWERED: Duration = Duration::from_millis(100);

/// How many calls in a row, answered by nothing else, make a clock that stands still.
const CALLS: u8 = 4;

const STANDS_STILL: &str = "the clock of this test stands still: for a second, all that is under way has waited for a socket, a thread \
                            or a process, which a `TestClock` cannot see, so the deadline of a call can never pass. Let the model wait \
                            by `Reply::after` or `Reply::never`; or move the clock from another task, with `clock.sleep(..).await`; or \
                            leave out the `TestClock`";

/// A clock that somebody may wait for although nothing moves it.
pub(super) trait Watched: Send + Sync {
    fn life(&self) -> &Life;

    /// Whether somebody waits for a time of it.
    fn is_awaited(&self) -> bool;

    /// Wakes those who wait.
    fn wake(&self);
}

/// The signs of life of one clock.
#[derive(Debug)]
pub(super) struct Life {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    last_sign: Instant,
    called: Option<Instant>,
    /// Whether the last call was answered by a poll.
    answered: bool,
    calls: u8,
    is_watched: bool,
}

impl Life {
    pub(super) fn new() -> Self {
        let state = State {
            last_sign: Instant::now(),
            called: None,
            answered: false,
            calls: 0,
            is_watched: false,
        };
        Life {
            state: Mutex::new(state),
        }
    }

    /// The clock has moved.
    pub(super) fn moved(&self) {
        self.lock().sign();
    }

    /// Somebody who waits for a time was polled.
    ///
    /// # Panics
    /// If nothing but calls has polled anybody for a second.
    pub(super) fn polled(&self, clock: &Weak<dyn Watched>) {
        let mut state = self.lock();
        if !state.is_watched {
            state.is_watched = true;
            watch(Weak::clone(clock));
        }
        match state.called {
            Some(called) if called.elapsed() < ANSWERED => state.answered = true,
            _ => state.sign(),
        }
        let stands_still = state.calls >= CALLS && state.answered;
        drop(state);
        assert!(!stands_still, "{STANDS_STILL}");
    }

    /// Returns whether those who wait have to be woken.
    fn look(&self) -> bool {
        let mut state = self.lock();
        let is_busy = state.called.is_some() && !state.answered;
        if is_busy || state.last_sign.elapsed() < LOOK {
            return false;
        }
        state.called = Some(Instant::now());
        state.answered = false;
        state.calls += 1;
        true
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn sign(&mut self) {
        self.last_sign = Instant::now();
        self.called = None;
        self.calls = 0;
    }
}

static CLOCKS: Mutex<Vec<Weak<dyn Watched>>> = Mutex::new(Vec::new());

/// `None`: there could be no thread, and a test that hangs hangs.
static WATCHER: OnceLock<Option<Thread>> = OnceLock::new();

fn watch(clock: Weak<dyn Watched>) {
    clocks().push(clock);
    let watcher = WATCHER.get_or_init(|| {
        let thread = thread::Builder::new()
            .name("llmnode-test-clock".to_owned())
            .spawn(look_forever);
        thread.ok().map(|handle| handle.thread().clone())
    });
    if let Some(watcher) = watcher {
        watcher.unpark();
    }
}

fn look_forever() {
    loop {
        let watched = clocks().clone();
        if watched.is_empty() {
            thread::park();
            continue;
        }
        for clock in watched.iter().filter_map(Weak::upgrade) {
            if clock.is_awaited() && clock.life().look() {
                clock.wake();
            }
        }
        drop(watched);
        thread::sleep(LOOK);
        clocks().retain(|clock| clock.strong_count() > 0);
    }
}

fn clocks() -> MutexGuard<'static, Vec<Weak<dyn Watched>>> {
    CLOCKS.lock().unwrap_or_else(PoisonError::into_inner)
}
