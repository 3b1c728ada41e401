//! A graph from a front end's file against llama.cpp: whatever the random model says, each request is accounted for, and the run
//! ends as the design says.

use llmnode::graph::{Graph, Registry};
use llmnode::prelude::*;
use llmnode::{Approval, Category, Group, OpenAi, Settings, Toolset};
use serde_json::json;

use crate::support::{key, tools_url};

/// A planner fills a list; for each topic a researcher searches or hands over to a writer; a person lets the editor run.
fn file() -> String {
    let nodes = json!([
        {"id": "plan", "type": "agent", "data": {"label": "Planner", "isStart": true, "profile_id": 1, "system_prompt": "You plan {{ theme }}.",
            "output_schema": [{"name": "topics", "type": "array", "description": "What to look for."}]}},
        {"id": "each", "type": "iterator", "data": {"label": "Topics", "input_list_variable": "topics", "output_item_variable": "topic"}},
        {"id": "research", "type": "agent", "data": {"label": "Researcher", "profile_id": 1, "tools": ["web_search"], "max_iterations": "4"}},
        {"id": "tools", "type": "tool", "data": {"label": "Tool Executor"}},
        {"id": "write", "type": "agent", "data": {"label": "Writer", "profile_id": 1, "system_prompt": "You write.", "save_as": "text"}},
        {"id": "route", "type": "router", "data": {"label": "Router", "routes": [
            {"condition": "regex", "value": ".", "source": "context", "context_key": "text", "target_handle": "go"}]}},
        {"id": "edit", "type": "agent", "data": {"label": "Editor", "profile_id": 1, "prompt": "Edit.", "require_approval": true}},
        {"id": "rescue", "type": "tool", "data": {"label": "Rescue", "tool_name": "web_search", "arguments": {"value": "{{ error.category }}"}}},
    ]);
    let edge = |source: &str, target: &str, handle: &str| json!({"source": source, "target": target, "sourceHandle": handle});
    let edges = json!([
        edge("plan", "each", "output"),
        edge("plan", "rescue", "error"),
        edge("each", "research", "next"),
        edge("research", "tools", "tool-call"),
        edge("tools", "research", "output"),
        edge("research", "write", "tool-call"),
        edge("research", "each", "output"),
        edge("research", "each", "error"),
        edge("write", "each", "output"),
        edge("write", "each", "error"),
        edge("each", "route", "complete"),
        edge("route", "edit", "go"),
        edge("edit", "END", "output"),
        edge("rescue", "END", "output"),
    ]);
    json!({"nodes": nodes, "edges": edges}).to_string()
}

#[tokio::test]
#[ignore = "needs scripts/real-components"]
async fn a_graph_runs_on_a_random_model() {
    let model =
        || OpenAi::builder().base_url(tools_url()).api_key(key()).model("tiny-random").build().unwrap();
    let tools = Toolset::new().function("web_search", "Searches the web.", |query: String| async move {
        Ok::<_, llmnode::BoxError>(format!("{} characters", query.chars().count()))
    });
    let (mut ended, mut asked, mut taken) = (0, 0, 0);
    for seed in 0..12_u64 {
        let settings = Settings::new()
            .temperature(1.0)
            .max_tokens(200)
            .extra("seed", seed)
            .extra("logit_bias", json!([["{", 1.2]]));
        let registry =
            Registry::new().tools(tools.clone()).model_with("1", model(), settings).build().unwrap();
        let graph = Graph::parse(&file(), &registry).unwrap();
        let mut run = registry.run(model()).with_state(graph.start(json!({"theme": "tea"})).unwrap());
        let mut outcome = run.flow(&graph).max_steps(60).report().await;
        let waits = outcome.as_ref().err().filter(|error| error.category() == Category::Paused);
        if let Some(paused) = waits.map(|error| error.paused().unwrap()) {
            let decided = paused.decide("edit", Approval::yes()).unwrap();
            outcome = run.flow(&graph).approve(decided).max_steps(60).report().await;
        }
        match outcome {
            Ok(report) => {
                ended += 1;
                taken += report.record.taken;
            }
            Err(error) => assert!(
                error.category() == Category::LimitExceeded || error.category().group() != Group::Stop,
                "{error}"
            ),
        }
        // Every request stands under a node of the graph.
        let (report, total) = (run.ledger().report(), run.ledger().total());
        let of_nodes: u64 = ["plan", "research", "write", "edit"]
            .iter()
            .filter_map(|id| report.nodes.get(*id))
            .map(|node| node.usage.requests)
            .sum();
        assert_eq!(of_nodes, total.requests);
        asked += total.requests;
    }
    println!("12 runs: {ended} ended, {asked} requests, {taken} steps in the last parts of those that ended");
    assert!(asked >= 12);
}
