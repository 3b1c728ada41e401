//! names: AdapterKind, OpenAI, Anthropic, Gemini, Tool, with_description, with_schema, ChatMessage, user, assistant, ChatRequest, with_system, with_tools, append_message, ToolResponse, exec_chat, tool_calls, fn_arguments, call_id, content, into_first_text, usage, total_tokens

use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatRequest, Tool, ToolCall, ToolResponse};
use serde_json::{Value, json};

use super::client;

fn stock(call: ToolCall) -> ToolResponse {
    let item = call.fn_arguments["item"].as_str().unwrap_or_default();
    ToolResponse::new(call.call_id.clone(), item.len().to_string())
}

/// By hand: the loop over turns.
pub async fn run(url: &str, provider: &str) -> Value {
    let (adapter, model) = match provider {
        "anthropic" => (AdapterKind::Anthropic, "claude-haiku-4-5"),
        "gemini" => (AdapterKind::Gemini, "gemini-3-flash-preview"),
        _ => (AdapterKind::OpenAI, "gpt-5.4-mini"),
    };
    let client = client(url, adapter);
    let tool = Tool::new("stock")
        .with_description("Says how much of an item is in stock.")
        .with_schema(json!({"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]}));
    let mut request = ChatRequest::new(vec![ChatMessage::user("How many pens are there?")])
        .with_system("You keep a shop.")
        .with_tools(vec![tool]);
    let mut tokens = 0;
    for _ in 0..10 {
        let response = match client.exec_chat(model, request.clone(), None).await {
            Ok(response) => response,
            Err(error) => return json!({"error": error.to_string(), "tokens": tokens}),
        };
        tokens += response.usage.total_tokens.unwrap_or(0);
        let calls: Vec<ToolCall> = response.tool_calls().into_iter().cloned().collect();
        if calls.is_empty() {
            return json!({"answer": response.into_first_text(), "tokens": tokens});
        }
        let results: Vec<ToolResponse> = calls.into_iter().map(stock).collect();
        request = request
            .append_message(ChatMessage::assistant(response.content))
            .append_message(results);
    }
    json!({"error": "too many turns", "tokens": tokens})
}
