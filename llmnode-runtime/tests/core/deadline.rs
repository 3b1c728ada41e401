//! Deadlines of calls, and timeouts of attempts.

use std::time::Duration;

use crate::recovery::Guess;
use crate::support::{BAD, GOAL, GOOD, Mood, Say, World, busy, say, script, world};
use llmnode_runtime::ext::Batch;
use llmnode_runtime::{
    BoxError, Category, Clock, Cx, Exec, FnModel, Limits, ModelError, Node, Recovery, Reply,
    RetryBudget, Run, ScriptedModel, Settings, TestClock, UsedFallback,
};

const SECOND: Duration = Duration::from_secs(1);

fn now() -> tokio::time::Instant {
    tokio::time::Instant::now()
}

#[tokio::test(start_paused = true)]
async fn what_is_under_way_is_dropped_and_nothing_is_tried_again() {
    let begin = now();
    let model = script([
        Reply::text("no JSON").after(4 * SECOND),
        Reply::text(GOOD).after(17 * SECOND),
    ]);
    let other = script([GOOD]);
    let run = Run::new(model.clone())
        .model("other", other.clone())
        .with_state(world());
    let call = run
        .call(&GOAL)
        .deadline(10 * SECOND)
        .transport_retries(5)
        .fallback_model("other");
    let error = call.await.unwrap_err();
    assert_eq!(
        (begin.elapsed(), error.category()),
        (10 * SECOND, Category::Timeout)
    );
    assert_eq!(
        error.message(),
        "the deadline of 10s for the call of `choose` has passed; `deadline` sets a longer one"
    );
    let [first, cut] = error.attempts() else {
        panic!("{error}")
    };
    assert_eq!(
        (first.category, cut.category),
        (Some(Category::SchemaError), Some(Category::Timeout))
    );
    assert_eq!(
        (cut.usage, cut.elapsed),
        (None, 6 * SECOND),
        "nobody knows what it used"
    );
    assert_eq!((model.requests().len(), other.requests().len()), (2, 0));
    assert_eq!(run.ledger().total().total.unreported_calls, 1);
}

#[tokio::test]
async fn slow_replies_are_on_the_runs_clock() {
    let clock = TestClock::new();
    let begin = clock.now();
    let model = script([Reply::never(), Reply::text(GOOD).after(4 * SECOND)]);
    let run = Run::new(model.clone())
        .with_clock(clock.clone())
        .with_state(world());
    // The first attempt ends at its timeout, and the second comes before its own.
    let report = run
        .call(&GOAL)
        .attempt_timeout(5 * SECOND)
        .transport_retries(1)
        .wait(SECOND)
        .report()
        .await
        .unwrap();
    assert_eq!(report.record.attempts[0].category, Some(Category::Timeout));
    assert_eq!(clock.now() - begin, 10 * SECOND);

    let late = Run::new(script([Reply::text(GOOD).after(4 * SECOND)]))
        .with_clock(TestClock::new())
        .with_state(world());
    let error = late.call(&GOAL).deadline(3 * SECOND).await.err().unwrap();
    assert_eq!(error.category(), Category::Timeout);
}

