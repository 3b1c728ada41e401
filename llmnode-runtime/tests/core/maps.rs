//! Maps: streams of results, first errors, progress, backpressure, and exact counts at random.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use llmnode_runtime::ext::Batch;
use llmnode_runtime::{
    BatchProgress, BoxError, Category, Cx, Exec, FnModel, Limits, Node, NodeError, Reply, Run,
    ScriptedModel, Settings, TestClock,
};
use proptest::prelude::*;

use crate::support::say;

/// Waits, fails so often, and gives its number.
#[derive(Debug, Default)]
struct Work {
    number: usize,
    wait: u64,
    failures: u32,
    executed: AtomicU32,
}

impl Node for Work {
    type Output = usize;
    const NAME: &'static str = "work";
}

impl<S: ?Sized + Sync> Exec<S> for Work {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<usize, BoxError> {
        self.executed.fetch_add(1, Ordering::Relaxed);
        if self.wait > 0 {
            tokio::time::sleep(Duration::from_millis(self.wait)).await;
        }
        if cx.attempt().index() < self.failures {
            return Err(NodeError::new(Category::Network, "again").into());
        }
        Ok(self.number)
    }
}

fn work(number: usize, wait: u64) -> Work {
    Work {
        number,
        wait,
        ..Work::default()
    }
}

fn failing(number: usize, wait: u64) -> Work {
    Work {
        failures: u32::MAX,
        ..work(number, wait)
    }
}

fn run() -> Run {
    Run::new(ScriptedModel::new())
}

/// Counts how many of it there are.
struct Counted<'c> {
    alive: &'c AtomicUsize,
    number: usize,
}

