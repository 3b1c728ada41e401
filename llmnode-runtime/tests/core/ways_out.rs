//! The book after the program's own code panicked, or the call was dropped, at every place there is.

use std::fmt;
use std::future::{poll_fn, ready};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use crate::support::{
    BAD, Choice, Choose, GOAL, GOOD, Mood, Say, World, node_like_choose, say, script, total_tokens,
    world,
};
use llmnode_runtime::private::{Coverage, FallbackFuture, fallback_with_state};
use llmnode_runtime::private::{LlmNode, OutputSpec, Prompt, Segment};
use llmnode_runtime::{
    AttemptRecord, BoxError, BoxFuture, Category, ChatModel, Clock, Completion, Cx, Exec,
    ModelError, Node, NodeError, NodeFacts, Reply, Request, Run, ScriptedModel, Settings, Sink,
    TestClock, TokenUsage, UsedFallback,
};

/// A place in the program's code that panics.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    Display,
    Deserialize,
    Collect,
    BeforeModel,
    AfterModel,
    InsideModel,
}

struct Faulty(Fault);

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        assert_ne!(self.0, Fault::Display, "a bug");
        f.write_str("x")
    }
}

/// An output whose reading or checking panics, as the answer says.
#[derive(schemars::JsonSchema)]
struct Answer {
    how: String,
}

impl<'de> serde::Deserialize<'de> for Answer {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let json = serde_json::Value::deserialize(from)?;
        assert_ne!(json["how"], "deserialize", "a bug");
        Ok(Answer {
            how: json["how"].to_string(),
        })
    }
}

impl Node for Faulty {
    type Output = Answer;
    const NAME: &'static str = "faulty";
    const FACTS: NodeFacts = NodeFacts::new().retries_itself(true);
}

impl Exec<()> for Faulty {
    async fn exec(&self, cx: &Cx<'_, ()>) -> Result<Answer, BoxError> {
        assert_ne!(self.0, Fault::BeforeModel, "a bug");
        assert_eq!(format!("{cx:?}"), r#"Cx { node: "faulty" }"#);
        let answer = llmnode_runtime::private::exec(self, cx).await;
        assert_ne!(self.0, Fault::AfterModel, "a bug");
        answer
    }
}

impl LlmNode<()> for Faulty {
    fn render(&self, (): &(), to: &mut Prompt) {
        to.user(&[Segment::value(self)]);
    }

    fn output(&self) -> OutputSpec<Answer, ()> {
        OutputSpec::json(
            |_: &mut Coverage| {},
            |answer, _| assert_ne!(answer.how, "\"collect\"", "a bug"),
        )
    }
}

/// Reports usage before its end, and may panic then.
struct Early(Fault);

impl ChatModel for Early {
    fn complete<'a>(
        &'a self,
        _: &'a Request,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(async move {
            sink.usage(total_tokens(7));
            sink.request_id("req-1");
            tokio::task::yield_now().await;
            assert_ne!(self.0, Fault::InsideModel, "a bug");
            Ok(Completion::new(match self.0 {
                Fault::Deserialize => r#"{"how": "deserialize"}"#,
                Fault::Collect => r#"{"how": "collect"}"#,
                _ => r#"{"how": "well"}"#,
            }))
        })
    }
}

#[tokio::test]
async fn a_panic_anywhere_is_an_error_with_its_record() {
    use Fault::*;
    for (fault, requests) in [
        (Display, 0),
        (BeforeModel, 0),
        (InsideModel, 1),
        (Deserialize, 1),
        (Collect, 1),
        (AfterModel, 1),
    ] {
        let run = Run::new(Early(fault));
        let error = run.call(&Faulty(fault)).await.map(|_| ()).unwrap_err();
        assert_eq!(error.category(), Category::Panic, "{fault:?}");
        assert!(error.to_string().contains("a bug"), "{error}");
        assert_eq!(error.usage().requests, requests, "{fault:?}");
        assert_eq!(
            (
                error.usage().total.known,
                error.usage().total.unreported_calls
            ),
            (7 * requests, 0)
        );
        let calls = run.ledger().calls();
        assert_eq!(
            (calls.len(), calls[0].category),
            (1, Some(Category::Panic)),
            "{fault:?}"
        );
        let ended = calls[0].attempts.iter().map(|attempt| attempt.category);
        assert!(
            calls[0]
                .attempts
                .iter()
                .all(|attempt| attempt.request_id.as_deref() == Some("req-1"))
        );
        let expected = (fault != AfterModel).then_some(Category::Panic);
        assert!(
            ended.into_iter().all(|category| category == expected),
            "{fault:?}"
        );
    }
}

