//! Reservations, without the loop.

#![expect(clippy::result_large_err, reason = "what a model gives back")]

mod concurrency;

use std::time::Duration;

use super::{CallLimits, LimitedNode, Limits, Price, Prices, Reservation, RunLimits};
use crate::category::Category;
use crate::clock::{Clock, TestClock};
use crate::model::{Completion, ModelError};
use crate::usage::TokenUsage;

const PLAIN: LimitedNode = LimitedNode { path: "tests::Plain", name: "plain", limits: Limits::new() };

/// Three requests for all its calls together.
const THREE: LimitedNode =
    LimitedNode { path: "tests::Three", name: "three", limits: Limits::new().requests(3) };

const NAMES: [Option<&str>; 3] = [Some("m"), None, None];

fn of_run(limits: Limits) -> RunLimits {
    let mut run = RunLimits::default();
    run.set(limits);
    run.prices = std::sync::Arc::new(Prices::new().model("m", Price::per_million(1.0, 2.0)));
    run
}

fn answer(input: u64, output: u64) -> Result<Completion, ModelError> {
    let usage = TokenUsage { input: Some(input), output: Some(output), ..TokenUsage::default() };
    Ok(Completion { usage: Some(usage), ..Completion::new("yes") })
}

fn unreported() -> Result<Completion, ModelError> {
    Ok(Completion::new("yes"))
}

fn failed(category: Category) -> Result<Completion, ModelError> {
    Err(ModelError::new(category, "no"))
}

fn unsent() -> Result<Completion, ModelError> {
    Err(ModelError::unsent(Category::ApiKeyError, "no key"))
}

fn begin<'r>(run: &'r RunLimits, clock: &'r TestClock) -> CallLimits<'r> {
    CallLimits::begin(PLAIN.name.into(), PLAIN, Limits::new(), None, run, clock).unwrap()
}

fn refused(call: &CallLimits<'_>, names: [Option<&str>; 3]) -> (Category, String) {
    call.reserve(10, None, names).err().unwrap()
}

fn settled(call: &CallLimits<'_>, outcome: Result<Completion, ModelError>) {
    call.reserve(10, None, NAMES).unwrap().settle(&outcome);
}

#[test]
fn each_request_reserves_an_estimate_until_it_is_settled() {
    let clock = TestClock::new();
    let run = of_run(Limits::new().tokens(300));
    let call = begin(&run, &clock);
    let first = call.reserve(40, None, NAMES).unwrap();
    let mut second = call.reserve(10, Some(90), NAMES).unwrap();
    let spent = "the limit of 300 tokens for the run is reached: 0 spent, \
                 about 396 reserved by 2 requests in flight; it is set by `Run::with_limits`";
    assert_eq!(refused(&call, NAMES), (Category::LimitExceeded, spent.to_owned()));
    second.settle(&answer(12, 8));
    assert!(refused(&call, NAMES).1.contains("20 spent, about 296 reserved by 1 request"));
    drop(first);
    assert!(refused(&call, NAMES).1.contains("316 spent, about 0 reserved by 0"), "the estimate stands");
}

#[test]
fn money_is_reserved_and_an_estimate_of_it_stands_too() {
    let clock = TestClock::new();
    let run = of_run(Limits::new().money(0.000_3));
    let call = begin(&run, &clock);
    let first = call.reserve(100, Some(50), NAMES).unwrap();
    let second = call.reserve(100, Some(50), NAMES).unwrap();
    assert!(refused(&call, NAMES).1.contains("0 spent, about 0.0004 reserved by 2 requests in flight"));
    drop((first, second));
    assert!(refused(&call, NAMES).1.contains("0.0004 spent, about 0 reserved by 0 requests"));
}

#[test]
fn the_mean_answer_takes_the_place_of_the_first_estimate() {
    let clock = TestClock::new();
    let run = of_run(Limits::new().tokens(1_000));
    let call = begin(&run, &clock);
    settled(&call, answer(10, 20));
    settled(&call, answer(10, 40));
    let _open: Vec<_> = (0..23).map(|_| call.reserve(10, None, NAMES).unwrap()).collect();
    assert!(refused(&call, NAMES).1.contains("80 spent, about 920 reserved by 23"), "10 + 30 each");
}

