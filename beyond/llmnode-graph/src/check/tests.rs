//! The checks over nodes whose facts are in the file, independent of node types.

use serde_json::{Value, json};

use super::*;
use crate::facts::{Read, Role, Write};
use crate::faults::{FaultKind, GraphFaults};
use crate::file::{NodeFile, read};

/// What a node says of itself in these tests.
fn facts(node: &NodeFile) -> Facts {
    let of = |name: &str| node.data.values.get(name);
    let texts = |name: &str| -> Vec<String> {
        let list = of(name).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let has = |name: &str| of(name) == Some(&Value::Bool(true));
    let handles = of("handles").map_or_else(
        || vec!["default".to_owned(), "error".to_owned()],
        |_| texts("handles"),
    );
    let read = |name: &'static str| {
        texts(name).into_iter().map(move |read| Read {
            name: read,
            at: format!("{}/{name}", node.data.at()),
            in_system_prompt: name == "system",
        })
    };
    let list = || {
        read("reads").next().unwrap_or_else(|| Read {
            name: "q".to_owned(),
            at: node.data.at(),
            in_system_prompt: false,
        })
    };
    let write = |key: String| Write {
        key,
        at: format!("{}/writes", node.data.at()),
        types: Vec::new(),
        schema: None,
    };
    Facts {
        handles,
        required_handles: texts("required"),
        iterates: has("iterator").then(list),
        pauses: has("pauses"),
        reads: read("reads").chain(read("system")).collect(),
        reads_or_message: read("or_message").collect(),
        system_prompt_reads: Vec::new(),
        value_flows: Vec::new(),
        writes: texts("writes").into_iter().map(write).collect(),
        also_writes: texts("also"),
        braced: Vec::new(),
        writes_anything: has("anything"),
        untrusted: has("untrusted"),
        retrieved: has("retrieved"),
        role: if has("tool") { Role::Tool } else { Role::Step },
    }
}

fn load(file: &Value) -> (GraphFaults, Option<Plan>) {
    let mut faults = Faults::default();
    let plan = read(&file.to_string(), &mut faults).and_then(|file| {
        let links = links(&file, &mut faults);
        let facts: Vec<_> = file.nodes.iter().map(facts).collect();
        let of: Vec<_> = facts.iter().cloned().map(Some).collect();
        handles(&file, &links, &of, &mut faults);
        if faults.is_empty() {
            check(&file, &links, &facts, &mut faults)
        } else {
            None
        }
    });
    (faults.into_parts(None), plan)
}

/// A graph from nodes `(id, facts)` and edges `"from by handle > to"`, `"from > to"`.
fn graph(nodes: &[(&str, Value)], edges: &[&str]) -> Value {
    let nodes: Vec<Value> = nodes
        .iter()
        .map(|(id, data)| json!({"id": id, "type": "step", "data": data}))
        .collect();
    let edges: Vec<Value> = edges
        .iter()
        .map(|edge| {
            let (from, to) = edge.split_once(" > ").unwrap();
            match from.split_once(" by ") {
                Some((from, by)) => json!({"source": from, "target": to, "sourceHandle": by}),
                None => json!({"source": from, "target": to}),
            }
        })
        .collect();
    json!({"format": "llmnode/graph", "version": 1, "inputs": {"q": {}}, "nodes": nodes, "edges": edges})
}

fn reported(faults: &[crate::Fault]) -> Vec<(&str, &str)> {
    faults
        .iter()
        .map(|fault| (&*fault.pointer, fault.kind.as_str()))
        .collect()
}

/// Asserts the faults of a graph, by pointer and kind, and that there is no warning.
#[track_caller]
fn refused(file: &Value, expected: &[(&str, &str)]) -> GraphFaults {
    let (faults, _) = load(file);
    assert_eq!(reported(&faults.faults), expected, "{faults}");
    assert_eq!(reported(&faults.warnings), [], "{faults:?}");
    faults
}