#[tokio::test]
async fn a_panic_in_one_call_of_a_map_leaves_the_others_alone() {
    let run = Run::new(Early(Fault::BeforeModel));
    let faults = [
        Fault::AfterModel,
        Fault::BeforeModel,
        Fault::AfterModel,
        Fault::Display,
        Fault::Collect,
    ];
    let results = run.map(faults.map(Faulty)).await;
    let good: Vec<_> = results.iter().map(Result::is_ok).collect();
    assert_eq!(good, [false, false, false, false, true]);
}

/// A node with everything to fall back on.
struct Cautious;

impl Node for Cautious {
    type Output = Choice;
    const NAME: &'static str = "cautious";
    const FACTS: NodeFacts = NodeFacts::new().fallback(true).retries_itself(true);
    const SETTINGS: &'static Settings = &Settings::new().retries(1).stated_fallback_model("spare");
}

async fn first_there_is(_: &Cautious, world: &World, _: &NodeError) -> Choice {
    tokio::task::yield_now().await;
    Choice {
        item: world.inventory[0].to_owned(),
    }
}

node_like_choose!(Cautious, first_there_is);

/// Drops a call after each number of polls until it ends by itself: while it asks, reads, validates, waits and falls
/// back.
#[tokio::test]
async fn a_call_dropped_at_any_await_is_accounted_once() {
    for polls in 0.. {
        let usage = TokenUsage::new(5, 2);
        let answers = || (0..2).map(|_| Reply::text(BAD).usage(usage));
        let busy =
            ModelError::new(Category::RateLimitError, "slow down").wait(Duration::from_secs(3));
        let run = Run::new(Yielding(script(
            std::iter::once(busy.into()).chain(answers()),
        )))
        .model("spare", Yielding(script(answers())))
        .model("well", script([GOOD]))
        .with_clock(Turning(TestClock::new()))
        .with_state(World {
            mood: Mood::Yield,
            ..world()
        });
        let ended = {
            let mut call = pin!(run.call(&Cautious));
            let mut left = polls;
            poll_fn(|cx| match call.as_mut().poll(cx) {
                Poll::Ready(answer) => Poll::Ready(answer.is_ok()),
                Poll::Pending if left == 0 => Poll::Ready(false),
                Poll::Pending => {
                    left -= 1;
                    Poll::Pending
                }
            })
            .await
        };
        let stats = run.ledger().of::<Cautious>().unwrap();
        let call = &run.ledger().calls()[0];
        assert_eq!((stats.visits, run.ledger().calls().len()), (1, 1));
        assert_eq!(stats.usage, call.usage());
        assert_eq!(call.attempts.len() as u64, stats.usage.requests);
        let judged = run.state().seen.load(Ordering::Relaxed) as u64;
        assert_eq!(
            stats.usage.total.known,
            7 * judged,
            "what a validator saw was read"
        );
        let is_refused =
            |attempt: &&AttemptRecord| attempt.category == Some(Category::RateLimitError);
        let refused = call.attempts.iter().filter(is_refused).count() as u64;
        assert_eq!(
            stats.usage.total.unreported_calls,
            stats.usage.requests - judged - refused
        );
        assert_eq!(call.category, (!ended).then_some(Category::Cancelled));
        run.call(&GOAL).model("well").await.unwrap();
        if ended {
            let awaits = 2 * 5 + 4 + 1 + 1;
            assert_eq!(
                polls, awaits,
                "two of each request, one of each validation, the wait, the fallback"
            );
            assert_eq!(call.used_fallback, Some(UsedFallback::Value));
            break;
        }
    }
}

/// A clock whose waits let other tasks run.
struct Turning(TestClock);

impl Clock for Turning {
    fn now(&self) -> std::time::Instant {
        self.0.now()
    }

