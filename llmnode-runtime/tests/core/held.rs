//! Maps at an endpoint with a rate limit or in an outage: what is held back and put back, what ends the asking, and what
//! single calls do meanwhile. On tokio's paused clock.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llmnode_model::gate::{Gates, RateLimit, RateLimits};
use llmnode_runtime::private::{FallbackFuture, LlmNode, OutputSpec, Prompt, Segment};
use llmnode_runtime::{
    BatchProgress, BoxError, BoxFuture, Category, ChatModel, Completion, Cx, DynNode, Exec,
    FnModel, Limits, ModelError, Node, NodeError, NodeFacts, Pace, Reply, Request, Run, Settings,
    Sink, TokenUsage, Toolset, UsedFallback,
};
use proptest::prelude::*;
use serde_json::json;
use tokio::time::{Instant, sleep, timeout};

use crate::support::{Say, say};

const SECOND: Duration = Duration::from_secs(1);

/// 50 requests a second in windows of a second, 100 ms an answer, and a time in which it fails.
struct Limited {
    fails: fn(Duration) -> Option<ModelError>,
    state: Mutex<Window>,
    refused: AtomicUsize,
    requests: AtomicUsize,
}

struct Window {
    first: Option<Instant>,
    begin: Instant,
    count: u32,
}

impl Limited {
    fn new(fails: fn(Duration) -> Option<ModelError>) -> Arc<Self> {
        let state = Mutex::new(Window {
            first: None,
            begin: Instant::now(),
            count: 0,
        });
        Arc::new(Limited {
            fails,
            state,
            refused: AtomicUsize::new(0),
            requests: AtomicUsize::new(0),
        })
    }

    fn refusal(&self) -> Option<ModelError> {
        let mut window = self.state.lock().unwrap();
        let first = *window.first.get_or_insert_with(Instant::now);
        if window.begin.elapsed() > SECOND {
            window.begin = Instant::now();
            window.count = 0;
        }
        window.count += 1;
        (self.fails)(first.elapsed()).or_else(|| (window.count > 50).then(limit))
    }
}

fn limit() -> ModelError {
    ModelError::new(Category::RateLimitError, "slow down").wait(SECOND)
}

fn refused_for_ten_seconds(since: Duration) -> Option<ModelError> {
    (5..15).contains(&since.as_secs()).then(limit)
}

fn no_connection_for_a_minute(since: Duration) -> Option<ModelError> {
    let refused = || ModelError::unreached(Category::Network, "connection refused");
    (2..62).contains(&since.as_secs()).then(refused)
}

fn broken_for_a_minute(since: Duration) -> Option<ModelError> {
    (2..62)
        .contains(&since.as_secs())
        .then(|| ModelError::new(Category::ServerError, "HTTP 503"))
}

fn never(_: Duration) -> Option<ModelError> {
    None
}

impl ChatModel for Limited {
    fn complete<'a>(
        &'a self,
        _: &'a Request,
        _: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(async move {
            self.requests.fetch_add(1, Ordering::Relaxed);
            if let Some(refusal) = self.refusal() {
                self.refused.fetch_add(1, Ordering::Relaxed);
                return Err(refusal);
            }
            sleep(Duration::from_millis(100)).await;
            Ok(Completion::new("done"))
        })
    }
}

fn rows(count: usize) -> impl ExactSizeIterator<Item = Say> + Clone {
    (0..count).map(|row| say(&format!("row {row}")))
}

fn lost<T>(results: &[Result<T, NodeError>]) -> usize {
    results.iter().filter(|result| result.is_err()).count()
}

