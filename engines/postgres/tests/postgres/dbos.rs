//! The same flow on DBOS.

use std::time::Duration;

use serde_json::json;

use crate::support::{NEEDED, Site, number, random, until};

fn dbos() -> &'static str {
    env!("CARGO_BIN_EXE_dbos")
}

async fn waits(site: &Site, id: &str) {
    let waits = async || {
        (site.json(dbos(), &["status", id]).await["waiting"][0]["name"] == "refund").then_some(())
    };
    until("it waits", waits).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Postgres: scripts/postgres"]
async fn a_run_goes_on_with_the_same_executor_id_only() {
    let site = Site::new(Duration::from_millis(300)).await;
    let one = site.spawn(dbos(), &["worker", "one"]);
    until("it is set up", async || {
        site.output(dbos(), &["status", "x"])
            .await
            .status
            .success()
            .then_some(())
    })
    .await;
    site.ask(dbos(), &["start", "d1", "d1", "The lamp is broken."])
        .await;
    waits(&site, "d1").await;
    one.kill();
    site.ask(dbos(), &["approve", "d1"]).await;
    let two = site.spawn(dbos(), &["worker", "two"]);
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(
        site.json(dbos(), &["status", "d1"]).await["status"],
        "PENDING"
    );
    assert_eq!((site.paid("d1"), site.counts("d1")), (0, (2, 0)));
    two.kill();
    let _one = site.spawn(dbos(), &["worker", "one"]);
    let outcome = site.json(dbos(), &["result", "d1"]).await;
    assert_eq!(
        (&outcome["unknown"], &outcome["requests"]),
        (&json!(0), &json!(NEEDED)),
        "{outcome}"
    );
    assert_eq!((site.counts("d1"), site.paid("d1")), ((NEEDED, 0), 1));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Postgres: scripts/postgres"]
async fn whenever_the_worker_is_killed_the_runs_end_as_without() {
    let kills = number("LLMNODE_DBOS_KILLS", 16);
    let site = Site::new(Duration::from_millis(300)).await;
    let mut worker = site.spawn(dbos(), &["worker", "one"]);
    until("it is set up", async || {
        site.output(dbos(), &["status", "x"])
            .await
            .status
            .success()
            .then_some(())
    })
    .await;
    let (ids, mut random): (Vec<String>, _) =
        ((1..=kills).map(|n| format!("d{n}")).collect(), random());
    for (turn, id) in ids.iter().enumerate() {
        let seen = site.model.requests_seen();
        site.ask(dbos(), &["start", id, id, "The lamp is broken."])
            .await;
        for id in &ids[turn.saturating_sub(5)..turn] {
            let _ = site.output(dbos(), &["approve", id]).await;
        }
        until("the worker works", async || {
            (site.model.requests_seen() > seen).then_some(())
        })
        .await;
        tokio::time::sleep(Duration::from_millis(random() % 600)).await;
        worker.kill();
        worker = site.spawn(dbos(), &["worker", "one"]);
    }
    let (mut repeats, mut unknown, mut in_doubt) = (0, 0, 0);
    for id in &ids {
        let over = async || {
            let _ = site.output(dbos(), &["approve", id]).await;
            let status = site.json(dbos(), &["status", id]).await;
            if status["in_doubt"] != json!(null) && site.paid(id) == 0 {
                site.ask(dbos(), &["rerun", id]).await;
            }
            let is_over = status["status"] != "PENDING" && status["status"] != "ENQUEUED";
            (is_over || status["in_doubt"] != json!(null) && site.paid(id) == 1).then_some(is_over)
        };
        if !until("it ends", over).await {
            in_doubt += 1;
            continue;
        }
        let outcome = site.json(dbos(), &["result", id]).await;
        let (requests, again) = site.counts(id);
        let not_known = outcome["unknown"].as_u64().unwrap();
        assert!(
            again <= not_known && requests - again == NEEDED,
            "{id}: {requests}, {again}, {outcome}"
        );
        assert_eq!(
            (site.paid(id), &outcome["state"]["note"]),
            (1, &json!("refunded")),
            "{id}"
        );
        (repeats, unknown) = (repeats + again, unknown + not_known);
    }
    println!(
        "DBOS, {kills} kills, as many runs: {repeats} requests again, {unknown} unknown, {in_doubt} in doubt"
    );
}
