//! The command `llmnode-graph`.

#![cfg(feature = "cli")]
#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use llmnode_stub::{Reply, StubServer};
use serde_json::{Value, json};

fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file)
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
    let mut child = command(&["schema"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), lines(&done.stderr)), (Some(0), vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_graph_runs_on_the_model_of_the_environment() {
    let server = StubServer::builder()
        .script([Reply::text("a plan"), Reply::text("an answer")])
        .start()
        .await
        .unwrap();
    let run = |args: Vec<String>, url: String| {
        tokio::task::spawn_blocking(move || {
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            command(&args).env("OPENAI_BASE_URL", url).env("OPENAI_MODEL", "m").output().unwrap()
        })
    };
    let file = data("../../../../examples/data/graphs/output_schema.json");
    let args = ["run", file.to_str().unwrap()].map(str::to_owned).to_vec();
    let done = run(args, server.base_url()).await.unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert!(lines(&done.stderr).join("\n").contains("the input \"question\" is missing"), "{done:?}");

    let file = data("good/chain_alone.json");
    let args = vec![
        "run".to_owned(),
        file.to_str().unwrap().to_owned(),
        "--input".to_owned(),
        "question=Why?".to_owned(),
    ];
    let done = run(args, server.base_url()).await.unwrap();
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let values: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(values, json!({"question": "Why?", "plan": "a plan", "answer": "an answer"}));
    let told = lines(&done.stderr);
    assert!(told[0].starts_with("plan: ") && told[0].contains("tokens"), "{told:?}");
    assert!(told.last().unwrap().starts_with("2 requests"), "{told:?}");

    let file = data("bad/fork_to_join.json");
    let done =
        run(vec!["run".to_owned(), file.to_str().unwrap().to_owned()], server.base_url()).await.unwrap();
    assert_eq!(done.status.code(), Some(1));
    let told = lines(&done.stderr).join("\n");
    assert!(
        told.contains("error[fork_to_join]: \"a\" leads directly to \"d\"") && told.contains("^"),
        "{told}"
    );
}
