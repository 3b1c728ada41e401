//! What calls may spend: requests, tokens, money; together and by themselves.

use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::support::{BAD, Choice, Choose, GOAL, GOOD, Say, busy, run, say, script, world};
use llmnode_runtime::private::{LlmNode, OutputSpec, Prompt, Segment};
use llmnode_runtime::{BoxError, Cx, Exec, Failures, Node, NodeFacts, Recovery, Settings};

/// Two requests for all its calls in a run.
struct Twice;

impl Node for Twice {
    type Output = String;
    const NAME: &'static str = "twice";
    const FACTS: NodeFacts = NodeFacts::new()
        .limits(Limits::new().requests(2))
        .retries_itself(true);
}

impl<S: ?Sized + Sync> Exec<S> for Twice {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<String, BoxError> {
        llmnode_runtime::private::exec(self, cx).await
    }
}

impl<S: ?Sized + Sync> LlmNode<S> for Twice {
    fn render(&self, _: &S, to: &mut Prompt) {
        to.user(&[Segment::text("again")]);
    }

    fn output(&self) -> OutputSpec<String, S> {
        OutputSpec::text()
    }
}

#[tokio::test]
async fn all_calls_of_a_run_its_clones_and_its_siblings_spend_together() {
    let (model, run) = greeter();
    let run = run.with_limits(Limits::new().requests(3));
    run.call(&say("a")).await.unwrap();
    run.clone().call(&say("b")).await.unwrap();
    run.with_state("another state").call(&Twice).await.unwrap();
    let message =
        "the limit of 3 requests for the run is reached: 3 spent; it is set by `Run::with_limits`";
    let error = run.call(&say("c")).await.unwrap_err();
    assert_eq!(error.to_string(), format!("say: limit_exceeded: {message}"));
    assert_eq!(
        (error.attempts().len(), model.requests().len()),
        (0, 3),
        "no request was begun"
    );
    assert_eq!(run.ledger().total().requests, 3);
    assert!(
        run.with_limits(Limits::new().requests(1))
            .call(&say("d"))
            .await
            .is_ok(),
        "set anew"
    );
}

#[tokio::test]
async fn all_calls_of_a_node_spend_together_and_the_runs_word_beats_the_attributes() {
    let (model, run) = greeter();
    run.call(&Twice).await.unwrap();
    run.call(&say("a")).await.unwrap();
    run.call(&&Twice).await.unwrap();
    let message = "the limit of 2 requests for all calls of `twice` is reached: 2 spent; \
                   it is set by `limits(..)` of the node or `Run::with_node_limits`";
    assert_eq!(why(run.call(&Twice).await), exceeded(message));
    assert!(run.call(&say("b")).await.is_ok());
    assert_eq!(model.requests().len(), 4);

    let (_, run) = greeter();
    let run = run.with_node_limits::<Twice>(Limits::new().requests(1));
    run.call(&Twice).await.unwrap();
    assert!(
        why(run.call(&Twice).await)
            .1
            .starts_with("the limit of 1 request for all calls of `twice`")
    );
}

#[tokio::test]
async fn each_call_spends_by_itself_and_its_word_beats_the_runs_settings() {
    let model = FnModel::new(|_| BAD);
    let settings = Settings::new()
        .retries(9)
        .limits(Limits::new().requests(2).tokens(1_000));
    let run = Run::new(model.clone())
        .with_state(world())
        .with_settings(settings);
    for asked in [2, 4] {
        let error = run.call(&GOAL).await.unwrap_err();
        assert_eq!(
            (error.category(), error.attempts().len()),
            (Category::LimitExceeded, 2)
        );
        assert_eq!(model.requests().len(), asked);
    }
    let message = why(run.call(&GOAL).limits(Limits::new().requests(3)).await).1;
    assert!(
        message.starts_with("the limit of 3 requests for the call of `choose` is reached: 3 spent")
    );
    let message = why(run
        .call(&GOAL)
        .limits(Limits::new().requests(99).tokens(30))
        .await)
    .1;
    assert!(
        message.starts_with("the limit of 30 tokens for the call of `choose` is reached: 42 spent")
    );
    let nodes = [GOAL, GOAL];
    let results = run
        .map(&nodes)
        .settings(Settings::new().limits(Limits::new().requests(1)))
        .await;
    assert!(
        results
            .into_iter()
            .all(|result| result.unwrap_err().attempts().len() == 1)
    );
}

