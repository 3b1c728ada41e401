//! What follows a failure: stacks of steps, fallback models, fallback values.

use std::borrow::Cow;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;

use crate::support::{
    BAD, Choice, Choose, GOAL, GOOD, Mood, World, busy, node_like_choose, run, script, world,
};
use llmnode_runtime::private::{FallbackFuture, fallback_with_state};
use llmnode_runtime::private::{LlmNode, OutputSpec, Prompt};
use llmnode_runtime::{
    AttemptKind, Backoff, CallRecord, Category, Cx, Exec, Failures, Limits, ModelError, Node,
    NodeError, NodeFacts, Recovery, Reply, Retry, Run, ScriptedModel, Settings, TestClock,
    UsedFallback, recovery_of,
};

const NO_JSON: &str = "no JSON";

pub(crate) fn kinds(record: &CallRecord) -> Vec<AttemptKind> {
    record.attempts.iter().map(|attempt| attempt.kind).collect()
}

fn rate_limited() -> ModelError {
    ModelError::new(Category::RateLimitError, "slow down")
}

#[tokio::test]
async fn a_stack_is_taken_step_by_step() {
    let model = script([NO_JSON, NO_JSON, NO_JSON, NO_JSON]);
    let steps = [Recovery::retry(1), Recovery::repair(2), Recovery::Bubble];
    let error = run(&model)
        .call(&GOAL)
        .recover(Category::SchemaError, steps)
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::SchemaError);
    let record = error.record().unwrap();
    use AttemptKind::{Correction, First, Retry};
    assert_eq!(kinds(record), [First, Retry, Correction, Correction]);
    let lengths: Vec<_> = model
        .requests()
        .iter()
        .map(|request| request.messages.len())
        .collect();
    assert_eq!(lengths, [2, 2, 4, 6], "a retry is the same request");
    assert!(
        record
            .attempts
            .iter()
            .all(|attempt| attempt.wait == Duration::ZERO)
    );
}

#[tokio::test]
async fn another_category_selects_another_stack_and_each_keeps_its_count() {
    let model = script([NO_JSON, BAD, NO_JSON]);
    let call = run(&model);
    let call = call
        .call(&GOAL)
        .recover(Category::SchemaError, [Recovery::repair(1)])
        .recover(Category::ValidationError, [Recovery::repair(5)]);
    let error = call.await.unwrap_err();
    assert_eq!(
        (error.category(), model.requests().len()),
        (Category::SchemaError, 3)
    );
}

