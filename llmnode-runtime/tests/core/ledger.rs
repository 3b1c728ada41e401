//! Every request is in the book, whatever way the call took out.

use std::time::Duration;

use crate::support::{BAD, Choose, GOAL, GOOD, Mood, Say, World, input_tokens, say, script, world};
use llmnode_runtime::{
    BoxError, BoxFuture, Category, ChatModel, Completion, Cx, Exec, FnModel, LedgerSnapshot,
    Limits, ModelError, Node, Price, Prices, Reply, Request, Run, ScriptedModel, Sink, TokenUsage,
};

#[tokio::test]
async fn failed_attempts_count_and_unknown_is_not_zero() {
    let model = ScriptedModel::new()
        .reply(BAD)
        .reply(Reply::text(BAD).usage(None))
        .reply(GOOD);
    let run = Run::new(model).with_state(world());
    let ledger = run.ledger();
    assert_eq!(ledger.of::<Choose>(), None, "never called");
    run.call(&GOAL).await.unwrap();
    let stats = ledger.of::<Choose>().unwrap();
    assert_eq!((stats.visits, stats.usage.requests), (1, 3));
    assert_eq!(
        (stats.usage.total.known, stats.usage.total.unreported_calls),
        (28, 1)
    );
    assert_eq!(stats.usage.total.total(), None);
    assert_eq!(ledger.tokens_used()["choose"], 28);
    assert_eq!(ledger.calls()[0].attempts.len(), 3);
    let attempt = format!("{:?}", ledger.calls()[0].attempts[0]);
    assert!(
        attempt.contains("kind: First") && !attempt.contains("axe"),
        "{attempt}"
    );
    assert!(
        format!("{ledger:?}").starts_with("{\"choose\": NodeStats { usage"),
        "{ledger:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_leaves_an_entry_of_unknown_usage() {
    let run = Run::new(ScriptedModel::new().reply(BAD).reply(Reply::never())).with_state(world());
    let call = tokio::time::timeout(Duration::from_secs(5), run.call(&GOAL));
    assert!(call.await.is_err());
    let stats = run.ledger().of::<Choose>().unwrap();
    assert_eq!(
        (
            stats.usage.requests,
            stats.usage.total.known,
            stats.usage.total.unreported_calls
        ),
        (2, 14, 1)
    );
    assert_eq!(stats.busy, Duration::from_secs(5));
    let call = &run.ledger().calls()[0];
    assert_eq!(
        (call.category, call.attempts[1].category),
        (Some(Category::Cancelled), Some(Category::Cancelled))
    );
    assert_eq!(call.attempts[1].usage, None);
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_inside_a_validator_keeps_the_usage_that_was_read() {
    let run = Run::new(ScriptedModel::new().reply(GOOD)).with_state(World {
        mood: Mood::Hang,
        ..world()
    });
    let call = tokio::time::timeout(Duration::from_secs(1), run.call(&GOAL));
    assert!(call.await.is_err());
    assert_eq!(run.ledger().total().total.total(), Some(14));
}

#[tokio::test(start_paused = true)]
async fn busy_time_has_the_waits_and_adds_up_over_calls_side_by_side() {
    let slow = || Reply::text(GOOD).after(Duration::from_secs(2));
    let wait = ModelError::new(Category::RateLimitError, "slow down").wait(Duration::from_secs(10));
    let run = Run::new(
        ScriptedModel::new()
            .reply(slow())
            .reply(slow())
            .reply(wait)
            .reply(GOOD),
    )
    .with_state(world());
    let (one, two) = tokio::join!(run.call(&GOAL), run.call(&GOAL));
    one.unwrap();
    two.unwrap();
    assert_eq!(run.ledger().time_ms()["choose"], 4000);
    run.call(&GOAL).await.unwrap();
    assert!(run.ledger().time_ms()["choose"] >= 14_000);
}

#[tokio::test]
async fn a_providers_total_is_taken_as_it_is() {
    let mut usage = TokenUsage::new(5, 5);
    usage.total = Some(99);
    let run = Run::new(ScriptedModel::new().reply(Reply::text("hi").usage(usage)));
    run.call(&say("x")).await.unwrap();
    assert_eq!(
        run.ledger().of::<Say>().unwrap().usage.total.total(),
        Some(99)
    );
}

mod elsewhere {
    use super::*;

    pub(crate) struct Say;

    impl Node for Say {
        type Output = String;
        const NAME: &'static str = "say";
    }

    impl<S: ?Sized + Sync> Exec<S> for Say {
        async fn exec(&self, cx: &Cx<'_, S>) -> Result<String, BoxError> {
            Ok(cx.call(&say("inner")).await?)
        }
    }
}

#[tokio::test]
async fn two_types_of_one_name_are_told_apart_by_their_module() {
    let run = Run::new(ScriptedModel::new().reply("hi"));
    assert_eq!(run.call(&elsewhere::Say).await.unwrap(), "hi");
    let visits: Vec<_> = run.ledger().time_ms().into_keys().collect();
    assert_eq!(
        visits,
        [
            "say (core::ledger::elsewhere::Say)",
            "say (core::support::Say)"
        ]
    );
    assert_eq!(
        run.ledger().of::<elsewhere::Say>().unwrap().usage.requests,
        0
    );
    assert_eq!(run.ledger().of::<Say>().unwrap().usage.requests, 1);
}

#[tokio::test]
async fn the_ledger_remembers_a_bounded_number_of_calls() {
    let model = (0..10).fold(ScriptedModel::new(), |model, _| model.reply("hi"));
    let run = Run::new(model);
    run.ledger().remember(3);
    for _ in 0..10 {
        run.call(&say("x")).await.unwrap();
    }
    assert_eq!(
        (
            run.ledger().calls().len(),
            run.ledger().of::<Say>().unwrap().visits
        ),
        (3, 10)
    );
}

#[tokio::test]
async fn calls_and_attempts_have_ids_and_requests_carry_them() {
    let model = ScriptedModel::new().reply(BAD).reply(GOOD).reply("inner");
    let run = Run::new(model.clone()).with_state(world());
    let report = run.call(&GOAL).report().await.unwrap();
    run.call(&elsewhere::Say).await.unwrap();

    let sent: Vec<_> = model
        .requests()
        .iter()
        .map(|request| request.correlation.unwrap())
        .collect();
    let booked: Vec<_> = report
        .record
        .attempts
        .iter()
        .map(|attempt| attempt.id)
        .collect();
    assert_eq!(sent[..2], booked);
    let id = report.record.id;
    assert_eq!(sent[1].to_string(), format!("{id}-1"));
    assert_eq!(
        (sent[1].call(), sent[1].index(), report.record.parent),
        (id, 1, None)
    );

    let calls = run.ledger().calls();
    let (inner, outer) = (&calls[1], &calls[2]);
    assert_eq!((inner.parent, outer.parent), (Some(outer.id), None));
    assert_eq!(sent[2].call(), inner.id);
    let error = run.with_state(()).call(&say("x")).await.unwrap_err();
    let ids = [id, inner.id, outer.id, error.record().unwrap().id];
    assert_eq!(
        ids.into_iter()
            .collect::<std::collections::BTreeSet<_>>()
            .len(),
        4
    );
}

#[tokio::test]
async fn what_was_not_reported_is_estimated_apart() {
    let half = input_tokens(5);
    let model = ScriptedModel::new()
        .reply("hello")
        .reply(Reply::text("hello").usage(None))
        .reply(Reply::text("hello").usage(half))
        .reply(ModelError::new(Category::Timeout, "the response stood"))
        .reply(ModelError::new(Category::BadRequest, "HTTP 400"))
        .reply(ModelError::unreached(Category::Network, "no connection"))
        .reply(ModelError::unsent(Category::ConfigError, "no such model"));
    let run = Run::new(model);
    for _ in 0..7 {
        run.call(&say("one two three four"))
            .transport_retries(0)
            .await
            .ok();
    }
    let estimates: Vec<_> = run
        .ledger()
        .calls()
        .iter()
        .flat_map(|call| &call.attempts)
        .map(|attempt| {
            attempt
                .estimate
                .map(|estimate| (estimate.input, estimate.output, estimate.total()))
        })
        .collect();
    assert_eq!(
        estimates,
        [
            None,
            Some((4, Some(1), 5)),
            Some((4, Some(1), 5)),
            Some((4, None, 4)),
            None,
            None
        ]
    );
    let usage = run.ledger().total();
    assert_eq!(
        (
            usage.estimated,
            usage.total.known,
            usage.total.unreported_calls
        ),
        (14, 12, 4)
    );
    assert_eq!(
        usage.requests, 5,
        "without a connection there is no request"
    );
    assert_eq!(
        usage.input.known, 15,
        "what was reported counts, also where the total is unknown"
    );
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_was_dropped_is_estimated_by_its_prompt() {
    let run = Run::new(ScriptedModel::new().reply(Reply::never()));
    let node = say("four");
    assert!(
        tokio::time::timeout(Duration::from_secs(1), run.call(&node))
            .await
            .is_err()
    );
    assert_eq!(run.ledger().total().estimated, 1);
}

#[tokio::test]
async fn a_node_of_which_nothing_is_known_is_not_zero() {
    let run = Run::new(
        ScriptedModel::new()
            .reply(Reply::text("hi").usage(None))
            .reply("hi"),
    );
    run.call(&say("x")).await.unwrap();
    assert!(run.ledger().tokens_used().is_empty());
    run.call(&say("x")).await.unwrap();
    assert_eq!(run.ledger().tokens_used()["say"], 11);
}

#[tokio::test]
async fn a_call_of_very_many_attempts_keeps_the_newest_answers() {
    let model = (0..50).fold(ScriptedModel::new(), |model, n| {
        model.reply(format!("no JSON, try {n}").as_str())
    });
    let run = Run::new(model).with_state(world());
    let error = run.call(&GOAL).retries(49).await.unwrap_err();
    let kept = error
        .attempts()
        .iter()
        .filter(|attempt| attempt.answer.is_some())
        .count();
    assert_eq!((error.attempts().len(), kept), (50, 8));
    assert!(error.attempts()[0].violations.is_empty() && !error.attempts()[0].message.is_empty());
    assert_eq!(error.last_answer(), Some("no JSON, try 49"));
}

#[tokio::test]
async fn cost_stands_in_records_and_sums_wherever_a_price_is_known() {
    let reply = |model: &str| {
        let mut answer = Completion::new("hi");
        answer.usage = Some(TokenUsage::new(10, 1));
        answer.model = Some(model.to_owned());
        Reply::from(answer)
    };
    let dear = Price::per_million(1_000.0, 2_000.0);
    let prices = Prices::new().model("m", dear).model("alias", dear);
    let silent = Reply::text("hi").usage(None);
    let model = script([reply("m-2025-01-31"), reply("another"), silent]);
    let run = Run::new(model).with_prices(prices);
    let run = run.model("alias", script([reply("served by somebody")]));
    for (asked, cost) in [
        ("m", Some(0.012)),
        ("unpriced", None),
        ("m", None),
        ("alias", Some(0.012)),
    ] {
        let report = run.call(&say("")).model(asked).report().await.unwrap();
        assert_eq!(report.record.attempts[0].cost, cost, "{asked}");
        assert_eq!(report.record.usage().cost.total(), cost, "{asked}");
    }
    let total = run.ledger().total().cost;
    assert_eq!(
        (total.known(), total.unknown_calls, total.total()),
        (0.024, 2, None)
    );
    let json = run.ledger().to_json();
    assert_eq!(
        json["total"]["cost"],
        serde_json::json!({"known": 0.024, "unknown_calls": 2})
    );
    assert_eq!(json["calls"][0]["attempts"][0]["cost"], 0.012);
    assert_eq!(
        LedgerSnapshot::from_json(&json.to_string())
            .unwrap()
            .total
            .cost,
        total
    );
}

#[tokio::test(start_paused = true)]
async fn usage_that_was_told_before_a_drop_has_its_cost() {
    let model = FnModel::new(|_| Reply::never());
    let prices = Prices::new().model("m", Price::per_million(1_000.0, 1_000.0));
    let run = Run::new(model).with_prices(prices);
    let error = run
        .call(&say(""))
        .model("m")
        .deadline(Duration::from_secs(1))
        .await
        .unwrap_err();
    assert_eq!(error.attempts()[0].cost, None, "nobody told the usage");
    assert_eq!(run.ledger().total().cost.unknown_calls, 1);
}

/// Asks a second server, since there is no connection to the first.
struct Second(ScriptedModel);

impl ChatModel for Second {
    fn complete<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        sink.unsent();
        self.0.complete(request, sink)
    }
}

#[tokio::test]
async fn what_a_second_server_answers_is_a_request() {
    let model = ScriptedModel::new()
        .reply("one")
        .reply(Reply::text("two").usage(None))
        .reply(ModelError::new(Category::ServerError, "broken off"));
    let run = Run::new(Second(model)).with_limits(Limits::new().requests(3));
    for _ in 0..4 {
        run.call(&say("one two three four"))
            .transport_retries(0)
            .await
            .ok();
    }
    let error = run.call(&say("four")).await.unwrap_err();
    assert_eq!(error.category(), Category::LimitExceeded);
    let ledger = run.ledger();
    let usage = ledger.total();
    assert_eq!(
        (usage.requests, usage.total.known > 0, usage.estimated > 0),
        (3, true, true)
    );
    assert!(
        ledger
            .calls()
            .iter()
            .flat_map(|call| &call.attempts)
            .all(|attempt| !attempt.unsent)
    );
}
