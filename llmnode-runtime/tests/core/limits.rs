//! Limits on a call, a node and a run.

use std::time::Duration;

use crate::support::{BAD, Choice, Choose, GOAL, GOOD, Mood, Say, World, busy, run, say, script, world};
use llmnode_runtime::prompt::{Prompt, Segment};
use llmnode_runtime::{
    Attributes, Category, Completion, Cx, Exec, Failures, FnModel, Limits, LlmNode, ModelError, Node,
    NodeError, OutputSpec, Price, Prices, Reply, Run, ScriptedModel, Settings, Step, TestClock, TokenUsage,
};

const SECOND: Duration = Duration::from_secs(1);

/// An answer of 10 + 1 tokens, by a model of this name.
fn hi(model: Option<&str>) -> Completion {
    let mut answer = Completion::new("hi");
    answer.usage = Some(TokenUsage { input: Some(10), output: Some(1), ..TokenUsage::default() });
    answer.model = model.map(str::to_owned);
    answer
}

/// An answer whose provider reports no usage.
fn unreported(text: &str) -> Reply {
    Reply::text(text).usage(None)
}

/// A run on a model that always says "hi", at a thousandth for each token.
fn greeter() -> (FnModel, Run) {
    let model = FnModel::new(|_| hi(Some("m-2025-01-31")));
    let prices = Prices::new().model("m", Price::per_million(1_000.0, 1_000.0));
    (model.clone(), Run::new(model).with_clock(TestClock::new()).with_prices(prices))
}

/// What kept a call from an answer, without its attempts.
fn why(outcome: Result<impl Sized, NodeError>) -> (Category, String) {
    let error = outcome.err().unwrap();
    (error.category(), error.message().to_owned())
}

fn exceeded(message: &str) -> (Category, String) {
    (Category::LimitExceeded, message.to_owned())
}

/// Two requests for all its calls in a run.
struct Twice;

impl Node for Twice {
    type Output = String;
    const NAME: &'static str = "twice";
    const ATTRIBUTES: Attributes = Attributes::new().limits(Limits::new().requests(2));
}

