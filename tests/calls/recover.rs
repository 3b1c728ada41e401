//! What `#[llm_node]` generates for `recover(…)`, `fallback_model`, `fallback` and `limits(…)`.

use std::time::Duration;

use llmnode::prelude::*;
use llmnode::{
    Backoff, Call, Exec, Failures, Group, Limits, ModelError, Node, Recovery, Reply, Settings,
    TestClock, UsedFallback, recovery_of,
};

#[path = "../../llmnode-macros/src/node/recover/keys.rs"]
mod keys;

#[test]
fn the_macro_knows_the_categories_of_the_runtime() {
    let known = keys::CATEGORIES.map(|(name, group)| (name, format!("{group:?}")));
    let group = |category: &Category| (category.as_str(), format!("{:?}", category.group()));
    assert_eq!(
        known.to_vec(),
        Category::ALL.iter().map(group).collect::<Vec<_>>()
    );
}

/// The attribute is a default: the run's word beats it, and the call's beats that. A step's own wait stays.
#[tokio::test]
async fn the_wait_between_tries() {
    #[llm_node(prompt = "Rate.", wait = 10s, max_wait = 2s)]
    struct Rate;
    #[llm_node(
        prompt = "Rate.",
        wait = 1s..60s,
        recover(rate_limit_error = [retry(1), retry(1, 5s)], timeout = [model("small"), bubble])
    )]
    struct Recovering;
    let second = Duration::from_secs(1);
    let step = |times, wait| Recovery::retry_with(times, wait);
    assert_eq!(
        recovery_of::<Rate>(Category::Network),
        [step(2, Backoff::fixed(second * 10)), Recovery::Bubble]
    );
    let growing = Backoff::growing(second, second * 60);
    for (category, steps) in [
        (
            Category::RateLimitError,
            vec![
                step(1, growing),
                step(1, Backoff::fixed(second * 5)),
                Recovery::Bubble,
            ],
        ),
        (
            Category::Timeout,
            vec![Recovery::model("small"), Recovery::Bubble],
        ),
        (Category::Network, vec![step(2, growing), Recovery::Bubble]),
        (Category::EmptyResponse, vec![Recovery::Bubble]),
    ] {
        assert_eq!(recovery_of::<Recovering>(category), steps);
    }

    let waits =
        async |settings: Settings,
               call: &dyn Fn(Call<'static, String>) -> Call<'static, String>| {
            let model = ScriptedModel::new()
                .reply(Reply::failure(Category::Network))
                .reply("5");
            let clock = TestClock::new();
            let run: &'static Run<()> = Box::leak(Box::new(
                Run::new(model).with_clock(clock).with_settings(settings),
            ));
            call(run.call(&Rate))
                .report()
                .await
                .unwrap()
                .record
                .attempts[1]
                .wait
        };
    let by_run = Settings::new().wait(second * 20);
    assert_eq!(
        waits(Settings::new(), &|call| call).await,
        second * 10,
        "its own bound, whatever max_wait says"
    );
    assert_eq!(waits(by_run.clone(), &|call| call).await, second * 20);
    assert_eq!(
        waits(by_run.clone(), &|call| call.wait(second * 30)).await,
        second * 30
    );
    let waited = waits(by_run, &|call| call.wait(second..second * 60)).await;
    assert!((second..=second * 2).contains(&waited), "{waited:?}");

    let asks = |wait| {
        ScriptedModel::new().reply(Reply::failure(Category::RateLimitError).retry_after(wait))
    };
    let run = Run::new(asks(second * 3)).with_clock(TestClock::new());
    let error = run.call(&Rate).await.unwrap_err();
    assert!(
        error
            .message()
            .ends_with("a wait of 3s, longer than max_wait (2s)"),
        "{error}"
    );
    let run = Run::new(asks(second * 3).reply("5")).with_clock(TestClock::new());
    assert_eq!(run.call(&Rate).max_wait(second * 4).await.unwrap(), "5");
    let error = run.call(&Rate).wait(second * 2..second).await.unwrap_err();
    assert_eq!(
        (error.category(), error.message()),
        (
            Category::ConfigError,
            "the wait 2s..1s is an empty range: its start exceeds its end"
        )
    );
}

