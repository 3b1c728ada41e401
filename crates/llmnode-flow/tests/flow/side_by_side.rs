//! Batches and nodes that run side by side, as nodes and as steps.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use llmnode_flow::flow::{Batch, BatchStep, Outline, RunExt, Step, outline_of};
use llmnode_runtime::{BoxError, Category, Cx, Exec, Node, NodeError, Run, ScriptedModel};

#[derive(Default)]
struct World {
    words: Vec<String>,
    lengths: Vec<usize>,
    log: Vec<String>,
    executed: AtomicUsize,
    ended: AtomicUsize,
}

/// Tells the length of a word, the longer the later.
#[derive(Clone)]
struct Measure(String);

impl Node for Measure {
    type Output = usize;
    const NAME: &'static str = "Measure";
}

impl Exec<World> for Measure {
    async fn exec(&self, cx: &Cx<'_, World>) -> Result<usize, BoxError> {
        cx.state().executed.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_secs(self.0.len() as u64)).await;
        if self.0 == "bad" {
            return Err(NodeError::new(Category::BadResponse, "no length").into());
        }
        cx.state().ended.fetch_add(1, Ordering::Relaxed);
        Ok(self.0.len())
    }
}

impl BatchStep<World> for Measure {
    type Output = <Self as Node>::Output;
    type Action = usize;
    const CONCURRENCY: usize = 3;

    async fn prep(state: &World) -> Result<Vec<Self>, BoxError> {
        Ok(state.words.iter().cloned().map(Measure).collect())
    }

    fn post(items: Vec<Self>, outputs: Vec<usize>, state: &mut World) -> Result<usize, BoxError> {
        assert_eq!(items.len(), outputs.len());
        state.log.push(format!("measured {}", items.len()));
        state.lengths = outputs;
        Ok(items.len())
    }
}

/// Says its name after so many seconds.
struct Say<const SECONDS: u64>;

impl<const SECONDS: u64> Node for Say<SECONDS> {
    type Output = u64;
    const NAME: &'static str = "Say";
}

impl<const SECONDS: u64> Exec<World> for Say<SECONDS> {
    async fn exec(&self, cx: &Cx<'_, World>) -> Result<u64, BoxError> {
        cx.state().executed.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_secs(SECONDS)).await;
        if SECONDS == 2 && cx.state().words.is_empty() {
            return Err(NodeError::new(Category::BadResponse, "nothing to say").into());
        }
        cx.state().ended.fetch_add(1, Ordering::Relaxed);
        Ok(SECONDS)
    }
}

impl<const SECONDS: u64> Step<World> for Say<SECONDS> {
    type Output = <Self as Node>::Output;
    type Action = ();

    async fn prep(state: &World) -> Result<Self, BoxError> {
        if SECONDS == 1 && state.words.len() > 3 {
            return Err(NodeError::new(Category::PrepError, "too many words").into());
        }
        Ok(Say)
    }

    fn post(self, output: u64, state: &mut World) -> Result<(), BoxError> {
        state.log.push(format!(
            "said {output} of {}",
            state.ended.load(Ordering::Relaxed)
        ));
        Ok(())
    }
}

fn run(words: &[&str]) -> Run<World> {
    let words = words.iter().map(|word| word.to_string()).collect();
    Run::new(ScriptedModel::new()).with_state(World {
        words,
        ..World::default()
    })
}

#[tokio::test(start_paused = true)]
async fn a_batch_step_writes_all_outputs_back_in_order() {
    let mut run = run(&["three", "a", "", "four"]);
    assert_eq!(run.step::<Batch<Measure>>().await.unwrap(), 4);
    assert_eq!(run.state().lengths, [5, 1, 0, 4]);
    let stats = |batch: u64, items: u64| (batch, items);
    let ledger = run.ledger();
    let visits = stats(
        ledger.of::<Batch<Measure>>().unwrap().visits,
        ledger.of::<Measure>().unwrap().visits,
    );
    assert_eq!(visits, (1, 4), "each item is a call of its own");
    let calls = ledger.calls();
    let batch = calls
        .iter()
        .find(|call| call.node == "Batch<Measure>")
        .unwrap();
    assert_eq!(
        calls
            .iter()
            .filter(|call| call.parent == Some(batch.id))
            .count(),
        4
    );
}

