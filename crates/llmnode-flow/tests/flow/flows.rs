//! Many runs of flows: one after the other, and side by side.

use std::time::Duration;

use llmnode_flow::flow::{Batch, BatchStep, Outline, RunExt, RunFlow, Step};
use llmnode_flow::private::{
    Arm, Edge, FlowCursor, FlowType, OnceLock, Progress, Runnable, Runner, Table, Target,
};
use llmnode_runtime::{BoxError, Category, Cx, Exec, Node, NodeError, Run, ScriptedModel};

/// What the flows work on.
#[derive(Debug, Default)]
struct Desk {
    file: String,
    words: Vec<String>,
    written: Vec<String>,
}

/// Splits the file into its words.
struct Split(String);

impl Node for Split {
    type Output = Vec<String>;
    const NAME: &'static str = "Split";
}

impl Exec<Desk> for Split {
    async fn exec(&self, _: &Cx<'_, Desk>) -> Result<Vec<String>, BoxError> {
        tokio::time::sleep(Duration::from_secs(self.0.len() as u64)).await;
        Ok(self.0.split(' ').map(str::to_owned).collect())
    }
}

impl Step<Desk> for Split {
    type Output = <Self as Node>::Output;
    type Action = ();

    async fn prep(state: &Desk) -> Result<Self, BoxError> {
        Ok(Split(state.file.clone()))
    }

    fn post(self, words: Vec<String>, state: &mut Desk) -> Result<(), BoxError> {
        state.words = words;
        Ok(())
    }
}

/// Writes one word larger.
struct Enlarge(String);

impl Node for Enlarge {
    type Output = String;
    const NAME: &'static str = "Enlarge";
}

impl Exec<Desk> for Enlarge {
    async fn exec(&self, _: &Cx<'_, Desk>) -> Result<String, BoxError> {
        if self.0 == "bad" {
            return Err(NodeError::new(Category::BadResponse, "a bad word").into());
        }
        Ok(self.0.to_uppercase())
    }
}

impl BatchStep<Desk> for Enlarge {
    type Output = <Self as Node>::Output;
    type Action = ();

    async fn prep(state: &Desk) -> Result<Vec<Self>, BoxError> {
        Ok(state.words.iter().cloned().map(Enlarge).collect())
    }

    fn post(_: Vec<Self>, outputs: Vec<String>, state: &mut Desk) -> Result<(), BoxError> {
        state.written.push(outputs.join(" "));
        Ok(())
    }
}

/// `flow! { File(Desk) -> usize { file: String }: Split => Batch<Enlarge>, Batch<Enlarge> as Words => end(1) }`
#[derive(Clone)]
struct File {
    file: String,
}

impl FlowType<Desk> for File {
    type Action = usize;

    fn table() -> &'static Table<Desk, usize> {
        static TABLE: OnceLock<Table<Desk, usize>> = OnceLock::new();
        TABLE.get_or_init(|| {
            Table::new("File", None)
                .step::<Split>("Split", [Edge::new("", Target::Step(1))], |()| Arm::to(0))
                .step::<Batch<Enlarge>>("Words", [Edge::new("", Target::End)], |()| Arm::end(0, 1))
        })
    }

    fn enter(self, state: &mut Desk) {
        state.file = self.file;
    }
}

impl Runnable<Desk> for File {
    type Action = usize;

    fn advance<'f>(
        flow: FlowCursor<'f, Desk>,
        prepared: Option<Self>,
    ) -> impl Future<Output = Result<Progress<usize>, NodeError>> + Send {
        llmnode_flow::private::advance(flow, prepared)
    }

    fn outline_within(around: llmnode_flow::private::OuterFlows<'_>) -> Outline {
        llmnode_flow::private::outline::<Self, Desk>(around)
    }
}

impl<'r> RunFlow<'r, Desk> for File {
    type Action = usize;

    fn runner(self) -> Runner<'r, Desk, usize> {
        llmnode_flow::private::runner(self)
    }
}

fn desk() -> Run<Desk> {
    Run::new(ScriptedModel::new()).with_state(Desk::default())
}

