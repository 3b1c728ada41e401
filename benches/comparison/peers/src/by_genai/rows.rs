//! names: Client, AdapterKind, ChatRequest, ChatMessage, user, with_system, ChatOptions, with_response_format, JsonSpec, exec_chat, into_first_text

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::Write;

use futures::StreamExt;
use futures::stream;
use genai::Client;
use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatOptions, ChatRequest, JsonSpec};
use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{MODEL, client};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Label {
    topic: String,
}

/// By hand: a file of what is done. It has a line for each row.
pub async fn run(url: &str, folder: &str, ask: &str, rows: usize) -> Value {
    let client = client(url, AdapterKind::OpenAI);
    let path = format!("{folder}/done.jsonl");
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let kept: HashSet<usize> = kept
        .lines()
        .filter_map(|line| line.split(' ').next()?.parse().ok())
        .collect();
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .unwrap();
    let left: Vec<usize> = (0..rows).filter(|row| !kept.contains(row)).collect();
    let mut done = rows - left.len();
    let mut labels = stream::iter(left)
        .map(|row| sort(&client, ask, row))
        .buffer_unordered(32);
    let mut failed = None;
    while let Some(label) = labels.next().await {
        match label {
            Ok((row, topic)) => {
                writeln!(file, "{row} {topic}").unwrap();
                done += 1;
            }
            Err(error) => failed = Some(error),
        }
    }
    json!({"done": done, "error": failed})
}

/// By hand: retries. Up to ten requests, with the waits that the provider asks for.
async fn sort(client: &Client, ask: &str, row: usize) -> Result<(usize, String), String> {
    let schema = JsonSpec::new("label", schema_for!(Label).to_value());
    let options = ChatOptions::default().with_response_format(schema);
    let letter = ChatMessage::user(format!("letter {row:04}"));
    let request = ChatRequest::new(vec![letter]).with_system(ask);
    let mut tries = 0;
    loop {
        let error = match client
            .exec_chat(MODEL, request.clone(), Some(&options))
            .await
        {
            Ok(response) => {
                let text = response.into_first_text().unwrap_or_default();
                let label: Label =
                    serde_json::from_str(&text).map_err(|error| error.to_string())?;
                return Ok((row, label.topic));
            }
            Err(error) => error,
        };
        tries += 1;
        let Some(wait) = super::wait(&error).filter(|_| tries < 10) else {
            return Err(error.to_string());
        };
        tokio::time::sleep(wait).await;
    }
}