#[test]
fn what_came_back_decides_what_was_spent() {
    let used = || {
        let usage = TokenUsage { total: Some(7), ..TokenUsage::default() };
        Err(ModelError { usage: Some(usage), ..ModelError::new(Category::BadResponse, "no") })
    };
    let outcomes: [(fn() -> _, _, _); 8] = [
        (|| answer(10, 20), 1, 30),
        (|| failed(Category::RateLimitError), 1, 0),
        (|| failed(Category::BadRequest), 1, 0),
        (|| failed(Category::Network), 1, 266),
        (|| failed(Category::Timeout), 1, 266),
        (|| failed(Category::BadResponse), 1, 266),
        (used, 1, 7),
        (unsent, 0, 0),
    ];
    for (outcome, requests, tokens) in outcomes {
        let clock = TestClock::new();
        let run = of_run(Limits::new().tokens(1_000));
        let call = begin(&run, &clock);
        settled(&call, outcome());
        let _open = call.reserve(1_000, Some(0), NAMES).unwrap();
        assert!(refused(&call, NAMES).1.contains(&format!("{tokens} spent")));

        let run = of_run(Limits::new().requests(1));
        let call = begin(&run, &clock);
        settled(&call, outcome());
        assert_eq!(call.reserve(1, None, NAMES).is_err(), requests == 1);
    }
}

