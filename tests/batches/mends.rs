//! Providers that fail while a batch is created, looked at or read: nothing is sent twice, and what is paid for is read.

use std::time::Duration;

use llmnode::journal::MapExt as _;
use llmnode::prelude::*;
use llmnode::stub_server::{StubBatch, StubBatchFault, StubServer};
use llmnode::{BatchApi, BoxError, Category, Cx, Exec, Node, Run, TestClock};

use crate::support::{APIS, Api, Label, Place, Sort, label, letters, quick, sorting};

/// Tokens that one letter reserves at most, and two do not.
const LETTER: u64 = 250;

type Outcomes = Vec<Result<Label, NodeError>>;

/// A run over a clock whose waits take no time.
fn run(server: &StubServer, api: Api) -> Run {
    crate::support::run(server, api).with_clock(TestClock::new())
}

/// Letters of which none is corrected.
async fn sort(run: &Run, place: &Place, batches: BatchApi) -> Outcomes {
    run.map(letters(3))
        .resume(place.open())
        .batch_api(batches)
        .await
}

fn all_right(outcomes: &Outcomes, what: &str) {
    for (number, outcome) in outcomes.iter().enumerate() {
        let found = outcome
            .as_ref()
            .unwrap_or_else(|error| panic!("{what} {number}: {error}"));
        assert_eq!(*found, label(number), "{what}");
    }
}

fn all_are(outcomes: &Outcomes, category: Category, what: &str) {
    for outcome in outcomes {
        let error = outcome.as_ref().unwrap_err();
        assert_eq!(error.category(), category, "{what}: {error}");
    }
}

fn sent_once(server: &StubServer, what: &str) {
    assert_eq!(server.batches_seen(), 1, "{what}");
    assert_eq!(server.billed_lines().len(), 3, "{what}");
}

/// Downloads of results that fail with this status.
fn downloads(api: Api, status: u16) -> StubBatchFault {
    match api {
        Api::Chat | Api::Responses => StubBatchFault::new("GET", "/content", status),
        Api::Anthropic => StubBatchFault::new("GET", "/results", status),
        // The same request as a look, which comes first.
        Api::Gemini => StubBatchFault::new("GET", "/batches/", status).skips(1),
    }
}

/// The request that creates a batch.
fn creation(api: Api, status: u16) -> StubBatchFault {
    match api {
        Api::Gemini => StubBatchFault::new("POST", ":batchGenerateContent", status),
        _ => StubBatchFault::new("POST", "/batches", status),
    }
}

fn lists(status: u16) -> StubBatchFault {
    StubBatchFault::new("GET", "/batches?", status)
}

#[tokio::test]
async fn results_that_cannot_be_read_for_a_while_are_read_later() {
    for api in APIS {
        let what = format!("{api:?}");
        let server = sorting().start().await.unwrap();
        server.push_batch_fault(downloads(api, 503).times(9));
        let place = Place::new("downloads");
        let run = run(&server, api);
        all_right(&sort(&run, &place, quick()).await, &what);
        sent_once(&server, &what);
        assert_eq!(server.files_left(), 0, "{what}");
    }
}

#[tokio::test]
async fn results_that_cannot_be_read_in_time_are_read_by_the_next_process() {
    for api in APIS {
        let what = format!("{api:?}");
        let server = sorting().start().await.unwrap();
        server.push_batch_fault(downloads(api, 500).times(1_000));
        let place = Place::new("unread");
        let run_before = run(&server, api);
        let in_time = quick().within(Duration::from_millis(40));
        let outcomes = sort(&run_before, &place, in_time).await;
        all_are(&outcomes, Category::ServerError, &what);
        sent_once(&server, &what);
        if matches!(api, Api::Chat | Api::Responses) {
            assert_eq!(server.files_left(), 2, "{what}");
        }

        server.clear_batch_faults();
        let run = run(&server, api);
        all_right(&sort(&run, &place, quick()).await, &what);
        sent_once(&server, &what);
        assert_eq!(run.ledger().total().total.known, 330, "{what}");
    }
}

