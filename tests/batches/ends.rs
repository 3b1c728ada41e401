//! Batches that do not end as they should: expired, partial, in another order, doubled, without lines.

use std::time::Duration;

use llmnode::journal::{JournalFile, MapExt as _};
use llmnode::prelude::*;
use llmnode::stub_server::{StubBatch, StubReply, StubServer};
use llmnode::{BatchApi, Category, TestClock};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{APIS, Api, Place, label, letters, quick, run, run_with_bodies_of, sorting};

fn all_right(outcomes: &[Result<crate::support::Label, NodeError>], what: &str) {
    for (number, outcome) in outcomes.iter().enumerate() {
        let found = outcome
            .as_ref()
            .unwrap_or_else(|error| panic!("{what} {number}: {error}"));
        assert_eq!(*found, label(number), "{what}");
    }
}

#[tokio::test]
async fn whatever_order_results_come_in_each_item_gets_its_own() {
    for api in APIS {
        for batch in [
            StubBatch::new().reversed(),
            StubBatch::new().doubled(),
            StubBatch::new().reversed().doubled().in_progress(3),
        ] {
            let what = format!("{api:?} {batch:?}");
            let server = sorting().batches([batch]).start().await.unwrap();
            let place = Place::new("orders");
            let run = run(&server, api);
            let outcomes = run
                .map(letters(12))
                .resume(place.open())
                .batch_api(quick())
                .await;
            all_right(&outcomes, &what);
            assert_eq!(server.billed_lines().len(), 13, "{what}");
            assert_eq!(run.ledger().total().requests, 13, "{what}");
        }
    }
}

#[tokio::test]
async fn lines_that_expired_join_the_next_batch_and_cost_nothing() {
    for api in APIS {
        let batch = StubBatch::new().expires_after(4);
        let server = sorting().batches([batch]).start().await.unwrap();
        let place = Place::new("expired");
        let run = run(&server, api);
        let outcomes = run
            .map(letters(9))
            .resume(place.open())
            .batch_api(quick())
            .await;
        all_right(&outcomes, &format!("{api:?}"));
        let total = run.ledger().total();
        assert_eq!(server.billed_lines().len(), 10, "{api:?}");
        assert_eq!(total.total.known, 10 * 110, "{api:?}");
        assert_eq!(total.total.unreported_calls, 0, "{api:?}");
    }
}

#[tokio::test]
async fn a_missing_line_is_asked_for_in_the_next_batch_and_its_cost_is_unknown() {
    for api in APIS {
        let batch = StubBatch::new().loses([1, 5]);
        let server = sorting().batches([batch]).start().await.unwrap();
        let place = Place::new("missing");
        let run = run(&server, api);
        let outcomes = run
            .map(letters(3).into_iter().chain(letters(9).split_off(4)))
            .resume(place.open())
            .batch_api(quick())
            .await;
        assert!(outcomes.iter().all(Result::is_ok), "{api:?} {outcomes:?}");
        let total = run.ledger().total();
        assert_eq!(total.total.unreported_calls, 2, "{api:?}");
        // The two that were lost were billed, too.
        assert_eq!(server.billed_lines().len(), 10, "{api:?}");
        assert_eq!(total.requests, 10, "{api:?}");
    }
}

#[tokio::test]
async fn files_as_servers_have_been_seen_to_write_them() {
    for batch in [
        StubBatch::new().empty_file_ids(),
        StubBatch::new().bodies_as_texts(),
    ] {
        for api in [Api::Chat, Api::Responses] {
            let what = format!("{api:?} {batch:?}");
            let server = sorting().batches([batch.clone()]).start().await.unwrap();
            let place = Place::new("files");
            let outcomes = run(&server, api)
                .map(letters(3))
                .resume(place.open())
                .batch_api(quick())
                .await;
            all_right(&outcomes, &what);
        }
    }
}

