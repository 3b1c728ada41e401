//! The reference servers, which `scripts/mcp-servers` installs and starts.

use llmnode_mcp::{Mcp, McpServer};
use llmnode_runtime::{DynNode, Reply, Run, ScriptedModel};
use serde_json::json;

use crate::{result, results};

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run scripts/mcp-servers"))
}

async fn everything(server: McpServer) {
    let names = format!("{server:?}");
    assert!(
        names.contains("\"every_echo\"") && names.contains("\"every_get-sum\""),
        "{names}"
    );
    println!("{} tools", names.matches("every_").count());
    let calls = [
        ("every_echo", json!({"message": "hi"})),
        ("every_get-sum", json!({"a": 2, "b": 40})),
        ("every_get-sum", json!({"a": "two"})),
        (
            "every_get-structured-content",
            json!({"location": "Chicago"}),
        ),
        ("every_get-resource-links", json!({"count": 2})),
    ];
    let told = results(server.tools(), &calls).await;
    println!("{told:#?}");
    assert!(told[0].contains("hi") && told[1].contains("42"), "{told:?}");
    assert!(
        told[2].contains("a: ") && told[2].contains("missing property `b`"),
        "{told:?}"
    );
    assert!(told[3].contains("temperature"), "{told:?}");
    assert!(told[4].contains("://"), "{told:?}");

    let image = Reply::text("").call("every_get-tiny-image", json!({}));
    let model = ScriptedModel::new()
        .reply(image)
        .reply(r#"{"value": "a logo"}"#);
    let agent = DynNode::builder("agent")
        .output::<String>()
        .tools(server.tools())
        .build()
        .unwrap();
    Run::new(model.clone())
        .call(&agent.ask("What is it?"))
        .await
        .unwrap();
    assert_eq!(
        model.requests()[1]
            .messages
            .iter()
            .map(|one| one.attachments().count())
            .sum::<usize>(),
        1
    );
    server.close().await;
}

#[tokio::test]
#[ignore = "needs scripts/mcp-servers"]
async fn everything_over_standard_streams() {
    everything(
        Mcp::stdio(variable("LLMNODE_MCP_EVERYTHING"), ["stdio"])
            .name("every")
            .connect()
            .await
            .unwrap(),
    )
    .await;
}

#[tokio::test]
#[ignore = "needs scripts/mcp-servers"]
async fn everything_over_http() {
    everything(
        Mcp::http(variable("LLMNODE_MCP_URL"))
            .name("every")
            .connect()
            .await
            .unwrap(),
    )
    .await;
}

#[tokio::test]
#[ignore = "needs scripts/mcp-servers"]
async fn files() {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("files");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("note.txt"), "The ship sails on Friday.").unwrap();
    let files = Mcp::stdio(variable("LLMNODE_MCP_FILES"), [&folder])
        .name("files")
        .connect()
        .await
        .unwrap();
    let told = result(
        &files,
        "files_read_text_file",
        json!({"path": folder.join("note.txt")}),
    )
    .await;
    assert!(told.contains("The ship sails on Friday."), "{told}");
    let told = result(
        &files,
        "files_read_text_file",
        json!({"path": "/etc/passwd"}),
    )
    .await;
    assert!(told.contains("denied") && !told.contains("root:"), "{told}");
}