#[tokio::test]
async fn a_batch_that_may_not_be_looked_at_is_read_by_the_next_process() {
    for api in APIS {
        for (status, category) in [(401, Category::ApiKeyError), (404, Category::NotFound)] {
            let what = format!("{api:?} {status}");
            let server = sorting().start().await.unwrap();
            server.push_batch_fault(StubBatchFault::new("GET", "/batches/", status));
            let place = Place::new("refused-look");
            let run = run(&server, api);
            let outcomes = sort(&run, &place, quick()).await;
            all_are(&outcomes, category, &what);
            all_right(&sort(&run, &place, quick()).await, &what);
            sent_once(&server, &what);
        }
    }
}

#[tokio::test]
async fn a_creation_whose_answer_was_lost_is_looked_for_until_it_is_found() {
    for api in APIS {
        let what = format!("{api:?}");
        let server = sorting().start().await.unwrap();
        server.push_batch_fault(creation(api, 500).after_all());
        server.push_batch_fault(lists(503).times(5));
        let place = Place::new("lost-creation");
        let run = run(&server, api);
        all_right(&sort(&run, &place, quick()).await, &what);
        sent_once(&server, &what);
    }
}

#[tokio::test]
async fn a_creation_whose_answer_cannot_be_read_is_looked_for() {
    for api in APIS {
        let what = format!("{api:?}");
        let server = sorting().start().await.unwrap();
        // A success without an id.
        server.push_batch_fault(creation(api, 200).after_all());
        let place = Place::new("unreadable-creation");
        let run = run(&server, api);
        all_right(&sort(&run, &place, quick()).await, &what);
        sent_once(&server, &what);
        assert_eq!(run.ledger().total().total.known, 330, "{what}");
    }
}

/// A list that cannot be read does not say that the batch is not there.
#[tokio::test]
async fn a_list_that_cannot_be_read_is_no_reason_to_send_again() {
    for api in APIS {
        let what = format!("{api:?}");
        let server = sorting().start().await.unwrap();
        server.push_batch_fault(creation(api, 500).after_all());
        server.push_batch_fault(lists(200));
        let place = Place::new("unreadable-list");
        let run = run(&server, api);
        let outcomes = sort(&run, &place, quick()).await;
        all_are(&outcomes, Category::BadResponse, &what);
        all_right(&sort(&run, &place, quick()).await, &what);
        sent_once(&server, &what);
    }
}

#[tokio::test]
async fn a_batch_that_is_completed_without_its_files_is_looked_at_until_it_has_them() {
    for api in [Api::Chat, Api::Responses] {
        let what = format!("{api:?}");
        let late = StubBatch::new().without_files(3);
        let server = sorting().batches([late]).start().await.unwrap();
        let place = Place::new("late-files");
        let run = run(&server, api);
        all_right(&sort(&run, &place, quick()).await, &what);
        sent_once(&server, &what);
        assert_eq!(server.files_left(), 0, "{what}");
    }
}

#[tokio::test]
async fn a_batch_that_never_has_its_files_is_not_sent_again() {
    for api in [Api::Chat, Api::Responses] {
        let what = format!("{api:?}");
        let never = StubBatch::new().without_files(u32::MAX);
        let server = sorting().batches([never]).start().await.unwrap();
        let place = Place::new("no-files");
        let run = run(&server, api);
        let in_time = quick().within(Duration::from_millis(40));
        for _ in 0..2 {
            let outcomes = sort(&run, &place, in_time.clone()).await;
            all_are(&outcomes, Category::Timeout, &what);
            sent_once(&server, &what);
        }
    }
}

#[tokio::test]
async fn a_creation_that_nobody_knows_of_is_left_to_the_next_process() {
    for api in APIS {
        let what = format!("{api:?}");
        let server = sorting().start().await.unwrap();
        server.push_batch_fault(creation(api, 500).after_all());
        server.push_batch_fault(lists(503).times(1_000));
        let place = Place::new("unknown-creation");
        let run = run(&server, api);
        let in_time = quick().within(Duration::from_millis(40));
        for _ in 0..2 {
            let outcomes = sort(&run, &place, in_time.clone()).await;
            all_are(&outcomes, Category::ServerError, &what);
            assert_eq!(server.batches_seen(), 1, "{what}");
        }

        server.clear_batch_faults();
        all_right(&sort(&run, &place, quick()).await, &what);
        sent_once(&server, &what);
    }
}

