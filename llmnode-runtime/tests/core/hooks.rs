//! The program's own functions, called as attempts and calls end.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use crate::recorder::Recorder;
use crate::support::{BAD, GOAL, GOOD, Mood, World, say, script, world};
use llmnode_runtime::{
    AttemptId, BoxError, CallId, Category, Cx, Exec, Ledger, Node, Reply, Run, ScriptedModel,
    Settings,
};

type Seen<T> = Arc<Mutex<Vec<T>>>;
type Ended = (CallId, Option<Category>);

#[derive(Debug, PartialEq)]
struct Attempted(String, Option<CallId>, AttemptId, Option<Category>);

/// A run, and what its hooks saw.
fn watched(model: ScriptedModel) -> (Run, Seen<Attempted>, Seen<Ended>) {
    let (attempts, calls) = (Seen::default(), Seen::default());
    let (to_attempts, to_calls) = (Arc::clone(&attempts), Arc::clone(&calls));
    let run = Run::new(model)
        .on_attempt(move |call, attempt| {
            assert_eq!(attempt.id.call(), call.id);
            let seen = Attempted(
                call.node.to_owned(),
                call.parent,
                attempt.id,
                attempt.category,
            );
            to_attempts.lock().unwrap().push(seen);
        })
        .on_call(move |call| to_calls.lock().unwrap().push((call.id, call.category)));
    (run, attempts, calls)
}

/// What the ledger has, in the words of the hooks.
fn booked(ledger: &Ledger) -> (Vec<Attempted>, Vec<Ended>) {
    let calls = ledger.calls();
    let attempts = calls.iter().flat_map(|call| {
        let of = |attempt: &llmnode_runtime::AttemptRecord| {
            Attempted(
                call.node.to_string(),
                call.parent,
                attempt.id,
                attempt.category,
            )
        };
        call.attempts.iter().map(of).collect::<Vec<_>>()
    });
    (
        attempts.collect(),
        calls.iter().map(|call| (call.id, call.category)).collect(),
    )
}

struct Outer;

impl Node for Outer {
    type Output = String;
    const NAME: &'static str = "outer";
}

impl<S: ?Sized + Sync> Exec<S> for Outer {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<String, BoxError> {
        cx.call(&say("inner")).await?;
        panic!("a bug in the node")
    }
}

#[tokio::test(start_paused = true)]
async fn hooks_see_what_the_ledger_has_on_every_way_out() {
    let replies = [BAD, GOOD, "no", "hi"].map(Reply::from);
    let (run, attempts, calls) = watched(script(
        replies.into_iter().chain([GOOD.into(), Reply::never()]),
    ));
    let ledger = run.ledger();
    let with = |mood| run.with_state(World { mood, ..world() });
    with(Mood::Calm).call(&GOAL).await.unwrap();
    with(Mood::Calm).call(&GOAL).retries(0).await.unwrap_err();
    run.call(&Outer).await.unwrap_err();
    with(Mood::Panic).call(&GOAL).await.unwrap_err();
    let node = say("x");
    assert!(
        tokio::time::timeout(Duration::from_secs(1), run.call(&node))
            .await
            .is_err()
    );

    let (expected_attempts, expected_calls) = booked(&ledger);
    assert_eq!(*attempts.lock().unwrap(), expected_attempts);
    assert_eq!(*calls.lock().unwrap(), expected_calls);
    let ended: Vec<_> = expected_calls
        .iter()
        .map(|(_, category)| *category)
        .collect();
    use Category::*;
    assert_eq!(
        ended,
        [
            None,
            Some(SchemaError),
            None,
            Some(Panic),
            Some(Panic),
            Some(Cancelled)
        ]
    );
    assert_eq!(expected_attempts.len(), 6);
}

#[tokio::test]
async fn a_hook_may_read_the_ledger_which_has_the_attempt_already() {
    let (handle, requests) = (Arc::new(OnceLock::<Ledger>::new()), Seen::<u64>::default());
    let (from, to, last) = (
        Arc::clone(&handle),
        Arc::clone(&requests),
        Arc::clone(&handle),
    );
    let run = Run::new(script([BAD, GOOD]))
        .on_attempt(move |_, _| {
            to.lock()
                .unwrap()
                .push(from.get().unwrap().total().requests)
        })
        .on_call(move |call| assert_eq!(last.get().unwrap().calls()[0].id, call.id))
        .with_state(world());
    handle.set(run.ledger()).unwrap();
    run.call(&GOAL).await.unwrap();
    assert_eq!(*requests.lock().unwrap(), [1, 2]);
}

