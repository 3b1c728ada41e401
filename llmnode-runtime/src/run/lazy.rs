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

impl<G: Default, F: Future, M: FnOnce(G) -> F> LazyFuture<G, F::Output> for Lazy<M, F> {
    fn poll(self: Pin<&mut Self>, given: &mut G, cx: &mut Context<'_>) -> Poll<F::Output> {
        let mut this = self.project();
        if let Some(make) = this.make.take() {
            this.future.set(Some(make(std::mem::take(given))));
        }
        match this.future.as_pin_mut() {
            Some(future) => future.poll(cx),
            // `make` is there until the first poll.
            None => Poll::Pending,
        }
    }

    fn has_begun(&self) -> bool {
        self.make.is_none()
    }
}
