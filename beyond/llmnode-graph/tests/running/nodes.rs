//! Routers, iterators, tools, subgraphs, forks.

use std::time::Duration;

use llmnode_flow::flow::RunExt;
use llmnode_graph::{CheckedRegistry, Graph};
use llmnode_runtime::{
    BoxError, Category, Clock, Limits, NodeError, Run, ScriptedModel, TestClock, Toolset,
};
use serde_json::{Value, json};

use crate::support::{file, graph, graph_of, registry, run_with};

#[tokio::test]
async fn an_agent_and_a_router_lead_to_the_end() {
    let nodes = json!([
        {"id": "judge", "type": "agent", "data": {"system_prompt": "Judge {{ topic }}.", "prompt": "Is it good?", "save_as": "verdict"}},
        {"id": "route", "type": "router", "data": {"source": "verdict", "routes": [{"condition": "equals", "value": "YES", "handle": "good"}]}},
        {"id": "praise", "type": "agent", "data": {"prompt": "Praise it.", "save_as": "said"}},
    ]);
    let edges = [
        "judge > route",
        "route > praise by good",
        "route > END",
        "praise > END",
    ];
    let graph = graph(&file(
        nodes,
        &edges,
        json!({"inputs": {"topic": {"type": "string"}}}),
    ));
    let ran = run_with(&graph, &["yes", "Bravo."], json!({"topic": "tea"})).await;
    assert_eq!(ran.state()["said"], "Bravo.");
    assert_eq!(
        ran.asked(),
        [
            vec!["system: Judge tea.", "user: Is it good?"],
            vec!["user: judge says:\n```\nyes\n```", "user: Praise it."],
        ]
    );
    let spent = ran.run.ledger().snapshot();
    let names: Vec<_> = spent
        .nodes
        .iter()
        .map(|(name, node)| (name.as_str(), node.usage.requests))
        .collect();
    assert_eq!(names, [("judge", 1), ("praise", 1), ("route", 0)]);
    let no = run_with(&graph, &["no"], json!({"topic": "tea"})).await;
    assert_eq!(
        (no.state()["said"].clone(), no.asked().len()),
        (Value::Null, 1)
    );
}

fn route(routes: Value) -> String {
    let nodes = json!([
        {"id": "route", "type": "router", "data": {"source": "text", "routes": routes}},
        {"id": "a", "type": "set", "data": {"input": {"value": "a"}, "save_as": "to"}},
        {"id": "b", "type": "set", "data": {"input": {"value": "b"}, "save_as": "to"}},
        {"id": "other", "type": "set", "data": {"input": {"value": "other"}, "save_as": "to"}},
    ]);
    let edges = ["route > a by a", "route > b by b", "route > other by else"];
    file(nodes, &edges, json!({"inputs": {"text": {}}}))
}

/// A node without a model: gives its value.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Set {
    value: Value,
}

impl llmnode_runtime::Node for Set {
    type Output = Value;
    const NAME: &'static str = "set";
}

impl<S: ?Sized + Sync> llmnode_runtime::Exec<S> for Set {
    async fn exec(
        &self,
        _: &llmnode_runtime::Cx<'_, S>,
    ) -> Result<Value, llmnode_runtime::BoxError> {
        Ok(self.value.clone())
    }
}

fn with_set(file: &str) -> llmnode_graph::Graph {
    crate::support::graph_of(file, &registry().node::<Set>().build().unwrap())
}

#[tokio::test]
async fn case_27_routers() {
    let two = json!([{"condition": "equals", "value": "STOP", "handle": "a"}, {"condition": "contains", "value": "stop", "handle": "b"}]);
    let graph = with_set(&route(two));
    for (text, to) in [
        ("stop", "a"),
        ("STOP", "a"),
        ("stop it", "b"),
        ("go", "other"),
        ("", "other"),
    ] {
        let ran = run_with(&graph, &[], json!({"text": text})).await;
        assert_eq!(ran.state()["to"], to, "{text:?}");
    }
    let begins = json!([{"condition": "starts_with", "value": "é", "handle": "a"}, {"condition": "regex", "value": "^\\d+$", "handle": "b"}]);
    let graph = with_set(&route(begins));
    for (text, to) in [
        (json!("École"), "a"),
        (json!(42), "b"),
        (json!([1]), "other"),
    ] {
        assert_eq!(
            run_with(&graph, &[], json!({"text": text})).await.state()["to"],
            to
        );
    }
    let slow = json!([{"condition": "regex", "value": "(a+)+$", "handle": "a"}, {"condition": "equals", "value": "x", "handle": "b"}]);
    let text = "a".repeat(100_000) + "b";
    assert_eq!(
        run_with(&with_set(&route(slow)), &[], json!({"text": text}))
            .await
            .state()["to"],
        "other"
    );
}

