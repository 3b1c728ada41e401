//! `smart_node` in graphs.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

use std::path::{Path, PathBuf};

use llmnode::graph::{Graph, GraphFaults, Registry, State};
use llmnode::prelude::*;
use llmnode::smart::SmartRegistry;
use serde_json::{Value, json};

fn file(data: Value, inputs: Value) -> String {
    let nodes = json!([{"id": "judge", "type": "smart_node", "data": data}]);
    json!({"format": "llmnode/graph", "version": 1, "inputs": inputs, "nodes": nodes, "edges": []})
        .to_string()
}

fn faults(file: &str, registry: Registry) -> GraphFaults {
    Graph::parse(file, &registry.build().unwrap()).unwrap_err()
}

fn shown(faults: &GraphFaults) -> Vec<String> {
    faults.faults.iter().map(ToString::to_string).collect()
}

/// Runs a graph; gives the run and what was asked.
async fn ran(graph: &Graph, model: &ScriptedModel, state: State) -> Result<Run<State>, NodeError> {
    let registry = Registry::new().smart_nodes().build().unwrap();
    let mut run = registry.run(model.clone()).with_state(state);
    run.flow(graph).await?;
    Ok(run)
}

fn graph(file: &str) -> Graph {
    Graph::parse(file, &Registry::new().smart_nodes().build().unwrap())
        .unwrap_or_else(|faults| panic!("{faults}"))
}

fn texts(model: &ScriptedModel, request: usize) -> Vec<String> {
    model.requests()[request]
        .messages
        .iter()
        .map(|message| message.content.clone())
        .collect()
}

fn verdict() -> Value {
    json!({
        "goal": "Is the question answered?",
        "inputs": [{"name": "question", "description": "what is asked"}, {"name": "notes", "type": "array"}],
        "outputs": [{"name": "verdict", "type": {"enum": ["yes", "no"]}}, {"name": "share", "type": "number", "description": "0 to 1"}]
    })
}

fn both() -> Value {
    json!({"question": {"type": "string"}, "notes": {"type": "array"}})
}

#[tokio::test]
async fn outputs_go_to_their_keys_and_the_first_is_said() {
    let graph = graph(&file(verdict(), both()));
    let answer = r#"{"reasoning": "It is.", "verdict": "Yes", "share": "0.5"}"#;
    let model = ScriptedModel::new().reply(llmnode::Reply::text(answer).usage(None));
    let state = graph
        .start(json!({"question": "Why?", "notes": ["so"]}))
        .unwrap();
    let run = ran(&graph, &model, state).await.unwrap();
    assert_eq!(
        (&run.state()["verdict"], &run.state()["share"]),
        (&json!("yes"), &json!(0.5))
    );
    assert_eq!(
        (run.state().last_text(), run.state()["reasoning"].is_null()),
        ("yes", true)
    );
    assert_eq!(
        texts(&model, 0),
        [
            "Is the question answered?\n\nThe input has these fields:\n- question: what is asked",
            "# question\nWhy?\n\n# notes\n[\"so\"]"
        ]
    );
    let schema = model.requests()[0]
        .output
        .as_ref()
        .unwrap()
        .plain()
        .get()
        .to_owned();
    assert!(
        schema.find("reasoning") < schema.find("verdict") && schema.contains("0 to 1"),
        "{schema}"
    );
    // Tokens count under the id, and are estimated where the model does not report them.
    let calls = run.ledger().calls();
    let own = calls.iter().find(|call| call.node == *"judge").unwrap();
    assert!(own.attempts[0].estimate.is_some() && own.attempts[0].usage.is_none());
}