impl<'c> Counted<'c> {
    fn new(alive: &'c AtomicUsize, most: &AtomicUsize, number: usize) -> Self {
        most.fetch_max(alive.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        Counted { alive, number }
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<'c> Node for Counted<'c> {
    type Output = Counted<'c>;
    const NAME: &'static str = "counted";
}

impl<'c, S: ?Sized + Sync> Exec<S> for Counted<'c> {
    async fn exec(&self, _: &Cx<'_, S>) -> Result<Counted<'c>, BoxError> {
        // Every so often one that is late, so that others wait for it.
        if self.number.is_multiple_of(1000) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        self.alive.fetch_add(1, Ordering::Relaxed);
        Ok(Counted {
            alive: self.alive,
            number: self.number,
        })
    }
}

const MANY: usize = 100_000;

#[tokio::test(start_paused = true)]
async fn a_hundred_thousand_items_are_never_more_in_memory_than_are_under_way() {
    let (alive, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let run = run();
    let nodes = || (0..MANY).map(|number| Counted::new(&alive, &most, number));

    let mut in_order = run.map(nodes()).concurrency(8).stream();
    let mut next = 0;
    while let Some(result) = in_order.next().await {
        assert_eq!(result.unwrap().number, next);
        next += 1;
    }
    assert_eq!((next, alive.load(Ordering::Relaxed)), (MANY, 0));
    assert!(
        most.load(Ordering::Relaxed) <= 18,
        "{most:?}: eight nodes or outputs, and one more of each"
    );
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_nodes_is_asked_only_where_there_is_room() {
    let (alive, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let run = run();
    let numbers = Trickle {
        left: (0..50_000).collect(),
        pending: false,
    };
    let nodes = Mapped(numbers, |number| Counted::new(&alive, &most, number));
    let mut results = run.map_stream(nodes).concurrency(3).as_completed();
    let mut seen = vec![false; 50_000];
    while let Some((index, result)) = results.next().await {
        let output = result.unwrap();
        assert_eq!(output.number, index);
        assert!(
            !std::mem::replace(&mut seen[index], true),
            "{index} came twice"
        );
    }
    assert!(seen.iter().all(|seen| *seen));
    assert!(most.load(Ordering::Relaxed) <= 8, "{most:?}");
    assert!(results.next().await.is_none(), "the end stays the end");
}

/// Has nothing to give every other time.
struct Trickle {
    left: VecDeque<usize>,
    pending: bool,
}

impl Stream for Trickle {
    type Item = usize;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<usize>> {
        self.pending = !self.pending;
        if self.pending {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(self.left.pop_front())
    }
}

struct Mapped<F>(Trickle, F);

impl<N, F: FnMut(usize) -> N + Unpin> Stream for Mapped<F> {
    type Item = N;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<N>> {
        let number = std::task::ready!(Pin::new(&mut self.0).poll_next(cx));
        Poll::Ready(number.map(&mut self.1))
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_result_holds_back_those_after_it_and_the_source() {
    let run = run();
    let asked = AtomicUsize::new(0);
    let nodes = (0..100).map(|number| {
        asked.fetch_add(1, Ordering::Relaxed);
        work(number, if number == 0 { 1000 } else { 1 })
    });
    let mut results = run.map(nodes).concurrency(4).stream();
    let began = tokio::time::Instant::now();
    assert_eq!(results.next().await.unwrap().unwrap(), 0);
    assert_eq!(began.elapsed(), Duration::from_secs(1));
    assert_eq!(
        asked.load(Ordering::Relaxed),
        4,
        "three that had ended kept their places"
    );
    for number in 1..100 {
        assert_eq!(results.next().await.unwrap().unwrap(), number);
    }
    assert!(results.next().await.is_none());
    assert!(results.next().await.is_none(), "the end stays the end");
}

#[tokio::test(start_paused = true)]
async fn results_come_as_calls_end_and_a_dropped_map_cancels_the_rest() {
    let run = run();
    let nodes: Vec<_> = [30, 10, 20, 40]
        .into_iter()
        .enumerate()
        .map(|(n, wait)| work(n, wait))
        .collect();
    let mut results = run.map(&nodes).as_completed();
    let mut order = Vec::new();
    for _ in 0..3 {
        order.push(results.next().await.unwrap().0);
    }
    assert_eq!(order, [1, 2, 0]);
    drop(results);
    let ends: Vec<_> = run
        .ledger()
        .calls()
        .iter()
        .map(|call| call.category)
        .collect();
    assert_eq!(ends, [None, None, None, Some(Category::Cancelled)]);
}

#[tokio::test(start_paused = true)]
async fn the_first_error_in_time_ends_a_map_that_wants_all() {
    let run = run();
    let nodes = [
        work(0, 50),
        failing(1, 30),
        failing(2, 20),
        work(3, 10),
        work(4, 99),
    ];
    let error = run.map(&nodes).concurrency(4).try_all().await.unwrap_err();
    assert_eq!(
        (error.item(), error.to_string().as_str()),
        (Some(2), "work (item 2): network: again")
    );
    let began: Vec<_> = nodes
        .iter()
        .map(|node| node.executed.load(Ordering::Relaxed))
        .collect();
    assert_eq!(
        began,
        [1, 1, 1, 1, 1],
        "the fifth took the place of the fourth"
    );
    let ends: Vec<_> = run
        .ledger()
        .calls()
        .iter()
        .map(|call| call.category)
        .collect();
    use Category::{Cancelled, Network};
    assert_eq!(
        ends,
        [
            None,
            Some(Network),
            Some(Cancelled),
            Some(Cancelled),
            Some(Cancelled)
        ]
    );

    let results = run.map(&nodes).concurrency(4).await;
    assert_eq!(
        results.iter().filter(|result| result.is_err()).count(),
        2,
        "or all of them"
    );
    assert_eq!(results[1].as_ref().unwrap_err().item(), Some(1));
}

#[tokio::test(start_paused = true)]
async fn progress_is_told_as_each_call_ends() {
    let run = run();
    let told = Mutex::new(Vec::new());
    let nodes = [work(0, 30), failing(1, 10), work(2, 20)];
    let results = run
        .map(&nodes)
        .on_progress(|so_far| told.lock().unwrap().push(*so_far))
        .await;
    assert_eq!(results.len(), 3);
    let told = told.into_inner().unwrap();
    let counts: Vec<_> = told
        .iter()
        .map(|so_far| (so_far.done, so_far.failed, so_far.total))
        .collect();
    assert_eq!(counts, [(1, 1, Some(3)), (2, 1, Some(3)), (3, 1, Some(3))]);
    let elapsed: Vec<_> = told
        .iter()
        .map(|so_far| so_far.elapsed.as_millis())
        .collect();
    assert_eq!(elapsed, [10, 20, 30]);
}

#[tokio::test]
async fn progress_that_panics_is_of_no_effect_and_an_unknown_total_is_none() {
    let run = run();
    let mut totals = Vec::new();
    let nodes = (0..10)
        .filter(|number| number % 2 == 0)
        .map(|number| work(number, 0));
    let results = run
        .map(nodes)
        .on_progress(|so_far| {
            totals.push(so_far.total);
            panic!("a bug in a progress bar")
        })
        .try_all();
    assert_eq!(results.await.unwrap(), [0, 2, 4, 6, 8]);
    assert_eq!(totals, [None; 5]);
}

/// Maps within a node.
struct Sum(usize);

impl Node for Sum {
    type Output = usize;
    const NAME: &'static str = "sum";
}

impl<S: ?Sized + Sync> Exec<S> for Sum {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<usize, BoxError> {
        let numbers = cx
            .map((0..self.0).map(|number| work(number, 0)))
            .try_all()
            .await?;
        Ok(numbers.into_iter().sum())
    }
}

#[tokio::test]
async fn what_a_node_maps_are_calls_of_its_own() {
    let run = run();
    assert_eq!(run.map([Sum(3), Sum(5)]).try_all().await.unwrap(), [3, 10]);
    let calls = run.ledger().calls();
    let sums: Vec<_> = calls
        .iter()
        .filter(|call| call.node == "sum")
        .map(|call| call.id)
        .collect();
    let children = |id| calls.iter().filter(|call| call.parent == Some(id)).count();
    let mut counts: Vec<_> = sums.into_iter().map(children).collect();
    counts.sort_unstable();
    assert_eq!(counts, [3, 5]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// PocketFlow's parallel batches share one counter of retries between their items: see its behaviour 13.
    #[test]
    fn p13_parallel_batches_keep_order_and_exact_counts_under_random_latencies(
        items in prop::collection::vec((0..40_u64, prop_oneof![3 => Just(0_u32), 2 => 0..5_u32]), 0..40),
        attempts in 1..5_u32,
        wait in 0..20_u64,
        concurrency in 1..12_usize,
    ) {
        let nodes: Arc<Vec<_>> = Arc::new(items.iter().enumerate().map(|(number, (wait, failures))| {
            Work { failures: *failures, ..work(number, *wait) }
        }).collect());
        let settings = Settings::new().attempts(attempts).wait(Duration::from_millis(wait));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let of = Arc::clone(&nodes);
        let all = runtime.unwrap().block_on(async {
            let run = run();
            let all = run.map(&*of).settings(settings.clone()).concurrency(concurrency).await;
            let mut stream = run.map(&*of).settings(settings.clone()).concurrency(concurrency).stream();
            for (number, result) in all.iter().enumerate() {
                let streamed = stream.next().await.unwrap();
                assert_eq!(streamed.ok(), result.as_ref().ok().copied(), "of item {number}");
            }
            assert!(stream.next().await.is_none());
            all
        });
        prop_assert_eq!(all.len(), nodes.len());
        for (number, (node, result)) in nodes.iter().zip(&all).enumerate() {
            prop_assert_eq!(result.as_ref().ok(), (node.failures < attempts).then_some(&number));
            let failed = result.as_ref().map_or_else(|error| error.failed_tries().len() as u32, |_| node.failures);
            prop_assert_eq!(failed, node.failures.min(attempts));
            let executed = node.executed.load(Ordering::Relaxed);
            prop_assert_eq!(executed, 2 * (node.failures + 1).min(attempts), "of two maps");
        }
    }

    #[test]
    fn a_batch_gives_all_outputs_in_order_or_the_first_error(
        items in prop::collection::vec((0..40_u64, 0..8_u32), 0..30),
        concurrency in 1..12_usize,
    ) {
        let nodes: Vec<_> = items.iter().enumerate().map(|(number, (wait, luck))| {
            Work { failures: if *luck == 0 { 9 } else { 0 }, ..work(number, *wait) }
        }).collect();
        let fails = nodes.iter().any(|node| node.failures > 0);
        let batch = Batch::new(nodes).concurrency(concurrency);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let outcome = runtime.unwrap().block_on(async { run().with_clock(TestClock::new()).call(&batch).attempts(2).await });
        match outcome {
            Ok(outputs) => prop_assert!(!fails && outputs.into_iter().eq(0..items.len())),
            Err(error) => {
                let item = error.item().unwrap();
                prop_assert!(batch.items()[item].failures > 0);
                prop_assert_eq!(batch.items()[item].executed.load(Ordering::Relaxed), 2);
            }
        }
        prop_assert!(batch.items().iter().all(|node| node.executed.load(Ordering::Relaxed) <= 2));
    }
}

/// Gives so many nodes, and then panics, however often it is asked.
struct Torn(usize);

impl Iterator for Torn {
    type Item = Work;

    fn next(&mut self) -> Option<Work> {
        self.0 = self
            .0
            .checked_sub(1)
            .unwrap_or_else(|| panic!("a bug in the iterator"));
        Some(work(self.0, 10))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        panic!("a bug in the hint")
    }
}

impl Stream for Torn {
    type Item = Work;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Work>> {
        Poll::Ready(self.next())
    }
}

#[tokio::test(start_paused = true)]
async fn an_iterator_that_panics_is_the_error_of_an_item_and_the_last_one() {
    let run = run();
    for concurrency in [1, 3, 8] {
        let told = Mutex::new(Vec::new());
        let tell =
            |so_far: &BatchProgress| told.lock().unwrap().push((so_far.total, so_far.failed));
        let mut results = run
            .map(Torn(3))
            .concurrency(concurrency)
            .on_progress(tell)
            .await;
        let error = results.remove(3).unwrap_err();
        assert_eq!((error.category(), error.item()), (Category::Panic, Some(3)));
        assert!(
            error.to_string().contains("a bug in the iterator"),
            "{error}"
        );
        assert_eq!(
            results.into_iter().map(Result::unwrap).collect::<Vec<_>>(),
            [2, 1, 0]
        );
        let told = told.into_inner().unwrap();
        assert_eq!((told.len(), told[3].0), (4, None));
        assert_eq!(told.iter().map(|(_, failed)| *failed).max(), Some(1));
    }
    let error = run.map(Torn(3)).try_all().await.unwrap_err();
    assert_eq!(error.item(), Some(3));
    let mut results = run.map(Torn(1)).stream();
    assert!(results.next().await.unwrap().is_ok());
    assert_eq!(
        results.next().await.unwrap().unwrap_err().category(),
        Category::Panic
    );
    assert!(results.next().await.is_none(), "the end stays the end");
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_panics_is_the_error_of_an_item_and_the_last_one() {
    let run = run();
    let mut results = run.map_stream(Torn(2)).as_completed();
    let mut ends = Vec::new();
    while let Some((index, result)) = results.next().await {
        ends.push((index, result.map_err(|error| error.category())));
    }
    assert_eq!(ends, [(2, Err(Category::Panic)), (0, Ok(1)), (1, Ok(0))]);
}

#[tokio::test]
async fn each_item_has_its_report_and_an_error_has_its_own() {
    let model = ScriptedModel::new()
        .reply("one")
        .reply(Reply::failure(Category::BadRequest))
        .reply("three");
    let run = Run::new(model);
    let nodes = || (0..3).map(|_| say(""));
    let reports = run.map(nodes()).concurrency(1).report().await;
    let answers: Vec<_> = reports
        .iter()
        .flatten()
        .map(|report| report.value.as_str())
        .collect();
    assert_eq!(answers, ["one", "three"]);
    assert!(
        reports
            .iter()
            .flatten()
            .all(|report| report.record.attempts.len() == 1)
    );
    let error = reports[1].as_ref().err().unwrap();
    assert_eq!((error.item(), error.attempts().len()), (Some(1), 1));

    let run = Run::new(FnModel::new(|_| "hi"));
    let all = run.map(nodes()).report().try_all().await.unwrap();
    assert_eq!(
        all.iter()
            .map(|report| report.record.usage().requests)
            .sum::<u64>(),
        3
    );
    let mut stream = run.map(nodes()).report().stream();
    assert_eq!(stream.next().await.unwrap().unwrap().record.node, "say");
}

#[tokio::test]
async fn the_calls_of_a_map_spend_together_beside_the_limits_around_it() {
    let run = Run::new(FnModel::new(|_| "hi"));
    let nodes = || (0..5).map(|_| say(""));
    let good = |results: Vec<Result<String, NodeError>>| {
        results.iter().filter(|result| result.is_ok()).count()
    };
    let limits = Limits::new().requests(3);
    let results = run.map(nodes()).limits(limits).await;
    let refused = results
        .iter()
        .find_map(|result| result.as_ref().err())
        .unwrap();
    let message =
        "the limit of 3 requests for the map is reached: 3 spent; it is set by `Map::limits`";
    assert_eq!(refused.message(), message);
    assert_eq!(good(results), 3);
    assert_eq!(
        good(run.map(nodes()).limits(limits).await),
        3,
        "each map counts for itself"
    );
    let limited = run.with_limits(Limits::new().requests(4));
    assert_eq!(good(limited.map(nodes()).limits(limits).await), 3);
    assert_eq!(
        good(limited.map(nodes()).limits(limits).await),
        1,
        "and counts for the run"
    );
    let error = limited
        .map(nodes())
        .limits(Limits::new().requests(0))
        .try_all()
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
}