#[tokio::test]
async fn case_28_iterators() {
    let loops = |data: Value, more: &[&str]| {
        let nodes = json!([
            {"id": "each", "type": "iterator", "data": with_start(data)},
            {"id": "work", "type": "set", "data": {"isStart": false, "input": {"value": "{{ current_item }}"}, "save_as": "seen"}},
            {"id": "count", "type": "set", "data": {"input": {"value": 1}, "save_as": "ends"}},
            {"id": "again", "type": "router", "data": {"source": "go", "routes": [{"condition": "equals", "value": "again", "handle": "again"}]}},
            {"id": "stop", "type": "set", "data": {"input": {"value": "done"}, "save_as": "go"}},
        ]);
        let edges = [
            "each > work by next",
            "work > each",
            "each > count by complete",
            "count > again",
            "again > stop by again",
            "stop > each",
            "again > END",
        ];
        let edges: Vec<&str> = edges.iter().chain(more).copied().collect();
        let state = json!({"seen": {"type": "array", "reducer": "append"}, "ends": {"type": "array", "reducer": "append"}});
        with_set(&file(
            nodes,
            &edges,
            json!({"inputs": {"items": {}, "go": {"type": "string"}}, "state": state}),
        ))
    };
    for items in [json!([1, 2, 3]), json!("[1, 2, 3]")] {
        let once = run_with(
            &loops(json!({}), &[]),
            &[],
            json!({"items": items, "go": "again"}),
        )
        .await;
        assert_eq!(once.state()["seen"], json!([1, 2, 3]));
        assert_eq!(once.state()["ends"], json!([1, 1]));
        assert_eq!(once.state().value("current_item"), None);
        let anew = run_with(
            &loops(json!({"restart": true}), &[]),
            &[],
            json!({"items": items, "go": "again"}),
        )
        .await;
        assert_eq!(anew.state()["seen"], json!([1, 2, 3, 1, 2, 3]));
    }
    for no_list in [json!("text"), json!(7), json!({"a": 1})] {
        let none = run_with(
            &loops(json!({}), &[]),
            &[],
            json!({"items": no_list, "go": "on"}),
        )
        .await;
        assert_eq!(
            (none.state().value("seen"), none.state()["ends"].clone()),
            (None, json!([1]))
        );
    }
}

fn with_start(mut data: Value) -> Value {
    data["isStart"] = true.into();
    data
}

#[tokio::test]
async fn case_35_tools_give_results_for_every_call_and_a_trace() {
    let nodes = json!([
        {"id": "look", "type": "tool", "data": {"tool_name": "search", "arguments": {"query": "about {{ topic }}"}, "save_as": "hits"}},
        {"id": "break", "type": "tool", "data": {"tool_name": "fail", "arguments": {"value": "{{ topic }}"}}},
    ]);
    let graph = graph(&file(
        nodes,
        &["look > break"],
        json!({"inputs": {"topic": {"type": "string"}}}),
    ));
    let ran = run_with(&graph, &[], json!({"topic": "tea"})).await;
    let state = ran.state();
    assert_eq!(state["hits"], "hits for about tea");
    assert_eq!(state["look.tools.0.name"], "search");
    assert_eq!(
        state["look.tools.0.arguments"],
        json!({"query": "about tea"})
    );
    assert_eq!(state["look.output"], "hits for about tea");
    assert_eq!(state["look.last_tool_input"], json!({"query": "about tea"}));
    assert!(state["look.tools.0.ms"].is_u64());
    // A tool that fails is a text as any other.
    assert_eq!(state["break.output"], "it broke");
}

