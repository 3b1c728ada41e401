//! The command `llmnode-graph`.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use llmnode_stub::{LoggedRequest, StubReply, StubServer};
use serde_json::{Value, json};

/// A file of the tests of loading.
fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../llmnode-graph/tests/data").join(file)
}

fn example(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data/graphs").join(file)
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_llmnode-graph"));
    command.args(args).env_remove("OPENAI_API_KEY").env_remove("OPENAI_BASE_URL").env_remove("OPENAI_MODEL");
    command
}

fn output(args: &[&str]) -> Output {
    command(args).output().unwrap()
}

fn lines(output: &[u8]) -> Vec<String> {
    String::from_utf8(output.to_vec()).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_good_file_ends_with_0_and_says_nothing() {
    let file = data("good/fork_nested.json");
    let done = output(&["check", file.to_str().unwrap()]);
    assert_eq!((done.status.code(), lines(&done.stdout)), (Some(0), vec![]));
}

#[test]
fn a_bad_file_ends_with_1_and_a_line_for_each_fault() {
    let file = data("bad/unknown_tool.json");
    let done = output(&["check", file.to_str().unwrap(), "--tools", "web_search,calculator"]);
    assert_eq!(done.status.code(), Some(1));
    assert_eq!(
        lines(&done.stdout),
        [
            r#"/nodes/0/data/tools/1: no tool "web_serch"; did you mean "web_search"?"#,
            r#"/nodes/1/data/tool_name: no tool "calcultor"; did you mean "calculator"?"#,
        ]
    );
    // Which tools there are is the program's to say.
    assert_eq!(output(&["check", file.to_str().unwrap()]).status.code(), Some(0));
}

#[test]
fn tools_of_subgraphs_are_the_programs_too() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-graph-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (name, node) in [
        ("outer", json!({"id": "a", "type": "subgraph", "data": {"flow_id": "inner"}})),
        ("inner", json!({"id": "a", "type": "agent", "data": {"prompt": "Hello", "tools": ["find"]}})),
    ] {
        let file = json!({"format": "llmnode/graph", "version": 1, "nodes": [node], "edges": []});
        std::fs::write(folder.join(format!("{name}.json")), file.to_string()).unwrap();
    }
    let done = output(&["check", folder.join("outer.json").to_str().unwrap()]);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!((done.status.code(), lines(&done.stdout)), (Some(0), vec![]));
}

#[test]
fn faults_are_given_as_json() {
    let file = data("bad/written_on_one_way.json");
    let done = output(&["check", "--json", file.to_str().unwrap()]);
    assert_eq!(done.status.code(), Some(0));
    let told: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((&told["faults"], &told["warnings"][0]["kind"]), (&json!([]), &json!("data")));
    assert_eq!(told["warnings"][0]["pointer"], "/nodes/2/data/prompt");
}

#[test]
fn mistakes_of_the_call_end_with_2() {
    for args in [&["chek"][..], &["check", "nowhere.json"], &["check"], &["run", "nowhere.json"]] {
        assert_eq!(output(args).status.code(), Some(2), "{args:?}");
    }
    assert_eq!(output(&["--help"]).status.code(), Some(0));
    let schema: Value = serde_json::from_slice(&output(&["schema"]).stdout).unwrap();
    assert_eq!(schema["title"], "llmnode graph");
}

#[test]
fn a_reader_that_stops_reading_is_no_mistake() {
    let mut child = command(&["schema"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), lines(&done.stderr)), (Some(0), vec![]));
}

