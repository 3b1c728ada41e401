//! A future that is made at its first poll, out of what was given until then, in the place where it stays.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

pin_project! {
    struct Lazy<M, F> {
        make: Option<M>,
        #[pin]
        future: Option<F>,
    }
}

pub(super) trait LazyFuture<G, T> {
    fn poll(self: Pin<&mut Self>, given: &mut G, cx: &mut Context<'_>) -> Poll<T>;

    fn has_begun(&self) -> bool;
}

pub(super) fn lazy<G: Default, F: Future>(make: impl FnOnce(G) -> F) -> impl LazyFuture<G, F::Output> {
    Lazy { make: Some(make), future: None }
}

impl<M, F> Lazy<M, F> {
    /// Apart, so that what it moves takes no room on the stack while the future is polled: calls are nested deep.
    #[inline(never)]
    fn begin<G: Default>(self: Pin<&mut Self>, given: &mut G)
    where
        M: FnOnce(G) -> F,
    {
        let mut this = self.project();
        if let Some(make) = this.make.take() {
            this.future.set(Some(make(std::mem::take(given))));
        }
    }
}

impl<G: Default, F: Future, M: FnOnce(G) -> F> LazyFuture<G, F::Output> for Lazy<M, F> {
    fn poll(mut self: Pin<&mut Self>, given: &mut G, cx: &mut Context<'_>) -> Poll<F::Output> {
        if !self.has_begun() {
            self.as_mut().begin(given);
        }
        match self.project().future.as_pin_mut() {
            Some(future) => future.poll(cx),
            // It has begun.
            None => Poll::Pending,
        }
    }

    fn has_begun(&self) -> bool {
        self.make.is_none()
    }
}
