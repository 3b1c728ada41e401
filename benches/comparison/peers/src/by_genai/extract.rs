//! names: Client, AdapterKind, ChatRequest, ChatMessage, user, assistant, append_message, ChatOptions, with_response_format, JsonSpec, exec_chat, usage, total_tokens, into_first_text

use futures::future::join_all;
use genai::Client;
use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatOptions, ChatRequest, JsonSpec};
use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{MODEL, client};

/// An invoice.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Invoice {
    number: String,
    #[schemars(range(min = 0.0))]
    total: f64,
}

struct Read {
    outcome: String,
    tokens: i32,
}

pub async fn run(url: &str, letters: &[String]) -> Value {
    let client = client(url, AdapterKind::OpenAI);
    let invoices = join_all(letters.iter().map(|letter| read(&client, letter))).await;
    let outcomes: Vec<&String> = invoices.iter().map(|invoice| &invoice.outcome).collect();
    let tokens: i32 = invoices.iter().map(|invoice| invoice.tokens).sum();
    json!({"outcomes": outcomes, "tokens": tokens, "money": null})
}

/// By hand: corrections, retries.
async fn read(client: &Client, letter: &str) -> Read {
    let schema = JsonSpec::new("invoice", schema_for!(Invoice).to_value());
    let options = ChatOptions::default().with_response_format(schema);
    let ask = format!("Extract the invoice from this letter:\n{letter}");
    let mut request = ChatRequest::new(vec![ChatMessage::user(ask)]);
    let mut tokens = 0;
    let mut outcome = String::new();
    for _ in 0..3 {
        let response = match client
            .exec_chat(MODEL, request.clone(), Some(&options))
            .await
        {
            Ok(response) => response,
            Err(error) => {
                outcome = super::name(&error);
                let Some(wait) = super::wait(&error) else {
                    break;
                };
                tokio::time::sleep(wait).await;
                continue;
            }
        };
        tokens += response.usage.total_tokens.unwrap_or(0);
        let text = response.into_first_text().unwrap_or_default();
        let wrong = match serde_json::from_str::<Invoice>(&text) {
            Ok(Invoice { number, total }) if total >= 0.0 => {
                let outcome = format!("{number} {total}");
                return Read { outcome, tokens };
            }
            Ok(_) => "the total is negative".to_owned(),
            Err(error) => error.to_string(),
        };
        request = request
            .append_message(ChatMessage::assistant(text))
            .append_message(ChatMessage::user(format!("That is wrong: {wrong}")));
        outcome = wrong;
    }
    Read { outcome, tokens }
}
