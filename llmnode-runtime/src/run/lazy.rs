//! A future that is created at its first poll, from the input as it is then, and in its final place.

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
    fn poll(self: Pin<&mut Self>, input: &mut G, cx: &mut Context<'_>) -> Poll<T>;

    fn has_begun(&self) -> bool;
}

pub(super) fn lazy<G: Default, F: Future>(make: impl FnOnce(G) -> F) -> impl LazyFuture<G, F::Output> {
    Lazy { make: Some(make), future: None }
}

impl<M, F> Lazy<M, F> {
    /// Not inlined: what it moves would take stack space in each nested call.
    #[inline(never)]
    fn begin<G: Default>(self: Pin<&mut Self>, input: &mut G)
    where
        M: FnOnce(G) -> F,
    {
        let mut this = self.project();
        if let Some(make) = this.make.take() {
            this.future.set(Some(make(std::mem::take(input))));
        }
    }
}

impl<G: Default, F: Future, M: FnOnce(G) -> F> LazyFuture<G, F::Output> for Lazy<M, F> {
    fn poll(mut self: Pin<&mut Self>, input: &mut G, cx: &mut Context<'_>) -> Poll<F::Output> {
        if !self.has_begun() {
            self.as_mut().begin(input);
        }
        match self.project().future.as_pin_mut() {
            Some(future) => future.poll(cx),
            None => Poll::Pending,
        }
    }

    fn has_begun(&self) -> bool {
        self.make.is_none()
    }
}
