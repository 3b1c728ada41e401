//! A flow of six steps with a loop, written by hand, so that the runtime is tested without the macros.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use llmnode_flow::flow::{Outline, RunExt, RunFlow, Step};
use llmnode_flow::journal::{Journal, JournalError, Record};
use llmnode_flow::private::{
    Arm, Edge, FlowCursor, FlowType, OnceLock, Progress, Runnable, Runner, Startable, Table, Target,
};
use llmnode_runtime::private::{LlmNode, OutputSpec, Prompt, Segment};
use llmnode_runtime::{
    BoxError, BoxFuture, Cx, Exec, FnModel, Node, NodeError, NodeFacts, Reply, Run, TokenUsage,
};
use serde::{Deserialize, Serialize};

/// The state of the tests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct World {
    /// How many steps are done.
    pub(crate) done: u32,
    pub(crate) rounds: u32,
    pub(crate) notes: Vec<String>,
    /// Grows by a third: a figure whose last digit tells whether it was read back exactly.
    pub(crate) weight: f64,
    pub(crate) padding: String,
    #[serde(skip_deserializing, skip_serializing_if = "is_plain")]
    pub(crate) handle: Option<&'static str>,
}

/// Nothing to write; of one that is called so, a bug.
fn is_plain(handle: &Option<&'static str>) -> bool {
    if *handle == Some("panic") {
        panic!("a bug");
    }
    true
}

/// How the flow ends.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Outcome {
    Published(String),
}

const NAMES: [&str; 6] = ["plan", "search", "read", "judge", "write", "publish"];

/// Asks the model, and notes what it said.
pub(crate) struct Ask<const STEP: usize> {
    done: u32,
}

impl<const STEP: usize> Node for Ask<STEP> {
    type Output = String;
    const NAME: &'static str = NAMES[STEP];
    const FACTS: NodeFacts = NodeFacts::new().retries_itself(true);
}

impl<const STEP: usize> Exec<World> for Ask<STEP> {
    async fn exec(&self, cx: &Cx<'_, World>) -> Result<String, BoxError> {
        llmnode_runtime::private::exec(self, cx).await
    }
}

impl<const STEP: usize> LlmNode<World> for Ask<STEP> {
    fn render(&self, _: &World, to: &mut Prompt) {
        let asked = format!("{} {}", self.done, NAMES[STEP]);
        to.user(&[Segment::value(&asked)]);
    }

    fn output(&self) -> OutputSpec<String, World> {
        OutputSpec::text()
    }
}

impl<const STEP: usize> Step<World> for Ask<STEP> {
    type Output = <Self as Node>::Output;
    type Action = bool;

    async fn prep(state: &World) -> Result<Self, BoxError> {
        Ok(Ask { done: state.done })
    }

    fn post(self, output: String, state: &mut World) -> Result<bool, BoxError> {
        state.done += 1;
        state.weight += 1.0 / 3.0;
        state.notes.push(output);
        state.rounds += u32::from(NAMES[STEP] == "judge");
        Ok(state.rounds < 3)
    }
}

/// How many steps one run of the flow takes.
pub(crate) const STEPS: u64 = 12;
/// What each answer reports.
pub(crate) const TOKENS: u64 = 15;

/// ```text
/// flow! { Research(World) -> Outcome:
///     Plan => Search,
///     Search => Read,
///     Read => Judge,
///     Judge => match { true => Search, false => Write },
///     Write => Publish,
///     Publish => end(Outcome::Published(..)),
/// }
/// ```
pub(crate) struct Research;

impl FlowType<World> for Research {
    type Action = Outcome;

