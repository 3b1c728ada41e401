//! Random schedules of answers, faults, overrides and drops: what holds for all of them.

use std::time::Duration;

use proptest::prelude::*;

use crate::support::{BAD, Choose, GOAL, GOOD, Mood, World, world};
use llmnode_runtime::{
    AttemptKind, CallRecord, Category, FinishReason, ModelError, Reply, Request, Retry, Run,
    ScriptedModel, Settings, TokenUsage,
};

/// What the model does at one request.
#[derive(Clone, Copy, Debug)]
enum Act {
    Good,
    GoodButCut,
    Bad,
    BadAndCut,
    NoJson,
    Empty,
    Refused,
    Filtered,
    BadKey,
    /// The server is busy, and may ask for a wait of so many seconds.
    Busy(Option<u64>),
    /// A failure of the transport that forbids another try.
    BusyForGood,
    NoChoice,
    Adapted,
    Never,
}

/// What should follow an act.
enum Then {
    Accept,
    Feedback(Category),
    Transport(Category, Option<u64>),
    Adapt,
    Stop(Category),
    Hang,
}

impl Act {
    fn then(self) -> Then {
        match self {
            Act::Good | Act::GoodButCut => Then::Accept,
            Act::Bad => Then::Feedback(Category::ValidationError),
            Act::NoJson => Then::Feedback(Category::SchemaError),
            Act::Empty => Then::Feedback(Category::EmptyResponse),
            Act::Busy(wait) => Then::Transport(Category::RateLimitError, wait),
            Act::NoChoice => Then::Transport(Category::EmptyResponse, None),
            Act::Adapted => Then::Adapt,
            Act::BadAndCut => Then::Stop(Category::TruncatedOutput),
            Act::Refused => Then::Stop(Category::Refusal),
            Act::Filtered => Then::Stop(Category::ContentFilter),
            Act::BadKey => Then::Stop(Category::ApiKeyError),
            Act::BusyForGood => Then::Stop(Category::ServerError),
            Act::Never => Then::Hang,
        }
    }

    fn reply(self, usage: Option<TokenUsage>) -> Reply {
        let text = |text| Reply::text(text).usage(usage);
        let error = |category| {
            let mut error = ModelError::new(category, "as scripted");
            error.usage = usage.map(Box::new);
            error
        };
        match self {
            Act::Good => text(GOOD),
            Act::GoodButCut => text(GOOD).finish(FinishReason::Length),
            Act::Bad => text(BAD),
            Act::BadAndCut => text(BAD).finish(FinishReason::Length),
            Act::NoJson => text("no JSON"),
            Act::Empty => text(" \n"),
            Act::Refused => text("").refusal("no"),
            Act::Filtered => text(GOOD).finish(FinishReason::ContentFilter),
            Act::BadKey => error(Category::ApiKeyError).into(),
            Act::Busy(Some(wait)) => error(Category::RateLimitError)
                .wait(Duration::from_secs(wait))
                .into(),
            Act::Busy(None) => error(Category::RateLimitError).into(),
            Act::BusyForGood => error(Category::ServerError).retry(Retry::No).into(),
            Act::NoChoice => error(Category::EmptyResponse)
                .retry(Retry::Transport)
                .into(),
            Act::Adapted => error(Category::BadRequest).retry(Retry::Adapted).into(),
            Act::Never => Reply::never(),
        }
    }
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => Just(Act::Bad),
        2 => Just(Act::NoJson),
        2 => Just(Act::Empty),
        4 => prop::option::of(0..70_u64).prop_map(Act::Busy),
        2 => Just(Act::NoChoice),
        2 => Just(Act::Adapted),
        1 => prop::sample::select(vec![
            Act::Good, Act::GoodButCut, Act::BadAndCut, Act::Refused, Act::Filtered, Act::BadKey,
            Act::BusyForGood, Act::Never,
        ]),
    ]
}

fn none_used() -> TokenUsage {
    let mut usage = TokenUsage::new(0, 0);
    [usage.cached, usage.cache_write, usage.reasoning] = [Some(0); 3];
    usage
}

fn usage() -> impl Strategy<Value = Option<TokenUsage>> {
    prop::option::of(
        (0..100_u64, 0..100_u64).prop_map(|(input, output)| TokenUsage::new(input, output)),
    )
}

/// One call: the script, the budgets, and when the call is dropped, in seconds.
#[derive(Clone, Debug)]
struct Case {
    script: Vec<(Act, Option<TokenUsage>, u64)>,
    retries: Option<u32>,
    transport_retries: Option<u32>,
    drop_after: u64,
}

fn case() -> impl Strategy<Value = Case> {
    let script = prop::collection::vec((act(), usage(), 0..4_u64), 30);
    let budget = || prop::option::of(0..5_u32);
    (
        script,
        budget(),
        budget(),
        prop_oneof![2 => Just(100_000_u64), 1 => 0..300_u64],
    )
        .prop_map(|(script, retries, transport_retries, drop_after)| Case {
            script,
            retries,
            transport_retries,
            drop_after,
        })
}

const MAX_WAIT: u64 = 60;

