use serde_json::{Value, json};

use super::*;
use crate::faults::{Faults, GraphFaults};

fn load(text: &str) -> (Option<GraphFile>, GraphFaults) {
    let mut faults = Faults::default();
    let file = read(text, &mut faults);
    (file, faults.into_parts(None))
}

fn reported(faults: &[crate::Fault]) -> Vec<(&str, &str)> {
    faults
        .iter()
        .map(|fault| (&*fault.pointer, fault.kind.as_str()))
        .collect()
}

#[track_caller]
fn refused(file: &Value, expected: &[(&str, &str)]) -> GraphFaults {
    let (_, faults) = load(&file.to_string());
    assert_eq!(reported(&faults.faults), expected, "{faults}");
    faults
}

/// A small graph of our own with further members.
fn own(further: &Value) -> Value {
    let mut file = json!({
        "format": "llmnode/graph", "version": 1,
        "nodes": [{"id": "a", "type": "agent", "data": {}}],
    });
    let members = file.as_object_mut().unwrap();
    members.extend(further.as_object().unwrap().clone());
    file
}

#[test]
fn what_is_no_graph_is_refused_as_a_whole() {
    for (text, kind) in [
        ("", "syntax"),
        ("{\"nodes\": [}", "syntax"),
        ("{} {}", "syntax"),
        ("[]", "wrong_kind"),
        ("3", "wrong_kind"),
        (&"[".repeat(70), "cap"),
        (
            &format!("{{\"a\": {}{}}}", "[".repeat(70), "]".repeat(70)),
            "cap",
        ),
        (&" ".repeat((1 << 20) + 1), "cap"),
    ] {
        let (file, faults) = load(text);
        assert!(file.is_none());
        assert_eq!(
            reported(&faults.faults),
            [("", kind)],
            "{}",
            &text[..text.len().min(20)]
        );
    }
}

#[test]
fn a_newer_version_is_refused_before_anything_else() {
    let faults = refused(
        &json!({"format": "llmnode/graph", "version": 2, "nods": 3, "nodes": "x"}),
        &[("/version", "version")],
    );
    assert!(
        faults.faults[0]
            .message
            .contains("llmnode/graph version 2 is newer"),
        "{faults}"
    );
    refused(&own(&json!({"version": "1"})), &[("/version", "version")]);
    refused(&own(&json!({"version": 0})), &[("/version", "version")]);
    refused(
        &json!({"format": "llmnode/graph", "nodes": [{"id": "a", "type": "x"}]}),
        &[("", "version")],
    );
    refused(
        &json!({"format": "llmnode/program", "version": 1}),
        &[("/format", "format")],
    );
}

#[test]
fn too_many_nodes_or_edges_are_one_fault_each() {
    let nodes = vec![json!(3); 2_001];
    let edges = vec![json!(3); 10_001];
    refused(
        &json!({"nodes": nodes, "edges": edges}),
        &[("/nodes", "cap"), ("/edges", "cap")],
    );
}

#[test]
fn unknown_members_are_faults_with_the_nearest_name_in_a_file_of_ours() {
    let faults = refused(
        &own(&json!({
            "nods": [], "ui": {"x": 1},
            "edges": [{"source": "a", "target": "END", "sourcehandle": "x", "ui": 1}],
            "nodes": [{"id": "a", "type": "agent", "position": {}, "measured": 1, "ui": 1, "selected": true}],
        })),
        &[
            ("/nods", "unknown_member"),
            ("/nodes/0/selected", "unknown_member"),
            ("/edges/0/sourcehandle", "unknown_member"),
        ],
    );
    let proposals: Vec<_> = faults
        .faults
        .iter()
        .map(|fault| fault.proposal.as_deref())
        .collect();
    assert_eq!(proposals[2], Some("sourceHandle"));
    assert_eq!(reported(&faults.warnings), []);
}

#[test]
fn unknown_members_are_warnings_in_a_file_of_react_flow() {
    let file = json!({
        "viewport": {"x": 0, "y": 0, "zoom": 1}, "colour": 1,
        "nodes": [{
            "id": "a", "type": "agent", "data": {"label": "A"}, "position": {"x": 1, "y": 2}, "width": 200, "selected": false,
            "measured": {}, "shade": 1,
        }],
        "edges": [{"id": "e", "source": "a", "target": "END", "sourceHandle": null, "animated": true, "glow": 1}],
    });
    let (_, faults) = load(&file.to_string());
    assert_eq!(reported(&faults.faults), []);
    let warned = reported(&faults.warnings);
    let expected = ["/nodes/0/shade", "/edges/0/glow", "/colour"].map(|at| (at, "unknown_member"));
    assert!(
        warned.len() == 3 && expected.iter().all(|one| warned.contains(one)),
        "{warned:?}"
    );
}

