//! The forms of a call: spawned, nested, recursive, mapped.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::{GOAL, GOOD, Say, busy, say, total_tokens, world};
use llmnode_runtime::{
    Backoff, BoxError, BoxFuture, Category, ChatModel, Clock, Completion, Cx, Exec, FnModel,
    ModelError, Node, NodeError, Recovery, Reply, Request, Run, ScriptedModel, Settings, Sink,
    TestClock, UsedFallback,
};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_stateless_node_runs_on_any_run_and_calls_can_be_spawned() {
    let run = Arc::new(Run::new(ScriptedModel::new().reply("hi").reply(GOOD)).with_state(world()));
    assert_eq!(run.call(&say("x")).await.unwrap(), "hi");
    let spawned = tokio::spawn({
        let run = Arc::clone(&run);
        async move { run.call(&GOAL).await }
    });
    assert_eq!(spawned.await.unwrap().unwrap().item, "key");
}

/// Calls itself until it is at the bottom.
struct Countdown(u32);

impl Node for Countdown {
    type Output = u32;
    const NAME: &'static str = "countdown";
}

impl<S: ?Sized + Sync> Exec<S> for Countdown {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<u32, BoxError> {
        match self.0 {
            0 => Err(NodeError::new(Category::PrepError, "no fuel").into()),
            1 => Ok(1),
            n => Ok(cx.call(&Countdown(n - 1)).await? + 1),
        }
    }
}

#[tokio::test]
async fn nodes_call_themselves_and_errors_keep_the_call_they_came_from() {
    let run = Run::new(ScriptedModel::new());
    assert_eq!(run.call(&Countdown(50)).await.unwrap(), 50);
    assert_eq!(run.ledger().of::<Countdown>().unwrap().visits, 50);
    let error = run.call(&Countdown(0)).await.unwrap_err();
    assert_eq!(error.to_string(), "countdown: prep_error: no fuel");
}

/// Answers after a while, the later asked the sooner, and counts who is under way.
#[derive(Default)]
struct Crowd {
    inside: AtomicUsize,
    most: AtomicUsize,
}

impl ChatModel for Crowd {
    fn complete<'a>(
        &'a self,
        request: &'a Request,
        _: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(async move {
            let inside = self.inside.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(inside, Ordering::SeqCst);
            let said = request.messages[0].content.clone();
            let number: u64 = said.parse().unwrap();
            tokio::time::sleep(Duration::from_millis(1000 - number)).await;
            self.inside.fetch_sub(1, Ordering::SeqCst);
            if number % 10 == 3 {
                return Err(ModelError::new(Category::BadRequest, "a three"));
            }
            Ok(Completion::new(said))
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_map_keeps_order_and_bound_and_failures_to_themselves() {
    let crowd = Arc::new(Crowd::default());
    let run = Run::new(Arc::clone(&crowd));
    let results = run
        .map((0..100).map(|n| say(&n.to_string())))
        .concurrency(7)
        .await;
    assert_eq!((results.len(), crowd.most.load(Ordering::SeqCst)), (100, 7));
    for (number, result) in results.iter().enumerate() {
        match result {
            Ok(said) => assert_eq!(said, &number.to_string()),
            Err(error) => assert_eq!((number % 10, error.category()), (3, Category::BadRequest)),
        }
    }
    assert_eq!(results.iter().filter(|result| result.is_err()).count(), 10);
    assert_eq!(run.ledger().of::<Say>().unwrap().visits, 100);
}

#[tokio::test]
async fn an_empty_map_ends_at_once_and_zero_counts_as_one() {
    let run = Run::new(ScriptedModel::new().reply("hi"));
    assert!(run.map(Vec::<Say>::new()).await.is_empty());
    assert_eq!(run.map([say("x")]).concurrency(0).await.len(), 1);
}

#[tokio::test]
async fn a_reference_is_the_node_it_points_to_in_maps_and_ledgers() {
    let run = Run::new(
        ScriptedModel::new()
            .reply("one")
            .reply("two")
            .reply(String::from("three")),
    );
    let nodes = [say("1"), say("2")];
    let answers: Vec<_> = run
        .map(&nodes)
        .concurrency(1)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    assert_eq!(answers, ["one", "two"]);
    assert_eq!(run.call(&&nodes[0]).await.unwrap(), "three");
    assert_eq!(run.ledger().of::<Say>().unwrap().visits, 3);
    assert_eq!(run.ledger().of::<&Say>().unwrap().visits, 3);
}

/// Calls itself without an end.
struct Endless;

impl Node for Endless {
    type Output = u32;
    const NAME: &'static str = "endless";
}

impl<S: ?Sized + Sync> Exec<S> for Endless {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<u32, BoxError> {
        Ok(cx.call(&Endless).await?)
    }
}

#[test]
fn calls_are_nested_a_hundred_deep_at_most() {
    let on_a_thread_of_tokios = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            let run = Run::new(ScriptedModel::new());
            assert_eq!(run.call(&Countdown(100)).await.unwrap(), 100);
            for error in [
                run.call(&Countdown(101)).await.unwrap_err(),
                run.call(&Endless).await.unwrap_err(),
            ] {
                assert_eq!(error.category(), Category::ConfigError);
                let name = error.record().unwrap().node.clone();
                let path = format!("{name} -> {name} -> {name} -> … -> {name} -> {name} -> {name}");
                let message = format!("calls are nested more than 100 deep: {path}");
                assert_eq!(error.message(), message);
            }
        });
    };
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(on_a_thread_of_tokios)
        .unwrap()
        .join()
        .unwrap();
}