/// What the macro refuses a `retry` or a `repair` for, a call refuses, too; and only that.
#[tokio::test]
async fn the_macro_refuses_what_the_runtime_refuses() {
    #[llm_node(prompt = "Rate.", output = u8)]
    struct Rate;
    async fn refuses(name: &str, step: Recovery) -> bool {
        let run = Run::new(ScriptedModel::new().reply("5"));
        let answer = run
            .call(&Rate)
            .recover(Category::from_name(name).unwrap(), [step])
            .await;
        answer.is_err_and(|error| error.category() == Category::ConfigError)
    }
    for (name, group) in keys::CATEGORIES {
        let stop = matches!(group, keys::Group::Node | keys::Group::Stop);
        let limit = name == keys::LIMIT;
        assert_eq!(
            refuses(name, Recovery::Bubble).await,
            stop && !limit,
            "{name}"
        );
        assert_eq!(refuses(name, Recovery::model("a")).await, stop, "{name}");
        assert_eq!(
            refuses(name, Recovery::retry(1)).await,
            stop || keys::NOT_RETRYABLE.contains(&name),
            "{name}"
        );
        assert_eq!(
            refuses(name, Recovery::repair(1)).await,
            group != keys::Group::Answer,
            "{name}"
        );
    }
}

fn middle(_: &EveryKey, _: &NodeError) -> u8 {
    5
}

/// Every key, every step, every way to write a wait.
#[llm_node(
    prompt = "Rate.",
    output = u8,
    fallback = middle,
    recover(
        answer = [retry(1), repair(2), fallback],
        transport = [retry(5, 1s..60s), retry(1, 500ms), retry(1, 1.5s..2m,), model("small"), bubble],
        schema_error = [bubble],
        validation_error = [repair(1)],
        empty_response = [repair(1), fallback, bubble],
        rate_limit_error = [retry(3, 1h)],
        server_error = [retry(3, 0s)],
        network = [retry(2)],
        timeout = [model("a"), retry(1), model("b")],
        api_key_error = [model("a")],
        quota_error = [fallback],
        not_found = [bubble],
        bad_request = [fallback],
        context_length_error = [model("long")],
        content_filter = [retry(1)],
        refusal = [retry(1), fallback],
        truncated_output = [retry(1)],
        bad_response = [retry(1)],
        limit_exceeded = [fallback, bubble],
    ),
    limits(requests = 5, tokens = 2_000, money = 0.05),
    deadline = 1.5s,
)]
struct EveryKey;

