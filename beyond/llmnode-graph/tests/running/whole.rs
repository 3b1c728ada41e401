//! Whole graphs: subgraphs, journals, limits, graphs in typed flows.

use std::path::{Path, PathBuf};

use llmnode_flow::flow::{EdgeTarget, Flow, RunExt};
use llmnode_flow::journal::JournalFile;
use llmnode_graph::{CheckedRegistry, FaultKind, Graph, State};
use llmnode_runtime::{Category, Limits, Message, Reply, Run, ScriptedModel};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::support::{file, graph, graph_of, registry, run, run_with, seed};

/// A folder of this name with these files.
fn folder(name: &str, files: &[(&str, String)]) -> PathBuf {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    for (name, text) in files {
        std::fs::write(folder.join(format!("{name}.json")), text).unwrap();
    }
    folder
}

fn with_folder(name: &str, files: &[(&str, String)]) -> CheckedRegistry {
    registry().folder(folder(name, files)).build().unwrap()
}

fn journal(name: &str) -> PathBuf {
    folder(name, &[]).join("graph.journal")
}

/// A node that asks and keeps the answer.
fn asks(id: &str) -> Value {
    json!({"id": id, "type": "agent", "data": {"prompt": format!("{id}?"), "save_as": id}})
}

fn replies(count: usize) -> ScriptedModel {
    (0..count).fold(ScriptedModel::new(), |model, at| {
        model.reply(at.to_string())
    })
}

fn inner() -> String {
    file(
        json!([asks("in_a"), asks("in_b")]),
        &["in_a > in_b", "in_b > END"],
        json!({"inputs": {"theme": {}}}),
    )
}

fn outer(more: &[&str]) -> String {
    let nodes = json!([asks("first"), {"id": "sub", "type": "subgraph", "data": {"flow_id": "inner"}}, asks("last"), asks("rescue")]);
    let edges: Vec<&str> = [
        "first > sub",
        "sub > last",
        "rescue > END",
        "sub > rescue by error",
    ]
    .iter()
    .chain(more)
    .copied()
    .collect();
    file(nodes, &edges, json!({"inputs": {"theme": {}}}))
}