#[tokio::test]
async fn a_result_that_is_too_long_hides_no_other() {
    // Gemini's results are one document.
    for api in [Api::Chat, Api::Responses, Api::Anthropic] {
        let server = StubServer::builder()
            .default_reply(StubReply::for_request(|request| {
                let is_long = request.body().contains("letter 1");
                let letter =
                    (0..4).find(|number| request.body().contains(&format!("letter {number}")));
                let label = format!("label of letter {}", letter.unwrap_or_default());
                let filler = if is_long {
                    "x".repeat(20_000)
                } else {
                    String::new()
                };
                StubReply::json(json!({"label": label, "filler": filler})).usage(100, 10)
            }))
            .start()
            .await
            .unwrap();
        let place = Place::new("long-line");
        let start = async |most: usize| {
            let run = run_with_bodies_of(&server.base_url(), api, most);
            let map = run.map(letters(4)).resume(place.open());
            map.batch_api(quick()).await
        };
        let outcomes = start(10_000).await;
        for (number, outcome) in outcomes.iter().enumerate() {
            match outcome {
                Ok(found) => assert_eq!(*found, label(number), "{api:?}"),
                Err(error) => {
                    assert_eq!(number, 1, "{api:?} {error}");
                    assert_eq!(error.category(), Category::BadResponse, "{api:?}");
                    assert!(
                        error.message().contains("max_body_bytes"),
                        "{api:?} {error}"
                    );
                }
            }
        }
        assert!(outcomes[1].is_err(), "{api:?}");
        // It is paid for, and read by a start that may.
        all_right(&start(1_000_000).await, &format!("{api:?}"));
        assert_eq!(server.batches_seen(), 1, "{api:?}");
        assert_eq!(server.billed_lines().len(), 4, "{api:?}");
    }
}

#[tokio::test]
async fn a_line_with_an_error_is_as_a_request_with_it() {
    for api in APIS {
        // All lines fail, so that there is no file of answers; the next batch is answered.
        let busy = || StubReply::error(429, "requests", "rate_limit_exceeded", "slow down");
        let server = sorting().script([busy(), busy()]).start().await.unwrap();
        let place = Place::new("busy");
        let run = run(&server, api);
        let outcomes = run
            .map(letters(2))
            .resume(place.open())
            .batch_api(quick())
            .await;
        all_right(&outcomes, &format!("{api:?}"));
        assert_eq!(server.batches_seen(), 2, "{api:?}");

        let bad = StubReply::error(
            400,
            "invalid_request_error",
            "invalid_value",
            "no such thing",
        );
        let server = sorting().script([bad]).start().await.unwrap();
        let place = Place::new("bad");
        let outcomes = crate::support::run(&server, api)
            .map(letters(2))
            .resume(place.open())
            .batch_api(quick())
            .await;
        let error = outcomes[0].as_ref().unwrap_err();
        assert_eq!(error.category(), Category::BadRequest, "{api:?} {error}");
        assert!(error.message().contains("no such thing"), "{api:?} {error}");
        assert_eq!(outcomes[1].as_ref().unwrap(), &label(1), "{api:?}");
    }
}

#[tokio::test]
async fn a_line_that_somebody_cancelled_is_not_sent_again() {
    for api in APIS {
        let batch = StubBatch::new().cancelled_after(1);
        let server = sorting().batches([batch]).start().await.unwrap();
        let place = Place::new("cancelled");
        let outcomes = run(&server, api)
            .map(letters(3))
            .resume(place.open())
            .batch_api(quick())
            .await;
        assert!(outcomes[0].is_ok(), "{api:?}");
        for outcome in &outcomes[1..] {
            let error = outcome.as_ref().unwrap_err();
            assert_eq!(error.category(), Category::Cancelled, "{api:?} {error}");
        }
        assert_eq!(server.batches_seen(), 1, "{api:?}");
    }
}