#[tokio::test]
async fn forks_meet_once_and_write_in_the_order_of_their_edges() {
    let nodes = json!([
        {"id": "plan", "type": "agent", "data": {"prompt": "Plan.", "save_as": "plan"}},
        {"id": "left", "type": "agent", "data": {"prompt": "Left.", "save_as": "notes"}},
        {"id": "left2", "type": "set", "data": {"input": {"value": "{{ notes }}"}, "save_as": "copy"}},
        {"id": "right", "type": "agent", "data": {"prompt": "Right.", "save_as": "notes"}},
        {"id": "end", "type": "set", "data": {"input": {"value": "{{ notes }}"}, "save_as": "all"}},
    ]);
    let edges = [
        "plan > left",
        "plan > right",
        "left > left2",
        "left2 > end",
        "right > end",
    ];
    let state = json!({"notes": {"type": "array", "reducer": "append"}});
    let graph = with_set(&file(nodes, &edges, json!({"state": state})));
    let ran = run_with(&graph, &["the plan", "l", "r"], json!({})).await;
    assert_eq!(ran.state()["all"], json!(["l", "r"]));
    assert_eq!(ran.state()["copy"], json!(["l"]));
    // A branch does not see what the other one says; what comes behind them sees both.
    let asked = ran.asked();
    assert_eq!(
        asked[1],
        ["user: plan says:\n```\nthe plan\n```", "user: Left."]
    );
    assert_eq!(
        asked[2],
        ["user: plan says:\n```\nthe plan\n```", "user: Right."]
    );
    let from: Vec<_> = ran
        .state()
        .turns
        .iter()
        .map(|turn| turn.from.as_deref().unwrap())
        .collect();
    assert_eq!(from, ["plan", "left", "right"]);
}

#[tokio::test]
async fn the_first_error_ends_a_fork_of_any_size() {
    use llmnode_runtime::{Category, FnModel, ModelError, Reply, Run};
    let branches = 40;
    let mut nodes = vec![
        json!({"id": "plan", "type": "set", "data": {"input": {"value": "x"}, "save_as": "plan"}}),
    ];
    let mut edges = Vec::new();
    for branch in 0..branches {
        nodes.push(json!({"id": format!("n{branch}"), "type": "agent", "data": {"prompt": format!("Number {branch}.")}}));
        edges.extend([format!("plan > n{branch}"), format!("n{branch} > end")]);
    }
    nodes.push(
        json!({"id": "end", "type": "set", "data": {"input": {"value": "x"}, "save_as": "all"}}),
    );
    let edges: Vec<_> = edges.iter().map(String::as_str).collect();
    let graph = with_set(&file(json!(nodes), &edges, json!({})));
    let model = FnModel::new(
        |request| match request.transcript().contains("Number 35.") {
            true => Reply::error(ModelError::new(Category::BadRequest, "no")),
            false => Reply::never(),
        },
    );
    let mut run = Run::new(model).with_state(graph.start(json!({})).unwrap());
    let error = tokio::time::timeout(std::time::Duration::from_secs(20), run.flow(&graph))
        .await
        .unwrap();
    assert_eq!(error.unwrap_err().category(), Category::BadRequest);
}

