//! The checks over nodes whose facts stand in the file, so that nothing of node types is in them.

use serde_json::{Value, json};

use super::*;
use crate::facts::{Handles, Place, Read, Write};
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
    let known =
        of("handles").map_or_else(|| vec!["default".to_owned(), "error".to_owned()], |_| texts("handles"));
    let read = |place: Place, name: &'static str| {
        texts(name).into_iter().map(move |read| Read {
            name: read,
            at: format!("{}/{name}", node.data.at()),
            place,
        })
    };
    let list = || {
        read(Place::Any, "reads").next().unwrap_or_else(|| Read {
            name: "q".to_owned(),
            at: node.data.at(),
            place: Place::Any,
        })
    };
    let write = |key: String| Write { key, at: format!("{}/writes", node.data.at()), types: Vec::new() };
    Facts {
        handles: Handles { known, required: texts("required"), open: has("unclear") },
        iterates: has("iterator").then(list),
        pauses: has("pauses"),
        reads: read(Place::Any, "reads").chain(read(Place::System, "system")).collect(),
        reads_or_message: read(Place::Any, "or_message").collect(),
        writes: texts("writes").into_iter().map(write).collect(),
        also_writes: texts("also"),
        perhaps_writes: Vec::new(),
        writes_anything: has("anything"),
        untrusted: has("untrusted"),
        unclear: has("unclear"),
        is_shared: false,
        role: if has("tool") { Role::Tool } else { Role::Step },
    }
}

fn load(file: &Value) -> (GraphFaults, Option<Plan>) {
    let mut faults = Faults::default();
    let plan = read(&file.to_string(), &mut faults).and_then(|file| {
        let links = links(&file, &mut faults);
        let facts: Vec<_> = file.nodes.iter().map(facts).collect();
        check(&file, &links, &facts, &mut faults)
    });
    (faults.into_parts(None), plan)
}

