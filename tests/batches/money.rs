//! What a batch costs, and what limits make of it.

use std::sync::{Arc, Mutex};

use llmnode::{Category, Limits, Price, Prices};

use crate::support::{APIS, Api, Place, letters, quick, run, sorting};
use llmnode::journal::MapExt as _;

fn prices() -> Prices {
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
    // Letters 3 and 13 are corrected.
    let outcomes = run
        .map(letters(20))
        .concurrency(4)
        .limits(Limits::new().tokens(2_900))
        .on_progress(move |progress| {
            let mut seen = shown.lock().unwrap();
            seen.0 = seen.0.max(progress.waiting);
            seen.1 = seen.1.max(progress.batches);
        })
        .resume(place.open())
        .batch_api(quick())
        .await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert!(server.batches_seen() > 2, "{}", server.batches_seen());
    assert_eq!(server.billed_lines().len(), 22);
    let (waiting, batches) = *seen.lock().unwrap();
    assert!(waiting > 1 && batches == 1, "{waiting} waited in {batches}");
}
