//! Workers that die at random, again and again.

use std::collections::HashMap;
use std::time::Duration;

use llmnode::Approval;
use llmnode_restate::{Client, Decision, Outcome};

use crate::support::{Balancer, Restate, spawn, unix_ms};
use crate::work::{NEEDED, Site, World, counts, model};

/// Decides what waits, until all runs have ended.
async fn approve(runs: Client, ids: Vec<String>) {
    let mut left = ids;
    while !left.is_empty() {
        let mut waiting = Vec::new();
        for id in left {
            let status = runs.status("study", &id).await;
            if let Ok(status) = &status
                && !status.waiting.is_empty()
            {
                // A worker may die meanwhile; what is decided then is refused the second time.
                let _ = runs
                    .decide("study", &id, &Decision::all(status, Approval::yes()))
                    .await;
            }
            if !status.is_ok_and(|status| status.ended) {
                waiting.push(id);
            }
        }
        left = waiting;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// What was executed twice, if no worker died just after the first time: then its result was not kept yet.
fn twice(effects: &[(u64, String)], kills: &[u64]) -> Vec<String> {
    let mut first = HashMap::new();
    let mut twice = Vec::new();
    for (time, what) in effects {
        let Some(earlier) = first.insert(what, *time) else {
            continue;
        };
        if !kills
            .iter()
            .any(|kill| (earlier..=earlier + 200).contains(kill))
        {
            twice.push(what.clone());
        }
    }
    twice
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn whenever_workers_are_killed_the_runs_end_as_without() {
    let number =
        |name: &str, default| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    let (kills, runs_in_all) = (number("LLMNODE_KILLS", 32), number("LLMNODE_RUNS", 16));
    let (model, asked) = model(0, Duration::from_millis(150)).await;
    let (restate, site) = (Restate::start().await, Site::new("kills", model.base_url()));
    let balancer = Balancer::start().await;
    let mut workers = [site.worker(), site.worker()].map(|(port, process)| (port, Some(process)));
    balancer.list(&[workers[0].0, workers[1].0]);
    restate.register(balancer.port).await;
    let runs = restate.client();
    let ids: Vec<String> = (1..=runs_in_all).map(|n| format!("k{n}")).collect();
    let (mut started, mut times) = (ids.iter(), Vec::new());
    let approver = tokio::spawn(approve(runs.clone(), ids.clone()));
    let mut random = unix_ms() | 1;
    for turn in 0..kills {
        while started.len() * kills > ids.len() * (kills - turn - 1) {
            let id = started.next().unwrap();
            runs.start("study", id, &World::on(id)).await.unwrap();
        }
        // xorshift64
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        tokio::time::sleep(Duration::from_millis(100 + random % 900)).await;
        let (port, process) = &mut workers[turn % 2];
        process.take().unwrap().kill();
        times.push(unix_ms());
        *process = Some(spawn(site.command(*port)));
    }
    let (mut repeats, mut unknown) = (0, 0);
    for id in &ids {
        let outcome: Outcome<World> = runs.result("study", id).await.unwrap();
        let (requests, again) = counts(&asked, id);
        assert_eq!(
            outcome.state.answer,
            format!("answer to: Write {id} up: it is published")
        );
        assert_eq!(outcome.state.notes.len(), 4);
        assert!(
            again <= outcome.unknown,
            "{id}: {again} again, {} unknown",
            outcome.unknown
        );
        assert_eq!(requests - again, NEEDED, "{id}");
        // The ledger is the model's log, up to what is listed as unknown: not sent, or answered and its figures lost.
        let known = outcome.usage.requests - outcome.unknown;
        assert!(
            known <= NEEDED && requests <= outcome.usage.requests,
            "{id}: {requests}, {outcome:?}"
        );
        (repeats, unknown) = (repeats + again, unknown + outcome.unknown);
    }
    approver.await.unwrap();
    assert_eq!(twice(&site.effects(), &times), [""; 0]);
    println!("{kills} kills, {runs_in_all} runs: {repeats} requests again, {unknown} unknown");
}