impl<S: ?Sized + Sync> Exec<S> for Twice {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<String, NodeError> {
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
    let message = "the limit of 3 requests for the run is reached: 3 spent, 0 in flight; it is set by `Run::with_limits`";
    let error = run.call(&say("c")).await.unwrap_err();
    assert_eq!(error.to_string(), format!("say: limit_exceeded: {message}"));
    assert_eq!((error.attempts().len(), model.requests().len()), (0, 3), "no request was begun");
    assert_eq!(run.ledger().total().requests, 3);
    assert!(run.with_limits(Limits::new().requests(1)).call(&say("d")).await.is_ok(), "set anew");
}

#[tokio::test]
async fn all_calls_of_a_node_spend_together_and_the_runs_word_beats_the_attributes() {
    let (model, run) = greeter();
    run.call(&Twice).await.unwrap();
    run.call(&say("a")).await.unwrap();
    run.call(&&Twice).await.unwrap();
    let message = "the limit of 2 requests for all calls of `twice` is reached: 2 spent, 0 in flight; \
                   it is set by `limits(..)` of the node or `Run::with_node_limits`";
    assert_eq!(why(run.call(&Twice).await), exceeded(message));
    assert!(run.call(&say("b")).await.is_ok());
    assert_eq!(model.requests().len(), 4);

    let (_, run) = greeter();
    let run = run.with_node_limits::<Twice>(Limits::new().requests(1));
    run.call(&Twice).await.unwrap();
    assert!(why(run.call(&Twice).await).1.starts_with("the limit of 1 requests for all calls of `twice`"));
}

#[tokio::test]
async fn each_call_spends_by_itself_and_its_word_beats_the_runs_settings() {
    let model = FnModel::new(|_| BAD);
    let settings = Settings::new().retries(9).limits(Limits::new().requests(2).tokens(1_000));
    let run = Run::new(model.clone()).with_state(world()).with_settings(settings);
    for asked in [2, 4] {
        let error = run.call(&GOAL).await.unwrap_err();
        assert_eq!((error.category(), error.attempts().len()), (Category::LimitExceeded, 2));
        assert_eq!(model.requests().len(), asked);
    }
    let message = why(run.call(&GOAL).limits(Limits::new().requests(3)).await).1;
    assert!(message.starts_with("the limit of 3 requests for the call of `choose` is reached: 3 spent"));
    let message = why(run.call(&GOAL).limits(Limits::new().requests(99).tokens(30)).await).1;
    assert!(message.starts_with("the limit of 30 tokens for the call of `choose` is reached: 42 spent"));
    let nodes = [GOAL, GOAL];
    let results = run.map(&nodes).settings(Settings::new().limits(Limits::new().requests(1))).await;
    assert!(results.into_iter().all(|result| result.unwrap_err().attempts().len() == 1));
}

#[tokio::test]
async fn the_answer_that_crosses_is_returned_and_the_next_request_is_not_begun() {
    for limits in [Limits::new().tokens(12), Limits::new().money(0.012)] {
        let (model, run) = greeter();
        let run = run.with_settings(Settings::new().model("m")).with_limits(limits);
        run.call(&say("")).max_tokens(1).await.unwrap();
        assert_eq!(run.call(&say("")).max_tokens(1).await.unwrap(), "hi", "11 of 12 were spent");
        let (category, message) = why(run.call(&say("")).await);
        assert_eq!(category, Category::LimitExceeded);
        assert!(message.contains("22 spent") || message.contains("0.022 spent"), "{message}");
        assert_eq!(model.requests().len(), 2);
    }
}

#[tokio::test]
async fn tokens_and_money_are_limited_by_call_and_node_too() {
    let (model, run) = greeter();
    let run = run.with_settings(Settings::new().model("m"));
    for (limits, figure) in
        [(Limits::new().tokens(11), "11 tokens"), (Limits::new().money(0.011), "0.011 (money)")]
    {
        let run = run.clone().with_node_limits::<Say>(limits);
        run.call(&say("")).await.unwrap();
        let message = why(run.call(&say("")).await).1;
        assert!(message.starts_with(&format!("the limit of {figure} for all calls of `say` is reached")));

        let run = Run::new(FnModel::new(|_| BAD))
            .with_state(world())
            .with_prices(Prices::new().model("m", Price::per_million(1_000.0, 0.0)));
        let error = run.call(&GOAL).model("m").limits(limits).await.unwrap_err();
        assert!(error.message().starts_with(&format!("the limit of {figure} for the call of `choose`")));
        assert_eq!(error.attempts().len(), if figure.starts_with('0') { 2 } else { 1 });
    }
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn requests_are_exact_however_many_calls_run_side_by_side() {
    let model = FnModel::new(|_| Reply::from(hi(None)).after(SECOND));
    let run = Run::new(model.clone()).with_limits(Limits::new().requests(10));
    let results = run.map((0..50).map(|i| say(&i.to_string()))).concurrency(16).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 10);
    assert_eq!(model.requests().len(), 10);
    let refused = results.into_iter().filter_map(Result::err).next().unwrap();
    assert!(refused.message().contains("reached: 0 spent, 10 in flight"), "{}", refused.message());
}

#[tokio::test(start_paused = true)]
async fn calls_side_by_side_reserve_tokens() {
    let model = FnModel::new(|_| Reply::from(hi(None)).after(SECOND));
    let run = Run::new(model.clone()).with_limits(Limits::new().tokens(600));
    let nodes: Vec<_> = (0..9).map(|_| say(&"x".repeat(40))).collect();
    let results = run.map(&nodes).settings(Settings::new().max_tokens(190)).concurrency(9).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 3);
    let refused = results.into_iter().filter_map(Result::err).next().unwrap();
    assert!(refused.message().contains("0 spent, about 600 reserved by 3 requests in flight"));
    // What they reserved and did not spend is there again.
    assert_eq!(run.map(&nodes[..2]).await.into_iter().filter(Result::is_ok).count(), 2);
}

