//! names: AgentBuilder, preamble, memory, conversation, prompt, output, SqliteSessionStore, open, PromptError

use rig::AgentBuilder;
use rig::completion::PromptError;
use rig::sqlite::SqliteSessionStore;
use serde_json::{Value, json};
use tokio_rusqlite::Connection;

use super::model;

async fn answer(
    url: &str,
    folder: &str,
    system: &str,
    question: &str,
) -> Result<String, PromptError> {
    let database = Connection::open(format!("{folder}/chats.db"))
        .await
        .unwrap();
    let store = SqliteSessionStore::open(database).await.unwrap();
    let agent = AgentBuilder::new(model(url))
        .preamble(system)
        .memory(store)
        .conversation("acme-42")
        .build();
    let response = agent.prompt(question).await?;
    Ok(response.output().to_string())
}

pub async fn run(url: &str, folder: &str, system: &str, question: &str) -> Value {
    if question == "-" {
        return json!({"answer": null}); // a question that got no answer is not kept
    }
    match answer(url, folder, system, question).await {
        Ok(answer) => json!({"answer": answer}),
        Err(error) => json!({"error": super::name(&error)}),
    }
}