const ONE_REPAIR: &[(Failures, Cow<'static, [Recovery]>)] =
    &[(Failures::Answer, Cow::Borrowed(&[Recovery::repair(1)]))];

/// One correction, stated as a stack.
struct Stubborn;

impl Node for Stubborn {
    type Output = Choice;
    const NAME: &'static str = "stubborn";
    const SETTINGS: &'static Settings = &Settings::new().stated_recover(ONE_REPAIR);
    const FACTS: NodeFacts = NodeFacts::new().retries_itself(true);
}
node_like_choose!(Stubborn);

#[tokio::test]
async fn validators_are_told_the_corrections_that_a_stated_stack_allows() {
    let model = script([GOOD, GOOD, GOOD, GOOD]);
    let run = run(&model).with_state(World {
        mood: Mood::AcceptLast,
        ..world()
    });
    run.call(&GOAL)
        .recover(Failures::Answer, [Recovery::repair(1)])
        .await
        .unwrap();
    assert_eq!(model.requests().len(), 2, "the second was the last");
    run.call(&Stubborn).await.unwrap();
    assert_eq!(model.requests().len(), 4);
}

#[tokio::test]
async fn retries_of_a_call_are_the_repairs_of_the_nodes_stacks() {
    for (settings, requests) in [
        (Settings::new(), 2),
        (Settings::new().retries(0), 1),
        (Settings::new().retries(3), 4),
        (
            Settings::new().recover(Category::ValidationError, [Recovery::Bubble]),
            1,
        ),
    ] {
        let model = script([BAD; 4]);
        let asked = settings.clone().stop_on_repeat(false);
        run(&model)
            .call(&Stubborn)
            .settings(asked)
            .await
            .unwrap_err();
        assert_eq!(model.requests().len(), requests, "{settings:?}");
    }
}

#[tokio::test]
async fn a_fallback_model_gets_the_original_prompt_with_settings_of_its_own() {
    let (first, second) = (script([BAD, BAD, BAD]), script([BAD, GOOD]));
    let small = Settings::new()
        .model("gpt-small")
        .temperature(0.5)
        .extra("seed", 7);
    let run = run(&first).model_with("small", second.clone(), small);
    let report = run
        .call(&GOAL)
        .fallback_model("small")
        .max_tokens(9)
        .report()
        .await
        .unwrap();

    use AttemptKind::{Correction, FallbackModel, First};
    assert_eq!(
        kinds(&report.record),
        [First, Correction, Correction, FallbackModel, Correction]
    );
    assert_eq!(report.record.used_fallback, Some(UsedFallback::Model));
    let (first, second) = (first.requests(), second.requests());
    assert_eq!(second[0].messages, first[0].messages);
    assert_eq!(second[1].messages.len(), 4, "it has corrections of its own");
    assert_eq!(
        (second[0].model.as_deref(), second[0].temperature),
        (Some("gpt-small"), Some(0.5))
    );
    assert_eq!(
        (second[0].max_tokens, second[0].extra.get("seed")),
        (Some(9), Some(&json!(7)))
    );
    assert_eq!(
        (
            first[0].model.as_deref(),
            first[0].temperature,
            first[0].extra.len()
        ),
        (None, None, 0)
    );
}

#[tokio::test]
async fn a_fallback_model_that_is_not_registered_is_an_id_for_the_runs_own_model() {
    let model = script([Reply::from(busy()), GOOD.into()]);
    let call = run(&model);
    call.call(&GOAL)
        .transport_retries(0)
        .fallback_model("gpt-small")
        .await
        .unwrap();
    let ids: Vec<_> = model
        .requests()
        .into_iter()
        .map(|request| request.model)
        .collect();
    assert_eq!(ids, [None, Some("gpt-small".to_owned())]);
}

#[tokio::test]
async fn every_error_of_every_model_is_listed_and_none_is_asked_twice() {
    let (first, second) = (script([BAD]), script([Reply::from(busy()), NO_JSON.into()]));
    let run = run(&first).model("small", second.clone());
    let steps = || {
        [
            Recovery::retry(1),
            Recovery::model("small"),
            Recovery::Bubble,
        ]
    };
    let call = run
        .call(&GOAL)
        .recover(Failures::Transport, steps())
        .recover(
            Failures::Answer,
            [Recovery::model("small"), Recovery::Bubble],
        );
    let error = call.await.unwrap_err();
    assert_eq!((first.requests().len(), second.requests().len()), (1, 2));
    let said = error.to_string();
    for line in [
        "1. validation_error: item",
        "2. (model small) server_error: HTTP 503",
        ") schema_error: ",
    ] {
        assert!(said.contains(line), "{line:?} is not in {said}");
    }
    assert_eq!(
        error.record().unwrap().used_fallback,
        None,
        "there is no answer"
    );
}

#[tokio::test]
async fn a_final_failure_is_followed_by_the_declared_fallbacks_unless_a_stack_says_otherwise() {
    let refusal = || Reply::text("").refusal("no");
    let second = script([GOOD; 3]);
    let run = run(&script((0..5).map(|_| refusal()))).model("small", second.clone());
    let refused = |error: NodeError| assert_eq!(error.category(), Category::Refusal);
    refused(run.call(&GOAL).await.unwrap_err());
    run.call(&GOAL).fallback_model("small").await.unwrap();
    let steps = || [Recovery::model("small")];
    run.call(&GOAL)
        .recover(Category::Refusal, steps())
        .await
        .unwrap();
    run.call(&GOAL)
        .recover(Failures::Final, steps())
        .await
        .unwrap();
    assert_eq!(second.requests().len(), 3);
    refused(
        run.call(&GOAL)
            .fallback_model("small")
            .recover(Failures::Final, [Recovery::Bubble])
            .await
            .unwrap_err(),
    );
    assert_eq!(second.requests().len(), 3);
}

#[tokio::test]
async fn a_fallback_value_stands_for_whatever_the_provider_did() {
    for failure in [
        Category::QuotaError,
        Category::ApiKeyError,
        Category::NotFound,
        Category::BadRequest,
    ] {
        let run = run(&script([ModelError::new(failure, "no")]));
        let report = run.call(&Guess).report().await.unwrap();
        assert_eq!(
            report.record.used_fallback,
            Some(UsedFallback::Value),
            "{failure}"
        );
        assert!(
            report
                .record
                .first_failure()
                .unwrap()
                .starts_with(failure.as_str()),
            "{failure}"
        );
        assert_eq!(report.record.attempts[0].category, Some(failure));
    }
}

/// Asks `small` after one failure of the transport, and falls back on the node's value.
fn over_small() -> Settings {
    let steps = [Recovery::model("small"), Recovery::Fallback];
    Settings::new()
        .recover(Failures::Transport, steps)
        .recover(Failures::Answer, [Recovery::repair(1)])
}

#[tokio::test]
async fn what_fails_with_a_fallback_model_goes_on_with_the_stack_that_led_to_it() {
    let unpriced = ModelError::unsent(Category::LimitUnenforceable, "no price");
    let no_key = ModelError::unsent(Category::ApiKeyError, "no key");
    for replies in [
        vec![Reply::text("").refusal("no")],
        vec![Reply::from(no_key)],
        vec![Reply::from(unpriced)],
        vec![Reply::from(busy())],
        vec![Reply::from(BAD), Reply::from(NO_JSON)],
    ] {
        let requests = replies.len();
        let small = script(replies);
        let run = run(&script([busy()])).model("small", small.clone());
        let report = run
            .call(&Guess)
            .settings(over_small())
            .report()
            .await
            .unwrap();
        assert_eq!(report.record.used_fallback, Some(UsedFallback::Value));
        assert_eq!(small.requests().len(), requests);
    }
}

#[tokio::test]
async fn a_model_that_never_stops_adapting_falls_back_too() {
    let adapted = || ModelError::new(Category::BadRequest, "unknown field").retry(Retry::Adapted);
    let first = script((0..20).map(|_| adapted()));
    let run = run(&first).model("small", script([GOOD]));
    run.call(&GOAL)
        .recover(Category::BadRequest, [Recovery::model("small")])
        .await
        .unwrap();
    assert_eq!(first.requests().len(), 5);
}

#[tokio::test]
async fn a_misspelt_model_is_told_from_the_registered_ones() {
    let model = script([busy(), ModelError::new(Category::NotFound, "no such model")]);
    let run = run(&model).model("big", script([GOOD]));
    let error = run
        .call(&GOAL)
        .transport_retries(0)
        .fallback_model("bgi")
        .await
        .unwrap_err();
    let said = "no such model; no model is registered as \"bgi\" (registered: big), so the run's own was asked for that id";
    assert_eq!(
        (error.category(), error.message()),
        (Category::NotFound, said)
    );
    let run = Run::new(script([ModelError::new(
        Category::NotFound,
        "no such model",
    )]))
    .with_state(world());
    assert_eq!(
        run.call(&GOAL).model("bgi").await.unwrap_err().message(),
        "no such model"
    );
}

#[tokio::test]
async fn a_bubble_that_is_stated_ends_the_call_with_a_fallback_model_too() {
    let small = script([Reply::text("").refusal("no")]);
    let run = run(&script([busy()])).model("small", small);
    let settings = over_small().recover(Category::Refusal, [Recovery::Bubble]);
    let error = run.call(&Guess).settings(settings).await.unwrap_err();
    assert_eq!(error.category(), Category::Refusal);
}

#[tokio::test]
async fn an_answer_is_the_last_only_if_neither_a_model_nor_a_value_follows() {
    let told = |model: &ScriptedModel, request: usize| {
        let messages = &model.requests()[request].messages;
        messages[messages.len() - 1].content.clone()
    };
    let (first, second) = (script([GOOD, GOOD]), script([GOOD, GOOD]));
    let run = Run::new(first.clone()).model("small", second.clone());
    let run = run.with_state(World {
        mood: Mood::AcceptLast,
        ..world()
    });
    let report = run
        .call(&GOAL)
        .retries(1)
        .fallback_model("small")
        .report()
        .await
        .unwrap();
    assert_eq!(
        report.record.attempts.len(),
        4,
        "the second model's last answer is the last one"
    );
    assert!(told(&first, 1).contains("try 0 of 1") && told(&second, 1).contains("try 0 of 1"));

    let run = Run::new(script([GOOD, GOOD])).with_state(World {
        mood: Mood::AcceptLast,
        ..world()
    });
    let report = run.call(&Guess).report().await.unwrap();
    assert_eq!(
        report.record.used_fallback,
        Some(UsedFallback::Value),
        "no answer was the last"
    );

    let model = script([GOOD; 4]);
    let run = Run::new(model.clone()).with_state(World {
        mood: Mood::AcceptLast,
        ..world()
    });
    run.call(&GOAL)
        .recover(
            Failures::Answer,
            [Recovery::repair(1), Recovery::retry(1), Recovery::repair(1)],
        )
        .await
        .unwrap();
    assert_eq!(model.requests().len(), 4);
    assert!(
        told(&model, 3).contains("try 2 of 3"),
        "each bad answer counts, however it is followed"
    );
}

#[tokio::test]
async fn what_the_server_forbids_to_repeat_still_falls_back() {
    for failure in [
        rate_limited().retry(Retry::No),
        rate_limited().wait(Duration::from_secs(61)),
    ] {
        let long = failure.retry_after.is_some();
        let first = script([failure]);
        let run = run(&first).model("small", script([GOOD]));
        let report = run
            .call(&GOAL)
            .fallback_model("small")
            .report()
            .await
            .unwrap();
        assert_eq!(
            kinds(&report.record),
            [AttemptKind::First, AttemptKind::FallbackModel]
        );
        let said = &report.record.attempts[0].message;
        assert_eq!(
            said.contains("a wait of 61s, longer than max_wait (60s)"),
            long,
            "{said}"
        );
    }
}

#[tokio::test]
async fn a_stated_retry_that_cannot_apply_says_so() {
    let failure = || ModelError::new(Category::BadResponse, "a web page");
    let again = |model: &ScriptedModel| {
        let run = run(model);
        async move {
            run.call(&GOAL)
                .recover(Category::BadResponse, [Recovery::retry(2)])
                .await
        }
    };
    let model = script([failure().retry(Retry::No)]);
    let error = again(&model).await.unwrap_err();
    assert_eq!(
        error.message(),
        "a web page; `retry(2)` does not apply, since this failure rules out another try"
    );
    assert_eq!(error.attempts()[0].message, error.message());
    // Of the same category are failures that pass, such as a body that breaks off.
    for passing in [failure(), failure().retry(Retry::Transport)] {
        let model = script([Reply::from(passing), GOOD.into()]);
        again(&model).await.unwrap();
    }
}

/// Asks what `Choose` asks, and only once.
struct Once;

impl Node for Once {
    type Output = Choice;
    const NAME: &'static str = "once";
    const FACTS: NodeFacts = NodeFacts::new().idempotent(false).retries_itself(true);
}
node_like_choose!(Once);

#[tokio::test]
async fn what_is_not_repeated_since_the_node_is_not_idempotent_says_so() {
    let why = "; not repeated, since the node is not idempotent";
    let withheld = async |reply: Reply, settings: Settings| {
        let run = run(&script([reply]))
            .model("small", ScriptedModel::new())
            .with_settings(settings);
        let error = run.call(&Once).await.unwrap_err();
        assert_eq!(error.attempts().len(), 1, "{error}");
        let says = |text: &str| text.contains(why);
        assert_eq!(says(error.message()), says(&error.attempts()[0].message));
        assert_eq!(says(error.message()), says(&error.to_string()));
        says(error.message())
    };
    let refused = || Reply::from(ModelError::new(Category::ApiKeyError, "no such key"));
    let answer = |steps: &[Recovery]| Settings::new().recover(Failures::Answer, steps.to_vec());
    for (reply, settings, says) in [
        (busy().into(), Settings::new(), true),
        (busy().into(), Settings::new().transport_retries(0), false),
        (busy().retry(Retry::No).into(), Settings::new(), false),
        (
            busy().retry(Retry::No).into(),
            Settings::new().fallback_model("small"),
            true,
        ),
        (NO_JSON.into(), Settings::new(), false),
        (NO_JSON.into(), Settings::new().retries(1), true),
        (BAD.into(), answer(&[Recovery::model("small")]), true),
        (BAD.into(), answer(&[Recovery::Bubble]), false),
        (refused(), Settings::new().retries(3), false),
    ] {
        assert_eq!(
            withheld(reply, settings.clone()).await,
            says,
            "{settings:?}"
        );
    }
}

#[tokio::test]
async fn an_answer_that_repeats_itself_ends_the_corrections_not_the_recovery() {
    let first = script([BAD, BAD]);
    let run = run(&first).model("small", script([GOOD]));
    let settings = Settings::new()
        .retries(5)
        .stop_on_repeat(true)
        .fallback_model("small");
    let report = run.call(&GOAL).settings(settings).report().await.unwrap();
    assert_eq!(
        (first.requests().len(), report.record.attempts.len()),
        (2, 3)
    );
    assert!(
        report.record.attempts[1]
            .message
            .contains("the same answer twice")
    );
}

#[tokio::test]
async fn waits_are_the_servers_and_the_stacks_on_top() {
    let clock = TestClock::new();
    let asking = || rate_limited().wait(Duration::from_secs(20));
    let replies = [
        asking().into(),
        Reply::from(rate_limited()),
        asking().into(),
        GOOD.into(),
    ];
    let run = Run::new(script(replies))
        .with_clock(clock.clone())
        .with_state(world());
    let minute = Backoff::fixed(Duration::from_secs(70));
    let steps = [Recovery::retry_with(2, minute), Recovery::retry(1)];
    run.call(&GOAL)
        .recover(Category::RateLimitError, steps)
        .await
        .unwrap();
    let waits = clock.waits();
    assert_eq!(
        waits[..2],
        [Duration::from_secs(70), Duration::from_secs(70)],
        "at most what max_wait or the stack allow"
    );
    assert!(
        waits[2] >= Duration::from_secs(20) && waits[2] < Duration::from_secs(21),
        "{waits:?}"
    );
}

/// Falls back on what its state has first, unless that is nothing.
pub(crate) struct Guess;

impl Node for Guess {
    type Output = Choice;
    const NAME: &'static str = "guess";
    const FACTS: NodeFacts = NodeFacts::new().fallback(true).retries_itself(true);
    const SETTINGS: &'static Settings = &Settings::new().retries(1);
}

async fn first_of(_: &Guess, world: &World, error: &NodeError) -> Result<Choice, String> {
    tokio::task::yield_now().await;
    assert_eq!(
        error.attempts().len(),
        error.record().unwrap().attempts.len()
    );
    let last = error.last_answer().unwrap_or("nothing");
    match world.inventory.first() {
        Some(&"bomb") => panic!("it explodes"),
        Some(item) => Ok(Choice {
            item: format!("{item} after {} and {last}", error.attempts().len()),
        }),
        None => Err("the inventory is empty".to_owned()),
    }
}

node_like_choose!(Guess, first_of);

#[tokio::test]
async fn a_fallback_value_is_given_node_state_and_error_and_is_visible_in_the_record() {
    let run = run(&script([BAD, NO_JSON]));
    let report = run.call(&Guess).report().await.unwrap();
    assert_eq!(report.value.item, "key after 2 and no JSON");
    assert_eq!(
        (report.record.used_fallback, report.record.category),
        (Some(UsedFallback::Value), None)
    );
    assert_eq!(report.record.attempts.len(), 2);
    assert_eq!(
        run.ledger().calls()[0].used_fallback,
        Some(UsedFallback::Value)
    );
}

#[tokio::test]
async fn a_fallback_that_fails_or_panics_is_an_error_with_the_whole_record() {
    for (inventory, category, said) in [
        (
            vec![],
            Category::SchemaError,
            "its fallback failed too: the inventory is empty",
        ),
        (
            vec!["bomb"],
            Category::Panic,
            "the fallback panicked: it explodes; it was called after",
        ),
    ] {
        let run = Run::new(script([NO_JSON, NO_JSON])).with_state(World {
            inventory,
            ..World::default()
        });
        let error = run.call(&Guess).await.unwrap_err();
        assert_eq!((error.category(), error.attempts().len()), (category, 2));
        assert!(error.message().contains(said), "{error}");
        assert_eq!(error.record().unwrap().used_fallback, None);
        assert_eq!(run.ledger().of::<Guess>().unwrap().usage.requests, 2);
    }
}

#[tokio::test]
async fn a_fallback_that_is_dropped_leaves_its_call_cancelled_and_the_run_usable() {
    let run = run(&script([BAD, BAD, GOOD]));
    let mut call = run.call(&Guess);
    // Polled once: both attempts are over, and the fallback waits.
    assert!(poll_once(&mut call).await.is_none());
    drop(call);
    let records = run.ledger().calls();
    assert_eq!(
        (records[0].category, records[0].used_fallback),
        (Some(Category::Cancelled), None)
    );
    assert_eq!(records[0].attempts.len(), 2);
    run.call(&Guess).await.unwrap();
}

async fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    use std::task::Poll;
    std::future::poll_fn(|cx| {
        Poll::Ready(match std::pin::Pin::new(&mut *future).poll(cx) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        })
    })
    .await
}

