//! What was spent and is not known, or cannot be: drops, panics, silent providers, missing prices, absurd limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::support::{BAD, GOAL, Say, run, say, script};
use llmnode_runtime::{
    BoxFuture, ChatModel, Flag, ModelError, Request, ScriptedModel, Settings, Sink,
};

#[tokio::test]
async fn an_answer_without_usage_makes_the_next_request_unenforceable() {
    for limits in [Limits::new().tokens(1_000), Limits::new().money(1.0)] {
        let model = script([unreported("hi"), unreported(BAD)]);
        let prices = Prices::new().model("m", Price::per_million(1.0, 1.0));
        let run = run(&model)
            .with_settings(Settings::new().model("m"))
            .with_prices(prices);
        let limited = run.with_state(()).with_limits(limits);
        assert_eq!(
            limited.call(&say("")).await.unwrap(),
            "hi",
            "it is paid for"
        );
        let (category, message) = why(limited.call(&say("")).await);
        assert_eq!(category, Category::LimitUnenforceable);
        let advice = "cannot be enforced: an answer came without its usage; have the server report it, or \
                      limit requests or time instead";
        assert!(message.ends_with(advice), "{message}");

        // A correction is a request, too.
        let error = run.call(&GOAL).limits(limits).await.unwrap_err();
        assert_eq!(
            (error.category(), error.attempts().len()),
            (Category::LimitUnenforceable, 1)
        );
        assert_eq!(model.requests().len(), 2);
    }
    let run = Run::new(FnModel::new(|_| unreported("hi")))
        .with_limits(Limits::new().requests(2).time(SECOND));
    assert!(run.call(&say("")).await.is_ok() && run.call(&say("")).await.is_ok());
}

