//! Agents of graphs whose conversation becomes too long.

use llmnode_flow::flow::RunExt;
use llmnode_graph::Registry;
use llmnode_runtime::{
    BoxError, Category, FnModel, Message, ModelError, Reply, Request, Run, TokenUsage, Toolset,
};
use serde_json::{Value, json};

use crate::support::{file, graph_of};

const WINDOW: u64 = 8_192;
const PAGES: u64 = 30;

fn tools() -> Toolset {
    let schema = json!({"type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"]});
    Toolset::new().json_function("read", "Reads a page.", schema, |page: Value| async move {
        Ok::<_, BoxError>(format!("page {}: {}", page["page"], "x".repeat(1_500)))
    })
}

fn newest_page(request: &Request) -> Option<u64> {
    let calls = request.messages.iter().flat_map(Message::calls);
    let pages = calls.filter_map(|call| {
        let arguments: Value = serde_json::from_str(&call.arguments).ok()?;
        arguments["page"].as_u64()
    });
    pages.max()
}

/// Refuses what is longer than its window, and reads page after page.
fn reader() -> FnModel {
    FnModel::new(|request| {
        let bytes: usize = request.messages.iter().map(|one| one.content.len()).sum();
        let input = bytes as u64 / 4;
        if input > WINDOW {
            let said = format!("exceeds the available context size ({WINDOW} tokens)");
            return Reply::error(ModelError::new(Category::ContextLengthError, said));
        }
        let reply = match newest_page(request).map_or(0, |page| page + 1) {
            PAGES => Reply::text("Done."),
            page => Reply::text("").call("read", json!({"page": page})),
        };
        reply.usage(TokenUsage::new(input, 20))
    })
}

/// Sums up what `reader` has read, and answers nothing else.
fn cheap() -> FnModel {
    FnModel::new(|request| {
        assert!(
            request.messages[0].content.starts_with("Sum up"),
            "{request:?}"
        );
        Reply::json(json!({"binding": ["Never ship before Friday."], "done": ["read pages"]}))
    })
}

/// The agent and what its executor shows, with these settings of `compact`.
async fn run(compact: Value) -> (Run<llmnode_graph::State>, FnModel) {
    let nodes = json!([
        {"id": "boss", "type": "agent", "data": {
            "isStart": true, "tools": ["read"], "max_iterations": 60, "save_as": "said", "compact": compact,
            "prompt": "What do the pages say? Never ship before Friday."
        }},
        {"id": "seen", "type": "tool", "data": {}},
    ]);
    let model = reader();
    let registry = Registry::new()
        .tools(tools())
        .model("cheap", cheap())
        .build()
        .unwrap();
    let edges = ["boss > seen by tool-call", "seen > boss", "boss > END"];
    let graph = graph_of(&file(nodes, &edges, json!({})), &registry);
    let state = graph.start(json!({})).unwrap();
    let mut run = registry.run(model.clone()).with_state(state);
    run.flow(&graph).await.unwrap();
    (run, model)
}

/// An executor beside the agent shows what tools returned, and not what the model is sent for it.
fn assert_trace_is_whole(state: &llmnode_graph::State) {
    for page in 0..PAGES {
        let result = &state[&*format!("seen.tools.{page}.result")];
        let text = result.as_str().unwrap_or_default();
        assert!(
            text.starts_with(&format!("page {page}: xxx")),
            "{page}: {text}"
        );
    }
}

#[tokio::test]
async fn old_results_are_left_out_of_an_agent_with_compact() {
    let ran = run(json!({"keep": 3, "window": WINDOW})).await;
    assert_eq!(ran.0.state()["said"], "Done.");
    let requests = ran.1.requests();
    assert_eq!(requests.len() as u64, PAGES + 1, "none was refused");
    let last = &requests.last().unwrap().messages;
    let left_out = last.iter().filter(|one| one.content.ends_with("left out]"));
    assert!(left_out.count() > 10);
    assert_trace_is_whole(ran.0.state());
}

#[tokio::test]
async fn a_registered_model_sums_up_what_is_older() {
    let compact = json!({"keep": 3, "at": 2_500, "with": "cheap"});
    let ran = run(compact).await;
    assert_eq!(ran.0.state()["said"], "Done.");
    let nodes = ran.0.ledger().snapshot().nodes;
    let summaries = nodes["boss_summary"].usage.requests;
    assert!(summaries >= 2, "{summaries}");
    assert_eq!(nodes["boss"].usage.requests, PAGES + 1);
    let requests = ran.1.requests();
    let last = &requests.last().unwrap().messages;
    let summary = last.iter().find(|one| one.content.starts_with("[Summary"));
    let summary = &summary.unwrap().content;
    assert!(summary.contains("read pages"), "{summary}");
    assert_trace_is_whole(ran.0.state());
}
