//! names: llm_node, system, prompt, Run, call, conversation, resume, Conversations, sqlite, open, lease, unfinished, messages, content, NodeError, category

use std::time::Duration;

use llmnode::chats::Conversations;
use llmnode::prelude::*;
use serde_json::{Value, json};

use crate::model;

#[llm_node(system = "{system}", prompt = "{question}")]
struct Answer<'a> {
    system: &'a str,
    question: String,
}

/// Without a question, goes on with the one that got no answer.
async fn answer(
    run: &Run,
    folder: &str,
    system: &str,
    question: Option<&str>,
) -> Result<Option<String>, NodeError> {
    let chats = Conversations::sqlite(format!("{folder}/chats.db"))?;
    let chat = chats.open("acme/42").await?.lease(Duration::from_secs(2));
    let unfinished = match question {
        Some(_) => None,
        None => chat.unfinished().await?,
    };
    let asked = unfinished
        .as_ref()
        .map(|turn| turn.messages()[0].content.clone());
    let Some(question) = question.map(str::to_owned).or(asked) else {
        return Ok(None);
    };
    let node = Answer { system, question };
    let mut call = run.call(&node).conversation(&chat);
    if let Some(unfinished) = unfinished {
        call = call.resume(unfinished);
    }
    call.await.map(Some)
}

pub async fn run(url: &str, folder: &str, system: &str, question: &str) -> Value {
    let run = Run::new(model(url));
    let question = Some(question).filter(|question| *question != "-");
    match answer(&run, folder, system, question).await {
        Ok(answer) => json!({"answer": answer}),
        Err(error) => json!({"error": error.category().to_string()}),
    }
}
