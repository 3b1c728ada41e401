//! A flow as `flow!` declares it, over steps that are written by hand.

use llmnode_flow::flow::{EdgeTarget, Outline, Position, RunExt, RunFlow, Step, outline_of};
use llmnode_flow::private::{
    Arm, Edge, FlowCursor, FlowType, OnceLock, Progress, Runnable, Runner, Startable, Table, Target,
};
use llmnode_runtime::{BoxError, Category, Cx, Exec, Node, NodeError, Run, ScriptedModel};

#[derive(Default)]
pub(crate) struct World {
    pub(crate) count: u32,
    pub(crate) log: Vec<String>,
    pub(crate) inner: Part,
}

#[derive(Default)]
pub(crate) struct Part {
    pub(crate) name: String,
}

enum Decision {
    Again,
    Enough,
}

/// Counts, and decides.
struct Count {
    from: u32,
}

impl Node for Count {
    type Output = u32;
    const NAME: &'static str = "count";
}

impl Exec<World> for Count {
    async fn exec(&self, _: &Cx<'_, World>) -> Result<u32, BoxError> {
        Ok(self.from + 1)
    }
}

impl Step<World> for Count {
    type Output = <Self as Node>::Output;
    type Action = Decision;

    async fn prep(state: &World) -> Result<Self, BoxError> {
        if state.count > 90 {
            return Err(NodeError::new(Category::PrepError, "count: too much").into());
        }
        Ok(Count { from: state.count })
    }

    fn post(self, output: u32, state: &mut World) -> Result<Decision, BoxError> {
        state.count = output;
        state.log.push(format!("count {output}"));
        Ok(if output < 3 {
            Decision::Again
        } else {
            Decision::Enough
        })
    }
}

pub(crate) struct Greet {
    name: String,
}

impl Node for Greet {
    type Output = String;
    const NAME: &'static str = "greet";
}

impl Exec<Part> for Greet {
    async fn exec(&self, _: &Cx<'_, Part>) -> Result<String, BoxError> {
        Ok(format!("hello {}", self.name))
    }
}

impl Step<Part> for Greet {
    type Output = <Self as Node>::Output;
    type Action = ();

    async fn prep(state: &Part) -> Result<Self, BoxError> {
        Ok(Greet {
            name: state.name.clone(),
        })
    }

    fn post(self, output: String, state: &mut Part) -> Result<(), BoxError> {
        state.name = output;
        Ok(())
    }
}

/// `flow! { Inner(Part) -> &'static str { name: String => state.name }: Greet => end("greeted") }`
pub(crate) struct Inner {
    name: String,
}

impl FlowType<Part> for Inner {
    type Action = &'static str;

    fn table() -> &'static Table<Part, &'static str> {
        static TABLE: OnceLock<Table<Part, &'static str>> = OnceLock::new();
        TABLE.get_or_init(|| {
            Table::new("inner", None).step::<Greet>("Greet", [Edge::new("", Target::End)], |()| {
                Arm::end(0, "greeted")
            })
        })
    }

    fn enter(self, state: &mut Part) {
        state.name = self.name;
    }
}

impl Runnable<Part> for Inner {
    type Action = &'static str;

    fn advance<'f>(
        flow: FlowCursor<'f, Part>,
        prepared: Option<Self>,
    ) -> impl Future<Output = Result<Progress<&'static str>, NodeError>> + Send {
        llmnode_flow::private::advance(flow, prepared)
    }

    fn outline_within(around: llmnode_flow::private::OuterFlows<'_>) -> Outline {
        llmnode_flow::private::outline::<Self, Part>(around)
    }
}

/// ```text
/// flow! { Outer(World):
///     Count => match { Decision::Again => Count, Decision::Enough => Inner },
///     Inner { name: format!("{}", state.count) } in state.inner => match { "greeted" => Last, _ => todo!() },
///     Count as Last => match { Decision::Again => todo!(), Decision::Enough => end },
/// }
/// ```
pub(crate) struct Outer;

impl FlowType<World> for Outer {
    type Action = ();