/// A limit lets one letter after the other ask for the batch of which nobody knows.
#[tokio::test]
async fn requests_that_ask_later_for_a_batch_that_nobody_knows_of_fail_too() {
    for api in APIS {
        let what = format!("{api:?}");
        let server = sorting().start().await.unwrap();
        server.push_batch_fault(creation(api, 500).after_all());
        server.push_batch_fault(lists(503).times(1_000));
        let place = Place::new("unknown-creation-later");
        let run = run(&server, api);
        let in_time = quick().within(Duration::from_millis(40));
        sort(&run, &place, in_time.clone()).await;

        let sorted = run
            .map(letters(3))
            .limits(Limits::new().tokens(LETTER))
            .resume(place.open())
            .batch_api(in_time);
        let outcomes = tokio::time::timeout(Duration::from_secs(30), sorted);
        let outcomes = outcomes.await.expect("the map ends");
        all_are(&outcomes, Category::ServerError, &what);
        assert_eq!(server.batches_seen(), 1, "{what}");
    }
}

#[tokio::test]
async fn a_creation_that_did_not_happen_is_tried_again() {
    for api in APIS {
        let what = format!("{api:?}");
        let server = sorting().start().await.unwrap();
        server.push_batch_fault(creation(api, 503).times(3));
        let place = Place::new("creations");
        let run = run(&server, api);
        all_right(&sort(&run, &place, quick()).await, &what);
        sent_once(&server, &what);
    }
}

#[tokio::test]
async fn a_batch_is_found_on_a_later_page() {
    for api in APIS {
        let what = format!("{api:?}");
        let server = sorting().start().await.unwrap();
        server.list_batches_at_most(1);
        server.push_batch_fault(creation(api, 500).after_all());
        server.push_batch_fault(lists(403));
        let place = Place::new("pages");
        let run = run(&server, api);
        let outcomes = sort(&run, &place, quick()).await;
        assert!(outcomes.iter().all(Result::is_err), "{what}");
        // Two newer ones.
        for name in ["pages-newer", "pages-newest"] {
            let place = Place::new(name);
            let newer = run.map(letters(2)).resume(place.open());
            newer.batch_api(quick()).await;
        }
        assert_eq!(server.batches_seen(), 3, "{what}");
        all_right(&sort(&run, &place, quick()).await, &what);
        assert_eq!(server.batches_seen(), 3, "{what}");
    }
}

#[tokio::test]
async fn each_batch_of_a_journal_is_cancelled_whatever_becomes_of_the_others() {
    for api in APIS {
        let what = format!("{api:?}");
        let late = StubBatch::new().in_progress(u32::MAX);
        // Anthropic does not say which lines a batch has before it has ended.
        let has_ended = api == Api::Anthropic;
        let unknown = StubBatch::new().in_progress(if has_ended { 3 } else { u32::MAX });
        let server = sorting().batches([late, unknown]).start().await.unwrap();
        let place = Place::new("cancel-all");
        let run = run(&server, api);
        let once = async |count: usize| {
            let map = run.map(letters(count)).resume(place.open());
            map.batch_api(BatchApi::once()).await
        };
        once(2).await;
        // The second one was created, and its process does not know.
        server.push_batch_fault(creation(api, 500).after_all());
        server.push_batch_fault(lists(403));
        run.map(letters(3).split_off(2))
            .resume(place.open())
            .batch_api(quick())
            .await;
        assert_eq!(server.batches_seen(), 2, "{what}");

        server.push_batch_fault(StubBatchFault::new("POST", "cancel", 503));
        let error = BatchApi::cancel(&run, place.open()).await.unwrap_err();
        assert_eq!(error.category(), Category::ServerError, "{what}");
        let outcomes = run
            .map(letters(3).split_off(2))
            .resume(place.open())
            .batch_api(quick())
            .await;
        match has_ended {
            true => assert!(outcomes[0].is_ok(), "{what}"),
            false => all_are(&outcomes, Category::Cancelled, &what),
        }
    }
}