#[tokio::test]
async fn the_answer_that_crosses_is_returned_and_the_next_request_is_not_begun() {
    for limits in [Limits::new().tokens(12), Limits::new().money(0.012)] {
        let (model, run) = greeter();
        let run = run
            .with_settings(Settings::new().model("m"))
            .with_limits(limits);
        run.call(&say("")).max_tokens(1).await.unwrap();
        assert_eq!(
            run.call(&say("")).max_tokens(1).await.unwrap(),
            "hi",
            "11 of 12 were spent"
        );
        let (category, message) = why(run.call(&say("")).await);
        assert_eq!(category, Category::LimitExceeded);
        assert!(
            message.contains("22 spent") || message.contains("0.022 spent"),
            "{message}"
        );
        assert_eq!(model.requests().len(), 2);
    }
}

#[tokio::test]
async fn tokens_and_money_are_limited_by_call_and_node_too() {
    let (model, run) = greeter();
    let run = run.with_settings(Settings::new().model("m"));
    for (limits, figure) in [
        (Limits::new().tokens(11), "11 tokens"),
        (Limits::new().money(0.011), "0.011 in money"),
    ] {
        let run = run.clone().with_node_limits::<Say>(limits);
        run.call(&say("")).await.unwrap();
        let message = why(run.call(&say("")).await).1;
        assert!(message.starts_with(&format!(
            "the limit of {figure} for all calls of `say` is reached"
        )));

        let run = Run::new(FnModel::new(|_| BAD))
            .with_state(world())
            .with_prices(Prices::new().model("m", Price::per_million(1_000.0, 0.0)));
        let error = run.call(&GOAL).model("m").limits(limits).await.unwrap_err();
        assert!(
            error
                .message()
                .starts_with(&format!("the limit of {figure} for the call of `choose`"))
        );
        assert_eq!(
            error.attempts().len(),
            if figure.starts_with('0') { 2 } else { 1 }
        );
    }
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn requests_are_exact_however_many_calls_run_side_by_side() {
    let model = FnModel::new(|_| Reply::from(hi(None)).after(SECOND));
    let run = Run::new(model.clone()).with_limits(Limits::new().requests(10));
    let results = run
        .map((0..50).map(|i| say(&i.to_string())))
        .concurrency(16)
        .await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 10);
    assert_eq!(model.requests().len(), 10);
    let refused = results.into_iter().filter_map(Result::err).next().unwrap();
    assert!(
        refused.message().contains("reached: 10 spent"),
        "{}",
        refused.message()
    );
}

/// The first one goes alone, and then three fit at a time; what they reserved and did not spend lets the next ones in.
#[tokio::test(start_paused = true)]
async fn calls_side_by_side_reserve_tokens_and_wait_for_room() {
    let model = FnModel::new(|_| Reply::from(hi(None)).after(SECOND));
    let run = Run::new(model.clone()).with_limits(Limits::new().tokens(600));
    let nodes: Vec<_> = (0..9).map(|_| say(&"x".repeat(40))).collect();
    let begin = tokio::time::Instant::now();
    let results = run.map(&nodes).max_tokens(190).concurrency(9).await;
    assert!(results.iter().all(Result::is_ok));
    assert_eq!(
        (begin.elapsed().as_secs(), run.ledger().total().total.known),
        (4, 99)
    );
}

/// 64 calls side by side, of which each costs 0.011 to 0.092, under a limit of 1.0.
#[tokio::test(start_paused = true)]
async fn money_is_spent_up_to_the_limit_and_exceeded_by_one_call_at_most() {
    let cost = |index: u64| 11 + index % 10 * 9;
    let asked = AtomicU64::new(0);
    let model = FnModel::new(move |_| {
        let index = asked.fetch_add(1, Ordering::Relaxed);
        let usage = TokenUsage::new(1, cost(index) - 1);
        Reply::text("hi")
            .usage(usage)
            .after(SECOND * (index % 7) as u32)
    });
    let prices = Prices::new().model("m", Price::per_million(1_000.0, 1_000.0));
    let run = Run::new(model)
        .with_prices(prices)
        .with_limits(Limits::new().money(1.0));
    let settings = Settings::new().model("m").max_tokens(91);
    let results = run
        .map((0..200).map(|_| say("")))
        .settings(settings)
        .concurrency(64)
        .await;
    let answered = results.iter().filter(|result| result.is_ok()).count() as u64;
    let spent: u64 = (0..answered).map(cost).sum();
    assert!((1_000..1_092).contains(&spent), "{spent}");
    assert!(
        results
            .iter()
            .flat_map(|result| result.as_ref().err())
            .all(|error| error.category() == Category::LimitExceeded)
    );
}

