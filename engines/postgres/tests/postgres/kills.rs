//! Workers of the queue that die at random, again and again, and one that freezes.

use std::time::Duration;

use serde_json::Value;

use crate::support::{NEEDED, Site, number, queue, random, until};

/// Approves what waits, until all runs have ended, or are in doubt for good.
async fn approve(site: &Site, ids: &[String]) -> Vec<Value> {
    let mut ended = Vec::new();
    for id in ids {
        let status = until("it ends", async || {
            let status = site.json(queue(), &["status", id]).await;
            assert_eq!(status["failure"], Value::Null, "{id}");
            if status["waiting"] != serde_json::json!([]) {
                site.ask(queue(), &["approve", id]).await;
            }
            if status["in_doubt"] == Value::Null {
                return (status["ended"] == true).then_some(status);
            }
            // A tool under way is in doubt for a moment.
            tokio::time::sleep(Duration::from_secs(2)).await;
            let later = site.json(queue(), &["status", id]).await;
            if later["in_doubt"] != Value::Null && site.paid(id) == 0 {
                site.ask(queue(), &["rerun", id]).await;
            }
            (later["in_doubt"] != Value::Null && site.paid(id) == 1).then_some(later)
        });
        ended.push(status.await);
    }
    ended
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Postgres: scripts/postgres"]
async fn whenever_workers_are_killed_the_runs_end_as_without() {
    let kills = number("LLMNODE_KILLS", 32);
    let site = Site::new(Duration::from_millis(300)).await;
    site.ask(queue(), &["setup"]).await;
    let mut workers = [(); 2].map(|()| Some(site.spawn(queue(), &["worker"])));
    let (ids, mut random): (Vec<String>, _) =
        ((1..=kills).map(|n| format!("k{n}")).collect(), random());
    for (turn, id) in ids.iter().enumerate() {
        let seen = site.model.requests_seen();
        assert_eq!(
            site.ask(queue(), &["start", id, id, "The lamp is broken."])
                .await,
            "started: true\n"
        );
        assert_eq!(
            site.ask(queue(), &["start", id, id, "Another."]).await,
            "started: false\n"
        );
        for id in &ids[turn.saturating_sub(5)..turn] {
            let _ = site.output(queue(), &["approve", id]).await;
        }
        until("a worker works", async || {
            (site.model.requests_seen() > seen).then_some(())
        })
        .await;
        tokio::time::sleep(Duration::from_millis(random() % 600)).await;
        workers[turn % 2].take().unwrap().kill();
        workers[turn % 2] = Some(site.spawn(queue(), &["worker"]));
    }
    let (mut repeats, mut unknown, mut in_doubt) = (0, 0, 0);
    for (id, status) in ids.iter().zip(approve(&site, &ids).await) {
        let (requests, again) = site.counts(id);
        let not_known = status["unknown"].as_u64().unwrap();
        assert!(again <= not_known, "{id}: {again} again, {status}");
        assert_eq!(site.paid(id), 1, "{id}");
        let counted = status["requests"].as_u64().unwrap();
        assert!(
            counted - not_known <= NEEDED && requests <= counted,
            "{id}: {requests}, {status}"
        );
        if status["ended"] == true {
            assert_eq!(
                (requests - again, &status["state"]["note"]),
                (NEEDED, &Value::from("refunded")),
                "{id}"
            );
        }
        in_doubt += u64::from(status["ended"] != true);
        (repeats, unknown) = (repeats + again, unknown + not_known);
    }
    println!(
        "{kills} kills, as many runs: {repeats} requests again, {unknown} unknown, {in_doubt} in doubt"
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Postgres: scripts/postgres"]
async fn a_frozen_worker_is_replaced_and_keeps_nothing_when_it_wakes() {
    let site = Site::new(Duration::from_millis(1500)).await;
    site.ask(queue(), &["setup"]).await;
    let frozen = site.spawn(queue(), &["worker"]);
    site.ask(queue(), &["start", "f1", "f1", "The lamp is broken."])
        .await;
    until("asked twice", async || {
        (site.counts("f1").0 == 2).then_some(())
    })
    .await;
    frozen.signal("STOP");
    let _other = site.spawn(queue(), &["worker"]);
    until("asked again", async || {
        (site.counts("f1").1 == 1).then_some(())
    })
    .await;
    frozen.signal("CONT");
    let waits = async || {
        let status = site.json(queue(), &["status", "f1"]).await;
        (status["waiting"][0]["name"] == "refund").then_some(())
    };
    until("it waits", waits).await;
    site.ask(queue(), &["approve", "f1"]).await;
    let ended =
        async || Some(site.json(queue(), &["status", "f1"]).await).filter(|it| it["ended"] == true);
    let status = until("it ends", ended).await;
    assert_eq!(
        (site.counts("f1"), &status["unknown"], &status["requests"]),
        ((5, 1), &1.into(), &5.into())
    );
    assert_eq!(
        site.effects("f1"),
        ["looked up: f1", "paid back: 20 euros to f1"]
    );
}
