//! Flows that are built at run time.

use std::borrow::Cow;

use llmnode_flow::flow::{Action, EdgeTarget, Flow, FlowWatch, Outline, Position, RunExt, Step};
use llmnode_runtime::{BoxError, Category, Cx, Exec, Node, Run, ScriptedModel};
use proptest::prelude::*;

use crate::by_hand::{Outer, World};

/// A machine for tests: gives the actions that are written on its tape.
#[derive(Default)]
struct Tape {
    actions: Vec<&'static str>,
    read: Vec<&'static str>,
    left: Left,
}

#[derive(Default)]
struct Left {
    visits: u32,
}

enum Way {
    Search,
    Answer,
}

impl Action for Way {
    const NAMES: Option<&'static [&'static str]> = Some(&["search", "answer"]);

    fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Way::Search => "search",
            Way::Answer => "answer",
        })
    }
}

macro_rules! step {
    ($step:ident over $state:ty => $action:ty: $name:literal, $post:expr) => {
        struct $step;

        impl Node for $step {
            type Output = ();
            const NAME: &'static str = $name;
        }

        impl Exec<$state> for $step {
            async fn exec(&self, _: &Cx<'_, $state>) -> Result<(), BoxError> {
                Ok(())
            }
        }

        impl Step<$state> for $step {
            type Output = <Self as Node>::Output;
            type Action = $action;

            async fn prep(_: &$state) -> Result<Self, BoxError> {
                Ok($step)
            }

            fn post(self, _: (), state: &mut $state) -> Result<$action, BoxError> {
                let post: fn(&mut $state) -> $action = $post;
                Ok(post(state))
            }
        }
    };
}

step!(Read over Tape => &'static str: "read", |tape| {
    let action = tape.actions.pop().unwrap_or_default();
    tape.read.push(action);
    action
});
step!(Decide over Tape => Way: "decide", |tape| {
    if tape.actions.pop() == Some("search") { Way::Search } else { Way::Answer }
});
step!(Search over Tape => (): "search", |tape| tape.read.push("searched"));
step!(Visit over Left => bool: "visit", |left| {
    left.visits += 1;
    left.visits > 1
});

fn run(actions: &[&'static str]) -> Run<Tape> {
    let tape = Tape {
        actions: actions.iter().rev().copied().collect(),
        ..Tape::default()
    };
    Run::new(ScriptedModel::new()).with_state(tape)
}

fn agent() -> Flow<Tape> {
    Flow::builder("agent")
        .step::<Decide>("decide")
        .on("decide", "search", "search")
        .on("decide", "answer", EdgeTarget::End)
        .step::<Search>("search")
        .then("search", "decide")
        .build()
        .unwrap()
}

fn faults(flow: llmnode_flow::flow::FlowBuilder<Tape>) -> Vec<String> {
    let error = flow.build().unwrap_err();
    let mut lines = error.message().split("\n  - ").map(str::to_owned);
    assert_eq!(
        lines.next().as_deref(),
        Some("the flow `f` cannot be built:")
    );
    assert_eq!(
        error.to_string(),
        format!("config_error: {}", error.message()),
        "all of it is shown"
    );
    lines.collect()
}

#[tokio::test]
async fn a_built_flow_routes_by_names_and_gives_its_last_action() {
    let mut run = run(&["search", "search"]);
    let report = run.flow(&agent()).report().await.unwrap();
    assert_eq!(report.action, "answer");
    assert_eq!(run.state().read, ["searched", "searched"]);
    let path: Vec<_> = report
        .record
        .path
        .iter()
        .map(|step| format!("{} {}", step.position, step.action))
        .collect();
    assert_eq!(
        path,
        [
            "decide search",
            "search ",
            "decide search",
            "search ",
            "decide answer"
        ]
    );
}

#[tokio::test]
async fn p7_no_action_and_an_empty_text_are_called_default() {
    let flow = Flow::builder("f")
        .step::<Read>("read")
        .on("read", "", EdgeTarget::End)
        .build()
        .unwrap();
    assert_eq!(run(&[""]).flow(&flow).await.unwrap(), "default");
    let flow = Flow::builder("f")
        .step::<Search>("search")
        .on("search", "default", EdgeTarget::End)
        .build()
        .unwrap();
    assert_eq!(run(&[]).flow(&flow).await.unwrap(), "default");
}

#[tokio::test]
async fn p7_an_action_without_an_edge_is_an_error_that_names_step_and_action() {
    let flow = Flow::builder("f")
        .step::<Read>("read")
        .on("read", "go", EdgeTarget::End)
        .build()
        .unwrap();
    let mut run = run(&["stop"]);
    let error = run.flow(&flow).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "read: config_error: the step `read` of the flow `f` returned the action `stop`, but has no edge for it; its edges are for `go`"
    );
}

