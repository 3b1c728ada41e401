//! An endpoint that fails under 64 workers, on tokio's paused clock: what the retry budget makes of it.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use llmnode_runtime::private::{LlmNode, OutputSpec, Prompt, Segment};
use llmnode_runtime::{
    BoxError, BoxFuture, Category, ChatModel, Completion, Cx, Exec, ModelError, Node, NodeFacts,
    Recovery, Reply, Request, RetryBudget, Run, Settings, Sink,
};
use tokio::time::{Instant, sleep, timeout};

use crate::recorder::Recorder;
use crate::support::{BAD, GOAL, GOOD, World, busy, run, say, script};

const WORKERS: usize = 64;
const FIVE_MINUTES: Duration = Duration::from_secs(300);
const TEN_MINUTES: Duration = Duration::from_secs(600);

/// How an endpoint behaves.
#[derive(Clone, Copy)]
struct Behaviour {
    failure: Category,
    /// How long a request takes that fails, and one that succeeds.
    fails_after: Duration,
    answers_after: Duration,
    /// Everything fails so long from the start on.
    outage: Duration,
    /// The percentage of requests that fail otherwise.
    faults: u64,
    /// How long a worker pauses between its calls.
    pause: Duration,
}

const UP: Behaviour = Behaviour {
    failure: Category::ServerError,
    fails_after: Duration::from_millis(50),
    answers_after: Duration::from_secs(1),
    outage: Duration::ZERO,
    faults: 0,
    pause: Duration::ZERO,
};

/// A model at such an endpoint.
struct Endpoint {
    behaviour: Behaviour,
    begin: Instant,
    random: Mutex<u64>,
    requests: AtomicUsize,
    budget: RetryBudget,
}

impl Endpoint {
    fn fails(&self) -> bool {
        self.begin.elapsed() < self.behaviour.outage || self.draw() % 100 < self.behaviour.faults
    }

    /// SplitMix64.
    fn draw(&self) -> u64 {
        let mut state = self.random.lock().unwrap();
        *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

impl ChatModel for Endpoint {
    fn complete<'a>(
        &'a self,
        _: &'a Request,
        _: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(async move {
            self.requests.fetch_add(1, Ordering::Relaxed);
            if self.fails() {
                sleep(self.behaviour.fails_after).await;
                return Err(ModelError::new(self.behaviour.failure, "down"));
            }
            sleep(self.behaviour.answers_after).await;
            Ok(Completion::new("up"))
        })
    }

    fn retry_budget(&self) -> Option<&RetryBudget> {
        Some(&self.budget)
    }
}

/// What the workers saw.
#[derive(Debug, Default)]
struct Tally {
    calls: AtomicUsize,
    failed: AtomicUsize,
    /// Calls that failed without a retry, for want of budget.
    refused: AtomicUsize,
    /// The fewest retries that were left.
    least: AtomicU32,
    /// Answers since the outage, when a retry would be granted again and when the budget was full again.
    answers: AtomicUsize,
    granted_again: Mutex<Option<(usize, Duration)>>,
    full_again: Mutex<Option<(usize, Duration)>>,
}

impl Tally {
    /// Takes note of a call.
    fn note(&self, error: Option<String>, endpoint: &Endpoint) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let left = endpoint.budget.available().unwrap();
        self.least.fetch_min(left, Ordering::Relaxed);
        if let Some(message) = error {
            self.failed.fetch_add(1, Ordering::Relaxed);
            self.refused.fetch_add(
                usize::from(message.contains("retry budget")),
                Ordering::Relaxed,
            );
            return;
        }
        let answers = self.answers.fetch_add(1, Ordering::Relaxed) + 1;
        let since = endpoint.begin.elapsed() - endpoint.behaviour.outage;
        if left >= 1 {
            self.granted_again
                .lock()
                .unwrap()
                .get_or_insert((answers, since));
        }
        if Some(left) == endpoint.budget.capacity() {
            self.full_again
                .lock()
                .unwrap()
                .get_or_insert((answers, since));
        }
    }
}