impl Case {
    fn budgets(&self) -> (u32, u32) {
        // The attributes of the node and the default of the crate.
        (
            self.retries.unwrap_or(2),
            self.transport_retries.unwrap_or(2),
        )
    }

    /// How many requests there should be, and how the call should end, if it is not dropped.
    fn expected(&self) -> (usize, Option<Category>) {
        let (mut retries, mut transport_retries) = self.budgets();
        let mut adaptions = 4_u32;
        for (sent, (act, ..)) in (1..).zip(&self.script) {
            let (left, category) = match act.then() {
                Then::Accept => return (sent, None),
                Then::Stop(category) => return (sent, Some(category)),
                Then::Hang => return (sent, Some(Category::Cancelled)),
                Then::Transport(category, Some(wait)) if wait > MAX_WAIT => {
                    return (sent, Some(category));
                }
                Then::Feedback(category) => (&mut retries, category),
                Then::Transport(category, _) => (&mut transport_retries, category),
                Then::Adapt => (&mut adaptions, Category::BadRequest),
            };
            if *left == 0 {
                return (sent, Some(category));
            }
            *left -= 1;
        }
        unreachable!("30 acts are more than all budgets")
    }

    async fn play(&self) -> (ScriptedModel, Run<World>) {
        let model = self
            .script
            .iter()
            .fold(ScriptedModel::new(), |model, (act, usage, delay)| {
                model.reply(act.reply(*usage).after(Duration::from_secs(*delay)))
            });
        let run = Run::new(model.clone()).with_state(World {
            mood: Mood::Slow,
            ..world()
        });
        let mut settings = Settings::new().max_wait(Duration::from_secs(MAX_WAIT));
        settings.retries = self.retries;
        settings.transport_retries = self.transport_retries;
        let call = run.call(&GOAL).settings(settings);
        let _ = tokio::time::timeout(Duration::from_secs(self.drop_after), call).await;
        (model, run)
    }

    /// What holds however the call ended.
    fn check(&self, record: &CallRecord, requests: &[Request], run: &Run<World>) {
        assert_eq!(
            record.attempts.len(),
            requests.len(),
            "an entry for each request begun"
        );
        let adapted = record
            .attempts
            .iter()
            .filter(|one| one.kind == AttemptKind::Adapted)
            .count();
        let (retries, transport_retries) = self.budgets();
        assert!(requests.len() <= 1 + (retries + transport_retries) as usize + adapted);
        assert_eq!(
            run.ledger().of::<Choose>().unwrap().usage,
            record.usage(),
            "the book says the same"
        );
        let mut tokens = (0, 0);
        for (attempt, (_, usage, _)) in record.attempts.iter().zip(&self.script) {
            // A refusal that reports nothing is known to have used nothing.
            let refused = matches!(
                attempt.category,
                Some(Category::ApiKeyError | Category::RateLimitError)
            );
            let usage = usage.or(refused.then(none_used));
            // What was dropped before its response was read claims no usage.
            match usage.filter(|_| attempt.usage.is_some()) {
                Some(usage) => tokens.0 += usage.total().unwrap(),
                None => tokens.1 += 1,
            }
            let unread = attempt.category == Some(Category::Cancelled);
            assert!(attempt.usage == usage || unread, "{attempt:?} {usage:?}");
        }
        let total = record.usage().total;
        assert_eq!((total.known, total.unreported_calls), tokens);
        self.check_waits(record);
        check_messages(record, requests);
    }

    fn check_waits(&self, record: &CallRecord) {
        for (attempt, (act, ..)) in record.attempts.iter().skip(1).zip(&self.script) {
            let asked = match act.then() {
                Then::Transport(_, wait) => Duration::from_secs(wait.unwrap_or(0)),
                _ => {
                    assert_eq!(
                        attempt.wait,
                        Duration::ZERO,
                        "only failures of the transport wait"
                    );
                    continue;
                }
            };
            assert!(
                attempt.wait >= asked && attempt.wait <= Duration::from_secs(MAX_WAIT),
                "{attempt:?}"
            );
        }
        let spent: Duration = record
            .attempts
            .iter()
            .map(|attempt| attempt.wait + attempt.elapsed)
            .sum();
        assert!(record.elapsed >= spent, "waits are part of the time");
    }
}

/// The prompt stays; the newest three bad answers follow, each once; nothing else changes a request.
fn check_messages(record: &CallRecord, requests: &[Request]) {
    let mut corrections = 0;
    for (attempt, request) in record.attempts.iter().zip(requests) {
        corrections += usize::from(attempt.kind == AttemptKind::Correction);
        assert_eq!(request.messages.len(), 2 + 2 * corrections.min(3));
        assert_eq!(request.messages[..2], requests[0].messages[..]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_schedule_keeps_to_its_budgets_and_is_accounted_for(case in case()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let (model, run) = runtime.unwrap().block_on(case.play());
        let (requests, calls) = (model.requests(), run.ledger().calls());
        prop_assert_eq!(calls.len(), 1);
        case.check(&calls[0], &requests, &run);
        let (sent, category) = case.expected();
        if case.drop_after == 100_000 {
            prop_assert_eq!((requests.len(), calls[0].category), (sent, category));
        } else {
            prop_assert!(requests.len() <= sent);
        }
    }
}
