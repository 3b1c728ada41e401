//! Agents: tools, handoffs, templates, answers.

use llmnode_runtime::{BoxError, Category, Message, Reply, Run, ScriptedModel, Toolset};
use serde_json::{Value, json};

use llmnode_flow::flow::RunExt;
use llmnode_graph::{Graph, Registry};

use crate::support::{file, graph, graph_of, registry, run, run_with, seed};

fn call(name: &str, arguments: Value) -> Reply {
    Reply::text("").call(name, arguments)
}

#[tokio::test]
async fn case_30_an_agent_that_leads_back_is_a_tool_with_a_context_of_its_own() {
    let nodes = json!([
        {"id": "boss", "type": "agent", "data": {"isStart": true, "system_prompt": "You lead.", "save_as": "answer"}},
        {"id": "expert", "type": "agent", "label": "x", "data": {"label": "My Expert", "system_prompt": "You know {{ topic }}."}},
    ]);
    let nodes_own = {
        let mut nodes = nodes.clone();
        nodes[1].as_object_mut().unwrap().remove("label");
        nodes
    };
    let graph = graph(&file(
        nodes_own,
        &["boss > expert by tool-call", "expert > boss", "boss > END"],
        json!({"inputs": {"topic": {"type": "string"}}}),
    ));
    let model = ScriptedModel::new()
        .reply(call("My_Expert", json!({"query": "What is tea?"})))
        .reply("A leaf.")
        .reply("Tea is a leaf.");
    let state = graph
        .start(json!({"topic": "tea"}))
        .unwrap()
        .with_messages([Message::user("Tell me.")]);
    let ran = run(&graph, model, state).await;
    assert_eq!(ran.state()["answer"], "Tea is a leaf.");
    assert_eq!(
        ran.asked(),
        [
            vec!["system: You lead.", "user: Tell me."],
            vec!["system: You know tea.", "user: What is tea?"],
            vec![
                "system: You lead.",
                "user: Tell me.",
                "assistant: ",
                "tool: A leaf."
            ],
        ]
    );
    let last = &ran.model.requests()[2].messages;
    assert_eq!(last[3].answers(), Some(last[2].calls()[0].id.as_str()));
    let nodes = ran.run.ledger().snapshot().nodes;
    assert_eq!(
        (nodes["boss"].usage.requests, nodes["expert"].usage.requests),
        (2, 1)
    );
    // Its turns are no part of the conversation of the graph.
    assert_eq!(ran.state().turns.len(), 2);
}

#[tokio::test]
async fn an_agent_that_leads_elsewhere_takes_the_conversation_over() {
    let nodes = json!([
        {"id": "desk", "type": "agent", "data": {"isStart": true, "tools": ["search"]}},
        {"id": "writer", "type": "agent", "data": {"system_prompt": "You write.", "save_as": "text"}},
        {"id": "painter", "type": "agent", "data": {"save_as": "text"}},
        {"id": "check", "type": "agent", "data": {"prompt": "Check."}},
    ]);
    let edges = [
        "desk > writer by tool-call",
        "desk > painter by tool-call",
        "writer > check",
        "painter > check",
        "desk > check",
    ];
    let graph = graph(&file(nodes, &edges, json!({})));
    let both = Reply::text("I pass it on.")
        .call("search", json!({"query": "tea"}))
        .call("writer", json!({"query": "Write about tea."}))
        .call("painter", json!({"query": "Paint."}));
    let model = ScriptedModel::new()
        .reply(both)
        .reply("Tea!")
        .reply("Good.");
    let state = graph
        .start(json!({}))
        .unwrap()
        .with_messages([Message::user("A text, please.")]);
    let ran = run(&graph, model, state).await;
    assert_eq!(ran.state()["text"], "Tea!");
    let asked = ran.asked();
    assert_eq!(asked[1], ["system: You write.", "user: Write about tea."]);
    assert_eq!(
        asked[2],
        [
            "user: A text, please.",
            "user: desk says:\n```\nI pass it on.\n```",
            "user: writer says:\n```\nTea!\n```",
            "user: Check."
        ]
    );
    let results: Vec<_> = ran
        .state()
        .messages()
        .filter(|one| one.answers().is_some())
        .map(|one| one.content.clone())
        .collect();
    assert_eq!(
        results,
        [
            "hits for tea",
            "handed to writer",
            "not executed: the conversation was handed to writer"
        ]
    );
    assert_eq!(ran.state().value("_handed_writer"), None);
}

