//! llmnode: the same flow as a graph from JSON. One step assigns, a router decides.

use llmnode::flow::RunExt;
use llmnode::graph::{CheckedRegistry, Graph, Registry};
use llmnode::{BoxError, Cx, Exec, Node, Run};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::task::{Counter, turn};

/// Adds one.
#[derive(Deserialize, JsonSchema)]
struct Add {
    count: u64,
    yields: bool,
}

impl Node for Add {
    type Output = u64;
    const NAME: &'static str = "add";
}

impl<S: ?Sized + Sync> Exec<S> for Add {
    async fn exec(&self, _: &Cx<'_, S>) -> Result<u64, BoxError> {
        turn(self.yields).await;
        Ok(self.count + 1)
    }
}

fn registry() -> CheckedRegistry {
    Registry::new().node::<Add>().build().unwrap()
}

/// The graph whose loop ends at this count.
pub fn graph(steps: u64) -> Graph {
    let inputs = json!({"count": {}, "yields": {}, "notes": {}});
    let nodes = json!([
        {"id": "add", "type": "add", "data": {"isStart": true, "save_as": "count"}},
        {"id": "decide", "type": "router", "data": {"source": "count", "routes": [
            {"condition": "equals", "value": (steps / 2).to_string(), "handle": "enough"}]}}]);
    let edges = json!([
        {"source": "add", "target": "decide"}, {"source": "decide", "target": "add"},
        {"source": "decide", "target": "END", "sourceHandle": "enough"}]);
    let file = json!({"format": "llmnode/graph", "version": 1, "inputs": inputs, "nodes": nodes, "edges": edges});
    Graph::parse(&file.to_string(), &registry()).unwrap()
}

pub async fn run(run: Run, graph: Graph, steps: u64, yields: bool) -> u64 {
    let Counter { count, notes, .. } = Counter::of(steps, yields);
    let state = graph
        .start(json!({"count": count, "yields": yields, "notes": notes}))
        .unwrap();
    let mut run = run.with_state(state);
    run.flow(&graph).max_steps(steps).await.unwrap();
    run.state()["count"].as_u64().unwrap()
}

/// A file with so many nodes: routers that lead on or back.
pub fn file(nodes: usize) -> String {
    let ids = |at: usize| {
        if at == nodes {
            "END".to_owned()
        } else {
            format!("n{at}")
        }
    };
    let node = |at: usize| {
        let routes = json!([{"condition": "equals", "value": "back", "handle": "back"}]);
        json!({"id": ids(at), "type": "router", "data": {"isStart": at == 0, "source": "x", "routes": routes}})
    };
    let edges = |at: usize| {
        let on = json!({"source": ids(at), "target": ids(at + 1)});
        [
            on,
            json!({"source": ids(at), "target": ids(at / 2), "sourceHandle": "back"}),
        ]
    };
    let (nodes, edges): (Vec<Value>, Vec<Value>) = (
        (0..nodes).map(node).collect(),
        (0..nodes).flat_map(edges).collect(),
    );
    json!({"format": "llmnode/graph", "version": 1, "inputs": {"x": {}}, "nodes": nodes, "edges": edges})
        .to_string()
}

/// Loads and checks such a file.
pub fn load(file: &str) -> Graph {
    Graph::parse(file, &registry()).unwrap()
}