#[tokio::test]
async fn a_model_without_a_price_is_named_before_its_first_request() {
    let (model, run) = greeter();
    let run = run.with_limits(Limits::new().money(1.0));
    let (category, message) = why(run.call(&say("")).model("dear").await);
    assert_eq!(category, Category::LimitUnenforceable);
    let said = r#"the limit of 1 in money for the run cannot be enforced: the model "dear" has no price; add it to the table of `Run::with_prices`"#;
    assert_eq!((message.as_str(), model.requests().len()), (said, 0));

    // The name that it was registered by will do, and so will the one that the provider reports.
    run.call(&say("")).await.unwrap();
    let run = run.model("m", FnModel::new(|_| hi(Some("whatever"))));
    run.call(&say("")).model("m").await.unwrap();
    let run = run.model("other", FnModel::new(|_| hi(None)));
    assert!(
        why(run.call(&say("")).model("other").await)
            .1
            .contains(r#"the model "other" has no price"#)
    );

    let nameless = Run::new(FnModel::new(|_| hi(None))).with_limits(Limits::new().money(1.0));
    nameless.call(&say("")).await.unwrap();
    assert!(
        why(nameless.call(&say("")).await)
            .1
            .contains("the model that answered has no name")
    );
}

#[tokio::test]
async fn more_reasoning_than_answer_costs_both_and_stops_no_run() {
    let mut usage = TokenUsage::new(100, 293);
    usage.reasoning = Some(321);
    let model = FnModel::new(move |_| Reply::text("hi").usage(usage)).named("m");
    let run = Run::new(model)
        .with_prices(Prices::new().model("m", Price::per_million(2.0, 8.0)))
        .with_limits(Limits::new().money(1.0));
    let report = run.call(&say("")).report().await.unwrap();
    assert_eq!(report.record.attempts[0].flags, [Flag::ImpossibleUsage]);
    run.call(&say("")).await.unwrap();
    assert_eq!(run.ledger().total().cost.total(), Some(2.0 * 0.005_112));
}

#[tokio::test]
async fn a_tier_that_no_list_has_is_of_unknown_cost_before_the_request() {
    let prices = || Prices::new().model("m", Price::per_million(1.0, 10.0));
    for (field, word) in [("service_tier", "priority"), ("speed", "fast")] {
        let (model, run) = greeter();
        let run = run
            .with_prices(prices())
            .with_defaults(Settings::new().extra(field, word));
        run.call(&say("")).await.unwrap();
        assert_eq!(run.ledger().total().cost.unknown_calls, 1, "{word}");
        let limited = run.with_limits(Limits::new().money(1.0));
        let (category, message) = why(limited.call(&say("")).await);
        assert_eq!(category, Category::LimitUnenforceable);
        assert!(message.contains("a service tier, a speed"), "{message}");
        assert_eq!(model.requests().len(), 1);
    }
}

/// A model whose provider bills more than the tokens.
struct Dearer(ScriptedModel);

impl ChatModel for Dearer {
    fn complete<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<llmnode_runtime::Completion, ModelError>> {
        sink.flag(Flag::OtherPrice);
        self.0.complete(request, sink)
    }

    fn model(&self) -> Option<&str> {
        self.0.model()
    }
}

#[tokio::test]
async fn an_answer_that_is_billed_by_another_price_is_of_unknown_cost() {
    let run = Run::new(Dearer(
        ScriptedModel::new().named("m").reply("hi").reply("hi"),
    ))
    .with_prices(Prices::new().model("m", Price::per_million(1.0, 10.0)))
    .with_limits(Limits::new().money(1.0));
    run.call(&say("")).await.unwrap();
    assert_eq!(run.ledger().total().cost.total(), None);
    let (category, message) = why(run.call(&say("")).await);
    assert_eq!(category, Category::LimitUnenforceable);
    assert!(message.contains("no list has"), "{message}");
}

#[tokio::test]
async fn cache_writes_without_a_price_make_the_next_request_unenforceable() {
    let mut usage = TokenUsage::new(10, 1);
    usage.cache_write = Some(9);
    let model = FnModel::new(move |_| Reply::text("hi").usage(usage)).named("m");
    let price = Price::per_million(1_000.0, 1_000.0);
    let run = |price| {
        Run::new(model.clone())
            .with_prices(Prices::new().model("m", price))
            .with_limits(Limits::new().money(1.0))
    };
    let limited = run(price);
    limited.call(&say("")).await.unwrap();
    let (category, message) = why(limited.call(&say("")).await);
    assert_eq!(category, Category::LimitUnenforceable);
    let advice =
        r#"the model "m" wrote to a cache, which has no price; set it by `Price::cache_write`"#;
    assert!(message.ends_with(advice), "{message}");
    assert_eq!(limited.ledger().total().cost.unknown_calls, 1);

    let priced = run(price.cache_write(2_000.0, 3_000.0));
    assert!(priced.call(&say("")).await.is_ok() && priced.call(&say("")).await.is_ok());
    assert_eq!(
        priced.ledger().total().cost.total(),
        Some(0.04),
        "2 × (1 + 9 × 2 + 1) thousandths"
    );
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_dropped_or_breaks_off_keeps_its_estimate() {
    let model = ScriptedModel::new()
        .reply(Reply::never())
        .reply(ModelError::new(Category::Network, "connection reset"))
        .reply(ModelError::new(Category::BadRequest, "no such field"))
        .reply(ModelError::unsent(Category::ApiKeyError, "no key"))
        .reply("hi");
    let run = Run::new(model.clone()).with_limits(Limits::new().tokens(221).requests(4));
    let node = say(&"x".repeat(40));
    let call = || run.call(&node).max_tokens(100).transport_retries(0);
    assert!(tokio::time::timeout(SECOND, call()).await.is_err());
    assert_eq!(why(call().await).0, Category::Network);
    assert_eq!(why(call().await).0, Category::BadRequest);
    assert_eq!(why(call().await).0, Category::ApiKeyError);
    assert_eq!(
        call().await.unwrap(),
        "hi",
        "220 tokens and 3 requests were spent"
    );
    let message = "the limit of 4 requests for the run is reached: 4 spent";
    assert!(why(call().await).1.starts_with(message));
    assert_eq!(
        run.ledger().total().total.known,
        11,
        "the ledger has what is known"
    );
}

#[tokio::test]
async fn a_panic_of_the_model_gives_nothing_back_twice() {
    let run = Run::new(FnModel::new(|_| -> Reply { panic!("a bug") }))
        .with_limits(Limits::new().requests(2));
    assert_eq!(why(run.call(&say("")).await).0, Category::Panic);
    assert_eq!(why(run.call(&say("")).await).0, Category::Panic);
    assert!(why(run.call(&say("")).await).1.contains("2 spent"));
}

#[tokio::test]
async fn absurd_limits_and_prices_are_config_errors_before_any_request() {
    let (model, run) = greeter();
    let none = Limits::new();
    for absurd in [
        none.requests(0),
        none.tokens(0),
        none.money(f64::NAN),
        none.money(-1.0),
        none.time(Duration::ZERO),
    ] {
        for outcome in [
            run.call(&say("")).limits(absurd).await,
            run.clone().with_limits(absurd).call(&say("")).await,
            run.clone()
                .with_node_limits::<Say>(absurd)
                .call(&say(""))
                .await,
            run.clone()
                .with_settings(Settings::new().limits(absurd))
                .call(&say(""))
                .await,
        ] {
            assert_eq!(why(outcome).0, Category::ConfigError, "{absurd:?}");
        }
    }
    let absurd = run
        .clone()
        .with_prices(Prices::new().model("m", Price::per_million(f64::NAN, 0.0)));
    for limits in [none, none.money(1.0)] {
        let (category, message) = why(absurd.call(&say("")).limits(limits).await);
        assert_eq!(category, Category::ConfigError);
        assert!(
            message.starts_with(r#"in the table of prices, "m" has"#),
            "{message}"
        );
    }
    let twice = absurd.with_limits(none.requests(0).tokens(0));
    let said = why(twice.call(&say("")).limits(none.money(0.0)).await).1;
    for fault in [
        "money is 0",
        "requests is 0",
        "tokens is 0",
        "in the table of prices",
    ] {
        assert!(said.contains(fault), "{said}");
    }
    let most = none
        .requests(u64::MAX)
        .tokens(u64::MAX)
        .money(f64::MAX)
        .time(Duration::MAX);
    assert!(run.with_limits(most).call(&say("")).await.is_ok());
    assert_eq!(model.requests().len(), 1);
}

/// Tells its usage, and then never ends. It asks for the model "own" where nobody names one.
struct Early;

impl ChatModel for Early {
    fn complete<'a>(
        &'a self,
        _: &'a Request,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        sink.usage(TokenUsage::new(30, 5));
        Box::pin(std::future::pending())
    }

    fn model(&self) -> Option<&str> {
        Some("own")
    }
}

#[tokio::test(start_paused = true)]
async fn usage_told_before_a_drop_is_spent() {
    let run = Run::new(Early).with_limits(Limits::new().tokens(35));
    assert!(
        tokio::time::timeout(SECOND, async { run.call(&say("")).await })
            .await
            .is_err()
    );
    let (_, message) = why(run.call(&say("")).await);
    assert!(message.contains("reached: 35 spent"), "{message}");
    assert_eq!(run.ledger().total().total.known, 35);
}

#[tokio::test(start_paused = true)]
async fn the_model_is_named_by_its_id_else_by_its_handle() {
    let limits = Limits::new().money(1.0).time(SECOND);
    let run = Run::new(Early).with_limits(limits);
    assert!(
        why(run.call(&say("")).await)
            .1
            .contains(r#"the model "own" has no price"#)
    );
    let run = run.model_with("alias", Early, Settings::new().model("id"));
    assert!(
        why(run.call(&say("")).model("alias").await)
            .1
            .contains(r#"the model "id" has no price"#)
    );
}

#[tokio::test(start_paused = true)]
async fn an_id_that_is_asked_for_does_not_cost_what_the_handles_own_costs() {
    let prices = Prices::new().model("own", Price::per_million(1.0, 1.0));
    let run = Run::new(Early)
        .with_prices(prices)
        .with_limits(Limits::new().money(1.0).time(SECOND));
    assert_eq!(
        why(run.call(&say("")).await).0,
        Category::LimitExceeded,
        "asked until the time is up"
    );
    let run = run.with_limits(Limits::new().money(1.0).time(SECOND));
    assert!(
        why(run.call(&say("")).model("large").await)
            .1
            .contains(r#"the model "large" has no price"#)
    );
}

/// Sends so many tokens as the most, whatever the request says.
#[derive(Clone, Default)]
struct Sends {
    most: Option<u32>,
    under_way: Arc<AtomicUsize>,
    together: Arc<AtomicUsize>,
}

impl ChatModel for Sends {
    fn complete<'a>(
        &'a self,
        _: &'a Request,
        _: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(async {
            let count = self.under_way.fetch_add(1, Ordering::Relaxed) + 1;
            self.together.fetch_max(count, Ordering::Relaxed);
            tokio::time::sleep(SECOND).await;
            self.under_way.fetch_sub(1, Ordering::Relaxed);
            let mut answer = Completion::new("hi");
            answer.usage = Some(TokenUsage::new(1, 1));
            Ok(answer)
        })
    }

    fn max_tokens(&self, _: &Request) -> Option<u32> {
        self.most
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_reserves_the_tokens_that_its_model_sends() {
    for (most, together) in [(None, 3), (Some(1_000), 1)] {
        let model = Sends {
            most,
            ..Sends::default()
        };
        let run = Run::new(model.clone()).with_limits(Limits::new().tokens(1_000));
        // Behind the first one, which goes alone.
        run.map(&[say("1"), say("2"), say("3"), say("4")])
            .concurrency(4)
            .try_all()
            .await
            .unwrap();
        assert_eq!(model.together.load(Ordering::Relaxed), together);
    }
}
