//! How long a run may take.

use super::*;
use crate::support::{Say, say};
use llmnode_runtime::{BoxFuture, ChatModel, Clock, ModelError, Request, Settings, Sink};

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
    assert!(
        message.starts_with("the time limit of 5s for the run is reached; it is set by"),
        "{message}"
    );
}

#[tokio::test(start_paused = true)]
async fn calls_side_by_side_are_cut_together() {
    let model = FnModel::new(|_| Reply::text("hi").after(3 * SECOND));
    let run = Run::new(model.clone()).with_limits(Limits::new().time(5 * SECOND));
    let results = run.map((0..12).map(|_| say(""))).concurrency(4).await;
    let (good, cut): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    assert_eq!((good.len(), cut.len(), model.requests().len()), (4, 8, 8));
    assert!(
        cut.into_iter()
            .all(|result| result.unwrap_err().category() == Category::LimitExceeded)
    );
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
    Run::new(Slow {
        clock: clock.clone(),
        takes,
        really,
    })
    .with_clock(clock)
}

#[tokio::test]
async fn a_request_is_cut_by_the_runs_clock() {
    let limits = Limits::new().time(6 * SECOND);
    let run = slow(10 * SECOND, Duration::ZERO).with_limits(limits);
    let error = run.call(&say("")).await.unwrap_err();
    assert_eq!(
        (error.category(), error.attempts()[0].elapsed),
        (Category::LimitExceeded, 6 * SECOND)
    );
    for time in [10 * SECOND, Duration::MAX] {
        let run = slow(10 * SECOND, Duration::ZERO).with_limits(Limits::new().time(time));
        run.call(&say("")).await.unwrap();
    }
}

#[tokio::test]
async fn only_a_run_has_a_limit_of_time() {
    let limits = Limits::new().time(SECOND);
    let run = Run::new(FnModel::new(|_| "hi"));
    for outcome in [
        run.call(&say("")).limits(limits).await,
        run.clone()
            .with_node_limits::<Say>(limits)
            .call(&say(""))
            .await,
        run.clone()
            .with_settings(Settings::new().limits(limits))
            .call(&say(""))
            .await,
    ] {
        let (category, message) = why(outcome);
        assert_eq!(category, Category::ConfigError);
        assert!(
            message.ends_with("time limits only a run; set `deadline` for a call instead"),
            "{message}"
        );
    }
}

#[tokio::test]
async fn the_machines_time_does_not_count() {
    let (moment, limits) = (
        Duration::from_millis(30),
        Limits::new().time(Duration::from_millis(1)),
    );
    let run = slow(Duration::ZERO, moment).with_limits(limits);
    for _ in 0..2 {
        run.call(&say(""))
            .deadline(Duration::from_millis(1))
            .await
            .unwrap();
    }
}