#[tokio::test]
async fn what_the_program_ends_itself_nothing_recovers() {
    let run = Run::new(ScriptedModel::new()).with_state(world());
    let error = run.call(&Guess).await.unwrap_err();
    assert_eq!(
        error.category(),
        Category::ConfigError,
        "the script has ended"
    );
}

#[tokio::test(start_paused = true)]
async fn a_value_may_stand_for_an_answer_that_the_limits_did_not_let_come() {
    let second = Duration::from_secs(1);
    for (limits, limit, item) in [
        (
            Limits::new().time(10 * second),
            "the time limit of 10s",
            "key after 2 and no JSON",
        ),
        (
            Limits::new().requests(1),
            "the limit of 1 request",
            "key after 1 and no JSON",
        ),
    ] {
        let run = |model: &ScriptedModel| {
            Run::new(model.clone())
                .with_state(world())
                .with_limits(limits)
        };
        let model = script([Reply::from(NO_JSON), Reply::text(GOOD).after(3600 * second)]);
        let begin = tokio::time::Instant::now();
        let run_with_value = run(&model);
        let call = run_with_value
            .call(&Guess)
            .recover(Category::LimitExceeded, [Recovery::Fallback]);
        let report = call.report().await.unwrap();
        assert_eq!(
            (report.value.item.as_str(), report.record.category),
            (item, None),
            "{limit}"
        );
        assert_eq!(report.record.used_fallback, Some(UsedFallback::Value));
        assert!(
            begin.elapsed() <= 10 * second,
            "the model hangs, and the call does not"
        );

        // Without it nothing follows, whatever the other stacks say.
        let model = script([Reply::from(NO_JSON), Reply::text(GOOD).after(3600 * second)]);
        let error = run(&model).call(&Guess).await.unwrap_err();
        assert_eq!(error.category(), Category::LimitExceeded);
        assert!(error.message().starts_with(limit), "{error}");
    }
}

