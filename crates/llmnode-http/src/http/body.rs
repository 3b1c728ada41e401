//! The bodies of requests and responses.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::client_error::ClientError;

/// Notes its first read: only then does the request have a connection.
pub(crate) struct RequestBody {
    bytes: Option<Bytes>,
    begun: Arc<AtomicBool>,
}

impl RequestBody {
    pub(crate) fn new(bytes: Bytes, begun: Arc<AtomicBool>) -> RequestBody {
        RequestBody { bytes: Some(bytes).filter(|bytes| !bytes.is_empty()), begun }
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
        Poll::Ready(self.bytes.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

/// The body of a response, as it comes.
pub struct ResponseBody(pub(super) Source);

pub(super) enum Source {
    Pool(Incoming),
    #[cfg(feature = "http-client")]
    Own(reqwest::Body),
}

impl ResponseBody {
    /// If the server has said how long it is.
    pub fn length(&self) -> Option<u64> {
        match &self.0 {
            Source::Pool(body) => body.size_hint(),
            #[cfg(feature = "http-client")]
            Source::Own(body) => body.size_hint(),
        }
        .exact()
    }

    /// Waits for the next piece. Nothing is read ahead.
    pub fn chunk(&mut self) -> impl Future<Output = Result<Option<Bytes>, ClientError>> {
        std::future::poll_fn(|cx| self.poll_chunk(cx))
    }

    /// The next piece, or `None` at the end.
    pub fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, ClientError>> {
        loop {
            let frame = match &mut self.0 {
                Source::Pool(body) => {
                    let frame = ready!(Pin::new(body).poll_frame(cx));
                    frame.transpose().map_err(|error| ClientError::from(Box::from(error)))?
                }
                #[cfg(feature = "http-client")]
                Source::Own(body) => {
                    ready!(Pin::new(body).poll_frame(cx)).transpose().map_err(ClientError::of_reqwest)?
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
