//! The bodies of requests and responses.
//!
//! A request's body is one buffer, or pieces that are made as they are sent. A response's body is read by a task that may
//! never have to wait: a server on the same machine can be faster than its answer
//! is read. Then timers of the runtime would not be looked at, and a deadline
//! around the read would not end it. So after so many bytes the reader waits for
//! one turn of the others.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use llmnode_model::internal::lock;

use super::client_error::ClientError;

/// A body that is too large to be in memory as a whole.
#[cfg(feature = "batch")]
pub(crate) trait Pieces: Send + Sync {
    /// The next piece. `None`: that was the last one.
    fn next_piece(&mut self) -> Option<Bytes>;

    /// How many bytes are left.
    fn left(&self) -> u64;
}

/// What a request sends.
pub(crate) enum Content {
    Whole(Bytes),
    #[cfg(feature = "batch")]
    Pieces(Box<dyn Pieces>),
}

impl From<Bytes> for Content {
    fn from(bytes: Bytes) -> Content {
        Content::Whole(bytes)
    }
}

/// Notes its first read: only then does the request have a connection.
pub(crate) struct RequestBody {
    content: Content,
    begun: Arc<AtomicBool>,
}

impl RequestBody {
    pub(crate) fn new(bytes: Bytes, begun: Arc<AtomicBool>) -> RequestBody {
        RequestBody::of(Content::Whole(bytes), begun)
    }

    pub(crate) fn of(content: Content, begun: Arc<AtomicBool>) -> RequestBody {
        RequestBody { content, begun }
    }

    fn left(&self) -> u64 {
        match &self.content {
            Content::Whole(bytes) => bytes.len() as u64,
            #[cfg(feature = "batch")]
            Content::Pieces(pieces) => pieces.left(),
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.begun.store(true, Ordering::Relaxed);
        let piece = match &mut self.content {
            Content::Whole(bytes) => Some(std::mem::take(bytes)).filter(|bytes| !bytes.is_empty()),
            #[cfg(feature = "batch")]
            Content::Pieces(pieces) => pieces.next_piece(),
        };
        Poll::Ready(piece.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.left() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left())
    }
}

/// After so many bytes, other tasks get a turn, and who waits with a deadline looks
/// at it: a server may be faster than its answer is read, and then reading would
/// never wait.
const TURN_BYTES: usize = 64 * 1024;

/// What a piece counts at least. Servers may send single bytes.
const LEAST_PIECE: usize = 256;

/// The body of a response, as it comes.
pub struct ResponseBody {
    source: Source,
    /// Of the last piece, what has not been passed on.
    rest: Bytes,
    /// Bytes since the last turn of the other tasks.
    since_turn: usize,
    turn: Option<Arc<Turn>>,
    /// The turn that began was over at once, so the reader waits a second time.
    waits_again: bool,
}

/// The turn of the other tasks. It is over once the runtime has looked at its
/// timers and wakes the reader; that the same task polls again, as one does that
/// takes what was read meanwhile, does not end it.
struct Turn {
    is_over: AtomicBool,
    reader: Mutex<Waker>,
}

impl Turn {
    fn begin(reader: &Waker) -> Arc<Turn> {
        let turn = Arc::new(Turn {
            is_over: AtomicBool::new(false),
            reader: Mutex::new(reader.clone()),
        });
        let waker = Waker::from(Arc::clone(&turn));
        // All that is wanted of it is that the runtime notes whom to wake.
        let _ = pin!(tokio::task::yield_now()).poll(&mut Context::from_waker(&waker));
        turn
    }

    fn is_over(&self, reader: &Waker) -> bool {
        lock(&self.reader).clone_from(reader);
        self.is_over.load(Ordering::Acquire)
    }
}

impl Wake for Turn {
    fn wake(self: Arc<Self>) {
        self.is_over.store(true, Ordering::Release);
        let reader = lock(&self.reader).clone();
        reader.wake();
    }
}

/// Where the pieces come from.
pub(super) enum Source {
    Pool(Incoming),
    #[cfg(feature = "http-client")]
    Own(reqwest::Body),
    /// Gives this piece again and again.
    #[cfg(test)]
    Endless(Bytes),
    /// The same, but it is not there each other time.
    #[cfg(test)]
    Faltering {
        piece: Bytes,
        is_there: bool,
    },
}

impl ResponseBody {
    pub(super) fn new(source: Source) -> ResponseBody {
        ResponseBody {
            source,
            rest: Bytes::new(),
            since_turn: 0,
            turn: None,
            waits_again: false,
        }
    }

    /// If the server has said how long it is.
    pub fn length(&self) -> Option<u64> {
        match &self.source {
            Source::Pool(body) => body.size_hint(),
            #[cfg(feature = "http-client")]
            Source::Own(body) => body.size_hint(),
            #[cfg(test)]
            Source::Endless(_) | Source::Faltering { .. } => SizeHint::default(),
        }
        .exact()
    }

    /// Waits for the next piece. Nothing is read ahead.
    pub fn chunk(&mut self) -> impl Future<Output = Result<Option<Bytes>, ClientError>> {
        std::future::poll_fn(|cx| self.poll_chunk(cx))
    }

    /// The next piece, or `None` at the end. It is not ready now and then although
    /// a piece is there, so that a fast server keeps no thread busy.
    pub fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, ClientError>> {
        ready!(self.poll_turn(cx));
        if self.rest.is_empty() {
            // That no piece is there does not begin a turn: who has something to
            // pass on polls again at once, and finds the next piece, which the
            // connection's own task has read meanwhile.
            let Some(piece) = ready!(self.poll_source(cx))? else {
                return Poll::Ready(Ok(None));
            };
            self.rest = piece;
        }
        let piece = self.rest.split_to(self.rest.len().min(TURN_BYTES));
        self.since_turn += piece.len().max(LEAST_PIECE);
        Poll::Ready(Ok(Some(piece)))
    }