#[tokio::test]
async fn stacks_that_make_no_sense_are_config_errors_that_say_what_to_write() {
    let retry = |wait| Recovery::retry_with(1, wait);
    let (short, long) = (Duration::from_secs(1), Duration::from_secs(60));
    for (failures, steps, said) in [
        (
            Category::Panic.into(),
            vec![Recovery::Bubble],
            "nothing recovers it",
        ),
        (
            Category::LimitUnenforceable.into(),
            vec![Recovery::Bubble],
            "nothing recovers it",
        ),
        (
            Category::LimitExceeded.into(),
            vec![Recovery::retry(1)],
            "forbids further requests; leave `retry(1)` out",
        ),
        (
            Category::LimitExceeded.into(),
            vec![Recovery::repair(1)],
            "forbids further requests",
        ),
        (
            Category::LimitExceeded.into(),
            vec![Recovery::model("a"), Recovery::Bubble],
            "forbids further requests",
        ),
        (
            Failures::Answer,
            vec![],
            "`bubble` returns the failure at once",
        ),
        (Failures::Answer, vec![Recovery::repair(0)], "does nothing"),
        (
            Failures::Transport,
            vec![Recovery::retry(0)],
            "does nothing",
        ),
        (
            Failures::Transport,
            vec![retry(Backoff::growing(long, short))],
            "is an empty range",
        ),
        (
            Failures::Transport,
            vec![Recovery::repair(1)],
            "only bad answers can be repaired",
        ),
        (
            Category::TruncatedOutput.into(),
            vec![Recovery::repair(1)],
            "only bad answers can be repaired",
        ),
        (
            Category::ApiKeyError.into(),
            vec![Recovery::retry(1)],
            "fails with `api_key_error` again",
        ),
        (
            Failures::Answer,
            vec![Recovery::Bubble, Recovery::repair(1)],
            "`repair(1)` comes after `bubble`",
        ),
        (
            Failures::Answer,
            vec![Recovery::model("a"), Recovery::model("a")],
            "is listed twice",
        ),
        (
            Failures::Answer,
            vec![Recovery::model(" ")],
            "name is empty",
        ),
        (
            Failures::Answer,
            vec![Recovery::Fallback],
            "has no fallback value",
        ),
    ] {
        let model = script([GOOD]);
        let error = run(&model)
            .call(&GOAL)
            .recover(failures, steps)
            .await
            .unwrap_err();
        assert_eq!(
            (error.category(), model.requests().len()),
            (Category::ConfigError, 0),
            "{error}"
        );
        assert!(
            error.message().contains(said),
            "{error} does not say {said:?}"
        );
    }
}