#[test]
fn a_member_that_is_misspelled_and_has_to_be_there_is_one_fault() {
    let file = json!({"nodes": [{"idd": "a", "type": "agent"}]});
    let faults = refused(&file, &[("/nodes/0/idd", "unknown_member")]);
    assert_eq!(faults.faults[0].proposal, Some("id".to_owned()));
    refused(
        &own(&json!({"nodes": [{"id": "a", "tpye": "agent"}]})),
        &[("/nodes/0/tpye", "unknown_member")],
    );
}

#[test]
fn members_that_stand_twice_are_faults_and_the_first_counts() {
    let text = r#"{"nodes": [{"id": "a", "id": "b", "type": "x", "data": {"k": 1, "k": 2}}], "nodes": []}"#;
    let (file, faults) = load(text);
    let expected = ["/nodes", "/nodes/0/data/k", "/nodes/0/id"].map(|at| (at, "duplicate_member"));
    assert_eq!(reported(&faults.faults), expected, "{faults}");
    assert_eq!(file.unwrap().nodes[0].id, "a");
}

#[test]
fn values_of_another_kind_are_faults_at_their_place() {
    refused(
        &own(&json!({
            "name": 3, "max_steps": 0, "limits": {"requests": -1, "money": 0, "tokens": 1.5},
            "inputs": {"a": {"type": "strin"}, "_b": {}, "c": 3, "d": {"typ": "string"}},
            "state": {"n": {"reducer": "apend"}, "m": {"type": "string", "reducer": "append"},
                      "o": {"type": "integer", "default": "x"}, "messages": {}, "p": 3},
            "nodes": [3, {"id": 4, "type": []}, {"id": "", "type": "x"}, {"id": "b", "type": "x", "data": 3},
                      {"id": "c", "type": "x", "data": {"isStart": "yes", "label": 3}}],
            "edges": [3, {"source": 1, "target": "b"}, {"source": "b"}],
        })),
        &[
            ("/name", "wrong_kind"),
            ("/inputs/_b", "bad_name"),
            ("/inputs/a/type", "unknown_name"),
            ("/inputs/c", "wrong_kind"),
            ("/inputs/d/typ", "unknown_member"),
            ("/state/m/reducer", "wrong_kind"),
            ("/state/messages", "bad_name"),
            ("/state/n/reducer", "unknown_name"),
            ("/state/o/default", "wrong_kind"),
            ("/state/p", "wrong_kind"),
            ("/limits/money", "out_of_range"),
            ("/limits/requests", "out_of_range"),
            ("/limits/tokens", "wrong_kind"),
            ("/max_steps", "out_of_range"),
            ("/nodes/0", "wrong_kind"),
            ("/nodes/1/id", "wrong_kind"),
            ("/nodes/1/type", "wrong_kind"),
            ("/nodes/2/id", "out_of_range"),
            ("/nodes/3/data", "wrong_kind"),
            ("/edges/0", "wrong_kind"),
            ("/edges/1/source", "wrong_kind"),
            ("/edges/2", "missing"),
        ],
    );
}

#[test]
fn ids_are_one_nodes_own() {
    refused(
        &own(
            &json!({"nodes": [{"id": "a", "type": "x"}, {"id": "a", "type": "x"}, {"id": "END", "type": "x"}]}),
        ),
        &[("/nodes/1/id", "duplicate"), ("/nodes/2/id", "bad_name")],
    );
    refused(&own(&json!({"nodes": []})), &[("/nodes", "out_of_range")]);
    refused(&json!({"edges": []}), &[("", "missing")]);
}

/// The settings of one node of React Flow's.
fn translated(kind: &str, data: Value) -> (NodeSettings, GraphFaults) {
    let (file, faults) =
        load(&json!({"nodes": [{"id": "a", "type": kind, "data": data}]}).to_string());
    (file.unwrap().nodes.remove(0).data, faults)
}