/// Asks twice, the second time for what fails.
struct Wraps;

impl Node for Wraps {
    type Output = String;
    const NAME: &'static str = "wraps";
    const SETTINGS: &'static Settings = &Settings::new().attempts(3);
}

impl<S: ?Sized + Sync> Exec<S> for Wraps {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<String, BoxError> {
        cx.call(&say("one")).await?;
        let answer = cx.call(&say("two")).transport_retries(1).await;
        Ok(answer.map_err(|error| {
            NodeError::new(error.category(), "the second is missing").with_source(error)
        })?)
    }
}

#[tokio::test]
async fn a_failed_call_within_is_not_repeated_and_all_that_was_used_is_in_the_error() {
    let tokens = total_tokens;
    let busy = || {
        let mut error = busy();
        error.usage = Some(Box::new(tokens(30)));
        error
    };
    let model = ScriptedModel::new()
        .reply(Reply::text("1").usage(tokens(5)))
        .reply(busy())
        .reply(busy());
    let run = Run::new(model.clone()).with_clock(TestClock::new());
    let error = run.call(&Wraps).await.unwrap_err();
    assert_eq!(
        (error.category(), error.message()),
        (Category::ServerError, "the second is missing")
    );
    assert_eq!(
        model.requests().len(),
        3,
        "one, and two with its retry; `attempts` repeats nothing"
    );
    assert_eq!((error.usage().requests, error.usage().total.known), (3, 65));
    let calls: Vec<_> = error
        .calls()
        .map(|call| (&*call.node, call.attempts.len()))
        .collect();
    assert_eq!(calls, [("say", 1), ("say", 2)]);
    assert_eq!(error.failed_tries().len(), 1);
}

/// Fails by itself twice, then gives what it has.
#[derive(Default)]
struct Flaky(AtomicUsize);

impl Node for Flaky {
    type Output = usize;
    const NAME: &'static str = "flaky";
    const SETTINGS: &'static Settings = &Settings::new().attempts(3);
}

impl<S: ?Sized + Sync> Exec<S> for Flaky {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<usize, BoxError> {
        cx.call(&say("x")).await?;
        match self.0.fetch_add(1, Ordering::Relaxed) {
            2 => Ok(2),
            _ => Err(NodeError::new(Category::Network, "the socket is closed").into()),
        }
    }
}

#[tokio::test]
async fn an_error_of_the_nodes_own_is_repeated_also_where_it_calls_others() {
    let run = Run::new(ScriptedModel::new().reply("a").reply("b").reply("c"));
    assert_eq!(run.call(&Flaky::default()).await.unwrap(), 2);
}

#[tokio::test]
async fn other_tasks_have_their_turn_between_attempts() {
    let run = Run::new(FnModel::new(|_| "no JSON")).with_state(world());
    let turns = Arc::new(AtomicUsize::new(0));
    let counting = tokio::spawn({
        let turns = Arc::clone(&turns);
        async move {
            loop {
                turns.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
            }
        }
    });
    run.call(&GOAL).retries(1000).await.unwrap_err();
    assert!(turns.load(Ordering::Relaxed) >= 5);
    counting.abort();
}

/// Reads a number from its text, or asks for one; fails by any error, with `?`.
struct Parse {
    text: &'static str,
    tried: AtomicUsize,
}

fn parse(text: &'static str) -> Parse {
    Parse {
        text,
        tried: AtomicUsize::new(0),
    }
}

impl Node for Parse {
    type Output = u32;
    const NAME: &'static str = "parse";
    const SETTINGS: &'static Settings =
        &Settings::new().attempts(3).backoff(Backoff::fixed(SECOND));
}

/// An error of a program that came from a call.
#[derive(Debug)]
struct NoNumber(NodeError);

impl std::fmt::Display for NoNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("nobody knows the number")
    }
}