#[tokio::test]
async fn case_45_tokens_of_branches_stand_under_their_nodes_and_in_the_step() {
    use llmnode_flow::flow::RunExt;
    use llmnode_runtime::{Category, Limits, Run, ScriptedModel};
    let nodes = json!([
        {"id": "left", "type": "agent", "data": {"prompt": "Left."}},
        {"id": "both", "type": "router", "data": {"isStart": true, "source": "x", "routes": [{"condition": "equals", "value": "n", "handle": "n"}]}},
        {"id": "right", "type": "agent", "data": {"prompt": "Right."}},
        {"id": "last", "type": "agent", "data": {"prompt": "Last."}},
    ]);
    let edges = [
        "both > left",
        "both > right",
        "both > END by n",
        "left > last",
        "right > last",
    ];
    let graph = graph(&file(nodes, &edges, json!({"inputs": {"x": {}}})));
    let model = || ScriptedModel::new().reply("1").reply("2").reply("3");
    let start = graph.start(json!({"x": "y"})).unwrap();
    let mut run = Run::new(model()).with_state(start.clone());
    let report = run.flow(&graph).report().await.unwrap();
    let steps: Vec<_> = report
        .record
        .path
        .iter()
        .map(|step| (step.position.to_string(), &*step.node, step.usage.requests))
        .collect();
    assert_eq!(steps[0], ("both".to_owned(), "router", 0));
    assert_eq!((steps[1].1, steps[1].2), ("parallel", 2));
    assert_eq!(steps[2], ("last".to_owned(), "agent", 1));
    let nodes = run.ledger().snapshot().nodes;
    assert_eq!(
        (
            nodes["left"].usage.requests,
            nodes["right"].usage.requests,
            nodes["last"].usage.requests
        ),
        (1, 1, 1)
    );
    assert!(graph.outline().mermaid().contains("left"));
    // They count for the limits of the run.
    let mut run = Run::new(model())
        .with_limits(Limits::new().requests(2))
        .with_state(start);
    assert_eq!(
        run.flow(&graph).await.unwrap_err().category(),
        Category::LimitExceeded
    );
}

#[tokio::test]
async fn case_39_a_failure_takes_its_edge_and_what_stops_does_not() {
    let nodes = json!([
        {"id": "ask", "type": "agent", "data": {"prompt": "Say."}},
        {"id": "rescue", "type": "set", "data": {"input": {"value": "{{ error.category }}: {{ error.node }}"}, "save_as": "said"}},
    ]);
    let graph = with_set(&file(
        nodes,
        &["ask > END", "ask > rescue by error"],
        json!({}),
    ));
    use llmnode_runtime::{Category, Reply, ScriptedModel};
    let failing = |category| ScriptedModel::new().reply(Reply::failure(category));
    let start = || graph.start(json!({})).unwrap();
    let ran = crate::support::run(&graph, failing(Category::QuotaError), start()).await;
    assert_eq!(ran.state()["said"], "quota_error: ask");
    let stopped = crate::support::run(&graph, failing(Category::ConfigError), start()).await;
    assert_eq!(
        stopped.outcome.unwrap_err().category(),
        Category::ConfigError
    );
}

