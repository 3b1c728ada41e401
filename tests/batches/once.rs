//! Starts that wait for no answer, and batches that do not even end when they are cancelled.

use std::time::Duration;

use llmnode::journal::MapExt as _;
use llmnode::prelude::*;
use llmnode::stub_server::{StubBatch, StubBatchFault};
use llmnode::{BatchApi, Category, Run};

use crate::support::{APIS, Api, Label, Place, label, letters, quick, run, sorting};

type Outcomes = Vec<Result<Label, NodeError>>;

/// A start that waits hangs here.
const HANGS: Duration = Duration::from_secs(40);

async fn start(run: &Run, place: &Place, count: usize, batches: BatchApi) -> Outcomes {
    let map = run
        .map(letters(count))
        .resume(place.open())
        .batch_api(batches);
    let outcomes = tokio::time::timeout(HANGS, map).await;
    outcomes.expect("it waits for no answer")
}

fn all_are(outcomes: &Outcomes, category: Category, what: &str) {
    for outcome in outcomes {
        let error = outcome.as_ref().unwrap_err();
        assert_eq!(error.category(), category, "{what}: {error}");
    }
}

/// Starts until every letter is sorted. Returns how many starts it took.
async fn start_again_and_again(run: &Run, place: &Place, count: usize, batches: BatchApi) -> usize {
    for starts in 1..10 {
        let outcomes = start(run, place, count, batches.clone()).await;
        if outcomes.iter().all(Result::is_ok) {
            for (number, outcome) in outcomes.into_iter().enumerate() {
                assert_eq!(outcome.unwrap(), label(number));
            }
            return starts;
        }
        for error in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
            assert_eq!(error.category(), Category::Paused, "{error}");
        }
    }
    panic!("it does not come to an end");
}

#[tokio::test]
async fn a_start_waits_for_no_queue() {
    for refusals in 1..=3 {
        let full = || {
            StubBatch::new().refused("token_limit_exceeded", "Enqueued token limit reached", None)
        };
        let refused = std::iter::repeat_with(full).take(refusals);
        let server = sorting().batches(refused).start().await.unwrap();
        let place = Place::new("once-full");
        let run = run(&server, Api::Chat);
        start_again_and_again(&run, &place, 500, BatchApi::once()).await;
        assert_eq!(server.billed_lines().len(), 550, "{refusals}");
        let history = place.open().history().unwrap();
        assert_eq!(history.ledger().total().requests, 550, "{refusals}");
        assert!(history.unknown().is_empty(), "{refusals}");
    }
}

#[tokio::test]
async fn a_start_waits_for_no_creation() {
    for api in APIS {
        for was_created in [false, true] {
            let what = format!("{api:?} {was_created}");
            let server = sorting().start().await.unwrap();
            let path = match api {
                Api::Gemini => ":batchGenerateContent",
                _ => "/batches",
            };
            let fault = StubBatchFault::new("POST", path, 503);
            server.push_batch_fault(match was_created {
                true => fault.after_all(),
                false => fault,
            });
            let place = Place::new("once-creation");
            let run = run(&server, api);
            let outcomes = start(&run, &place, 3, BatchApi::once()).await;
            all_are(&outcomes, Category::ServerError, &what);
            start_again_and_again(&run, &place, 3, BatchApi::once()).await;
            assert_eq!(server.batches_seen(), 1, "{what}");
            assert_eq!(server.billed_lines().len(), 3, "{what}");
        }
    }
}

/// Anthropic's batches have no name: which is the one of a plan, only its results say.
#[tokio::test]
async fn a_start_waits_for_no_batch_that_may_be_its_own() {
    for api in APIS {
        let what = format!("{api:?}");
        let slow = StubBatch::new().in_progress(2);
        let server = sorting().batches([slow]).start().await.unwrap();
        let path = match api {
            Api::Gemini => ":batchGenerateContent",
            _ => "/batches",
        };
        server.push_batch_fault(StubBatchFault::new("POST", path, 503).after_all());
        let place = Place::new("once-may-be");
        let run = run(&server, api);
        let outcomes = start(&run, &place, 3, BatchApi::once()).await;
        all_are(&outcomes, Category::ServerError, &what);
        let starts = start_again_and_again(&run, &place, 3, BatchApi::once()).await;
        assert_eq!(starts, 3, "{what}");
        assert_eq!(server.batches_seen(), 1, "{what}");
        assert_eq!(server.billed_lines().len(), 3, "{what}");
    }
}

#[tokio::test]
async fn a_start_cancels_a_batch_that_is_late_and_sends_the_rest() {
    for api in APIS {
        let what = format!("{api:?}");
        let late = StubBatch::new().in_progress(u32::MAX);
        let server = sorting().batches([late]).start().await.unwrap();
        let place = Place::new("once-late");
        let run = run(&server, api);
        let outcomes = start(&run, &place, 3, BatchApi::once()).await;
        all_are(&outcomes, Category::Paused, &what);
        // In the journal, the times of batches have milliseconds.
        tokio::time::sleep(Duration::from_millis(5)).await;
        let over = BatchApi::once().within(Duration::from_millis(1));
        start_again_and_again(&run, &place, 3, over).await;
        assert_eq!(server.batches_seen(), 2, "{what}");
        assert_eq!(server.billed_lines().len(), 3, "{what}");
    }
}