    fn table() -> &'static Table<World, ()> {
        static TABLE: OnceLock<Table<World, ()>> = OnceLock::new();
        TABLE.get_or_init(|| {
            let counted = [
                Edge::new("Again", Target::Step(0)),
                Edge::new("Enough", Target::Step(1)),
            ];
            let entered = [
                Edge::new("greeted", Target::Step(2)),
                Edge::new("_", Target::Todo),
            ];
            let ended = [
                Edge::new("Again", Target::Todo),
                Edge::new("Enough", Target::End),
            ];
            Table::<World, ()>::new("outer", None)
                .step::<Count>("Count", counted, |action| match action {
                    Decision::Again => Arm::to(0),
                    Decision::Enough => Arm::to(1),
                })
                .step_with::<Inner, _>(
                    "Inner",
                    entered,
                    |state| Inner {
                        name: format!("{}", state.count),
                    },
                    |state| &mut state.inner,
                    |action| match action {
                        "greeted" => Arm::to(0),
                        _ => Arm::to(1),
                    },
                )
                .step::<Count>("Last", ended, |action| match action {
                    Decision::Again => Arm::to(0),
                    Decision::Enough => Arm::end(1, ()),
                })
        })
    }
}

impl Runnable<World> for Outer {
    type Action = ();

    fn advance<'f>(
        flow: FlowCursor<'f, World>,
        prepared: Option<Self>,
    ) -> impl Future<Output = Result<Progress<()>, NodeError>> + Send {
        llmnode_flow::private::advance(flow, prepared)
    }

    fn outline_within(around: llmnode_flow::private::OuterFlows<'_>) -> Outline {
        llmnode_flow::private::outline::<Self, World>(around)
    }
}

impl Startable<World> for Outer {}

impl<'r> RunFlow<'r, World> for Outer {
    type Action = ();

    fn runner(self) -> Runner<'r, World, ()> {
        llmnode_flow::private::runner(self)
    }
}

#[tokio::test]
async fn a_flow_loops_nests_and_ends() {
    let mut run = Run::new(ScriptedModel::new()).with_state(World::default());
    run.flow(Outer).await.unwrap();
    assert_eq!(
        run.state().log,
        ["count 1", "count 2", "count 3", "count 4"]
    );
    assert_eq!(run.state().inner.name, "hello 3");
    assert_eq!(run.ledger().of::<Count>().unwrap().visits, 4);
}

#[tokio::test]
async fn a_flow_starts_where_it_is_told() {
    let mut run = Run::new(ScriptedModel::new()).with_state(World {
        count: 7,
        ..World::default()
    });
    let at: Position = ["Inner", "Greet"].into_iter().collect();
    run.flow(Outer).from(at).await.unwrap();
    assert_eq!(
        run.state().inner.name,
        "hello ",
        "the parameters were written when the inner flow began"
    );
    assert_eq!(run.state().log, ["count 8"]);
}

#[tokio::test]
async fn a_flow_ends_at_its_step_limit() {
    let mut run = Run::new(ScriptedModel::new()).with_state(World::default());
    let error = run.flow(Outer).max_steps(2).await.unwrap_err();
    assert_eq!(error.category(), Category::LimitExceeded);
    assert!(
        error
            .to_string()
            .starts_with("Count: limit_exceeded: the flow `outer`"),
        "{error}"
    );
    assert_eq!(run.state().count, 2, "what the steps did stays");
}

#[tokio::test]
async fn a_prep_error_names_the_node_and_is_not_tried_again() {
    let mut run = Run::new(ScriptedModel::new()).with_state(World {
        count: 99,
        ..World::default()
    });
    let error = run.flow(Outer).await.unwrap_err();
    assert_eq!(error.to_string(), "Count: prep_error: count: too much");
    assert!(run.ledger().of::<Count>().is_none(), "it was never called");
}

#[tokio::test]
async fn a_step_runs_alone() {
    let mut run = Run::new(ScriptedModel::new()).with_state(World::default());
    assert!(matches!(
        run.step::<Count>().await.unwrap(),
        Decision::Again
    ));
    assert_eq!(run.state().count, 1);
}

#[test]
fn an_outline_shows_labels_edges_and_what_is_nested() {
    let Outline::Flow(name, steps) = outline_of::<Outer, _>() else {
        panic!("it is a flow")
    };
    assert_eq!(name, "outer");
    assert_eq!(
        steps.iter().map(|step| &*step.label).collect::<Vec<_>>(),
        ["Count", "Inner", "Last"]
    );
    assert_eq!(steps[0].place, Outline::Node("count".into()));
    assert!(
        matches!(&steps[1].place, Outline::Flow(name, steps) if name == "inner" && steps.len() == 1)
    );
    assert_eq!(steps[2].edges[1], ("Enough".into(), EdgeTarget::End));
}
