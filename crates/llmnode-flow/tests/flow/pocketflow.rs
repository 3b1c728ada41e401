//! PocketFlow's behaviours, by the numbers under which they were verified there: kept where they are right, and refused
//! or fixed where they are not.

use std::future::IntoFuture;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use llmnode_flow::flow::{Batch, BatchStep, RunExt, Step};
use llmnode_runtime::{
    BoxError, Category, Cx, Exec, Node, NodeError, NodeFacts, Run, ScriptedModel, Settings,
    TestClock, UsedFallback,
};

const SECOND: Duration = Duration::from_secs(1);

/// What happened, in order.
#[derive(Default)]
struct World {
    log: Mutex<Vec<String>>,
    /// What the fallback does.
    falls: bool,
    prep_fails: bool,
    post_fails: bool,
}

impl World {
    fn note(&self, what: impl Into<String>) {
        self.log.lock().unwrap().push(what.into());
    }

    fn log(&self) -> String {
        self.log.lock().unwrap().join(" ")
    }
}

/// How an execution ends that is not the last that is to be failed.
#[derive(Clone, Copy)]
enum End {
    Fails,
    Panics,
    Stops(Category),
}

/// Fails so often, and then gives its number.
#[derive(Clone, Copy)]
struct Work {
    number: u32,
    failures: u32,
    end: End,
}

impl Work {
    fn failing(failures: u32) -> Self {
        Work {
            number: 7,
            failures,
            end: End::Fails,
        }
    }
}

impl Node for Work {
    type Output = u32;
    const NAME: &'static str = "work";
    const SETTINGS: &'static Settings = &Settings::new().attempts(2);
}

impl Exec<World> for Work {
    async fn exec(&self, cx: &Cx<'_, World>) -> Result<u32, BoxError> {
        let attempt = cx.attempt();
        cx.state().note(format!("exec{}", self.number));
        assert!(
            attempt.index() <= attempt.maximum()
                && attempt.is_last() == (attempt.index() == attempt.maximum())
        );
        if attempt.index() >= self.failures {
            return Ok(self.number);
        }
        match self.end {
            End::Fails => Err(NodeError::new(
                Category::Network,
                format!("failure {}", attempt.index()),
            )
            .into()),
            End::Panics => panic!("a bug"),
            End::Stops(category) => Err(NodeError::new(category, "stop").into()),
        }
    }

    async fn exec_fallback(&self, cx: &Cx<'_, World>, error: NodeError) -> Result<u32, BoxError> {
        cx.state().note(format!("fallback{}", self.number));
        if cx.state().falls {
            Ok(self.number * 100)
        } else {
            Err(error.into())
        }
    }
}

impl Step<World> for Work {
    type Output = <Self as Node>::Output;
    type Action = u32;

    async fn prep(state: &World) -> Result<Self, BoxError> {
        state.note("prep");
        if state.prep_fails {
            Err(NodeError::new(Category::PrepError, "no").into())
        } else {
            Ok(Work::failing(1))
        }
    }

    fn post(self, output: u32, state: &mut World) -> Result<u32, BoxError> {
        state.note(format!("post({output})"));
        if state.post_fails {
            Err(NodeError::new(Category::Network, "no").into())
        } else {
            Ok(output)
        }
    }
}

impl BatchStep<World> for Work {
    type Output = <Self as Node>::Output;
    type Action = ();
    const CONCURRENCY: usize = 1;

    async fn prep(_: &World) -> Result<Vec<Self>, BoxError> {
        Ok(Vec::new())
    }

    fn post(_: Vec<Self>, outputs: Vec<u32>, state: &mut World) -> Result<(), BoxError> {
        state.note(format!("post{outputs:?}"));
        Ok(())
    }
}

fn run(state: World) -> Run<World> {
    Run::new(ScriptedModel::new()).with_state(state)
}

