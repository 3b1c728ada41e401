//! The conformance suite of the protocol, which `scripts/mcp-servers` installs. It starts this program as a client.

use llmnode_mcp::Mcp;
use llmnode_runtime::{DynNode, Run, ScriptedModel};
use serde_json::{Value, json};

use crate::result;

/// The last argument is the URL of the suite's server. Each of its tools is called once.
#[tokio::test]
#[ignore = "needs scripts/mcp-servers"]
async fn client() {
    let url = std::env::args().next_back().unwrap();
    let server = Mcp::http(url).name("suite").connect().await.unwrap();
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
        let properties = schema["properties"]
            .as_object()
            .cloned()
            .unwrap_or_default();
        let values = properties
            .into_iter()
            .map(|(name, schema)| (name, example(&schema)));
        let told = result(&server, &tool.name, Value::Object(values.collect())).await;
        eprintln!("{}: {told}", tool.name);
    }
    server.close().await;
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
