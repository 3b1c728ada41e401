//! The example `cases` with a plain async-openai client in place of llmnode: the same servers, the same lines, as far
//! as what its errors say allows. Its own retries are on, as they are by default; it has none for a bad answer.
//!
//! ```text
//! cargo run --release --manifest-path benches/Cargo.toml --bin cases -- http-faults.jsonl
//! ```
//!
//! Its waits cost their time, so that all rows run at once, each for at most [`LIMIT`]. A row that is not done by
//! then is told as `"waiting"`, with the requests that were made until then. Keys are looked for in `Display` and
//! `Debug` of the error alone.

use std::error::Error;
use std::time::Duration;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use async_openai::types::chat::{
    ChatCompletionRequestUserMessage, CreateChatCompletionRequest, CreateChatCompletionRequestArgs,
    CreateChatCompletionResponse, ResponseFormat, ResponseFormatJsonSchema,
};
use serde_json::{Value, json};

use self::outcome::{category, judge};
use self::server::{Response, Server, stays_here};

#[path = "../../../../examples/cases/body.rs"]
mod body;
#[path = "../../../../examples/cases/connection.rs"]
mod connection;
#[path = "../../../../examples/cases/gzip.rs"]
mod gzip;
#[path = "../../../../examples/cases/http_date.rs"]
mod http_date;
mod outcome;
#[path = "../../../../examples/cases/server.rs"]
mod server;

const LIMIT: Duration = Duration::from_secs(90);
const CANARY: &str = "sk-test-SECRET-0123456789";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args()
        .nth(1)
        .ok_or("usage: cases FILE, with one JSON object a line")?;
    rustls::crypto::ring::default_provider()
        .install_default()
        .map_err(|_| "a TLS provider was there")?;
    let file = std::fs::read_to_string(path)?;
    let rows = file
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let local = tokio::task::LocalSet::new();
    let runs = rows
        .filter(|row| row["server"].is_object())
        .map(|row| (row["id"].clone(), local.spawn_local(answer(row))));
    for (id, run) in runs.collect::<Vec<_>>() {
        // The client panics over keys that no header can hold.
        let panicked = |_| json!({"id": id, "category": "panic", "first": "panic", "retry": "no", "requests": 0});
        println!("{}", local.run_until(run).await.unwrap_or_else(panicked));
    }
    Ok(())
}

async fn answer(row: Value) -> Value {
    let tools = row["client"]["output"] == "tools" || row["client"].get("tools").is_some();
    if row["stream"] == true || tools {
        return json!({"id": row["id"], "skipped": "needs streams or tools"});
    }
    match run(&row).await {
        Ok(answer) => answer,
        Err(error) => json!({"id": row["id"], "error": error.to_string()}),
    }
}

async fn run(row: &Value) -> Result<Value, Box<dyn Error>> {
    let client = &row["client"];
    let server = Server::start(Response::sequence(row)?).await?;
    let base_url = client["base_url"]
        .as_str()
        .map_or_else(|| server.base_url(), str::to_owned);
    if !stays_here(&base_url) {
        return Err("the base URL leads to another machine, which is never asked".into());
    }
    let key = client["api_key"]
        .as_str()
        .unwrap_or(if server.is_never_asked() { "" } else { CANARY });
    let config = OpenAIConfig::new()
        .with_api_base(base_url)
        .with_api_key(key);
    let milliseconds =
        |field: &str, default| Duration::from_millis(client[field].as_u64().unwrap_or(default));
    let http = reqwest::Client::builder()
        .connect_timeout(milliseconds("connect_timeout_ms", 500))
        .timeout(milliseconds("timeout_ms", 10_000))
        .no_proxy()
        .build()?;
    let chat = Client::build(http, config);
    let asked = tokio::time::timeout(LIMIT, chat.chat().create(request(client)?)).await;
    let (category, usage, leaks) = match &asked {
        Err(_) => ("waiting", Value::Null, 0),
        Ok(Ok(answer)) => (judge(answer, client["output"] == "text"), usage(answer), 0),
        Ok(Err(error)) => (category(error), Value::Null, leaks(error, key)),
    };
    let times: Vec<_> = server.asked().into_iter().map(|(at, _)| at).collect();
    let waits = times
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_secs_f64() * 1e3);
    let again = times.len() > 1;
    Ok(json!({
        "id": row["id"],
        "category": category,
        // What came before a success is not told.
        "first": if category == "ok" { Value::Null } else { category.into() },
        "retry": if again { "transport" } else { "no" },
        "requests": times.len(),
        "waits_ms": waits.collect::<Vec<_>>(),
        "usage": usage,
        "flags": [],
        "key_leaks": leaks,
    }))
}

fn request(client: &Value) -> Result<CreateChatCompletionRequest, OpenAIError> {
    let tokens = client["prompt_tokens"]
        .as_u64()
        .map_or(1, |tokens| tokens.min(1 << 20) as usize);
    let prompt = ChatCompletionRequestUserMessage::from("abc ".repeat(tokens));
    let mut request = CreateChatCompletionRequestArgs::default();
    request.model("m").messages(vec![prompt.into()]);
    if client["output"] != "text" {
        let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"],
            "additionalProperties": false});
        let json_schema = ResponseFormatJsonSchema {
            description: None,
            name: "Answer".to_owned(),
            schema,
            strict: Some(true),
        };
        request.response_format(ResponseFormat::JsonSchema { json_schema });
    }
    request.build()
}

fn usage(answer: &CreateChatCompletionResponse) -> Value {
    let Some(usage) = &answer.usage else {
        return Value::Null;
    };
    json!({
        "input": usage.prompt_tokens,
        "output": usage.completion_tokens,
        "total": usage.total_tokens,
        "unreported": 0,
    })
}

fn leaks(error: &OpenAIError, key: &str) -> usize {
    let holds_key =
        |text: &String| text.contains(CANARY) || (!key.is_empty() && text.contains(key));
    [error.to_string(), format!("{error:?}")]
        .iter()
        .filter(|text| holds_key(text))
        .count()
}