#[tokio::test]
async fn a_file_that_is_refused_for_some_lines_is_sent_again_without_them() {
    let batch = StubBatch::new().refused("invalid_request", "the second one is bad", Some(2));
    let server = sorting().batches([batch]).start().await.unwrap();
    let place = Place::new("refused");
    let run = run(&server, Api::Chat);
    let outcomes = run
        .map(letters(3))
        .resume(place.open())
        .batch_api(quick())
        .await;
    assert_eq!(outcomes[0].as_ref().unwrap(), &label(0));
    let error = outcomes[1].as_ref().unwrap_err();
    assert_eq!(error.category(), Category::BadRequest);
    assert!(error.message().contains("the second one is bad"), "{error}");
    assert_eq!(outcomes[2].as_ref().unwrap(), &label(2));
    assert_eq!(server.billed_lines().len(), 2);
}

#[tokio::test]
async fn a_full_queue_makes_orders_smaller() {
    let full =
        StubBatch::new().refused("token_limit_exceeded", "Enqueued token limit reached", None);
    let server = sorting()
        .batches([full.clone(), full])
        .start()
        .await
        .unwrap();
    let place = Place::new("full");
    let run = run(&server, Api::Chat);
    let outcomes = run
        .map(letters(500))
        .resume(place.open())
        .batch_api(quick())
        .await;
    all_right(&outcomes, "full");
    // 500 were refused alone, so that later orders have 250. One of these was refused beside the other, and went again as it was.
    let mut lines = std::collections::BTreeMap::<_, usize>::new();
    for line in server.billed_lines() {
        *lines.entry(line.batch).or_default() += 1;
    }
    let whole = lines.values().filter(|lines| **lines == 250).count();
    assert_eq!(whole, 2, "{lines:?}");
    assert_eq!(server.batches_seen(), 2 + lines.len(), "{lines:?}");
    assert_eq!(server.billed_lines().len(), 550);
    assert_eq!(run.ledger().total().requests, 550);
}

#[tokio::test]
async fn what_is_not_answered_in_time_is_a_timeout_or_asked_at_once() {
    for api in APIS {
        let late = || StubBatch::new().in_progress(u32::MAX);
        let api_with = |within: BatchApi| {
            within
                .within(Duration::from_millis(30))
                .poll(Duration::from_millis(5))
        };
        let server = sorting().batches([late()]).start().await.unwrap();
        let place = Place::new("late");
        let run = run(&server, api);
        let outcomes = run
            .map(letters(3))
            .transport_retries(0)
            .resume(place.open())
            .batch_api(api_with(BatchApi::new()))
            .await;
        for outcome in outcomes {
            assert_eq!(
                outcome.unwrap_err().category(),
                Category::Timeout,
                "{api:?}"
            );
        }
        assert_eq!(run.ledger().total().total.unreported_calls, 0, "{api:?}");

        server.push_batch(late());
        let place = Place::new("late-at-once");
        let reports = run
            .map(letters(4))
            .transport_retries(0)
            .resume(place.open())
            .batch_api(api_with(BatchApi::new().then_at_once()))
            .report()
            .await;
        for (number, report) in reports.into_iter().enumerate() {
            let report = report.unwrap_or_else(|error| panic!("{api:?} {error}"));
            assert_eq!(report.value, label(number), "{api:?}");
            let attempts = &report.record.attempts;
            assert!(
                attempts.iter().all(|attempt| attempt.batch.is_none()),
                "{api:?}"
            );
        }
        assert!(server.billed_lines().is_empty(), "{api:?}");
    }
}

#[tokio::test]
async fn one_late_batch_sends_no_later_node_at_the_full_price() {
    for api in APIS {
        let late = StubBatch::new().in_progress(u32::MAX);
        let server = sorting().batches([late]).start().await.unwrap();
        let place = Place::new("late-once");
        // Its waits take no time, so that only the batch that never ends is late.
        let reports = run(&server, api)
            .with_clock(TestClock::new())
            .map(letters(45))
            .concurrency(1)
            .resume(place.open())
            .batch_api(
                quick()
                    .within(Duration::from_millis(200))
                    .max_requests(25)
                    .then_at_once(),
            )
            .report()
            .await;
        for (number, report) in reports.into_iter().enumerate() {
            let report = report.unwrap_or_else(|error| panic!("{api:?} {error}"));
            assert_eq!(report.value, label(number), "{api:?}");
            let first = &report.record.attempts[0];
            assert_eq!(first.batch.is_some(), number >= 25, "{api:?} {number}");
        }
    }
}