#[tokio::test]
async fn a_subgraph_works_on_the_same_state_and_its_failure_leads_out() {
    let registry = with_folder("sub", &[("inner", inner()), ("outer", outer(&[]))]);
    let graph = Graph::open("outer", &registry).unwrap();
    assert_eq!(graph.name(), "outer");
    let ran = run_with(&graph, &["1", "2", "3", "4"], json!({"theme": "tea"})).await;
    let state = ran.state();
    assert_eq!(
        [
            &state["first"],
            &state["in_a"],
            &state["in_b"],
            &state["last"]
        ],
        ["1", "2", "3", "4"]
    );
    let model = ScriptedModel::new()
        .reply("1")
        .reply("2")
        .reply(Reply::failure(Category::QuotaError))
        .reply("saved");
    let failed = run(&graph, model, graph.start(json!({"theme": "tea"})).unwrap()).await;
    assert_eq!(failed.state()["rescue"], "saved");
    assert_eq!(failed.state()["error.node"], "in_b");
    // What it reads has to be there in the graph around it.
    let missing = outer(&[]).replace(r#""theme":{}"#, r#""other":{}"#);
    let faults = Graph::parse(&missing, &registry).unwrap_err();
    assert_eq!(
        (faults.faults[0].kind, &*faults.faults[0].pointer),
        (FaultKind::Data, "/nodes/1/data/flow_id")
    );
}

#[tokio::test]
async fn a_subgraph_may_be_a_tool_of_an_agent() {
    let registry = with_folder("sub-tool", &[("inner", inner())]);
    let nodes = json!([
        {"id": "boss", "type": "agent", "data": {"save_as": "said"}},
        {"id": "sub", "type": "subgraph", "data": {"label": "Team", "flow_id": "inner"}},
    ]);
    let text = file(
        nodes,
        &["boss > sub by tool-call", "boss > END"],
        json!({"inputs": {"theme": {}}}),
    );
    let graph = graph_of(&text, &registry);
    let call = Reply::text("").call("Team", json!({"query": "Do it."}));
    let model = ScriptedModel::new()
        .reply(call)
        .reply("a")
        .reply("b")
        .reply("The team says b.");
    let ran = run(&graph, model, graph.start(json!({"theme": "tea"})).unwrap()).await;
    assert_eq!(ran.state()["said"], "The team says b.");
    assert_eq!(ran.asked()[1], ["user: Do it.", "user: in_a?"]);
    assert_eq!(ran.asked()[3].last().unwrap(), "tool: b");
}

#[tokio::test]
async fn cases_20_and_21_subgraphs_within_each_other() {
    let link = |to: &str| {
        let nodes = json!([{"id": "s", "type": "subgraph", "data": {"flow_id": to}}]);
        file(nodes, &["s > END"], json!({}))
    };
    let leaf = file(json!([asks("leaf")]), &[], json!({}));
    let files: Vec<(String, String)> = (0..7)
        .map(|at| {
            (
                format!("g{at}"),
                if at == 6 {
                    leaf.clone()
                } else {
                    link(&format!("g{}", at + 1))
                },
            )
        })
        .collect();
    let mut files: Vec<(&str, String)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.clone()))
        .collect();
    files.extend([
        ("a", link("b")),
        ("b", link("a")),
        (
            "bad",
            file(
                json!([{"id": "x", "type": "agnt", "data": {}}]),
                &[],
                json!({}),
            ),
        ),
        ("uses", link("bad")),
    ]);
    let registry = with_folder("deep", &files);
    assert!(Graph::open("g1", &registry).is_ok(), "five deep");
    let deep = Graph::open("g0", &registry).unwrap_err();
    assert_eq!(
        (deep.faults.len(), deep.faults[0].kind),
        (1, FaultKind::Nesting),
        "{deep}"
    );
    let round = Graph::open("a", &registry).unwrap_err();
    assert!(round.to_string().contains("a > b > a"), "{round}");
    let bad = Graph::open("uses", &registry).unwrap_err();
    assert_eq!(bad.faults[0].place(), "/nodes/0 > bad:/nodes/0/type");
    for (name, kind) in [
        ("../deep", FaultKind::BadName),
        ("g9", FaultKind::UnknownName),
    ] {
        assert_eq!(
            Graph::open(name, &registry).unwrap_err().faults[0].kind,
            kind
        );
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_out_of_the_folder_is_not_followed() {
    let outside = folder("outside", &[("secret", inner())]);
    let folder = folder("linked", &[]);
    std::os::unix::fs::symlink(outside.join("secret.json"), folder.join("secret.json")).unwrap();
    let registry = registry().folder(&folder).build().unwrap();
    let faults = Graph::open("secret", &registry).unwrap_err();
    assert!(
        faults
            .to_string()
            .contains("a link that leads out of the folder"),
        "{faults}"
    );
}

#[tokio::test]
async fn case_46_a_node_of_another_type_at_a_label_is_refused_by_resume() {
    let journal = journal("changed");
    let of = |kind: Value| {
        file(
            json!([asks("first"), kind]),
            &["first > next", "next > END"],
            json!({}),
        )
    };
    let tool = json!({"id": "next", "type": "tool", "data": {"tool_name": "search", "arguments": {"query": "x"}}});
    let before = graph(&of(asks("next")));
    let model = ScriptedModel::new()
        .reply("1")
        .reply(Reply::failure(Category::QuotaError));
    let mut run = Run::new(model).with_state(before.start(json!({})).unwrap());
    run.flow(&before)
        .resume(JournalFile::open(&journal).unwrap())
        .await
        .unwrap_err();
    let after = graph(&of(tool));
    let mut run = Run::new(replies(1)).with_state(after.start(json!({})).unwrap());
    let error = run
        .flow(&after)
        .resume(JournalFile::open(&journal).unwrap())
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(error.to_string().contains("(the step `next`)"), "{error}");
    // Pictures have names by id and type.
    assert!(before.outline().mermaid().contains("next"));
    let mut run = Run::new(replies(2)).with_state(before.start(json!({})).unwrap());
    let record = run.flow(&before).report().await.unwrap().record;
    let steps: Vec<_> = record
        .steps
        .iter()
        .map(|step| (step.position.to_string(), step.node.clone()))
        .collect();
    assert_eq!(
        steps,
        [
            ("first".into(), "agent".into()),
            ("next".to_owned(), "agent".to_owned())
        ]
    );
}

#[tokio::test]
async fn case_47_limits_of_one_node_do_not_count_another_of_its_type() {
    let graph = graph(&file(
        json!([asks("a"), asks("b")]),
        &["a > b", "b > END"],
        json!({}),
    ));
    let limited = |name: &str| {
        let run = Run::new(replies(2)).with_limits_of(name, Limits::new().requests(1));
        run.with_state(graph.start(json!({})).unwrap())
    };
    limited("a").flow(&graph).await.unwrap();
    let nodes = json!([{"id": "a", "type": "agent", "data": {"isStart": true}}, {"id": "r", "type": "router", "data": {"routes": [{"condition": "equals", "value": "1", "handle": "out"}]}}]);
    let round = crate::support::graph(&file(
        nodes,
        &["a > r", "r > a", "r > END by out"],
        json!({}),
    ));
    let mut run = Run::new(replies(9))
        .with_limits_of("a", Limits::new().requests(1))
        .with_state(round.start(json!({})).unwrap());
    let error = run.flow(&round).await.unwrap_err();
    assert!(
        error.to_string().contains("for all calls of `a`"),
        "{error}"
    );
}

#[tokio::test]
async fn the_limits_of_a_file_lower_those_of_the_run() {
    let nodes = json!([{"id": "a", "type": "agent", "data": {"isStart": true}}, {"id": "r", "type": "router", "data": {"routes": [{"condition": "equals", "value": "no", "handle": "out"}]}}]);
    let round = |more: Value| {
        graph(&file(
            nodes.clone(),
            &["a > r", "r > a", "r > END by out"],
            more,
        ))
    };
    let asked = |graph: Graph, limits: Limits| async move {
        let model = ScriptedModel::new().otherwise(|_| "again");
        let mut run = Run::new(model.clone())
            .with_limits(limits)
            .with_state(graph.start(json!({})).unwrap());
        let error = run.flow(&graph).max_steps(5_000).await.unwrap_err();
        assert_eq!(error.category(), Category::LimitExceeded);
        model.requests().len()
    };
    assert_eq!(
        asked(round(json!({"limits": {"requests": 3}})), Limits::new()).await,
        3
    );
    assert_eq!(
        asked(
            round(json!({"limits": {"requests": 30}})),
            Limits::new().requests(4)
        )
        .await,
        4
    );
    assert_eq!(
        asked(round(json!({})), Limits::new().requests(600)).await,
        600
    );
    // Where nobody says how many.
    assert_eq!(asked(round(json!({})), Limits::new()).await, 500);
}

/// Resumes in a run of its own, as another process does, and in the run that failed.
#[tokio::test]
async fn the_limits_of_a_file_count_what_was_spent_before_a_resume() {
    let nodes = json!([asks("a"), asks("b"), asks("c"), asks("d")]);
    let graph = graph(&file(
        nodes,
        &["a > b", "b > c", "c > d"],
        json!({"limits": {"requests": 3}}),
    ));
    for is_same_run in [false, true] {
        let journal = journal(&format!("limits-{is_same_run}"));
        let open = || JournalFile::open(&journal).unwrap();
        let model = ScriptedModel::new()
            .reply("1")
            .reply(Reply::failure(Category::QuotaError))
            .reply("2");
        let mut run = Run::new(model.clone()).with_state(graph.start(json!({})).unwrap());
        let error = run.flow(&graph).resume(open()).await.unwrap_err();
        assert_eq!(error.category(), Category::QuotaError);
        if !is_same_run {
            run = Run::new(model.clone()).with_state(graph.start(json!({})).unwrap());
        }
        let error = run.flow(&graph).resume(open()).await.unwrap_err();
        assert_eq!(
            (error.category(), model.requests().len()),
            (Category::LimitExceeded, 3),
            "{error}"
        );
        assert_eq!(
            error.position().unwrap().to_string(),
            "c",
            "the third request was that of `b`"
        );
    }
}

#[tokio::test]
async fn tools_that_were_executed_count_after_a_resume() {
    let searches = |id: &str| json!({"id": id, "type": "agent", "data": {"tools": ["search"]}});
    let graph = graph(&file(
        json!([searches("a"), searches("b")]),
        &["a > b"],
        json!({}),
    ));
    let call = || Reply::text("").call("search", json!({"query": "x"}));
    // The first process dies in the middle of `b`: one result of each node is in the journal.
    let limited: [fn(Run, Limits) -> Run; 3] = [
        |run, limits| run.with_limits(limits),
        |run, limits| run.with_limits_of("a", limits),
        |run, limits| run.with_limits_of("b", limits),
    ];
    for (limited, allowed, executed) in [(limited[0], 3, 1), (limited[1], 1, 3), (limited[2], 2, 1)]
    {
        let journal = journal(&format!("tools-{allowed}-{executed}"));
        let open = || JournalFile::open(&journal).unwrap();
        let model = ScriptedModel::new()
            .reply(call())
            .reply("a")
            .reply(call())
            .reply(Reply::failure(Category::QuotaError));
        let mut first = Run::new(model).with_state(graph.start(json!({})).unwrap());
        first.flow(&graph).resume(open()).await.unwrap_err();
        let model = ScriptedModel::new()
            .reply(call())
            .reply(call())
            .reply(call())
            .reply("b");
        let run = limited(Run::new(model.clone()), Limits::new().tool_calls(allowed));
        let mut second = run.with_state(graph.start(json!({})).unwrap());
        let outcome = second.flow(&graph).resume(open()).await;
        let category = outcome.err().map(|error| error.category());
        let expected = if executed == 3 {
            None
        } else {
            Some(Category::LimitExceeded)
        };
        assert_eq!((category, model.requests().len()), (expected, executed + 1));
    }
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct World {
    support: State,
    visits: u32,
}

#[tokio::test]
async fn case_48_a_typed_flow_holds_a_graph_and_goes_on_in_its_middle() {
    let graph = graph(&file(
        json!([asks("a"), asks("b")]),
        &["a > b", "b > END"],
        json!({}),
    ));
    let whole = || {
        Flow::<World>::builder("world")
            .flow_in(
                "support",
                |world: &mut World| &mut world.support,
                graph.flow(),
            )
            .then("support", EdgeTarget::End)
            .build()
            .unwrap()
    };
    let world = World {
        support: graph.start(json!({})).unwrap(),
        visits: 3,
    };
    let journal = journal("typed");
    let model = ScriptedModel::new()
        .reply("1")
        .reply(Reply::failure(Category::QuotaError));
    let mut first = Run::new(model).with_state(world.clone());
    let error = first
        .flow(&whole())
        .resume(JournalFile::open(&journal).unwrap())
        .await
        .unwrap_err();
    assert_eq!(error.position().unwrap().to_string(), "support/b");
    let model = replies(1);
    let mut second = Run::new(model.clone()).with_state(world);
    second
        .flow(&whole())
        .resume(JournalFile::open(&journal).unwrap())
        .await
        .unwrap();
    assert_eq!(
        (
            second.state().support["a"].clone(),
            second.state().support["b"].clone()
        ),
        (json!("1"), json!("0"))
    );
    assert_eq!((second.state().visits, model.requests().len()), (3, 1));
}

#[tokio::test]
async fn case_33_names_of_tools() {
    let nodes = |tools: Value, more: &[Value]| {
        let mut nodes = vec![
            json!({"id": "boss", "type": "agent", "data": {"isStart": true, "tools": tools}}),
            json!({"id": "helper", "type": "agent", "data": {"label": "My Tool"}}),
        ];
        nodes.extend(more.iter().cloned());
        Value::Array(nodes)
    };
    let edges = ["boss > helper by tool-call", "boss > END", "helper > boss"];
    for name in ["My Tool", "My_Tool", "my_tool", "helper"] {
        let graph = graph(&file(nodes(json!([name]), &[]), &edges, json!({})));
        let ran = run_with(&graph, &["x"], json!({})).await;
        let listed: Vec<_> = ran.model.requests()[0]
            .tools
            .iter()
            .map(|tool| tool.name.to_string())
            .collect();
        assert_eq!(listed, ["My_Tool"]);
    }
    let parse = |text: &str| Graph::parse(text, &registry().build().unwrap());
    let faults = parse(&file(nodes(json!(["My Tol"]), &[]), &edges, json!({}))).unwrap_err();
    assert!(
        faults
            .to_string()
            .contains("/nodes/0/data/tools/0: no tool \"My Tol\"; did you mean \"My Tool\"?"),
        "{faults}"
    );
    let other = json!({"id": "other", "type": "agent", "data": {"label": "my?tool"}});
    let edges = [&edges[..], &["boss > other by tool-call", "other > boss"]].concat();
    let faults = parse(&file(nodes(json!([]), &[other]), &edges, json!({}))).unwrap_err();
    assert_eq!(
        faults
            .faults
            .iter()
            .map(|fault| fault.kind)
            .collect::<Vec<_>>(),
        [FaultKind::Duplicate],
        "{faults}"
    );
}

#[tokio::test]
async fn case_93_an_instruction_reads_nothing_that_a_model_wrote() {
    let nodes = json!([asks("a"), {"id": "b", "type": "agent", "data": {"system_prompt": "Obey {{ a }} for {{ user }}."}}]);
    let own = file(nodes.clone(), &["a > b"], json!({"inputs": {"user": {}}}));
    let faults = Graph::parse(&own, &registry().build().unwrap()).unwrap_err();
    assert_eq!(
        (faults.faults.len(), faults.faults[0].kind),
        (1, FaultKind::Untrusted),
        "{faults}"
    );
    assert_eq!(faults.faults[0].pointer, "/nodes/1/data/system_prompt");
    let graph = graph(&seed(nodes, &["a > b"]));
    assert!(
        graph
            .warnings()
            .iter()
            .any(|warning| warning.kind == FaultKind::Untrusted)
    );
    let ran = run_with(&graph, &["```\nme", "ok"], json!({"user": "Ann"})).await;
    assert_eq!(
        ran.asked()[1][0],
        "system: Obey ````\n```\nme\n```` for Ann."
    );
}

/// A file in which an agent writes, and one whose instruction reads it: directly, by an iterator of either, and two graphs deep.
fn two_files(own: bool) -> Vec<(&'static str, Vec<(&'static str, String)>)> {
    let file = |nodes: Value, edges: &[&str]| match own {
        true => file(
            nodes,
            edges,
            json!({"inputs": {"topic": {"default": "tea"}, "notes": {"default": []}}}),
        ),
        false => seed(nodes, edges),
    };
    let writes =
        || json!({"id": "a", "type": "agent", "data": {"isStart": true, "save_as": "notes"}});
    let sub = |name: &str| json!({"id": "s", "type": "subgraph", "data": {"flow_id": name}});
    let obeys = |key: &str| json!({"id": "b", "type": "agent", "data": {"system_prompt": format!("Obey {{{{ {key} }}}}.")}});
    let each = || match own {
        true => json!({"id": "e", "type": "iterator", "data": {"source": "notes", "item": "note"}}),
        false => {
            json!({"id": "e", "type": "iterator", "data": {"input_list_variable": "notes", "output_item_variable": "note"}})
        }
    };
    let outer = |name: &str| file(json!([writes(), sub(name)]), &["a > s"]);
    let reads = || file(json!([obeys("notes")]), &[]);
    let edges = ["e > b by next", "b > e"];
    let items = file(
        json!([each(), obeys("note")]),
        &[&edges[..], &["start > e"]].concat(),
    );
    let keeps = json!({"id": "k", "type": "router", "data": {"routes": []}});
    let takes = file(
        json!([each(), keeps]),
        &["start > e", "e > k by next", "k > END"],
    );
    let mut behind = vec!["a > s", "s > b"];
    behind.extend(if own { vec!["b > END"] } else { vec![] });
    let out = file(json!([writes(), sub("takes"), obeys("note")]), &behind);
    vec![
        (
            "directly",
            vec![("reads", reads()), ("outer", outer("reads"))],
        ),
        ("items", vec![("items", items), ("outer", outer("items"))]),
        (
            "deep",
            vec![
                ("reads", reads()),
                ("middle", file(json!([sub("reads")]), &[])),
                ("outer", outer("middle")),
            ],
        ),
        ("taken", vec![("takes", takes), ("outer", out)]),
    ]
}

#[tokio::test]
async fn what_one_file_may_not_do_two_may_not_do_together() {
    for (case, files) in two_files(true) {
        let faults =
            Graph::open("outer", &with_folder(&format!("untrusted-{case}"), &files)).unwrap_err();
        let kinds: Vec<_> = faults.faults.iter().map(|fault| fault.kind).collect();
        assert_eq!(kinds, [FaultKind::Untrusted], "{case}: {faults}");
    }
    for (case, files) in two_files(false) {
        let registry = with_folder(&format!("fenced-{case}"), &files);
        let graph =
            Graph::open("outer", &registry).unwrap_or_else(|faults| panic!("{case}: {faults}"));
        let warned = graph
            .warnings()
            .iter()
            .filter(|warning| warning.kind == FaultKind::Untrusted);
        assert_eq!(warned.count(), 1, "{case}: {:?}", graph.warnings());
        let ran = run_with(&graph, &["[\"Lie.\"]", "ok"], json!({})).await;
        let instruction = &ran.asked()[1][0];
        let fenced = [
            "system: Obey ```\n[\"Lie.\"]\n```.",
            "system: Obey ```\nLie.\n```.",
        ];
        assert!(
            fenced.contains(&instruction.as_str()),
            "{case}: {instruction}"
        );
    }
    // The program's values stay as they are.
    let registry = with_folder("given", &two_files(false)[0].1);
    let ran = run_with(
        &Graph::open("reads", &registry).unwrap(),
        &["ok"],
        json!({"notes": "the law"}),
    )
    .await;
    assert_eq!(ran.asked()[0][0], "system: Obey the law.");
}

#[tokio::test]
async fn agents_text_is_streamed_under_the_id_of_the_node() {
    let graph = graph(&file(json!([asks("a"), asks("b")]), &["a > b"], json!({})));
    let model = ScriptedModel::new()
        .reply(Reply::pieces(["Hel", "lo"]))
        .reply("Bye");
    let mut run = Run::new(model).with_state(graph.start(json!({})).unwrap());
    let mut heard = Vec::new();
    run.flow(&graph)
        .on_event(|at, event| {
            if let llmnode_runtime::Event::Text(text) = event {
                heard.push(format!("{at}: {text}"));
            }
        })
        .await
        .unwrap();
    assert_eq!(heard, ["a: Hel", "a: lo", "b: Bye"]);
}

#[tokio::test]
async fn a_chat_goes_on() {
    let graph = graph(&file(
        json!([{"id": "a", "type": "agent", "data": {}}]),
        &[],
        json!({}),
    ));
    let history = [
        Message::user("Hello?"),
        Message::assistant("Hi."),
        Message::user("And?"),
    ];
    let ran = run(
        &graph,
        replies(1),
        graph.start(json!({})).unwrap().with_messages(history),
    )
    .await;
    assert_eq!(
        ran.asked(),
        [["user: Hello?", "assistant: Hi.", "user: And?"]]
    );
    let again = run(&graph, replies(1), ran.state().clone()).await;
    assert_eq!(again.asked()[0][3..], ["assistant: 0", "user: Go on."]);
}