#[tokio::test]
async fn the_panic_of_a_hook_is_logged_and_of_no_effect() {
    let (log, _guard) = Recorder::start();
    let (run, attempts, calls) = watched(script([BAD, GOOD]));
    // Set later, these run after; a hook behind one that panics still runs.
    let after = Seen::<()>::default();
    let to = Arc::clone(&after);
    let run = run
        .on_attempt(|_, _| panic!("a bug in the hook"))
        .on_attempt(move |_, _| to.lock().unwrap().push(()))
        .on_call(|_| panic!("another bug"))
        .with_state(world());
    let report = run.call(&GOAL).report().await.unwrap();
    assert_eq!(report.record.attempts.len(), 2);
    assert_eq!(run.ledger().total().requests, 2);
    let seen = [
        attempts.lock().unwrap().len(),
        calls.lock().unwrap().len(),
        after.lock().unwrap().len(),
    ];
    assert_eq!(seen, [2, 1, 2]);
    let said: Vec<_> = log
        .events("llmnode::hook")
        .iter()
        .map(|e| e.fields["message"].clone())
        .collect();
    let bug = "a hook panicked: a bug in the hook";
    assert_eq!(said, [bug, bug, "a hook panicked: another bug"]);
}

#[tokio::test]
async fn a_hook_that_panics_while_a_call_is_dropped_by_a_panic_ends_nothing() {
    let run = Run::new(ScriptedModel::new().reply(Reply::never()))
        .on_attempt(|_, _| panic!("a bug in the hook"));
    let other = run.clone();
    let task = tokio::spawn(async move {
        let node = say("x");
        let bug = async { panic!("a bug beside the call") };
        let (_, ()) = tokio::join!(other.call(&node), bug);
    });
    assert!(task.await.unwrap_err().is_panic());
    assert_eq!(run.ledger().calls()[0].category, Some(Category::Cancelled));
    assert_eq!(run.ledger().total().requests, 1);
}

/// Asks through another node.
struct Asks;

impl Node for Asks {
    type Output = String;
    const NAME: &'static str = "asks";
}

impl<S: ?Sized + Sync> Exec<S> for Asks {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<String, BoxError> {
        Ok(cx.call(&say("")).label("step", "2").await?)
    }
}

#[tokio::test]
async fn labels_stand_in_records_hooks_and_spans_of_a_call_and_of_those_within_it() {
    let (seen, _guard) = Recorder::start();
    let hooked = Seen::default();
    let to = Arc::clone(&hooked);
    let run = Run::new(script(["hi"; 3]))
        .with_settings(Settings::new().label("tenant", "a").label("job", "nightly"))
        .on_attempt(move |call, _| to.lock().unwrap().push(call.labels.clone()));
    let report = run
        .call(&Asks)
        .label("tenant", "b")
        .label("step", "1")
        .report()
        .await
        .unwrap();
    let labels = |step: &str| {
        let labels = [("job", "nightly"), ("step", step), ("tenant", "b")];
        labels
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into()
    };
    assert_eq!(report.record.labels, labels("1"));
    assert_eq!(
        run.ledger().calls()[0].labels,
        labels("2"),
        "the call within has its own, too"
    );
    assert_eq!(*hooked.lock().unwrap(), [labels("2")]);
    assert_eq!(run.ledger().to_json()["calls"][1]["labels"]["tenant"], "b");
    let spans = seen.spans("llmnode::call");
    assert_eq!(
        spans[0].fields["llmnode.call.labels"],
        r#"{"job":"nightly","step":"1","tenant":"b"}"#
    );

    let more = run.settings().clone().label("job", "daily");
    assert_eq!(run.with_settings(more).settings().labels["job"], "daily");

    let mapped = Run::new(script(["hi"]));
    let reports = mapped.map([say("")]).label("tenant", "c").report().await;
    assert_eq!(reports[0].as_ref().unwrap().record.labels["tenant"], "c");

    let plain = Run::new(script(["hi"]));
    assert!(
        plain
            .call(&say(""))
            .report()
            .await
            .unwrap()
            .record
            .labels
            .is_empty()
    );
    assert!(plain.ledger().to_json()["calls"][0].get("labels").is_none());
}
