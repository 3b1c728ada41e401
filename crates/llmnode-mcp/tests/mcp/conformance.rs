//! The conformance suite of the protocol, which `scripts/mcp-servers` installs. It starts this program as a client.

use llmnode_mcp::{Mcp, McpServer};
use llmnode_runtime::{DynNode, Reply, Run, ScriptedModel};
use serde_json::{Value, json};

/// The last argument is the URL of the suite's server. Each of its tools is called once, with the arguments that the suite names.
#[tokio::test]
#[ignore = "needs scripts/mcp-servers"]
async fn client() {
    let url = std::env::args().next_back().unwrap();
    let server = Mcp::http(url).name("suite").asks();
    let server = server.connect().await.unwrap();
    eprintln!("{server:?}");
    let model = ScriptedModel::new().reply(r#"{"value": ""}"#);
    let agent = DynNode::builder("agent")
        .output::<String>()
        .tools(server.tools())
        .build()
        .unwrap();
    Run::new(model.clone())
        .call(&agent.ask("Go."))
        .await
        .unwrap();
    let tools = model.requests()[0].tools.clone();
    for tool in tools.iter() {
        let schema: Value = serde_json::from_str(tool.schema.plain().get()).unwrap();
        let arguments = wanted(&tool.name).unwrap_or_else(|| object(&schema));
        let told = called(&server, &tool.name, arguments).await;
        eprintln!("{}: {told}", tool.name);
    }
    server.close().await;
}

/// The suite says what some tools are to be called with.
fn wanted(tool: &str) -> Option<Value> {
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").ok()?;
    let context: Value = serde_json::from_str(&context).unwrap();
    let calls = context["toolCalls"].as_array()?;
    let call = calls.iter().find(|call| {
        let name = call["name"].as_str();
        name.is_some_and(|name| tool.strip_prefix("suite_") == Some(name))
    });
    Some(call?["arguments"].clone())
}

/// What the model reads of a call; each question is answered with examples.
async fn called(server: &McpServer, name: &str, arguments: Value) -> String {
    let call = Reply::text("").call(name, arguments);
    let model = ScriptedModel::new().reply(call).reply("Done.");
    let agent = DynNode::builder("agent").text().tools(server.tools());
    let ask = agent.build().unwrap().ask("Go.");
    let run = Run::new(model.clone());
    let mut outcome = run.call(&ask).await;
    while let Err(error) = outcome {
        let mut paused = error.paused().unwrap();
        for waiting in paused.waiting() {
            let answer = object(&waiting.question.unwrap().schema);
            paused = paused.answer(&waiting.id, answer).unwrap();
        }
        outcome = run.call(&ask).approve(paused).await;
    }
    let asked = model.requests();
    asked
        .last()
        .unwrap()
        .messages
        .last()
        .unwrap()
        .content
        .clone()
}

fn object(schema: &Value) -> Value {
    let properties = schema["properties"].as_object().cloned();
    let members = properties.unwrap_or_default().into_iter();
    Value::Object(
        members
            .map(|(name, schema)| (name, example(&schema)))
            .collect(),
    )
}

fn example(schema: &Value) -> Value {
    match schema["type"].as_str() {
        Some("number" | "integer") => json!(5),
        Some("boolean") => json!(true),
        Some("string") => json!("five"),
        Some("array") => json!([]),
        Some("null") => Value::Null,
        _ => json!({}),
    }
}
