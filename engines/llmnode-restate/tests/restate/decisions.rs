//! Decisions, right and wrong; what ends a run; what is kept.

use std::time::Duration;

use llmnode::{Approval, Category};
use llmnode_restate::{Client, Decision, Outcome, Status, Taken, Worker};
use serde_json::{Value, json};

use crate::support::{Restate, until};
use crate::work::{NEEDED, Site, World, counts, model};

pub(crate) async fn waits(runs: &Client, flow: &str, id: &str) -> Status {
    let asked = async || {
        let status = runs.status(flow, id).await.ok()?;
        (!status.waiting.is_empty() || status.in_doubt.is_some()).then_some(status)
    };
    until("it waits", asked).await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn wrong_decisions_change_nothing() {
    let (model, asked) = model(0, Duration::ZERO).await;
    let (restate, site) = (Restate::start().await, Site::new("wrong", model.base_url()));
    let (port, _worker) = site.worker();
    restate.register(port).await;
    let runs = restate.client();

    let missing = runs.status("study", "none").await.unwrap_err();
    assert_eq!(missing.category(), Category::NotFound, "{missing}");
    let none = runs
        .start("study", "a b", &World::on("x"))
        .await
        .unwrap_err();
    assert_eq!(none.category(), Category::ConfigError, "{none}");
    runs.start("nothing", "n1", &json!({})).await.unwrap();
    let unknown = runs
        .result::<Value, Value>("nothing", "n1")
        .await
        .unwrap_err();
    assert!(
        unknown
            .to_string()
            .contains("this worker has: counting, desk, draft"),
        "{unknown}"
    );
    runs.start("study", "n2", &json!({"topic": 7}))
        .await
        .unwrap();
    let unreadable = runs
        .result::<Value, Value>("study", "n2")
        .await
        .unwrap_err();
    assert_eq!(unreadable.category(), Category::ConfigError, "{unreadable}");

    assert!(runs.start("study", "s1", &World::on("s1")).await.unwrap());
    assert!(
        !runs
            .start("study", "s1", &World::on("other"))
            .await
            .unwrap()
    );
    let status = waits(&runs, "study", "s1").await;
    assert_eq!(
        (status.wait, status.waiting.len(), status.at.to_string()),
        (1, 1, "Research".to_owned())
    );
    assert_eq!(status.usage.requests, 4);
    let id = status.waiting[0].id.clone();
    let earlier = Status::default();
    for (decision, why) in [
        (
            Decision::all(&status, Approval::later()),
            "waits for an approval",
        ),
        (Decision::on(&status), "waits for an approval"),
        (
            Decision::on(&status).answer(&id, 7),
            "waits for an approval",
        ),
        (
            Decision::all(&status, Approval::yes()).call("call_9", Approval::yes()),
            "\"call_9\" does not wait",
        ),
        (
            Decision::on(&earlier).call(&id, Approval::yes()),
            "that is for wait 0, and this is wait 1",
        ),
    ] {
        let refused = runs.decide("study", "s1", &decision).await.unwrap_err();
        assert_eq!(refused.category(), Category::BadRequest);
        assert!(refused.to_string().contains(why), "{refused}");
    }
    let refused = runs.rerun("study", "s1", &status).await.unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("does not wait for what happened"),
        "{refused}"
    );
    assert_eq!(runs.status("study", "s1").await.unwrap(), status);

    let edited = Decision::all(&status, Approval::edit(json!({"text": "tea is warm"})));
    assert_eq!(
        runs.decide("study", "s1", &edited).await.unwrap(),
        Taken::Now
    );
    let late = runs.decide("study", "s1", &edited).await.unwrap_err();
    assert_eq!(late.category(), Category::BadRequest, "{late}");
    let outcome: Outcome<World> = runs.result("study", "s1").await.unwrap();
    assert_eq!(
        outcome.state.answer,
        "answer to: Write s1 up: it is published"
    );
    assert_eq!(
        (
            outcome.usage.requests,
            outcome.unknown,
            counts(&asked, "s1")
        ),
        (NEEDED, 0, (NEEDED, 0))
    );
    let done: Vec<String> = site.effects().into_iter().map(|(_, what)| what).collect();
    assert_eq!(
        done,
        ["search tea s1", "search water s1", "publish tea is warm s1"]
    );
    assert!(runs.status("study", "s1").await.unwrap().ended);
    let over = runs.cancel("study", "s1").await.unwrap_err();
    assert!(over.to_string().contains("the run has ended"), "{over}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn of_eight_decisions_at_once_one_is_taken() {
    let (model, asked) = model(0, Duration::ZERO).await;
    let (restate, site) = (
        Restate::start().await,
        Site::new("at-once", model.base_url()),
    );
    let (port, _worker) = site.worker();
    restate.register(port).await;
    let runs = restate.client();
    let mut taken = 0;
    for pause in 0..10 {
        let id = format!("once{pause}");
        runs.start("study", &id, &World::on(&id)).await.unwrap();
        let status = waits(&runs, "study", &id).await;
        let decision = Decision::all(&status, Approval::yes());
        let decide = |_| {
            let (runs, id, decision) = (runs.clone(), id.clone(), decision.clone());
            tokio::spawn(async move { runs.decide("study", &id, &decision).await })
        };
        let deciding: Vec<_> = (0..8).map(decide).collect();
        for decided in deciding {
            match decided.await.unwrap() {
                Ok(Taken::Now) => taken += 1,
                Ok(other) => panic!("{other:?}"),
                Err(refused) => assert_eq!(refused.category(), Category::BadRequest, "{refused}"),
            }
        }
        let outcome: Outcome<World> = runs.result("study", &id).await.unwrap();
        assert_eq!(
            (outcome.usage.requests, counts(&asked, &id)),
            (NEEDED, (NEEDED, 0))
        );
    }
    println!("10 pauses, 80 decisions: {taken} taken");
    assert_eq!(taken, 10);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn each_entry_of_the_journal_is_one_of_restates() {
    let (model, _) = model(0, Duration::ZERO).await;
    let (restate, site) = (
        Restate::start().await,
        Site::new("entries", model.base_url()),
    );
    let (port, _worker) = site.worker();
    restate.register(port).await;
    let runs = restate.client();
    runs.start("study", "e1", &World::on("e1")).await.unwrap();
    let status = waits(&runs, "study", "e1").await;
    runs.decide(
        "study",
        "e1",
        &Decision::all(&status, Approval::no("not now")),
    )
    .await
    .unwrap();
    let _: Outcome<World> = runs.result("study", "e1").await.unwrap();
    let sql = format!(
        "SELECT name, entry_type FROM sys_journal WHERE id = '{}' ORDER BY index",
        status.invocation
    );
    let entries = restate.query(&sql).await;
    let of = |kind: &str| {
        let entries = entries.iter().filter(|entry| entry["entry_type"] == kind);
        entries
            .filter_map(|entry| entry["name"].as_str())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let names = of("Command: Run");
    for (number, name) in (1..).zip(&names) {
        assert_eq!(
            name.rsplit(' ').next(),
            Some(number.to_string().as_str()),
            "{names:?}"
        );
    }
    let kinds = entries
        .iter()
        .map(|entry| entry["entry_type"].as_str().unwrap_or_default());
    assert_eq!(
        kinds.filter(|kind| *kind == "Notification: Run").count(),
        names.len()
    );
    // The start; a plan; four requests, four answers or ends, two results, a pause; ratings; the report; the end.
    assert!((15..=26).contains(&names.len()), "{names:?}");
    assert!(
        names.iter().any(|name| name.starts_with("Rates ")),
        "{names:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn a_graph_waits_for_its_node() {
    let (model, _) = model(0, Duration::ZERO).await;
    let (restate, site) = (Restate::start().await, Site::new("graph", model.base_url()));
    let (port, worker) = site.worker();
    restate.register(port).await;
    let runs = restate.client();
    runs.start("desk", "wrong", &json!({"questoin": "Why?"}))
        .await
        .unwrap();
    let wrong = runs
        .result::<Value, String>("desk", "wrong")
        .await
        .unwrap_err();
    assert!(
        wrong.to_string().contains("did you mean \"question\"?"),
        "{wrong}"
    );
    runs.start("desk", "g1", &json!({"question": "Why?"}))
        .await
        .unwrap();
    let status = waits(&runs, "desk", "g1").await;
    assert_eq!(status.waiting[0].id, "write");
    worker.kill();
    let worker = crate::support::spawn(site.command(port));
    runs.decide("desk", "g1", &Decision::all(&status, Approval::yes()))
        .await
        .unwrap();
    let outcome: Outcome<Value, String> = runs.result("desk", "g1").await.unwrap();
    let answer = outcome.state["values"]["answer"].as_str().unwrap();
    assert!(answer.contains("answer to: Find Why?"), "{answer}");
    assert_eq!((outcome.usage.requests, model.requests_seen()), (2, 2));
    assert!(worker.terminate());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn a_cancelled_run_asks_for_no_more() {
    let (model, asked) = model(0, Duration::from_secs(2)).await;
    let (restate, site) = (
        Restate::start().await,
        Site::new("cancel", model.base_url()),
    );
    let (port, _worker) = site.worker();
    restate.register(port).await;
    let runs = restate.client();
    runs.start("study", "c1", &World::on("c1")).await.unwrap();
    until("asked", async || {
        (counts(&asked, "c1").0 == 1).then_some(())
    })
    .await;
    assert_eq!(runs.cancel("study", "c1").await.unwrap(), Taken::Now);
    let cancelled = runs.result::<World, ()>("study", "c1").await.unwrap_err();
    assert_eq!(cancelled.category(), Category::Cancelled, "{cancelled}");
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(counts(&asked, "c1"), (1, 0));
    assert!(runs.status("study", "c1").await.unwrap().ended);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn a_run_that_waits_is_cancelled() {
    let (model, asked) = model(0, Duration::ZERO).await;
    let (restate, site) = (
        Restate::start().await,
        Site::new("waiting", model.base_url()),
    );
    let (port, worker) = site.worker();
    restate.register(port).await;
    let runs = restate.client();
    runs.start("study", "c2", &World::on("c2")).await.unwrap();
    let waiting = waits(&runs, "study", "c2").await;
    assert_eq!(runs.cancel("study", "c2").await.unwrap(), Taken::Now);
    let cancelled = runs.result::<World, ()>("study", "c2").await.unwrap_err();
    assert_eq!(cancelled.category(), Category::Cancelled, "{cancelled}");
    let status = runs.status("study", "c2").await.unwrap();
    assert!(status.ended && status.waiting.is_empty(), "{status:?}");
    let late = runs
        .decide("study", "c2", &Decision::all(&waiting, Approval::yes()))
        .await
        .unwrap_err();
    assert!(late.to_string().contains("the run has ended"), "{late}");
    assert!(worker.terminate());
    assert_eq!((counts(&asked, "c2"), site.effects().len()), ((4, 0), 2));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn a_limit_holds_over_all_workers_and_ends_the_run() {
    let (model, asked) = model(0, Duration::from_millis(700)).await;
    let (restate, site) = (Restate::start().await, Site::new("limit", model.base_url()));
    let (port, worker) = site.worker();
    restate.register(port).await;
    let runs = restate.client();
    runs.start(
        "limited",
        "l1",
        &World {
            steps_left: 5,
            ..World::on("l1")
        },
    )
    .await
    .unwrap();
    until("a step", async || {
        (runs.status("limited", "l1").await.ok()?.steps == 1).then_some(())
    })
    .await;
    worker.kill();
    let _worker = crate::support::spawn(site.command(port));
    let over = runs.result::<World, ()>("limited", "l1").await.unwrap_err();
    assert_eq!(over.category(), Category::LimitExceeded, "{over}");
    assert!(runs.status("limited", "l1").await.unwrap().ended);
    assert_eq!(counts(&asked, "l1").0, 2);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn a_tool_within_a_tool_waits_under_its_path() {
    let (model, asked) = model(0, Duration::ZERO).await;
    let (restate, site) = (
        Restate::start().await,
        Site::new("within", model.base_url()),
    );
    let (port, worker) = site.worker();
    restate.register(port).await;
    let runs = restate.client();
    runs.start("press", "p1", &World::on("p1")).await.unwrap();
    let status = waits(&runs, "press", "p1").await;
    assert_eq!(
        (&*status.waiting[0].id, &*status.waiting[0].name),
        ("call_1/call_1", "publish")
    );
    worker.kill();
    let _worker = crate::support::spawn(site.command(port));
    let edited = Approval::edit(json!({"text": "tea is warm"}));
    runs.decide(
        "press",
        "p1",
        &Decision::on(&status).call("call_1/call_1", edited),
    )
    .await
    .unwrap();
    let outcome: Outcome<World> = runs.result("press", "p1").await.unwrap();
    assert_eq!(outcome.state.answer, "answer to: Lead p1");
    assert_eq!(
        (
            outcome.usage.requests,
            outcome.unknown,
            counts(&asked, "p1")
        ),
        (4, 0, (4, 0))
    );
    let done: Vec<String> = site.effects().into_iter().map(|(_, what)| what).collect();
    assert_eq!(done, ["publish tea is warm p1"]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn an_entry_over_the_limit_ends_the_run_and_those_below_are_kept() {
    let (model, _) = model(0, Duration::ZERO).await;
    let (restate, site) = (Restate::start().await, Site::new("size", model.base_url()));
    let (port, worker) = site.worker();
    restate.register(port).await;
    let runs = restate.client();
    let grow = |bytes: u64, steps_left| World {
        steps_left,
        ..World::on(&bytes.to_string())
    };
    const MIB: u64 = 1024 * 1024;
    runs.start("growing", "over", &grow(9 * MIB, 1))
        .await
        .unwrap();
    let over = runs
        .result::<World, ()>("growing", "over")
        .await
        .unwrap_err();
    assert_eq!(over.category(), Category::Aborted, "{over}");
    assert!(
        over.to_string().contains("and at most 8388608 are kept"),
        "{over}"
    );
    assert!(runs.status("growing", "over").await.unwrap().ended);

    // More than Restate's limit of 32 MiB for a message, in entries that are below.
    runs.start("growing", "below", &grow(7 * MIB, 6))
        .await
        .unwrap();
    until("half", async || {
        (runs.status("growing", "below").await.ok()?.steps >= 3).then_some(())
    })
    .await;
    worker.kill();
    let _worker = crate::support::spawn(site.command(port));
    let outcome: Outcome<World> = runs.result("growing", "below").await.unwrap();
    assert_eq!(outcome.state.padding.len() as u64, 7 * MIB);
}

#[tokio::test]
async fn a_worker_refuses_names_that_do_not_fit() {
    let flow = |name: &str| Worker::new().flow(name, async |_: ()| Ok(world()), || Nothing);
    for (worker, why) in [
        (flow("a:b"), "\"a:b\" is no name"),
        (flow(""), "\"\" is no name"),
        (
            flow("twice").flow("twice", async |_: ()| Ok(world()), || Nothing),
            "two flows are named \"twice\"",
        ),
        (Worker::new().identity_key("secret"), "the identity key"),
    ] {
        let refused = worker.serve("127.0.0.1:0").await.unwrap_err();
        assert!(refused.to_string().contains(why), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn with_an_identity_key_only_its_restate_is_served() {
    let restate = Restate::start().await;
    let another = "publickeyv1_w7YHemBctH5Ck2nQRQ47iBBqhNHy4FV7t2Usbye2A6f".to_owned();
    for (key, is_served) in [(another, false), (restate.identity_key(), true)] {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let worker = Worker::new().identity_key(key);
        let served = tokio::spawn(worker.serve_until(listener, async { drop(ended.await) }));
        let body = json!({"uri": format!("http://127.0.0.1:{port}")});
        let (status, answer) = restate
            .admin("POST", "/deployments", Some(body))
            .await
            .unwrap();
        assert_eq!(
            (status < 300, answer.to_string().contains("401")),
            (is_served, !is_served),
            "{status} {answer}"
        );
        end.send(()).unwrap();
        served.await.unwrap().unwrap();
    }
}

fn world() -> llmnode::Run<World> {
    llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(World::default())
}

llmnode::flow! { Nothing(World): Empty => end }

struct Empty;

#[llmnode::step]
impl llmnode::flow::Step<World> for Empty {
    type Output = ();
    type Action = ();

    async fn prep(_: &World) -> Result<Self, llmnode::BoxError> {
        Ok(Empty)
    }

    async fn exec(&self, _: &llmnode::Cx<'_, World>) -> Result<(), llmnode::BoxError> {
        Ok(())
    }

    fn post(self, (): (), _: &mut World) -> Result<(), llmnode::BoxError> {
        Ok(())
    }
}
