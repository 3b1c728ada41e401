//! Reservations, without the loop.

mod concurrency;
mod first;

use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use llmnode_model::{Category, Completion, ModelError, TokenUsage};

use super::prompt::First;
use super::{
    AnswerTokens, CallLimits, Deadline, LimitedNode, Limits, PromptTokens, RequestTokens,
    Reservation, RunLimits,
};
use crate::clock::{Clock, TestClock};
use crate::prices::{Price, Prices};

const PLAIN: LimitedNode = LimitedNode {
    path: "tests::Plain",
    name: "plain",
    limits: &Limits::new(),
};

/// Three requests for all its calls together.
const THREE: LimitedNode = LimitedNode {
    path: "tests::Three",
    name: "three",
    limits: &Limits::new().requests(3),
};

const NAMES: [Option<&str>; 3] = [Some("m"), None, None];

fn of_run(limits: Limits) -> RunLimits {
    let mut run = RunLimits::default();
    run.set(limits);
    run.prices = std::sync::Arc::new(Prices::new().model("m", Price::per_million(1.0, 2.0)));
    // As after its first request.
    for model in ["m", "", "small", "dear"] {
        run.counted
            .lock()
            .unwrap()
            .entry(model.to_owned())
            .or_default()
            .first = First::Passed;
    }
    run
}

fn answer(input: u64, output: u64) -> Result<Completion, ModelError> {
    let usage = TokenUsage::new(input, output);
    let mut completion = Completion::new("yes");
    completion.usage = Some(usage);
    Ok(completion)
}

fn total(total: u64) -> Result<Completion, ModelError> {
    let mut usage = TokenUsage::default();
    usage.total = Some(total);
    let mut completion = Completion::new("yes");
    completion.usage = Some(usage);
    Ok(completion)
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
    CallLimits::begin(PLAIN.name, PLAIN, Limits::new(), None, run, clock).unwrap()
}

fn of_prompt(tokens: u64) -> RequestTokens {
    let prompt = PromptTokens {
        estimate: tokens,
        most: tokens,
        least: tokens,
        attachments: 0,
    };
    RequestTokens {
        prompt,
        answer: AnswerTokens::Unknown,
        thinking: 0,
        answers: 1,
    }
}

/// Reserves at once; `None`: only once others have settled.
fn at_once<'c>(
    call: &'c CallLimits<'_>,
    prompt: u64,
    max_tokens: Option<u32>,
    names: [Option<&'c str>; 3],
) -> Option<Result<Reservation<'c>, (Category, String)>> {
    let answer = max_tokens.map_or(AnswerTokens::Unknown, AnswerTokens::AtMost);
    let tokens = || RequestTokens {
        answer,
        ..of_prompt(prompt)
    };
    match pin!(call.reserve(tokens, names, || None)).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => Some(outcome),
        Poll::Pending => None,
    }
}

fn reserved<'c>(call: &'c CallLimits<'_>, prompt: u64, max_tokens: Option<u32>) -> Reservation<'c> {
    at_once(call, prompt, max_tokens, NAMES).unwrap().unwrap()
}

fn waits(call: &CallLimits<'_>) -> bool {
    at_once(call, 10, None, NAMES).is_none()
}

fn refused(call: &CallLimits<'_>, names: [Option<&str>; 3]) -> (Category, String) {
    at_once(call, 10, None, names).unwrap().err().unwrap()
}

fn settled(call: &CallLimits<'_>, outcome: Result<Completion, ModelError>) {
    reserved(call, 10, None).settle(&outcome);
}

