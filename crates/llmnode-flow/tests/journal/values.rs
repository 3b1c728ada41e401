//! States and actions of all kinds: a value that is `null` as JSON is kept, and one that cannot be read back ends the
//! flow before its step is recorded.

use std::cell::Cell;
use std::marker::PhantomData;

use llmnode_flow::flow::{Outline, RunExt, RunFlow, Step};
use llmnode_flow::journal::JournalFile;
use llmnode_flow::private as flow;
use llmnode_flow::private::{
    Arm, Edge, FlowCursor, FlowType, Progress, Runnable, Runner, Table, Target,
};
use llmnode_runtime::{BoxError, Category, Cx, Exec, Node, NodeError, NodeFacts, Run};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::support::{model, path};

thread_local! {
    /// How often a step was executed in this test, and which execution is to fail.
    static EXECUTED: Cell<u32> = const { Cell::new(0) };
    static FAILS: Cell<u32> = const { Cell::new(0) };
}

/// What a step does to the state.
trait State: Serialize + DeserializeOwned + Send + Sync + 'static {
    fn change(&mut self) {}
}

impl State for () {}
impl State for Option<u32> {}

/// A figure that the second execution makes a NaN of, which is `null` as JSON.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Mean {
    mean: f64,
}

impl State for Mean {
    fn change(&mut self) {
        self.mean = if EXECUTED.get() == 2 {
            f64::NAN
        } else {
            self.mean + 1.0
        };
    }
}

/// An action that is written, and cannot be read.
#[derive(Debug, Serialize, Deserialize)]
struct Score(f64);

impl Default for Score {
    fn default() -> Self {
        Score(f64::INFINITY)
    }
}

/// A step. `ONCE`: as `idempotent = false`.
struct Do<const ONCE: bool>;

impl<const ONCE: bool> Node for Do<ONCE> {
    type Output = ();
    const NAME: &'static str = "do";
    const FACTS: NodeFacts = NodeFacts::new().idempotent(!ONCE);
}

impl<S: State, const ONCE: bool> Exec<S> for Do<ONCE> {
    async fn exec(&self, _: &Cx<'_, S>) -> Result<(), BoxError> {
        EXECUTED.set(EXECUTED.get() + 1);
        if EXECUTED.get() == FAILS.get() {
            return Err(NodeError::new(Category::Refusal, "fails").into());
        }
        Ok(())
    }
}

impl<S: State, const ONCE: bool> Step<S> for Do<ONCE> {
    type Output = <Self as Node>::Output;
    type Action = ();

    async fn prep(_: &S) -> Result<Self, BoxError> {
        Ok(Do)
    }

    fn post(self, (): (), state: &mut S) -> Result<(), BoxError> {
        state.change();
        Ok(())
    }
}

/// `flow! { Two(S) -> A: First => Last, Last => end(A::default()) }`
struct Two<A, const ONCE: bool>(PhantomData<A>);

impl<S: State, A: Default + Send + 'static, const ONCE: bool> FlowType<S> for Two<A, ONCE> {
    type Action = A;

    fn table() -> &'static Table<S, A> {
        let table = Table::<S, A>::new("two", None)
            .step::<Do<false>>("First", [Edge::new("", Target::Step(1))], |()| Arm::to(0))
            .step::<Do<ONCE>>("Last", [Edge::new("", Target::End)], |()| {
                Arm::end(0, A::default())
            });
        // A static of its own for each instance cannot be written.
        Box::leak(Box::new(table))
    }
}

impl<S: State, A: Default + Send + Sync + 'static, const ONCE: bool> Runnable<S> for Two<A, ONCE> {
    type Action = A;

    fn advance<'f>(
        at: FlowCursor<'f, S>,
        prepared: Option<Self>,
    ) -> impl Future<Output = Result<Progress<A>, NodeError>> + Send {
        flow::advance(at, prepared)
    }

    fn outline_within(around: llmnode_flow::private::OuterFlows<'_>) -> Outline {
        flow::outline::<Self, S>(around)
    }
}

impl<'r, S: State, A: Default + Send + Sync + 'static, const ONCE: bool> RunFlow<'r, S>
    for Two<A, ONCE>
{
    type Action = A;

    fn runner(self) -> Runner<'r, S, A> {
        flow::runner(self)
    }
}

/// Resumes a journal with this state.
async fn resume<S: State, A, const ONCE: bool>(
    file: &std::path::Path,
    state: S,
) -> Result<A, NodeError>
where
    A: Serialize + DeserializeOwned + Default + Send + Sync + 'static,
{
    let flow = Two::<A, ONCE>(PhantomData);
    Run::new(model())
        .with_state(state)
        .flow(flow)
        .resume(JournalFile::open(file).unwrap())
        .await
}