impl std::error::Error for NoNumber {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

impl<S: ?Sized + Sync> Exec<S> for Parse {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<u32, BoxError> {
        self.tried.fetch_add(1, Ordering::Relaxed);
        assert_eq!(
            cx.attempt().index() as usize + 1,
            self.tried.load(Ordering::Relaxed)
        );
        if self.text == "ask" {
            cx.call(&say("a number"))
                .transport_retries(0)
                .await
                .map_err(NoNumber)?;
        }
        Ok(self.text.parse()?)
    }

    async fn exec_fallback(&self, cx: &Cx<'_, S>, error: NodeError) -> Result<u32, BoxError> {
        assert_eq!(
            cx.attempt().index() as usize + 1,
            self.tried.load(Ordering::Relaxed),
            "of the last execution"
        );
        if self.text == "unknown" {
            Ok(7)
        } else {
            Err(error.into())
        }
    }
}

#[tokio::test]
async fn any_error_of_a_nodes_own_is_an_exec_error_tried_again_and_then_its_fallback() {
    let run = Run::new(ScriptedModel::new()).with_clock(TestClock::new());
    assert_eq!(run.call(&parse("5")).await.unwrap(), 5);

    let node = parse("five");
    let error = run.call(&node).await.unwrap_err();
    assert_eq!(
        (error.category(), error.message()),
        (Category::ExecError, "invalid digit found in string")
    );
    assert!(
        std::error::Error::source(&error)
            .unwrap()
            .is::<std::num::ParseIntError>()
    );
    let waits: Vec<_> = error
        .failed_tries()
        .iter()
        .map(|tried| tried.wait)
        .collect();
    assert_eq!(
        (node.tried.into_inner(), waits),
        (3, vec![Duration::ZERO, SECOND, SECOND])
    );
    let text = error.to_string();
    assert!(
        text.starts_with("parse: exec_error after 3 tries: invalid digit"),
        "{text}"
    );

    let report = run.call(&parse("unknown")).report().await.unwrap();
    assert_eq!(
        (report.value, report.record.used_fallback),
        (7, Some(UsedFallback::Value))
    );
    let settings = Settings::new().recover(Category::ExecError, [Recovery::Bubble]);
    for error in [
        run.call(&say("x"))
            .settings(settings.clone())
            .await
            .unwrap_err(),
        run.call(&parse("5")).settings(settings).await.unwrap_err(),
    ] {
        assert_eq!(error.category(), Category::ConfigError);
        assert!(
            error
                .message()
                .contains("`attempts` and `wait` say how often"),
            "{error}"
        );
    }
}

/// Fails after two seconds, and its fallback after three.
struct Slow(TestClock);

impl Node for Slow {
    type Output = u32;
    const NAME: &'static str = "slow";
    const SETTINGS: &'static Settings =
        &Settings::new().attempts(3).backoff(Backoff::fixed(SECOND));
}

impl<S: ?Sized + Sync> Exec<S> for Slow {
    async fn exec(&self, _: &Cx<'_, S>) -> Result<u32, BoxError> {
        self.0.sleep(SECOND * 2).await;
        Err("no".into())
    }

