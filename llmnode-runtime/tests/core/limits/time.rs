//! How long calls may take.

use super::*;
use crate::support::{GOAL, GOOD, Mood, Say, World, say, script, world};
use llmnode_runtime::{BoxFuture, ChatModel, Clock, ModelError, Request, ScriptedModel, Sink};

#[tokio::test]
async fn the_time_of_a_call_runs_from_its_begin_waits_included() {
    let slow = || ModelError::new(Category::RateLimitError, "slow down").wait(4 * SECOND);
    let model = script([slow(), slow()]);
    let clock = TestClock::new();
    let run = Run::new(model.clone()).with_clock(clock.clone());
    let error = run.call(&say("")).limits(Limits::new().time(6 * SECOND)).await.unwrap_err();
    // What failed is still what the server said; that there is no further try is the limit's word.
    assert_eq!((error.category(), error.retry_after()), (Category::RateLimitError, Some(4 * SECOND)));
    let message = error.message();
    assert!(message.starts_with("slow down; the wait of "), "{message}");
    assert!(message.contains("s would outlast the ") && message.ends_with("s left for the call of `say`"));
    assert_eq!((model.requests().len(), clock.waits().len()), (2, 1), "the second wait is not begun");
}

#[tokio::test]
async fn a_wait_that_outlasts_the_time_goes_on_with_the_next_step() {
    let slow = ModelError::new(Category::RateLimitError, "slow down").wait(30 * SECOND);
    let (model, clock) = (script([slow]), TestClock::new());
    let run = Run::new(model).model("other", FnModel::new(|_| "hi")).with_clock(clock.clone());
    let limits = Limits::new().time(10 * SECOND);
    assert_eq!(run.call(&say("")).fallback_model("other").limits(limits).await.unwrap(), "hi");
    assert!(clock.waits().is_empty());
}

#[tokio::test]
async fn the_time_of_a_run_runs_from_its_first_request() {
    let clock = TestClock::new();
    let run = Run::new(FnModel::new(|_| "hi")).with_clock(clock.clone());
    let run = run.with_limits(Limits::new().time(5 * SECOND));
    clock.sleep(60 * SECOND).await;
    run.call(&say("")).await.unwrap();
    clock.sleep(4 * SECOND).await;
    run.call(&say("")).await.unwrap();
    clock.sleep(SECOND).await;
    let (category, message) = why(run.call(&say("")).await);
    assert_eq!(category, Category::LimitExceeded);
    assert!(message.starts_with("the time limit of 5s for the run is reached; it is set by"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_node_is_what_its_requests_take() {
    let run = Run::new(FnModel::new(|_| Reply::text("hi").after(2 * SECOND)));
    let run = run.with_node_limits::<Say>(Limits::new().time(5 * SECOND));
    for _ in 0..2 {
        run.call(&say("")).await.unwrap();
        tokio::time::sleep(3600 * SECOND).await;
    }
    let begin = tokio::time::Instant::now();
    let (category, message) = why(run.call(&say("")).await);
    assert_eq!((category, begin.elapsed()), (Category::LimitExceeded, SECOND), "one second was left");
    assert!(message.starts_with("the time limit of 5s for all calls of `say` is reached"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_request_under_way_is_cut_when_the_time_is_up() {
    let limits = Limits::new().time(10 * SECOND);
    let begin = tokio::time::Instant::now();
    let model = script([Reply::text("no JSON").after(4 * SECOND), Reply::text(GOOD).after(7 * SECOND)]);
    let run = Run::new(model).with_state(world());
    let error = run.call(&GOAL).limits(limits).await.unwrap_err();
    assert_eq!(begin.elapsed().as_secs(), 10);
    assert_eq!(error.category(), Category::LimitExceeded);
    assert!(error.message().starts_with("the time limit of 10s for the call of `choose` is reached"));
    let [first, cut] = error.attempts() else { panic!("{error}") };
    assert_eq!((first.category, cut.category), (Some(Category::SchemaError), Some(Category::LimitExceeded)));
    assert_eq!((cut.usage, cut.elapsed.as_secs()), (None, 6), "nobody knows what it used");
    assert_eq!(run.ledger().total().total.unreported_calls, 1);
}

#[tokio::test(start_paused = true)]
async fn calls_side_by_side_are_cut_together() {
    let model = FnModel::new(|_| Reply::text("hi").after(3 * SECOND));
    let run = Run::new(model.clone()).with_limits(Limits::new().time(5 * SECOND));
    let results = run.map((0..12).map(|_| say(""))).concurrency(4).await;
    let (good, cut): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    assert_eq!((good.len(), cut.len(), model.requests().len()), (4, 8, 8));
    assert!(cut.into_iter().all(|result| result.unwrap_err().category() == Category::LimitExceeded));
}

#[tokio::test(start_paused = true)]
async fn a_validator_that_outlasts_the_time_is_cut_and_its_usage_is_known() {
    let run = Run::new(ScriptedModel::new().reply(GOOD));
    let run = run.with_state(World { mood: Mood::Hang, ..world() });
    let error = run.call(&GOAL).limits(Limits::new().time(SECOND)).await.unwrap_err();
    assert_eq!((error.category(), error.usage().total.total()), (Category::LimitExceeded, Some(14)));
}

/// A model whose answers take some time on the clock of the test, and some of the machine's.
struct Slow {
    clock: TestClock,
    takes: Duration,
    really: Duration,
}

impl ChatModel for Slow {
    fn complete<'a>(
        &'a self,
        _: &'a Request,
        _: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(async move {
            tokio::time::sleep(self.really).await;
            self.clock.sleep(self.takes).await;
            Ok(hi(None))
        })
    }
}

fn slow(takes: Duration, really: Duration) -> Run {
    let clock = TestClock::new();
    Run::new(Slow { clock: clock.clone(), takes, really }).with_clock(clock)
}

#[tokio::test]
async fn a_request_is_cut_by_the_runs_clock() {
    let limits = Limits::new().time(6 * SECOND);
    let run = slow(10 * SECOND, Duration::ZERO).with_limits(limits);
    let error = run.call(&say("")).await.unwrap_err();
    assert_eq!((error.category(), error.attempts()[0].elapsed), (Category::LimitExceeded, 6 * SECOND));

    let run = slow(4 * SECOND, Duration::ZERO).with_node_limits::<Say>(limits);
    run.call(&say("")).await.unwrap();
    let error = run.call(&say("")).await.unwrap_err();
    assert_eq!((error.category(), error.attempts()[0].elapsed), (Category::LimitExceeded, 2 * SECOND));

    let run = slow(10 * SECOND, Duration::ZERO);
    let error = run.call(&say("")).limits(limits).await.unwrap_err();
    assert_eq!((error.category(), error.attempts()[0].elapsed), (Category::LimitExceeded, 6 * SECOND));
    run.call(&say("")).limits(Limits::new().time(10 * SECOND)).await.unwrap();
    run.call(&say("")).limits(Limits::new().time(Duration::MAX)).await.unwrap();
}

#[tokio::test]
async fn the_machines_time_does_not_count() {
    let (moment, limits) = (Duration::from_millis(30), Limits::new().time(Duration::from_millis(1)));
    let run = slow(Duration::ZERO, moment).with_limits(limits).with_node_limits::<Say>(limits);
    for _ in 0..2 {
        run.call(&say("")).limits(limits).await.unwrap();
    }
}