#[test]
fn each_stack_is_what_is_written() {
    let second = Duration::from_secs(1);
    let settings = EveryKey::SETTINGS;
    let (group, steps) = &settings.recover[0];
    assert_eq!(
        (*group, &**steps),
        (
            Failures::Answer,
            &[Recovery::retry(1), Recovery::repair(2), Recovery::Fallback][..]
        )
    );
    let transport = [
        Recovery::retry_with(5, Backoff::growing(second, second * 60)),
        Recovery::retry_with(1, Backoff::fixed(second / 2)),
        Recovery::retry_with(1, Backoff::growing(second * 3 / 2, second * 120)),
        Recovery::model("small"),
        Recovery::Bubble,
    ];
    assert_eq!(
        settings.recover[1],
        (Failures::Transport, transport.to_vec().into())
    );
    let of_categories: Vec<_> = settings.recover[2..]
        .iter()
        .map(|(failures, _)| *failures)
        .collect();
    let unrecoverable = |category: &Category| matches!(category.group(), Group::Node | Group::Stop);
    let recoverable = Category::ALL
        .iter()
        .filter(|category| !unrecoverable(category) || **category == Category::LimitExceeded);
    assert_eq!(
        of_categories,
        recoverable
            .map(|&category| Failures::from(category))
            .collect::<Vec<_>>()
    );
    for (category, steps) in [
        (
            Category::RateLimitError,
            &[
                Recovery::retry_with(3, Backoff::fixed(second * 3600)),
                Recovery::Bubble,
            ][..],
        ),
        (
            Category::ServerError,
            &[
                Recovery::retry_with(3, Backoff::fixed(Duration::ZERO)),
                Recovery::Bubble,
            ],
        ),
        (
            Category::Timeout,
            &[
                Recovery::model("a"),
                Recovery::retry(1),
                Recovery::model("b"),
                Recovery::Bubble,
            ],
        ),
        (
            Category::Refusal,
            &[Recovery::retry(1), Recovery::Fallback, Recovery::Bubble],
        ),
        (
            Category::LimitExceeded,
            &[Recovery::Fallback, Recovery::Bubble],
        ),
        (Category::Cancelled, &[Recovery::Bubble]),
    ] {
        assert_eq!(recovery_of::<EveryKey>(category), steps, "{category}");
    }
    const { assert!(EveryKey::FACTS.fallback) };
    let limits = Limits::new().requests(5).tokens(2000).money(0.05);
    assert_eq!(EveryKey::FACTS.limits, limits);
    assert_eq!(EveryKey::SETTINGS.deadline, Some(second * 3 / 2));
}

#[tokio::test]
async fn steps_are_taken_in_order() {
    #[llm_node(prompt = "Rate.", output = u8, recover(schema_error = [retry(1), repair(1), model("big")]))]
    struct Rate;
    let small = ScriptedModel::new().reply("a").reply("b").reply("c");
    let big = ScriptedModel::new().reply("5");
    let run = Run::new(small.clone()).model("big", big.clone());
    assert_eq!(run.call(&Rate).await.unwrap(), 5);
    let lengths: Vec<_> = small
        .requests()
        .iter()
        .map(|request| request.messages.len())
        .collect();
    assert_eq!(lengths, [1, 1, 3]);
    assert_eq!(big.requests()[0].messages.len(), 1, "the original prompt");
}

#[tokio::test]
async fn the_fallback_model_comes_last() {
    #[llm_node(prompt = "Rate.", output = u8, retries = 1, fallback_model = "big")]
    struct Rate;
    let steps = [
        Recovery::repair(1),
        Recovery::model("big"),
        Recovery::Bubble,
    ];
    assert_eq!(recovery_of::<Rate>(Category::SchemaError), steps);
    let run = Run::new(ScriptedModel::new().reply("a").reply("b"));
    let report = run
        .model("big", ScriptedModel::new().reply("5"))
        .call(&Rate)
        .report()
        .await
        .unwrap();
    assert_eq!(
        (report.value, report.record.used_fallback),
        (5, Some(UsedFallback::Model))
    );
}

mod fallbacks {
    use super::*;

    pub(super) struct World {
        pub(super) usual: u8,
    }

    pub(super) fn plain(node: &Plain, error: &NodeError) -> u8 {
        assert_eq!(error.last_answer(), Some("many"));
        node.at_least
    }

    pub(super) fn fallible(_: &Fallible, state: &World, _: &NodeError) -> Result<u8, String> {
        if state.usual > 0 {
            Ok(state.usual)
        } else {
            Err("nothing is usual".into())
        }
    }

    pub(super) async fn later(node: &Later<'_>, state: &World, error: &NodeError) -> u8 {
        tokio::task::yield_now().await;
        state.usual + u8::try_from(node.topic.len() + error.attempts().len()).unwrap()
    }
}
use fallbacks::World;

#[llm_node(prompt = "Rate {topic}.", output = u8, fallback = fallbacks::plain)]
struct Plain {
    topic: &'static str,
    #[node(skip)]
    at_least: u8,
}