#[tokio::test]
async fn p11_a_flow_is_a_step_and_its_last_action_routes_the_outer_one() {
    let part: Flow<Left> = Flow::builder("inner")
        .step::<Visit>("visit")
        .on("visit", "true", EdgeTarget::End)
        .on("visit", "false", "visit")
        .build()
        .unwrap();
    let flow = Flow::builder("outer")
        .start("ask")
        .flow_in("part", |tape: &mut Tape| &mut tape.left, &part)
        .on("part", "true", "agent")
        .step_with("ask", |tape: &Tape| {
            assert!(tape.read.is_empty());
            Decide
        })
        .on("ask", "search", "part")
        .on("ask", "answer", EdgeTarget::End)
        .flow("agent", &agent())
        .on("agent", "answer", EdgeTarget::End)
        .build()
        .unwrap();
    let mut run = run(&["search", "search"]);
    let watch = FlowWatch::default();
    assert_eq!(run.flow(&flow).watch(&watch).await.unwrap(), "answer");
    let path: Vec<_> = watch
        .record()
        .unwrap()
        .path
        .iter()
        .map(|step| step.position.to_string())
        .collect();
    assert_eq!(
        path,
        [
            "ask",
            "part/visit",
            "part/visit",
            "agent/decide",
            "agent/search",
            "agent/decide"
        ]
    );
}

#[tokio::test]
async fn a_typed_flow_is_a_step_of_a_built_one() {
    let flow = Flow::builder("built")
        .step::<Outer>("outer")
        .then("outer", "inner")
        .step_with("again", |_: &World| Outer)
        .then("again", EdgeTarget::End)
        .step_in::<crate::by_hand::Greet, _>("inner", |world: &mut World| &mut world.inner)
        .then("inner", "again")
        .build()
        .unwrap();
    let mut run = Run::new(ScriptedModel::new()).with_state(World::default());
    run.flow(&flow).await.unwrap();
    assert_eq!(
        run.state().inner.name,
        "hello 5",
        "the outer flow's parameters are written each time it begins"
    );
    assert_eq!(run.state().log.len(), 6);
}

#[tokio::test]
async fn a_panic_of_the_flows_own_functions_is_its_error() {
    let flow = Flow::builder("f")
        .step_with("bad", |_: &Tape| -> Search { panic!("no value") })
        .then("bad", EdgeTarget::End)
        .build()
        .unwrap();
    let error = run(&[]).flow(&flow).await.unwrap_err();
    assert_eq!(
        (error.category(), error.to_string()),
        (
            Category::Panic,
            "bad: panic: the expression that prepares the step panicked: no value".to_owned()
        )
    );
}

#[tokio::test]
async fn a_built_flow_starts_where_it_is_told_and_refuses_a_step_it_has_not() {
    let mut run = run(&[]);
    run.flow(&agent())
        .from(["search"].into_iter().collect())
        .await
        .unwrap();
    assert_eq!(run.state().read, ["searched"]);
    let error = run
        .flow(&agent())
        .from(Position::from_iter(["serch".to_owned()]))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "serch: config_error: the flow `agent` has no step `serch`"
    );
}

#[test]
fn a_flow_without_faults_is_shared_and_drawn() {
    fn shared<T: Clone + Send + Sync>(_: &T) {}
    let flow = agent();
    shared(&flow);
    let Outline::Flow(name, steps) = flow.clone().outline() else {
        panic!("it is a flow")
    };
    assert_eq!((&*name, &*steps[1].label), ("agent", "search"));
    assert_eq!(steps[0].edges[1], ("answer".into(), EdgeTarget::End));
    assert_eq!(
        steps[1].edges[0],
        ("".into(), EdgeTarget::Step("decide".into()))
    );
}

#[tokio::test]
async fn an_edge_may_lead_nowhere_yet() {
    let flow = Flow::builder("f")
        .step::<Search>("search")
        .then("search", EdgeTarget::Todo)
        .build()
        .unwrap();
    let Outline::Flow(_, steps) = flow.outline() else {
        panic!("it is a flow")
    };
    assert_eq!(steps[0].edges, [("".into(), EdgeTarget::Todo)]);
    let error = run(&[]).flow(&flow).await.unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert_eq!(
        error.message(),
        "the flow `f` has `todo!()` after `search`; write the next step there"
    );
}

#[test]
fn every_fault_is_told_at_once() {
    let flow = Flow::builder("f")
        .start("decid")
        .step::<Decide>("decide")
        .on("decide", "serch", "search")
        .on("decide", "answer", "nowhere")
        .on("decide", "answer", EdgeTarget::End)
        .step::<Search>("search")
        .then("search", "decide")
        .then("saerch", EdgeTarget::End)
        .step::<Search>("")
        .step::<Search>("search")
        .step::<Read>("read");
    assert_eq!(
        faults(flow),
        [
            "a step has an empty label; give it one, since positions, edges and pictures use it",
            "two steps have the label `search`; give one of them another label",
            "it starts at `decid`, but there is no such step; did you mean `decide`?",
            "the edge of `decide` for `answer` leads to `nowhere`, but there is no such step",
            "`decide` has two edges for `answer`; remove one of them",
            "an edge for `default` starts at `saerch`, but there is no such step; did you mean `search`?",
            "`decide` has an edge for `serch`, which is not one of its actions; did you mean `search`?",
            "`read` has no edge; add one with `.on(..)`, with `EdgeTarget::End` to end the flow",
        ]
    );
}

