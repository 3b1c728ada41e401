//! What a batch costs, and what limits make of it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use llmnode::stub_server::{StubBatch, StubReply};
use llmnode::{Category, Limits, Price, Prices, Settings, TestClock};

use crate::support::{APIS, Api, Place, letters, quick, run, sorting, until_looked_at};
use llmnode::journal::MapExt as _;

pub(crate) fn prices() -> Prices {
    // 100 tokens in and 10 out: 0.0002 at once, 0.00005 by a batch.
    let price = Price::per_million(1.0, 10.0).batch(Price::per_million(0.25, 2.5));
    Prices::new()
        .model("gpt-x", price)
        .model("claude-x", price)
        .model("gemini-x", price)
}

#[tokio::test]
async fn a_batch_costs_what_the_list_says_of_batches() {
    for api in APIS {
        let server = sorting().start().await.unwrap();
        let place = Place::new("price");
        let run = run(&server, api).with_prices(prices());
        let outcomes = run
            .map(letters(3))
            .resume(place.open())
            .batch_api(quick())
            .await;
        assert!(outcomes.iter().all(Result::is_ok));
        let cost = run.ledger().total().cost.total().unwrap();
        assert!((cost - 3.0 * 0.00005).abs() < 1e-9, "{api:?} {cost}");
        // Asked at once, it costs what it did.
        run.map(letters(3)).await;
        let cost = run.ledger().total().cost.total().unwrap();
        assert!((cost - 3.0 * 0.00025).abs() < 1e-9, "{api:?} {cost}");
    }
}

#[tokio::test]
async fn without_a_price_for_batches_the_cost_is_unknown_and_a_limit_cannot_hold() {
    let server = sorting().start().await.unwrap();
    let whole = Prices::new().model("gpt-x", Price::per_million(1.0, 10.0));
    let run = run(&server, Api::Chat).with_prices(whole);
    let place = Place::new("no-price");
    run.map(letters(2))
        .resume(place.open())
        .batch_api(quick())
        .await;
    assert_eq!(run.ledger().total().cost.total(), None, "never half");

    let place = Place::new("no-price-limit");
    let outcomes = run
        .map(letters(2))
        .limits(Limits::new().money(1.0))
        .resume(place.open())
        .batch_api(quick())
        .await;
    for outcome in outcomes {
        let error = outcome.unwrap_err();
        assert_eq!(error.category(), Category::LimitUnenforceable);
        assert!(error.message().contains("Price::batch"), "{error}");
    }
}

#[tokio::test]
async fn a_limit_that_holds_fewer_than_all_cuts_a_map_into_several_batches() {
    let server = sorting().start().await.unwrap();
    let place = Place::new("limit");
    let run = run(&server, Api::Chat).with_prices(prices());
    let seen = Arc::new(Mutex::new((0, 0)));
    let shown = Arc::clone(&seen);
    let forced = Arc::new(Mutex::new(None));
    let said = Arc::clone(&forced);
    // Letters 3 and 13 are corrected.
    let outcomes = run
        .map(letters(20))
        .concurrency(4)
        .limits(Limits::new().tokens(2_900))
        .on_progress(move |progress| {
            let mut seen = shown.lock().unwrap();
            seen.0 = seen.0.max(progress.waiting);
            seen.1 = seen.1.max(progress.batches);
            let batches = progress.forced_batches;
            let mut said = said.lock().unwrap();
            *said = said.or(batches.map(|batches| (batches, progress.done)));
        })
        .resume(place.open())
        .batch_api(quick())
        .await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert!(server.batches_seen() > 2, "{}", server.batches_seen());
    assert_eq!(server.billed_lines().len(), 22);
    let (waiting, batches) = *seen.lock().unwrap();
    assert!(waiting > 1 && batches == 1, "{waiting} waited in {batches}");
    let (forced, done) = forced.lock().unwrap().unwrap();
    assert!(forced >= 2, "{forced}");
    assert_eq!(done, 0, "it is said when the first batch is sent");
}

/// Sorts sixty letters, of which six are corrected, under a limit near what they cost. Returns how many batches that took.
async fn batches_of_sixty(means: bool) -> usize {
    let server = sorting().start().await.unwrap();
    let place = Place::new(&format!("mean-{means}"));
    let api = match means {
        true => quick().reserve_mean(),
        false => quick(),
    };
    let outcomes = run(&server, Api::Chat)
        .map(letters(60))
        .limits(Limits::new().tokens(8_000))
        .resume(place.open())
        .batch_api(api)
        .await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert_eq!(server.billed_lines().len(), 66);
    server.batches_seen()
}