/// A graph from nodes `(id, facts)` and edges `"from by handle > to"`, `"from > to"`.
fn graph(nodes: &[(&str, Value)], edges: &[&str]) -> Value {
    let nodes: Vec<Value> =
        nodes.iter().map(|(id, data)| json!({"id": id, "type": "step", "data": data})).collect();
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

fn told(faults: &[crate::Fault]) -> Vec<(&str, &str)> {
    faults.iter().map(|fault| (&*fault.pointer, fault.kind.as_str())).collect()
}

/// Asserts the faults of a graph, by pointer and kind, and that there is no warning.
#[track_caller]
fn refused(file: &Value, expected: &[(&str, &str)]) -> GraphFaults {
    let (faults, _) = load(file);
    assert_eq!(told(&faults.faults), expected, "{faults}");
    assert_eq!(told(&faults.warnings), [], "{faults:?}");
    faults
}

#[track_caller]
fn loaded(file: &Value) -> Plan {
    let (faults, plan) = load(file);
    assert_eq!((told(&faults.faults), told(&faults.warnings)), (vec![], vec![]), "{faults:?}");
    plan.unwrap()
}

#[track_caller]
fn warned(file: &Value, expected: &[(&str, &str)]) -> Plan {
    let (faults, plan) = load(file);
    assert_eq!(told(&faults.faults), [], "{faults}");
    assert_eq!(told(&faults.warnings), expected, "{faults:?}");
    plan.unwrap()
}

fn plain() -> Value {
    json!({})
}

fn router() -> Value {
    json!({"handles": ["x", "y", "default"], "required": ["default"]})
}

#[test]
fn start_is_the_flag_then_the_edge_then_the_node_without_an_edge_to_it() {
    let nodes = &[("a", plain()), ("b", json!({"isStart": true}))];
    assert_eq!(loaded(&graph(nodes, &["begin > a", "a > b", "b > a", "b by error > END"])).region.entry, 1);
    let nodes = &[("a", plain()), ("b", plain())];
    assert_eq!(loaded(&graph(nodes, &["Start > b", "a > b", "b > a", "b by error > END"])).region.entry, 1);
    assert_eq!(loaded(&graph(nodes, &["b > a", "b > a", "a > END"][1..])).region.entry, 1);
    // An edge from itself does not count.
    let looped = &[("a", json!({"handles": ["again", "default"]})), ("b", plain())];
    assert_eq!(loaded(&graph(looped, &["a by again > a", "a > b"])).region.entry, 0);
}

#[test]
fn next_of_an_iterator_counts_only_where_all_nodes_have_edges_to_them() {
    let each = || json!({"iterator": true, "handles": ["next", "complete"]});
    let nodes = &[("list", plain()), ("each", each())];
    let plan = loaded(&graph(nodes, &["list > each", "each by next > list", "each by complete > END"]));
    assert_eq!(plan.region.entry, 0);
    let nodes = &[("plan", plain()), ("each", each()), ("work", plain())];
    assert_eq!(loaded(&graph(nodes, &["plan > each", "each by next > work", "work > each"])).region.entry, 0);
}

#[test]
fn several_starts_or_none_are_named() {
    let start = || json!({"isStart": true});
    let faults =
        refused(&graph(&[("a", start()), ("b", start())], &["a > b"]), &[("/nodes/1/data/isStart", "start")]);
    assert!(faults.faults[0].message.contains("\"a\" and \"b\""), "{faults}");
    refused(
        &graph(&[("a", plain()), ("b", plain())], &["start > a", "start > b", "a > b"]),
        &[("/edges/1", "start")],
    );
    let faults = refused(&graph(&[("a", plain()), ("b", plain())], &[]), &[("/nodes", "start")]);
    assert!(faults.faults[0].message.contains("\"a\" and \"b\""), "{faults}");
    refused(
        &graph(&[("a", plain()), ("b", plain())], &["a > b", "b > a", "b by error > END"]),
        &[("/nodes", "start")],
    );
    refused(&graph(&[("a", plain())], &["start > END"]), &[("/edges/0/target", "start")]);
}

#[test]
fn an_edge_that_leads_nowhere_is_one_fault() {
    // `last` is reached by that edge alone, and reads what is written nowhere else.
    let nodes = &[
        ("a", json!({"isStart": true})),
        ("b", json!({"writes": ["v"]})),
        ("last", json!({"reads": ["v"]})),
    ];
    let faults =
        refused(&graph(nodes, &["a > b", "b > lsat", "last > END"]), &[("/edges/1/target", "unknown_node")]);
    assert_eq!(faults.faults[0].proposal, Some("last".to_owned()));
    refused(&graph(nodes, &["a > b", "bb > last"]), &[("/edges/1/source", "unknown_node")]);
    refused(
        &graph(nodes, &["a > b", "b > last", "aa > zz"]),
        &[("/edges/2/source", "unknown_node"), ("/edges/2/target", "unknown_node")],
    );
}

#[test]
fn a_handle_that_is_not_there_is_one_fault() {
    // `default` would lack, and `b` would not be reached.
    let nodes = &[("r", router()), ("a", plain()), ("b", plain())];
    let faults = refused(
        &graph(nodes, &["r by x > a", "r by defualt > b", "r by y > END"]),
        &[("/edges/1/sourceHandle", "unknown_handle")],
    );
    assert_eq!(faults.faults[0].proposal, Some("default".to_owned()));
    refused(&graph(nodes, &["r by x > a", "r by y > b"]), &[("/nodes/0", "missing_edge")]);
    let each = json!({"iterator": true, "handles": ["next", "complete"]});
    refused(&graph(&[("each", each), ("b", plain())], &["each > b"]), &[("/edges/0", "unknown_handle")]);
}

#[test]
fn an_edge_twice_is_one_fault() {
    let nodes = &[("a", plain()), ("b", plain())];
    refused(&graph(nodes, &["a > b", "a by output > b", "b > END"]), &[("/edges/1", "duplicate")]);
}

#[test]
fn what_hangs_together_and_is_not_reached_is_one_fault() {
    let nodes = &[("a", json!({"isStart": true})), ("x", plain()), ("y", plain()), ("z", plain())];
    let faults = refused(
        &graph(nodes, &["a > END", "y > x", "x > END"]),
        &[("/nodes/2", "unreachable"), ("/nodes/3", "unreachable")],
    );
    assert!(faults.faults[0].message.contains("\"y\" and \"x\""), "{faults}");
}

#[test]
fn nodes_that_lead_only_to_one_another_are_one_fault() {
    let nodes = &[("a", plain()), ("b", plain()), ("c", plain())];
    let faults = refused(&graph(nodes, &["a > b", "b > c", "c > b"]), &[("/nodes/1", "endless")]);
    assert!(faults.faults[0].message.contains("\"b\" and \"c\""), "{faults}");
    refused(&graph(&[("a", plain())], &["a > a"]), &[("/nodes/0", "endless")]);
}

#[test]
fn four_bad_branches_have_four_remedies() {
    let join = || router();
    let straight = graph(&[("a", plain()), ("b", plain()), ("d", plain())], &["a > b", "a > d", "b > d"]);
    let back = graph(
        &[("a", plain()), ("f", plain()), ("b", router()), ("c", plain()), ("d", plain())],
        &["a > f", "f > b", "f > c", "b by x > a", "b by y > d", "b > d", "c > d"],
    );
    // Where `a` is a start of its own, so that it has an edge to it.
    let mut back = back;
    back["nodes"][0]["data"]["isStart"] = json!(true);
    let shared = graph(
        &[("a", plain()), ("b", join()), ("c", plain()), ("s", plain()), ("d", plain())],
        &["a > b", "a > c", "b by x > s", "b > d", "b by y > d", "c > s", "s > d"],
    );
    let entered = graph(
        &[("r", router()), ("a", plain()), ("b", plain()), ("c", plain()), ("d", plain())],
        &["r by x > a", "r > c", "r by y > d", "a > b", "a > c", "b > d", "c > d"],
    );
    let mut words = Vec::new();
    for (file, at, kind) in [
        (straight, "/edges/1", "fork_to_join"),
        (back, "/edges/3", "fork_back"),
        (shared, "/nodes/3", "fork_shared"),
        (entered, "/edges/1", "fork_entered"),
    ] {
        words.push(refused(&file, &[(at, kind)]).faults[0].message.clone());
    }
    for (words, remedy) in
        words.iter().zip(["remove this edge", "loop from there", "a node of its own", "let it lead to"])
    {
        assert!(words.contains(remedy), "{words}");
    }
    refused(
        &graph(&[("a", plain()), ("b", plain())], &["a > b", "a > END"]),
        &[("/edges/1", "fork_to_join")],
    );
}

#[test]
fn an_approval_within_a_branch_is_one_fault() {
    let nodes =
        &[("a", plain()), ("b", json!({"pauses": true})), ("c", plain()), ("d", json!({"pauses": true}))];
    refused(&graph(nodes, &["a > b", "a > c", "b > d", "c > d"]), &[("/nodes/1", "fork_approval")]);
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
        edges.push(if depth < 39 { format!("f{depth} > f{}", depth + 1) } else { format!("f{depth} > x") });
    }
    nodes.push(("x".to_owned(), plain()));
    edges.push("x > end".to_owned());
    let nodes: Vec<(&str, Value)> = nodes.iter().map(|(id, data)| (id.as_str(), data.clone())).collect();
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
    assert_eq!(plan.region.next[&(0, "tool-call:two".to_owned())], Next::One(To::Node(2)));
}