#[track_caller]
fn loaded(file: &Value) -> Plan {
    let (faults, plan) = load(file);
    assert_eq!(
        (reported(&faults.faults), reported(&faults.warnings)),
        (vec![], vec![]),
        "{faults:?}"
    );
    plan.unwrap()
}

#[track_caller]
fn warned(file: &Value, expected: &[(&str, &str)]) -> Plan {
    let (faults, plan) = load(file);
    assert_eq!(reported(&faults.faults), [], "{faults}");
    assert_eq!(reported(&faults.warnings), expected, "{faults:?}");
    plan.unwrap()
}

fn plain() -> Value {
    json!({})
}

#[test]
fn next_of_an_iterator_counts_only_where_all_nodes_have_edges_to_them() {
    let each = || json!({"iterator": true, "handles": ["next", "complete"]});
    // The items are no input, so what writes them is the first.
    let written = json!({"iterator": true, "handles": ["next", "complete"], "reads": ["list"]});
    let nodes = &[("list", json!({"writes": ["list"]})), ("each", written)];
    let plan = loaded(&graph(
        nodes,
        &[
            "list > each",
            "each by next > list",
            "each by complete > END",
        ],
    ));
    assert_eq!(plan.region.entry, 0);
    let nodes = &[("plan", plain()), ("each", each()), ("work", plain())];
    assert_eq!(
        loaded(&graph(
            nodes,
            &["plan > each", "each by next > work", "work > each"]
        ))
        .region
        .entry,
        0
    );
}

#[test]
fn an_iterator_of_an_input_is_the_start_where_an_edge_leads_to_every_node() {
    let each =
        |reads: &str| json!({"iterator": true, "handles": ["next", "complete"], "reads": [reads]});
    let edges = [
        "each by next > work",
        "work > each",
        "each by complete > sum",
        "sum > END",
    ];
    let nodes = |reads: &str| [("work", plain()), ("each", each(reads)), ("sum", plain())];
    assert_eq!(loaded(&graph(&nodes("q"), &edges)).region.entry, 1);
    // Of another list: the node to which only `next` leads.
    let more = [
        ("work", json!({"writes": ["list"]})),
        ("each", each("list")),
        ("sum", plain()),
    ];
    assert_eq!(loaded(&graph(&more, &edges)).region.entry, 0);
    // An edge leads to a node by another iterator: both may be meant.
    let nodes = [
        ("plan", json!({"writes": ["list"]})),
        ("outer", each("list")),
        ("each", each("q")),
        ("work", plain()),
    ];
    let edges = [
        "plan > each",
        "each by next > work",
        "work > each",
        "each by complete > outer",
        "outer by next > plan",
        "outer by complete > END",
    ];
    let faults = refused(&graph(&nodes, &edges), &[("/nodes", "start")]);
    let message = &faults.faults[0].message;
    assert!(
        message.contains("\"plan\" and \"each\"") && message.contains("\"isStart\": true"),
        "{message}"
    );
}

#[test]
fn several_starts_or_none_are_named() {
    let start = || json!({"isStart": true});
    let faults = refused(
        &graph(&[("a", start()), ("b", start())], &["a > b"]),
        &[("/nodes/1/data/isStart", "start")],
    );
    assert!(
        faults.faults[0].message.contains("\"a\" and \"b\""),
        "{faults}"
    );
    refused(
        &graph(
            &[("a", plain()), ("b", plain())],
            &["start > a", "start > b", "a > b"],
        ),
        &[("/edges/1", "start")],
    );
    let faults = refused(
        &graph(&[("a", plain()), ("b", plain())], &[]),
        &[("/nodes", "start")],
    );
    assert!(
        faults.faults[0].message.contains("\"a\" and \"b\""),
        "{faults}"
    );
    refused(
        &graph(
            &[("a", plain()), ("b", plain())],
            &["a > b", "b > a", "b by error > END"],
        ),
        &[("/nodes", "start")],
    );
    refused(
        &graph(&[("a", plain())], &["start > END"]),
        &[("/edges/0/target", "start")],
    );
}