#[tokio::test]
async fn p1_prep_exec_and_post_in_order_and_only_exec_is_tried_again() {
    let mut fine = run(World::default());
    assert_eq!(fine.step::<Work>().await.unwrap(), 7);
    assert_eq!(fine.state().log(), "prep exec7 exec7 post(7)");

    let mut unprepared = run(World {
        prep_fails: true,
        ..World::default()
    });
    assert_eq!(
        unprepared.step::<Work>().await.unwrap_err().category(),
        Category::PrepError
    );
    assert_eq!(unprepared.state().log(), "prep");

    let mut unwritten = run(World {
        post_fails: true,
        ..World::default()
    });
    assert_eq!(
        unwritten.step::<Work>().await.unwrap_err().category(),
        Category::Network
    );
    assert_eq!(
        unwritten.state().log(),
        "prep exec7 exec7 post(7)",
        "an error of post is no error of exec"
    );
}

#[tokio::test]
async fn p2_attempts_are_a_total_and_zero_is_refused() {
    for (attempts, executed) in [(1, 1), (2, 2), (5, 5)] {
        let run = run(World::default());
        let error = run
            .call(&Work::failing(9))
            .attempts(attempts)
            .await
            .unwrap_err();
        assert_eq!(run.state().log().matches("exec").count(), executed);
        assert_eq!(error.failed_tries().len(), executed);
    }
    let run = run(World {
        falls: true,
        ..World::default()
    });
    let error = run.call(&Work::failing(0)).attempts(0).await.unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(error.message().contains("write 1 or more"), "{error}");
    assert_eq!(run.state().log(), "", "neither exec nor fallback ran");
}

#[tokio::test]
async fn p3_waits_lie_between_tries_only() {
    let clock = TestClock::new();
    let run = Run::new(ScriptedModel::new())
        .with_clock(clock.clone())
        .with_state(World::default());
    let error = run
        .call(&Work::failing(9))
        .attempts(4)
        .wait(SECOND * 10)
        .await
        .unwrap_err();
    assert_eq!(clock.waits(), [SECOND * 10; 3], "no wait after the last");
    let waits: Vec<_> = error.failed_tries().iter().map(|one| one.wait).collect();
    assert_eq!(
        waits,
        [Duration::ZERO, SECOND * 10, SECOND * 10, SECOND * 10]
    );
    run.call(&Work::failing(9)).attempts(2).await.unwrap_err();
    assert_eq!(clock.waits().len(), 3, "by default none");
}

#[tokio::test]
async fn p4_the_fallback_runs_once_after_the_last_failure_and_its_value_goes_to_post() {
    let mut run = run(World {
        falls: true,
        ..World::default()
    });
    assert_eq!(run.call(&Work::failing(2)).await.unwrap(), 700);
    assert_eq!(run.state().log(), "exec7 exec7 fallback7");
    let record = run.ledger().calls().pop().unwrap();
    assert_eq!(
        (record.used_fallback, record.category),
        (Some(UsedFallback::Value), None)
    );
    assert_eq!(
        record.failed_tries.len(),
        2,
        "the record says what failed before"
    );
    assert_eq!(run.ledger().of::<Work>().unwrap().used_fallback, 1);

    run.state_mut().falls = false;
    let error = run.call(&Work::failing(2)).await.unwrap_err();
    assert_eq!(
        error.message(),
        "failure 1",
        "by default the last error is the call's"
    );
    assert_eq!(error.record().unwrap().failed_tries.len(), 2);
    assert_eq!(error.record().unwrap().used_fallback, None);
}