#[tokio::test]
async fn with_the_mean_of_the_first_batch_reserved_the_rest_fits_into_fewer() {
    let by_the_most = batches_of_sixty(false).await;
    let by_the_mean = batches_of_sixty(true).await;
    // The first, all others with its corrections, and theirs.
    assert!(by_the_mean <= 3, "{by_the_mean}");
    assert!(by_the_most > by_the_mean, "{by_the_most}, {by_the_mean}");
}

#[tokio::test]
async fn under_a_limit_of_the_run_others_do_not_wait_for_a_batch_and_learn_its_name() {
    let limits = [
        Limits::new().requests(3),
        Limits::new().tokens(500),
        Limits::new().money(0.0002),
    ];
    for limits in limits {
        let server = sorting()
            .batches([StubBatch::new().in_progress(u32::MAX)])
            .start()
            .await
            .unwrap();
        let place = Place::new("run-limit");
        let run = run(&server, Api::Chat)
            .with_prices(prices())
            .with_limits(limits);
        let map = run
            .map(letters(5))
            .resume(place.open())
            .batch_api(quick().poll(Duration::from_millis(20)));
        let other = async {
            until_looked_at(&server).await;
            run.call(&letters(1)[0]).await
        };
        let error = tokio::select! {
            _ = map => panic!("its batch never ends"),
            outcome = other => outcome.unwrap_err(),
        };
        assert_eq!(error.category(), Category::LimitExceeded, "{error}");
        assert!(error.message().contains("the run has no room"), "{error}");
        assert!(error.message().contains("the batch batch_"), "{error}");
    }
}

#[tokio::test]
async fn what_is_asked_at_once_keeps_to_a_limit_of_money_at_the_full_price() {
    for api in APIS {
        let late = StubBatch::new().in_progress(u32::MAX);
        let server = sorting().batches([late]).start().await.unwrap();
        let place = Place::new("limit-at-once");
        let run = run(&server, api).with_prices(prices());
        // By a batch, some eight requests fit in; at once, each takes four times as much, and costs 0.0002.
        let outcomes = run
            .map(letters(20))
            .limits(Limits::new().money(0.001))
            .resume(place.open())
            .batch_api(quick().within(Duration::from_millis(30)).then_at_once())
            .await;
        let answered = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        assert!(answered > 0, "{api:?} {outcomes:?}");
        for error in outcomes.into_iter().filter_map(Result::err) {
            assert_eq!(error.category(), Category::LimitExceeded, "{api:?} {error}");
        }
        let cost = run.ledger().total().cost.total().unwrap();
        assert!(cost < 0.0012 + 1e-9, "{api:?} {cost}");
    }
}

#[tokio::test]
async fn a_call_of_flex_waits_for_room_and_costs_what_the_list_says_of_it() {
    for api in [Api::Chat, Api::Responses] {
        // OpenAI's words, where it has no room for flex. Nothing is billed.
        let full = StubReply::error(
            429,
            "resource_unavailable",
            "resource_unavailable",
            "Flex is not available now",
        );
        let server = sorting()
            .script([full.clone(), full])
            .start()
            .await
            .unwrap();
        let price = Price::per_million(1.0, 10.0).flex(Price::per_million(0.5, 4.0));
        let flex = Settings::new().extra("service_tier", "flex");
        let clock = TestClock::new();
        let run = run(&server, api)
            .with_prices(Prices::new().model("gpt-x", price))
            .with_defaults(flex)
            .with_clock(clock.clone())
            // At the full price, its 50 tokens of an answer alone take more.
            .with_limits(Limits::new().money(0.0004));
        let report = run.call(&letters(1)[0]).report().await.unwrap();
        for request in server.requests() {
            assert_eq!(request.json().unwrap()["service_tier"], "flex", "{api:?}");
        }
        assert_eq!(server.requests_seen(), 3, "{api:?}");
        assert!(!clock.waits().is_empty(), "{api:?}");
        // 100 tokens in and 10 out.
        let cost = report.record.usage().cost.total().unwrap();
        assert!((cost - 0.00009).abs() < 1e-9, "{api:?} {cost}");

        let unlisted = Prices::new().model("gpt-x", Price::per_million(1.0, 10.0));
        let run = run.with_prices(unlisted);
        let error = run.call(&letters(1)[0]).await.unwrap_err();
        assert_eq!(error.category(), Category::LimitUnenforceable, "{error}");
        assert!(error.message().contains("Price::flex"), "{error}");
    }
}