#[test]
fn what_is_read_is_written_before_on_every_way() {
    let nodes = &[
        ("a", json!({"writes": ["list"], "reads": ["q", "messages", "context.q.x"]})),
        ("r", json!({"handles": ["x", "default"], "required": ["default"], "reads": ["list.0"]})),
        ("b", json!({"writes": ["one"]})),
        ("c", json!({"reads": ["one"]})),
    ];
    warned(&graph(nodes, &["a > r", "r by x > b", "r > c", "b > c"]), &[("/nodes/3/data/reads", "data")]);
    let mut every = graph(nodes, &["a > r", "r by x > b", "r > b", "b > c"]);
    loaded(&every);
    every["nodes"][0]["data"]["reads"] = json!(["lisst"]);
    let faults = refused(&every, &[("/nodes/0/data/reads", "data")]);
    assert_eq!(faults.faults[0].proposal, Some("list".to_owned()));
}

#[test]
fn what_is_written_only_later_is_a_fault_that_says_by_whom() {
    let nodes = &[("a", json!({"reads": ["late", "late"]})), ("b", json!({"writes": ["late"]}))];
    let faults = refused(&graph(nodes, &["a > b"]), &[("/nodes/0/data/reads", "data")]);
    assert!(faults.faults[0].message.contains("is written by \"b\", but on no path to \"a\""), "{faults}");
    // In a loop it is there the second time.
    let looped = &[
        ("a", json!({"reads": ["late"], "isStart": true})),
        ("b", json!({"writes": ["late"], "handles": ["again", "default"]})),
    ];
    warned(&graph(looped, &["a > b", "b by again > a"]), &[("/nodes/0/data/reads", "data")]);
}

#[test]
fn a_declared_default_counts_as_written() {
    let mut file = graph(&[("a", json!({"reads": ["notes"]}))], &[]);
    file["state"] = json!({"notes": {"type": "array", "reducer": "append", "default": []}});
    loaded(&file);
    file["state"]["notes"].as_object_mut().unwrap().remove("default");
    refused(&file, &[("/nodes/0/data/reads", "data")]);
}