#[tokio::test]
async fn p5_what_ends_a_program_is_neither_tried_again_nor_replaced() {
    let ends = [
        Category::Cancelled,
        Category::Aborted,
        Category::LimitExceeded,
        Category::ConfigError,
    ];
    let ends = ends.map(End::Stops).into_iter().chain([End::Panics]);
    for end in ends {
        let run = run(World {
            falls: true,
            ..World::default()
        });
        let error = run
            .call(&Work {
                end,
                ..Work::failing(9)
            })
            .attempts(5)
            .await
            .unwrap_err();
        assert_eq!(run.state().log(), "exec7", "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn p5_a_call_that_is_dropped_is_tried_no_more() {
    let run = run(World {
        falls: true,
        ..World::default()
    });
    let work = Work::failing(9);
    let call = run.call(&work).attempts(100).wait(SECOND);
    assert!(
        tokio::time::timeout(SECOND * 5 / 2, call.into_future())
            .await
            .is_err()
    );
    tokio::time::sleep(SECOND * 100).await;
    assert_eq!(run.state().log(), "exec7 exec7 exec7");
    let record = run.ledger().calls().pop().unwrap();
    assert_eq!(
        (record.category, record.failed_tries.len()),
        (Some(Category::Cancelled), 3)
    );
}

#[tokio::test]
async fn p6_each_item_of_a_batch_has_tries_and_a_fallback_of_its_own() {
    let run = run(World {
        falls: true,
        ..World::default()
    });
    let items = [1, 2, 3].map(|number| Work {
        number,
        ..Work::failing(if number == 2 { 9 } else { 0 })
    });
    assert_eq!(
        run.call(&Batch::new(items).concurrency(1)).await.unwrap(),
        [1, 200, 3]
    );
    assert_eq!(run.state().log(), "exec1 exec2 exec2 fallback2 exec3");
    // What the batch's call sets is for the items: the batch as a whole is executed once.
    run.state().log.lock().unwrap().clear();
    assert_eq!(
        run.call(&Batch::new(items).concurrency(1))
            .attempts(3)
            .await
            .unwrap(),
        [1, 200, 3]
    );
    assert_eq!(run.state().log(), "exec1 exec2 exec2 exec2 fallback2 exec3");
}

#[tokio::test]
async fn p6_no_items_are_an_empty_list_and_post_runs() {
    let mut run = run(World::default());
    run.step::<Batch<Work>>().await.unwrap();
    assert_eq!(run.state().log(), "post[]");
}

/// Counts its executions in itself, so that one value shows what all its calls did.
#[derive(Default)]
struct Counted {
    executed: AtomicU32,
    wrong: AtomicU32,
}

impl Node for Counted {
    type Output = u32;
    const NAME: &'static str = "counted";
    const SETTINGS: &'static Settings = &Settings::new().attempts(3);
}

impl Exec<()> for Counted {
    async fn exec(&self, cx: &Cx<'_, ()>) -> Result<u32, BoxError> {
        self.executed.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
        let attempt = cx.attempt();
        if attempt.maximum() != 2 {
            self.wrong.fetch_add(1, Ordering::Relaxed);
        }
        if attempt.is_last() {
            Ok(attempt.index() + 1)
        } else {
            Err(NodeError::new(Category::Network, "again").into())
        }
    }
}

#[tokio::test]
async fn p10_a_loop_visit_begins_its_count_anew() {
    let run = Run::new(ScriptedModel::new());
    let counted = Counted::default();
    for _ in 0..3 {
        assert_eq!(run.call(&counted).await.unwrap(), 3);
    }
    assert_eq!(counted.executed.into_inner(), 9);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn p13_a_thousand_calls_of_one_node_value_keep_exact_counts() {
    let run = Run::new(ScriptedModel::new());
    run.ledger().remember(2000);
    let counted = std::sync::Arc::new(Counted::default());
    let calls: Vec<_> = (0..1000)
        .map(|_| {
            let (run, counted) = (run.clone(), std::sync::Arc::clone(&counted));
            tokio::spawn(async move { run.call(&*counted).await.unwrap() })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), 3);
    }
    assert_eq!(counted.executed.load(Ordering::Relaxed), 3000);
    assert_eq!(counted.wrong.load(Ordering::Relaxed), 0);
    assert!(
        run.ledger()
            .calls()
            .iter()
            .all(|call| call.failed_tries.len() == 2 && call.category.is_none())
    );
    assert_eq!(
        run.ledger().total().requests,
        0,
        "executions are no requests"
    );
}

#[tokio::test]
async fn attempts_on_a_node_that_asks_a_model_say_what_to_write() {
    let run = Run::new(ScriptedModel::new().reply("hi"));
    let say = crate::support::say("x");
    let error = run.call(&say).attempts(3).await.unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(
        error.message().contains("write transport_retries"),
        "{error}"
    );
    // The run's word is for nodes of all kinds.
    let run = run.with_settings(Settings::new().attempts(3));
    assert_eq!(run.call(&say).await.unwrap(), "hi");
}

#[tokio::test]
async fn the_runs_attempts_do_not_repeat_what_a_node_asked_a_model_for() {
    let model = crate::support::script([crate::support::busy(), crate::support::busy()]);
    let run = Run::new(model.clone()).with_settings(
        Settings::new()
            .attempts(5)
            .transport_retries(1)
            .wait(SECOND),
    );
    let run = run.with_clock(TestClock::new());
    run.call(&crate::support::say("x")).await.unwrap_err();
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn an_error_after_several_tries_lists_them() {
    let run = run(World::default());
    let run = run.with_clock(TestClock::new());
    let error = run.call(&Work::failing(9)).wait(SECOND).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "work: network after 2 tries: failure 1\n  1. network: failure 0\n  2. (after 1.0s) network: failure 1"
    );
}

#[tokio::test]
async fn a_record_of_many_tries_stays_small() {
    let run = run(World::default());
    let error = run
        .call(&Work::failing(9999))
        .attempts(1000)
        .await
        .unwrap_err();
    assert_eq!(
        (error.failed_tries().len(), error.failed_tries()[63].number),
        (64, 1000)
    );
    assert_eq!(error.to_string().lines().count(), 10);
}

#[tokio::test]
async fn a_wait_that_outlasts_the_time_ends_the_tries_and_the_fallback_follows() {
    let clock = TestClock::new();
    let run = Run::new(ScriptedModel::new()).with_clock(clock.clone());
    let run = run.with_state(World {
        falls: true,
        ..World::default()
    });
    let work = Work::failing(9);
    let call = run
        .call(&work)
        .attempts(9)
        .wait(SECOND * 4)
        .deadline(SECOND * 10);
    assert_eq!(call.await.unwrap(), 700);
    assert_eq!(clock.waits().len(), 2);
}

/// Must not be executed twice.
struct Pay;

impl Node for Pay {
    type Output = ();
    const NAME: &'static str = "pay";
    const FACTS: NodeFacts = NodeFacts::new().idempotent(false);
}

impl Exec<World> for Pay {
    async fn exec(&self, cx: &Cx<'_, World>) -> Result<(), BoxError> {
        cx.state().note("paid");
        Err(NodeError::new(Category::Network, "no receipt").into())
    }
}

#[tokio::test]
async fn what_must_not_be_executed_again_is_not() {
    let run = run(World::default());
    let error = run.call(&Pay).attempts(2).await.unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(error.message().contains("not idempotent"), "{error}");
    assert_eq!(run.state().log(), "");
    // The run's word is for nodes of all kinds.
    let run = run.with_settings(Settings::new().attempts(3));
    let error = run.call(&Pay).await.unwrap_err();
    assert_eq!(
        error.message(),
        "no receipt; not repeated, since the node is not idempotent"
    );
    assert_eq!(error.failed_tries()[0].message, error.message());
    assert!(error.to_string().contains(error.message()), "{error}");
    assert_eq!(run.state().log(), "paid");
    assert_eq!(
        run.call(&Pay).attempts(1).await.unwrap_err().message(),
        "no receipt"
    );
    const {
        assert!(
            !Batch::<Pay>::FACTS.idempotent
                && !<(Work, Pay)>::FACTS.idempotent
                && Batch::<Work>::FACTS.idempotent
        )
    };
}
