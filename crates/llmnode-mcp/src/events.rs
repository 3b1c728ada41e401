//! Events of a server, each of bounded size, with the messages in them [mended](crate::message).

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use futures_core::stream::BoxStream;
use llmnode_http::ext::{ClientError, ResponseBody};
use sse_stream::{Error as SseError, Sse, SseStream};

use crate::message::{self, Awaited};
use crate::unanswered::Unanswered;

/// They end with `given_up`.
pub(crate) fn events(
    body: ResponseBody,
    limit: usize,
    given_up: Cancelled,
    awaited: Option<Awaited>,
    listening: Option<Listening>,
    unanswered: Unanswered,
) -> BoxStream<'static, Result<Sse, SseError>> {
    let bytes = BoundedBytes {
        body,
        size: EventSize::default(),
        limit,
        given_up,
        failed: false,
    };
    let events = Box::pin(SseStream::from_bytes_stream(bytes));
    Box::pin(Mended {
        events,
        awaited,
        unanswered,
        _listening: listening,
    })
}

/// Counts a stream for as long as it is open.
pub(crate) struct Listening(Arc<AtomicUsize>);

impl Listening {
    pub(crate) fn new(count: &Arc<AtomicUsize>) -> Listening {
        count.fetch_add(1, Ordering::Relaxed);
        Listening(Arc::clone(count))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

struct Mended {
    events: BoxStream<'static, Result<Sse, SseError>>,
    awaited: Option<Awaited>,
    unanswered: Unanswered,
    _listening: Option<Listening>,
}

impl Stream for Mended {
    type Item = Result<Sse, SseError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut event = ready!(self.events.as_mut().poll_next(cx));
        if let Some(Ok(event)) = &mut event {
            event.retry = patient(event.retry);
        }
        if let Some(Ok(event)) = &mut event
            && let Some(data) = &event.data
            && let Some(message) = message::read(data.as_bytes(), self.awaited.as_ref())
        {
            event.data = self
                .unanswered
                .takes_json(&message)
                .then(|| message.to_string());
        }
        Poll::Ready(event)
    }
}

/// A server says after which time a client comes back, but not that it hammers at the door.
const SHORTEST_RETRY_MS: u64 = 1000;

fn patient(retry_ms: Option<u64>) -> Option<u64> {
    retry_ms.map(|wait| wait.max(SHORTEST_RETRY_MS))
}

type Cancelled = Pin<Box<dyn Future<Output = ()> + Send>>;

struct BoundedBytes {
    body: ResponseBody,
    size: EventSize,
    limit: usize,
    given_up: Cancelled,
    failed: bool,
}

#[derive(Debug)]
enum EventFault {
    Connection(ClientError),
    TooLarge(usize),
}

impl Stream for BoundedBytes {
    type Item = Result<Bytes, EventFault>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.failed {
            return Poll::Ready(None);
        }
        if self.given_up.as_mut().poll(cx).is_ready() {
            self.failed = true;
            return Poll::Ready(None);
        }
        let next = match ready!(self.body.poll_chunk(cx)) {
            Ok(Some(bytes)) => {
                let limit = self.limit;
                if self.size.fits(&bytes, limit) {
                    Ok(Some(bytes))
                } else {
                    Err(EventFault::TooLarge(limit))
                }
            }
            Ok(None) => Ok(None),
            Err(error) => Err(EventFault::Connection(error)),
        };
        self.failed = next.is_err();
        Poll::Ready(next.transpose())
    }
}

/// Bytes of an event that its reader keeps: data, not comments.
#[derive(Default)]
struct EventSize {
    lines: usize,
    line: usize,
    is_comment: bool,
    /// A line break of two bytes is one.
    after_return: bool,
}

impl EventSize {
    fn fits(&mut self, bytes: &[u8], limit: usize) -> bool {
        bytes.iter().all(|byte| {
            match byte {
                b'\n' if self.after_return => {}
                b'\r' | b'\n' => self.end_line(),
                byte => {
                    self.is_comment = if self.line == 0 {
                        *byte == b':'
                    } else {
                        self.is_comment
                    };
                    self.line += 1;
                }
            }
            self.after_return = *byte == b'\r';
            self.lines + self.line <= limit
        })
    }

    fn end_line(&mut self) {
        if self.line == 0 {
            self.lines = 0;
        } else if !self.is_comment {
            // Lines of data are joined by a line break.
            self.lines += self.line + 1;
        }
        self.line = 0;
    }
}

impl fmt::Display for EventFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EventFault::Connection(error) => write!(f, "the stream broke off ({})", error.cause()),
            EventFault::TooLarge(limit) => write!(f, "an event is longer than {limit} bytes"),
        }
    }
}

impl Error for EventFault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_may_ask_for_patience_but_not_for_haste() {
        assert_eq!(
            [Some(0), Some(999), Some(5000), None].map(patient),
            [Some(1000), Some(1000), Some(5000), None]
        );
    }

    #[test]
    fn an_event_is_measured_without_comments_and_across_pieces() {
        for (pieces, limit, fits) in [
            (&["data: ab\n\n"][..], 9, true),
            (&["data: ab\n\n"], 8, false),
            (&["data: aaaaa", "aaaaaa"], 16, false),
            (&["data: a\r", "\n\r\ndata: b\n\n"], 8, true),
            (&["data: a\rdata: b\r\r", "data: ab\r\r"], 16, true),
            (&[": ping\n: ping\n: ping\n"], 6, true),
            (&["data: a\n: ping\ndata: b\n"], 14, false),
            (&["data: aaa\ndata: bbb\n\n"], 18, false),
        ] {
            let mut size = EventSize::default();
            let all = pieces
                .iter()
                .all(|piece| size.fits(piece.as_bytes(), limit));
            assert_eq!(all, fits, "{pieces:?}");
        }
    }
}