    async fn exec_fallback(&self, _: &Cx<'_, S>, error: NodeError) -> Result<u32, BoxError> {
        self.0.sleep(SECOND * 3).await;
        Err(error.into())
    }
}

#[tokio::test]
async fn tries_are_timed_without_their_waits_and_the_call_with_its_fallback() {
    let clock = TestClock::new();
    let run = Run::new(ScriptedModel::new()).with_clock(clock.clone());
    let error = run.call(&Slow(clock)).await.unwrap_err();
    let tries: Vec<_> = error
        .failed_tries()
        .iter()
        .map(|tried| tried.elapsed)
        .collect();
    assert_eq!(tries, [SECOND * 2; 3]);
    assert_eq!(error.record().unwrap().elapsed, SECOND * (3 * 2 + 2 + 3));
}

#[tokio::test]
async fn an_error_that_came_from_a_failed_call_keeps_its_category_and_is_not_repeated() {
    let run = Run::new(ScriptedModel::new().reply(busy()));
    let node = parse("ask");
    let error = run.call(&node).await.unwrap_err();
    assert_eq!(
        (error.category(), error.message()),
        (Category::ServerError, "nobody knows the number")
    );
    assert_eq!((node.tried.into_inner(), error.usage().requests), (1, 1));
}

/// Its own code makes a model that is not configured, or asks one that fails.
struct MakesAModel {
    sent: bool,
    tried: AtomicUsize,
}

impl Node for MakesAModel {
    type Output = String;
    const NAME: &'static str = "makes_a_model";
    const SETTINGS: &'static Settings = &Settings::new().attempts(3);
}

impl<S: ?Sized + Sync> Exec<S> for MakesAModel {
    async fn exec(&self, _: &Cx<'_, S>) -> Result<String, BoxError> {
        self.tried.fetch_add(1, Ordering::Relaxed);
        let unsent = ModelError::unsent(Category::ConfigError, "LOCAL_URL is not set");
        Err(if self.sent {
            ModelError::new(Category::ServerError, "busy")
        } else {
            unsent
        })?
    }
}

#[tokio::test]
async fn a_model_that_cannot_be_made_keeps_its_category_in_code_of_the_program() {
    let run = Run::new(ScriptedModel::new()).with_clock(TestClock::new());
    let tried = async |sent| {
        let node = MakesAModel {
            sent,
            tried: AtomicUsize::new(0),
        };
        let error = run.call(&node).await.unwrap_err();
        (error.category(), node.tried.into_inner())
    };
    assert_eq!(
        tried(false).await,
        (Category::ConfigError, 1),
        "trying again does not help"
    );
    assert_eq!(
        tried(true).await,
        (Category::ExecError, 3),
        "a request of the program's own is its own error"
    );
}

#[test]
fn the_error_of_a_request_stays_behind_the_nodes() {
    let mut error = ModelError::new(Category::ServerError, "busy").wait(Duration::from_secs(3));
    error.request_id = Some("r1".into());
    let error = NodeError::from(error);
    assert_eq!(
        (error.category(), error.retry_after()),
        (Category::ServerError, Some(Duration::from_secs(3)))
    );
    let source = std::error::Error::source(&error)
        .unwrap()
        .downcast_ref::<ModelError>()
        .unwrap();
    assert_eq!(source.request_id.as_deref(), Some("r1"));
    let unsent = NodeError::from(ModelError::unsent(Category::ApiKeyError, "no key"));
    assert!(
        std::error::Error::source(&unsent).is_none(),
        "nothing is said twice"
    );
}

/// Delegates to a node that asks a model, without a call.
struct Delegates;

impl Node for Delegates {
    type Output = String;
    const NAME: &'static str = "delegates";
    const SETTINGS: &'static Settings = &Settings::new().attempts(3);
}

impl<S: ?Sized + Sync> Exec<S> for Delegates {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<String, BoxError> {
        say("x").exec(cx).await
    }
}

#[tokio::test]
async fn a_node_that_delegates_to_one_that_asks_does_not_repeat_it() {
    let model = ScriptedModel::new()
        .reply(busy())
        .reply(busy())
        .reply(busy());
    let run = Run::new(model.clone()).with_clock(TestClock::new());
    let error = run.call(&Delegates).await.unwrap_err();
    assert_eq!(
        (error.category(), model.requests().len()),
        (Category::ServerError, 3)
    );
}

#[tokio::test]
async fn a_runs_recovery_of_requests_neither_repeats_nor_replaces_an_execution() {
    /// Is ended by the program.
    struct Ends(AtomicUsize);
    impl Node for Ends {
        type Output = u32;
        const NAME: &'static str = "ends";
    }
    impl<S: ?Sized + Sync> Exec<S> for Ends {
        async fn exec(&self, _: &Cx<'_, S>) -> Result<u32, BoxError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Err(NodeError::new(Category::LimitExceeded, "enough").into())
        }
        async fn exec_fallback(&self, _: &Cx<'_, S>, _: NodeError) -> Result<u32, BoxError> {
            Ok(0)
        }
    }
    let settings = Settings::new().recover(Category::LimitExceeded, [Recovery::Fallback]);
    let run = Run::new(ScriptedModel::new()).with_settings(settings);
    let node = Ends(AtomicUsize::new(0));
    let error = run.call(&node).attempts(3).await.unwrap_err();
    assert_eq!(
        (error.category(), node.0.into_inner()),
        (Category::LimitExceeded, 1)
    );
}

/// Calls another node so often that a task's budget ends in between.
struct Often {
    called: AtomicUsize,
}

impl Node for Often {
    type Output = u32;
    const NAME: &'static str = "often";
}

impl<S: ?Sized + Sync> Exec<S> for Often {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<u32, BoxError> {
        let node = parse("5");
        for _ in 0..2000 {
            self.called.fetch_add(1, Ordering::Relaxed);
            node.tried.store(0, Ordering::Relaxed);
            cx.call(&node).await?;
        }
        Ok(5)
    }
}

#[tokio::test]
async fn a_node_that_never_waits_does_not_hold_up_those_beside_it() {
    let nodes = (
        Often {
            called: AtomicUsize::new(0),
        },
        parse("five"),
    );
    let run = Run::new(ScriptedModel::new()).with_clock(TestClock::new());
    let error = run.call(&nodes).await.unwrap_err();
    assert_eq!(error.message(), "invalid digit found in string");
    let called = nodes.0.called.into_inner();
    assert!(called < 1000, "{called} calls before the error beside them");
}