#[tokio::test]
async fn case_40_the_lower_of_two_numbers_of_steps_holds() {
    use llmnode_flow::flow::RunExt;
    use llmnode_runtime::{Category, Run, ScriptedModel};
    let nodes = json!([
        {"id": "a", "type": "set", "data": {"isStart": true, "input": {"value": 1}}},
        {"id": "r", "type": "router", "data": {"source": "a", "routes": [{"condition": "equals", "value": "2", "handle": "out"}]}},
    ]);
    let file = |steps: u64| {
        file(
            nodes.clone(),
            &["a > r", "r > a", "r > END by out"],
            json!({"max_steps": steps}),
        )
    };
    for (of_file, of_program, says) in [
        (10, Some(5), "after 5 steps"),
        (10, Some(50), "after 10 steps"),
        (10_000, None, "after 1000 steps"),
    ] {
        let graph = with_set(&file(of_file));
        let mut run = Run::new(ScriptedModel::new()).with_state(graph.start(json!({})).unwrap());
        let call = run.flow(&graph);
        let error = match of_program {
            Some(steps) => call.max_steps(steps).await,
            None => call.await,
        }
        .unwrap_err();
        assert_eq!(error.category(), Category::LimitExceeded);
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[tokio::test]
async fn values_of_another_type_end_the_step_and_name_the_key() {
    let nodes = json!([{"id": "a", "type": "set", "data": {"input": {"value": "text"}, "save_as": "count"}}]);
    let graph = with_set(&file(
        nodes,
        &["a > END"],
        json!({"state": {"count": {"type": "integer"}}}),
    ));
    let ran = run_with(&graph, &[], json!({})).await;
    let error = ran.outcome.unwrap_err();
    assert_eq!(error.category(), llmnode_runtime::Category::Aborted);
    assert!(
        error
            .to_string()
            .contains("`count` does not fit its declared type"),
        "{error}"
    );
}

#[tokio::test]
async fn inputs_are_checked_before_anything_runs() {
    let nodes =
        json!([{"id": "a", "type": "agent", "data": {"prompt": "{{ question }} {{ tone }}"}}]);
    let inputs =
        json!({"question": {"type": "string"}, "tone": {"type": "string", "default": "kind"}});
    let graph = graph(&file(nodes, &["a > END"], json!({"inputs": inputs})));
    let error = graph
        .start(json!({"qestion": "x", "_q": 1, "tone": 3}))
        .unwrap_err()
        .to_string();
    for says in [
        "no input \"qestion\"; did you mean \"question\"?",
        "\"_q\" is reserved",
        "\"tone\"",
        "\"question\" is missing",
    ] {
        assert!(error.contains(says), "{says}: {error}");
    }
    let ran = run_with(&graph, &["ok"], json!({"question": "Why?"})).await;
    assert_eq!(ran.asked(), [["user: Why? kind"]]);
}

/// A registry whose tool `echo` gives back its text; each call takes a second.
fn echoing() -> (CheckedRegistry, TestClock) {
    let clock = TestClock::new();
    let own = clock.clone();
    let echo = Toolset::new().function("echo", "Gives back a text.", move |text: String| {
        let clock = own.clone();
        async move {
            clock.sleep(Duration::from_secs(1)).await;
            Ok::<_, BoxError>(text)
        }
    });
    (registry().tools(echo).build().unwrap(), clock)
}

/// A `tool` that visits itself again and again.
fn again(text: &str, more: Value, begins: &str, registry: &CheckedRegistry) -> Graph {
    let mut data = json!({"isStart": true, "tool_name": "echo", "arguments": {"value": text}});
    data.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    let more = json!({"state": {"t": {"default": begins}, "x": {"default": begins}}});
    let rest = json!({"id": "rest", "type": "agent", "data": {}});
    let edges = ["t > t", "t > rest by error"];
    graph_of(
        &file(
            json!([{"id": "t", "type": "tool", "data": data}, rest]),
            &edges,
            more,
        ),
        registry,
    )
}

async fn failed(graph: &Graph, run: Run, steps: u64) -> (NodeError, llmnode_graph::State) {
    let mut run = run.with_state(graph.start(json!({})).unwrap());
    let error = run.flow(graph).max_steps(steps).await.unwrap_err();
    assert_eq!(error.category(), Category::LimitExceeded, "{error}");
    (error, run.into_state())
}

#[tokio::test]
async fn a_tool_that_reads_its_own_trace_keeps_it_small() {
    let (registry, _) = echoing();
    let graph = again("{{ t }}{{ t }}", json!({}), &"x".repeat(4096), &registry);
    let (error, state) = failed(&graph, Run::new(ScriptedModel::new()), 9).await;
    assert!(
        error.to_string().contains("has not ended after 9 steps"),
        "{error}"
    );
    let trace = state["t"].to_string().len();
    assert!((64 * 1024..512 * 1024).contains(&trace), "{trace}");
    assert!(
        state["t.output"]
            .as_str()
            .unwrap()
            .contains("[cut: 65536 of ")
    );
}

#[tokio::test]
async fn a_state_and_what_is_put_together_of_it_have_a_size() {
    let (registry, _) = echoing();
    for (text, says) in [
        // The text is doubled: 8 MiB are written, and 16 MiB are not.
        ("{{ x }}{{ x }}", "`t` makes the state 17"),
        // At once a hundred times as large.
        (
            &*"{{ x }}".repeat(1000),
            "`t` puts together a text or arguments of more than 16777216 bytes",
        ),
    ] {
        let graph = again(
            text,
            json!({"save_as": "x"}),
            &"x".repeat(1 << 18),
            &registry,
        );
        let (error, state) = failed(&graph, Run::new(ScriptedModel::new()), 100).await;
        assert!(
            error.to_string().contains(says) && error.to_string().contains("no setting"),
            "{error}"
        );
        assert!(serde_json::to_string(&state).unwrap().len() <= 16 << 20);
    }
}

#[tokio::test]
async fn visits_look_at_limits_and_at_the_time() {
    let (registry, clock) = echoing();
    let graph = again("once", json!({}), "x", &registry);
    let run = |limits: Limits| {
        Run::new(ScriptedModel::new())
            .with_clock(clock.clone())
            .with_limits(limits)
    };
    let (error, _) = failed(
        &graph,
        run(Limits::new().time(Duration::from_secs(10))),
        1000,
    )
    .await;
    assert!(
        error
            .to_string()
            .contains("the time limit of 10s for the run is reached"),
        "{error}"
    );
    assert_eq!(clock.waits().len(), 10);
    let (error, _) = failed(&graph, run(Limits::new().tool_calls(3)), 1000).await;
    assert!(error.to_string().contains("tool"), "{error}");
    assert_eq!(clock.waits().len(), 13);
}

#[tokio::test]
async fn each_visit_lets_other_tasks_run() {
    let go = json!([{"condition": "equals", "value": "on", "handle": "on"}]);
    let nodes = json!([{"id": "r", "type": "router", "data": {"isStart": true, "routes": go}}]);
    let graph = graph(&file(nodes, &["r > r", "r > END by on"], json!({})));
    let mut run = Run::new(ScriptedModel::new()).with_state(graph.start(json!({})).unwrap());
    let (mut others, mut flow) = (0_u64, Box::pin(run.flow(&graph).into_future()));
    let ended = std::future::poll_fn(|cx| {
        let polled = flow.as_mut().poll(cx);
        others += 1;
        polled
    });
    assert_eq!(ended.await.unwrap_err().category(), Category::LimitExceeded);
    assert!(others >= 1000, "{others}");
}

#[tokio::test]
async fn a_text_too_long_for_a_pattern_fails_the_router() {
    let slow = json!([{"condition": "regex", "value": "(?:.*a){30}b", "handle": "a"}, {"condition": "contains", "value": "x", "handle": "b"}]);
    let graph = with_set(&route(slow));
    let inputs = |bytes: usize| json!({"text": "x".repeat(bytes)});
    assert_eq!(run_with(&graph, &[], inputs(1000)).await.state()["to"], "b");
    let failed = run_with(&graph, &[], inputs(64 * 1024)).await;
    let error = failed.outcome.unwrap_err();
    assert_eq!(error.category(), Category::ExecError);
    assert!(
        error
            .to_string()
            .contains("the text has 65536 bytes, and \"(?:.*a){30}b\" is searched in"),
        "{error}"
    );
    let large = json!([{"condition": "regex", "value": "(?:.*a){300}", "handle": "a"}]);
    let faults =
        Graph::parse(&route(large), &registry().node::<Set>().build().unwrap()).unwrap_err();
    assert!(
        faults
            .to_string()
            .contains("compiled regex exceeded size limit"),
        "{faults}"
    );
}

#[tokio::test]
async fn an_iterator_writes_its_items_once() {
    let nodes = json!([
        {"id": "each", "type": "iterator", "data": {}},
        {"id": "work", "type": "set", "data": {"input": {"value": "{{ current_item }}"}, "save_as": "seen"}},
    ]);
    let more = json!({"inputs": {"items": {"type": "array"}}});
    // It is the start, though an edge leads to each node.
    let graph = with_set(&file(nodes, &["work > each", "each > work by next"], more));
    let start = graph.start(json!({"items": [1, 2, 3]})).unwrap();
    let mut run = Run::new(ScriptedModel::new()).with_state(start);
    run.flow(&graph).max_steps(3).await.unwrap_err();
    let state = run.state();
    assert_eq!(
        (
            &state["_iterator_queue_each"],
            &state["_iterator_next_each"]
        ),
        (&json!([1, 2, 3]), &json!(2))
    );
    // A state of before that holds only the items to come.
    let start = graph.start(json!({"items": [1, 2, 3]})).unwrap();
    let mut run = Run::new(ScriptedModel::new()).with_state(start);
    run.state_mut()
        .values
        .insert("_iterator_queue_each".to_owned(), json!([3]));
    run.flow(&graph).await.unwrap();
    let state = run.state();
    assert_eq!(
        (&state["seen"], &state["_iterator_queue_each"]),
        (&json!(3), &json!([]))
    );
    assert_eq!(
        (
            state.value("_iterator_next_each"),
            state.value("current_item")
        ),
        (None, None)
    );
}
