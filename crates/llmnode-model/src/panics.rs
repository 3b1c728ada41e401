//! Turns panics of the program's code into errors.
//!
//! A panic that is caught still prints through the panic hook; with `panic =
//! "abort"` none is caught.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;

/// Awaits a future; returns the message of a panic, when it is made or at any poll.
pub async fn catch_panic_async<F: Future>(make: impl FnOnce() -> F) -> Result<F::Output, String> {
    // Created in place: a move would cost more than the guard.
    let future = pin!(async { make().await });
    catch_panic_of(future).await
}

/// Awaits a future; returns the message of a panic at any poll. Whoever calls it pins the future, so that it is stored once.
pub fn catch_panic_of<F: Future + Unpin>(
    mut future: F,
) -> impl Future<Output = Result<F::Output, String>> {
    poll_fn(
        move |cx| match catch_panic(|| Pin::new(&mut future).poll(cx)) {
            Ok(poll) => poll.map(Ok),
            Err(message) => Poll::Ready(Err(message)),
        },
    )
}

/// Runs the program's code; returns the message of a panic.
pub fn catch_panic<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    let mut run = Some(run);
    let mut result = None;
    catch(&mut || {
        if let Some(run) = run.take() {
            result = Some(run());
        }
    })?;
    result.ok_or_else(String::new)
}

/// Compiled once, not for every node.
fn catch(run: &mut dyn FnMut()) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let message = text(&*panic).to_owned();
        // A payload may panic as it is dropped. The payload of that panic is leaked.
        if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
            std::mem::forget(again);
        }
        message
    })
}

fn text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

/// Ignores poisoning: nothing panics while such a mutex is locked.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("the payload is dropped");
        }
    }

    #[test]
    fn what_a_panic_carries_may_panic_too() {
        assert_eq!(
            catch_panic(|| std::panic::panic_any(Bomb)),
            Err::<(), _>("no message".to_owned())
        );
    }
}