#[tokio::test]
async fn an_answer_without_usage_makes_the_next_request_unenforceable() {
    for limits in [Limits::new().tokens(1_000), Limits::new().money(1.0)] {
        let model = script([unreported("hi"), unreported(BAD)]);
        let prices = Prices::new().model("m", Price::per_million(1.0, 1.0));
        let run = run(&model).with_settings(Settings::new().model("m")).with_prices(prices);
        let limited = run.with_state(()).with_limits(limits);
        assert_eq!(limited.call(&say("")).await.unwrap(), "hi", "it is paid for");
        let (category, message) = why(limited.call(&say("")).await);
        assert_eq!(category, Category::LimitUnenforceable);
        let advice = "cannot be enforced: an answer came without its usage; have the server report it, or \
                      limit requests or time instead";
        assert!(message.ends_with(advice), "{message}");

        // A correction is a request, too.
        let error = run.call(&GOAL).limits(limits).await.unwrap_err();
        assert_eq!((error.category(), error.attempts().len()), (Category::LimitUnenforceable, 1));
        assert_eq!(model.requests().len(), 2);
    }
    let run =
        Run::new(FnModel::new(|_| unreported("hi"))).with_limits(Limits::new().requests(2).time(SECOND));
    assert!(run.call(&say("")).await.is_ok() && run.call(&say("")).await.is_ok());
}

