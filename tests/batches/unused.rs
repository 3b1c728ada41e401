//! Lines that an earlier process sent, and that no request of the map asks for.

use std::time::Duration;

use llmnode::BatchApi;
use llmnode::journal::MapExt as _;
use llmnode::stub_server::{StubBatch, StubServer};

use crate::money::prices;
use crate::recorder::Recorder;
use crate::support::{APIS, Api, Place, Sort, letters, quick, run, sorting};

/// A process sends the first four letters by one batch, and ends.
async fn left_by_a_process(batch: StubBatch, api: Api, place: &Place) -> StubServer {
    let server = sorting().batches([batch]).start().await.unwrap();
    let outcomes = run(&server, api)
        .map(letters(4))
        .resume(place.open())
        .batch_api(BatchApi::once())
        .await;
    assert!(outcomes.iter().all(Result::is_err), "{api:?}");
    server
}

/// A later process sorts these letters. Returns what it said of the journal.
async fn sort(server: &StubServer, api: Api, place: &Place, letters: Vec<Sort>) -> Vec<String> {
    let (said, _guard) = Recorder::start();
    let outcomes = run(server, api)
        .with_prices(prices())
        .map(letters)
        .resume(place.open())
        .batch_api(quick())
        .await;
    assert!(outcomes.iter().all(Result::is_ok), "{api:?} {outcomes:?}");
    let told = said.events("llmnode::journal");
    told.iter()
        .map(|event| event.fields["message"].clone())
        .collect()
}

#[tokio::test]
async fn lines_that_nobody_asks_for_are_named_with_what_they_cost_and_kept() {
    for api in APIS {
        let place = Place::new("unused-some");
        let once_more = StubBatch::new().in_progress(1);
        let server = left_by_a_process(once_more, api, &place).await;
        // Two are asked for; the prompts of the others were changed.
        let mut changed = letters(12).split_off(10);
        changed.extend(letters(3).split_off(1));
        let told = sort(&server, api, &place, changed).await;
        assert_eq!(told.len(), 1, "{api:?} {told:?}");
        assert!(told[0].contains("2 lines that no request"), "{told:?}");
        // 100 tokens in and 10 out each, at the price of batches.
        let cost = "2 of them were answered, took 220 tokens, and cost 0.0001";
        assert!(told[0].contains(cost), "{api:?} {told:?}");

        // Changed back, what is paid for is there; letter 3 is corrected.
        let billed = server.billed_lines().len();
        let told = sort(&server, api, &place, letters(4)).await;
        assert!(told.iter().all(|told| !told.contains("lines")), "{told:?}");
        assert_eq!(server.billed_lines().len(), billed + 1, "{api:?}");
        assert_eq!(server.files_left(), 0, "{api:?}");
    }
}

#[tokio::test]
async fn so_is_a_batch_of_which_nobody_asks_for_a_line() {
    for api in APIS {
        for (looks, end) in [
            (1, "cost 0.0002"),
            (u32::MAX, "paid for when they are answered"),
        ] {
            let place = Place::new("unused-all");
            let batch = StubBatch::new().in_progress(looks);
            let server = left_by_a_process(batch, api, &place).await;
            let told = sort(&server, api, &place, letters(12).split_off(10)).await;
            assert_eq!(told.len(), 1, "{api:?} {told:?}");
            assert!(told[0].contains("4 lines that no request"), "{told:?}");
            assert!(told[0].contains(end), "{api:?} {told:?}");
        }
    }
}

#[tokio::test]
async fn a_batch_that_answered_none_of_them_is_done_with() {
    for api in APIS {
        let place = Place::new("unused-nothing");
        let partial = StubBatch::new().in_progress(1).expires_after(2);
        let server = left_by_a_process(partial, api, &place).await;
        // Only what was answered is asked for. That nobody can find more is noted by the next process that asks the provider.
        for others in [1, 2] {
            let mut wanted = letters(2);
            wanted.extend(letters(12).drain(10..).take(others));
            let told = sort(&server, api, &place, wanted).await;
            assert!(told.is_empty(), "{api:?} {told:?}");
        }
        assert_eq!(server.files_left(), 0, "{api:?}");
        let journal = std::fs::read_to_string(place.path()).unwrap();
        assert!(journal.contains("batch_ended"), "{api:?}");
    }
}

/// What is asked for was not read, since the cancel was still under way; what is not asked for was never answered.
#[tokio::test]
async fn a_batch_that_is_partly_asked_for_is_kept_until_that_is_read() {
    for api in APIS {
        let place = Place::new("unused-partly");
        let late = StubBatch::new().in_progress(u32::MAX);
        let slow = late.cancelling(1).cancelled_after(2);
        let server = left_by_a_process(slow, api, &place).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
        let over = BatchApi::once().within(Duration::from_millis(1));
        let run = run(&server, api);
        let mut starts = 0;
        loop {
            let map = run.map(letters(2)).resume(place.open());
            let outcomes = map.batch_api(over.clone()).await;
            starts += 1;
            if outcomes.iter().all(Result::is_ok) {
                break;
            }
            assert!(starts < 9, "{api:?} {outcomes:?}");
        }
        assert_eq!(server.batches_seen(), 1, "{api:?}");
        assert_eq!(server.billed_lines().len(), 2, "{api:?}");
    }
}
