//! names: tool, require_approval, idempotent, llm_node, system, prompt, state, tools, Run, with_state, call, conversation, approve, resume, Conversations, sqlite, open, lease, Chat, paused, waiting, decide, Approval, yes, unfinished, NodeError, category, id

use std::fs::OpenOptions;
use std::io::Write;
use std::time::Duration;

use llmnode::chats::{Chat, Conversations};
use llmnode::prelude::*;
use serde_json::{Value, json};

use crate::model;

/// Pays money back.
#[tool(require_approval, idempotent = false)]
fn refund(order: u32, euros: u32) -> String {
    let mut till = OpenOptions::new()
        .create(true)
        .append(true)
        .open("till")
        .unwrap();
    writeln!(till, "{order} {euros}").unwrap();
    std::thread::sleep(Duration::from_millis(300)); // as a payment does
    "paid back".to_owned()
}

struct Shop {
    manners: String,
}

#[llm_node(system = "{state.manners}", prompt = "{letter}", state = Shop, tools = [Refund])]
struct Support<'a> {
    letter: &'a str,
}

/// A person agrees to all calls that wait; what a dead process began goes on.
async fn agree(run: &Run<Shop>, chat: &Chat, node: &Support<'_>) -> Result<String, NodeError> {
    if let Some(mut paused) = chat.paused().await? {
        let calls: Vec<String> = paused
            .waiting()
            .iter()
            .map(|call| call.id.clone())
            .collect();
        for call in calls {
            paused = chat.decide(&call, Approval::yes()).await?;
        }
        return run.call(node).conversation(chat).approve(paused).await;
    }
    match chat.unfinished().await? {
        Some(unfinished) => run.call(node).conversation(chat).resume(unfinished).await,
        None => run.call(node).conversation(chat).await,
    }
}

pub async fn run(url: &str, folder: &str, system: &str, letter: &str, word: &str) -> Value {
    let run = Run::new(model(url)).with_state(Shop {
        manners: system.to_owned(),
    });
    let chats = Conversations::sqlite(format!("{folder}/chats.db")).unwrap();
    let chat = chats
        .open("order/17")
        .await
        .unwrap()
        .lease(Duration::from_secs(2));
    let node = Support { letter };
    let answer = match word {
        "ask" => run.call(&node).conversation(&chat).await,
        _ => agree(&run, &chat, &node).await,
    };
    match answer {
        Ok(answer) => json!({"answer": answer}),
        Err(error) => json!({"error": error.category().to_string()}),
    }
}
