//! Arguments that are sent as headers, too, since the list of tools says so.

use llmnode_mcp::{Mcp, McpServer};
use serde_json::{Value, json};

use crate::http::listen;
use crate::{result, server};

fn tool(name: &str, header: &str) -> Value {
    let region = json!({"type": "string", "x-mcp-header": header});
    json!({"name": name, "inputSchema": {"type": "object", "properties": {"region": region}}})
}

/// A server that refuses calls whose header is missing.
async fn connected() -> McpServer {
    let http = listen(|head, body| {
        let message: Value = serde_json::from_slice(body).unwrap_or_default();
        let Some(id) = message.get("id") else {
            return ("202 Accepted".to_owned(), String::new());
        };
        let answered = match message["method"].as_str() {
            Some("tools/list") => {
                let tools = [tool("look", "Region"), tool("bad", "no header")];
                json!({"tools": tools})
            }
            Some("tools/call") if head.contains("mcp-param-region: eu") => {
                json!({"content": [{"type": "text", "text": "seen"}]})
            }
            Some("tools/call") => json!({"content": [], "isError": true}),
            _ => {
                let answer = server::answer("modern", &message).unwrap();
                return ("200 OK".to_owned(), answer.to_string());
            }
        };
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": answered});
        ("200 OK".to_owned(), answer.to_string())
    })
    .await;
    let server = Mcp::http(http.url).name("far");
    server.connect().await.unwrap()
}

#[tokio::test]
async fn arguments_are_sent_as_headers_also_over_a_new_connection() {
    let server = connected().await;
    assert_eq!(
        result(&server, "far_look", json!({"region": "eu"})).await,
        "seen"
    );
    server.close().await;
    assert_eq!(
        result(&server, "far_look", json!({"region": "eu"})).await,
        "seen"
    );
}

#[tokio::test]
async fn a_tool_that_asks_for_a_forbidden_header_is_left_out_by_name() {
    let server = connected().await;
    let left_out = server.left_out();
    assert!(left_out["bad"].contains("x-mcp-header"), "{left_out:?}");
    assert_eq!(left_out.len(), 1);
}
