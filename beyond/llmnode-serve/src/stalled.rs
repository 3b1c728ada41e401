//! A connection whose other end does not read: it is closed, since it would hold a
//! page's place and its memory for ever.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// Fails a write that has waited for this long.
pub(crate) struct Stalled<S> {
    stream: S,
    after: Duration,
    /// While a write waits.
    waits: Option<Pin<Box<Sleep>>>,
}

impl<S> Stalled<S> {
    pub(crate) fn new(stream: S, after: Duration) -> Self {
        Stalled {
            stream,
            after,
            waits: None,
        }
    }

    /// `done`: what became of a write.
    fn checked<T>(
        &mut self,
        done: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.waits = None;
            return done;
        }
        let after = self.after;
        let waits = self.waits.get_or_insert_with(|| Box::pin(sleep(after)));
        ready!(waits.as_mut().poll(context));
        // Another poll does not find a timer that has ended.
        waits.as_mut().reset(Instant::now() + after);
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the other end does not read",
        )))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stalled<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stalled<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.checked(done, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.checked(done, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_write_that_nobody_reads_fails_and_one_that_is_read_does_not() {
        let (ours, theirs) = duplex(16);
        let mut ours = Stalled::new(ours, Duration::from_secs(30));
        let error = ours.write_all(&[0; 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(theirs);

        let (ours, mut theirs) = duplex(16);
        let mut ours = Stalled::new(ours, Duration::from_secs(30));
        let reader = tokio::spawn(async move {
            let mut part = [0; 16];
            let mut read = 0;
            while read < 64 {
                tokio::time::sleep(Duration::from_secs(20)).await;
                read += theirs.read(&mut part).await.unwrap();
            }
        });
        ours.write_all(&[0; 64]).await.unwrap();
        reader.await.unwrap();
    }
}