#[tokio::test]
async fn a_batch_is_cancelled_by_its_journal() {
    for api in APIS {
        let batch = StubBatch::new().in_progress(u32::MAX);
        let server = sorting().batches([batch]).start().await.unwrap();
        let place = Place::new("cancel");
        let run = run(&server, api);
        let map = run
            .map(letters(2))
            .resume(place.open())
            .batch_api(BatchApi::once());
        assert!(map.await.iter().all(Result::is_err));
        assert_eq!(
            BatchApi::cancel(&run, place.open()).await.unwrap(),
            1,
            "{api:?}"
        );
        let outcomes = run
            .map(letters(2))
            .resume(place.open())
            .batch_api(quick())
            .await;
        for outcome in outcomes {
            assert_eq!(
                outcome.unwrap_err().category(),
                Category::Cancelled,
                "{api:?}"
            );
        }
        assert_eq!(
            BatchApi::cancel(&run, place.open()).await.unwrap(),
            0,
            "{api:?}"
        );
    }
}

#[tokio::test]
async fn a_deadline_bounds_no_batch_and_is_refused_on_the_map() {
    let server = sorting().start().await.unwrap();
    let place = Place::new("deadline");
    let run = run(&server, Api::Chat);
    let outcomes = run
        .map(letters(2))
        .deadline(Duration::from_secs(60))
        .resume(place.open())
        .batch_api(quick())
        .await;
    for outcome in outcomes {
        let error = outcome.unwrap_err();
        assert_eq!(error.category(), Category::ConfigError);
        assert!(error.message().contains("BatchApi::within"), "{error}");
    }
    assert_eq!(server.requests_seen(), 0);
}

#[tokio::test]
async fn once_sends_or_looks_and_returns() {
    for api in APIS {
        let server = sorting()
            .batches([StubBatch::new().in_progress(2)])
            .start()
            .await
            .unwrap();
        let place = Place::new("once");
        let run = run(&server, api);
        let once = async |journal: JournalFile| {
            run.map(letters(5))
                .resume(journal)
                .batch_api(BatchApi::once())
                .await
        };
        let mut rounds = 0;
        let outcomes = loop {
            rounds += 1;
            let outcomes = once(place.open()).await;
            if outcomes.iter().all(Result::is_ok) {
                break outcomes;
            }
            for outcome in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
                assert_eq!(outcome.category(), Category::Paused, "{api:?} {outcome}");
            }
            assert!(rounds < 10, "{api:?}");
        };
        all_right(&outcomes, &format!("{api:?}"));
        assert!(rounds > 1);
        assert_eq!(server.batches_seen(), 2, "{api:?}");
        assert_eq!(server.billed_lines().len(), 6, "{api:?}");
    }
}

#[tokio::test]
async fn a_failed_letter_is_not_paid_for_again() {
    let stubborn = StubReply::json(serde_json::json!({"label": "wrong"})).usage(100, 10);
    let server = llmnode::StubServer::builder()
        .default_reply(stubborn)
        .start()
        .await
        .unwrap();
    let place = Place::new("failed");
    for _ in 0..3 {
        let outcomes = run(&server, Api::Chat)
            .map(letters(2))
            .resume(place.open())
            .batch_api(quick())
            .await;
        for outcome in outcomes {
            assert_eq!(outcome.unwrap_err().category(), Category::ValidationError);
        }
    }
    assert_eq!(server.billed_lines().len(), 4);
}

/// What is wrong with the first batch of a map, and with some of its lines.
#[derive(Clone, Debug)]
struct Faults {
    letters: usize,
    batch: StubBatch,
    lost: usize,
    statuses: Vec<u16>,
}

