//! One row of faults: a server that behaves just so, a call to it, and what came of the call.

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use llmnode::prelude::*;
use llmnode::{Category, OpenAiBuilder};
use serde_json::{Value, json};

use crate::outcome::Outcome;
use crate::server::{Response, Server, stays_here};
use crate::sinks::{self, Log};
use crate::time::CallClock;

/// The key of every row that brings none of its own; the rows' servers echo it.
const CANARY: &str = "sk-test-SECRET-0123456789";

/// The authority is not the server's, so that the system's certificates are not needed to refuse it.
const FOREIGN_AUTHORITY: &[u8] =
    include_bytes!("../../crates/llmnode-http/tests/openai/data/server.pem");

#[llm_output]
struct Answer {
    #[allow(dead_code, reason = "only whether there is a value counts")]
    a: i64,
}

#[llm_node(prompt = "{prompt}", output = Answer)]
struct Typed {
    prompt: String,
}

#[llm_node(prompt = "{prompt}")]
struct Raw {
    prompt: String,
}

/// Why a row is not run, if it is not.
pub(crate) fn skipped(row: &Value) -> Option<&'static str> {
    let client = &row["client"];
    (client["output"] == "tools" || client.get("tools").is_some()).then_some("needs tools")
}

/// Runs a row.
pub(crate) async fn answer(row: &Value, log: &Log) -> Result<Value, Box<dyn Error>> {
    let (client, streams) = (&row["client"], row["stream"] == true);
    let responses = Response::sequence(row)?;
    let server = Server::start(responses).await?;
    let base_url = client["base_url"]
        .as_str()
        .map_or_else(|| server.base_url(), str::to_owned);
    log.clear();
    let milliseconds = |field: &str| client[field].as_u64().map(Duration::from_millis);
    let clock = CallClock::new(milliseconds("deadline_ms"));
    let (outcome, ledger) = match builder(client, &server, &base_url, streams).build() {
        Ok(_) if !server.is_never_asked() && !stays_here(&base_url) => {
            return Err("the base URL leads to another machine, which is never asked".into());
        }
        Ok(model) => {
            let ended = Arc::new(Mutex::new(None));
            let keep = Arc::clone(&ended);
            let run = Run::new(model)
                .with_clock(clock.clone())
                .with_settings(settings(client))
                .on_call(move |record| {
                    *keep.lock().unwrap_or_else(PoisonError::into_inner) = Some(record.clone())
                });
            let cancel = milliseconds("cancel_after_ms").unwrap_or(Duration::from_secs(3600));
            let dropped_as = tokio::select! {
                outcome = call(&run, client, streams) => Err(outcome),
                () = clock.deadline() => Ok(Category::Timeout),
                () = tokio::time::sleep(cancel) => Ok(Category::Cancelled),
            };
            let outcome = dropped_as.map_or_else(
                |outcome| outcome,
                |category| {
                    let record = ended.lock().unwrap_or_else(PoisonError::into_inner).take();
                    Outcome::dropped(record, category)
                },
            );
            (outcome, run.ledger().to_json().to_string())
        }
        Err(error) => (Outcome::failed(&error.into()), String::new()),
    };
    let key = client["api_key"].as_str().unwrap_or(CANARY);
    let query = base_url
        .split_once('?')
        .map(|(_, query)| query.rsplit('=').next().unwrap_or(query));
    let secrets: Vec<&str> = [key, CANARY].into_iter().chain(query).collect();
    // Whatever can be shown of the settings, too.
    let shown = format!(
        "{:?} {:?}",
        builder(client, &server, &base_url, streams),
        settings(client)
    );
    let texts = outcome
        .texts
        .iter()
        .cloned()
        .chain([ledger, shown, log.text()])
        .chain(server.asked().into_iter().map(|(_, body)| body));
    Ok(json!({
        "id": row["id"],
        "category": outcome.category.map_or("ok", Category::as_str),
        "first": outcome.first().map(Category::as_str),
        "retry": outcome.retry(),
        "requests": outcome.attempts().len(),
        "waits_ms": clock.waits().iter().map(|wait| wait.as_micros() as f64 / 1e3).collect::<Vec<_>>(),
        "usage": outcome.usage(),
        "flags": outcome.flags(),
        "key_leaks": sinks::leaks(texts, &secrets),
    }))
}

fn builder(client: &Value, server: &Server, base_url: &str, streams: bool) -> OpenAiBuilder {
    let milliseconds = |field: &str| client[field].as_u64().map(Duration::from_millis);
    // Without a stream, one timer covers every phase of an attempt, so that the shorter of a row's counts.
    let timeouts = ["timeout_ms", "idle_timeout_ms"]
        .into_iter()
        .filter_map(milliseconds);
    let idle = milliseconds("idle_timeout_ms").filter(|_| streams);
    let mut builder = OpenAi::builder()
        .base_url(base_url)
        .model("m")
        .root_certificates(FOREIGN_AUTHORITY)
        .connect_timeout(milliseconds("connect_timeout_ms").unwrap_or(Duration::from_millis(500)))
        .attempt_timeout(
            timeouts
                .filter(|_| idle.is_none())
                .min()
                .unwrap_or(Duration::from_secs(10)),
        )
        .idle_timeout(idle.unwrap_or(Duration::from_secs(5)));
    if let Some(bytes) = client["max_body_bytes"].as_u64() {
        builder = builder.max_body_bytes(bytes.try_into().unwrap_or(usize::MAX));
    }
    match client["api_key"].as_str() {
        Some(key) => builder.api_key(key),
        // Nothing but a missing key can keep a row without settings from being sent.
        None if server.is_never_asked() => builder,
        None => builder.api_key(CANARY),
    }
}

fn settings(client: &Value) -> Settings {
    let mut settings = Settings::new().retries(2).transport_retries(2);
    settings.max_output_bytes = client["max_output_bytes"]
        .as_u64()
        .and_then(|bytes| bytes.try_into().ok());
    settings.max_tokens = client["max_tokens"]
        .as_u64()
        .and_then(|tokens| tokens.try_into().ok());
    settings.max_wait = client["max_wait_ms"].as_u64().map(Duration::from_millis);
    settings
}

async fn call(run: &Run, client: &Value, streams: bool) -> Outcome {
    let tokens = client["prompt_tokens"]
        .as_u64()
        .map_or(1, |tokens| tokens.min(1 << 20) as usize);
    // A token is about four characters.
    let prompt = "abc ".repeat(tokens);
    let result = match (client["output"] == "text", streams) {
        (true, false) => run
            .call(&Raw { prompt })
            .report()
            .await
            .map(|report| report.record),
        (true, true) => run
            .call(&Raw { prompt })
            .stream()
            .report()
            .await
            .map(|report| report.record),
        (false, false) => run
            .call(&Typed { prompt })
            .report()
            .await
            .map(|report| report.record),
        (false, true) => run
            .call(&Typed { prompt })
            .stream()
            .report()
            .await
            .map(|report| report.record),
    };
    match result {
        Ok(record) => Outcome::of(&record, None),
        Err(error) => Outcome::failed(&error),
    }
}