/// 64 workers that call one after the other for so long.
async fn work(behaviour: Behaviour, time: Duration, seed: u64) -> (Arc<Endpoint>, Arc<Tally>) {
    let endpoint = Arc::new(Endpoint {
        behaviour,
        begin: Instant::now(),
        random: Mutex::new(seed),
        requests: AtomicUsize::new(0),
        budget: RetryBudget::default(),
    });
    let tally = Arc::new(Tally {
        least: AtomicU32::new(u32::MAX),
        ..Tally::default()
    });
    let run = Arc::new(Run::new(Arc::clone(&endpoint)));
    let workers: Vec<_> = (0..WORKERS)
        .map(|_| {
            let (endpoint, tally, run) =
                (Arc::clone(&endpoint), Arc::clone(&tally), Arc::clone(&run));
            tokio::spawn(async move {
                while endpoint.begin.elapsed() < time {
                    let error = run.call(&say("hello")).await.err();
                    tally.note(error.map(|error| error.to_string()), &endpoint);
                    sleep(behaviour.pause).await;
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.unwrap();
    }
    (endpoint, tally)
}

#[tokio::test(start_paused = true)]
async fn an_outage_is_not_amplified() {
    let seconds = Duration::from_secs;
    for (what, failure, fails_after, pause) in [
        (
            "refused at once, calls pause",
            Category::Network,
            Duration::ZERO,
            seconds(1),
        ),
        (
            "503 after 50 ms, calls pause",
            Category::ServerError,
            Duration::from_millis(50),
            seconds(1),
        ),
        (
            "timeouts of 30 s",
            Category::Timeout,
            seconds(30),
            Duration::ZERO,
        ),
        (
            "timeouts of 60 s",
            Category::Timeout,
            seconds(60),
            Duration::ZERO,
        ),
    ] {
        let down = Behaviour {
            failure,
            fails_after,
            pause,
            outage: Duration::MAX,
            ..UP
        };
        // So that the budget is a small part of the calls.
        let time = if pause.is_zero() {
            TEN_MINUTES
        } else {
            seconds(100)
        };
        let (endpoint, tally) = work(down, time, 0).await;
        let (calls, requests) = (count(&tally.calls), count(&endpoint.requests));
        assert!(
            requests as f64 <= 1.2 * calls as f64,
            "{what}: {requests} requests of {calls} calls"
        );
        assert_eq!(requests - calls, 100, "{what}: the whole budget, once");
        assert!(
            count(&tally.refused) >= calls - 100,
            "{what}: the others say why they gave up"
        );
        assert_eq!(
            (count(&tally.failed), endpoint.budget.available()),
            (calls, Some(0))
        );
    }
}

/// Rate limits take nothing out of the budget: the retries of all calls wait at one gate, where one request probes.
#[tokio::test(start_paused = true)]
async fn a_rate_limit_is_not_amplified_either() {
    let down = Behaviour {
        failure: Category::RateLimitError,
        fails_after: Duration::from_secs(5),
        outage: Duration::MAX,
        ..UP
    };
    let (endpoint, tally) = work(down, TEN_MINUTES, 0).await;
    let (calls, requests) = (count(&tally.calls), count(&endpoint.requests));
    assert!(
        requests as f64 <= 1.2 * calls as f64,
        "{requests} requests of {calls} calls"
    );
    assert!(calls > 64 * 25, "single calls fail fast: {calls}");
    assert_eq!(
        (count(&tally.failed), endpoint.budget.available()),
        (calls, Some(100))
    );
}

/// What the program states is not overridden; only the default of two retries is.
#[tokio::test]
async fn a_number_of_retries_that_is_stated_counts_whatever_the_budget_holds() {
    let empty = || RetryBudget::new(0);
    let failures = || script([busy(), busy(), busy(), busy()]).with_retry_budget(empty());
    let on_call = failures();
    run(&on_call)
        .call(&GOAL)
        .transport_retries(3)
        .await
        .unwrap_err();
    assert_eq!(on_call.requests().len(), 4);
    let on_run = failures();
    let stack = Settings::new().recover(Category::ServerError, [Recovery::retry(2)]);
    run(&on_run)
        .with_settings(stack)
        .call(&GOAL)
        .await
        .unwrap_err();
    assert_eq!(on_run.requests().len(), 3);
    let default = failures();
    run(&default).call(&GOAL).await.unwrap_err();
    assert_eq!(default.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn after_an_outage_five_answers_make_a_retry_and_five_hundred_all() {
    let outage = Duration::from_secs(60);
    let behaviour = Behaviour {
        fails_after: Duration::from_secs(1),
        outage,
        ..UP
    };
    let (_, tally) = work(behaviour, outage + Duration::from_secs(30), 0).await;
    let (answers, after) = tally.granted_again.lock().unwrap().unwrap();
    assert!(answers == 5 && after < Duration::from_secs(3), "{after:?}");
    // 64 at a time, each in a second.
    let (answers, after) = tally.full_again.lock().unwrap().unwrap();
    assert!(
        answers == 500 && after < Duration::from_secs(10),
        "{after:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn random_faults_do_not_drain_the_budget() {
    for seed in [1, 2] {
        let behaviour = Behaviour {
            faults: 30,
            answers_after: Duration::from_secs(2),
            ..UP
        };
        let (endpoint, tally) = work(behaviour, FIVE_MINUTES, seed).await;
        assert_eq!(count(&tally.refused), 0, "seed {seed}");
        assert!(
            tally.least.load(Ordering::Relaxed) >= 25,
            "seed {seed}: {tally:?}"
        );
        // Three tries fail one after the other.
        let failed = count(&tally.failed) as f64 / count(&tally.calls) as f64;
        assert!((0.02..0.035).contains(&failed), "seed {seed}: {failed}");
        assert!(
            count(&endpoint.requests) > count(&tally.calls) * 4 / 3,
            "seed {seed}: it does retry"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn half_an_outage_is_amplified_by_a_fifth() {
    let behaviour = Behaviour {
        faults: 50,
        fails_after: Duration::from_secs(1),
        ..UP
    };
    let (endpoint, tally) = work(behaviour, FIVE_MINUTES, 1).await;
    let amplified = count(&endpoint.requests) as f64 / count(&tally.calls) as f64;
    assert!((1.17..1.23).contains(&amplified), "{amplified}");
}

#[tokio::test(start_paused = true)]
async fn calls_that_are_dropped_give_their_retries_back() {
    // Dropped in the first request, in the wait after it, and in the retry.
    for (seconds, requests) in [(1, 1), (10, 1), (30, 2)] {
        let budget = RetryBudget::new(1);
        let fails =
            Reply::error(busy().wait(Duration::from_secs(20))).after(Duration::from_secs(2));
        let model = script([fails, Reply::never()]).with_retry_budget(budget.clone());
        let run = Run::new(model.clone());
        timeout(Duration::from_secs(seconds), run.call(&say("hello")))
            .await
            .unwrap_err();
        assert_eq!(
            (model.requests().len(), budget.available()),
            (requests, Some(1)),
            "{seconds} s"
        );
    }
}

#[tokio::test]
async fn a_failure_that_cannot_be_retried_keeps_its_category_and_says_why() {
    let budget = RetryBudget::new(1);
    let model = script([busy(), busy(), busy()]).with_retry_budget(budget.clone());
    let error = run(&model).call(&GOAL).await.unwrap_err();
    assert_eq!(
        (error.category(), model.requests().len()),
        (Category::ServerError, 2)
    );
    assert!(
        error
            .message()
            .starts_with("HTTP 503: overloaded; it was not retried"),
        "{error}"
    );
    assert!(
        error
            .message()
            .contains("retry budget of the endpoint is empty"),
        "{error}"
    );

    // Where no retry was due, there is nothing to say.
    let error = run(&model)
        .call(&GOAL)
        .transport_retries(0)
        .await
        .unwrap_err();
    assert_eq!(error.message(), "HTTP 503: overloaded");
}

/// Asks for text; a spare model is at hand.
struct Ask;

impl Node for Ask {
    type Output = String;
    const NAME: &'static str = "ask";
    const FACTS: NodeFacts = NodeFacts::new().retries_itself(true);
    const SETTINGS: &'static Settings = &Settings::new().stated_fallback_model("spare");
}

impl Exec<World> for Ask {
    async fn exec(&self, cx: &Cx<'_, World>) -> Result<String, BoxError> {
        llmnode_runtime::private::exec(self, cx).await
    }
}

impl LlmNode<World> for Ask {
    fn render(&self, _: &World, to: &mut Prompt) {
        to.user(&[Segment::text("Hello?")]);
    }

    fn output(&self) -> OutputSpec<String, World> {
        OutputSpec::text()
    }
}

#[tokio::test]
async fn the_spare_model_is_asked_instead_and_has_a_budget_of_its_own() {
    let model = script([busy()]).with_retry_budget(RetryBudget::new(0));
    let spare =
        script([Reply::from(busy()), Reply::text("hello")]).with_retry_budget(RetryBudget::new(1));
    let run = run(&model).model("spare", spare.clone());
    let report = run.call(&Ask).report().await.unwrap();
    let attempts = &report.record.attempts;
    assert!(
        attempts[0].message.contains("retry budget"),
        "{}",
        attempts[0].message
    );
    assert_eq!(
        (
            model.requests().len(),
            spare.requests().len(),
            attempts.len()
        ),
        (1, 2, 3)
    );
    assert_eq!(spare.retry_budget().unwrap().available(), Some(1));
}

#[tokio::test]
async fn the_log_is_warned_when_the_last_retry_is_taken() {
    let (seen, _guard) = Recorder::start();
    let warnings = || seen.events("llmnode::retry_budget").len();
    let budget = RetryBudget::new(2);
    let fails = || async {
        let model = script([busy(), busy()]).with_retry_budget(budget.clone());
        run(&model)
            .call(&GOAL)
            .transport_retries(1)
            .await
            .unwrap_err();
        (budget.available(), warnings())
    };
    assert_eq!(fails().await, (Some(1), 0));
    // Three fifths of a retry come back, which are none.
    let model = script([GOOD, GOOD, GOOD]).with_retry_budget(budget.clone());
    for _ in 0..3 {
        run(&model).call(&GOAL).await.unwrap();
    }
    assert_eq!(fails().await, (Some(0), 1));
}

#[tokio::test]
async fn an_answer_pays_back_whatever_it_is_worth() {
    let budget = RetryBudget::new(1);
    let refused = ModelError::new(Category::BadRequest, "no");
    for reply in [
        Reply::text(BAD),
        Reply::text("").refusal("no"),
        refused.into(),
    ] {
        let model = script([busy().into(), reply]).with_retry_budget(budget.clone());
        run(&model).call(&GOAL).retries(0).await.unwrap_err();
        assert_eq!((model.requests().len(), budget.available()), (2, Some(1)));
    }
}

#[tokio::test]
async fn corrections_need_no_budget() {
    let model = script([BAD, BAD, GOOD]).with_retry_budget(RetryBudget::new(0));
    assert!(run(&model).call(&GOAL).await.is_ok());
}

#[tokio::test]
async fn what_never_was_a_request_earns_nothing() {
    let budget = RetryBudget::new(1);
    let model = script([busy(), busy()]).with_retry_budget(budget.clone());
    run(&model).call(&GOAL).await.unwrap_err();
    for _ in 0..10 {
        let error = run(&model).call(&GOAL).await.unwrap_err();
        assert_eq!(
            error.category(),
            Category::ConfigError,
            "the script has ended"
        );
    }
    assert_eq!(budget.available(), Some(0));
}

fn count(counter: &AtomicUsize) -> usize {
    counter.load(Ordering::Relaxed)
}
