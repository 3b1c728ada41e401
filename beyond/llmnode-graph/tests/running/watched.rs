//! What hooks see of a step: the branches of a fork, and agents that are tools of another one.

use llmnode_flow::flow::{FlowEvent, RunExt};
use llmnode_runtime::{Category, Event, Reply, Run, ScriptedModel, TokenUsage};
use serde_json::{Value, json};

use crate::support::{file, graph};

fn asks(id: &str) -> Value {
    json!({"id": id, "type": "agent", "data": {"prompt": format!("{id}?"), "save_as": id}})
}

/// A fork of `left`, which `then` follows, and `right`.
fn fork() -> String {
    let nodes = json!([
        asks("start"),
        asks("left"),
        asks("then"),
        asks("right"),
        asks("end")
    ]);
    file(
        nodes,
        &[
            "start > left",
            "left > then",
            "then > end",
            "start > right",
            "right > end",
        ],
        json!({}),
    )
}

#[tokio::test]
async fn the_branches_of_a_fork_are_told_below_its_step() {
    let graph = graph(&fork());
    let model = ScriptedModel::new().otherwise(|request| {
        let asked = request
            .messages
            .last()
            .map(|message| message.content.clone())
            .unwrap_or_default();
        Reply::pieces([asked.as_str(), "!"]).usage(TokenUsage::new(10, 1))
    });
    let mut run = Run::new(model).with_state(graph.start(json!({})).unwrap());
    let (mut texts, mut steps) = (Vec::new(), Vec::new());
    run.flow(&graph)
        .on_event(|at, event| {
            if let Event::Text(text) = event {
                texts.push(format!("{at}: {text}"));
            }
        })
        .on_step(|event| match event {
            FlowEvent::StepBegins { position, node, .. } => {
                steps.push(format!("{position} ({node})"))
            }
            FlowEvent::StepEnded { step, next, .. } => {
                let (tokens, next) = (step.usage.total.known, next.map(ToString::to_string));
                steps.push(format!(
                    "{}: {tokens}, {}",
                    step.position,
                    next.unwrap_or_default()
                ));
            }
            _ => {}
        })
        .await
        .unwrap();
    assert_eq!(
        texts
            .iter()
            .filter(|text| text.starts_with("left & right/left"))
            .collect::<Vec<_>>(),
        ["left & right/left: left?", "left & right/left: !"]
    );
    for text in [
        "start: start?",
        "left & right/then: then?",
        "left & right/right: right?",
        "end: end?",
    ] {
        assert!(texts.iter().any(|one| one == text), "{text}: {texts:?}");
    }
    let of = |label: &str| -> Vec<&str> {
        let own = steps
            .iter()
            .filter(|step| step.split([':', ' ']).next() == Some(label));
        own.map(String::as_str).collect()
    };
    assert_eq!(of("start"), ["start (agent)", "start: 11, left & right"]);
    let of_fork: Vec<_> = steps
        .iter()
        .filter(|step| step.starts_with("left & right"))
        .collect();
    assert_eq!(of_fork[0], "left & right (parallel)");
    assert_eq!(
        *of_fork.last().unwrap(),
        "left & right: 33, end",
        "with all that its branches used"
    );
    for step in [
        "left & right/left (agent)",
        "left & right/left: 11, left & right/then",
        "left & right/then: 11, ",
        "left & right/right: 11, ",
    ] {
        assert!(of_fork.iter().any(|one| *one == step), "{step}: {steps:?}");
    }
    assert_eq!(of_fork.len(), 8);
}

#[tokio::test]
async fn a_branch_that_fails_and_one_that_is_cancelled_are_told() {
    let graph = graph(&fork());
    let model = ScriptedModel::new()
        .reply("1")
        .reply(Reply::failure(Category::QuotaError))
        .otherwise(|_| Reply::text("late").after(std::time::Duration::from_secs(3600)));
    let mut ran = Run::new(model).with_state(graph.start(json!({})).unwrap());
    let mut ended = Vec::new();
    let outcome = ran.flow(&graph).on_step(|event| {
        if let FlowEvent::StepEnded { step, .. } = event {
            ended.push((step.position.to_string(), step.category));
        }
    });
    assert_eq!(outcome.await.unwrap_err().category(), Category::QuotaError);
    ended.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(
        ended,
        [
            ("left & right".to_owned(), Some(Category::QuotaError)),
            ("left & right/left".to_owned(), Some(Category::QuotaError)),
            ("left & right/right".to_owned(), Some(Category::Cancelled)),
            ("start".to_owned(), None),
        ]
    );
}

#[tokio::test]
async fn an_agent_that_is_a_tool_is_heard_below_the_one_that_calls_it() {
    let nodes = json!([
        {"id": "boss", "type": "agent", "data": {"isStart": true}},
        {"id": "helper", "type": "agent", "data": {"label": "Helper"}},
    ]);
    let graph = graph(&file(
        nodes,
        &["boss > helper by tool-call", "helper > boss", "boss > END"],
        json!({}),
    ));
    let model = ScriptedModel::new()
        .reply(Reply::text("").call("Helper", json!({"query": "Help."})))
        .reply("I help.")
        .reply("Done.");
    let mut run = Run::new(model).with_state(graph.start(json!({})).unwrap());
    let mut heard = Vec::new();
    run.flow(&graph)
        .on_event(|at, event| heard.push(format!("{at}: {event:?}")))
        .await
        .unwrap();
    assert!(heard[0].starts_with("boss: ToolCalls("), "{heard:?}");
    assert_eq!(heard[1], r#"boss/helper: Text("I help.")"#);
    assert!(heard[2].starts_with("boss: ToolResult "), "{heard:?}");
    assert_eq!(
        (heard[3].as_str(), heard.len()),
        (r#"boss: Text("Done.")"#, 4)
    );
}