#[test]
fn usage_told_before_the_end_counts() {
    let seen = TokenUsage { input: Some(90), output: Some(10), ..TokenUsage::default() };
    let end: [fn(Reservation<'_>); 3] = [
        |open| drop(open),
        |mut open| open.settle(&unreported()),
        |mut open| open.settle(&failed(Category::Network)),
    ];
    for end in end {
        let clock = TestClock::new();
        let run = of_run(Limits::new().tokens(100));
        let call = begin(&run, &clock);
        let mut open = call.reserve(10, None, NAMES).unwrap();
        open.see(TokenUsage { output: None, ..seen });
        open.see(seen);
        end(open);
        assert!(refused(&call, NAMES).1.contains("100 spent"));
    }
}

#[test]
fn a_part_of_the_usage_of_a_dropped_request_says_nothing() {
    let clock = TestClock::new();
    let run = of_run(Limits::new().tokens(200));
    let call = begin(&run, &clock);
    let mut open = call.reserve(10, Some(190), NAMES).unwrap();
    open.see(TokenUsage { input: Some(10), ..TokenUsage::default() });
    drop(open);
    let (category, message) = refused(&call, NAMES);
    assert_eq!(category, Category::LimitExceeded);
    assert!(message.contains("200 spent"), "{message}");
}

#[test]
fn an_answer_without_usage_makes_tokens_and_money_unenforceable() {
    let few = [Limits::new().tokens(1), Limits::new().money(0.000_001)];
    for limits in few.into_iter().chain([Limits::new().tokens(9_999), Limits::new().money(99.0)]) {
        let clock = TestClock::new();
        let run = of_run(limits);
        let call = begin(&run, &clock);
        settled(&call, unreported());
        let (category, message) = refused(&call, NAMES);
        assert_eq!(category, Category::LimitUnenforceable);
        assert!(message.contains("for the run cannot be enforced: an answer came without its usage;"));
    }
    let clock = TestClock::new();
    let run = of_run(Limits::new().requests(9).time(Duration::from_secs(1)));
    let call = begin(&run, &clock);
    settled(&call, unreported());
    settled(&call, unreported());
}

#[test]
fn a_model_without_a_price_makes_money_unenforceable() {
    let clock = TestClock::new();
    let run = of_run(Limits::new().money(1.0));
    let call = begin(&run, &clock);
    let (category, message) = refused(&call, [Some("dear"), None, None]);
    assert_eq!(category, Category::LimitUnenforceable);
    assert!(message.ends_with(r#"the model "dear" has no price; add it to the table of `Run::with_prices`"#));

    // An alias is priced by what it stands for, or by itself.
    assert!(call.reserve(1, None, [None, Some("small"), Some("m")]).is_ok());
    let reported =
        |model: &str| answer(1, 1).map(|answer| Completion { model: Some(model.into()), ..answer });
    settled(&call, reported("m-2025-01-31"));
    settled(&call, reported("served by somebody"));

    // Whose name nobody knows is begun once.
    call.reserve(1, None, [None; 3]).unwrap().settle(&reported("m"));
    call.reserve(1, None, [None; 3]).unwrap().settle(&answer(1, 1));
    assert!(refused(&call, NAMES).1.contains("nobody named the model"));
}

#[test]
fn money_is_exact() {
    let clock = TestClock::new();
    let run = of_run(Limits::new().money(0.3));
    let call = begin(&run, &clock);
    for _ in 0..3 {
        settled(&call, answer(100_000, 0));
    }
    assert!(
        refused(&call, NAMES).1.starts_with("the limit of 0.3 (money) for the run is reached: 0.3 spent")
    );
}

#[test]
fn time_runs_from_the_first_request_and_for_a_call_from_its_begin() {
    let clock = TestClock::new();
    let limits = Limits::new().time(Duration::from_secs(5));
    let run = of_run(limits);
    let pass = |seconds| pass(&clock, seconds);
    let call = begin(&run, &clock);
    pass(60);
    settled(&call, answer(1, 1));
    pass(4);
    let left = call.time_left().unwrap();
    assert_eq!(left.outlasted_by(Duration::from_millis(999)), None);
    assert!(left.outlasted_by(Duration::from_secs(1)).is_some(), "nothing would be left");
    let too_long = left.outlasted_by(Duration::from_secs(3)).unwrap();
    assert_eq!(too_long, "the wait of 3.0s would outlast the 1.0s left for the run");
    pass(1);
    assert!(refused(&call, NAMES).1.starts_with("the time limit of 5s for the run is reached"));

    let hour = Limits::new().time(Duration::from_secs(3600));
    for (own, runs) in [(limits, hour), (hour, limits)] {
        let run = of_run(runs);
        let call = CallLimits::begin(PLAIN.name.into(), PLAIN, own, None, &run, &clock).unwrap();
        let least = call.time_left().and_then(|left| left.outlasted_by(Duration::from_secs(9)));
        assert!(least.unwrap().contains("the 5.0s left"), "the limit that leaves the least counts");
    }

    let none = RunLimits::default();
    let call = CallLimits::begin(PLAIN.name.into(), PLAIN, limits, None, &none, &clock).unwrap();
    pass(5);
    assert!(refused(&call, NAMES).1.starts_with("the time limit of 5s for the call of `plain` is reached"));
}

fn pass(clock: &TestClock, seconds: u64) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(clock.sleep(Duration::from_secs(seconds)));
}

#[test]
fn a_call_counts_once_for_each_scope_around_it() {
    let clock = TestClock::new();
    let run = of_run(Limits::new().requests(4));
    let outer =
        CallLimits::begin(THREE.name.into(), THREE, Limits::new().requests(2), None, &run, &clock).unwrap();
    let inner =
        CallLimits::begin(THREE.name.into(), THREE, Limits::new().requests(9), Some(&outer), &run, &clock)
            .unwrap();
    settled(&inner, answer(1, 1));
    settled(&inner, answer(1, 1));
    assert!(refused(&inner, NAMES).1.contains("the limit of 2 requests for the call of `three`"));

    let next = CallLimits::begin(THREE.name.into(), THREE, Limits::new(), None, &run, &clock).unwrap();
    settled(&next, answer(1, 1));
    let message = refused(&next, NAMES).1;
    assert!(message.contains("3 requests for all calls of `three` is reached: 3 spent"), "{message}");
    settled(&begin(&run, &clock), answer(1, 1));
    assert!(refused(&begin(&run, &clock), NAMES).1.contains("4 requests for the run is reached: 4 spent"));
}

#[test]
fn the_runs_word_for_a_node_beats_the_attributes() {
    let clock = TestClock::new();
    let mut run = RunLimits::default();
    run.set_node(THREE, Limits::new().tokens(50));
    let call = CallLimits::begin(THREE.name.into(), THREE, Limits::new(), None, &run, &clock).unwrap();
    settled(&call, answer(1, 1));
    settled(&call, answer(1, 1));
    settled(&call, answer(1, 1));
    assert!(refused(&call, NAMES).1.contains("3 requests"), "what the run does not say stands");
    run.set_node(THREE, Limits::new().requests(1));
    let call = CallLimits::begin(THREE.name.into(), THREE, Limits::new(), None, &run, &clock).unwrap();
    settled(&call, answer(1, 1));
    assert!(refused(&call, NAMES).1.contains("1 request"), "set anew, it counts anew");
}

#[test]
fn absurd_limits_and_prices_are_config_errors() {
    let clock = TestClock::new();
    let fault = |run: &RunLimits, own| {
        CallLimits::begin(PLAIN.name.into(), PLAIN, own, None, run, &clock).err().map(|error| {
            assert_eq!(error.category(), Category::ConfigError);
            error.message().to_owned()
        })
    };
    let mut run = of_run(Limits::new().requests(0));
    let said = fault(&run, Limits::new()).unwrap();
    assert_eq!(said, "of the limits for the run, requests is 0; nothing could be asked");
    run.set(Limits::new().money(1.0));
    assert_eq!(fault(&run, Limits::new()), None);
    assert!(fault(&run, Limits::new().tokens(0)).unwrap().contains("the call of `plain`, tokens is 0"));
    run.prices = std::sync::Arc::new(Prices::new().model("m", Price::per_million(-1.0, 0.0)));
    assert!(fault(&run, Limits::new()).unwrap().starts_with("in the table of prices, \"m\""));
}
