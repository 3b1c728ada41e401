//! The body of a response, piece by piece. Nothing is read ahead: what nobody asks for stays with the server.

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

pub(crate) struct Incoming<'a> {
    service: &'a Service,
    body: &'a mut ResponseBody,
    deadline: Deadline,
    idle: Option<(Duration, Instant)>,
    expected: Option<u64>,
    read: usize,
    read_since: usize,
}

impl Service {
    pub(crate) fn incoming<'a>(&'a self, body: &'a mut ResponseBody, deadline: Deadline) -> Incoming<'a> {
        Incoming::new(self, body, deadline)
    }
}

impl<'a> Incoming<'a> {
    fn new(service: &'a Service, body: &'a mut ResponseBody, deadline: Deadline) -> Self {
        let expected = body.length();
        Incoming { service, body, deadline, idle: None, expected, read: 0, read_since: 0 }
    }

    pub(crate) fn set_idle_timeout(&mut self, idle: Option<Duration>) {
        let now = Instant::now();
        self.read_since = 0;
        self.idle = idle.and_then(|idle| Some((idle, now.checked_add(idle)?)));
    }

    pub(crate) fn reset_idle_timeout(&mut self) {
        self.set_idle_timeout(self.idle.map(|(idle, _)| idle));
    }

    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, ModelError> {
        let total = self.deadline.end();
        loop {
            let end = self.idle.map_or(total, |(_, end)| end.min(total));
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
                    let Some((idle, _)) = self.idle.filter(|_| now < total) else {
                        let state = format!("the response stood at {} bytes", self.read);
                        return Err(self.service.timed_out(&state, self.deadline));
                    };
                    if now.saturating_duration_since(end) < LATE_POLL {
                        let failure = self.service.idle(idle, self.read);
                        // The server may still work on the request: repeated, it would do it twice.
                        return Err(if self.read_since > 0 { failure.retry(Retry::No) } else { failure });
                    }
                    // Nobody polled, so nothing could be received.
                    self.reset_idle_timeout();
                }
            }
        }
    }

    pub(crate) async fn drain(&mut self) {
        let end = Instant::now() + DRAIN_TIMEOUT;
        while let Ok(Ok(Some(_))) = timeout_at(end, self.body.chunk()).await {}
    }
}
