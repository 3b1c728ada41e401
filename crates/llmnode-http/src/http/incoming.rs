//! The body of a response, piece by piece. Nothing is read ahead: what nobody asks
//! for stays with the server.
//!
//! Three ends are watched while a piece is waited for: the attempt's own, the idle
//! time (nothing comes at all, or nothing that counts), and the thinking time
//! (events come, and no content). Which of them holds depends on what came last,
//! and that is told by the reader of the answer: only it knows what an event is.
//!
//! If nobody polled for a while, the times begin anew: a program that was busy
//! elsewhere must not take that for a server that is dead.

use std::time::Duration;

use bytes::Bytes;
use llmnode_model::{ModelError, Retry};
use tokio::time::{Instant, timeout_at};

use super::body::ResponseBody;
use super::service::{Deadline, Service};

/// After the last event: reading to the end frees the connection for reuse.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(20);

/// A timer that fires this late shows that nobody polled.
const LATE_POLL: Duration = Duration::from_secs(1);

/// `read_since`: the bytes since the idle time began.
pub(crate) struct Incoming<'a> {
    service: &'a Service,
    body: &'a mut ResponseBody,
    deadline: Deadline,
    idle: Option<(Duration, Instant)>,
    /// The longest time without content, whatever else comes.
    thinking: Option<(Duration, Instant)>,
    /// It began without content, or goes on without.
    is_thinking: bool,
    expected: Option<u64>,
    read: usize,
    read_since: usize,
}

/// When to give up, and for which of the two reasons.
struct IdleEnd {
    timeout: Duration,
    end: Instant,
    is_thinking: bool,
}

impl Service {
    pub(crate) fn incoming<'a>(
        &'a self,
        body: &'a mut ResponseBody,
        deadline: Deadline,
    ) -> Incoming<'a> {
        Incoming::new(self, body, deadline)
    }
}

impl<'a> Incoming<'a> {
    fn new(service: &'a Service, body: &'a mut ResponseBody, deadline: Deadline) -> Self {
        let expected = body.length();
        Incoming {
            service,
            body,
            deadline,
            idle: None,
            thinking: None,
            is_thinking: true,
            expected,
            read: 0,
            read_since: 0,
        }
    }

    pub(crate) fn set_idle_timeout(&mut self, idle: Option<Duration>) {
        let now = Instant::now();
        self.read_since = 0;
        self.idle = idle.and_then(|idle| Some((idle, now.checked_add(idle)?)));
    }

    /// Both times begin now.
    pub(crate) fn begin_stream(&mut self, idle: Option<Duration>, thinking: Duration) {
        self.set_idle_timeout(idle);
        self.thinking = Instant::now()
            .checked_add(thinking)
            .map(|end| (thinking, end));
    }

    /// An event without content, from a model that may think.
    pub(crate) fn event_came(&mut self) {
        self.set_idle_timeout(self.idle.map(|(idle, _)| idle));
        self.is_thinking = true;
    }

    /// The model writes: from now on only content counts.
    pub(crate) fn content_came(&mut self) {
        let thinking = self.thinking.map(|(thinking, _)| thinking);
        self.begin_stream(
            self.idle.map(|(idle, _)| idle),
            thinking.unwrap_or(Duration::MAX),
        );
        self.is_thinking = false;
    }

    /// When to give up, if not at the end of the attempt, and why.
    fn idle_end(&self) -> Option<IdleEnd> {
        let idle = self.idle.map(|(timeout, end)| IdleEnd {
            timeout,
            end,
            is_thinking: false,
        });
        let thinking = self.thinking.filter(|_| self.is_thinking);
        let thinking = thinking.map(|(timeout, end)| IdleEnd {
            timeout,
            end,
            is_thinking: true,
        });
        idle.into_iter().chain(thinking).min_by_key(|idle| idle.end)
    }

    /// The next piece, `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, ModelError> {
        let total = self.deadline.end();
        loop {
            let idle_end = self.idle_end();
            let end = idle_end.as_ref().map_or(total, |idle| idle.end.min(total));
            // Bytes already in the socket win over the timeout: they arrived in time.
            match timeout_at(end, self.body.chunk()).await {
                Ok(Ok(Some(bytes))) => {
                    self.read = self.read.saturating_add(bytes.len());
                    self.read_since = self.read_since.saturating_add(bytes.len());
                    return Ok(Some(bytes));
                }
                Ok(Ok(None)) => return Ok(None),
                Ok(Err(error)) => {
                    return Err(self.service.read_failure(&error, self.read, self.expected));
                }
                Err(_) => {
                    let now = Instant::now();
                    let Some(idle) = idle_end.filter(|_| now < total) else {
                        let state = format!("the response stood at {} bytes", self.read);
                        return Err(self.service.timed_out(&state, self.deadline));
                    };
                    if now.saturating_duration_since(end) < LATE_POLL {
                        let failure = match idle.is_thinking {
                            true => self.service.thinks_too_long(idle.timeout, self.read),
                            false => self.service.idle(idle.timeout, self.read),
                        };
                        // The server may still work on the request: repeated, it would do it twice.
                        let may_work = idle.is_thinking || self.read_since > 0;
                        return Err(if may_work {
                            failure.retry(Retry::No)
                        } else {
                            failure
                        });
                    }
                    // Nobody polled, so nothing could be received.
                    let is_thinking = self.is_thinking;
                    self.content_came();
                    self.is_thinking = is_thinking;
                }
            }
        }
    }

    /// So that the connection can be used again; not for long.
    pub(crate) async fn drain(&mut self) {
        let end = Instant::now() + DRAIN_TIMEOUT;
        while let Ok(Ok(Some(_))) = timeout_at(end, self.body.chunk()).await {}
    }
}
