//! Helpers of these tests.

use llmnode_flow::flow::RunExt;
use llmnode_graph::{CheckedRegistry, Graph, Registry, State};
use llmnode_runtime::{BoxError, Message, NodeError, Run, ScriptedModel, Toolset};
use serde_json::{Value, json};

/// A file with these nodes and edges: `"a > b"`, `"r > b by yes"`.
pub(crate) fn file(nodes: Value, edges: &[&str], more: Value) -> String {
    let mut file =
        json!({"format": "llmnode/graph", "version": 1, "nodes": nodes, "edges": edges_of(edges)});
    file.as_object_mut()
        .unwrap()
        .extend(more.as_object().cloned().unwrap_or_default());
    file.to_string()
}

/// The same as a front end writes it.
pub(crate) fn seed(nodes: Value, edges: &[&str]) -> String {
    json!({"nodes": nodes, "edges": edges_of(edges)}).to_string()
}

fn edges_of(edges: &[&str]) -> Value {
    let edge = |edge: &&str| {
        let (way, handle) = edge
            .split_once(" by ")
            .map_or((*edge, None), |(way, by)| (way, Some(by)));
        let (from, to) = way.split_once(" > ").unwrap();
        let mut edge = json!({"source": from, "target": to});
        if let Some(handle) = handle {
            edge["sourceHandle"] = handle.into();
        }
        edge
    };
    edges.iter().map(edge).collect()
}

pub(crate) fn tools() -> Toolset {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Search {
        query: String,
    }
    Toolset::new()
        .function("search", "Searches.", |search: Search| async move {
            Ok::<_, BoxError>(format!("hits for {}", search.query))
        })
        .function("fail", "Fails.", |_: String| async move {
            Err::<String, BoxError>("it broke".into())
        })
}

pub(crate) fn registry() -> Registry {
    Registry::new().tools(tools())
}

pub(crate) fn graph(file: &str) -> Graph {
    graph_of(file, &registry().build().unwrap())
}

pub(crate) fn graph_of(file: &str, registry: &CheckedRegistry) -> Graph {
    Graph::parse(file, registry).unwrap_or_else(|faults| panic!("{faults}"))
}

/// Runs a graph on a model with these replies.
pub(crate) struct Ran {
    pub(crate) outcome: Result<String, NodeError>,
    pub(crate) run: Run<State>,
    pub(crate) model: ScriptedModel,
}

impl Ran {
    pub(crate) fn state(&self) -> &State {
        self.outcome
            .as_ref()
            .unwrap_or_else(|error| panic!("{error}"));
        self.run.state()
    }

    /// What was asked: the messages of each request, as `role: text`.
    pub(crate) fn asked(&self) -> Vec<Vec<String>> {
        let shown = |message: &Message| {
            let role = serde_json::to_value(message.role).unwrap();
            format!("{}: {}", role.as_str().unwrap(), message.content)
        };
        self.model
            .requests()
            .iter()
            .map(|request| request.messages.iter().map(shown).collect())
            .collect()
    }
}

pub(crate) async fn run(graph: &Graph, model: ScriptedModel, state: State) -> Ran {
    let mut run = Run::new(model.clone()).with_state(state);
    let outcome = run.flow(graph).await;
    Ran {
        outcome,
        run,
        model,
    }
}

/// The same with inputs.
pub(crate) async fn run_with(graph: &Graph, replies: &[&str], inputs: Value) -> Ran {
    let model = replies
        .iter()
        .fold(ScriptedModel::new(), |model, reply| model.reply(*reply));
    run(graph, model, graph.start(inputs).unwrap()).await
}