#[llm_node(prompt = "Rate.", output = u8, state = World, fallback = fallbacks::fallible)]
struct Fallible;

#[llm_node(prompt = "Rate {topic}.", output = u8, state = World, fallback = fallbacks::later)]
struct Later<'a> {
    topic: &'a str,
}

/// Its fallback is a function of the type, for any state.
#[llm_node(prompt = "Rate {topic}.", output = Vec<T>, fallback = Self::none)]
struct Generic<T: llmnode::LlmOutput + std::fmt::Display> {
    topic: T,
}

impl<T: llmnode::LlmOutput + std::fmt::Display> Generic<T> {
    #[allow(clippy::unused_async, reason = "what is tested")]
    async fn none(&self, _: &NodeError) -> Result<Vec<T>, NodeError> {
        Ok(vec![])
    }
}

async fn ask<N: Exec<World>>(
    node: &N,
    usual: u8,
) -> Result<(N::Output, Option<UsedFallback>), NodeError> {
    let run = Run::new(ScriptedModel::new().reply("many")).with_state(World { usual });
    let report = run.call(node).report().await?;
    Ok((report.value, report.record.used_fallback))
}

#[tokio::test]
async fn a_fallback_returns_a_value_a_result_or_a_future_of_either() {
    let used_fallback = Some(UsedFallback::Value);
    assert_eq!(
        ask(
            &Plain {
                topic: "rain",
                at_least: 3
            },
            0
        )
        .await
        .unwrap(),
        (3, used_fallback)
    );
    assert_eq!(ask(&Fallible, 4).await.unwrap(), (4, used_fallback));
    assert_eq!(
        ask(&Later { topic: "rain" }, 4).await.unwrap(),
        (9, used_fallback)
    );
    assert_eq!(
        ask(&Generic { topic: 7_u8 }, 0).await.unwrap(),
        (vec![], used_fallback)
    );

    let error = ask(&Fallible, 0).await.unwrap_err();
    assert_eq!(error.category(), Category::SchemaError);
    assert!(error.to_string().contains("nothing is usual"), "{error}");
}

#[tokio::test]
async fn a_fallback_stands_for_whatever_recover_gives_it() {
    #[llm_node(prompt = "Greet.", recover(final = [bubble], quota_error = [fallback]), fallback = Self::hello)]
    struct Greet;
    impl Greet {
        fn hello(&self, error: &NodeError) -> String {
            error.category().to_string()
        }
    }
    let model = ScriptedModel::new()
        .reply(Reply::error(ModelError::new(
            Category::QuotaError,
            "no credit",
        )))
        .reply(Reply::error(ModelError::new(Category::Refusal, "no")));
    let run = Run::new(model);
    assert_eq!(run.call(&Greet).await.unwrap(), "quota_error");
    assert_eq!(
        run.call(&Greet).await.unwrap_err().category(),
        Category::Refusal
    );
}

#[tokio::test]
async fn a_deadline_has_a_default_value() {
    #[llm_node(
        prompt = "Greet.",
        deadline = 20ms,
        limits(requests = 2),
        recover(limit_exceeded = [fallback]),
        fallback = Self::hello
    )]
    struct Greet;
    impl Greet {
        fn hello(&self, error: &NodeError) -> String {
            error.category().to_string()
        }
    }
    let late = || Reply::text("late").after(Duration::from_secs(600));
    let run = Run::new(ScriptedModel::new().reply(late()).reply(late()));
    // The third call finds the node's requests used up, and begins none.
    for (requests, category) in [(1, "timeout"), (1, "timeout"), (0, "limit_exceeded")] {
        let report = run.call(&Greet).report().await.unwrap();
        assert_eq!(
            (report.value.as_str(), report.record.attempts.len()),
            (category, requests)
        );
        assert_eq!(report.record.used_fallback, Some(UsedFallback::Value));
    }
}