    fn sleep(&self, wait: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            self.0.sleep(wait).await;
        })
    }
}

/// A scripted model that lets other tasks run before and after each request.
struct Yielding(ScriptedModel);

impl ChatModel for Yielding {
    fn complete<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            let completion = self.0.complete(request, sink).await;
            tokio::task::yield_now().await;
            completion
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_while_it_waits_has_its_time_and_no_attempt_more() {
    let busy = ModelError::new(Category::RateLimitError, "slow down").wait(Duration::from_secs(30));
    let run = Run::new(ScriptedModel::new().reply(busy)).with_state(world());
    assert!(
        tokio::time::timeout(Duration::from_secs(10), run.call(&GOAL))
            .await
            .is_err()
    );
    let (stats, calls) = (run.ledger().of::<Choose>().unwrap(), run.ledger().calls());
    assert_eq!(
        (stats.usage.requests, stats.busy),
        (1, Duration::from_secs(10))
    );
    assert_eq!(
        calls[0].attempts[0].category,
        Some(Category::RateLimitError)
    );
}

/// A node without a model that calls two others side by side.
struct Parent;

impl Node for Parent {
    type Output = ();
    const NAME: &'static str = "parent";
}

impl Exec<World> for Parent {
    async fn exec(&self, cx: &Cx<'_, World>) -> Result<(), BoxError> {
        let (one, two) = (say("a"), say("b"));
        let (one, two) = tokio::join!(cx.call(&one), cx.call(&two));
        Ok(one.and(two).map(|_| ())?)
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_a_node_drops_and_accounts_for_the_calls_inside_it() {
    let run = Run::new(ScriptedModel::new().reply("hi").reply(Reply::never())).with_state(world());
    assert!(
        tokio::time::timeout(Duration::from_secs(1), run.call(&Parent))
            .await
            .is_err()
    );
    let ended: Vec<_> = run
        .ledger()
        .calls()
        .iter()
        .map(|call| (call.node.clone(), call.category))
        .collect();
    let cancelled = Some(Category::Cancelled);
    assert_eq!(
        ended,
        [
            ("say".into(), None),
            ("say".into(), cancelled),
            ("parent".into(), cancelled)
        ]
    );
    assert_eq!(
        run.ledger().of::<Parent>().unwrap().usage.requests,
        0,
        "it asked nothing itself"
    );
    assert_eq!(run.ledger().of::<Say>().unwrap().usage.requests, 2);
}

/// A clock that runs wild.
#[derive(Default)]
struct Wild(AtomicUsize);

impl Clock for Wild {
    fn now(&self) -> std::time::Instant {
        let far = Duration::from_secs(1 << 62);
        let now = std::time::Instant::now();
        // Forth and back.
        if self.0.fetch_add(1, Ordering::Relaxed) % 2 == 1 {
            now.checked_add(far).unwrap_or(now)
        } else {
            now
        }
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'_, ()> {
        Box::pin(ready(()))
    }
}

#[tokio::test]
async fn absurd_times_do_not_panic() {
    let run = (0..20).fold(ScriptedModel::new(), |model, _| model.reply("hi"));
    let run = Run::new(run).with_clock(Wild::default());
    for _ in 0..20 {
        run.call(&say("x")).await.unwrap();
    }
    run.ledger().to_json();
    run.ledger().time_ms();

    let clock = TestClock::new();
    let before = clock.now();
    clock.sleep(Duration::from_secs(1)).await;
    clock.sleep(Duration::MAX).await;
    assert_eq!(
        clock.now(),
        before + Duration::from_secs(1),
        "never goes back"
    );
}

#[tokio::test]
async fn calls_that_never_wait_give_other_tasks_a_turn() {
    let model = (0..2000).fold(ScriptedModel::new(), |model, _| model.reply("hi"));
    let (run, turns) = (Run::new(model), Arc::new(AtomicUsize::new(0)));
    let other = tokio::spawn({
        let turns = Arc::clone(&turns);
        async move {
            loop {
                turns.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
            }
        }
    });
    assert_eq!(run.map((0..2000).map(|_| say("x"))).await.len(), 2000);
    other.abort();
    assert!(turns.load(Ordering::Relaxed) > 5, "{turns:?}");
}