/// A call that could not be read beside the one that hands over: providers refuse arguments that are no object.
#[tokio::test]
async fn what_is_handed_over_is_a_conversation_that_providers_take() {
    let nodes = json!([
        {"id": "desk", "type": "agent", "data": {"isStart": true, "tools": ["search"]}},
        {"id": "writer", "type": "agent", "data": {"save_as": "text"}},
    ]);
    let edges = ["desk > writer by tool-call", "writer > END", "desk > END"];
    let graph = graph(&file(nodes, &edges, json!({})));
    let both = call("search", Value::from("{\"query\": \"te"))
        .call("writer", json!({"query": "Write about tea."}));
    let model = ScriptedModel::new().reply(both).reply("Tea!");
    let ran = run(&graph, model, graph.start(json!({})).unwrap()).await;
    assert_eq!(ran.state()["text"], "Tea!");
    let messages: Vec<Message> = ran.state().messages().cloned().collect();
    let calls = messages.iter().flat_map(Message::calls);
    let arguments: Vec<_> = calls.map(|call| &*call.arguments).collect();
    assert_eq!(arguments, ["{}", r#"{"query":"Write about tea."}"#]);
}

/// The tools of a request that lists few of many have other places than those of the set.
#[tokio::test]
async fn an_agent_with_tools_that_are_listed_when_needed_hands_over() {
    let mut tools = Toolset::new();
    let schema = json!({"type": "object", "properties": {"number": {"type": "integer", "description": "Of the order. ".repeat(20)}}});
    for number in 0..24 {
        let run = |_: Value| async { Ok::<_, BoxError>("done") };
        tools = tools.json_function(
            format!("order_{number}"),
            "Changes an order.",
            schema.clone(),
            run,
        );
    }
    let names: Vec<String> = tools.names().map(str::to_owned).collect();
    let registry = Registry::new().tools(tools.deferred()).build().unwrap();
    let nodes = json!([
        {"id": "desk", "type": "agent", "data": {"isStart": true, "tools": names}},
        {"id": "writer", "type": "agent", "data": {"save_as": "text"}},
    ]);
    let edges = ["desk > writer by tool-call", "writer > END", "desk > END"];
    let graph = graph_of(&file(nodes, &edges, json!({})), &registry);
    let over = call("writer", json!({"query": "Write about tea."}));
    let model = ScriptedModel::new().reply(over).reply("Tea!");
    let ran = run(&graph, model, graph.start(json!({})).unwrap()).await;
    assert!(ran.model.requests()[0].tools.len() < 24);
    assert_eq!(ran.state()["text"], "Tea!");
}

#[tokio::test]
async fn case_35_an_executor_beside_an_agent_holds_the_trace_of_its_tools() {
    let nodes = json!([
        {"id": "boss", "type": "agent", "data": {"isStart": true, "tools": ["search", "fail"]}},
        {"id": "tools", "type": "tool", "data": {"label": "Tool Executor"}},
    ]);
    let graph = graph(&file(
        nodes,
        &["boss > tools by tool-call", "tools > boss", "boss > END"],
        json!({}),
    ));
    let round = call("search", json!({"query": "tea"}))
        .call("fail", json!({"value": "x"}))
        .call("nothing", json!({}));
    let ran = run(
        &graph,
        ScriptedModel::new().reply(round).reply("Done."),
        graph.start(json!({})).unwrap(),
    )
    .await;
    let state = ran.state();
    assert_eq!(state["tools.tools.0.result"], "hits for tea");
    assert_eq!(state["tools.tools.1.result"], "it broke");
    assert_eq!(state["tools.tools.2"], Value::Null);
    assert_eq!(state["tools.last_tool_input"], json!({"value": "x"}));
    let listed: Vec<_> = ran.model.requests()[0]
        .tools
        .iter()
        .map(|tool| tool.name.to_string())
        .collect();
    assert_eq!(listed, ["search", "fail"]);
    // One result for each id.
    let results: Vec<_> = ran.model.requests()[1]
        .messages
        .iter()
        .filter_map(|one| one.answers().map(str::to_owned))
        .collect();
    assert_eq!(results.len(), 3);
}

#[tokio::test]
async fn an_executor_on_the_way_runs_the_calls_of_the_agent() {
    let nodes = json!([
        {"id": "boss", "type": "agent", "data": {"isStart": true, "tools": ["search"]}},
        {"id": "tools", "type": "tool", "data": {"save_as": "hits"}},
        {"id": "sum", "type": "agent", "data": {"prompt": "Sum up {{ hits }}."}},
    ]);
    let graph = graph(&file(
        nodes,
        &["boss > tools by tool-call", "tools > sum", "boss > sum"],
        json!({"state": {"hits": {"default": "none"}}}),
    ));
    let model = ScriptedModel::new()
        .reply(call("search", json!({"query": "tea"})))
        .reply("Sum.");
    let ran = run(&graph, model, graph.start(json!({})).unwrap()).await;
    assert_eq!(ran.state()["hits"], "hits for tea");
    assert_eq!(ran.asked()[1], ["user: Sum up hits for tea."]);
}

#[tokio::test]
async fn case_36_max_iterations_counts_the_turns_of_a_visit() {
    let nodes = json!([{"id": "boss", "type": "agent", "data": {"tools": ["search"], "max_iterations": 2, "save_as": "said"}}]);
    let graph = graph(&file(nodes, &["boss > END"], json!({})));
    let again = || call("search", json!({"query": "tea"}));
    let model = ScriptedModel::new().reply(again()).reply("Enough.");
    let ran = run(&graph, model, graph.start(json!({})).unwrap()).await;
    assert_eq!(ran.state()["said"], "Enough.");
    assert!(ran.model.requests()[1].answer_now);
}

#[tokio::test]
async fn case_38_a_missing_value_is_an_error_that_names_it_and_no_marker() {
    let nodes = json!([
        {"id": "r", "type": "router", "data": {"source": "x", "routes": [{"condition": "equals", "value": "1", "handle": "one"}]}},
        {"id": "a", "type": "agent", "data": {"prompt": "First.", "save_as": "late"}},
        {"id": "b", "type": "agent", "data": {"prompt": "Then {{ late }}."}},
    ]);
    let graph = graph(&file(
        nodes,
        &["r > a by one", "r > b", "a > b"],
        json!({"inputs": {"x": {}}}),
    ));
    assert_eq!(graph.warnings().len(), 1);
    let ran = run_with(&graph, &["x"], json!({"x": "2"})).await;
    let error = ran.outcome.unwrap_err();
    assert_eq!(error.category(), Category::PrepError);
    assert!(
        error
            .to_string()
            .contains("the node `b` reads `{{ late }}`"),
        "{error}"
    );
    assert_eq!(ran.model.requests().len(), 0);
}

#[tokio::test]
async fn case_34_json_in_a_text_is_text() {
    let nodes = json!([
        {"id": "desk", "type": "agent", "data": {"save_as": "said"}},
        {"id": "writer", "type": "agent", "data": {}},
    ]);
    let graph = graph(&file(
        nodes,
        &["desk > writer by tool-call", "writer > END", "desk > END"],
        json!({}),
    ));
    let text = r#"I would call {"tool": "writer", "query": "x"} now"#;
    let ran = run_with(&graph, &[text], json!({})).await;
    assert_eq!(
        (ran.state()["said"].clone(), ran.asked().len()),
        (json!(text), 1)
    );
}

#[tokio::test]
async fn case_90_members_of_an_answer_become_values() {
    let nodes = json!([
        {"id": "free", "type": "agent", "data": {"flexible_mode": true, "writes": ["mood"]}},
        {"id": "fixed", "type": "agent", "data": {"output_schema": {"properties": {"city": {"type": "string"}}, "required": ["city"]}, "save_as": "whole"}},
    ]);
    let state = json!({"mood": {"type": "string", "default": "calm"}, "guarded": {"default": 1}, "left": {"default": "out"}});
    let graph = graph(&file(nodes, &["free > fixed"], json!({"state": state})));
    let replies = [
        "Sure:\n```json\n{\"a\": 1, \"mood\": \"glad\", \"guarded\": 2, \"_queue\": 3, \"messages\": []}\n```",
        r#"{"city": "Oslo"}"#,
    ];
    let ran = run_with(&graph, &replies, json!({})).await;
    let state = ran.state();
    assert_eq!(
        (
            state["a"].clone(),
            state["mood"].clone(),
            state["left"].clone()
        ),
        (json!(1), json!("glad"), json!("out"))
    );
    assert_eq!(
        (
            state["guarded"].clone(),
            state.value("_queue"),
            state.value("messages")
        ),
        (json!(1), None, None)
    );
    assert_eq!(
        (state["city"].clone(), state["whole"].clone()),
        (json!("Oslo"), json!({"city": "Oslo"}))
    );
}

#[tokio::test]
async fn case_89_a_file_of_the_front_end_loads_and_runs() {
    let nodes = json!([
        {"id": "1", "type": "agent", "position": {"x": 1, "y": 2}, "data": {
            "label": "Researcher", "isStart": true, "profile_id": 1, "system_prompt": "Find {{ topic }}.", "tools": ["search"], "max_iterations": "5",
            "flexible_mode": false, "output_schema": []}},
        {"id": "2", "type": "tool", "position": {"x": 1, "y": 3}, "data": {"label": "Tool Executor"}},
        {"id": "3", "type": "router", "data": {"label": "Router", "routes": [
            {"id": "r1", "condition": "contains", "value": "leaf", "source": "message", "target_handle": "yes"},
            {"id": "r2", "condition": "equals", "value": "tea", "source": "context", "context_key": "topic", "target_handle": "no"}]}},
        {"id": "4", "type": "agent", "data": {"label": "Writer", "system_prompt": "Write."}},
    ]);
    let edges = [
        "1 > 2 by tool-call",
        "2 > 1 by output",
        "1 > 3 by output",
        "3 > 4 by yes",
        "4 > END by output",
    ];
    let registry = crate::support::registry()
        .model(
            "1",
            ScriptedModel::new()
                .reply(call("search", json!({"query": "tea"})))
                .reply("A leaf."),
        )
        .build()
        .unwrap();
    let graph = crate::support::graph_of(&seed(nodes, &edges), &registry);
    assert_eq!(
        graph.inputs().keys().copied().collect::<Vec<_>>(),
        ["topic"]
    );
    assert!(
        graph
            .start(json!({}))
            .unwrap_err()
            .to_string()
            .contains("\"topic\" is missing")
    );
    let mut run = registry
        .run(ScriptedModel::new().reply("Tea is a leaf."))
        .with_state(graph.start(json!({"topic": "tea"})).unwrap());
    use llmnode_flow::flow::RunExt;
    run.flow(&graph).await.unwrap();
    assert_eq!(run.state().last_text(), "Tea is a leaf.");
    assert_eq!(run.state()["2.output"], "hits for tea");
}

#[tokio::test]
async fn a_profile_that_the_run_does_not_have_is_an_error_before_a_request() {
    let registry = crate::support::registry()
        .model("good", ScriptedModel::new())
        .build()
        .unwrap();
    let nodes = json!([{"id": "a", "type": "agent", "data": {"profile": "good"}}]);
    let graph = crate::support::graph_of(&file(nodes, &[], json!({})), &registry);
    let ran = run_with(&graph, &["x"], json!({})).await;
    let error = ran.outcome.unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(
        error.to_string().contains("asks the model \"good\""),
        "{error}"
    );
    assert_eq!(Run::new(ScriptedModel::new()).models().count(), 0);
    assert_eq!(
        registry
            .run(ScriptedModel::new())
            .models()
            .collect::<Vec<_>>(),
        ["good"]
    );
}

#[tokio::test]
async fn choices_are_taken_from_the_state() {
    let schema = json!({"properties": {"item": {"type": "string"}}, "required": ["item"]});
    let nodes = json!([
        {"id": "choose", "type": "agent", "data": {
            "output_schema": schema, "choices": {"item": "{{ inventory }}"}, "save_as": "chosen"}},
    ]);
    let state = json!({"inventory": {"default": ["key", "lamp"]}});
    let graph = graph(&file(nodes, &["choose > END"], json!({"state": state})));
    let ran = run_with(
        &graph,
        &[r#"{"item": "axe"}"#, r#"{"item": "lamp"}"#],
        json!({}),
    )
    .await;
    assert_eq!(
        (ran.state()["item"].clone(), ran.asked().len()),
        (json!("lamp"), 2)
    );
}

/// An agent that answers with an object, and these settings.
fn agent(settings: Value) -> String {
    let mut data = json!({"prompt": "Rate it.", "output_schema": {"properties": {"score": {"type": "integer"}}, "required": ["score"]}});
    data.as_object_mut()
        .unwrap()
        .extend(settings.as_object().unwrap().clone());
    file(
        json!([{"id": "rate", "type": "agent", "data": data}]),
        &[],
        json!({}),
    )
}

const BAD: &str = r#"{"score": "high"}"#;
const GOOD: &str = r#"{"score": 3}"#;

#[tokio::test]
async fn an_agent_recovers_as_its_settings_say() {
    let model = ScriptedModel::new().reply(GOOD);
    let registry = registry().model("other", model.clone()).build().unwrap();
    for (settings, asked) in [
        (json!({"recover": {"answer": ["model(other)"]}}), 1),
        (
            json!({"recover": {"schema_error": ["repair(1)", "model(other)", "bubble"]}}),
            2,
        ),
        (
            json!({"fallback_model": "other", "recover": {"answer": ["bubble"]}}),
            1,
        ),
    ] {
        let graph = graph_of(&agent(settings.clone()), &registry);
        let first = ScriptedModel::new().otherwise(|_| BAD);
        let mut run = registry
            .run(first.clone())
            .with_state(graph.start(Value::Null).unwrap());
        let outcome = run.flow(&graph).await;
        assert_eq!(first.requests().len(), asked, "{settings}");
        match outcome {
            Ok(_) => assert_eq!(run.state()["score"], 3),
            Err(error) => assert_eq!(error.category(), Category::SchemaError),
        }
        _ = model.clone().reply(GOOD);
    }
    // It is asked after the default steps, too.
    let graph = graph_of(&agent(json!({"fallback_model": "other"})), &registry);
    let low = r#"{"score": "low"}"#;
    let first = [BAD, low, BAD, low]
        .into_iter()
        .fold(ScriptedModel::new(), ScriptedModel::reply);
    let other = ScriptedModel::new().otherwise(|_| GOOD);
    let run = Run::new(first.clone()).model("other", other.clone());
    let mut run = run.with_state(graph.start(Value::Null).unwrap());
    run.flow(&graph).await.unwrap();
    assert_eq!((first.requests().len(), other.requests().len()), (4, 1));
}

#[tokio::test]
async fn an_agent_has_limits_and_examples() {
    let examples = json!([{"input": "Rate tea.", "output": {"score": 9}}]);
    let text = agent(json!({"limits": {"requests": 1}, "examples": examples}));
    let ran = run_with(&graph(&text), &[BAD, GOOD], json!({})).await;
    assert_eq!(
        ran.outcome.as_ref().unwrap_err().category(),
        Category::LimitExceeded
    );
    assert_eq!(
        ran.asked(),
        [[
            "user: Rate tea.",
            r#"assistant: {"score":9}"#,
            "user: Rate it."
        ]]
    );
}

#[test]
fn wrong_settings_of_an_agent_have_their_places() {
    let settings = json!({
        "recover": {"answr": ["bubble"], "final": ["again", "model(othr)"], "rate_limit_error": ["repair(1)"]},
        "limits": {"requests": 0}, "fallback_model": "othr", "examples": [{"input": "x"}],
    });
    let registry = registry()
        .model("other", ScriptedModel::new())
        .build()
        .unwrap();
    let places = |settings: &Value| -> Vec<(String, Option<String>)> {
        let faults = Graph::parse(&agent(settings.clone()), &registry)
            .unwrap_err()
            .faults;
        let place = |pointer: &str| pointer.strip_prefix("/nodes/0/data").unwrap().to_owned();
        faults
            .into_iter()
            .map(|fault| (place(&fault.pointer), fault.proposal))
            .collect()
    };
    let at = |place: &str, meant: Option<&str>| (place.to_owned(), meant.map(str::to_owned));
    assert_eq!(
        places(&settings),
        [at("/examples/0", None), at("/limits/requests", None)]
    );
    let mut rest = settings;
    rest["limits"] = json!({});
    rest["examples"] = json!([]);
    assert_eq!(
        places(&rest),
        [
            at("/fallback_model", Some("other")),
            at("/recover/answr", Some("answer")),
            at("/recover/final/0", None),
            at("/recover/final/1", Some("other")),
        ]
    );
    let misplaced = json!({"recover": {"rate_limit_error": ["repair(1)"]}});
    assert_eq!(places(&misplaced), [at("/recover", None)]);
}