#[test]
fn each_request_reserves_an_estimate_until_it_is_settled() {
    let clock = TestClock::new();
    let run = of_run(Limits::new().tokens(300));
    let call = begin(&run, &clock);
    let first = reserved(&call, 40, None);
    let mut second = reserved(&call, 10, Some(90));
    assert!(waits(&call), "396 are reserved");
    second.settle(&answer(12, 8));
    assert!(waits(&call), "20 are spent, and 296 reserved");
    drop(first);
    let spent = "the limit of 300 tokens for the run is reached: 316 spent; it is set by `Run::with_limits`";
    assert_eq!(
        refused(&call, NAMES),
        (Category::LimitExceeded, spent.to_owned()),
        "the estimate stands"
    );
}

#[test]
fn reservations_learn_what_a_model_counts() {
    let clock = TestClock::new();
    let run = of_run(Limits::new().tokens(1_000));
    let call = begin(&run, &clock);
    // A system prompt of the provider's own has 90 tokens.
    settled(&call, answer(100, 10));
    let open: Vec<_> = (0..8).map(|_| reserved(&call, 10, Some(20))).collect();
    assert!(
        waits(&call),
        "110 are spent, and each of these reserves 100 + 20"
    );
    drop(open);
    assert!(
        refused(&call, NAMES).1.contains("1070 spent"),
        "an estimate that stands is as large"
    );
}

#[test]
fn money_is_reserved_and_an_estimate_of_it_stands_too() {
    let clock = TestClock::new();
    let run = of_run(Limits::new().money(0.000_3));
    let call = begin(&run, &clock);
    let first = reserved(&call, 100, Some(50));
    let second = reserved(&call, 100, Some(50));
    assert!(waits(&call), "0.0004 is reserved");
    drop((first, second));
    assert!(refused(&call, NAMES).1.contains("0.0004 spent;"));
}

#[test]
fn money_is_reserved_as_if_the_whole_prompt_were_written_to_a_cache() {
    let clock = TestClock::new();
    let mut run = of_run(Limits::new().money(0.000_4));
    let price = Price::per_million(1.0, 2.0)
        .cached(0.1)
        .cache_write(1.25, 4.0);
    run.prices = std::sync::Arc::new(Prices::new().model("m", price));
    let call = begin(&run, &clock);
    let open = reserved(&call, 100, Some(50));
    assert!(waits(&call), "100 × 4 + 50 × 2 millionths are reserved");
    drop(open);
    assert!(!waits(&call), "an estimate is at the price of the prompt");
}

#[test]
fn the_mean_answer_takes_the_place_of_the_first_estimate() {
    let clock = TestClock::new();
    let run = of_run(Limits::new().tokens(1_000));
    let call = begin(&run, &clock);
    settled(&call, answer(10, 20));
    settled(&call, answer(10, 40));
    // 80 are spent, and each of these reserves 10 + 30.
    let mut open: Vec<_> = (0..22).map(|_| reserved(&call, 10, None)).collect();
    open.push(reserved(&call, 10, None));
    assert!(waits(&call));
}

#[test]
fn what_came_back_decides_what_was_spent() {
    let used = || {
        let mut usage = TokenUsage::default();
        usage.total = Some(7);
        let mut error = ModelError::new(Category::BadResponse, "no");
        error.usage = Some(Box::new(usage));
        Err(error)
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
        reserved(&call, 0, None).settle(&answer(1_000, 0));
        assert!(
            refused(&call, NAMES)
                .1
                .contains(&format!("{} spent", tokens + 1_000))
        );

        let run = of_run(Limits::new().requests(1));
        let call = begin(&run, &clock);
        settled(&call, outcome());
        assert_eq!(
            at_once(&call, 1, None, NAMES).unwrap().is_err(),
            requests == 1
        );
    }
}

