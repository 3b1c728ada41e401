//! Random graphs: loading never panics, and what loads runs to its end.

use std::collections::BTreeSet;

use llmnode_flow::flow::RunExt;
use llmnode_graph::{FaultKind, Graph};
use llmnode_runtime::{Category, Run, ScriptedModel};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::registry;

#[derive(Clone, Debug)]
struct Drawn {
    /// The types of the nodes.
    kinds: Vec<u8>,
    /// From, handle, to; the last node is the end.
    edges: Vec<(usize, u8, usize)>,
    start: Option<usize>,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    (3_usize..=40).prop_flat_map(|nodes| {
        let kinds = prop::collection::vec(0_u8..8, nodes);
        // Mostly ahead, so that many of them load.
        let ahead = (0..nodes, 0_u8..6, 1_usize..4, any::<u8>()).prop_map(
            move |(from, handle, by, back)| {
                let to = if back < 12 {
                    from / 2
                } else {
                    (from + by).min(nodes)
                };
                (from, handle, to)
            },
        );
        let chain: Vec<_> = (0..nodes).map(|at| (at, 0, at + 1)).collect();
        let edges = prop::collection::vec(ahead, 0..nodes / 2)
            .prop_map(move |more| [chain.clone(), more].concat());
        let start = prop::option::weighted(0.9, Just(0_usize));
        (kinds, edges, start).prop_map(|(kinds, edges, start)| Drawn {
            kinds,
            edges,
            start,
        })
    })
}

fn node(at: usize, kind: u8, start: bool) -> Value {
    let (kind, mut data) = match kind {
        0 => (
            "router",
            json!({"source": "x", "routes": [{"condition": "contains", "value": "a", "handle": "yes"}]}),
        ),
        1 => (
            "iterator",
            json!({"source": "list", "item": format!("item{at}")}),
        ),
        2 => (
            "tool",
            json!({"tool_name": "search", "arguments": {"query": "{{ x }}"}}),
        ),
        3 => ("tool", json!({})),
        _ => ("agent", json!({"tools": ["search"], "save_as": "notes"})),
    };
    if start {
        data["isStart"] = true.into();
    }
    json!({"id": format!("n{at}"), "type": kind, "data": data})
}

fn handle(kind: u8, handle: u8) -> &'static str {
    match (kind, handle) {
        (0, 0..=2) => "yes",
        (1, 0 | 1) => "complete",
        (1, _) => "next",
        (4.., 5) => "tool-call",
        (_, 4) => "error",
        _ => "default",
    }
}

fn text(
    Drawn {
        kinds,
        edges,
        start,
    }: &Drawn,
) -> String {
    let nodes: Vec<Value> = kinds
        .iter()
        .enumerate()
        .map(|(at, kind)| node(at, *kind, Some(at) == *start))
        .collect();
    let target = |to: usize| {
        if to == kinds.len() {
            "END".to_owned()
        } else {
            format!("n{to}")
        }
    };
    let edge = |(from, by, to): &(usize, u8, usize)| json!({"source": format!("n{from}"), "target": target(*to), "sourceHandle": handle(kinds[*from], *by)});
    let mut edges: Vec<Value> = edges.iter().map(edge).collect();
    // A router and an iterator need their ways.
    for (at, kind) in kinds.iter().enumerate().filter(|(_, kind)| **kind < 2) {
        let missing: &[&str] = if *kind == 0 {
            &["yes", "default"]
        } else {
            &["next"]
        };
        for by in missing {
            if !edges
                .iter()
                .any(|edge| edge["source"] == format!("n{at}") && edge["sourceHandle"] == *by)
            {
                edges.push(json!({"source": format!("n{at}"), "target": target(at + 1), "sourceHandle": by}));
            }
        }
    }
    let inputs = json!({"x": {"type": "string"}, "list": {"type": "array"}});
    let state = json!({"notes": {"type": "array", "reducer": "append"}});
    json!({"format": "llmnode/graph", "version": 1, "max_steps": 60, "inputs": inputs, "state": state, "nodes": nodes, "edges": edges}).to_string()
}

/// Which nodes a run may come to, by the words of the file alone. Nodes that agents call as tools are left out by not drawing such
/// edges here.
fn reached(file: &Value) -> BTreeSet<String> {
    let mut open = vec!["n0".to_owned()];
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        if seen.insert(id.clone()) {
            let edges = file["edges"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|edge| edge["source"] == *id);
            open.extend(edges.filter_map(|edge| {
                edge["target"]
                    .as_str()
                    .filter(|to| *to != "END")
                    .map(str::to_owned)
            }));
        }
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_random_graph_is_refused_or_runs_to_its_end(drawn in drawn()) {
        let text = text(&drawn);
        let registry = registry().build().unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        let reached = reached(&file);
        match Graph::parse(&text, &registry) {
            Err(faults) => {
                prop_assert!(!faults.faults.is_empty());
                // The place of each fault exists.
                for fault in &faults.faults {
                    prop_assert!(fault.pointer.is_empty() || file.pointer(&fault.pointer).is_some() || file.pointer(fault.pointer.rsplit_once('/').unwrap().0).is_some(), "{fault}");
                }
                // What is said to be unreachable is.
                for fault in faults.faults.iter().filter(|fault| fault.kind == FaultKind::Unreachable) {
                    let id = file.pointer(&fault.pointer).unwrap()["id"].as_str().unwrap();
                    prop_assert!(drawn.start.is_none() || !reached.contains(id) || text.contains("tool-call"), "{fault}");
                }
            }
            Ok(graph) => {
                if drawn.start == Some(0) {
                    prop_assert_eq!(reached.len(), drawn.kinds.len(), "all is reached: {}", text);
                }
                let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
                let model = ScriptedModel::new().otherwise(|request| {
                    let asked = request.messages.len();
                    match request.tools.first().filter(|_| asked % 3 == 0 && !request.answer_now) {
                        Some(tool) => llmnode_runtime::Reply::text("").call(&tool.name, json!({"query": "q"})),
                        None => llmnode_runtime::Reply::text("an answer"),
                    }
                });
                let start = graph.start(json!({"x": "b", "list": [1, 2]})).unwrap();
                let mut run = Run::new(model.clone()).with_state(start);
                let outcome = runtime.block_on(async { run.flow(&graph).await });
                if let Err(error) = outcome {
                    prop_assert_eq!(error.category(), Category::LimitExceeded, "{}: {}", error, text);
                }
                let asked = model.requests().len() as u64;
                prop_assert_eq!(run.ledger().total().requests, asked);
            }
        }
    }

    #[test]
    fn no_text_makes_loading_panic(text in ".{0,300}") {
        let registry = registry().build().unwrap();
        prop_assert!(Graph::parse(&text, &registry).is_err());
    }
}

#[test]
fn many_random_graphs_load() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let registry = registry().build().unwrap();
    let mut runner = TestRunner::deterministic();
    let drawn: Vec<Drawn> = (0..300)
        .map(|_| drawn().new_tree(&mut runner).unwrap().current())
        .collect();
    let loaded = drawn
        .iter()
        .filter(|drawn| Graph::parse(&text(drawn), &registry).is_ok())
        .count();
    assert!(loaded > 10, "{loaded}");
}
