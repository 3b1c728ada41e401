//! Steps whose names are known only at run time, and flows within nodes.

use std::borrow::Cow;

use llmnode_flow::flow::{CxExt, EdgeTarget, Flow, Outline, PreparedStep, RunExt};
use llmnode_flow::private::{Bounds, RunFlow, Runner};
use llmnode_runtime::{
    BoxError, Category, Cx, DynNode, Exec, Limits, Node, NodeError, NodeFacts, Run, ScriptedModel,
};

/// A node of a graph: its name is known only at run time, and it may hold flows.
enum Dynamic {
    Ask(&'static str, DynNode),
    Both(Flow<Vec<String>>),
}

impl Node for Dynamic {
    type Output = Vec<String>;
    const NAME: &'static str = "dynamic";
    const FACTS: NodeFacts = NodeFacts::new().retries_itself(true);

    fn name(&self) -> Cow<'static, str> {
        match self {
            Dynamic::Ask(name, _) => Cow::Borrowed(name),
            Dynamic::Both(_) => Cow::Borrowed("both"),
        }
    }

    fn settings(&self) -> &llmnode_runtime::Settings {
        match self {
            Dynamic::Ask(_, ask) => ask.settings(),
            Dynamic::Both(_) => Self::SETTINGS,
        }
    }
}

impl Exec<Vec<String>> for Dynamic {
    async fn exec(&self, cx: &Cx<'_, Vec<String>>) -> Result<Vec<String>, BoxError> {
        match self {
            // The node is the call of the model itself: one record, under its own name.
            Dynamic::Ask(_, ask) => Ok(vec![ask.exec(cx).await?.to_string()]),
            Dynamic::Both(flow) => {
                let (left, right) = tokio::try_join!(
                    cx.flow(flow, vec!["l".to_owned()]),
                    cx.flow(flow, vec!["r".to_owned()])
                )?;
                Ok([left.0, right.0].concat())
            }
        }
    }
}

impl PreparedStep<Vec<String>> for Dynamic {
    type Action = ();

    fn post(self, output: Vec<String>, state: &mut Vec<String>) -> Result<(), BoxError> {
        state.extend(output);
        Ok(())
    }
}

fn ask(name: &'static str) -> DynNode {
    let schema = serde_json::json!({"type": "integer"});
    DynNode::builder(name)
        .output_schema(schema)
        .retries(0)
        .build()
        .unwrap()
}

fn asking(name: &'static str) -> Flow<Vec<String>> {
    let node = ask(name);
    Flow::builder("inner")
        .made(name, "agent", ["default"], move |state: &Vec<String>| {
            if state.is_empty() {
                return Err("nothing to ask about".into());
            }
            Ok(Dynamic::Ask(name, node.ask(state.join(" "))))
        })
        .then(name, EdgeTarget::End)
        .build()
        .unwrap()
}

