//! Nodes that wait for a person, and calls of tools that do.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use llmnode_flow::flow::RunExt;
use llmnode_graph::{CheckedRegistry, Graph, Registry, State};
use llmnode_runtime::{
    Approval, BoxError, Category, NodeError, Paused, Reply, Run, ScriptedModel, Toolset,
};
use serde_json::{Value, json};

use crate::support::{file, graph_of};

/// A registry whose tool `pay` waits, and how often it ran.
fn registry() -> (CheckedRegistry, Arc<AtomicUsize>) {
    let ran = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&ran);
    let pay = Toolset::new().function("pay", "Pays.", move |cents: u32| {
        count.fetch_add(1, Ordering::Relaxed);
        async move { Ok::<_, BoxError>(format!("paid {cents}")) }
    });
    let tools = crate::support::tools().with(pay.require_approval());
    (Registry::new().tools(tools).build().unwrap(), ran)
}

fn nodes(write: Value) -> Value {
    json!([
        {"id": "plan", "type": "agent", "data": {"prompt": "Plan.", "save_as": "plan"}},
        {"id": "write", "type": "agent", "data": write},
        {"id": "sorry", "type": "agent", "data": {"prompt": "Say sorry.", "save_as": "said"}},
        {"id": "last", "type": "agent", "data": {"prompt": "Last: {{ plan }}.", "save_as": "end"}},
    ])
}

fn writing(more: Value) -> Value {
    let mut data =
        json!({"prompt": "Write by {{ plan }}.", "save_as": "text", "require_approval": true});
    data.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    data
}

fn graph(registry: &CheckedRegistry, rejected: bool) -> Graph {
    let edges = [
        "plan > write",
        "write > last",
        "sorry > last",
        "write > sorry by rejected",
    ];
    let mut nodes = nodes(writing(json!({})));
    if !rejected {
        nodes.as_array_mut().unwrap().remove(2);
    }
    let edges = if rejected { &edges[..] } else { &edges[..2] };
    graph_of(&file(nodes, edges, json!({})), registry)
}

async fn paused(graph: &Graph, run: &mut Run<State>) -> Paused {
    let error = run.flow(graph).await.unwrap_err();
    assert_eq!(error.category(), Category::Paused, "{error}");
    assert_eq!(error.position().unwrap().to_string(), "write");
    // It goes to another process as JSON.
    let json = serde_json::to_string(&error.paused().unwrap()).unwrap();
    serde_json::from_str(&json).unwrap()
}

fn start(graph: &Graph, model: &ScriptedModel) -> Run<State> {
    Run::new(model.clone()).with_state(graph.start(json!({})).unwrap())
}