/// The first two end at the same moment, and what the third one then reserves leaves no room for the fourth.
#[tokio::test(start_paused = true)]
async fn who_finds_no_room_in_its_turn_keeps_its_place() {
    let model = FnModel::new(|_| Reply::from(hi(None)).after(SECOND));
    let run = Run::new(model.clone()).with_limits(Limits::new().tokens(1_000));
    let prompts = [
        ("a", 2_400),
        ("b", 2_400),
        ("c", 6_000),
        ("d", 6_000),
        ("e", 6_000),
    ];
    let nodes: Vec<_> = prompts
        .iter()
        .map(|(name, length)| say(&name.repeat(*length)))
        .collect();
    let results = run.map(&nodes).max_tokens(1).concurrency(5).await;
    assert!(results.iter().all(Result::is_ok));
    let asked: Vec<_> = model
        .requests()
        .iter()
        .map(|request| request.messages[0].content[..1].to_owned())
        .collect();
    assert_eq!(asked, ["a", "b", "c", "d", "e"], "in order of arrival");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_room_can_be_dropped_and_leaves_no_attempt() {
    let model = FnModel::new(|_| Reply::from(hi(None)).after(5 * SECOND));
    let run = Run::new(model.clone()).with_limits(Limits::new().requests(1));
    let (first, second) = (say("a"), say("b"));
    let waits = async {
        tokio::task::yield_now().await;
        tokio::time::timeout(SECOND, run.call(&second)).await
    };
    let (first, second) = tokio::join!(run.call(&first), waits);
    assert!(first.is_ok() && second.is_err());
    assert_eq!(
        (run.ledger().total().requests, model.requests().len()),
        (1, 1)
    );
    let dropped = run
        .ledger()
        .calls()
        .into_iter()
        .find(|call| call.category.is_some())
        .unwrap();
    assert_eq!(
        (dropped.category, dropped.attempts.len()),
        (Some(Category::Cancelled), 0)
    );
}

/// Asks through another node, twice.
struct Outer;

impl Node for Outer {
    type Output = String;
    const NAME: &'static str = "outer";
}

impl<S: ?Sized + Sync> Exec<S> for Outer {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<String, BoxError> {
        cx.call(&say("a")).await?;
        Ok(cx.call(&say("b")).await?)
    }
}

#[tokio::test]
async fn a_call_within_a_call_counts_for_all_around_it() {
    let (model, run) = greeter();
    assert!(
        run.call(&Outer)
            .limits(Limits::new().requests(2))
            .await
            .is_ok()
    );
    let error = run
        .call(&Outer)
        .limits(Limits::new().requests(1))
        .await
        .unwrap_err();
    let message = "say: limit_exceeded: the limit of 1 request for the call of `outer` is reached: \
                   1 spent; it is set by `Call::limits` or `Settings::limits`";
    assert_eq!(error.to_string(), message);

    let of_node = run
        .clone()
        .with_node_limits::<Outer>(Limits::new().requests(3));
    assert!(of_node.call(&Outer).await.is_ok());
    assert!(
        why(of_node.call(&Outer).await)
            .1
            .contains("3 requests for all calls of `outer`")
    );
    assert!(of_node.call(&say("c")).await.is_ok());

    let of_run = run.with_limits(Limits::new().requests(3));
    assert!(of_run.call(&Outer).await.is_ok());
    assert!(
        why(of_run.call(&Outer).await)
            .1
            .contains("3 requests for the run")
    );
    assert_eq!(model.requests().len(), 2 + 1 + 3 + 1 + 3);
}

#[tokio::test]
async fn a_fallback_model_has_no_budget_of_its_own_and_a_limit_does_not_fall_back() {
    let model = script([Reply::from(busy()), Reply::from(busy()), Reply::text("hi")]);
    let settings = Settings::new().recover(
        Failures::Transport,
        [Recovery::retry(1), Recovery::model("other")],
    );
    let run = run(&model).with_settings(settings);
    let error = run
        .call(&say(""))
        .limits(Limits::new().requests(2))
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), error.attempts().len()),
        (Category::LimitExceeded, 2)
    );
    assert!(
        error.to_string().contains("1. server_error: HTTP 503"),
        "{error}"
    );
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn limits_that_are_not_reached_change_nothing() {
    let (model, limits) = (script([BAD, GOOD]), Limits::new().requests(2).tokens(1_000));
    let choice: Choice = run(&model)
        .call(&Choose { goal: "leave" })
        .limits(limits)
        .await
        .unwrap();
    assert_eq!(choice.item, "key");
}