#[test]
fn what_hangs_together_and_is_not_reached_is_one_fault() {
    let nodes = &[
        ("a", json!({"isStart": true})),
        ("x", plain()),
        ("y", plain()),
        ("z", plain()),
    ];
    let faults = refused(
        &graph(nodes, &["a > END", "y > x", "x > END"]),
        &[("/nodes/2", "unreachable"), ("/nodes/3", "unreachable")],
    );
    assert!(
        faults.faults[0].message.contains("\"y\" and \"x\""),
        "{faults}"
    );
}

#[test]
fn forks_nest_only_so_deep() {
    let mut nodes = vec![("end".to_owned(), plain())];
    let mut edges = Vec::new();
    for depth in 0..40 {
        nodes.push((format!("f{depth}"), plain()));
        nodes.push((format!("s{depth}"), plain()));
        edges.push(format!("f{depth} > s{depth}"));
        edges.push(format!("s{depth} > end"));
        edges.push(if depth < 39 {
            format!("f{depth} > f{}", depth + 1)
        } else {
            format!("f{depth} > x")
        });
    }
    nodes.push(("x".to_owned(), plain()));
    edges.push("x > end".to_owned());
    let nodes: Vec<(&str, Value)> = nodes
        .iter()
        .map(|(id, data)| (id.as_str(), data.clone()))
        .collect();
    let edges: Vec<&str> = edges.iter().map(String::as_str).collect();
    refused(&graph(&nodes, &edges), &[("/nodes/65", "cap")]);
}

#[test]
fn tools_and_handoffs_of_an_agent_are_no_forks() {
    let agent = json!({"handles": ["default", "tool-call", "error"]});
    let nodes = &[
        ("a", agent),
        ("one", json!({"tool": true})),
        ("two", plain()),
        ("three", plain()),
        ("after", plain()),
    ];
    let plan = loaded(&graph(
        nodes,
        &[
            "a by tool-call > one",
            "one > a",
            "a by tool-call > two",
            "a by tool-call > three",
            "a > after",
            "two > END",
            "three > after",
        ],
    ));
    assert_eq!(plan.region.entry, 0);
    assert_eq!(plan.region.nodes, [0, 2, 3, 4]);
    assert_eq!(
        plan.region.next[&(0, "tool-call:two".to_owned())],
        Next::One(To::Node(2))
    );
}

#[test]
fn what_is_read_is_written_before_on_every_way() {
    let nodes = &[
        (
            "a",
            json!({"writes": ["list"], "reads": ["q", "messages", "context.q.x"]}),
        ),
        (
            "r",
            json!({"handles": ["x", "default"], "required": ["default"], "reads": ["list.0"]}),
        ),
        ("b", json!({"writes": ["one"]})),
        ("c", json!({"reads": ["one"]})),
    ];
    warned(
        &graph(nodes, &["a > r", "r by x > b", "r > c", "b > c"]),
        &[("/nodes/3/data/reads", "data")],
    );
    let mut every = graph(nodes, &["a > r", "r by x > b", "r > b", "b > c"]);
    loaded(&every);
    every["nodes"][0]["data"]["reads"] = json!(["lisst"]);
    let faults = refused(&every, &[("/nodes/0/data/reads", "data")]);
    assert_eq!(faults.faults[0].proposal, Some("list".to_owned()));
}

#[test]
fn a_declared_default_counts_as_written() {
    let mut file = graph(&[("a", json!({"reads": ["notes"]}))], &[]);
    file["state"] = json!({"notes": {"type": "array", "reducer": "append", "default": []}});
    loaded(&file);
    file["state"]["notes"]
        .as_object_mut()
        .unwrap()
        .remove("default");
    refused(&file, &[("/nodes/0/data/reads", "data")]);
}

