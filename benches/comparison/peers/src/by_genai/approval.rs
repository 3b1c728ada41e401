//! names: AdapterKind, Tool, with_description, with_schema, ChatMessage, user, assistant, ChatRequest, with_system, with_tools, ToolResponse, exec_chat, fn_arguments, call_id, content, tool_calls, first_text

use std::error::Error;
use std::fs::OpenOptions;
use std::io::Write;
use std::time::Duration;

use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatRequest, Tool, ToolResponse};
use serde_json::{Value, json};

use super::{MODEL, client};

fn refund(arguments: &Value) -> String {
    let mut till = OpenOptions::new()
        .create(true)
        .append(true)
        .open("till")
        .unwrap();
    writeln!(till, "{} {}", arguments["order"], arguments["euros"]).unwrap();
    std::thread::sleep(Duration::from_millis(300)); // as a payment does
    "paid back".to_owned()
}

fn save(messages: &[ChatMessage]) -> Result<(), Box<dyn Error>> {
    Ok(std::fs::write(
        "messages.json",
        serde_json::to_string(messages)?,
    )?)
}

/// By hand: the loop over turns. It saves the messages after each step.
async fn drive(
    url: &str,
    system: &str,
    mut messages: Vec<ChatMessage>,
    mut is_approved: bool,
) -> Result<Option<String>, Box<dyn Error>> {
    let client = client(url, AdapterKind::OpenAI);
    let number = json!({"type": "integer"});
    let tool = Tool::new("refund")
        .with_description("Pays money back.")
        .with_schema(json!({"type": "object", "properties": {"order": number, "euros": number}, "required": ["order", "euros"]}));
    loop {
        let last = messages.last().ok_or("no messages")?;
        let calls: Vec<_> = last.content.tool_calls().into_iter().cloned().collect();
        if !calls.is_empty() && !is_approved {
            return Ok(None);
        }
        for call in calls {
            let result = refund(&call.fn_arguments);
            messages.push(ToolResponse::new(call.call_id, result).into());
            save(&messages)?;
        }
        let request = ChatRequest::new(messages.clone())
            .with_system(system)
            .with_tools(vec![tool.clone()]);
        let response = client.exec_chat(MODEL, request, None).await?;
        if let Some(text) = response.first_text() {
            return Ok(Some(text.to_owned()));
        }
        messages.push(ChatMessage::assistant(response.content));
        save(&messages)?;
        is_approved = false;
    }
}

pub async fn run(url: &str, system: &str, letter: &str, word: &str) -> Value {
    let is_approved = word != "ask";
    let messages = match is_approved {
        true => serde_json::from_str(&std::fs::read_to_string("messages.json").unwrap()).unwrap(),
        false => vec![ChatMessage::user(letter)],
    };
    match drive(url, system, messages, is_approved).await {
        Ok(Some(answer)) => json!({"answer": answer}),
        Ok(None) => json!({"error": "paused"}),
        Err(error) => json!({"error": super::name(&error)}),
    }
}