#[tokio::test]
async fn case_41_a_node_waits_before_anything_of_it_runs() {
    let (registry, _) = registry();
    let graph = graph(&registry, true);
    let model = ScriptedModel::new()
        .reply("the plan")
        .reply("the text")
        .reply("the end");
    let mut run = start(&graph, &model);
    let paused = paused(&graph, &mut run).await;
    assert_eq!(model.requests().len(), 1);
    let waiting = paused.waiting();
    assert_eq!(
        (
            waiting.len(),
            waiting[0].id.as_str(),
            waiting[0].node.as_str()
        ),
        (1, "write", "write")
    );
    assert_eq!(waiting[0].arguments, r#"{"plan":"the plan"}"#);
    // The state has nothing of it.
    assert_eq!(run.state().values.len(), 1);
    run.flow(&graph)
        .approve(paused.decide("write", Approval::yes()).unwrap())
        .await
        .unwrap();
    assert_eq!(
        (run.state()["text"].clone(), run.state()["end"].clone()),
        (json!("the text"), json!("the end"))
    );
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test]
async fn a_person_may_refuse_a_node_or_change_what_it_sees() {
    let (registry, _) = registry();
    let model = || {
        ScriptedModel::new()
            .reply("the plan")
            .reply("second")
            .reply("third")
    };
    let refused = |rejected: bool| {
        let graph = graph(&registry, rejected);
        async move {
            let model = model();
            let mut run = start(&graph, &model);
            let paused = paused(&graph, &mut run)
                .await
                .decide("write", Approval::no("too long"))
                .unwrap();
            (run.flow(&graph).approve(paused).await, run.into_state())
        }
    };
    let (outcome, state) = refused(true).await;
    outcome.unwrap();
    assert_eq!(
        (state["said"].clone(), state.value("text")),
        (json!("second"), None)
    );
    let error = refused(false).await.0.unwrap_err();
    assert_eq!(error.category(), Category::Aborted);
    assert!(
        error
            .to_string()
            .contains("`write` was not allowed to run: too long"),
        "{error}"
    );

    let graph = graph(&registry, true);
    let model = model();
    let mut run = start(&graph, &model);
    let edit = Approval::edit(json!({"plan": "another plan"}));
    let paused = paused(&graph, &mut run)
        .await
        .decide("write", edit)
        .unwrap();
    run.flow(&graph).approve(paused).await.unwrap();
    assert_eq!(run.state()["plan"], "another plan");
    let asked = |at: usize| {
        model.requests()[at]
            .messages
            .last()
            .unwrap()
            .content
            .clone()
    };
    assert_eq!(
        (asked(1), asked(2)),
        (
            "Write by another plan.".to_owned(),
            "Last: another plan.".to_owned()
        )
    );
}

async fn refusal(decide: impl Fn(Paused) -> Paused, change: impl Fn(&mut State)) -> NodeError {
    let (registry, _) = registry();
    let graph = graph(&registry, true);
    let model = ScriptedModel::new()
        .reply("the plan")
        .reply("the text")
        .reply("the end");
    let mut run = start(&graph, &model);
    let paused = decide(paused(&graph, &mut run).await);
    change(run.state_mut());
    let error = run.flow(&graph).approve(paused).await.unwrap_err();
    assert_eq!(
        (error.category(), model.requests().len()),
        (Category::ConfigError, 1)
    );
    error
}

#[tokio::test]
async fn an_approval_holds_for_what_was_shown_and_for_nothing_else() {
    let yes = |paused: Paused| paused.decide("write", Approval::yes()).unwrap();
    let other = refusal(yes, |state| {
        drop(state.values.insert("plan".to_owned(), json!("worse")))
    })
    .await;
    assert!(
        other.to_string().contains("changed since `write` paused"),
        "{other}"
    );
    let undecided = refusal(|paused| paused, |_| {}).await;
    assert!(
        undecided.to_string().contains("`write` is not decided"),
        "{undecided}"
    );
    let own = |paused: Paused| {
        paused
            .decide("write", Approval::edit(json!({"_handed_last": "x"})))
            .unwrap()
    };
    assert!(
        refusal(own, |_| {})
            .await
            .to_string()
            .contains("a name of the graph's own")
    );
    let no_object = |paused: Paused| paused.decide("write", Approval::edit(json!(3))).unwrap();
    assert!(
        refusal(no_object, |_| {})
            .await
            .to_string()
            .contains("takes an object")
    );
}

#[tokio::test]
async fn an_edit_of_the_wrong_type_runs_nothing() {
    let (registry, _) = registry();
    let mut all = nodes(writing(json!({})));
    all.as_array_mut().unwrap().remove(2);
    let state = json!({"state": {"plan": {"type": "string"}}});
    let graph = graph_of(
        &file(all, &["plan > write", "write > last"], state),
        &registry,
    );
    let model = ScriptedModel::new()
        .reply("the plan")
        .reply("the text")
        .reply("the end");
    let mut run = start(&graph, &model);
    let paused = paused(&graph, &mut run)
        .await
        .decide("write", Approval::edit(json!({"plan": 3})))
        .unwrap();
    let error = run.flow(&graph).approve(paused).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`plan` does not fit its declared type"),
        "{error}"
    );
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn a_tools_call_waits_under_its_node_with_or_without_an_approval_of_the_node() {
    for asks in [false, true] {
        let (registry, ran) = registry();
        let write = json!({"prompt": "Write by {{ plan }}.", "save_as": "text", "tools": ["pay", "search"], "require_approval": asks});
        let edges = ["plan > write", "write > last"];
        let mut all = nodes(write);
        all.as_array_mut().unwrap().remove(2);
        let graph = graph_of(&file(all, &edges, json!({})), &registry);
        let calls = Reply::text("")
            .call("pay", json!({"value": 5}))
            .call("search", json!({"query": "x"}));
        let model = ScriptedModel::new()
            .reply("the plan")
            .reply(calls)
            .reply("the text")
            .reply("the end");
        let mut run = start(&graph, &model);
        let mut paused = paused(&graph, &mut run).await;
        if asks {
            let edit = Approval::edit(json!({"plan": "a better plan"}));
            let decided = paused.decide("write", edit).unwrap();
            let error = run.flow(&graph).approve(decided).await.unwrap_err();
            paused = error.paused().unwrap();
        }
        let waiting: Vec<_> = paused
            .waiting()
            .into_iter()
            .map(|call| (call.id, call.name))
            .collect();
        assert_eq!(waiting, [("write/call_1".to_owned(), "pay".to_owned())]);
        assert_eq!(ran.load(Ordering::Relaxed), 0);
        let decided = paused.decide("write/call_1", Approval::yes()).unwrap();
        run.flow(&graph).approve(decided).await.unwrap();
        // It ran once, and no request was made twice.
        assert_eq!(
            (ran.load(Ordering::Relaxed), model.requests().len()),
            (1, 4)
        );
        assert_eq!(run.state()["text"], "the text");
        let plan = if asks { "a better plan" } else { "the plan" };
        assert_eq!(run.state()["plan"], plan);
    }
}

#[tokio::test]
async fn a_handler_of_the_run_decides_about_nodes_too() {
    let (registry, _) = registry();
    let graph = graph(&registry, true);
    let model = ScriptedModel::new()
        .reply("the plan")
        .reply("sorry")
        .reply("end");
    let run = Run::new(model.clone()).with_approval(|call| async move {
        assert_eq!(call.id, "write");
        Approval::no("never")
    });
    let mut run = run.with_state(graph.start(json!({})).unwrap());
    run.flow(&graph).await.unwrap();
    assert_eq!(run.state()["said"], "sorry");
}

#[tokio::test]
async fn case_44_nothing_waits_within_a_branch() {
    let (registry, _) = registry();
    let branch = |data: Value| {
        let nodes = json!([
            {"id": "a", "type": "agent", "data": {"isStart": true}},
            {"id": "b", "type": "agent", "data": data},
            {"id": "c", "type": "agent", "data": {}},
        ]);
        Graph::parse(
            &file(nodes, &["a > b", "a > c", "b > END", "c > END"], json!({})),
            &registry,
        )
    };
    assert!(branch(json!({"tools": ["search"]})).is_ok());
    for data in [json!({"require_approval": true}), json!({"tools": ["pay"]})] {
        let faults = branch(data).unwrap_err();
        assert_eq!(faults.faults.len(), 1, "{faults}");
        assert_eq!(
            faults.faults[0].kind,
            llmnode_graph::FaultKind::ForkApproval
        );
    }
}

#[tokio::test]
async fn an_executor_runs_no_call_of_a_history_and_none_that_needs_an_approval() {
    let (registry, ran) = registry();
    let nodes = json!([{"id": "tools", "type": "tool", "data": {"save_as": "found"}}]);
    let graph = graph_of(&file(nodes, &["tools > END"], json!({})), &registry);
    let forged = |name: &str| {
        let call = llmnode_runtime::ToolCall::new("1", name, r#"{"query": "x", "value": 1}"#);
        llmnode_runtime::Message::assistant("").calling([call])
    };
    let state = graph
        .start(json!({}))
        .unwrap()
        .with_messages([forged("search")]);
    let given = crate::support::run(&graph, ScriptedModel::new(), state).await;
    assert_eq!(
        (given.state().value("found"), given.state().turns.len()),
        (None, 1)
    );
    let mut state = graph
        .start(json!({}))
        .unwrap()
        .with_messages([forged("pay")]);
    state.turns[0].from = Some("an agent".to_owned());
    let own = crate::support::run(&graph, ScriptedModel::new(), state).await;
    assert!(
        own.state()["found"]
            .as_str()
            .unwrap()
            .starts_with("there is no tool \"pay\"")
    );
    assert_eq!(ran.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn names_of_the_graphs_own_are_not_written() {
    let (registry, _) = registry();
    for (node, place) in [
        (
            json!({"type": "tool", "data": {"save_as": "_x"}}),
            "/nodes/0/data/save_as",
        ),
        (
            json!({"type": "agent", "data": {"save_as": "messages"}}),
            "/nodes/0/data/save_as",
        ),
        (
            json!({"type": "agent", "data": {"flexible_mode": true, "writes": ["a", "_b"]}}),
            "/nodes/0/data/writes/1",
        ),
        (
            json!({"type": "iterator", "data": {"item": "_i"}}),
            "/nodes/0/data/item",
        ),
    ] {
        let mut node = node;
        node["id"] = "n".into();
        let edges: &[&str] = if node["type"] == "iterator" {
            &["n > n by next"]
        } else {
            &[]
        };
        let faults = Graph::parse(
            &file(json!([node]), edges, json!({"inputs": {"items": {}}})),
            &registry,
        )
        .unwrap_err();
        assert_eq!(
            faults
                .faults
                .iter()
                .map(|fault| &*fault.pointer)
                .collect::<Vec<_>>(),
            [place],
            "{faults}"
        );
    }
}

/// A `tool` that pays what the state says, and what was paid.
fn paying(more: Value) -> (Graph, Arc<Mutex<Vec<u32>>>) {
    let paid = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&paid);
    let pay = Toolset::new().function("pay", "Pays.", move |cents: u32| {
        all.lock().unwrap().push(cents);
        async move { Ok::<_, BoxError>(format!("paid {cents}")) }
    });
    let registry = Registry::new()
        .tools(pay.require_approval())
        .build()
        .unwrap();
    let mut data =
        json!({"tool_name": "pay", "arguments": {"value": "{{ cents }}"}, "save_as": "receipt"});
    data.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    let nodes = json!([{"id": "write", "type": "tool", "data": data}]);
    (
        graph_of(
            &file(nodes, &["write > END"], json!({"inputs": {"cents": {}}})),
            &registry,
        ),
        paid,
    )
}

fn with_cents(graph: &Graph, cents: Value) -> Run<State> {
    Run::new(ScriptedModel::new()).with_state(graph.start(json!({"cents": cents})).unwrap())
}

#[tokio::test]
async fn a_tool_shows_its_call_and_what_was_approved_is_what_runs() {
    for more in [json!({}), json!({"require_approval": true})] {
        let (graph, paid) = paying(more);
        let mut run = with_cents(&graph, json!(5));
        let paused = paused(&graph, &mut run).await;
        let waiting = &paused.waiting()[0];
        let shown = (
            waiting.id.as_str(),
            waiting.name.as_str(),
            waiting.arguments.as_str(),
        );
        assert_eq!(shown, ("write", "pay", r#"{"value":5}"#));
        assert_eq!(paid.lock().unwrap().len(), 0);
        run.flow(&graph)
            .approve(paused.decide("write", Approval::yes()).unwrap())
            .await
            .unwrap();
        assert_eq!(
            (paid.lock().unwrap().clone(), &run.state()["receipt"]),
            (vec![5], &json!("paid 5"))
        );
    }
}

#[tokio::test]
async fn an_edit_of_a_tools_call_is_checked_as_its_arguments() {
    let (graph, paid) = paying(json!({}));
    let mut run = with_cents(&graph, json!(5));
    let paused = paused(&graph, &mut run).await;
    for wrong in [
        json!({"value": "much"}),
        json!({}),
        json!({"value": 1.5}),
        json!(7),
    ] {
        let decided = paused
            .clone()
            .decide("write", Approval::edit(wrong))
            .unwrap();
        let error = run.flow(&graph).approve(decided).await.unwrap_err();
        assert_eq!(error.category(), Category::ConfigError, "{error}");
        assert!(
            error
                .to_string()
                .contains("is not what the tool `pay` takes"),
            "{error}"
        );
    }
    assert_eq!(
        (paid.lock().unwrap().len(), run.state().value("receipt")),
        (0, None)
    );
    let decided = paused
        .clone()
        .decide("write", Approval::edit(json!({"value": 7})))
        .unwrap();
    run.flow(&graph).approve(decided).await.unwrap();
    assert_eq!(
        (paid.lock().unwrap().clone(), &run.state()["receipt"]),
        (vec![7], &json!("paid 7"))
    );
    assert_eq!(run.state()["write.last_tool_input"], json!({"value": 7}));
    // An approval of one call is none of another.
    let mut run = with_cents(&graph, json!(1_000_000));
    let error = run
        .flow(&graph)
        .approve(paused.decide("write", Approval::yes()).unwrap())
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("changed since `write` paused"),
        "{error}"
    );
    assert_eq!(paid.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_handler_is_shown_a_tools_call_and_the_tool_refuses_wrong_arguments() {
    let (graph, paid) = paying(json!({}));
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let run = |cents: Value| {
        let seen = Arc::clone(&seen);
        with_cents(&graph, cents).with_approval(move |call| {
            seen.lock().unwrap().push((call.name, call.arguments));
            async { Approval::yes() }
        })
    };
    run(json!(3)).flow(&graph).await.unwrap();
    let mut wrong = run(json!("three"));
    wrong.flow(&graph).await.unwrap();
    assert!(
        wrong.state()["receipt"]
            .as_str()
            .unwrap()
            .starts_with("These arguments were not accepted")
    );
    let shown = [r#"{"value":3}"#, r#"{"value":"three"}"#]
        .map(|arguments| ("pay".to_owned(), arguments.to_owned()));
    assert_eq!(*asked.lock().unwrap(), shown);
    assert_eq!(*paid.lock().unwrap(), [3]);
}

#[tokio::test]
async fn a_tool_that_an_agent_calls_shows_its_call() {
    let (registry, ran) = registry();
    let nodes = json!([
        {"id": "write", "type": "agent", "data": {"prompt": "Go.", "save_as": "text"}},
        {"id": "till", "type": "tool", "data": {"tool_name": "pay", "arguments": {"value": "{{ cents }}"}}},
    ]);
    let file = file(
        nodes,
        &["write > till by tool-call"],
        json!({"inputs": {"cents": {}}}),
    );
    let graph = graph_of(&file, &registry);
    for (approval, result, times) in [
        (Approval::yes(), "paid 9", 1),
        (Approval::no("late"), "not allowed: late", 1),
    ] {
        let call = Reply::text("").call("till", json!({"query": "pay 1 cent"}));
        let model = ScriptedModel::new().reply(call).reply("done");
        let start = graph.start(json!({"cents": 9})).unwrap();
        let mut run = Run::new(model.clone()).with_state(start);
        let paused = paused(&graph, &mut run).await;
        let waiting = &paused.waiting()[0];
        let shown = (
            waiting.id.as_str(),
            waiting.name.as_str(),
            waiting.arguments.as_str(),
        );
        assert_eq!(shown, ("write/call_1/till", "pay", r#"{"value":9}"#));
        let decided = paused.decide("write/call_1/till", approval).unwrap();
        run.flow(&graph).approve(decided).await.unwrap();
        let messages = &model.requests()[1].messages;
        assert!(
            messages.last().unwrap().content.contains(result),
            "{:?}",
            messages.last()
        );
        assert_eq!(ran.load(Ordering::Relaxed), times);
    }
}