#[test]
fn a_branch_does_not_see_what_another_writes_and_the_join_sees_both() {
    let nodes = &[
        ("a", plain()),
        ("b", json!({"writes": ["one"], "reads": ["two"]})),
        ("c", json!({"writes": ["two"]})),
        ("d", json!({"reads": ["one", "two"]})),
    ];
    refused(&graph(nodes, &["a > b", "a > c", "b > d", "c > d"]), &[("/nodes/1/data/reads", "data")]);
}

#[test]
fn two_branches_that_write_one_key_need_a_reducer() {
    let nodes = &[
        ("a", plain()),
        ("b", json!({"writes": ["out"], "also": ["trace"]})),
        ("c", json!({"also": ["trace"]})),
        ("c2", json!({"writes": ["out"]})),
    ];
    let mut file = graph(nodes, &["a > b", "a > c", "c > c2"]);
    let faults = refused(&file, &[("/nodes/3/data/writes", "conflict")]);
    assert!(faults.faults[0].message.contains("\"b\" and \"c2\""), "{faults}");
    assert!(faults.faults[0].message.contains("\"/state/out/reducer\""), "{faults}");
    file["state"] = json!({"out": {"reducer": "append"}});
    loaded(&file);
    file["state"] = json!({"out": {"reducer": "replace"}});
    refused(&file, &[("/state/out", "conflict")]);
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
    warned(
        &graph(nodes, &["a > each", "each by next > work", "work > each", "each by complete > z"]),
        &[("/nodes/3/data/reads", "data")],
    );
}

#[test]
fn behind_a_node_that_writes_what_it_likes_nothing_is_sure() {
    let nodes = &[("a", json!({"anything": true})), ("b", json!({"reads": ["x"]}))];
    warned(&graph(nodes, &["a > b"]), &[("/nodes/1/data/reads", "data")]);
    refused(
        &graph(&[("b", json!({"reads": ["x"]})), ("a", json!({"anything": true}))], &["b > a"]),
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
    refused(&file, &[("/nodes/2/data/system", "untrusted"), ("/nodes/2/data/system", "untrusted")]);
    let object = file.as_object_mut().unwrap();
    object.remove("format");
    object.remove("version");
    let (faults, _) = load(&file);
    assert_eq!(told(&faults.faults), []);
    let untrusted = faults.warnings.iter().filter(|fault| fault.kind == FaultKind::Untrusted);
    assert_eq!(untrusted.count(), 2, "{faults:?}");
}

#[test]
fn a_faulty_node_causes_no_faults_of_others() {
    let nodes = &[("a", json!({"unclear": true})), ("b", json!({"reads": ["what a writes"]}))];
    loaded(&graph(nodes, &["a by whatever > b", "b > END"]));
}

#[test]
fn names_that_nobody_writes_are_found_beside_other_faults() {
    let nodes = &[("a", json!({"reads": ["qq", "late"]})), ("b", json!({"writes": ["late"]}))];
    let (faults, _) = load(&graph(nodes, &["a > b", "b > c"]));
    assert_eq!(
        told(&faults.faults),
        [("/nodes/0/data/reads", "data"), ("/edges/1/target", "unknown_node")],
        "{faults}"
    );
    // The unknown edge may lead back to the reader.
    assert_eq!(told(&faults.warnings), [("/nodes/0/data/reads", "data")]);
}

#[test]
fn a_file_without_inputs_lists_what_it_needs() {
    let nodes = &[("a", json!({"reads": ["topic", "context.tone.x"]})), ("b", json!({"writes": ["late"]}))];
    let mut file = graph(nodes, &["a > b"]);
    let object = file.as_object_mut().unwrap();
    for name in ["format", "version", "inputs"] {
        object.remove(name);
    }
    let (_, plan) = load(&file);
    assert_eq!(plan.unwrap().needs, ["tone", "topic"]);
}

#[test]
fn two_mistakes_in_different_forks_are_two_faults() {
    let nodes = &[("a", plain()), ("b", plain()), ("d", plain()), ("e", plain()), ("f", plain())];
    refused(
        &graph(nodes, &["a > b", "a > d", "b > d", "d > e", "d > f", "e > f"]),
        &[("/edges/1", "fork_to_join"), ("/edges/4", "fork_to_join")],
    );
}