#[test]
fn a_node_that_failed_wrote_nothing_but_the_error() {
    let nodes = &[
        ("a", json!({"writes": ["v"]})),
        ("b", json!({"reads": ["error"]})),
        ("c", json!({"reads": ["v"]})),
    ];
    let edges = &["a by error > b", "a > c"];
    loaded(&graph(nodes, edges));
    let mut wrong = graph(nodes, edges);
    wrong["nodes"][1]["data"]["reads"] = json!(["v"]);
    refused(&wrong, &[("/nodes/1/data/reads", "data")]);
}

#[test]
fn the_item_of_a_loop_is_gone_when_it_is_complete() {
    let each = json!({"iterator": true, "handles": ["next", "complete"], "writes": ["item"]});
    let nodes = &[
        ("a", plain()),
        ("each", each),
        ("work", json!({"reads": ["item"]})),
        ("z", json!({"reads": ["item"]})),
    ];
    refused(
        &graph(
            nodes,
            &[
                "a > each",
                "each by next > work",
                "work > each",
                "each by complete > z",
            ],
        ),
        &[("/nodes/3/data/reads", "data")],
    );
}

#[test]
fn behind_a_node_that_writes_what_it_likes_nothing_is_sure() {
    let nodes = &[
        ("a", json!({"anything": true})),
        ("b", json!({"reads": ["x"]})),
    ];
    warned(
        &graph(nodes, &["a > b"]),
        &[("/nodes/1/data/reads", "data")],
    );
    refused(
        &graph(
            &[
                ("b", json!({"reads": ["x"]})),
                ("a", json!({"anything": true})),
            ],
            &["b > a"],
        ),
        &[("/nodes/0/data/reads", "data")],
    );
}

#[test]
fn what_else_comes_from_the_last_message_counts_if_the_graph_has_one_of_it() {
    let nodes = &[("a", json!({"or_message": ["x", "y"]})), ("b", json!({}))];
    loaded(&graph(nodes, &["a > b"]));
    let mut one = graph(nodes, &["a > b"]);
    one["nodes"][0]["data"]["or_message"] = json!(["q", "y"]);
    refused(&one, &[("/nodes/0/data/or_message", "data")]);
}

#[test]
fn a_system_prompt_does_not_read_what_models_wrote() {
    let nodes = &[
        ("a", json!({"writes": ["notes", "list"], "untrusted": true})),
        (
            "each",
            json!({"iterator": true, "handles": ["next", "complete"], "writes": ["item"], "reads": ["list"]}),
        ),
        ("b", json!({"system": ["q", "item", "notes"]})),
    ];
    let mut file = graph(nodes, &["a > each", "each by next > b", "b > each"]);
    refused(
        &file,
        &[
            ("/nodes/2/data/system", "untrusted"),
            ("/nodes/2/data/system", "untrusted"),
        ],
    );
    let object = file.as_object_mut().unwrap();
    object.remove("format");
    object.remove("version");
    let (faults, _) = load(&file);
    assert_eq!(reported(&faults.faults), []);
    let untrusted = faults
        .warnings
        .iter()
        .filter(|fault| fault.kind == FaultKind::Untrusted);
    assert_eq!(untrusted.count(), 2, "{faults:?}");
}

#[test]
fn names_that_nobody_writes_are_found_once_the_edges_are_right() {
    let nodes = &[
        ("a", json!({"reads": ["qq", "late"]})),
        ("b", json!({"writes": ["late"]})),
    ];
    refused(
        &graph(nodes, &["a > b", "b > c"]),
        &[("/edges/1/target", "unknown_node")],
    );
    let late = [
        ("/nodes/0/data/reads", "data"),
        ("/nodes/0/data/reads", "data"),
    ];
    refused(&graph(nodes, &["a > b", "b > END"]), &late);
}

#[test]
fn two_mistakes_in_different_forks_are_two_faults() {
    let nodes = &[
        ("a", plain()),
        ("b", plain()),
        ("d", plain()),
        ("e", plain()),
        ("f", plain()),
    ];
    refused(
        &graph(
            nodes,
            &["a > b", "a > d", "b > d", "d > e", "d > f", "e > f"],
        ),
        &[("/edges/1", "fork_to_join"), ("/edges/4", "fork_to_join")],
    );
}