#[test]
fn a_nodes_recovery_is_readable_without_a_call() {
    assert_eq!(
        recovery_of::<Choose>(Category::SchemaError),
        [Recovery::repair(2), Recovery::Bubble]
    );
    assert_eq!(
        recovery_of::<Choose>(Category::Timeout),
        [Recovery::retry(2), Recovery::Bubble]
    );
    assert_eq!(
        recovery_of::<Choose>(Category::ContextLengthError),
        [Recovery::Bubble]
    );
    assert_eq!(recovery_of::<Choose>(Category::Aborted), [Recovery::Bubble]);
    let guess = [Recovery::repair(1), Recovery::Fallback, Recovery::Bubble];
    assert_eq!(recovery_of::<Guess>(Category::EmptyResponse), guess);
    assert_eq!(recovery_of::<&Guess>(Category::EmptyResponse), guess);
}

fn step() -> impl Strategy<Value = Recovery> {
    prop_oneof![
        (1..4_u32).prop_map(Recovery::retry),
        (1..4_u32).prop_map(Recovery::repair),
        prop::sample::select(vec!["a", "b"]).prop_map(Recovery::model),
    ]
}

fn stack() -> impl Strategy<Value = Vec<Recovery>> {
    prop::collection::vec(step(), 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// One request and the sum of the steps for each model, whatever fails in whatever order.
    #[test]
    fn requests_are_bounded_by_the_sum_of_the_steps_per_model(
        answer in stack(),
        schema in stack(),
        transport in prop::collection::vec(1..4_u32, 0..3),
        faults in prop::collection::vec(0..3_usize, 200),
    ) {
        let transport: Vec<_> = transport.into_iter().map(Recovery::retry).chain([Recovery::model("b")]).collect();
        let stacks = [(Failures::Answer, answer), (Category::SchemaError.into(), schema), (Failures::Transport, transport)];
        let tries = |step: &Recovery| match step {
            Recovery::Retry { times, .. } | Recovery::Repair { times } => *times as usize,
            _ => 0,
        };
        let per_model = 1 + stacks.iter().flat_map(|(_, steps)| steps).map(tries).sum::<usize>();
        let twice = stacks.iter().any(|(_, steps)| {
            let models = |name: &'static str| steps.iter().filter(|step| **step == Recovery::model(name)).count();
            models("a") > 1 || models("b") > 1
        });
        let reply = |fault: &usize| match fault {
            0 => Reply::from(BAD),
            1 => Reply::from(NO_JSON),
            _ => Reply::from(busy()),
        };
        let model = script(faults.iter().map(reply));
        let settings = stacks.into_iter().fold(Settings::new(), |settings, (key, steps)| settings.recover(key, steps));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let outcome = runtime.block_on(async { run(&model).call(&GOAL).settings(settings).await });
        prop_assert_eq!(outcome.unwrap_err().category() == Category::ConfigError, twice);
        let requests = model.requests();
        for id in [None, Some("a"), Some("b")] {
            let asked = requests.iter().filter(|request| request.model.as_deref() == id).count();
            prop_assert!(asked <= per_model, "{id:?} was asked {asked} times, at most {per_model}");
        }
    }
}
