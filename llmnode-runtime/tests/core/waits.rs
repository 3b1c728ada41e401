//! No model is asked again before the time that its server asks for.

use std::time::Duration;

use crate::recovery::kinds;
use crate::support::{GOAL, GOOD, run, script, world};
use llmnode_runtime::{AttemptKind, Category, ModelError, Reply, Retry, Run, TestClock};

#[tokio::test]
async fn corrections_and_adapted_requests_wait_as_long_as_the_server_asks() {
    let asking =
        |category, wait| ModelError::new(category, "later").wait(Duration::from_secs(wait));
    let adapted = |wait| asking(Category::BadRequest, wait).retry(Retry::Adapted);
    let clock = TestClock::new();
    let replies = [
        Reply::from(asking(Category::EmptyResponse, 20)),
        adapted(7).into(),
        GOOD.into(),
    ];
    let waiting = Run::new(script(replies))
        .with_clock(clock.clone())
        .with_state(world());
    let report = waiting.call(&GOAL).report().await.unwrap();
    use AttemptKind::{Adapted, Correction, First};
    assert_eq!(kinds(&report.record), [First, Correction, Adapted]);
    assert_eq!(clock.waits(), [20, 7].map(Duration::from_secs));

    for failure in [asking(Category::EmptyResponse, 61), adapted(61)] {
        let error = run(&script([failure])).call(&GOAL).await.unwrap_err();
        assert!(
            error
                .message()
                .ends_with("a wait of 61s, longer than max_wait (60s)"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn why_there_was_no_wait_is_said_behind_a_long_message_too() {
    let long =
        ModelError::new(Category::RateLimitError, "x".repeat(3000)).wait(Duration::from_secs(61));
    let error = run(&script([long])).call(&GOAL).await.unwrap_err();
    for said in [error.to_string(), error.attempts()[0].message.clone()] {
        assert!(said.ends_with("longer than max_wait (60s)"), "{said}");
    }
}