/// Anthropic's batches have no name: which is the one of a plan, only its results say.
#[tokio::test]
async fn a_batch_that_may_be_the_one_is_waited_for_no_longer_than_any() {
    let slow = StubBatch::new().in_progress(100);
    let server = sorting().batches([slow]).start().await.unwrap();
    server.push_batch_fault(creation(Api::Anthropic, 503).after_all());
    let place = Place::new("may-be");
    let run = run(&server, Api::Anthropic);
    let in_time = quick().within(Duration::from_millis(20));
    let outcomes = sort(&run, &place, in_time).await;
    all_are(&outcomes, Category::Paused, "not ended");
    let message = outcomes[0].as_ref().unwrap_err().message().to_owned();
    assert!(message.contains("may be the one"), "{message}");
    let error = BatchApi::cancel(&run, place.open()).await.unwrap_err();
    assert_eq!(error.category(), Category::Paused, "{error}");

    all_right(&sort(&run, &place, quick()).await, "ended");
    sent_once(&server, "ended");
}

#[tokio::test]
async fn a_batch_that_has_ended_needs_no_cancel() {
    for api in APIS {
        // It ends at the second look.
        let batch = StubBatch::new().in_progress(1);
        let server = sorting().batches([batch]).start().await.unwrap();
        let place = Place::new("cancel-ended");
        let run = run(&server, api);
        let outcomes = sort(&run, &place, BatchApi::once()).await;
        all_are(&outcomes, Category::Paused, &format!("{api:?}"));
        // Providers refuse it then.
        server.push_batch_fault(StubBatchFault::new("POST", "cancel", 409));
        let cancelled = BatchApi::cancel(&run, place.open()).await.unwrap();
        assert_eq!(cancelled, 0, "{api:?}");
    }
}

#[tokio::test]
async fn a_batch_that_nobody_waits_for_holds_no_map() {
    for api in APIS {
        let batch = StubBatch::new().in_progress(u32::MAX);
        let server = sorting().batches([batch]).start().await.unwrap();
        let place = Place::new("given-up");
        let run = crate::support::run(&server, api);
        let nodes = (0..2).map(|number| Impatient { number });
        let map = run
            .map(nodes)
            .resume(place.open())
            .batch_api(BatchApi::new());
        let outcomes = tokio::time::timeout(Duration::from_secs(30), map).await;
        let outcomes = outcomes.unwrap_or_else(|_| panic!("{api:?} hangs"));
        assert!(outcomes.iter().all(Result::is_ok), "{api:?} {outcomes:?}");
    }
}

/// Gives a call up.
struct Impatient {
    number: usize,
}

impl Node for Impatient {
    type Output = bool;
    const NAME: &'static str = "impatient";
}

impl Exec<()> for Impatient {
    async fn exec(&self, cx: &Cx<'_, ()>) -> Result<bool, BoxError> {
        let letter = format!("letter {}", self.number);
        let sort = Sort { letter };
        let time = Duration::from_millis(300);
        let answer = tokio::time::timeout(time, cx.call(&sort)).await;
        Ok(answer.is_err())
    }
}

#[tokio::test]
async fn a_file_that_is_refused_again_and_again_fails() {
    for line in [Some(900), Some(1)] {
        let bad = || StubBatch::new().refused("invalid_request", "it is bad", line);
        let many = std::iter::repeat_with(bad).take(10);
        let server = sorting().batches(many).start().await.unwrap();
        let place = Place::new("refused-again");
        let run = run(&server, Api::Chat);
        let outcomes = sort(&run, &place, quick()).await;
        all_are(&outcomes, Category::BadRequest, &format!("{line:?}"));
        assert!(server.batches_seen() <= 2, "{}", server.batches_seen());
    }
}