fn two() -> Flow<Vec<String>> {
    let inner = asking("write");
    Flow::builder("outer")
        .made(
            "both",
            Outline::Parallel(vec![inner.outline()]),
            ["default"],
            move |_: &Vec<String>| Ok(Dynamic::Both(inner.clone())),
        )
        .flow("once", &asking("check"))
        .then("both", "once")
        .then("once", EdgeTarget::End)
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_made_step_has_its_own_name_in_pictures_records_and_the_ledger() {
    let model = ScriptedModel::new().reply("1").reply("2").reply("3");
    let mut run = Run::new(model).with_state(vec![]);
    let report = run.flow(&two()).report().await.unwrap();
    assert_eq!(run.state().concat().replace(['l', 'r'], ""), "123");
    let nodes: Vec<_> = report
        .record
        .path
        .iter()
        .map(|step| (&*step.node, step.usage.requests))
        .collect();
    // The requests of the branches are in the record of their step, and under the names of their nodes.
    assert_eq!(nodes, [("parallel", 2), ("agent", 1)]);
    let visits: Vec<_> = run
        .ledger()
        .snapshot()
        .nodes
        .iter()
        .map(|(name, node)| (name.clone(), node.visits))
        .collect();
    assert_eq!(
        visits,
        [
            ("both".to_owned(), 1),
            ("check".to_owned(), 1),
            ("write".to_owned(), 2)
        ]
    );
    assert!(two().outline().mermaid().contains("agent"));
}

#[tokio::test]
async fn a_step_that_cannot_be_made_ends_the_flow_at_its_position() {
    let mut run = Run::new(ScriptedModel::new()).with_state(vec![]);
    let error = run.flow(&asking("write")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "write (agent): prep_error: prep failed: nothing to ask about"
    );
    assert_eq!(error.position().unwrap().to_string(), "write");
}

#[test]
fn an_action_that_a_made_step_cannot_give_is_a_fault() {
    let make = |_: &Vec<String>| -> Result<Dynamic, BoxError> { Err("never".into()) };
    let built =
        Flow::builder("g").made("route", "router", ["yes".to_owned(), "no".to_owned()], make);
    let error = built
        .on("route", "yes", EdgeTarget::End)
        .on("route", "nope", EdgeTarget::End)
        .build()
        .unwrap_err();
    assert!(error.to_string().contains("`nope`"), "{error}");
}

/// A flow with bounds of its own, as graphs have.
#[derive(Clone)]
struct Bounded(Flow<Vec<String>>, Bounds);

impl<'r> RunFlow<'r, Vec<String>> for &Bounded {
    type Action = String;

    fn runner(self) -> Runner<'r, Vec<String>, String> {
        (&self.0).runner().within(self.1)
    }
}

async fn ends(run: Run, bounds: Bounds, max_steps: Option<u64>) -> Result<String, NodeError> {
    let flow = Bounded(two(), bounds);
    let mut run = run.with_state(vec![]);
    let call = run.flow(&flow);
    match max_steps {
        Some(steps) => call.max_steps(steps).await,
        None => call.await,
    }
}

fn model() -> ScriptedModel {
    ScriptedModel::new().reply("1").reply("2").reply("3")
}

#[tokio::test]
async fn bounds_lower_what_the_program_allows_and_never_raise_it() {
    let category = |outcome: Result<String, NodeError>| outcome.err().map(|error| error.category());
    let limited = Some(Category::LimitExceeded);
    let steps = |steps| Bounds {
        max_steps: Some(steps),
        ..Bounds::default()
    };
    assert_eq!(
        category(ends(Run::new(model()), steps(1), None).await),
        limited
    );
    assert_eq!(
        category(ends(Run::new(model()), steps(1), Some(5)).await),
        limited
    );
    assert_eq!(
        category(ends(Run::new(model()), steps(5), Some(1)).await),
        limited
    );
    assert_eq!(
        category(ends(Run::new(model()), steps(5), None).await),
        None
    );

    let requests = |requests| Bounds {
        limits: Limits::new().requests(requests),
        ..Bounds::default()
    };
    let error = ends(Run::new(model()), requests(2), None)
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the limit of 2 requests for the flow `outer` is reached"),
        "{error}"
    );
    assert_eq!(
        category(ends(Run::new(model()), requests(3), None).await),
        None
    );
    let run = Run::new(model()).with_limits(Limits::new().requests(2));
    assert_eq!(category(ends(run, requests(9), None).await), limited);

    // What holds where nobody states anything.
    let default = Bounds {
        requests: Some(2),
        ..Bounds::default()
    };
    assert_eq!(
        category(ends(Run::new(model()), default, None).await),
        limited
    );
    let run = Run::new(model()).with_limits(Limits::new().requests(3));
    assert_eq!(category(ends(run, default, None).await), None);
}

#[tokio::test]
async fn limits_by_name_do_not_count_another_node_of_the_type() {
    let limited = |name| Run::new(model()).with_limits_of(name, Limits::new().requests(1));
    let error = ends(limited("write"), Bounds::default(), None)
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the limit of 1 request for all calls of `write`"),
        "{error}"
    );
    assert_eq!(
        ends(limited("check"), Bounds::default(), None)
            .await
            .unwrap(),
        "default"
    );
}