#[tokio::test]
async fn a_model_without_a_price_is_named_before_its_first_request() {
    let (model, run) = greeter();
    let run = run.with_limits(Limits::new().money(1.0));
    let (category, message) = why(run.call(&say("")).model("dear").await);
    assert_eq!(category, Category::LimitUnenforceable);
    let said = r#"the limit of 1 (money) for the run cannot be enforced: the model "dear" has no price; add it to the table of `Run::with_prices`"#;
    assert_eq!((message.as_str(), model.requests().len()), (said, 0));

    // The name that it was registered by will do, and so will the one that the provider reports.
    run.call(&say("")).await.unwrap();
    let run = run.model("m", FnModel::new(|_| hi(Some("whatever"))));
    run.call(&say("")).model("m").await.unwrap();
    let run = run.model("other", FnModel::new(|_| hi(None)));
    assert!(why(run.call(&say("")).model("other").await).1.contains(r#"the model "other" has no price"#));

    let nameless = Run::new(FnModel::new(|_| hi(None))).with_limits(Limits::new().money(1.0));
    nameless.call(&say("")).await.unwrap();
    assert!(why(nameless.call(&say("")).await).1.contains("nobody named the model that answered"));
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
    assert_eq!(call().await.unwrap(), "hi", "220 tokens and 3 requests were spent");
    let message = "the limit of 4 requests for the run is reached: 4 spent, 0 in flight";
    assert!(why(call().await).1.starts_with(message));
    assert_eq!(run.ledger().total().total.known, 11, "the ledger has what is known");
}

#[tokio::test]
async fn a_panic_of_the_model_gives_nothing_back_twice() {
    let run = Run::new(FnModel::new(|_| -> Reply { panic!("a bug") })).with_limits(Limits::new().requests(2));
    assert_eq!(why(run.call(&say("")).await).0, Category::Panic);
    assert_eq!(why(run.call(&say("")).await).0, Category::Panic);
    assert!(why(run.call(&say("")).await).1.contains("2 spent, 0 in flight"));
}

/// Asks through another node, twice.
struct Outer;

impl Node for Outer {
    type Output = String;
    const NAME: &'static str = "outer";
}

impl<S: ?Sized + Sync> Exec<S> for Outer {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<String, NodeError> {
        cx.call(&say("a")).await?;
        cx.call(&say("b")).await
    }
}

#[tokio::test]
async fn a_call_within_a_call_counts_for_all_around_it() {
    let (model, run) = greeter();
    assert!(run.call(&Outer).limits(Limits::new().requests(2)).await.is_ok());
    let error = run.call(&Outer).limits(Limits::new().requests(1)).await.unwrap_err();
    let message = "say: limit_exceeded: the limit of 1 requests for the call of `outer` is reached: \
                   1 spent, 0 in flight; it is set by `Call::limits` or `Settings::limits`";
    assert_eq!(error.to_string(), message);

    let of_node = run.clone().with_node_limits::<Outer>(Limits::new().requests(3));
    assert!(of_node.call(&Outer).await.is_ok());
    assert!(why(of_node.call(&Outer).await).1.contains("3 requests for all calls of `outer`"));
    assert!(of_node.call(&say("c")).await.is_ok());

    let of_run = run.with_limits(Limits::new().requests(3));
    assert!(of_run.call(&Outer).await.is_ok());
    assert!(why(of_run.call(&Outer).await).1.contains("3 requests for the run"));
    assert_eq!(model.requests().len(), 2 + 1 + 3 + 1 + 3);
}

#[tokio::test]
async fn a_fallback_model_has_no_budget_of_its_own_and_a_limit_does_not_fall_back() {
    let model = script([Reply::from(busy()), Reply::from(busy()), Reply::text("hi")]);
    let settings = Settings::new().recover(Failures::Transport, [Step::retry(1), Step::model("other")]);
    let run = run(&model).with_settings(settings);
    let error = run.call(&say("")).limits(Limits::new().requests(2)).await.unwrap_err();
    assert_eq!((error.category(), error.attempts().len()), (Category::LimitExceeded, 2));
    assert!(error.to_string().contains("1. server_error: HTTP 503"), "{error}");
    assert_eq!(model.requests().len(), 2);
}

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
async fn the_time_of_run_and_node_runs_from_their_first_request() {
    use llmnode_runtime::Clock;
    let limits = Limits::new().time(5 * SECOND);
    let clock = TestClock::new();
    let of_run = |limits| Run::new(FnModel::new(|_| "hi")).with_clock(clock.clone()).with_limits(limits);
    let of_node = of_run(Limits::new()).with_node_limits::<Say>(limits);
    for (run, scope) in [(of_run(limits), "the run"), (of_node, "all calls of `say`")] {
        clock.sleep(60 * SECOND).await;
        run.call(&say("")).await.unwrap();
        clock.sleep(4 * SECOND).await;
        run.call(&say("")).await.unwrap();
        clock.sleep(SECOND).await;
        let (category, message) = why(run.call(&say("")).await);
        assert_eq!(category, Category::LimitExceeded);
        assert!(message.starts_with(&format!("the time limit of 5s for {scope} is reached; it is set by")));
    }
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

#[tokio::test]
async fn absurd_limits_and_prices_are_config_errors_before_any_request() {
    let (model, run) = greeter();
    let none = Limits::new();
    for absurd in
        [none.requests(0), none.tokens(0), none.money(f64::NAN), none.money(-1.0), none.time(Duration::ZERO)]
    {
        for outcome in [
            run.call(&say("")).limits(absurd).await,
            run.clone().with_limits(absurd).call(&say("")).await,
            run.clone().with_node_limits::<Say>(absurd).call(&say("")).await,
            run.clone().with_settings(Settings::new().limits(absurd)).call(&say("")).await,
        ] {
            assert_eq!(why(outcome).0, Category::ConfigError, "{absurd:?}");
        }
    }
    let absurd = run.clone().with_prices(Prices::new().model("m", Price::per_million(f64::NAN, 0.0)));
    assert!(absurd.call(&say("")).await.is_ok(), "no limit of money");
    let (category, message) = why(absurd.call(&say("")).limits(none.money(1.0)).await);
    assert_eq!(category, Category::ConfigError);
    assert!(message.starts_with(r#"in the table of prices, "m" has"#), "{message}");
    let most = none.requests(u64::MAX).tokens(u64::MAX).money(f64::MAX).time(Duration::MAX);
    assert!(run.with_limits(most).call(&say("")).await.is_ok());
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn limits_that_are_not_reached_change_nothing() {
    let (model, limits) = (script([BAD, GOOD]), Limits::new().requests(2).tokens(1_000).time(SECOND));
    let choice: Choice = run(&model).call(&Choose { goal: "leave" }).limits(limits).await.unwrap();
    assert_eq!(choice.item, "key");
}