#[tokio::test(start_paused = true)]
async fn ten_seconds_of_refusals_lose_nothing_however_many_calls_are_in_flight() {
    for in_flight in [5, 8, 32, 500] {
        let model = Limited::new(refused_for_ten_seconds);
        let run = Run::new(Arc::clone(&model));
        let began = Instant::now();
        let results = run.map(rows(2000)).concurrency(in_flight).await;
        let (seconds, refused) = (
            began.elapsed().as_secs_f64(),
            model.refused.load(Ordering::Relaxed),
        );
        println!("{in_flight} in flight: {seconds} s, {refused} refused");
        assert_eq!(
            (results.len(), lost(&results)),
            (2000, 0),
            "{in_flight} in flight"
        );
        assert!(
            seconds <= 58.0 && refused <= 150,
            "{in_flight} in flight: {seconds} s, {refused} refused"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_minute_without_the_server_loses_nothing() {
    for fails in [no_connection_for_a_minute, broken_for_a_minute] {
        let model = Limited::new(fails);
        let run = Run::new(Arc::clone(&model));
        let began = Instant::now();
        let results = run.map(rows(500)).concurrency(32).await;
        let (seconds, refused) = (
            began.elapsed().as_secs(),
            model.refused.load(Ordering::Relaxed),
        );
        println!("{seconds} s, {refused} refused");
        let errors: Vec<&NodeError> = results
            .iter()
            .filter_map(|one| one.as_ref().err())
            .collect();
        assert!(errors.is_empty(), "{errors:#?}");
        assert!(
            seconds < 90 && refused < 100,
            "{seconds} s, {refused} refused"
        );
    }
}

/// Answers take their time, so that the first ones that fail are at the end of their attempts long before others fail, too.
struct Slow {
    began: Instant,
    requests: AtomicUsize,
}

impl ChatModel for Slow {
    fn complete<'a>(
        &'a self,
        _: &'a Request,
        _: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(async move {
            let number = self.requests.fetch_add(1, Ordering::Relaxed);
            if (20..80).contains(&self.began.elapsed().as_secs()) {
                return Err(ModelError::new(Category::ServerError, "HTTP 503"));
            }
            sleep(Duration::from_millis(8000 + 130 * (number as u64 % 8))).await;
            Ok(Completion::new("done"))
        })
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_items_of_an_outage_are_not_lost_however_slow_answers_are() {
    for in_flight in [1, 2, 8] {
        for retries in [0, 2] {
            let model = Slow {
                began: Instant::now(),
                requests: AtomicUsize::new(0),
            };
            let run = Run::new(model);
            let map = run.map(rows(60)).concurrency(in_flight);
            let results = map.transport_retries(retries).await;
            assert_eq!(lost(&results), 0, "{in_flight} in flight, {retries}");
        }
    }
}

/// Of so many items, those whose rows are named fail whenever they are asked.
async fn with_bad_rows(count: usize, in_flight: usize, bad: &[usize]) -> (Vec<usize>, usize) {
    let contents: Vec<String> = bad.iter().map(|row| format!("row {row}")).collect();
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    let model = FnModel::new(move |request: &Request| {
        counted.fetch_add(1, Ordering::Relaxed);
        let is_bad = contents.contains(&request.messages[0].content);
        let reply = match is_bad {
            true => Reply::failure(Category::ServerError),
            false => Reply::text("done"),
        };
        reply.after(SECOND / 10)
    });
    let results = Run::new(model)
        .map(rows(count))
        .concurrency(in_flight)
        .await;
    let failed = (0..count).filter(|row| results[*row].is_err());
    (failed.collect(), requests.load(Ordering::Relaxed))
}

/// No request more than for the attempts of its call, whether others tell that the server is well or nobody is left to tell.
#[tokio::test(start_paused = true)]
async fn an_item_that_fails_by_itself_is_asked_no_more_than_alone() {
    for in_flight in [1, 2, 8] {
        for bad in [&[0][..], &[5], &[9], &[0, 9], &[8, 9], &[0, 1]] {
            let (failed, requests) = with_bad_rows(10, in_flight, bad).await;
            assert_eq!(failed, bad, "{in_flight} in flight");
            let expected = 10 + 2 * bad.len();
            assert_eq!(requests, expected, "{in_flight} in flight, {bad:?}");
        }
    }
}

/// Three in a row look like an outage. Others tell that it is none, so they fail long before the map would give up.
#[tokio::test(start_paused = true)]
async fn bad_items_that_look_like_an_outage_do_not_hold_the_map() {
    for in_flight in [1, 2, 8, 32] {
        let began = Instant::now();
        let bad = [10, 11, 12, 13];
        let (failed, requests) = with_bad_rows(100, in_flight, &bad).await;
        let seconds = began.elapsed().as_secs();
        println!("{in_flight} in flight: {seconds} s, {requests} requests");
        assert_eq!(failed, bad, "{in_flight} in flight");
        assert!(seconds < 300, "{in_flight} in flight: {seconds} s");
    }
}

#[tokio::test(start_paused = true)]
async fn twenty_maps_on_one_handle_are_served_alike() {
    let model = Limited::new(never);
    let run = Run::new(Arc::clone(&model));
    let done: Arc<[AtomicUsize; 20]> = Arc::new(std::array::from_fn(|_| AtomicUsize::new(0)));
    let maps = (0..20).map(|map| {
        let (run, done) = (run.clone(), Arc::clone(&done));
        tokio::spawn(async move {
            let count =
                |progress: &BatchProgress| done[map].store(progress.done, Ordering::Relaxed);
            let in_flight = if map % 2 == 0 { 8 } else { 64 };
            lost(
                &run.map(rows(100))
                    .concurrency(in_flight)
                    .on_progress(count)
                    .await,
            )
        })
    });
    let maps: Vec<_> = maps.collect();
    sleep(20 * SECOND).await;
    let counts: Vec<usize> = done.iter().map(|one| one.load(Ordering::Relaxed)).collect();
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    println!(
        "{counts:?}, {} refused",
        model.refused.load(Ordering::Relaxed)
    );
    assert!(*least > 0 && most <= &(2 * least), "{counts:?}");
    for map in maps {
        assert_eq!(map.await.unwrap(), 0);
    }
}

fn failing(category: Category) -> (FnModel, Arc<AtomicUsize>) {
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    let model = FnModel::new(move |_: &Request| {
        counted.fetch_add(1, Ordering::Relaxed);
        Reply::failure(category)
    });
    (model, requests)
}

#[tokio::test]
async fn what_no_retry_mends_ends_the_asking_unless_the_map_keeps_going() {
    for category in [
        Category::ApiKeyError,
        Category::QuotaError,
        Category::NotFound,
    ] {
        let (model, requests) = failing(category);
        let results = Run::new(model).map(rows(1000)).concurrency(32).await;
        assert!(
            requests.load(Ordering::Relaxed) <= 40,
            "{category}: {requests:?}"
        );
        let errors: Vec<NodeError> = results.into_iter().map(Result::unwrap_err).collect();
        assert!(errors.len() == 1000 && errors.iter().all(|error| error.category() == category));
        assert!(
            errors[999]
                .message()
                .starts_with("not asked, because an earlier request of the map failed: ")
        );
        assert_eq!(errors[999].item(), Some(999));
        let (model, requests) = failing(category);
        let results = Run::new(model).map(rows(100)).keep_going().await;
        assert_eq!(
            (lost(&results), requests.load(Ordering::Relaxed)),
            (100, 100),
            "{category}"
        );
    }
}

/// Something that one request names is not there; the model is.
#[tokio::test]
async fn what_is_not_found_of_one_request_leaves_the_others_alone() {
    let model =
        FnModel::new(
            |request: &Request| match request.messages[0].content.ends_with('3') {
                true => Reply::failure(Category::NotFound),
                false => Reply::text("done"),
            },
        );
    let results = Run::new(model).map(rows(100)).concurrency(1).await;
    assert_eq!(lost(&results), 10);
}

#[tokio::test]
async fn the_maps_own_limit_ends_the_asking() {
    let model = FnModel::new(|_: &Request| Reply::text("done"));
    let run = Run::new(model);
    let results = run
        .map(rows(100))
        .concurrency(4)
        .limits(Limits::new().requests(10))
        .await;
    assert_eq!(lost(&results), 90);
    let last = results[99].as_ref().unwrap_err();
    assert_eq!(last.category(), Category::LimitExceeded);
    assert!(last.message().contains("not asked, because"), "{last}");
}

/// Has a value to fall back on, or another model.
struct Cautious {
    model: bool,
}

const SPARE: &Settings = &Settings::new().stated_fallback_model("spare");
const PLAIN: &Settings = &Settings::new();

impl Node for Cautious {
    type Output = String;
    const NAME: &'static str = "cautious";
    const FACTS: NodeFacts = NodeFacts::new().fallback(true).retries_itself(true);

    fn settings(&self) -> &'static Settings {
        if self.model { SPARE } else { PLAIN }
    }
}

impl Exec<()> for Cautious {
    async fn exec(&self, cx: &Cx<'_, ()>) -> Result<String, BoxError> {
        llmnode_runtime::private::exec(self, cx).await
    }
}

impl LlmNode<()> for Cautious {
    fn render(&self, _: &(), to: &mut Prompt) {
        to.user(&[Segment::text("Hello?")]);
    }

    fn output(&self) -> OutputSpec<String, ()> {
        OutputSpec::text()
    }

    fn fallback<'a>(
        &'a self,
        _: &'a (),
        _: &'a NodeError,
        to: &'a mut Option<String>,
    ) -> Option<FallbackFuture<'a>> {
        Some(Box::pin(async {
            *to = Some("the fallback".to_owned());
            Ok(())
        }))
    }
}

#[tokio::test(start_paused = true)]
async fn a_declared_fallback_comes_first_and_ends_the_item() {
    for model in [false, true] {
        let (down, requests) = failing(Category::RateLimitError);
        let run = Run::new(down).model(
            "spare",
            FnModel::new(|_: &Request| Reply::text("of the spare")),
        );
        let began = Instant::now();
        let nodes = (0..100).map(|_| Cautious { model });
        let results = run.map(nodes).report().await;
        let used_fallback = if model {
            UsedFallback::Model
        } else {
            UsedFallback::Value
        };
        for result in results {
            let record = result.unwrap().record;
            assert_eq!(
                (record.used_fallback, record.put_back),
                (Some(used_fallback), 0)
            );
        }
        // In place of waiting, another model is asked.
        if model {
            assert!(began.elapsed() < 10 * SECOND, "{:?}", began.elapsed());
            assert!(requests.load(Ordering::Relaxed) < 60, "{requests:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_map_gives_up_in_the_end() {
    let (model, _) = failing(Category::ServerError);
    let began = Instant::now();
    let results = Run::new(model)
        .map(rows(100))
        .give_up_after(60 * SECOND)
        .await;
    assert_eq!(lost(&results), 100);
    assert!(
        (60..80).contains(&began.elapsed().as_secs()),
        "{:?}",
        began.elapsed()
    );
    let errors: Vec<NodeError> = results.into_iter().map(Result::unwrap_err).collect();
    assert!(
        errors
            .iter()
            .all(|error| error.category() == Category::ServerError)
    );
    assert!(
        errors[99].message().starts_with("not asked, because"),
        "{}",
        errors[99]
    );
}

#[tokio::test(start_paused = true)]
async fn progress_says_that_a_map_is_held_and_dropping_it_ends_at_once() {
    let model = Limited::new(refused_for_ten_seconds);
    let run = Run::new(Arc::clone(&model));
    let seen: Mutex<Vec<BatchProgress>> = Mutex::default();
    let map = run
        .map(rows(2000))
        .on_progress(|progress| seen.lock().unwrap().push(*progress));
    let began = Instant::now();
    timeout(Duration::from_millis(8500), map).await.unwrap_err();
    assert_eq!(began.elapsed(), Duration::from_millis(8500));
    let seen = seen.into_inner().unwrap();
    let held: Vec<&BatchProgress> = seen
        .iter()
        .filter(|progress| progress.held.is_some())
        .collect();
    assert!(
        held.iter()
            .any(|progress| progress.held.unwrap() > began.into_std() + 8 * SECOND)
    );
    assert!(
        seen.iter().all(|progress| progress.in_flight <= 8)
            && held.iter().any(|one| one.in_flight > 0)
    );
    assert!(
        seen.iter()
            .filter(|progress| progress.done > 0 && progress.held.is_none())
            .count()
            > 100
    );
}

#[tokio::test(start_paused = true)]
async fn a_put_back_item_has_one_result_whose_record_says_so() {
    let model = Limited::new(refused_for_ten_seconds);
    let run = Run::new(Arc::clone(&model));
    let results = run
        .map(rows(1000))
        .concurrency(32)
        .transport_retries(0)
        .report()
        .await;
    let records: Vec<_> = results
        .into_iter()
        .map(|result| result.unwrap().record)
        .collect();
    let put_back: usize = records.iter().map(|record| record.put_back as usize).sum();
    assert!(put_back > 0);
    let stats = run.ledger().of::<Say>().unwrap();
    assert_eq!(
        stats.visits as usize,
        1000 + put_back,
        "each asking is a call of its own"
    );
    assert_eq!(
        stats.usage.requests as usize,
        model.requests.load(Ordering::Relaxed)
    );
}

#[tokio::test(start_paused = true)]
async fn single_calls_keep_failing_fast() {
    let (model, requests) = failing(Category::RateLimitError);
    let run = Run::new(model);
    for _ in 0..20 {
        let began = Instant::now();
        let error = run.call(&say("hello")).await.unwrap_err();
        assert_eq!(error.category(), Category::RateLimitError);
        assert!(began.elapsed() < 20 * SECOND, "{:?}", began.elapsed());
    }
    assert!(requests.load(Ordering::Relaxed) <= 60);
    // Without a retry in its stack, a call does not wait at all.
    let began = Instant::now();
    run.call(&say("hello"))
        .transport_retries(0)
        .await
        .unwrap_err();
    assert_eq!(began.elapsed(), Duration::ZERO);
}

/// Also the wait at a gate that another request closed again.
#[tokio::test(start_paused = true)]
async fn what_a_call_waits_is_in_the_records_of_its_attempts() {
    let model = Limited::new(refused_for_ten_seconds);
    let run = Run::new(Arc::clone(&model));
    run.call(&say("first")).await.unwrap();
    sleep(6 * SECOND).await;
    let nodes = [say("a"), say("b"), say("c")];
    let [a, b, c] = &nodes;
    let call = |node| run.call(node).transport_retries(20).report();
    let (a, b, c) = tokio::try_join!(call(a), call(b), call(c)).unwrap();
    for record in [a.record, b.record, c.record] {
        let spent: Duration = record
            .attempts
            .iter()
            .map(|attempt| attempt.wait + attempt.elapsed)
            .sum();
        assert!(record.elapsed > 2 * SECOND, "{:?}", record.elapsed);
        assert!(
            record.elapsed.abs_diff(spent) < SECOND / 10,
            "{:?} and {spent:?}",
            record.elapsed
        );
    }
}

/// A node that must not be executed twice.
struct Once;

impl Node for Once {
    type Output = String;
    const NAME: &'static str = "once";
    const FACTS: NodeFacts = NodeFacts::new().idempotent(false).retries_itself(true);
}

impl Exec<()> for Once {
    async fn exec(&self, cx: &Cx<'_, ()>) -> Result<String, BoxError> {
        llmnode_runtime::private::exec(self, cx).await
    }
}

impl LlmNode<()> for Once {
    fn render(&self, _: &(), to: &mut Prompt) {
        to.user(&[Segment::text("Hello?")]);
    }

    fn output(&self) -> OutputSpec<String, ()> {
        OutputSpec::text()
    }
}

/// Calls such a node, and could itself be executed again.
struct Around;

impl Node for Around {
    type Output = String;
    const NAME: &'static str = "around";
}

impl Exec<()> for Around {
    async fn exec(&self, cx: &Cx<'_, ()>) -> Result<String, BoxError> {
        Ok(cx.call(&Once).await?)
    }
}

#[tokio::test(start_paused = true)]
async fn what_must_not_be_executed_again_is_never_put_back() {
    let (model, requests) = failing(Category::RateLimitError);
    let results = Run::new(model).map((0..3).map(|_| Once)).await;
    assert_eq!((lost(&results), requests.load(Ordering::Relaxed)), (3, 3));
    let (model, requests) = failing(Category::RateLimitError);
    let results = Run::new(model).map((0..3).map(|_| Around)).await;
    assert_eq!((lost(&results), requests.load(Ordering::Relaxed)), (3, 3));
}

/// A request that is too large for the limit by itself.
#[tokio::test(start_paused = true)]
async fn an_item_that_is_always_refused_while_others_are_answered_fails() {
    let model = FnModel::new(
        |request: &Request| match request.messages[0].content == "row 7" {
            true => Reply::error(limit()),
            false => Reply::text("done"),
        },
    );
    let results = Run::new(model).map(rows(3000)).concurrency(4).await;
    assert_eq!(lost(&results), 1);
    assert_eq!(
        results[7].as_ref().unwrap_err().category(),
        Category::RateLimitError
    );
}

/// A failure that comes at random.
fn failure(kind: u8) -> Option<ModelError> {
    match kind {
        0 => Some(limit()),
        1 => Some(ModelError::unreached(
            Category::Network,
            "connection refused",
        )),
        2 => Some(ModelError::new(Category::ServerError, "HTTP 503")),
        3 => Some(ModelError::new(Category::Timeout, "no answer")),
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// However the endpoint fails, each item has one result, in time, and the books are right.
    #[test]
    fn items_that_are_put_back_keep_deadlines_limits_and_books(
        kinds in prop::collection::vec(0..9_u8, 1..200),
        rows_count in 1..40_usize,
        in_flight in 1..12_usize,
        deadline in 1..20_u32,
        most in 20..400_u64,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let script = Mutex::new(kinds.into_iter());
            let requests = Arc::new(AtomicUsize::new(0));
            let counted = Arc::clone(&requests);
            let model = FnModel::new(move |_: &Request| {
                counted.fetch_add(1, Ordering::Relaxed);
                let kind = script.lock().unwrap().next().unwrap_or(9);
                let reply = failure(kind).map_or_else(|| Reply::text("done"), Reply::error);
                reply.after(Duration::from_millis(u64::from(kind) * 100))
            });
            let run = Run::new(model);
            let map = run.map(rows(rows_count)).concurrency(in_flight).deadline(deadline * SECOND);
            let results = map.limits(Limits::new().requests(most)).report().await;
            assert_eq!(results.len(), rows_count);
            let calls = run.ledger().calls();
            for call in &calls {
                assert!(call.elapsed <= deadline * SECOND + Duration::from_millis(1), "{:?}", call.elapsed);
                assert!(call.attempts.len() <= 3, "each call has its own bound");
            }
            for (row, result) in results.iter().enumerate() {
                let of_row = calls.iter().filter(|call| call.item == Some(row as u32));
                let put_back: Vec<u32> = of_row.map(|call| call.put_back).collect();
                assert_eq!(put_back, (0..put_back.len() as u32).collect::<Vec<_>>(), "in order, each once");
                if let Ok(report) = result {
                    assert_eq!(report.record.put_back as usize + 1, put_back.len());
                }
            }
            let asked = run.ledger().total().requests as usize;
            let unsent = calls.iter().flat_map(|call| &call.attempts).filter(|attempt| attempt.unsent).count();
            assert_eq!(asked + unsent, requests.load(Ordering::Relaxed));
            assert!(asked as u64 <= most);
        });
    }
}

/// Its second turn is refused for a while, after its tool ran.
#[tokio::test(start_paused = true)]
async fn an_agent_goes_on_behind_its_tools_and_runs_none_twice() {
    let executed = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&executed);
    let count = move |_: serde_json::Value| {
        counted.fetch_add(1, Ordering::Relaxed);
        async { Ok::<_, BoxError>("3 books") }
    };
    let tools = Toolset::new().json_function("count", "Counts.", json!({"type": "object"}), count);
    let agent = DynNode::builder("librarian")
        .text()
        .tools(tools)
        .build()
        .unwrap();
    let first = Mutex::new(None);
    let model = FnModel::new(move |request: &Request| {
        let since = first
            .lock()
            .unwrap()
            .get_or_insert_with(Instant::now)
            .elapsed();
        let has_result = request
            .messages
            .iter()
            .any(|message| message.answers().is_some());
        match has_result {
            true if since < 20 * SECOND => Reply::error(limit()),
            true => Reply::text("three"),
            false => Reply::text("").call("count", json!({})),
        }
    });
    let nodes = (0..10).map(|number| agent.ask(format!("How many, {number}?")));
    let results = Run::new(model)
        .map(nodes)
        .transport_retries(0)
        .report()
        .await;
    let records: Vec<_> = results
        .into_iter()
        .map(|result| result.unwrap().record)
        .collect();
    assert_eq!(executed.load(Ordering::Relaxed), 10);
    assert!(records.iter().any(|record| record.put_back > 0));
}

/// A model whose handle has a pace.
struct Paced {
    gates: Gates,
    sent: Mutex<Vec<Instant>>,
}

impl ChatModel for Paced {
    fn complete<'a>(
        &'a self,
        _: &'a Request,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        self.sent.lock().unwrap().push(Instant::now());
        if sink.wants_rate_limits() && self.gates.are_idle() && !self.gates.are_paced() {
            let remaining = RateLimit {
                limit: Some(60),
                remaining: 10,
                reset: 50 * SECOND,
            };
            sink.rate_limits(RateLimits {
                requests: Some(remaining),
                tokens: None,
                is_providers: true,
            });
        }
        let mut answer = Completion::new("done");
        answer.usage = Some(TokenUsage::new(90, 10));
        Box::pin(std::future::ready(Ok(answer)))
    }

    fn gates(&self) -> Option<&Gates> {
        Some(&self.gates)
    }
}

fn paced(pace: Option<Pace>) -> Arc<Paced> {
    Arc::new(Paced {
        gates: Gates::of_pace(pace),
        sent: Mutex::default(),
    })
}

#[tokio::test(start_paused = true)]
async fn a_pace_is_kept_by_all_who_share_the_handle_within_their_deadlines() {
    let model = paced(Some(Pace::per_minute().requests(120)));
    let run = Run::new(Arc::clone(&model));
    let began = Instant::now();
    let (map, calls) = tokio::join!(run.map(rows(20)).report().try_all(), async {
        for _ in 0..10 {
            run.call(&say("single")).await.unwrap();
        }
    });
    let () = calls;
    assert_eq!(
        began.elapsed().as_millis(),
        14_500,
        "30 requests, two a second"
    );
    let waited: Duration = map
        .unwrap()
        .iter()
        .map(|report| report.record.attempts[0].wait)
        .sum();
    assert!(
        waited > 5 * SECOND,
        "the waits are in the records: {waited:?}"
    );
    let late = run.map(rows(10)).concurrency(10).deadline(SECOND).await;
    assert!(
        late.iter().filter(|result| result.is_err()).count() <= 9,
        "{late:?}"
    );
    for error in late.into_iter().filter_map(Result::err) {
        assert_eq!(error.category(), Category::Timeout);
    }
}

#[tokio::test(start_paused = true)]
async fn tokens_are_counted_as_the_provider_counts_them() {
    let model = paced(Some(Pace::per_second().tokens(100)));
    let began = Instant::now();
    assert_eq!(lost(&Run::new(model).map(rows(21)).await), 0);
    assert!(
        (19..=21).contains(&began.elapsed().as_secs()),
        "{:?}",
        began.elapsed()
    );
}

/// A bucket of 60 that is nearly empty, into which one flows a second.
#[tokio::test(start_paused = true)]
async fn what_headers_say_slows_a_map_down_and_no_single_call() {
    let model = paced(None);
    let run = Run::new(Arc::clone(&model));
    let began = Instant::now();
    assert_eq!(lost(&run.map(rows(30)).concurrency(2).await), 0);
    assert!(began.elapsed() > 60 * SECOND, "{:?}", began.elapsed());
    let began = Instant::now();
    run.call(&say("single")).await.unwrap();
    assert_eq!(began.elapsed(), Duration::ZERO);
}