/// Runs a file on this server.
async fn run(server: &StubServer, file: &Path, args: &[&str]) -> Output {
    let mut command = command(&["run"]);
    command.arg(file).args(args).env("OPENAI_BASE_URL", server.base_url()).env("OPENAI_MODEL", "m");
    tokio::task::spawn_blocking(move || command.stdin(Stdio::null()).output().unwrap()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_graph_runs_on_the_model_of_the_environment() {
    let server = StubServer::builder()
        .script([StubReply::text("a plan"), StubReply::text("an answer")])
        .start()
        .await
        .unwrap();
    let done = run(&server, &example("output_schema.json"), &[]).await;
    assert_eq!(done.status.code(), Some(2));
    assert!(lines(&done.stderr).join("\n").contains("the input \"question\" is missing"), "{done:?}");

    let done = run(&server, &data("good/chain_alone.json"), &["--input", "question=Why?"]).await;
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let values: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(values, json!({"question": "Why?", "plan": "a plan", "answer": "an answer"}));
    let told = lines(&done.stderr);
    assert!(told[0].starts_with("plan: ") && told[0].contains("tokens"), "{told:?}");
    assert!(told.last().unwrap().starts_with("2 requests"), "{told:?}");

    let done = run(&server, &data("bad/fork_to_join.json"), &[]).await;
    assert_eq!(done.status.code(), Some(1));
    let told = lines(&done.stderr).join("\n");
    assert!(
        told.contains("error[fork_to_join]: \"a\" leads directly to \"d\"") && told.contains("^"),
        "{told}"
    );
}

/// An agent behind an approval, and one for where it is not given.
fn approved(folder: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    let agent = |id: &str, more: Value| {
        let mut data = json!({"prompt": format!("{id} {{{{ theme }}}}"), "save_as": id});
        data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"id": id, "type": "agent", "data": data})
    };
    let file = json!({
        "format": "llmnode/graph", "version": 1, "inputs": {"theme": {"type": "string"}},
        "nodes": [agent("send", json!({"isStart": true, "require_approval": true})), agent("keep", json!({}))],
        "edges": [
            {"source": "send", "target": "END"},
            {"source": "send", "sourceHandle": "rejected", "target": "keep"},
            {"source": "keep", "target": "END"},
        ],
    });
    let path = folder.join("approved.json");
    std::fs::write(&path, file.to_string()).unwrap();
    path
}

#[tokio::test(flavor = "multi_thread")]
async fn approvals_are_answered_by_an_option() {
    let file = approved("approve");
    let reply = StubReply::for_request(|request: &LoggedRequest| {
        StubReply::text(request.messages().last().unwrap().1.clone())
    });
    let server = StubServer::builder().default_reply(reply).start().await.unwrap();
    let edit = r#"send={"theme": "milk"}"#;
    for (answer, expected) in [
        (&["--approve", "yes"][..], json!({"theme": "tea", "send": "send tea"})),
        (&["--approve", "no"], json!({"theme": "tea", "keep": "keep tea"})),
        (&["--approve", "yes", "--approve", "send=no"], json!({"theme": "tea", "keep": "keep tea"})),
        (&["--approve", edit], json!({"theme": "milk", "send": "send milk"})),
    ] {
        let done = run(&server, &file, &[&["--input", "theme=tea"], answer].concat()).await;
        assert_eq!(done.status.code(), Some(0), "{answer:?}: {done:?}");
        assert_eq!(serde_json::from_slice::<Value>(&done.stdout).unwrap(), expected, "{answer:?}");
    }
    // Nobody is there to ask.
    for answer in [&[][..], &["--approve", "other=yes"]] {
        let done = run(&server, &file, &[&["--input", "theme=tea"], answer].concat()).await;
        assert_eq!(done.status.code(), Some(1), "{done:?}");
        let told = lines(&done.stderr).join("\n");
        assert!(
            told.contains("send waits for an approval") && told.contains("`--approve send=yes`"),
            "{told}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_says_which_tools_it_lacks() {
    let server = StubServer::builder().start().await.unwrap();
    let done = run(&server, &data("bad/unknown_tool.json"), &[]).await;
    assert_eq!((done.status.code(), server.requests_seen()), (Some(1), 0));
    let told = lines(&done.stderr).join("\n");
    assert!(told.contains("no tool \"web_serch\""), "{told}");
    assert!(
        told.contains("this graph needs calcultor, web_search, web_serch: run it from a program"),
        "{told}"
    );
}
