//! The command `llmnode-graph`.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use llmnode_http::OpenAi;
use llmnode_rag::{Collection, Document, Embeddings, SqliteStore};
use llmnode_runtime::{Run, ScriptedModel};
use llmnode_stub::{LoggedRequest, StubReply, StubServer};
use serde_json::{Value, json};

/// A file of the tests of loading.
fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../llmnode-graph/tests/data")
        .join(file)
}

fn example(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/data/graphs")
        .join(file)
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_llmnode-graph"));
    command.args(args);
    for name in [
        "API_KEY",
        "BASE_URL",
        "MODEL",
        "EMBEDDING_API_KEY",
        "EMBEDDING_BASE_URL",
        "EMBEDDING_MODEL",
    ] {
        command.env_remove(format!("OPENAI_{name}"));
    }
    command
}

fn output(args: &[&str]) -> Output {
    command(args).output().unwrap()
}

fn lines(output: &[u8]) -> Vec<String> {
    String::from_utf8(output.to_vec())
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
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
    let done = output(&[
        "check",
        file.to_str().unwrap(),
        "--tools",
        "web_search,calculator",
    ]);
    assert_eq!(done.status.code(), Some(1));
    assert_eq!(
        lines(&done.stdout),
        [
            r#"/nodes/0/data/tools/1: no tool "web_serch"; did you mean "web_search"?"#,
            r#"/nodes/1/data/tool_name: no tool "calcultor"; did you mean "calculator"?"#,
        ]
    );
    // Which tools there are is the program's to say.
    assert_eq!(
        output(&["check", file.to_str().unwrap()]).status.code(),
        Some(0)
    );
}

#[test]
fn tools_of_subgraphs_are_the_programs_too() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-graph-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (name, node) in [
        (
            "outer",
            json!({"id": "a", "type": "subgraph", "data": {"flow_id": "inner"}}),
        ),
        (
            "inner",
            json!({"id": "a", "type": "agent", "data": {"prompt": "Hello", "tools": ["find"]}}),
        ),
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
    assert_eq!(
        (&told["faults"], &told["warnings"][0]["kind"]),
        (&json!([]), &json!("data"))
    );
    assert_eq!(told["warnings"][0]["pointer"], "/nodes/2/data/prompt");
}

#[test]
fn mistakes_of_the_call_end_with_2() {
    for args in [
        &["chek"][..],
        &["check", "nowhere.json"],
        &["check"],
        &["run", "nowhere.json"],
    ] {
        assert_eq!(output(args).status.code(), Some(2), "{args:?}");
    }
    assert_eq!(output(&["--help"]).status.code(), Some(0));
    let schema: Value = serde_json::from_slice(&output(&["schema"]).stdout).unwrap();
    assert_eq!(schema["title"], "llmnode graph");
}