#[test]
fn usage_told_before_the_end_counts() {
    let seen = TokenUsage::new(90, 10);
    let mut half = seen;
    half.output = None;
    let end: [fn(Reservation<'_>); 3] = [
        |open| drop(open),
        |mut open| open.settle(&unreported()),
        |mut open| open.settle(&failed(Category::Network)),
    ];
    for end in end {
        let clock = TestClock::new();
        let run = of_run(Limits::new().tokens(100));
        let call = begin(&run, &clock);
        let mut open = reserved(&call, 10, None);
        open.reports(half);
        open.reports(seen);
        end(open);
        assert!(refused(&call, NAMES).1.contains("100 spent"));
    }
}

#[test]
fn a_part_of_the_usage_of_a_dropped_request_says_nothing() {
    let clock = TestClock::new();
    let run = of_run(Limits::new().tokens(200));
    let call = begin(&run, &clock);
    let mut open = reserved(&call, 10, Some(190));
    let mut half = TokenUsage::default();
    half.input = Some(10);
    open.reports(half);
    drop(open);
    let (category, message) = refused(&call, NAMES);
    assert_eq!(category, Category::LimitExceeded);
    assert!(message.contains("200 spent"), "{message}");
}

#[test]
fn an_answer_without_usage_makes_tokens_and_money_unenforceable() {
    let few = [Limits::new().tokens(1), Limits::new().money(0.000_001)];
    for limits in few
        .into_iter()
        .chain([Limits::new().tokens(9_999), Limits::new().money(99.0)])
    {
        let clock = TestClock::new();
        let run = of_run(limits);
        let call = begin(&run, &clock);
        settled(&call, unreported());
        let (category, message) = refused(&call, NAMES);
        assert_eq!(category, Category::LimitUnenforceable);
        assert!(
            message.contains("for the run cannot be enforced: an answer came without its usage;")
        );
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
    assert!(
        message.ends_with(
            r#"the model "dear" has no price; add it to the table of `Run::with_prices`"#
        )
    );

    // An alias has the price of its model, or its own.
    assert!(
        at_once(&call, 1, None, [None, Some("small"), Some("m")])
            .unwrap()
            .is_ok()
    );
    let reported = |model: &str| {
        answer(1, 1).map(|mut answer| {
            answer.model = Some(model.into());
            answer
        })
    };
    settled(&call, reported("m-2025-01-31"));
    settled(&call, reported("served by somebody"));

    // Whose name nobody knows is begun once.
    for answered in [reported("m"), answer(1, 1)] {
        at_once(&call, 1, None, [None; 3])
            .unwrap()
            .unwrap()
            .settle(&answered);
    }
    assert!(
        refused(&call, NAMES)
            .1
            .contains("the model that answered has no name")
    );
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
        refused(&call, NAMES)
            .1
            .starts_with("the limit of 0.3 in money for the run is reached: 0.3 spent")
    );
}

#[test]
fn the_time_of_a_run_runs_from_its_first_request_and_that_of_a_call_from_its_begin() {
    let clock = TestClock::new();
    let seconds = Duration::from_secs;
    let run = of_run(Limits::new().time(seconds(5)));
    let pass = |seconds| pass(&clock, seconds);
    let call = begin(&run, &clock);
    pass(60);
    settled(&call, answer(1, 1));
    pass(4);
    let left = call.time_left(None).unwrap();
    assert_eq!(left.outlasted_by(Duration::from_millis(999)), None);
    assert!(
        left.outlasted_by(seconds(1)).is_some(),
        "nothing would be left"
    );
    let too_long = left.outlasted_by(seconds(3)).unwrap();
    assert_eq!(
        too_long,
        "the wait of 3.0s would outlast the 1.0s left for the run"
    );

    let least = |given| {
        let deadline = Deadline::new("plain".into(), clock.now(), seconds(given));
        call.time_left(deadline.as_ref())
            .and_then(|left| left.outlasted_by(seconds(9)))
            .unwrap()
    };
    assert!(
        least(3).contains("the 1.0s left for the run"),
        "what leaves the least counts"
    );
    pass(1);
    assert!(
        refused(&call, NAMES)
            .1
            .starts_with("the time limit of 5s for the run is reached")
    );
    let run = of_run(Limits::new());
    let call = begin(&run, &clock);
    let deadline = Deadline::new("plain".into(), clock.now(), seconds(3));
    let left = call
        .time_left(deadline.as_ref())
        .and_then(|left| left.outlasted_by(seconds(9)));
    assert!(
        left.unwrap()
            .contains("the 3.0s left for the call of `plain`")
    );
    assert!(call.time_left(None).is_none());
}

fn poll<F: Future + ?Sized>(waiting: &mut Pin<Box<F>>) -> Poll<F::Output> {
    waiting
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn requests_wait_in_order_of_arrival_and_fail_once_too_much_is_spent() {
    let clock = TestClock::new();
    let run = of_run(Limits::new().tokens(100));
    let call = begin(&run, &clock);
    let mut first = reserved(&call, 50, Some(50));
    let wait = |most| {
        let tokens = move || RequestTokens {
            answer: AnswerTokens::AtMost(most),
            ..of_prompt(10)
        };
        Box::pin(call.reserve(tokens, NAMES, || None))
    };
    let (mut second, mut third, mut fourth) = (wait(30), wait(30), wait(30));
    for one in [&mut second, &mut third, &mut fourth] {
        assert!(poll(one).is_pending());
    }
    first.settle(&answer(20, 10));
    assert!(waits(&call), "who comes now does not overtake");
    assert!(poll(&mut third).is_pending(), "it is not its turn");
    drop(second);
    let Poll::Ready(Ok(third)) = poll(&mut third) else {
        panic!("its turn came with the place of the second")
    };
    let Poll::Ready(Ok(mut fourth)) = poll(&mut fourth) else {
        panic!("40 of 70 are reserved")
    };
    let mut fifth = wait(30);
    assert!(poll(&mut fifth).is_pending());
    fourth.settle(&answer(60, 10));
    drop(third);
    let Poll::Ready(Err((category, message))) = poll(&mut fifth) else {
        panic!("140 are spent")
    };
    assert_eq!(category, Category::LimitExceeded);
    assert!(message.contains("140 spent"), "{message}");
}

fn pass(clock: &TestClock, seconds: u64) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(clock.sleep(Duration::from_secs(seconds)));
}

#[test]
fn a_call_counts_once_for_each_scope_around_it() {
    let clock = TestClock::new();
    let run = of_run(Limits::new().requests(4));
    let outer = CallLimits::begin(
        THREE.name,
        THREE,
        Limits::new().requests(2),
        None,
        &run,
        &clock,
    )
    .unwrap();
    let inner = CallLimits::begin(
        THREE.name,
        THREE,
        Limits::new().requests(9),
        Some(&outer),
        &run,
        &clock,
    )
    .unwrap();
    settled(&inner, answer(1, 1));
    settled(&inner, answer(1, 1));
    assert!(
        refused(&inner, NAMES)
            .1
            .contains("the limit of 2 requests for the call of `three`")
    );

    let next = CallLimits::begin(THREE.name, THREE, Limits::new(), None, &run, &clock).unwrap();
    settled(&next, answer(1, 1));
    let message = refused(&next, NAMES).1;
    assert!(
        message.contains("3 requests for all calls of `three` is reached: 3 spent"),
        "{message}"
    );
    settled(&begin(&run, &clock), answer(1, 1));
    assert!(
        refused(&begin(&run, &clock), NAMES)
            .1
            .contains("4 requests for the run is reached: 4 spent")
    );
}

#[test]
fn the_runs_word_for_a_node_beats_the_attributes() {
    let clock = TestClock::new();
    let mut run = RunLimits::default();
    run.set_node(THREE, Limits::new().tokens(50));
    let call = CallLimits::begin(THREE.name, THREE, Limits::new(), None, &run, &clock).unwrap();
    settled(&call, answer(1, 1));
    settled(&call, answer(1, 1));
    settled(&call, answer(1, 1));
    assert!(
        refused(&call, NAMES).1.contains("3 requests"),
        "what the run does not say stands"
    );
    run.set_node(THREE, Limits::new().requests(1));
    let call = CallLimits::begin(THREE.name, THREE, Limits::new(), None, &run, &clock).unwrap();
    settled(&call, answer(1, 1));
    assert!(
        refused(&call, NAMES).1.contains("1 request"),
        "set anew, it counts anew"
    );
}

#[test]
fn absurd_limits_and_prices_are_config_errors() {
    let clock = TestClock::new();
    let fault = |run: &RunLimits, own| {
        CallLimits::begin(PLAIN.name, PLAIN, own, None, run, &clock)
            .err()
            .map(|error| {
                assert_eq!(error.category(), Category::ConfigError);
                error.message().to_owned()
            })
    };
    let mut run = of_run(Limits::new().requests(0));
    let said = fault(&run, Limits::new()).unwrap();
    assert_eq!(
        said,
        "in the limits for the run, requests is 0, so no request could be made"
    );
    run.set(Limits::new().money(1.0).time(Duration::from_secs(1)));
    assert_eq!(fault(&run, Limits::new()), None);
    assert!(
        fault(&run, Limits::new().tokens(0))
            .unwrap()
            .contains("the call of `plain`, tokens is 0")
    );
    let said = fault(&run, Limits::new().time(Duration::from_secs(1))).unwrap();
    assert_eq!(
        said,
        "in the limits for the call of `plain`, time limits only a run; set `deadline` for a call instead"
    );
    run.prices = std::sync::Arc::new(Prices::new().model("m", Price::per_million(-1.0, 0.0)));
    assert!(
        fault(&run, Limits::new())
            .unwrap()
            .starts_with("in the table of prices, \"m\"")
    );
}

/// Each of the answers that a request asks for costs, though one is read.
#[test]
fn as_many_answers_are_reserved_as_a_request_asks_for() {
    let clock = TestClock::new();
    let run = of_run(Limits::new().tokens(900));
    let call = begin(&run, &clock);
    let reserve = || {
        let answer = AnswerTokens::AtMost(50);
        let tokens = || RequestTokens {
            answer,
            answers: 10,
            ..of_prompt(10)
        };
        match pin!(call.reserve(tokens, NAMES, || None))
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(reserved) => reserved.ok(),
            Poll::Pending => None,
        }
    };
    let mut first = reserve().unwrap();
    first.settle(&answer(10, 20));
    let mut second = reserve().unwrap();
    let third = reserve().unwrap();
    assert!(reserve().is_none(), "30 are spent, and 2 × 510 reserved");
    drop(third);
    let mut broken = ModelError::new(Category::Network, "broke off");
    broken.answered = Some(40);
    second.settle(&Err(broken));
    assert_eq!(
        refused(&call, NAMES).0,
        Category::LimitExceeded,
        "30, 10 + 500 and 10 + 10 × 40 are spent"
    );
}

/// A default that is much higher than answers are would let few requests run side by side.
#[test]
fn of_a_default_the_mean_answer_is_reserved() {
    let clock = TestClock::new();
    let run = of_run(Limits::new().tokens(20_000));
    let call = begin(&run, &clock);
    let reserve = || {
        let tokens = || RequestTokens {
            answer: AnswerTokens::BelowDefault(21_000),
            ..of_prompt(10)
        };
        let wanted = call.reserve(tokens, NAMES, || None);
        match pin!(wanted).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(reserved) => reserved.ok(),
            Poll::Pending => None,
        }
    };
    // 8,192 each, as long as nothing was answered: of 21,000 there would be one.
    let (mut first, mut second, mut third) =
        (reserve().unwrap(), reserve().unwrap(), reserve().unwrap());
    assert!(reserve().is_none());
    first.settle(&answer(10, 90));
    second.release();
    third.release();
    let many: Vec<_> = (0..50).map(|_| reserve().unwrap()).collect();
    assert_eq!(many.len(), 50);
}