    fn poll_turn(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.since_turn < TURN_BYTES {
            return Poll::Ready(());
        }
        let Some(turn) = &self.turn else {
            let turn = Turn::begin(cx.waker());
            self.waits_again = turn.is_over(cx.waker());
            self.turn = Some(turn);
            return Poll::Pending;
        };
        if !turn.is_over(cx.waker()) {
            return Poll::Pending;
        }
        // `block_on` of a runtime with several threads has no queue for tasks that
        // yield: it wakes them at once. Who still had something to pass on has not
        // waited the first time, and a timeout around it has not been looked at.
        if std::mem::take(&mut self.waits_again) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.since_turn = 0;
        self.turn = None;
        Poll::Ready(())
    }

    fn poll_source(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, ClientError>> {
        loop {
            let frame = match &mut self.source {
                Source::Pool(body) => {
                    let frame = ready!(Pin::new(body).poll_frame(cx));
                    frame
                        .transpose()
                        .map_err(|error| ClientError::from(Box::from(error)))?
                }
                #[cfg(feature = "http-client")]
                Source::Own(body) => ready!(Pin::new(body).poll_frame(cx))
                    .transpose()
                    .map_err(ClientError::of_reqwest)?,
                #[cfg(test)]
                Source::Endless(piece) => Some(Frame::data(piece.clone())),
                #[cfg(test)]
                Source::Faltering { piece, is_there } => {
                    *is_there = !*is_there;
                    if !*is_there {
                        cx.waker().wake_by_ref();
                        return Poll::Pending;
                    }
                    Some(Frame::data(piece.clone()))
                }
            };
            match frame.map(Frame::into_data) {
                Some(Err(_)) => {}
                Some(Ok(bytes)) => return Poll::Ready(Ok(Some(bytes))),
                None => return Poll::Ready(Ok(None)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, timeout_at};

    use super::*;

    fn endless(piece: &[u8]) -> ResponseBody {
        ResponseBody::new(Source::Endless(Bytes::copy_from_slice(piece)))
    }

    /// The pieces that are read before the reader has to wait.
    fn pieces_of_a_turn(body: &mut ResponseBody) -> Vec<Bytes> {
        let mut cx = Context::from_waker(Waker::noop());
        let mut pieces = Vec::new();
        while let Poll::Ready(piece) = body.poll_chunk(&mut cx) {
            pieces.extend(piece.unwrap());
        }
        assert!(
            body.poll_chunk(&mut cx).is_pending(),
            "the same task went on"
        );
        pieces
    }

    #[tokio::test]
    async fn a_server_that_is_never_waited_for_leaves_others_their_turns() {
        let long: Vec<u8> = (0..1_000_000_u32).map(|at| (at % 251) as u8).collect();
        for length in [1, 300, TURN_BYTES, TURN_BYTES + 1, long.len()] {
            let mut body = endless(&long[..length]);
            let mut read = Vec::new();
            while read.len() < 2 * length {
                let pieces = pieces_of_a_turn(&mut body);
                tokio::task::yield_now().await;
                assert!(pieces.len() <= TURN_BYTES / LEAST_PIECE, "{length}");
                let bytes = pieces.concat();
                assert!(
                    !bytes.is_empty() && bytes.len() < 2 * TURN_BYTES,
                    "{length}"
                );
                read.extend(bytes);
            }
            assert!(
                read.starts_with(&[&long[..length], &long[..length]].concat()),
                "{length}"
            );
        }
    }

    #[tokio::test]
    async fn a_deadline_is_looked_at_though_a_piece_is_always_there() {
        for piece in [&b" "[..], &[b' '; 500_000]] {
            let mut body = endless(piece);
            let reading = async { while let Ok(Some(_)) = body.chunk().await {} };
            assert!(timeout_at(Instant::now(), reading).await.is_err());
        }
    }

    /// As a stream does that has events to pass on before it waits.
    fn read_along(body: &mut ResponseBody, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let mut has_read = false;
            while body.poll_chunk(cx).is_ready() {
                has_read = true;
            }
            if !has_read {
                return Poll::Pending;
            }
        }
    }

    /// Whoever passes on what was read before a piece was not there polls again in
    /// the same poll of its task.
    #[tokio::test]
    async fn a_piece_that_is_not_there_at_once_is_no_turn_of_the_others() {
        let source = Source::Faltering {
            piece: Bytes::from_static(b" "),
            is_there: false,
        };
        let mut body = ResponseBody::new(source);
        let mut cx = Context::from_waker(Waker::noop());
        let polls = 4 * TURN_BYTES / LEAST_PIECE;
        let read = (0..polls).filter(|_| body.poll_chunk(&mut cx).is_ready());
        assert_eq!(read.count(), TURN_BYTES / LEAST_PIECE);
        tokio::task::yield_now().await;
        let read = (0..polls).filter(|_| body.poll_chunk(&mut cx).is_ready());
        assert_eq!(read.count(), TURN_BYTES / LEAST_PIECE);
    }

    #[test]
    fn a_deadline_is_looked_at_where_nobody_queues_who_yields() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut body = endless(b" ");
            let reading = std::future::poll_fn(|cx| read_along(&mut body, cx));
            assert!(timeout_at(Instant::now(), reading).await.is_err());
        });
    }
}
