//! Maps of more rows than a batch has: their batches are under way side by side, within what was said of memory and queues.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use llmnode::journal::MapExt as _;
use llmnode::stub_server::{StubBatch, StubServer};
use llmnode::{BatchApi, Run, TestClock};

use crate::support::{APIS, Api, Place, label, letters, quick, run, sorting};

/// The most that was seen at the same time.
#[derive(Clone, Copy, Debug, Default)]
struct Most {
    waiting: usize,
    in_flight: usize,
    batches: usize,
}

/// Sorts so many letters, eight at once. All are right.
async fn sort(run: &Run, count: usize, batches: BatchApi, place: &Place) -> Most {
    let most = Arc::new(Mutex::new(Most::default()));
    let seen = Arc::clone(&most);
    let outcomes = run
        .map(letters(count))
        .on_progress(move |progress| {
            let mut most = seen.lock().unwrap();
            most.waiting = most.waiting.max(progress.waiting);
            most.in_flight = most.in_flight.max(progress.in_flight);
            most.batches = most.batches.max(progress.batches);
        })
        .resume(place.open())
        .batch_api(batches)
        .await;
    for (number, outcome) in outcomes.into_iter().enumerate() {
        assert_eq!(outcome.unwrap(), label(number));
    }
    let most = most.lock().unwrap();
    *most
}

/// How many lines each batch was billed for.
fn billed_by_batch(server: &StubServer) -> BTreeMap<String, usize> {
    let mut lines = BTreeMap::new();
    for line in server.billed_lines() {
        *lines.entry(line.batch).or_default() += 1;
    }
    lines
}

#[tokio::test]
async fn the_next_rows_are_sent_while_the_first_batch_is_answered() {
    for api in APIS {
        let slow = std::iter::repeat_with(|| StubBatch::new().in_progress(40)).take(5);
        let server = sorting().batches(slow).start().await.unwrap();
        let place = Place::new("side-by-side");
        let run = run(&server, api);
        // Of 47 letters, five are corrected. Five batches of six are 30, the others come when these are read.
        let most = sort(&run, 47, quick().max_requests(6), &place).await;
        assert_eq!(most.batches, 5, "{api:?} {most:?}");
        assert_eq!(most.in_flight, 30, "{api:?} {most:?}");
        assert!(most.waiting <= 30, "{api:?} {most:?}");
        let lines = billed_by_batch(&server);
        assert!(lines.values().all(|lines| *lines <= 6), "{api:?} {lines:?}");
        assert_eq!(server.billed_lines().len(), 52, "{api:?}");
        assert_eq!(run.ledger().total().requests, 52, "{api:?}");
        assert_eq!(server.files_left(), 0, "{api:?}");
    }
}

#[tokio::test]
async fn no_more_calls_wait_than_five_batches_have_whatever_the_concurrency() {
    let server = sorting().start().await.unwrap();
    let place = Place::new("bound");
    let run = run(&server, Api::Chat);
    let most = sort(&run, 23, quick().max_requests(1), &place).await;
    assert_eq!(most.in_flight, 5, "{most:?}");
    let lines = billed_by_batch(&server);
    assert!(lines.values().all(|lines| *lines == 1), "{lines:?}");
}

#[tokio::test]
async fn a_full_queue_makes_batches_wait_for_others_and_not_smaller() {
    let server = sorting().start().await.unwrap();
    server.queue_lines_at_most(250);
    let place = Place::new("queue");
    let run = run(&server, Api::Chat).with_clock(TestClock::new());
    sort(&run, 790, quick().max_requests(100), &place).await;
    let lines = billed_by_batch(&server);
    let whole = lines.values().filter(|lines| **lines == 100).count();
    assert!(whole >= 5, "{lines:?}");
    // 79 corrections, each in a batch after that of its letter.
    assert_eq!(server.billed_lines().len(), 869);
    let refused = server.batches_seen() - lines.len();
    assert!(refused <= 5, "{refused} were refused");
}

#[tokio::test]
async fn an_order_larger_than_the_queue_is_made_smaller() {
    let server = sorting().start().await.unwrap();
    server.queue_lines_at_most(130);
    let place = Place::new("small-queue");
    let run = run(&server, Api::Chat).with_clock(TestClock::new());
    sort(&run, 500, quick(), &place).await;
    assert_eq!(server.billed_lines().len(), 550);
    assert_eq!(run.ledger().total().requests, 550);
}
