//! One failure at a time, where it hurts.

use std::time::Duration;

use llmnode::{Approval, Category};
use llmnode_restate::{Decision, Outcome, Taken};
use serde_json::json;

use crate::decisions::waits;
use crate::support::{Balancer, Restate, port, spawn, until};
use crate::work::{NEEDED, Site, World, counts, model};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn a_pause_is_decided_while_no_worker_runs() {
    let (model, asked) = model(0, Duration::ZERO).await;
    let (restate, site) = (Restate::start().await, Site::new("alone", model.base_url()));
    let (port, worker) = site.worker();
    restate.register(port).await;
    let runs = restate.client();
    runs.start("study", "p1", &World::on("p1")).await.unwrap();
    let status = waits(&runs, "study", "p1").await;
    worker.kill();
    let decision = Decision::all(&status, Approval::yes());
    assert_eq!(
        runs.decide("study", "p1", &decision).await.unwrap(),
        Taken::Later
    );
    let _worker = spawn(site.command(port));
    let outcome: Outcome<World> = runs.result("study", "p1").await.unwrap();
    assert_eq!(
        (
            outcome.usage.requests,
            outcome.unknown,
            counts(&asked, "p1")
        ),
        (NEEDED, 0, (NEEDED, 0))
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn a_run_waits_without_a_process() {
    let (model, asked) = model(0, Duration::ZERO).await;
    let (restate, site) = (Restate::start().await, Site::new("waits", model.base_url()));
    let port = port();
    let mut command = site.command(port);
    command.env("LLMNODE_ENTRY_SECONDS", "1");
    let worker = spawn(command);
    restate.register(port).await;
    let runs = restate.client();
    runs.start("draft", "w1", &World::on("w1")).await.unwrap();
    let status = waits(&runs, "draft", "w1").await;
    let sql = "SELECT id FROM sys_invocation WHERE status = 'suspended'";
    until("suspended", async || {
        (restate.query(sql).await.len() == 1).then_some(())
    })
    .await;
    worker.kill();
    let _worker = spawn(site.command(port));
    runs.decide("draft", "w1", &Decision::all(&status, Approval::yes()))
        .await
        .unwrap();
    let outcome: Outcome<World> = runs.result("draft", "w1").await.unwrap();
    assert_eq!((outcome.unknown, counts(&asked, "w1")), (0, (5, 0)));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn a_frozen_worker_is_replaced_and_keeps_nothing_when_it_wakes() {
    let (model, asked) = model(0, Duration::from_millis(1500)).await;
    let (restate, site) = (
        Restate::start().await,
        Site::new("frozen", model.base_url()),
    );
    let (balancer, (one, frozen), (two, _other)) =
        (Balancer::start().await, site.worker(), site.worker());
    balancer.list(&[one]);
    restate.register(balancer.port).await;
    let runs = restate.client();
    runs.start(
        "counting",
        "f1",
        &World {
            steps_left: 3,
            ..World::on("f1")
        },
    )
    .await
    .unwrap();
    until("asked twice", async || {
        (counts(&asked, "f1").0 == 2).then_some(())
    })
    .await;
    frozen.signal("STOP");
    balancer.list(&[two]);
    until("asked again", async || {
        (counts(&asked, "f1").1 == 1).then_some(())
    })
    .await;
    frozen.signal("CONT");
    let outcome: Outcome<World> = runs.result("counting", "f1").await.unwrap();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!((outcome.unknown, counts(&asked, "f1")), (1, (4, 1)));
    assert_eq!(outcome.usage.requests, 4);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn the_server_is_killed_in_a_request() {
    let (model, asked) = model(0, Duration::from_secs(1)).await;
    let (mut restate, site) = (
        Restate::start().await,
        Site::new("server", model.base_url()),
    );
    let (port, _worker) = site.worker();
    restate.register(port).await;
    let runs = restate.client();
    runs.start(
        "counting",
        "k1",
        &World {
            steps_left: 3,
            ..World::on("k1")
        },
    )
    .await
    .unwrap();
    until("asked twice", async || {
        (counts(&asked, "k1").0 == 2).then_some(())
    })
    .await;
    restate.kill();
    restate.up().await;
    let outcome: Outcome<World> = runs.result("counting", "k1").await.unwrap();
    assert_eq!((outcome.unknown, counts(&asked, "k1")), (1, (4, 1)));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn a_worker_that_is_to_end_finishes_its_request() {
    let (model, asked) = model(0, Duration::from_millis(1500)).await;
    let (restate, site) = (Restate::start().await, Site::new("ends", model.base_url()));
    let (balancer, (one, ending), (two, _other)) =
        (Balancer::start().await, site.worker(), site.worker());
    balancer.list(&[one]);
    restate.register(balancer.port).await;
    let runs = restate.client();
    runs.start(
        "counting",
        "t1",
        &World {
            steps_left: 3,
            ..World::on("t1")
        },
    )
    .await
    .unwrap();
    until("asked", async || {
        (counts(&asked, "t1").0 == 1).then_some(())
    })
    .await;
    balancer.list(&[two]);
    assert!(
        tokio::task::spawn_blocking(|| ending.terminate())
            .await
            .unwrap()
    );
    let outcome: Outcome<World> = runs.result("counting", "t1").await.unwrap();
    assert_eq!((outcome.unknown, counts(&asked, "t1")), (0, (3, 0)));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn a_model_that_is_away_is_asked_later_and_refused_connections_are_no_requests() {
    let away = port();
    let (restate, site) = (
        Restate::start().await,
        Site::new("away", format!("http://127.0.0.1:{away}/v1")),
    );
    let (port, _worker) = site.worker();
    restate.register(port).await;
    let runs = restate.client();
    for n in 1..=4 {
        let topic = format!("m{n}");
        runs.start(
            "counting",
            &topic,
            &World {
                steps_left: 2,
                ..World::on(&topic)
            },
        )
        .await
        .unwrap();
    }
    let sql = "SELECT retry_count FROM sys_invocation WHERE target_handler_name = 'run' AND retry_count > 1";
    until("tried again", async || {
        (restate.query(sql).await.len() == 4).then_some(())
    })
    .await;
    let failure = runs
        .status("counting", "m1")
        .await
        .unwrap()
        .failure
        .unwrap();
    assert!(failure.starts_with("network: "), "{failure}");
    let (_model, asked) = model(away, Duration::ZERO).await;
    for n in 1..=4 {
        let topic = format!("m{n}");
        let outcome: Outcome<World> = runs.result("counting", &topic).await.unwrap();
        assert_eq!(
            (
                outcome.unknown,
                outcome.usage.requests,
                counts(&asked, &topic)
            ),
            (0, 2, (2, 0))
        );
        assert_eq!(runs.status("counting", &topic).await.unwrap().failure, None);
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn what_may_have_happened_waits_for_a_person() {
    let (model, _) = model(0, Duration::ZERO).await;
    let (restate, site) = (Restate::start().await, Site::new("doubt", model.base_url()));
    let (port, worker) = site.worker();
    restate.register(port).await;
    let runs = restate.client();
    for topic in ["d1", "d2"] {
        runs.start("pay", topic, &World::on(topic)).await.unwrap();
    }
    until("charged", async || {
        (site.effects().len() == 2).then_some(())
    })
    .await;
    worker.kill();
    let _worker = spawn(site.command(port));
    let status = waits(&runs, "pay", "d1").await;
    assert_eq!(
        status.in_doubt.as_ref().map(|doubt| doubt.node.as_str()),
        Some("charge")
    );
    let refused = runs
        .decide("pay", "d1", &Decision::on(&status))
        .await
        .unwrap_err();
    assert!(
        refused.to_string().contains("does not wait for a decision"),
        "{refused}"
    );
    runs.happened("pay", "d1", &status, &7).await.unwrap();
    let again = until("the fault", async || {
        let status = runs.status("pay", "d1").await.ok()?;
        status.fault.is_some().then_some(status)
    });
    let again = again.await;
    assert!(
        again
            .fault
            .as_ref()
            .unwrap()
            .contains("no output of `charge`"),
        "{again:?}"
    );
    let late = runs
        .happened("pay", "d1", &status, &"by the bank")
        .await
        .unwrap_err();
    assert!(
        late.to_string()
            .contains("that is for wait 1, and this is wait 2"),
        "{late}"
    );
    assert_eq!(
        runs.happened("pay", "d1", &again, &"by the bank")
            .await
            .unwrap(),
        Taken::Now
    );
    let outcome: Outcome<World> = runs.result("pay", "d1").await.unwrap();
    assert_eq!(
        (outcome.state.answer.as_str(), site.effects().len()),
        ("by the bank", 2)
    );

    let status = waits(&runs, "pay", "d2").await;
    runs.rerun("pay", "d2", &status).await.unwrap();
    let outcome: Outcome<World> = runs.result("pay", "d2").await.unwrap();
    assert_eq!(
        (outcome.state.answer.as_str(), site.effects().len()),
        ("receipt", 3)
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn another_version_of_the_flow_is_refused_with_the_differences() {
    let (model, _) = model(0, Duration::ZERO).await;
    let (restate, site) = (
        Restate::start().await,
        Site::new("changed", model.base_url()),
    );
    let (port, worker) = site.worker();
    restate.register(port).await;
    let runs = restate.client();
    runs.start("draft", "v1", &World::on("v1")).await.unwrap();
    let status = waits(&runs, "draft", "v1").await;
    worker.kill();
    let mut command = site.command(port);
    let _worker = spawn({
        command.env("LLMNODE_CHANGED", "yes");
        command
    });
    runs.decide("draft", "v1", &Decision::all(&status, Approval::yes()))
        .await
        .unwrap();
    let changed = runs.result::<World, ()>("draft", "v1").await.unwrap_err();
    assert_eq!(changed.category(), Category::ConfigError, "{changed}");
    assert!(
        changed.to_string().contains("Report") && changed.to_string().contains("Plan"),
        "{changed}"
    );
    assert_eq!(
        json!(runs.status("draft", "v1").await.unwrap())["ended"],
        true
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn a_state_that_cannot_be_read_ends_the_run() {
    let (model, _) = model(0, Duration::ZERO).await;
    let (restate, site) = (Restate::start().await, Site::new("state", model.base_url()));
    let (port, worker) = site.worker();
    restate.register(port).await;
    let runs = restate.client();
    runs.start("draft", "s1", &World::on("s1")).await.unwrap();
    let status = waits(&runs, "draft", "s1").await;
    worker.kill();
    let mut command = site.command(port);
    command.env("LLMNODE_STATE", "another");
    let _worker = spawn(command);
    runs.decide("draft", "s1", &Decision::all(&status, Approval::yes()))
        .await
        .unwrap();
    let unreadable = runs.result::<World, ()>("draft", "s1").await.unwrap_err();
    assert_eq!(unreadable.category(), Category::ConfigError, "{unreadable}");
    assert!(
        unreadable
            .to_string()
            .contains("the state in the journal cannot be read as"),
        "{unreadable}"
    );
    assert!(runs.status("draft", "s1").await.unwrap().ended);
}