#[tokio::test]
async fn predict_does_not_think_and_one_value_holds_all() {
    let mut data = verdict();
    data["mode"] = "Predict".into();
    data["save_as"] = "judged".into();
    let graph = graph(&file(data, both()));
    let model = ScriptedModel::new().reply(r#"{"verdict": "no", "share": 1}"#);
    let run = ran(
        &graph,
        &model,
        graph
            .start(json!({"question": "Why?", "notes": []}))
            .unwrap(),
    )
    .await
    .unwrap();
    assert_eq!(run.state()["judged"], json!({"verdict": "no", "share": 1}));
    assert!(run.state()["verdict"].is_null());
}

#[tokio::test]
async fn a_bad_answer_is_corrected() {
    let mut data = verdict();
    data["mode"] = "Predict".into();
    let graph = graph(&file(data, both()));
    let model = ScriptedModel::new()
        .reply(r#"{"verdict": "maybe"}"#)
        .reply(r#"{"verdict": "no", "share": 1}"#);
    let state = graph
        .start(json!({"question": "Why?", "notes": []}))
        .unwrap();
    assert_eq!(
        ran(&graph, &model, state).await.unwrap().state()["verdict"],
        "no"
    );
    let told = texts(&model, 1).pop().unwrap();
    assert!(
        told.contains("- verdict: ") && told.contains("`share`"),
        "{told}"
    );
}

#[tokio::test]
async fn case_92_inputs_are_values_or_the_last_message() {
    let data = json!({"mode": "Predict", "inputs": [{"name": "a"}, {"name": "b"}], "outputs": [{"name": "c"}]});
    let asks = async |inputs: Value, given: Value, message: Option<&str>| {
        let graph = graph(&file(data.clone(), inputs));
        let model = ScriptedModel::new().reply(r#"{"c": "x"}"#);
        let state = graph
            .start(given)
            .unwrap()
            .with_messages(message.map(Message::user));
        ran(&graph, &model, state)
            .await
            .map(|_| texts(&model, 0).pop().unwrap())
    };
    let values = json!({"a": {}, "b": {}});
    // A value beats the message.
    let text = asks(
        values.clone(),
        json!({"a": 1, "b": [2]}),
        Some("{\"a\": 9}"),
    )
    .await
    .unwrap();
    assert_eq!(text, "# a\n1\n\n# b\n[2]");
    assert_eq!(
        asks(
            json!({}),
            json!({}),
            Some(r#"{"params": [{"a": "x", "b": "y"}]}"#)
        )
        .await
        .unwrap(),
        "# a\nx\n\n# b\ny"
    );
    assert_eq!(
        asks(json!({}), json!({}), Some(r#"{"params": ["x", "y"]}"#))
            .await
            .unwrap(),
        "# a\nx\n\n# b\ny"
    );
    assert_eq!(
        asks(json!({}), json!({}), Some(r#"{"b": "y", "z": 1}"#))
            .await
            .unwrap(),
        "# b\ny"
    );
    assert_eq!(
        asks(json!({}), json!({}), Some("just a text"))
            .await
            .unwrap(),
        "# a\njust a text"
    );
    let error = asks(json!({}), json!({}), None).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("nothing to read: no value of the state is called \"a\", \"b\""),
        "{error}"
    );
    // Where the graph has one of them, it has to have all.
    let faults = faults(
        &file(data.clone(), json!({"a": {}})),
        Registry::new().smart_nodes(),
    );
    let faults = shown(&faults);
    assert!(
        faults.len() == 1
            && faults[0].starts_with("/nodes/0/data/inputs/1/name: nothing writes \"b\""),
        "{faults:?}"
    );
}

#[tokio::test]
async fn guardrails_tell_what_is_broken_and_say_whether_they_hold() {
    let data = json!({
        "mode": "Predict", "inputs": [{"name": "product"}], "outputs": [{"name": "slogan"}, {"name": "json"}],
        "guardrails": [{"id": "max_chars", "max_chars": 6}, {"id": "regex", "pattern": "^[A-Z]"}, {"id": "json", "output": "json"}]
    });
    let graph = graph(&file(data, json!({"product": {}})));
    let reply = |slogan: &str, json: &str| json!({"slogan": slogan, "json": json}).to_string();
    let state = || graph.start(json!({"product": "bread"})).unwrap();
    let model = ScriptedModel::new()
        .reply(reply("Bread!!", "{"))
        .reply(reply("Bread", "[1]"));
    let run = ran(&graph, &model, state()).await.unwrap();
    assert_eq!(
        (&run.state()["slogan"], &run.state()["judge_met"]),
        (&json!("Bread"), &json!(true))
    );
    let second = texts(&model, 1).pop().unwrap();
    assert!(
        second.contains("`slogan` has 7 characters, and 6 are the most\n- `json` has to be JSON"),
        "{second}"
    );
    let calls = run.ledger().calls();
    let own = calls.iter().find(|call| call.node == *"judge").unwrap();
    assert_eq!(
        own.attempts.len(),
        2,
        "all tries stand under the id of the node"
    );
    // Never met: the best one counts, and the graph continues.
    let bad = reply("bread", "[1]");
    let model = ScriptedModel::new()
        .reply(reply("bread and butter", "{"))
        .reply(bad.clone())
        .reply(reply("butter", "1"));
    let run = ran(&graph, &model, state()).await.unwrap();
    assert_eq!(
        (&run.state()["slogan"], &run.state()["judge_met"]),
        (&json!("bread"), &json!(false))
    );
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test]
async fn a_file_of_react_flow_runs() {
    let file = json!({"nodes": [
        {"id": "n1", "type": "smart_node", "position": {"x": 0, "y": 0}, "data": {
            "label": "Shout", "goal": "Shout it.", "llm_profile": {"name": "good", "temperature": 0},
            "inputs": [{"name": "text", "desc": "what to shout"}],
            "outputs": [{"name": "loud", "desc": "in capitals", "guardrail": {"id": "regex", "params": {"pattern": "[A-Z]"}}}]}}],
        "edges": [{"source": "start", "target": "n1"}]})
    .to_string();
    let registry = Registry::new().smart_nodes().model(
        "good",
        ScriptedModel::new().reply(r#"{"reasoning": "r", "loud": "HI"}"#),
    );
    let registry = registry.build().unwrap();
    let graph = Graph::parse(&file, &registry).unwrap();
    let state = graph
        .start(json!({}))
        .unwrap()
        .with_messages([Message::user("hi")]);
    let mut run = registry.run(ScriptedModel::new()).with_state(state);
    run.flow(&graph).await.unwrap();
    assert_eq!(
        (&run.state()["loud"], &run.state()["n1_met"]),
        (&json!("HI"), &json!(true))
    );
}

#[test]
fn each_mistake_of_a_file_is_a_fault() {
    let data = json!({
        "goal": "x", "profile": "god", "program": "judge",
        "inputs": [{"name": "a b"}, {"name": "c", "type": "strng"}, {"name": "c"}],
        "outputs": [{"name": "messages"}]
    });
    let registry = || {
        Registry::new()
            .smart_nodes()
            .model("good", ScriptedModel::new())
    };
    let all = shown(&faults(&file(data, json!({})), registry()));
    assert_eq!(
        all,
        [
            "/nodes/0/data/inputs/0/name: the name \"a b\" has to be of letters, digits and `_`",
            "/nodes/0/data/inputs/1/type: no type \"strng\"; did you mean \"string\"?",
            "/nodes/0/data/inputs/2/name: the field \"c\" is there already; remove one",
            "/nodes/0/data/outputs/0/name: \"messages\" is a name of the graph's own; take another",
            "/nodes/0/data/profile: no profile \"god\"; did you mean \"good\"?",
        ]
    );
    let mut data = verdict();
    data["guardrails"] = json!([{"id": "regx", "pattern": "x"}, {"id": "regex", "pattern": "("}, {"id": "max_chars"}, {"id": "json", "output": "verdct"}]);
    let all = shown(&faults(&file(data.clone(), both()), registry()));
    assert_eq!(all.len(), 4, "{all:#?}");
    for (fault, says) in all.iter().zip([
        "did you mean \"regex\"?",
        "is no regex",
        "says no \"max_chars\"",
        "did you mean \"verdict\"?",
    ]) {
        assert!(fault.contains(says), "{fault}");
    }
    let mut data = verdict();
    data["program"] = "judge".into();
    let all = shown(&faults(&file(data, both()), registry()));
    assert!(
        all[0].contains("add `.programs(\"folder\")` to the registry"),
        "{all:?}"
    );
    let error = Registry::new()
        .smart_nodes()
        .smart_nodes()
        .programs("x")
        .build();
    assert!(error.is_ok(), "the type is added once");
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("llmnode-smart-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("programs")).unwrap();
        Folder(folder)
    }

    fn programs(&self) -> PathBuf {
        self.0.join("programs")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What DSPy saves of a `ChainOfThought` with these fields.
fn saved(instructions: &str, fields: &[&str]) -> String {
    let fields: Vec<_> = fields
        .iter()
        .map(|name| json!({"prefix": "P:", "description": format!("${{{name}}}")}))
        .collect();
    let predictor = json!({"demos": [], "lm": null, "signature": {"instructions": instructions, "fields": fields}});
    json!({"predict": predictor, "metadata": {}}).to_string()
}

const FIELDS: [&str; 5] = ["question", "notes", "reasoning", "verdict", "share"];

#[tokio::test]
async fn a_program_is_named_or_found_by_the_id() {
    let folder = Folder::new("named");
    std::fs::write(
        folder.programs().join("strict.json"),
        saved("Be strict.", &FIELDS),
    )
    .unwrap();
    std::fs::write(
        folder.programs().join("judge_compiled.json"),
        saved("Be kind.", &FIELDS),
    )
    .unwrap();
    let registry = || Registry::new().programs(folder.programs()).build().unwrap();
    for (program, goal) in [(Some("strict"), "Be strict."), (None, "Be kind.")] {
        let mut data = verdict();
        data["program"] = json!(program);
        data.as_object_mut()
            .unwrap()
            .retain(|_, value| !value.is_null());
        let graph = Graph::parse(&file(data, both()), &registry()).unwrap();
        let answer = "[[ ## reasoning ## ]]\nr\n[[ ## verdict ## ]]\nno\n[[ ## share ## ]]\n0.25";
        let model = ScriptedModel::new().reply(answer);
        let run = ran(
            &graph,
            &model,
            graph
                .start(json!({"question": "Why?", "notes": []}))
                .unwrap(),
        )
        .await
        .unwrap();
        assert_eq!(
            (&run.state()["verdict"], &run.state()["share"]),
            (&json!("no"), &json!(0.25))
        );
        assert!(
            texts(&model, 0)[0].ends_with(&format!("your objective is: \n        {goal}")),
            "{:?}",
            texts(&model, 0)
        );
    }
    let mut data = verdict();
    data["program"] = "strickt".into();
    let all = shown(&faults(
        &file(data, both()),
        Registry::new().programs(folder.programs()),
    ));
    assert_eq!(
        all,
        ["/nodes/0/data/program: no program \"strickt\"; did you mean \"strict\"?"]
    );
    std::fs::write(
        folder.programs().join("judge_compiled.json"),
        saved("Be kind.", &["question", "verdict"]),
    )
    .unwrap();
    let all = shown(&faults(
        &file(verdict(), both()),
        Registry::new().programs(folder.programs()),
    ));
    assert!(
        all[0].contains(
            "the program \"judge_compiled\" does not fit: /predict/signature/fields: there are 2 fields"
        ),
        "{all:?}"
    );
}

/// Case 70.
#[test]
fn case_70_nothing_outside_of_the_folder_is_opened() {
    let folder = Folder::new("outside");
    std::fs::write(folder.0.join("x_compiled.json"), "not a program").unwrap();
    std::fs::write(folder.0.join("secret.json"), "not a program").unwrap();
    let registry = || Registry::new().programs(folder.programs());
    let with_id = |id: &str| {
        let nodes = json!([{"id": id, "type": "smart_node", "data": verdict()}]);
        json!({"format": "llmnode/graph", "version": 1, "inputs": both(), "nodes": nodes, "edges": []})
            .to_string()
    };
    let all = shown(&faults(&with_id("../x"), registry()));
    assert!(
        all.iter()
            .any(|fault| fault.contains("cannot be the name of a program")),
        "{all:?}"
    );
    assert!(
        all.iter().all(|fault| !fault.contains("no JSON")),
        "{all:?}"
    );
    let mut data = verdict();
    for name in ["../secret", "/etc/passwd", "a/b", ""] {
        data["program"] = name.into();
        let all = shown(&faults(&file(data.clone(), both()), registry()));
        assert!(
            all[0].contains("cannot be the name of a program"),
            "{all:?}"
        );
    }
    link(
        &folder.0.join("secret.json"),
        &folder.programs().join("linked.json"),
    );
    data["program"] = "linked".into();
    let all = shown(&faults(&file(data, both()), registry()));
    assert!(
        cfg!(not(unix)) || all[0].contains("links are not followed"),
        "{all:?}"
    );
    // An id of other letters has no program.
    assert!(Graph::parse(&with_id("The judge"), &registry().build().unwrap()).is_ok());
    let none = Registry::new().programs(folder.0.join("nowhere"));
    assert!(shown(&faults(&with_id("judge"), none))[0].contains("is not there, or is no folder"));
}

#[cfg(unix)]
fn link(to: &Path, from: &Path) {
    std::os::unix::fs::symlink(to, from).unwrap();
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) {}
