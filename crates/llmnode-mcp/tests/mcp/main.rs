//! Tools of a scripted server, over standard streams and over HTTP.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

mod asks;
mod conformance;
mod faults;
mod headers;
mod http;
mod reference;
mod server;
mod stdio;

use llmnode_mcp::McpServer;
use llmnode_runtime::{DynNode, Reply, Run, ScriptedModel, Toolset};
use serde_json::Value;

/// The server that [`stdio`] starts.
#[test]
#[ignore = "is started by the other tests"]
fn child() {
    server::serve();
}

/// What the model reads after it called these tools in one response, each as `name: result`.
async fn results(tools: Toolset, calls: &[(&str, Value)]) -> Vec<String> {
    let reply = calls
        .iter()
        .fold(Reply::text(""), |reply, (name, arguments)| {
            reply.call(name, arguments.clone())
        });
    let model = ScriptedModel::new()
        .reply(reply)
        .reply(r#"{"value": "done"}"#);
    let run = Run::new(model.clone());
    let agent = DynNode::builder("agent")
        .output::<String>()
        .tools(tools)
        .build()
        .unwrap();
    assert_eq!(run.call(&agent.ask("Go.")).await.unwrap(), "done");
    let asked = model.requests();
    asked[1]
        .messages
        .iter()
        .filter(|message| message.answers().is_some())
        .map(|message| message.content.clone())
        .collect()
}

async fn result(server: &McpServer, name: &str, arguments: Value) -> String {
    results(server.tools(), &[(name, arguments)])
        .await
        .remove(0)
}