#[test]
fn settings_of_react_flow_become_ours_and_keep_their_places() {
    let (data, faults) = translated(
        "agent",
        json!({"label": "A", "profile_id": 1, "max_iterations": "10", "tools": null, "output_schema": [
            {"name": "score", "type": "number", "description": "0 to 1"}, {"name": "why", "type": "text"}]}),
    );
    assert_eq!(reported(&faults.faults), []);
    assert_eq!(
        Value::Object(data.values.clone()),
        json!({"label": "A", "profile": "1", "max_iterations": 10, "output_schema": {"type": "object", "required": ["score", "why"],
            "properties": {"score": {"type": "number", "description": "0 to 1"}, "why": {"type": "string"}}}})
    );
    assert_eq!(data.pointer("/profile"), "/nodes/0/data/profile_id");
    assert_eq!(data.pointer("/tools/1"), "/nodes/0/data/tools/1");
    assert_eq!(
        data.pointer("/output_schema/properties/why/type"),
        "/nodes/0/data/output_schema/1/type"
    );
    let (data, faults) = translated(
        "router",
        json!({"routes": [
            {"id": "r", "condition": "equals", "value": "x", "source": "context", "context_key": "k", "target_handle": "h"},
            {"condition": "contains", "value": "y", "source": "message", "context_key": "", "target_handle": "i"}]}),
    );
    assert_eq!(reported(&faults.faults), []);
    assert_eq!(
        data.values["routes"],
        json!([{"condition": "equals", "value": "x", "source": "k", "handle": "h"},
            {"condition": "contains", "value": "y", "handle": "i"}])
    );
    assert_eq!(
        data.pointer("/routes/0/source"),
        "/nodes/0/data/routes/0/context_key"
    );
    let (data, _) = translated(
        "iterator",
        json!({"input_list_variable": "topics", "output_item_variable": "topic"}),
    );
    assert_eq!(
        Value::Object(data.values),
        json!({"source": "topics", "item": "topic"})
    );
    let (data, _) = translated("subgraph", json!({"flow_id": 7}));
    assert_eq!(Value::Object(data.values), json!({"flow_id": "7"}));
}

#[test]
fn what_cannot_become_ours_is_a_fault_at_its_place() {
    let (_, faults) = translated(
        "router",
        json!({"routes": [{"source": "context"}, {"source": "contxt"}, {"source": 3}, {"source": "context", "context_key": 3}]}),
    );
    assert_eq!(
        reported(&faults.faults),
        [
            ("/nodes/0/data/routes/0", "missing"),
            ("/nodes/0/data/routes/1/source", "unknown_name"),
            ("/nodes/0/data/routes/2/source", "wrong_kind"),
            ("/nodes/0/data/routes/3/context_key", "wrong_kind"),
        ]
    );
    let (_, faults) = translated(
        "agent",
        json!({"output_schema": [{"type": "string"}, {"name": "a", "type": "strin"}, {"name": "b"}, {"name": "b"}]}),
    );
    assert_eq!(
        reported(&faults.faults),
        [
            ("/nodes/0/data/output_schema/0", "missing"),
            ("/nodes/0/data/output_schema/1/type", "unknown_name"),
            ("/nodes/0/data/output_schema/3/name", "duplicate"),
        ]
    );
}

#[test]
fn of_a_whole_profile_only_the_name_counts() {
    let (data, faults) = translated(
        "smart_node",
        json!({"llm_profile": {"id": 2, "name": "fast", "base_url": null, "temperature": 0.1}}),
    );
    assert_eq!(
        (reported(&faults.faults), &data.values["profile"]),
        (vec![], &json!("fast"))
    );
    assert_eq!(data.pointer("/profile"), "/nodes/0/data/llm_profile/name");
    let (_, faults) = translated(
        "smart_node",
        json!({"llm_profile": {"id": 2, "api_key": "sk-1", "base_url": "http://x", "max_tokens": 3}}),
    );
    assert_eq!(
        reported(&faults.faults),
        [
            ("/nodes/0/data/llm_profile/api_key", "setting"),
            ("/nodes/0/data/llm_profile/base_url", "setting")
        ]
    );
    assert!(
        faults.faults[0].message.contains("register the profile"),
        "{faults}"
    );
}

#[test]
fn handles_of_the_way_on_are_one() {
    let file = json!({
        "nodes": [{"id": "a", "type": "agent"}, {"id": "r", "type": "router"}],
        "edges": [{"source": "a", "target": "r"}, {"source": "a", "target": "r", "sourceHandle": "output"},
            {"source": "a", "target": "r", "sourceHandle": ""}, {"source": "r", "target": "a", "sourceHandle": "else"},
            {"source": "a", "target": "r", "sourceHandle": "else"}],
    });
    let (file, _) = load(&file.to_string());
    let handles: Vec<String> = file
        .unwrap()
        .edges
        .into_iter()
        .map(|edge| edge.handle)
        .collect();
    assert_eq!(
        handles,
        ["default", "default", "default", "default", "else"]
    );
}

#[test]
fn declared_types_are_checked_against_values() {
    let schema = json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "array", "items": {"type": "integer"}}}});
    assert_eq!(schema_mismatch(&schema, &json!({"a": [1], "b": 2})), None);
    let wrong = schema_mismatch(&schema, &json!({"a": [1, "x"]})).unwrap();
    assert!(wrong.starts_with("/a/1: is \"x\""), "{wrong}");
    assert_eq!(schema_mismatch(&json!({}), &json!(null)), None);
    assert_eq!(
        schema_mismatch(&json!({"enum": ["yes", "no"]}), &json!("maybe")).unwrap(),
        "no value \"maybe\""
    );
}