#[tokio::test]
async fn limits_hold_for_all_calls_of_the_node_in_a_run() {
    #[llm_node(prompt = "Greet.", limits(requests = 2))]
    struct Greet;
    let model = ScriptedModel::new().reply("1").reply("2").reply("3");
    let run = Run::new(model.clone());
    assert_eq!(run.call(&Greet).await.unwrap(), "1");
    assert_eq!(run.call(&Greet).await.unwrap(), "2");
    assert_eq!(
        run.call(&Greet).await.unwrap_err().category(),
        Category::LimitExceeded
    );
    assert_eq!(model.requests().len(), 2);
}

/// Near to what is refused.
#[test]
fn what_makes_sense_compiles() {
    #[llm_node(prompt = "Greet.", recover(answer = [bubble]), fallback = Self::hello, fallback_model = "big")]
    struct TransportFallsBack;
    impl TransportFallsBack {
        fn hello(&self, _: &NodeError) -> String {
            "Hello!".into()
        }
    }
    let steps = [
        Recovery::retry(2),
        Recovery::model("big"),
        Recovery::Fallback,
        Recovery::Bubble,
    ];
    assert_eq!(recovery_of::<TransportFallsBack>(Category::Network), steps);

    #[llm_node(prompt = "Greet.", recover(empty_response = [repair(1), model("a")], network = [model("a")]))]
    struct RawTextIsEmpty;
    let steps = [Recovery::repair(1), Recovery::model("a"), Recovery::Bubble];
    assert_eq!(
        recovery_of::<RawTextIsEmpty>(Category::EmptyResponse),
        steps
    );

    #[llm_node(
        prompt = "Rate.",
        output = u8,
        retries = 3,
        transport_retries = 4,
        recover(schema_error = [retry(1)], timeout = [bubble])
    )]
    struct CountsOfTheRest;
    assert_eq!(
        recovery_of::<CountsOfTheRest>(Category::SchemaError),
        [Recovery::retry(1), Recovery::Bubble]
    );
    assert_eq!(
        recovery_of::<CountsOfTheRest>(Category::ValidationError),
        [Recovery::repair(3), Recovery::Bubble]
    );
    assert_eq!(
        recovery_of::<CountsOfTheRest>(Category::Timeout),
        [Recovery::Bubble]
    );
    assert_eq!(
        recovery_of::<CountsOfTheRest>(Category::Network),
        [Recovery::retry(4), Recovery::Bubble]
    );
}

/// Whether a function can be called is found out from what it takes, also where that has to be inferred.
#[tokio::test]
async fn a_fallback_may_be_generic() {
    fn types<N, S: ?Sized>(_: &N, _: &S, _: &NodeError) -> u8 {
        1
    }
    fn whatever<T: Copy>(_: T, _: &NodeError) -> Result<u8, String> {
        Ok(2)
    }
    async fn one_lifetime<'a: 'a>(
        node: &'a AtLeast<'a>,
        state: &'a World,
        _: &'a NodeError,
    ) -> &'a u8 {
        node.least.max(&state.usual)
    }
    async fn copied(node: &AtLeast<'_>, state: &World, error: &NodeError) -> u8 {
        *one_lifetime(node, state, error).await
    }
    #[llm_node(prompt = "Rate.", output = u8, state = World, fallback = types)]
    struct Types;
    #[llm_node(prompt = "Rate.", output = u8, fallback = whatever)]
    struct Whatever;
    #[llm_node(prompt = "Rate.", output = u8, state = World, fallback = copied)]
    struct AtLeast<'a> {
        #[node(skip)]
        least: &'a u8,
    }
    let run = Run::new(ScriptedModel::new().reply("a").reply("b").reply("c"));
    let run = run.with_state(World { usual: 4 });
    assert_eq!(run.call(&Types).await.unwrap(), 1);
    assert_eq!(run.call(&Whatever).await.unwrap(), 2);
    assert_eq!(run.call(&AtLeast { least: &3 }).await.unwrap(), 4);
}