fn faults() -> impl Strategy<Value = Faults> {
    let lost = prop::collection::btree_set(0..6_usize, 0..3);
    let statuses = prop::collection::vec(prop::sample::select(vec![200, 400, 429, 500]), 0..5);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let expires = prop::option::of(0..6_usize);
    (1..7_usize, lost, statuses, flags, expires).prop_map(
        |(letters, lost, statuses, (reversed, doubled, as_texts), expires)| {
            let mut batch = StubBatch::new().loses(lost.clone());
            if reversed {
                batch = batch.reversed();
            }
            if doubled {
                batch = batch.doubled();
            }
            if as_texts {
                batch = batch.bodies_as_texts();
            }
            if let Some(lines) = expires {
                batch = batch.expires_after(lines);
            }
            Faults {
                letters,
                batch,
                lost: lost.len(),
                statuses,
            }
        },
    )
}

async fn survives(api: Api, faults: Faults) {
    let server = sorting()
        .batches([faults.batch.clone()])
        .start()
        .await
        .unwrap();
    for status in &faults.statuses {
        // In the words of a provider.
        server.push(match status {
            200 => continue,
            400 => StubReply::error(
                400,
                "invalid_request_error",
                "invalid_value",
                "no such thing",
            ),
            429 => StubReply::error(429, "requests", "rate_limit_exceeded", "slow down"),
            _ => StubReply::error(500, "server_error", (), "sorry"),
        });
    }
    let place = Place::new(&format!("faults-{api:?}"));
    let run = run(&server, api).with_clock(TestClock::new());
    let outcomes = run
        .map(letters(faults.letters))
        .resume(place.open())
        .batch_api(quick())
        .await;
    assert_eq!(outcomes.len(), faults.letters);
    for (number, outcome) in outcomes.iter().enumerate() {
        match outcome {
            Ok(found) => assert_eq!(*found, label(number), "{api:?} {faults:?}"),
            Err(error) => assert_ne!(error.category(), Category::ConfigError, "{error}"),
        }
    }
    // Each billed line is counted, with its tokens or as one without a report.
    let billed = server.billed_lines();
    let tokens: u64 = billed
        .iter()
        .filter_map(|line| line.usage.and_then(|usage| usage.total()))
        .sum();
    let total = run.ledger().total().total;
    let unread = tokens.saturating_sub(total.known);
    assert!(total.known <= tokens, "{api:?} {faults:?}");
    assert!(
        unread <= 110 * faults.lost as u64,
        "{api:?} {faults:?}: {unread}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whatever_becomes_of_lines_no_item_gets_the_answer_of_another(faults in faults()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for api in APIS {
            runtime.block_on(survives(api, faults.clone()));
        }
    }
}

/// Sorts a letter in a second, which a batch does not count.
#[llm_node(prompt = "Sort: {letter}", output = crate::support::Label, deadline = 1s)]
struct SortSoon {
    letter: String,
}

#[tokio::test]
async fn a_deadline_stands_still_while_a_call_waits_for_its_batch() {
    let slow = StubBatch::new().in_progress(75);
    let never = StubBatch::new().in_progress(u32::MAX);
    let reply = StubReply::json(serde_json::json!({"label": "a label"}));
    let server = StubServer::builder()
        .default_reply(reply.clone())
        .batches([slow, never])
        .start()
        .await
        .unwrap();
    let run = run(&server, Api::Chat);
    let sort = |letter: &str| SortSoon {
        letter: letter.to_owned(),
    };
    let poll = BatchApi::new().poll(Duration::from_millis(20));
    let place = Place::new("stands-still");
    // Only its waits take time here, which are of the batch.
    let outcomes = run
        .clone()
        .with_clock(TestClock::new())
        .map([sort("one")])
        .resume(place.open())
        .batch_api(poll.clone())
        .await;
    assert!(outcomes[0].is_ok(), "{outcomes:?}");
    // What is asked at once is bounded again.
    server.push(reply.after(Duration::from_secs(60)));
    let place = Place::new("goes-on");
    let outcomes = run
        .map([sort("two")])
        .resume(place.open())
        .batch_api(poll.within(Duration::from_millis(200)).then_at_once())
        .await;
    let error = outcomes.into_iter().next().unwrap().unwrap_err();
    assert!(error.message().contains("deadline"), "{error}");
}
