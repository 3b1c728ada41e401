//! Two workers and many flows at once, for as long as `LLMNODE_SECONDS` says.

use std::time::{Duration, Instant};

use llmnode_restate::Outcome;

use crate::support::{Balancer, Restate, spawn, unix_ms};
use crate::work::{Site, World, counts, model};

const AT_ONCE: u64 = 200;
const STEPS: u64 = 5;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn two_hundred_flows_at_once_end_right() {
    let seconds = std::env::var("LLMNODE_SECONDS").map_or(10, |text| text.parse().unwrap());
    let (model, asked) = model(0, Duration::from_millis(1500)).await;
    let (restate, site) = (Restate::start().await, Site::new("many", model.base_url()));
    let balancer = Balancer::start().await;
    let mut workers = [site.worker(), site.worker()].map(|(port, process)| (port, Some(process)));
    balancer.list(&[workers[0].0, workers[1].0]);
    restate.register(balancer.port).await;
    let (runs, began) = (restate.client(), Instant::now());
    let killing = tokio::spawn(async move {
        let (mut kills, mut random) = (0, unix_ms() | 1);
        while began.elapsed() < Duration::from_secs(seconds) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            tokio::time::sleep(Duration::from_millis(1000 + random % 4000)).await;
            let (port, process) = &mut workers[kills % 2];
            process.take().unwrap().kill();
            *process = Some(spawn(site.command(*port)));
            kills += 1;
        }
        (kills, workers)
    });
    let (mut ended, mut repeats, mut unknown) = (0, 0, 0);
    while ended == 0 || began.elapsed() < Duration::from_secs(seconds) {
        let ids: Vec<String> = (0..AT_ONCE).map(|n| format!("w{}", ended + n)).collect();
        for id in &ids {
            runs.start(
                "counting",
                id,
                &World {
                    steps_left: STEPS,
                    ..World::on(id)
                },
            )
            .await
            .unwrap();
        }
        for id in &ids {
            let outcome: Outcome<World> = runs.result("counting", id).await.unwrap();
            let (requests, again) = counts(&asked, id);
            assert_eq!(
                (outcome.state.steps_left, requests - again),
                (0, STEPS),
                "{id}"
            );
            assert!(
                again <= outcome.unknown,
                "{id}: {again} again, {} unknown",
                outcome.unknown
            );
            // The ledger is the model's log, up to what is listed as unknown: not sent, or answered and its figures lost.
            let known = outcome.usage.requests - outcome.unknown;
            assert!(
                known <= STEPS && requests <= outcome.usage.requests,
                "{id}: {requests}, {outcome:?}"
            );
            assert_eq!(
                outcome.usage.total.unreported_calls, outcome.unknown,
                "{id}"
            );
            (repeats, unknown) = (repeats + again, unknown + outcome.unknown);
        }
        ended += AT_ONCE;
    }
    let (kills, _workers) = killing.await.unwrap();
    println!(
        "{ended} flows, {kills} kills, {:?}: {repeats} requests again, {unknown} unknown; the model was asked {} times",
        began.elapsed(),
        model.requests_seen()
    );
}
