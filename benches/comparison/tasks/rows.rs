//! Rows under a rate limit. The process is killed when half of them are answered, and started again; then the prompt changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use llmnode::StubServer;
use llmnode::stub_server::{Provider, StubReply};
use serde_json::{Value, json};

use super::Row;
use crate::library::Library;
use crate::server::{answer, busy, error, folder, show};

/// Requests that the server takes in a second: fewer than the slowest client could send.
const A_SECOND: u32 = 20;
const SECOND: Duration = Duration::from_secs(1);

struct Counts {
    window: Instant,
    in_window: u32,
    refused: u64,
    /// How often each row was answered.
    answered: HashMap<String, u64>,
}

impl Counts {
    fn new() -> Self {
        Self {
            window: Instant::now(),
            in_window: 0,
            refused: 0,
            answered: HashMap::new(),
        }
    }

    fn takes(&mut self) -> bool {
        if self.window.elapsed() >= SECOND {
            self.window = Instant::now();
            self.in_window = 0;
        }
        self.in_window += 1;
        self.in_window <= A_SECOND
    }

    fn total(&self) -> u64 {
        self.answered.values().sum()
    }
}

pub fn rows() -> usize {
    let wanted = std::env::var("ROWS").ok();
    wanted.map_or(2_000, |rows| rows.parse().unwrap())
}

pub async fn run(library: Library) -> Vec<Row> {
    let counts = Arc::new(Mutex::new(Counts::new()));
    let noted = Arc::clone(&counts);
    let reply = StubReply::for_request(move |request| {
        let body = request.body();
        let Some(at) = body.find("letter 0").or_else(|| body.find("letter 1")) else {
            return StubReply::error(
                400,
                "invalid_request_error",
                "no_letter",
                "There is no letter.",
            );
        };
        let mut counts = noted.lock().unwrap();
        if !counts.takes() {
            counts.refused += 1;
            return busy(1);
        }
        let row = body[at..at + "letter 0000".len()].to_owned();
        *counts.answered.entry(row).or_default() += 1;
        answer(request, json!({"topic": "billing"})).after(Duration::from_millis(100))
    });
    let server = StubServer::builder()
        .as_provider(Provider::OpenAi)
        .log_limit(0)
        .default_reply(reply)
        .start()
        .await
        .unwrap();
    let url = server.base_url();
    let folder = folder();
    let rows = rows();
    let first = ["What is this letter about?", &rows.to_string()];
    let changed = ["Which topic has this letter?", &rows.to_string()];

    let half = u64::try_from(rows / 2).unwrap();
    let mut child = library.start("rows", &url, &folder, &first);
    while counts.lock().unwrap().total() < half && child.try_wait().unwrap().is_none() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    child.kill().await.unwrap();
    let said = library.run("rows", &url, &folder, &first).await;
    show(&library, &said, &[]);
    let paid = counts.lock().unwrap().total();
    let refused = counts.lock().unwrap().refused;
    let rest = library.run("rows", &url, &folder, &changed).await;
    show(&library, &rest, &[]);
    let again = counts.lock().unwrap().total() - paid;
    let done = said["done"].as_u64().unwrap_or(0);
    vec![
        Row::new("rows answered at last", format!("{done} of {rows}")),
        Row::new("429s", refused.to_string()),
        Row::new(
            "rows paid for twice after the kill",
            (paid - u64::try_from(counts.lock().unwrap().answered.len()).unwrap()).to_string(),
        ),
        Row::new(
            "a changed prompt: requests; what is said",
            changed_said(again, &rest),
        ),
    ]
}

fn changed_said(again: u64, said: &Value) -> String {
    let error = error(said).unwrap_or_else(|| "nothing".to_owned());
    format!("{again}; {error}")
}