#[tokio::test]
async fn a_test_that_would_hang_ends_and_says_why() {
    let run = Run::new(script([Reply::never()]))
        .with_clock(TestClock::new())
        .with_state(world());
    let error = run.call(&GOAL).await.err().unwrap();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(
        error
            .message()
            .contains("nothing ends the wait; set a `deadline`"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_fallback_value_applies_and_its_function_is_not_timed() {
    for (stack, used_fallback) in [
        (None, Some(UsedFallback::Value)),
        (
            Some(vec![Recovery::retry(3), Recovery::Fallback]),
            Some(UsedFallback::Value),
        ),
        (Some(vec![Recovery::Bubble]), None),
    ] {
        let run = Run::new(script([Reply::never()])).with_state(world());
        let call = run.call(&Guess).deadline(SECOND);
        let call = match stack {
            Some(steps) => call.recover(Category::Timeout, steps),
            None => call,
        };
        let report = call.report().await;
        assert_eq!(
            report
                .as_ref()
                .ok()
                .and_then(|report| report.record.used_fallback),
            used_fallback
        );
        assert!(
            report
                .err()
                .is_none_or(|error| error.category() == Category::Timeout)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_nearest_level_sets_it() {
    let model = FnModel::new(|_| Reply::text("hi").after(5 * SECOND));
    let run = Run::new(model).with_settings(Settings::new().deadline(2 * SECOND));
    let error = run.call(&say("")).await.unwrap_err();
    assert_eq!(
        error.message(),
        "the deadline of 2s for the call of `say` has passed; `deadline` sets a longer one"
    );
    assert_eq!(run.call(&say("")).deadline(9 * SECOND).await.unwrap(), "hi");
    assert_eq!(
        run.call(&say("")).deadline(Duration::MAX).await.unwrap(),
        "hi"
    );
    let error = run
        .call(&say(""))
        .deadline(Duration::ZERO)
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), error.message()),
        (
            Category::ConfigError,
            "deadline is 0, so no request could be made"
        )
    );
}

#[tokio::test]
async fn a_wait_that_would_outlast_it_is_not_begun() {
    let slow = || ModelError::new(Category::RateLimitError, "slow down").wait(4 * SECOND);
    let (model, clock) = (script([slow(), slow()]), TestClock::new());
    let run = Run::new(model.clone()).with_clock(clock.clone());
    let error = run.call(&say("")).deadline(6 * SECOND).await.unwrap_err();
    // What failed is still what the server said.
    assert_eq!(
        (error.category(), error.retry_after()),
        (Category::RateLimitError, Some(4 * SECOND))
    );
    let message = error.message();
    assert!(message.starts_with("slow down; the wait of "), "{message}");
    assert!(
        message.contains("s would outlast the ")
            && message.ends_with("s left for the call of `say`")
    );
    assert_eq!(
        (model.requests().len(), clock.waits().len()),
        (2, 1),
        "the second wait is not begun"
    );

    let slow = ModelError::new(Category::RateLimitError, "slow down").wait(30 * SECOND);
    let (model, clock) = (script([slow]), TestClock::new());
    let run = Run::new(model)
        .model("other", FnModel::new(|_| "hi"))
        .with_clock(clock.clone());
    let said = run
        .call(&say(""))
        .fallback_model("other")
        .deadline(10 * SECOND)
        .await;
    assert_eq!(said.unwrap(), "hi", "the next step does not wait");
    assert!(clock.waits().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_validator_is_cut_and_its_usage_is_known() {
    let run = Run::new(ScriptedModel::new().reply(GOOD));
    let run = run.with_state(World {
        mood: Mood::Hang,
        ..world()
    });
    let error = run.call(&GOAL).deadline(SECOND).await.unwrap_err();
    assert_eq!(
        (error.category(), error.usage().total.total()),
        (Category::Timeout, Some(14))
    );
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_room_counts_and_leaves_no_attempt() {
    let model = FnModel::new(|_| Reply::text("hi").after(5 * SECOND));
    let run = Run::new(model).with_limits(Limits::new().requests(1));
    let begin = now();
    let (first, second) = (say("a"), say("b"));
    let late = async {
        tokio::task::yield_now().await;
        (
            run.call(&second).deadline(2 * SECOND).await,
            begin.elapsed(),
        )
    };
    let (first, (second, after)) = tokio::join!(run.call(&first), late);
    let error = second.unwrap_err();
    assert_eq!(
        (first.is_ok(), error.category(), after),
        (true, Category::Timeout, 2 * SECOND)
    );
    assert!(error.attempts().is_empty());
}

/// Asks once after the other, without an end of its own.
struct Chatty;

impl Node for Chatty {
    type Output = String;
    const NAME: &'static str = "chatty";
    const SETTINGS: &'static Settings = &Settings::new().attempts(3);
}

impl<S: ?Sized + Sync> Exec<S> for Chatty {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<String, BoxError> {
        loop {
            let _ = cx.call(&say("")).deadline(9 * SECOND).await;
        }
    }

    async fn exec_fallback(
        &self,
        _: &Cx<'_, S>,
        error: llmnode_runtime::NodeError,
    ) -> Result<String, BoxError> {
        tokio::time::sleep(SECOND).await;
        Ok(error.message().to_owned())
    }
}

#[tokio::test(start_paused = true)]
async fn it_covers_the_calls_within() {
    let run = Run::new(FnModel::new(|_| Reply::text("hi").after(3 * SECOND)));
    let begin = now();
    let report = run
        .call(&Chatty)
        .deadline(10 * SECOND)
        .report()
        .await
        .unwrap();
    assert_eq!(
        report.value,
        "the deadline of 10s for the call of `chatty` has passed; `deadline` sets a longer one"
    );
    assert_eq!(
        begin.elapsed(),
        11 * SECOND,
        "executed once, and its fallback is not timed"
    );
    let calls = run.ledger().calls();
    let ended: Vec<_> = calls.iter().map(|call| call.category).collect();
    assert_eq!(
        ended,
        [None, None, None, Some(Category::Cancelled), None],
        "three, one cut, and their node"
    );
}

#[tokio::test]
async fn a_call_within_does_not_wait_beyond_the_call_around_it() {
    let clock = TestClock::new();
    let run = Run::new(FnModel::new(|_| busy())).with_clock(clock.clone());
    let settings = Settings::new().wait(8 * SECOND);
    let error = run
        .with_settings(settings)
        .call(&Asks)
        .deadline(5 * SECOND)
        .await
        .unwrap_err();
    assert!(
        error
            .message()
            .ends_with("would outlast the 5.0s left for the call of `asks`"),
        "{error}"
    );
    assert!(clock.waits().is_empty());
}

struct Asks;

impl Node for Asks {
    type Output = String;
    const NAME: &'static str = "asks";
}

impl<S: ?Sized + Sync> Exec<S> for Asks {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<String, BoxError> {
        Ok(cx.call(&say("")).await?)
    }
}

#[tokio::test(start_paused = true)]
async fn each_item_of_a_map_has_it_for_itself_and_a_batch_as_a_whole() {
    let model = FnModel::new(|_| Reply::text("hi").after(3 * SECOND));
    let settings = Settings::new().deadline(4 * SECOND);
    let run = Run::new(model).with_settings(settings);
    let nodes: Vec<Say> = (0..6).map(|_| say("")).collect();
    let results = run.map(&nodes).concurrency(2).await;
    assert!(results.iter().all(Result::is_ok), "nine seconds in all");

    let batch = Batch::new(nodes).concurrency(2);
    assert_eq!(
        run.call(&batch).await.unwrap().len(),
        6,
        "the run's word is for each item"
    );
    let error = run.call(&batch).deadline(8 * SECOND).await.unwrap_err();
    assert_eq!(error.category(), Category::Timeout);
    assert_eq!(
        error.message(),
        "the deadline of 8s for the call of `Batch<say>` has passed; `deadline` sets a longer one"
    );
    assert_eq!(
        run.call(&batch).deadline(9 * SECOND).await.unwrap().len(),
        6
    );
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_takes_too_long_is_tried_again() {
    let model = script([Reply::never(), Reply::text("hi").after(2 * SECOND)]);
    let run = Run::new(model.clone())
        .with_settings(Settings::new().wait(SECOND).attempt_timeout(3 * SECOND));
    let begin = now();
    let report = run.call(&say("")).report().await.unwrap();
    assert_eq!((report.value.as_str(), begin.elapsed()), ("hi", 6 * SECOND));
    let cut = &report.record.attempts[0];
    assert_eq!(
        (cut.category, cut.elapsed),
        (Some(Category::Timeout), 3 * SECOND)
    );
    let message = "no answer within 3s (attempt_timeout; the request may have been processed)";
    assert_eq!(cut.message, message);
    assert_eq!(model.requests()[0].attempt_timeout, Some(3 * SECOND));
}

#[tokio::test(start_paused = true)]
async fn a_registered_models_attempt_timeout_is_its_own() {
    let slow = FnModel::new(|_| Reply::text("hi").after(5 * SECOND));
    let run = Run::new(FnModel::new(|_| BAD)).model_with(
        "slow",
        slow,
        Settings::new().attempt_timeout(9 * SECOND),
    );
    let run = run.with_settings(Settings::new().attempt_timeout(2 * SECOND));
    assert_eq!(run.call(&say("")).model("slow").await.unwrap(), "hi");
    let error = run
        .call(&say(""))
        .attempt_timeout(Duration::ZERO)
        .await
        .unwrap_err();
    assert_eq!(
        error.message(),
        "attempt_timeout is 0, so no request could be made"
    );
    let with_deadline = run.model_with(
        "late",
        FnModel::new(|_| "hi"),
        Settings::new().deadline(SECOND),
    );
    let error = with_deadline
        .call(&say(""))
        .model("late")
        .await
        .unwrap_err();
    assert!(
        error
            .message()
            .starts_with("deadline is set for a registered model"),
        "{error}"
    );
}

/// The endpoint has no part in it: its retry budget stays as it is.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_finds_no_room_in_time_is_no_failure_of_the_endpoint() {
    let budget = RetryBudget::new(5);
    let slow = Reply::text("hi").after(60 * SECOND);
    let model = script([slow]).with_retry_budget(budget.clone());
    let run = Run::new(model.clone()).with_limits(Limits::new().requests(1));
    let (first, second) = (say("a"), say("b"));
    let late = async {
        tokio::task::yield_now().await;
        run.call(&second)
            .attempt_timeout(2 * SECOND)
            .wait(SECOND)
            .await
            .unwrap_err()
    };
    let (first, error) = tokio::join!(run.call(&first), late);
    assert!(first.is_ok() && error.attempts().is_empty());
    assert_eq!(error.category(), Category::Timeout);
    let message = "no request started within 2s (attempt_timeout, which includes the wait for room under limits)";
    assert_eq!((error.message(), budget.available()), (message, Some(5)));
}

#[tokio::test(start_paused = true)]
async fn a_validator_that_takes_too_long_is_no_failure_of_the_endpoint() {
    let budget = RetryBudget::new(5);
    let model = script([GOOD, GOOD, GOOD]).with_retry_budget(budget.clone());
    let run = Run::new(model).with_state(World {
        mood: Mood::Hang,
        ..world()
    });
    let error = run
        .call(&GOAL)
        .attempt_timeout(SECOND)
        .wait(SECOND)
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), error.attempts().len()),
        (Category::Timeout, 3)
    );
    let message = "the answer was not validated within 1s (attempt_timeout)";
    assert_eq!((error.message(), budget.available()), (message, Some(5)));
}

/// Never ends, and asks in its fallback.
struct Rescued;

impl Node for Rescued {
    type Output = String;
    const NAME: &'static str = "rescued";
}

impl<S: ?Sized + Sync> Exec<S> for Rescued {
    async fn exec(&self, _: &Cx<'_, S>) -> Result<String, BoxError> {
        std::future::pending().await
    }

    async fn exec_fallback(
        &self,
        cx: &Cx<'_, S>,
        _: llmnode_runtime::NodeError,
    ) -> Result<String, BoxError> {
        Ok(cx.call(&say("")).await?)
    }
}

/// Only a call around it has a deadline that still holds.
#[tokio::test(start_paused = true)]
async fn what_a_fallback_asks_is_tried_again_though_the_deadline_has_passed() {
    let run = Run::new(script([Reply::from(busy()), Reply::text("hi")]));
    let run = run.with_settings(Settings::new().wait(SECOND));
    assert_eq!(
        run.call(&Rescued)
            .settings(Settings::new().deadline(SECOND))
            .await
            .unwrap(),
        "hi"
    );
}