#[test]
fn a_reader_that_stops_reading_is_no_mistake() {
    let mut child = command(&["schema"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    assert_eq!((done.status.code(), lines(&done.stderr)), (Some(0), vec![]));
}

/// Runs a file on this server.
async fn run(server: &StubServer, file: &Path, args: &[&str]) -> Output {
    run_with(server, file, args, &[]).await
}

async fn run_with(
    server: &StubServer,
    file: &Path,
    args: &[&str],
    variables: &[(&str, &str)],
) -> Output {
    let mut command = command(&["run"]);
    command
        .arg(file)
        .args(args)
        .env("OPENAI_BASE_URL", server.base_url())
        .env("OPENAI_MODEL", "m");
    command.envs(variables.iter().copied());
    tokio::task::spawn_blocking(move || command.stdin(Stdio::null()).output().unwrap())
        .await
        .unwrap()
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
    assert!(
        lines(&done.stderr)
            .join("\n")
            .contains("the input \"question\" is missing\n--input NAME=VALUE gives an input"),
        "{done:?}"
    );

    let done = run(
        &server,
        &data("good/chain_alone.json"),
        &["--input", "question=Why?"],
    )
    .await;
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let values: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(
        values,
        json!({"question": "Why?", "plan": "a plan", "answer": "an answer"})
    );
    let told = lines(&done.stderr);
    assert!(
        told[0].starts_with("plan: ") && told[0].contains("tokens"),
        "{told:?}"
    );
    assert!(told.last().unwrap().starts_with("2 requests"), "{told:?}");

    let done = run(&server, &data("bad/fork_to_join.json"), &[]).await;
    assert_eq!(done.status.code(), Some(1));
    let told = lines(&done.stderr).join("\n");
    assert!(
        told.contains("error[fork_to_join]: \"a\" leads directly to \"d\"") && told.contains("^"),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_file_of_the_guide_is_checked_and_runs() {
    let (_, text) = include_str!("../../../docs/graphs.md")
        .split_once("```json\n")
        .unwrap();
    let (text, _) = text.split_once("```").unwrap();
    let file = folder("guide").join("letter.json");
    std::fs::write(&file, text).unwrap();
    let checked = output(&["check", file.to_str().unwrap()]);
    assert_eq!(
        (checked.status.code(), lines(&checked.stdout)),
        (Some(0), vec![])
    );

    let server = StubServer::builder()
        .script([
            StubReply::text(r#"{"kind": "complaint"}"#),
            StubReply::text("We are sorry."),
        ])
        .start()
        .await
        .unwrap();
    let done = run(&server, &file, &["--input", "letter=The lamp is broken."]).await;
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let values: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(
        (&values["kind"], &values["reply"]),
        (&json!("complaint"), &json!("We are sorry."))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_is_none_says_how_to_write_one() {
    let graph = json!({
        "format": "llmnode/graph", "version": 1, "name": "list",
        "inputs": {"letters": {"type": "array"}},
        "nodes": [{"id": "each", "type": "agent", "data": {"prompt": "{{ letters }}"}}],
        "edges": [{"source": "each", "target": "END"}],
    });
    let file = folder("list").join("list.json");
    std::fs::write(&file, graph.to_string()).unwrap();
    let server = StubServer::builder().start().await.unwrap();
    let done = run(&server, &file, &["--input", "letters=a, b"]).await;
    assert_eq!(done.status.code(), Some(2));
    let told = lines(&done.stderr).join("\n");
    assert!(told.ends_with(r#"; write a list as ["a", "b"]"#), "{told}");
    assert_eq!(server.requests_seen(), 0);
}

#[test]
fn a_mistake_of_the_call_is_all_that_is_said() {
    let done = output(&["run", "graph.json", "--inptu", "a=b"]);
    assert_eq!(
        lines(&done.stderr),
        [
            "there is no option --inptu here",
            "`llmnode-graph help` lists the commands and options"
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_without_a_prompt_answers_a_message() {
    let server = StubServer::builder()
        .script([StubReply::text("Under the mat.")])
        .start()
        .await
        .unwrap();
    let file = folder("message").join("chat.json");
    let graph = json!({
        "nodes": [{"id": "agent-1", "type": "agent", "data": {"system_prompt": "Be short."}}],
        "edges": [{"source": "agent-1", "target": "finish_node"}],
    });
    std::fs::write(&file, graph.to_string()).unwrap();
    let done = run(&server, &file, &["--message", "Where is it?"]).await;
    assert_eq!(String::from_utf8(done.stdout).unwrap(), "Under the mat.\n");
    let asked = server.requests();
    assert_eq!(
        asked[0].json().unwrap()["messages"][1]["content"],
        "Where is it?"
    );
}

/// An agent behind an approval, and one for where it is not given.
fn approved(folder: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    let agent = |id: &str, more: Value| {
        let mut data = json!({"prompt": format!("{id} {{{{ theme }}}}"), "save_as": id});
        data.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
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
    let server = StubServer::builder()
        .default_reply(reply)
        .start()
        .await
        .unwrap();
    let edit = r#"send={"theme": "milk"}"#;
    for (answer, expected) in [
        (
            &["--approve", "yes"][..],
            json!({"theme": "tea", "send": "send tea"}),
        ),
        (
            &["--approve", "no"],
            json!({"theme": "tea", "keep": "keep tea"}),
        ),
        (
            &["--approve", "yes", "--approve", "send=no"],
            json!({"theme": "tea", "keep": "keep tea"}),
        ),
        (
            &["--approve", edit],
            json!({"theme": "milk", "send": "send milk"}),
        ),
    ] {
        let done = run(
            &server,
            &file,
            &[&["--input", "theme=tea"], answer].concat(),
        )
        .await;
        assert_eq!(done.status.code(), Some(0), "{answer:?}: {done:?}");
        assert_eq!(
            serde_json::from_slice::<Value>(&done.stdout).unwrap(),
            expected,
            "{answer:?}"
        );
    }
    // Nobody is there to ask.
    for answer in [&[][..], &["--approve", "other=yes"]] {
        let done = run(
            &server,
            &file,
            &[&["--input", "theme=tea"], answer].concat(),
        )
        .await;
        assert_eq!(done.status.code(), Some(1), "{done:?}");
        let told = lines(&done.stderr).join("\n");
        assert!(
            told.contains("send waits for an approval") && told.contains("`--approve send=yes`"),
            "{told}"
        );
        assert!(
            told.ends_with(
                "Nobody has decided, so the run ends here, and is not kept: run it again."
            ),
            "{told}"
        );
    }
}

/// Its own key, or none on loopback, is the profile's business.
#[tokio::test(flavor = "multi_thread")]
async fn profiles_need_no_key_in_the_environment() {
    let server = StubServer::builder()
        .default_reply(StubReply::text("Oslo"))
        .start()
        .await
        .unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("profiles");
    std::fs::create_dir_all(&folder).unwrap();
    let agent = |profile: &str| json!({"id": "write", "type": "agent", "data": {"prompt": "?", "profile": profile}});
    let (graph, profiles) = (folder.join("graph.json"), folder.join("profiles.json"));
    let file = |node: Value| json!({"format": "llmnode/graph", "version": 1, "nodes": [node], "edges": []});
    std::fs::write(&graph, file(agent("local")).to_string()).unwrap();
    let local = json!({"base_url": server.base_url(), "model": "small"});
    let listed = json!({"format": "llmnode/profiles", "version": 1, "profiles": {"local": local}});
    std::fs::write(&profiles, listed.to_string()).unwrap();
    let [graph, profiles] = [&graph, &profiles].map(|path| path.to_str().unwrap().to_owned());
    let ran = |args: Vec<String>| async move {
        tokio::task::spawn_blocking(move || {
            output(&args.iter().map(String::as_str).collect::<Vec<_>>())
        })
        .await
        .unwrap()
    };
    let done = ran(vec![
        "run".into(),
        graph.clone(),
        "--profiles".into(),
        profiles.clone(),
    ])
    .await;
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    assert_eq!(server.requests_seen(), 1);

    let done = ran(vec!["run".into(), graph.clone()]).await;
    let told = lines(&done.stderr).join("\n");
    assert!(
        told.contains(r#"pass the file that has "local" as `--profiles FILE`"#),
        "{told}"
    );

    let mut node = agent("local");
    node["data"].as_object_mut().unwrap().remove("profile");
    std::fs::write(&graph, file(node).to_string()).unwrap();
    let done = ran(vec!["run".into(), graph, "--profiles".into(), profiles]).await;
    let told = lines(&done.stderr).join("\n");
    assert!(
        told.contains("a node without a profile asks the model of the environment"),
        "{told}"
    );
    assert_eq!(
        (done.status.code() == Some(0), server.requests_seen()),
        (false, 1)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_says_which_tools_it_lacks() {
    let server = StubServer::builder().start().await.unwrap();
    let done = run(&server, &data("bad/unknown_tool.json"), &[]).await;
    assert_eq!((done.status.code(), server.requests_seen()), (Some(1), 0));
    let told = lines(&done.stderr).join("\n");
    assert!(told.contains("no tool \"web_serch\""), "{told}");
    assert!(
        told.contains(
            "this graph needs calcultor, web_search, web_serch: start the MCP server that has them \
             with `--mcp`, or run it from a program"
        ),
        "{told}"
    );
}

/// An empty folder, which its test alone uses.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A graph of one node, written to a file of its own.
fn graph_of(folder: &Path, kind: &str, data: &Value) -> PathBuf {
    let file = json!({
        "format": "llmnode/graph", "version": 1, "inputs": {"query": {"type": "string"}},
        "nodes": [{"id": "only", "type": kind, "data": data}], "edges": [],
    });
    let path = folder.join("graph.json");
    std::fs::write(&path, file.to_string()).unwrap();
    path
}

fn check_of(folder: &Path, kind: &str, data: &Value, args: &[&str]) -> (Option<i32>, Vec<String>) {
    let file = graph_of(folder, kind, data);
    let done = output(&[&["check", file.to_str().unwrap()], args].concat());
    (done.status.code(), lines(&done.stdout))
}

fn judge() -> Value {
    json!({"goal": "Judge.", "mode": "Predict", "inputs": [{"name": "query"}], "outputs": [{"name": "verdict"}]})
}

#[test]
fn the_schema_that_is_checked_in_is_that_of_the_command() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("graph.schema.json");
    let own = String::from_utf8(output(&["schema"]).stdout).unwrap();
    if std::env::var_os("LLMNODE_UPDATE").is_some() && std::env::var_os("CI").is_none() {
        std::fs::write(&path, &own).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == own,
        "graph.schema.json is not that of the types: run this test with LLMNODE_UPDATE=1"
    );
    let defs = &serde_json::from_str::<Value>(&own).unwrap()["$defs"];
    for (kind, setting) in [
        ("agent", "prompt"),
        ("rag_node", "store"),
        ("smart_node", "goal"),
    ] {
        assert!(
            defs[format!("{kind}_data")]["properties"][setting].is_object(),
            "{kind}"
        );
    }
}

#[test]
fn smart_nodes_are_checked() {
    let folder = folder("smart-check");
    assert_eq!(
        check_of(&folder, "smart_node", &judge(), &[]),
        (Some(0), vec![])
    );
    let mut data = judge();
    data["gaol"] = data["goal"].take();
    data.as_object_mut().unwrap().remove("goal");
    let fault = r#"/nodes/0/data/gaol: unknown member "gaol"; did you mean "goal"?"#;
    assert_eq!(
        check_of(&folder, "smart_node", &data, &[]),
        (Some(1), vec![fault.to_owned()])
    );

    let mut data = judge();
    data["program"] = json!("judge");
    let done = output(&["check", graph_of(&folder, "smart", &data).to_str().unwrap()]);
    let hint = "The graph uses programs of smart nodes: pass their folder as `--programs FOLDER`.";
    assert_eq!(
        (done.status.code(), lines(&done.stderr)),
        (Some(1), vec![hint.to_owned()])
    );
    let (_, told) = check_of(
        &folder,
        "smart",
        &data,
        &["--programs", folder.to_str().unwrap()],
    );
    assert!(
        told[0].starts_with("/nodes/0/data/program: no program \"judge\""),
        "{told:?}"
    );
}

#[test]
fn rag_nodes_are_checked() {
    let folder = folder("rag-check");
    let check = |data: Value, args: &[&str]| check_of(&folder, "rag_node", &data, args);
    let fault = |text: &str| (Some(1), vec![text.to_owned()]);
    // Which stores there are is the program's to say.
    assert_eq!(
        check(json!({"store": "docs", "k": 3}), &[]),
        (Some(0), vec![])
    );
    assert_eq!(
        check(json!({"store": "docs"}), &["--store", "docs"]),
        (Some(0), vec![])
    );
    assert_eq!(
        check(json!({"store": "docs"}), &["--types", "rag_node,smart,own"]),
        (Some(0), vec![])
    );
    assert_eq!(
        check(
            json!({"store": "dcos"}),
            &["--store", "docs", "--store=notes=nowhere.db"]
        ),
        fault(r#"/nodes/0/data/store: no store "dcos"; did you mean "docs"?"#)
    );
    assert_eq!(
        check(json!({"stroe": "docs"}), &[]),
        fault(r#"/nodes/0/data/stroe: unknown member "stroe"; did you mean "store"?"#)
    );
    let (code, told) = check(json!({"store": "docs", "k": 0}), &[]);
    assert!(
        code == Some(1) && told.len() == 1 && told[0].starts_with("/nodes/0/data/k: "),
        "{told:?}"
    );
    assert!(!Path::new("nowhere.db").exists());
}

#[test]
fn stores_of_react_flow_have_places() {
    let file = example("react_flow_rag_and_smart.json");
    let check = |args: &[&str]| {
        let done = output(&[&["check", file.to_str().unwrap()], args].concat());
        (done.status.code(), lines(&done.stdout))
    };
    assert_eq!(check(&[]), (Some(0), vec![]));
    assert_eq!(
        check(&["--store", "docs=./chroma_db.db"]),
        (Some(0), vec![])
    );
    let (code, told) = check(&["--store", "docs=other.db"]);
    assert!(
        code == Some(1) && told[0].starts_with("/nodes/0/data/chroma: no registered store"),
        "{told:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn smart_nodes_run() {
    let folder = folder("smart-run");
    let answers = [r#"{"verdict": "good"}"#, "[[ ## verdict ## ]]\nbad"].map(StubReply::text);
    let server = StubServer::builder().script(answers).start().await.unwrap();
    let file = graph_of(&folder, "smart_node", &judge());
    let input = ["--input", "query=Why?"];
    let done = run(&server, &file, &input).await;
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let values: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(values, json!({"query": "Why?", "verdict": "good"}));

    // What DSPy saves of a `Predict` with these fields.
    let fields = ["query", "verdict"]
        .map(|name| json!({"prefix": "P:", "description": format!("${{{name}}}")}));
    let signature = json!({"instructions": "Be strict.", "fields": fields});
    let program = json!({"demos": [], "lm": null, "signature": signature, "metadata": {}});
    std::fs::write(folder.join("only_compiled.json"), program.to_string()).unwrap();
    let done = run(
        &server,
        &file,
        &[&input[..], &["--programs", folder.to_str().unwrap()]].concat(),
    )
    .await;
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    assert_eq!(
        serde_json::from_slice::<Value>(&done.stdout).unwrap()["verdict"],
        "bad"
    );
    let goals = server
        .requests()
        .iter()
        .map(|request| request.messages()[0].1.clone())
        .collect::<Vec<_>>();
    assert!(
        goals[0].starts_with("Judge.") && goals[1].contains("Be strict."),
        "{goals:?}"
    );
}

/// Writes the collection `docs` to a file.
async fn fill(file: &Path, embeddings: Option<Embeddings>) {
    let builder = Collection::builder(SqliteStore::open(file).unwrap(), "docs");
    let builder = embeddings
        .into_iter()
        .fold(builder, llmnode_rag::CollectionBuilder::embedder);
    let docs = builder.open().await.unwrap();
    let texts = [
        ("house.md", "The key is under the mat."),
        ("boat.md", "The anchor is rusty."),
    ];
    let texts = texts.map(|(source, text)| Document::new(source, text));
    Run::new(ScriptedModel::new())
        .call(&docs.write_all(texts))
        .await
        .unwrap();
}

fn found(done: &Output) -> String {
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    serde_json::from_slice::<Value>(&done.stdout).unwrap()["rag_context"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn rag_nodes_run_on_a_file() {
    let folder = folder("rag-run");
    let server = StubServer::builder().start().await.unwrap();
    let file = graph_of(&folder, "rag_node", &json!({"store": "docs", "k": 1}));
    let input = ["--input", "query=where is the key"];
    let done = run(&server, &file, &input).await;
    let told = lines(&done.stderr).join("\n");
    assert_eq!(done.status.code(), Some(1), "{told}");
    let hint = r#"Stores are missing: pass the SQLite file of "docs" as `--store NAME=FILE`."#;
    assert!(
        told.contains("no store \"docs\"") && told.contains(hint),
        "{told}"
    );

    let words = folder.join("words.db");
    let option = format!("docs={}", words.display());
    let args = [&input[..], &["--store", &option]].concat();
    let done = run(&server, &file, &args).await;
    assert_eq!(
        (done.status.code(), words.exists()),
        (Some(2), false),
        "a misspelled path makes no file"
    );
    assert!(
        lines(&done.stderr)
            .join("\n")
            .contains("there is no such file"),
        "{done:?}"
    );

    fill(&words, None).await;
    assert!(found(&run(&server, &file, &args).await).starts_with("[house.md]"));

    // An empty file is a store to fill.
    let empty = folder.join("empty.db");
    std::fs::write(&empty, "").unwrap();
    let option = format!("docs={}", empty.display());
    let args = [&input[..], &["--store", &option]].concat();
    let file = graph_of(
        &folder,
        "rag_node",
        &json!({"store": "docs", "action": "write"}),
    );
    assert_eq!(run(&server, &file, &args).await.status.code(), Some(0));
    let file = graph_of(&folder, "rag_node", &json!({"store": "docs"}));
    assert!(found(&run(&server, &file, &args).await).contains("where is the key"));
    assert_eq!(server.requests_seen(), 0, "a search by words asks no model");
}

#[tokio::test(flavor = "multi_thread")]
async fn rag_nodes_search_by_vectors_if_a_variable_names_their_model() {
    let folder = folder("rag-vectors");
    let server = StubServer::builder().start().await.unwrap();
    let vectors = folder.join("vectors.db");
    let endpoint = OpenAi::builder()
        .base_url(server.base_url())
        .without_key()
        .build()
        .unwrap();
    fill(&vectors, Some(Embeddings::new(&endpoint, "e"))).await;
    let file = graph_of(&folder, "rag_node", &json!({"store": "docs", "k": 1}));
    let option = format!("docs={}", vectors.display());
    let args = ["--input", "query=where is the key", "--store", &option];
    assert!(
        found(&run_with(&server, &file, &args, &[("OPENAI_EMBEDDING_MODEL", "e")]).await)
            .starts_with("[house.md]")
    );
    let asked = server.requests().last().unwrap().json().unwrap()["input"].clone();
    assert_eq!(asked, json!(["where is the key"]));

    let done = run(&server, &file, &args).await;
    let told = lines(&done.stderr).join("\n");
    assert_eq!(done.status.code(), Some(1), "{told}");
    assert!(
        told.contains("openai/e") && told.contains("OPENAI_EMBEDDING_MODEL"),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_says_which_stores_of_react_flow_it_lacks() {
    let server = StubServer::builder().start().await.unwrap();
    let done = run(&server, &example("react_flow_rag_and_smart.json"), &[]).await;
    let told = lines(&done.stderr).join("\n");
    assert_eq!(
        (done.status.code(), server.requests_seen()),
        (Some(1), 0),
        "{told}"
    );
    assert!(
        told.contains(r#"pass its SQLite file "./chroma_db.db" as `--store NAME=FILE`"#),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_written_as_a_page_and_a_recording_becomes_one() {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("pages-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let page = folder.join("live.html");
    let server = StubServer::builder()
        .default_reply(StubReply::text("Of light much is known."))
        .start()
        .await
        .unwrap();
    let args = [
        "--input",
        "question=What is a lighthouse?",
        "--page",
        page.to_str().unwrap(),
    ];
    run(&server, &example("handoff.json"), &args).await;
    let written = std::fs::read_to_string(&page).unwrap();
    assert!(
        written.contains("What is a lighthouse?") && written.contains("Of light much is known.")
    );

    let file = folder.join("run.json");
    let recording =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../llmnode-page/tests/recordings/done.json");
    std::fs::copy(recording, &file).unwrap();
    let done = output(&["page", file.to_str().unwrap()]);
    assert_eq!(
        lines(&done.stdout),
        [folder.join("run.html").display().to_string()]
    );
    assert!(
        std::fs::read_to_string(folder.join("run.html"))
            .unwrap()
            .contains("investigate")
    );

    std::fs::write(&file, "{}").unwrap();
    let done = output(&[
        "page",
        file.to_str().unwrap(),
        "--output",
        page.to_str().unwrap(),
    ]);
    let told = lines(&done.stderr).join("\n");
    assert_eq!(done.status.code(), Some(2));
    assert!(
        told.contains("run.json: malformed llmnode/recording"),
        "{told}"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Without a key and without the tools that the graph uses; a key that is there is on no page.
#[cfg(feature = "serve")]
#[test]
fn a_page_is_served() {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpStream;

    let file = data("good/fork_nested.json");
    let mut command = command(&["serve", file.to_str().unwrap(), "--no-run"]);
    let mut served = command
        .env("OPENAI_API_KEY", "sk-planted-1234")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(served.stdout.take().unwrap())
        .read_line(&mut url)
        .unwrap();
    let host = url
        .strip_prefix("http://")
        .and_then(|url| url.split('/').next())
        .unwrap();
    let mut page = String::new();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(
        stream,
        "GET / HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    stream.read_to_string(&mut page).unwrap();
    served.kill().unwrap();
    served.wait().unwrap();
    assert!(
        page.starts_with("HTTP/1.1 200 OK") && page.contains("no mistakes"),
        "{page}"
    );
    assert!(page.contains("<svg") && !page.contains("planted"), "{page}");
}

/// What is there, and is no page, stays; and nothing is asked before.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_checked_before_the_run() {
    let folder = folder("page-checked");
    let server = StubServer::builder()
        .default_reply(StubReply::text("Of light."))
        .start()
        .await
        .unwrap();
    let notes = folder.join("notes.txt");
    std::fs::write(&notes, "my notes").unwrap();
    let file = example("handoff.json");
    for (page, why) in [
        (
            folder.join("no/such/folder/run.html"),
            "a file cannot be made beside it",
        ),
        (notes.clone(), "no page of a run"),
        (folder.clone(), "no regular file"),
        (PathBuf::from("/dev/null"), "no regular file"),
    ] {
        let done = run(
            &server,
            &file,
            &["--input", "question=?", "--page", page.to_str().unwrap()],
        )
        .await;
        let told = lines(&done.stderr).join("\n");
        assert!(
            done.status.code() == Some(2) && told.contains(why),
            "{told}"
        );
    }
    assert_eq!(server.requests_seen(), 0);
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "my notes");

    let page = folder.join("run.html");
    for _ in 0..2 {
        run(
            &server,
            &file,
            &["--input", "question=?", "--page", page.to_str().unwrap()],
        )
        .await;
        assert!(
            std::fs::read_to_string(&page)
                .unwrap()
                .contains("Of light.")
        );
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(
                &std::fs::metadata(&page).unwrap().permissions(),
            );
            assert_eq!(mode & 0o777, 0o600);
            std::fs::set_permissions(&page, std::os::unix::fs::PermissionsExt::from_mode(0o644))
                .unwrap();
        }
    }
    assert_eq!(
        std::fs::read_dir(&folder).unwrap().count(),
        2,
        "nothing else is left there"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_shows_what_it_is_about() {
    let folder = folder("approval-shown");
    let server = StubServer::builder().start().await.unwrap();
    let data = json!({"prompt": "Send {{ query }}.", "require_approval": true});
    let file = graph_of(&folder, "agent", &data);
    let done = run(
        &server,
        &file,
        &["--input", "query=90071992547409931\u{202e}\u{9b}2J"],
    )
    .await;
    let told = lines(&done.stderr).join("\n");
    assert!(
        told.contains("only waits for an approval (only):"),
        "{told}"
    );
    assert!(
        told.contains("\"query\": \"90071992547409931\\u202e\\u009b2J\""),
        "{told}"
    );
    assert!(
        !told.contains('\u{9b}') && !told.contains('\u{202e}'),
        "{told:?}"
    );
    assert_eq!(server.requests_seen(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_input_is_read_by_its_type() {
    let folder = folder("typed-input");
    let server = StubServer::builder()
        .default_reply(StubReply::text("five"))
        .start()
        .await
        .unwrap();
    let file = graph_of(
        &folder,
        "agent",
        &json!({"prompt": "Say {{ query }}.", "save_as": "answer"}),
    );
    let done = run(&server, &file, &["--input", "query=5"]).await;
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let values: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(values["query"], "5");
    let done = run(
        &server,
        &file,
        &["--input", "query=5", "--input", "query=6"],
    )
    .await;
    assert_eq!(done.status.code(), Some(2));
    assert!(lines(&done.stderr).join("\n").contains("given twice"));
    assert_eq!(server.requests_seen(), 1);
}

#[cfg(unix)]
#[test]
fn a_file_without_an_end_is_read_to_the_limit() {
    use std::os::unix::fs::symlink;

    let folder = folder("endless");
    let big = folder.join("big.json");
    std::fs::File::create(&big)
        .unwrap()
        .set_len(300 << 20)
        .unwrap();
    let zero = folder.join("zero.json");
    symlink("/dev/zero", &zero).unwrap();
    let pipe = folder.join("pipe.json");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let mut writer = Command::new("sh")
        .args(["-c", "yes > \"$0\"", pipe.to_str().unwrap()])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    for file in [&big, &zero, &pipe] {
        let done = output(&["check", file.to_str().unwrap()]);
        let told = lines(&done.stderr).join("\n");
        assert!(
            done.status.code() == Some(2) && told.contains("it has more than 16777216 bytes"),
            "{told}"
        );
    }
    let _ = writer.kill();
    writer.wait().unwrap();
}

/// Of another program, such as one that decrypts them.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn profiles_come_from_a_pipe_that_is_waited_for_no_longer_than_needed() {
    let folder = folder("profiles-pipe");
    let server = StubServer::builder()
        .default_reply(StubReply::text("five"))
        .start()
        .await
        .unwrap();
    let data = json!({"prompt": "Say {{ query }}.", "save_as": "answer", "profile": "good"});
    let file = graph_of(&folder, "agent", &data);
    let pipe = folder.join("pipe.json");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let args = ["--input", "query=5", "--profiles", pipe.to_str().unwrap()];
    // Nobody writes.
    let done = run(&server, &file, &args).await;
    let told = lines(&done.stderr).join("\n");
    assert!(
        done.status.code() == Some(2) && told.contains("nothing is written to it"),
        "{told}"
    );

    let good = json!({"base_url": server.base_url(), "model": "m"});
    let profiles =
        json!({"format": "llmnode/profiles", "version": 1, "profiles": {"good": good}}).to_string();
    let into = pipe.clone();
    let writer = std::thread::spawn(move || std::fs::write(into, profiles));
    let done = run(&server, &file, &args).await;
    writer.join().unwrap().unwrap();
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    assert_eq!(server.requests_seen(), 1);
}

/// Of a file's texts, nothing moves the cursor.
#[test]
fn what_a_file_says_reaches_no_terminal_raw() {
    let folder = folder("raw");
    let file = folder.join("graph.json");
    let text = "{\"format\": \"llmnode/graph\", \"version\": 1, \"nodes\": [{\"id\": \"a\u{9b}31m\u{202e}b\", \"type\": \"nothing\u{9b}\"}], \"edges\": []}";
    std::fs::write(&file, text).unwrap();
    let done = output(&["run", file.to_str().unwrap()]);
    let told = String::from_utf8(done.stderr).unwrap();
    assert!(!told.contains(['\u{9b}', '\u{202e}', '\u{1b}']), "{told:?}");
}

/// The command in a terminal, by `script` of util-linux.
#[cfg(target_os = "linux")]
struct Terminal {
    script: std::process::Child,
    seen: std::sync::Arc<std::sync::Mutex<String>>,
    read: usize,
}

#[cfg(target_os = "linux")]
impl Terminal {
    fn run(server: &StubServer, file: &Path, input: &str, options: &str) -> Self {
        use std::io::Read;

        let program = env!("CARGO_BIN_EXE_llmnode-graph");
        let line = format!(
            "'{program}' run '{}' --input 'query={input}' {options}",
            file.display()
        );
        let mut command = Command::new("script");
        command
            .args(["-qfec", &line, "/dev/null"])
            .env("OPENAI_BASE_URL", server.base_url());
        command
            .env("OPENAI_API_KEY", "key")
            .env("OPENAI_MODEL", "m");
        let mut script = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = script.stdout.take().unwrap();
        let seen = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
        let more = std::sync::Arc::clone(&seen);
        std::thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut part) {
                more.lock()
                    .unwrap()
                    .push_str(&String::from_utf8_lossy(&part[..read]));
            }
        });
        Terminal {
            script,
            seen,
            read: 0,
        }
    }

    fn write(&mut self, line: &str) {
        use std::io::Write;

        writeln!(self.script.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Reads on until this part, and returns what was before it.
    fn until(&mut self, part: &str) -> String {
        for _ in 0..400 {
            let seen = self.seen.lock().unwrap().clone();
            if let Some(at) = seen[self.read..].find(part) {
                let before = seen[self.read..self.read + at].to_owned();
                self.read += at + part.len();
                return before;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("{part:?} is not in {:?}", self.seen.lock().unwrap());
    }

    /// As a person does who reads.
    fn answer(&mut self, line: &str) {
        self.answer_behind("in place of these: ", line);
    }

    fn answer_behind(&mut self, question: &str, line: &str) {
        self.until(question);
        std::thread::sleep(std::time::Duration::from_millis(700));
        self.write(line);
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_takes_no_answer_from_before_its_question() {
    let folder = folder("terminal");
    let server = StubServer::builder()
        .default_reply(StubReply::text("Sent."))
        .start()
        .await
        .unwrap();
    let data = json!({"prompt": "Send {{ query }}.", "require_approval": true});
    let file = graph_of(&folder, "agent", &data);

    let mut terminal = Terminal::run(&server, &file, "90071992547409931", "");
    terminal.write("yes");
    let shown = terminal.until("That was written before the question could be read");
    assert!(
        shown.contains("\"query\": \"90071992547409931\""),
        "{shown}"
    );
    terminal.answer("yes, but less");
    terminal.until("That is neither.");
    terminal.answer("no, too dear");
    terminal.until("0 requests");
    terminal.script.wait().unwrap();
    assert_eq!(server.requests_seen(), 0);

    // An edit that is not taken is asked about again, and what is sent is the next one.
    let mut terminal = Terminal::run(&server, &file, "all", "");
    terminal.answer("{\"_hidden\": 1}");
    terminal.until("which an approval of `only` cannot change");
    terminal.answer("{\"query\": \"half\"}");
    terminal.until("1 request,");
    terminal.script.wait().unwrap();
    assert_eq!(server.requests_seen(), 1);
    assert!(format!("{:?}", server.requests()).contains("Send half."));
}

/// A shop as an MCP server on the standard streams, whose tool asks before it pays. The test below starts it.
#[cfg(feature = "mcp")]
#[test]
#[ignore = "is started by another test"]
fn shop() {
    use std::io::{BufRead, Write};

    let mut output = std::io::stdout();
    // The test harness may have begun a line.
    writeln!(output).unwrap();
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if message.get("method").is_none() {
            std::fs::write(std::env::var("PONG").unwrap(), "").unwrap();
        } else if let Some(id) = message.get("id") {
            let result = answer_of_shop(&message);
            let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
            writeln!(output, "{answer}").unwrap();
            if answer["result"]["resultType"] == "input_required" {
                // By then, the person is asked.
                std::thread::sleep(std::time::Duration::from_millis(500));
                let ping = json!({"jsonrpc": "2.0", "id": "are you there?", "method": "ping"});
                writeln!(output, "{ping}").unwrap();
            }
        }
    }
}

#[cfg(feature = "mcp")]
fn answer_of_shop(message: &Value) -> Value {
    let said = |text: String| json!({"resultType": "complete", "content": [{"type": "text", "text": text}]});
    let replies = &message["params"]["inputResponses"];
    match message["method"].as_str().unwrap() {
        "server/discover" => json!({
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "ttlMs": 0,
            "cacheScope": "public",
        }),
        "tools/list" => json!({"tools": [{
            "name": "pay",
            "description": "Pays.",
            "inputSchema": {"type": "object"},
        }]}),
        "tools/call" if replies.is_null() => {
            let schema = json!({
                "type": "object",
                "properties": {"euros": {"type": "integer", "maximum": 50}},
                "required": ["euros"],
            });
            let params = json!({"mode": "form", "message": "How much?", "requestedSchema": schema});
            let question = json!({"method": "elicitation/create", "params": params});
            json!({"resultType": "input_required", "inputRequests": {"amount": question}, "requestState": "sealed"})
        }
        "tools/call" if replies["amount"]["action"] == "accept" => {
            said(format!("paid {}", replies["amount"]["content"]["euros"]))
        }
        "tools/call" => said("paid nothing".to_owned()),
        _ => json!({}),
    }
}

#[cfg(all(feature = "mcp", target_os = "linux"))]
#[tokio::test(flavor = "multi_thread")]
async fn what_a_tool_asks_is_asked_in_the_terminal() {
    let folder = folder("asks");
    let data = json!({"prompt": "Pay {{ query }}.", "tools": ["shop_pay"]});
    let file = graph_of(&folder, "agent", &data);
    let program = std::env::current_exe().unwrap();
    let pong = folder.join("pong");
    let options = format!(
        "--mcp 'shop=env PONG={} {} shop --exact --ignored' --mcp-allow shop_pay --approve yes",
        pong.display(),
        program.display()
    );
    for (answer, told) in [("{\"euros\": 20}", "paid 20"), ("no", "paid nothing")] {
        let server = StubServer::builder()
            .script([StubReply::call("shop_pay", json!({}))])
            .default_reply(StubReply::text("Done."))
            .start()
            .await
            .unwrap();
        let mut terminal = Terminal::run(&server, &file, "all", &options);
        let question = "a JSON object as the answer, or no: ";
        terminal.until("How much?");
        terminal.until("\"maximum\": 50");
        // The server's ping is answered while the person thinks.
        for _ in 0..400 {
            if pong.exists() {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(25)).await;
        }
        std::fs::remove_file(&pong).unwrap();
        terminal.answer_behind(question, "yes");
        terminal.until("That is no answer.");
        // What does not follow the schema is asked again.
        terminal.answer_behind(question, "{\"euros\": 51}");
        terminal.until("schema");
        terminal.answer_behind(question, answer);
        terminal.until("2 requests");
        terminal.script.wait().unwrap();
        let requests = server.requests();
        let read = requests[1].messages();
        assert_eq!(read.last().unwrap().1, told);
    }
}