#[tokio::test]
async fn a_batch_without_an_end_is_not_paid_twice_unless_that_is_asked_for() {
    for api in APIS {
        for once in [false, true] {
            let batches = match once {
                true => BatchApi::once(),
                false => quick(),
            };
            let what = format!("{api:?} {batches:?}");
            let never = StubBatch::new().never_ends();
            let server = sorting().batches([never]).start().await.unwrap();
            let place = Place::new("never-ends");
            let run = run(&server, api);
            let outcomes = start(&run, &place, 3, BatchApi::once()).await;
            all_are(&outcomes, Category::Paused, &what);
            tokio::time::sleep(Duration::from_millis(50)).await;

            let in_time = batches.within(Duration::from_millis(20));
            if once {
                // It is cancelled, and has time for that.
                let outcomes = start(&run, &place, 3, in_time.clone()).await;
                all_are(&outcomes, Category::Paused, &what);
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            for _ in 0..2 {
                let outcomes = start(&run, &place, 3, in_time.clone()).await;
                all_are(&outcomes, Category::Timeout, &what);
                let message = outcomes[0].as_ref().unwrap_err().message().to_owned();
                assert!(message.contains("may be paid for"), "{what} {message}");
                assert_eq!(server.batches_seen(), 1, "{what}");
            }

            let outcomes = start(&run, &place, 3, in_time.then_at_once()).await;
            for (number, outcome) in outcomes.iter().enumerate() {
                let sorted = outcome
                    .as_ref()
                    .unwrap_or_else(|error| panic!("{what} {error}"));
                assert_eq!(*sorted, label(number), "{what}");
            }
            assert_eq!(server.batches_seen(), 1, "{what}");
            let total = run.ledger().total();
            assert_eq!(total.total.unreported_calls, 3, "{what}");
            assert_eq!(total.total.known, 330, "{what}");
        }
    }
}

#[tokio::test]
async fn however_late_a_start_looks_a_batch_has_time_for_its_cancel() {
    for api in APIS {
        let what = format!("{api:?}");
        let late = StubBatch::new().in_progress(u32::MAX);
        let slow = late.cancelling(1).cancelled_after(2);
        let server = sorting().batches([slow]).start().await.unwrap();
        let place = Place::new("once-cancelling");
        let run = run(&server, api);
        let outcomes = start(&run, &place, 3, BatchApi::once()).await;
        all_are(&outcomes, Category::Paused, &what);
        tokio::time::sleep(Duration::from_millis(5)).await;

        // All of its time is over, and that for a cancel, too.
        let over = BatchApi::once()
            .within(Duration::from_millis(1))
            .then_at_once();
        let outcomes = start(&run, &place, 3, over.clone()).await;
        all_are(&outcomes, Category::Paused, &what);
        let starts = start_again_and_again(&run, &place, 3, over).await;
        assert_eq!(starts, 1, "{what}");
        // Two were answered by the batch, and the third at once.
        assert_eq!(server.billed_lines().len(), 2, "{what}");
        assert_eq!(run.ledger().total().total.known, 330, "{what}");
        assert_eq!(server.batches_seen(), 1, "{what}");
    }
}

#[tokio::test]
async fn a_batch_that_ended_in_time_is_not_late_because_nobody_looked() {
    for api in APIS {
        let what = format!("{api:?}");
        let partial = StubBatch::new().in_progress(1).expires_after(2);
        let server = sorting().batches([partial]).start().await.unwrap();
        let place = Place::new("once-in-time");
        let run = run(&server, api);
        let outcomes = start(&run, &place, 3, BatchApi::once()).await;
        all_are(&outcomes, Category::Paused, &what);
        tokio::time::sleep(Duration::from_millis(5)).await;

        let over = BatchApi::once()
            .within(Duration::from_millis(1))
            .then_at_once();
        start_again_and_again(&run, &place, 3, over).await;
        // What expired is in the next batch, at its price.
        assert_eq!(server.batches_seen(), 2, "{what}");
        assert_eq!(server.billed_lines().len(), 3, "{what}");
    }
}

/// Whether it ends is then a matter of its age.
#[tokio::test]
async fn a_batch_that_cannot_be_cancelled_is_given_up() {
    for api in APIS {
        let what = format!("{api:?}");
        let never = StubBatch::new().never_ends();
        let server = sorting().batches([never]).start().await.unwrap();
        let place = Place::new("once-uncancelled");
        let run = run(&server, api);
        let outcomes = start(&run, &place, 3, BatchApi::once()).await;
        all_are(&outcomes, Category::Paused, &what);
        tokio::time::sleep(Duration::from_millis(20)).await;

        let refused = StubBatchFault::new("POST", "cancel", 403).times(9);
        server.push_batch_fault(refused);
        let over = BatchApi::once().within(Duration::from_millis(5));
        let outcomes = start(&run, &place, 3, over.clone()).await;
        all_are(&outcomes, Category::Timeout, &what);
        let message = outcomes[0].as_ref().unwrap_err().message().to_owned();
        assert!(
            message.contains("could not be cancelled"),
            "{what} {message}"
        );
        let outcomes = start(&run, &place, 3, over.then_at_once()).await;
        assert!(outcomes.iter().all(Result::is_ok), "{what} {outcomes:?}");
        assert_eq!(server.batches_seen(), 1, "{what}");
    }
}