    fn table() -> &'static Table<World, Outcome> {
        static TABLE: OnceLock<Table<World, Outcome>> = OnceLock::new();
        TABLE.get_or_init(|| {
            Table::<World, Outcome>::new("research", None)
                .step::<Ask<0>>("Plan", [Edge::new("", Target::Step(1))], |_| Arm::to(0))
                .step::<Ask<1>>("Search", [Edge::new("", Target::Step(2))], |_| Arm::to(0))
                .step::<Ask<2>>("Read", [Edge::new("", Target::Step(3))], |_| Arm::to(0))
                .step::<Ask<3>>(
                    "Judge",
                    [
                        Edge::new("true", Target::Step(1)),
                        Edge::new("false", Target::Step(4)),
                    ],
                    |again| Arm::to(usize::from(!again)),
                )
                .step::<Ask<4>>("Write", [Edge::new("", Target::Step(5))], |_| Arm::to(0))
                .step::<Ask<5>>("Publish", [Edge::new("", Target::End)], |_| {
                    Arm::end(0, Outcome::Published("done".to_owned()))
                })
        })
    }
}

macro_rules! runs_by_hand {
    ($flow:ty, $action:ty) => {
        impl Runnable<World> for $flow {
            type Action = $action;

            fn advance<'f>(
                flow: FlowCursor<'f, World>,
                prepared: Option<Self>,
            ) -> impl Future<Output = Result<Progress<$action>, NodeError>> + core::marker::Send
            {
                llmnode_flow::private::advance(flow, prepared)
            }

            fn outline_within(around: llmnode_flow::private::OuterFlows<'_>) -> Outline {
                llmnode_flow::private::outline::<Self, World>(around)
            }
        }

        impl Startable<World> for $flow {}

        impl<'r> RunFlow<'r, World> for $flow {
            type Action = $action;

            fn runner(self) -> Runner<'r, World, $action> {
                llmnode_flow::private::runner(self)
            }
        }
    };
}
pub(crate) use runs_by_hand;

runs_by_hand!(Research, Outcome);

/// A model that echoes what it is asked, and reports what that cost.
pub(crate) fn model() -> FnModel {
    FnModel::new(|request| answer(&request.messages[0].content)).named("fn")
}

pub(crate) fn answer(asked: &str) -> Reply {
    let usage = TokenUsage::new(10, 5);
    Reply::text(format!("answer to {asked}")).usage(usage)
}

/// Answers so often, and refuses from then on.
pub(crate) fn fails_after(answers: usize) -> FnModel {
    let asked = AtomicUsize::new(0);
    FnModel::new(move |request| {
        if asked.fetch_add(1, Ordering::Relaxed) < answers {
            return answer(&request.messages[0].content);
        }
        Reply::failure(llmnode_runtime::Category::Refusal)
    })
    .named("fn")
}

pub(crate) fn run(model: FnModel) -> Run<World> {
    Run::new(model).with_state(World::default())
}

/// The state of a run that nothing disturbed.
pub(crate) async fn undisturbed() -> World {
    let mut run = run(model());
    run.flow(Research).await.unwrap();
    run.state().clone()
}

/// A file's path of its own for each test; what was there is gone.
pub(crate) fn path(name: &str) -> PathBuf {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-journal-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

/// A journal in memory that fails when it has so many records.
#[derive(Clone, Default)]
pub(crate) struct Memory {
    pub(crate) records: Arc<Mutex<Vec<Record>>>,
    pub(crate) full_at: Option<usize>,
}

impl Journal for Memory {
    fn read<'j>(
        &'j mut self,
        each: &'j mut (dyn FnMut(Record) + Send),
    ) -> BoxFuture<'j, Result<(), JournalError>> {
        self.records.lock().unwrap().iter().cloned().for_each(each);
        Box::pin(std::future::ready(Ok(())))
    }

    fn append<'j>(&'j mut self, record: &'j Record) -> BoxFuture<'j, Result<(), JournalError>> {
        let mut records = self.records.lock().unwrap();
        let outcome = if Some(records.len()) == self.full_at {
            Err(JournalError::Other("no space left".into()))
        } else {
            records.push(record.clone());
            Ok(())
        };
        Box::pin(std::future::ready(outcome))
    }
}
