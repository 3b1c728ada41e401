//! names: AdapterKind, ChatRequest, ChatMessage, user, assistant, with_system, append_message, exec_chat, content

use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatRequest};
use serde_json::{Value, json};
use tokio_rusqlite::{Connection, params};

use super::{MODEL, client};

const TABLE: &str =
    "CREATE TABLE IF NOT EXISTS message (chat TEXT, n INTEGER, json TEXT, PRIMARY KEY (chat, n))";

/// By hand: the table. Its key refuses the second of two turns at once.
async fn history(database: &Connection, chat: &'static str) -> Vec<ChatMessage> {
    let read = database.call(move |database| {
        database.execute(TABLE, [])?;
        let mut found = database.prepare("SELECT json FROM message WHERE chat = ? ORDER BY n")?;
        let rows = found.query_map(params![chat], |row| row.get::<_, String>(0))?;
        let texts: Vec<String> = rows.collect::<Result<_, _>>()?;
        Ok(texts)
    });
    let texts = read.await.unwrap();
    texts
        .iter()
        .map(|text| serde_json::from_str(text).unwrap())
        .collect()
}

async fn append(
    database: &Connection,
    chat: &'static str,
    from: usize,
    turn: [ChatMessage; 2],
) -> Result<(), tokio_rusqlite::Error> {
    let write = database.call(move |database| {
        let transaction = database.transaction()?;
        for (at, message) in turn.iter().enumerate() {
            let text = serde_json::to_string(message).unwrap();
            transaction.execute(
                "INSERT INTO message VALUES (?, ?, ?)",
                params![chat, from + at, text],
            )?;
        }
        transaction.commit()?;
        Ok(())
    });
    write.await
}

async fn answer(
    url: &str,
    folder: &str,
    system: &str,
    question: &str,
) -> Result<String, Box<dyn std::error::Error>> {
    let client = client(url, AdapterKind::OpenAI);
    let database = Connection::open(format!("{folder}/chats.db")).await?;
    let history = history(&database, "acme/42").await;
    let asked = ChatMessage::user(question);
    let kept = history.len();
    let request = ChatRequest::new(history)
        .with_system(system)
        .append_message(asked.clone());
    let response = client.exec_chat(MODEL, request, None).await?;
    let text = response.first_text().unwrap_or_default().to_owned();
    let turn = [asked, ChatMessage::assistant(response.content)];
    append(&database, "acme/42", kept, turn).await?;
    Ok(text)
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