fn files<'f>(files: &'f [&'f str]) -> impl Iterator<Item = File> + Send + 'f {
    files.iter().map(|file| File {
        file: file.to_string(),
    })
}

#[tokio::test(start_paused = true)]
async fn p12_flows_run_one_after_the_other_each_with_its_parameters() {
    let mut run = desk();
    let mut told = Vec::new();
    let flows = run
        .flows(files(&["a b", "c", ""]))
        .on_progress(|so_far| told.push((so_far.done, so_far.total)));
    assert_eq!(flows.await.unwrap(), [1, 1, 1]);
    assert_eq!(told, [(1, Some(3)), (2, Some(3)), (3, Some(3))]);
    assert_eq!(run.state().written, ["A B", "C", ""]);
    assert_eq!(
        run.ledger().of::<Enlarge>().unwrap().visits,
        4,
        "batches within flows of a batch"
    );
    assert!(run.flows(files(&[])).await.unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn p9_a_flow_writes_its_own_parameters_and_nothing_else() {
    let mut run = desk();
    run.state_mut().written.push("kept".to_owned());
    run.flow(File {
        file: "x y".to_owned(),
    })
    .await
    .unwrap();
    assert_eq!(
        (run.state().file.as_str(), run.state().written.as_slice()),
        ("x y", &["kept".to_owned(), "X Y".to_owned()][..])
    );
}

#[tokio::test(start_paused = true)]
async fn p12_the_first_error_ends_the_flows_and_says_which_and_where() {
    let mut run = desk();
    let error = run.flows(files(&["a", "b bad", "c"])).await.unwrap_err();
    assert_eq!(
        run.state().written,
        ["A"],
        "what was done stays, and no further flow began"
    );
    assert_eq!(error.position().unwrap().to_string(), "Words");
    assert_eq!(error.category(), Category::BadResponse);

    let mut run = desk();
    let outcomes = run.flows(files(&["a", "b bad", "c"])).all().await;
    assert_eq!(run.state().written, ["A", "C"], "or all go on");
    assert_eq!(
        outcomes.iter().map(Result::is_ok).collect::<Vec<_>>(),
        [true, false, true]
    );
}

#[tokio::test(start_paused = true)]
async fn flows_side_by_side_have_states_of_their_own_and_are_joined_in_order() {
    let mut run = desk();
    run.state_mut().written.push("begin".to_owned());
    let began = tokio::time::Instant::now();
    let split = |desk: &Desk, File { file }: File| {
        (
            Desk {
                written: desk.written.clone(),
                ..Desk::default()
            },
            File { file },
        )
    };
    let (mut told, mut most) = (Vec::new(), 0);
    run.fork(files(&["four", "bb", "c d e"]), split)
        .concurrency(2)
        .on_progress(|so_far| told.push((so_far.done, so_far.elapsed.as_secs())))
        .join(|desk, part, action| {
            most = most.max(part.written.len());
            desk.written.push(format!("{} {action}", part.written[1]));
        })
        .await
        .unwrap();
    assert_eq!(run.state().written, ["begin", "FOUR 1", "BB 1", "C D E 1"]);
    assert_eq!(most, 2, "none saw what another wrote");
    assert_eq!(began.elapsed(), Duration::from_secs(7), "two at a time");
    assert_eq!(
        told.iter().map(|(done, _)| *done).collect::<Vec<_>>(),
        [1, 2, 3]
    );
    assert_eq!(
        run.ledger().of::<Enlarge>().unwrap().visits,
        5,
        "one ledger"
    );
}

#[tokio::test(start_paused = true)]
async fn one_flow_that_fails_cancels_those_beside_it_and_nothing_is_joined() {
    let mut run = desk();
    let split = |_: &Desk, file: File| (Desk::default(), file);
    let three = ["a long one", "bad", "c"];
    let joined = run
        .fork(files(&three), split)
        .join(|desk, _, _| desk.written.push("joined".to_owned()));
    let error = joined.await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "Words (Enlarge, item 1/0): bad_response: a bad word"
    );
    assert_eq!(
        (error.item(), error.items()),
        (Some(1), &[0, 1][..]),
        "the word within the file"
    );
    assert!(run.state().written.is_empty());
    let ends: Vec<_> = run
        .ledger()
        .calls()
        .iter()
        .map(|call| (call.node.to_string(), call.category))
        .collect();
    assert!(
        ends.contains(&("Split".to_owned(), Some(Category::Cancelled))),
        "{ends:?}"
    );

    let all = run.fork(files(&three), split).all().await;
    assert_eq!(
        all.iter()
            .map(|(_, outcome)| outcome.is_ok())
            .collect::<Vec<_>>(),
        [true, false, true]
    );
    let state = |at: usize| all[at].0.as_ref().unwrap();
    assert_eq!(
        (state(0).written.as_slice(), state(1).words.as_slice()),
        (&["A LONG ONE".to_owned()][..], &["bad".to_owned()][..])
    );
    let parts = run.fork(files(&["x", "y"]), split).await.unwrap();
    assert_eq!(
        parts
            .iter()
            .map(|(part, _)| part.written[0].as_str())
            .collect::<Vec<_>>(),
        ["X", "Y"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_flow_of_several_has_its_step_limit() {
    let mut run = desk();
    let error = run.flows(files(&["a"])).max_steps(1).await.unwrap_err();
    assert_eq!(error.category(), Category::LimitExceeded);
    let split = |_: &Desk, file: File| (Desk::default(), file);
    let error = run
        .fork(files(&["a"]), split)
        .max_steps(1)
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::LimitExceeded);
}

/// Files, the third of which panics where it is made.
fn torn() -> impl Iterator<Item = File> + Send {
    (0..).map(|number| {
        assert!(number < 2, "a bug in the iterator");
        File {
            file: "a".to_owned(),
        }
    })
}

#[tokio::test(start_paused = true)]
async fn an_iterator_of_flows_that_panics_ends_them_with_its_error() {
    let mut run = desk();
    let error = run.flows(torn()).await.unwrap_err();
    assert_eq!((error.category(), error.item()), (Category::Panic, Some(2)));
    assert!(
        error.message().ends_with("a bug in the iterator"),
        "{error}"
    );
    let mut told = Vec::new();
    let flows = run
        .flows(torn())
        .on_progress(|so_far| told.push((so_far.done, so_far.failed)));
    let outcomes = flows.all().await;
    assert_eq!(
        outcomes.iter().map(Result::is_ok).collect::<Vec<_>>(),
        [true, true, false]
    );
    assert_eq!(told, [(1, 0), (2, 0), (3, 1)]);
    let split = |_: &Desk, file: File| (Desk::default(), file);
    let forked = run.fork(torn(), split).all().await;
    assert_eq!(
        forked
            .iter()
            .map(|(state, _)| state.is_some())
            .collect::<Vec<_>>(),
        [true, true, false]
    );
    assert_eq!(run.fork(torn(), split).await.unwrap_err().item(), Some(2));
}

#[tokio::test(start_paused = true)]
async fn what_splits_the_state_may_panic_over_one_item() {
    let mut run = desk();
    let split = |_: &Desk, file: File| {
        assert!(file.file != "bad", "a bug in the split");
        (Desk::default(), file)
    };
    let mut told = Vec::new();
    let all = run
        .fork(files(&["a", "bad", "c"]), split)
        .on_progress(|so_far| told.push((so_far.done, so_far.failed)))
        .all()
        .await;
    assert_eq!(
        all.iter()
            .map(|(_, outcome)| outcome.is_ok())
            .collect::<Vec<_>>(),
        [true, false, true]
    );
    assert!(all[1].0.is_none());
    assert_eq!(told.last(), Some(&(3, 1)));
    let error = run
        .fork(files(&["a", "bad"]), split)
        .join(|_, _, _| {})
        .await
        .unwrap_err();
    assert_eq!((error.category(), error.item()), (Category::Panic, Some(1)));
    assert_eq!(
        error.message(),
        "the function that splits the state panicked: a bug in the split"
    );
}

#[tokio::test(start_paused = true)]
async fn what_joins_the_states_may_panic_over_one_item() {
    let mut run = desk();
    let split = |_: &Desk, file: File| (Desk::default(), file);
    let joined = run
        .fork(files(&["a", "b", "c"]), split)
        .join(|desk, part, _| {
            assert!(part.file != "b", "a bug in the join");
            desk.written.push(part.file);
        });
    let error = joined.await.unwrap_err();
    assert_eq!((error.category(), error.item()), (Category::Panic, Some(1)));
    assert_eq!(run.state().written, ["a"], "what was joined before stays");
}
