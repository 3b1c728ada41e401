//! Calls that may be dropped at any of their awaits, and their records.

use std::error::Error;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use llmnode::{CallRecord, OpenAi, Run, Settings};
use tokio::net::TcpSocket;

use super::account::Entry;
use super::clock::TurnClock;
use super::node::{Count, Judged};

/// A run that asks one server. For runtimes of one thread.
pub(crate) struct Caller {
    pub(crate) run: Run<Judged>,
    pub(crate) clock: TurnClock,
    /// Bound and not listening: it refuses, and keeps its port from others.
    _refusing: TcpSocket,
}

/// The name of a model whose server refuses connections.
pub(crate) const REFUSING: &str = "refusing";

impl Caller {
    /// `timeout`: of one attempt.
    pub(crate) fn new(base_url: &str, timeout: Duration) -> Result<Caller, Box<dyn Error>> {
        let model = |url: &str| {
            let builder = OpenAi::builder()
                .base_url(url)
                .model("m")
                .max_body_bytes(256 * 1024);
            builder.attempt_timeout(timeout).build()
        };
        let refusing = TcpSocket::new_v4()?;
        refusing.bind(([127, 0, 0, 1], 0).into())?;
        let nowhere = format!("http://{}/v1", refusing.local_addr()?);
        let clock = TurnClock::default();
        let run = Run::new(model(base_url)?).model(REFUSING, model(&nowhere)?);
        let run = run.with_clock(clock.clone()).with_state(Judged::default());
        run.ledger().remember(1);
        Ok(Caller {
            run,
            clock,
            _refusing: refusing,
        })
    }

    /// One call, dropped when it has been polled so often, if it has not ended by then; its record.
    pub(crate) async fn call(
        &self,
        number: u64,
        settings: Settings,
        polls: Option<u32>,
    ) -> Arc<CallRecord> {
        let node = Count { what: number };
        let mut call = Box::pin(self.run.call(&node).settings(settings));
        let mut polled = 0;
        poll_fn(|cx| {
            let ended = call.as_mut().poll(cx).is_ready();
            polled += 1;
            if ended || polls.is_some_and(|polls| polled > polls) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
        drop(call);
        // Nothing else has run since this call ended, so that the newest record is its own.
        self.run
            .ledger()
            .calls()
            .pop()
            .unwrap_or_else(|| unreachable!("a call that ended has a record"))
    }

    /// The ledger's entries of a call.
    pub(crate) fn entries(&self, record: &CallRecord) -> Vec<Entry> {
        Entry::of_call(record, self.run.state())
    }
}