#[test]
fn a_mistake_is_told_once() {
    let builder = || {
        Flow::builder("f")
            .step::<Decide>("decide")
            .on("decide", "answer", EdgeTarget::End)
    };
    assert_eq!(
        faults(Flow::builder("f")),
        ["it has no step; add one with `.step::<Node>(\"label\")`"]
    );
    assert_eq!(
        faults(builder()),
        [
            "`decide` has no edge for its action `search`; add `.on(\"decide\", \"search\", ..)`, with `EdgeTarget::End` to end the flow"
        ]
    );
    // Without the slip, the step would be reached.
    let slip = builder()
        .on("decide", "search", "serch")
        .step::<Search>("search")
        .then("search", "decide");
    assert_eq!(
        faults(slip),
        [
            "the edge of `decide` for `search` leads to `serch`, but there is no such step; did you mean `search`?"
        ]
    );
    let lost = builder()
        .on("decide", "search", EdgeTarget::End)
        .step::<Search>("search")
        .then("search", "search");
    let error = lost.build().unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert_eq!(
        error.message(),
        "the flow `f` cannot be built:\n  - no edge leads from the start to `search`; add one, or remove the step"
    );
}

const LABELS: [&str; 5] = ["a", "b", "c", "d", "e"];
const ACTIONS: [&str; 4] = ["", "x", "y", "z"];

#[derive(Clone, Debug)]
struct Random {
    steps: usize,
    edges: Vec<(usize, usize, Option<usize>)>,
    tape: Vec<usize>,
}

/// Mostly graphs that can be built: an edge now and then leads nowhere, or takes the action of another one.
fn random() -> impl Strategy<Value = Random> {
    let edges = prop::collection::vec(
        (0..5_usize, 0..4_usize, prop::option::of(0..30_usize)),
        1..14,
    );
    (
        1..5_usize,
        edges,
        prop::collection::vec(0..4_usize, 0..12),
        prop::bool::weighted(0.1),
    )
        .prop_map(|(steps, edges, tape, careless)| {
            let (mut seen, mut kept) = (std::collections::BTreeSet::new(), Vec::new());
            for (from, action, to) in edges {
                let to = to.map(|to| if to == 29 { to } else { to % steps });
                if seen.insert((from % steps, action)) || careless {
                    kept.push((from % steps, action, to));
                }
            }
            Random {
                steps,
                edges: kept,
                tape,
            }
        })
}

/// The same graph, walked by a loop over a table. `Err`: the step whose action has no edge.
fn walked(random: &Random, most: usize) -> (Vec<&'static str>, Option<&'static str>) {
    let (mut at, mut path) = (0, Vec::new());
    for turn in 0..most {
        path.push(LABELS[at]);
        let action = random.tape.get(turn).copied().unwrap_or_default();
        match random
            .edges
            .iter()
            .find(|(from, on, _)| (*from, *on) == (at, action))
        {
            Some((_, _, Some(to))) => at = *to,
            Some((_, action, None)) => return (path, Some(ACTIONS[*action])),
            None => return (path, None),
        }
    }
    (path, None)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_random_graph_has_faults_or_walks_as_its_table_says(random in random()) {
        let mut builder = Flow::builder("random").max_steps(20);
        for label in &LABELS[..random.steps] {
            builder = builder.step::<Read>(*label);
        }
        for (from, action, to) in &random.edges {
            let to = to.map_or(EdgeTarget::End, |to| EdgeTarget::from(LABELS.get(to).copied().unwrap_or("nowhere")));
            builder = builder.on(LABELS[*from], ACTIONS[*action], to);
        }
        match builder.build() {
            Err(faults) => prop_assert!(faults.message().contains("\n  - "), "{faults}"),
            Ok(flow) => {
                let actions: Vec<_> = random.tape.iter().map(|action| ACTIONS[*action]).collect();
                let (watch, mut run) = (FlowWatch::default(), run(&actions));
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                let outcome = runtime.block_on(async { run.flow(&flow).watch(&watch).await });
                let path: Vec<_> =
                    watch.record().unwrap().path.iter().map(|step| step.position.to_string()).collect();
                let (expected, end) = walked(&random, 20);
                prop_assert_eq!(path, expected);
                match (outcome, end) {
                    (Ok(action), Some(end)) => prop_assert_eq!(action, if end.is_empty() { "default" } else { end }),
                    (Err(error), None) => prop_assert!(
                        matches!(error.category(), Category::ConfigError | Category::LimitExceeded), "{}", error
                    ),
                    (outcome, end) => prop_assert!(false, "{outcome:?} for {end:?}"),
                }
            }
        }
    }
}