/// A flow that has ended with an action that is `null`: whoever resumes it gets that again, and nothing runs.
async fn ends_once<A, const ONCE: bool>(name: &str)
where
    A: Serialize + DeserializeOwned + Default + Send + Sync + PartialEq + std::fmt::Debug + 'static,
{
    let path = path(name);
    EXECUTED.set(0);
    for _ in 0..3 {
        assert_eq!(
            resume::<(), A, ONCE>(&path, ()).await.unwrap(),
            A::default()
        );
        let history = JournalFile::open(&path).unwrap().history().unwrap();
        assert_eq!(
            (EXECUTED.get(), history.steps(), history.has_ended()),
            (2, 2, true)
        );
        assert_eq!(history.state(), Some("null"));
    }
    assert!(
        std::fs::read_to_string(path)
            .unwrap()
            .contains(r#""state":null,"action":null}"#)
    );
}

#[tokio::test]
async fn a_flow_that_ended_without_an_action_is_not_executed_again() {
    ends_once::<(), false>("unit").await;
    ends_once::<Option<u32>, false>("none").await;
}

#[tokio::test]
async fn nor_is_one_that_ended_with_a_step_of_effects() {
    ends_once::<(), true>("unit-once").await;
    ends_once::<Option<u32>, true>("none-once").await;
}

#[tokio::test]
async fn a_state_that_is_null_is_restored() {
    // The first step fails, and the last: the state stands in the first record, and in that of a step.
    for (fails, executed) in [(1, 3), (2, 3)] {
        let path = path(&format!("null-state-{fails}"));
        EXECUTED.set(0);
        FAILS.set(fails);
        resume::<Option<u32>, (), false>(&path, None)
            .await
            .unwrap_err();
        let mut run = Run::new(model()).with_state(Some(7));
        let journal = JournalFile::open(&path).unwrap();
        run.flow(Two::<(), false>(PhantomData))
            .resume(journal)
            .await
            .unwrap();
        assert_eq!(
            *run.state(),
            None,
            "the journal's state takes the place of the run's"
        );
        assert_eq!(EXECUTED.get(), executed);
    }
}

#[tokio::test]
async fn a_state_that_cannot_be_read_back_ends_the_flow_before_its_step_is_kept() {
    let path = path("nan");
    let error = resume::<Mean, (), false>(&path, Mean { mean: 0.0 })
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::Aborted);
    assert_eq!(
        error.message(),
        "the state after the step at `Last` cannot be written to the journal as JSON: mean is NaN, which JSON does not have; the \
         journal does not have this step, and `resume` executes it again"
    );
    let history = JournalFile::open(&path).unwrap().history().unwrap();
    assert_eq!(
        (
            history.steps(),
            history.position().to_string(),
            history.has_ended()
        ),
        (1, "Last".into(), false)
    );
    assert_eq!(history.state(), Some(r#"{"mean":1.0}"#));

    // The third execution gives the figure that the second did not.
    let mut run = Run::new(model()).with_state(Mean { mean: 0.0 });
    let journal = JournalFile::open(&path).unwrap();
    run.flow(Two::<(), false>(PhantomData))
        .resume(journal)
        .await
        .unwrap();
    assert_eq!((run.state(), EXECUTED.get()), (&Mean { mean: 2.0 }, 3));
}

#[tokio::test]
async fn nor_is_a_flow_ended_with_an_action_that_cannot_be_read_back() {
    let path = path("infinite");
    let error = resume::<(), Score, false>(&path, ()).await.unwrap_err();
    assert_eq!(error.category(), Category::Aborted);
    assert!(
        error.message().starts_with(
            "the flow's action after the step at `Last` cannot be written to the journal as JSON: it is inf, "
        ),
        "{error}"
    );
    let history = JournalFile::open(&path).unwrap().history().unwrap();
    assert_eq!((history.steps(), history.has_ended()), (1, false));
}

/// What is written differs from what is read.
#[derive(Debug, Default, Serialize)]
struct Odd(u32);

impl<'de> Deserialize<'de> for Odd {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let number = u32::deserialize(from)?;
        if number % 2 == 1 {
            Ok(Odd(number))
        } else {
            Err(serde::de::Error::custom("an even number"))
        }
    }
}

#[tokio::test]
async fn an_action_that_its_own_type_does_not_read_ends_the_flow_before_its_step_is_kept() {
    let error = resume::<(), Odd, false>(&path("even"), ())
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::Aborted);
    assert!(
        error
            .message()
            .starts_with("the flow's action after the step at `Last` cannot be read as `"),
        "{error}"
    );
    assert!(error.message().contains("an even number"), "{error}");
}

/// A state whose figures are optional: as JSON, one that is not finite would be read back as none.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Perhaps {
    figures: std::collections::BTreeMap<String, Vec<Option<f64>>>,
}

impl State for Perhaps {
    fn change(&mut self) {
        let figure = if EXECUTED.get() == 2 { f64::NAN } else { 1.0 };
        self.figures
            .entry("mean".to_owned())
            .or_default()
            .extend([None, Some(figure)]);
    }
}

#[tokio::test]
async fn a_number_that_json_does_not_have_is_not_taken_for_none() {
    let path = path("optional-nan");
    EXECUTED.set(0);
    let error = resume::<Perhaps, (), false>(&path, Perhaps::default())
        .await
        .unwrap_err();
    assert!(
        error
            .message()
            .contains(r#"as JSON: figures["mean"][3] is NaN, which JSON does not have; "#),
        "{error}"
    );
    let history = JournalFile::open(&path).unwrap().history().unwrap();
    assert_eq!(history.state(), Some(r#"{"figures":{"mean":[null,1.0]}}"#));
}