#[tokio::test(start_paused = true)]
async fn the_first_error_of_a_batch_cancels_the_rest_and_names_the_item() {
    let mut run = run(&["a", "bad", "four", "later", "never begun"]);
    let error = run.step::<Batch<Measure>>().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "Measure (item 1): bad_response: no length"
    );
    assert_eq!(
        (error.item(), error.record().unwrap().node.as_ref()),
        (Some(1), "Measure")
    );
    let (executed, ended) = (&run.state().executed, &run.state().ended);
    assert_eq!(
        (
            executed.load(Ordering::Relaxed),
            ended.load(Ordering::Relaxed)
        ),
        (4, 1)
    );
    assert!(run.state().log.is_empty(), "no post ran");
    let mut ends: Vec<_> = run
        .ledger()
        .calls()
        .iter()
        .map(|call| call.category)
        .collect();
    ends.sort_by_key(|end| end.map(Category::as_str));
    use Category::{BadResponse, Cancelled};
    assert_eq!(
        ends,
        [
            None,
            Some(BadResponse),
            Some(BadResponse),
            Some(Cancelled),
            Some(Cancelled)
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_batch_has_so_many_items_under_way_and_no_more() {
    let run = run(&[]);
    let items: Vec<_> = ["aa"; 10]
        .into_iter()
        .map(|word| Measure(word.to_owned()))
        .collect();
    let began = tokio::time::Instant::now();
    assert_eq!(
        run.call(&Batch::new(items.clone()).concurrency(3))
            .await
            .unwrap(),
        [2; 10]
    );
    assert_eq!(
        began.elapsed(),
        Duration::from_secs(8),
        "four rounds of two seconds"
    );
    let began = tokio::time::Instant::now();
    assert_eq!(
        run.call(&Batch::new(items).concurrency(0)).await.unwrap(),
        [2; 10]
    );
    assert_eq!(
        began.elapsed(),
        Duration::from_secs(20),
        "none counts as one"
    );
}

#[tokio::test(start_paused = true)]
async fn nodes_side_by_side_give_all_outputs_typed() {
    let run = run(&[]);
    let began = tokio::time::Instant::now();
    let (one, (length, three)) = run
        .call(&(Say::<1>, (Measure("xy".to_owned()), Say::<3>)))
        .await
        .unwrap();
    assert_eq!((one, length, three), (1, 2, 3));
    assert_eq!(began.elapsed(), Duration::from_secs(3), "side by side");
    let calls = run.ledger().calls();
    let names: Vec<_> = calls.iter().map(|call| &*call.node).collect();
    assert_eq!(
        names,
        [
            "Say",
            "Measure",
            "Say",
            "(Measure, Say)",
            "(Say, (Measure, Say))"
        ]
    );
    assert_eq!(calls[0].parent, Some(calls[4].id));
    assert_eq!(calls[1].parent, Some(calls[3].id));
}

#[tokio::test(start_paused = true)]
async fn posts_run_in_order_after_the_last_branch_has_ended() {
    let mut run = run(&["a"]);
    run.step::<(Say<3>, Say<1>, Say<2>)>().await.unwrap();
    assert_eq!(
        run.state().log,
        ["said 3 of 3", "said 1 of 3", "said 2 of 3"]
    );
}

/// What its post does after it has written.
#[derive(Clone, Copy, PartialEq)]
enum After {
    Ends,
    Fails,
    Panics,
}

/// Writes its number, and then ends with the outcome that the test set.
struct Write<const NUMBER: usize>;

impl<const NUMBER: usize> Node for Write<NUMBER> {
    type Output = ();
    const NAME: &'static str = "Write";
}

impl<const NUMBER: usize> Exec<(After, Vec<usize>)> for Write<NUMBER> {
    async fn exec(&self, _: &Cx<'_, (After, Vec<usize>)>) -> Result<(), BoxError> {
        Ok(())
    }
}

impl<const NUMBER: usize> Step<(After, Vec<usize>)> for Write<NUMBER> {
    type Output = <Self as Node>::Output;
    type Action = ();

    async fn prep(_: &(After, Vec<usize>)) -> Result<Self, BoxError> {
        Ok(Write)
    }

    fn post(self, (): (), (after, written): &mut (After, Vec<usize>)) -> Result<(), BoxError> {
        written.push(NUMBER);
        match after {
            After::Fails if NUMBER == 2 => Err(NodeError::new(Category::Aborted, "no room").into()),
            After::Panics if NUMBER == 2 => panic!("a bug after it has written"),
            _ => Ok(()),
        }
    }
}

#[tokio::test]
async fn a_post_that_fails_has_written_what_it_wrote_and_so_have_those_before_it() {
    let run = |after| Run::new(ScriptedModel::new()).with_state((after, Vec::new()));
    for (after, category) in [
        (After::Fails, Category::Aborted),
        (After::Panics, Category::Panic),
    ] {
        let mut beside = run(after);
        let error = beside
            .step::<(Write<1>, Write<2>, Write<3>)>()
            .await
            .unwrap_err();
        assert_eq!(
            (error.category(), &beside.state().1[..]),
            (category, &[1, 2][..]),
            "{error}"
        );
        let mut alone = run(after);
        let error = alone.step::<Write<2>>().await.unwrap_err();
        assert_eq!(
            (error.category(), &alone.state().1[..]),
            (category, &[2][..]),
            "{error}"
        );
    }
    let mut all = run(After::Ends);
    all.step::<(Write<1>, Write<2>, Write<3>)>().await.unwrap();
    assert_eq!(all.state().1, [1, 2, 3]);
}

#[tokio::test(start_paused = true)]
async fn one_branch_that_fails_cancels_the_others_and_no_post_runs() {
    let mut run = run(&[]);
    let error = run.step::<(Say<3>, Say<1>, Say<2>)>().await.unwrap_err();
    assert_eq!(error.to_string(), "Say: bad_response: nothing to say");
    assert!(run.state().log.is_empty());
    assert_eq!(
        run.state().ended.load(Ordering::Relaxed),
        1,
        "the slowest was cancelled"
    );
}

#[tokio::test(start_paused = true)]
async fn a_branch_that_is_not_prepared_keeps_all_from_executing() {
    let mut run = run(&["a", "b", "c", "d"]);
    let error = run.step::<(Say<3>, Say<1>)>().await.unwrap_err();
    assert_eq!(error.to_string(), "Say: prep_error: too many words");
    assert_eq!(run.state().executed.load(Ordering::Relaxed), 0);
}

#[test]
fn outlines_show_branches_and_batches() {
    assert_eq!(
        outline_of::<Batch<Measure>, World>(),
        Outline::Batch("Measure".into())
    );
    let say = || Outline::Node("Say".into());
    let nested = outline_of::<(Say<1>, (Say<2>, Say<3>)), World>();
    assert_eq!(
        nested,
        Outline::Parallel(vec![say(), Outline::Parallel(vec![say(), say()])])
    );
    assert_eq!(
        <(Say<1>, Batch<Measure>) as Node>::NAME,
        "(Say, Batch<Measure>)"
    );
}
