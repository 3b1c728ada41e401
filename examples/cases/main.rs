//! Runs the library over a file of cases and prints what came of each, one JSON object a line.
//!
//! ```text
//! cargo run --release --example cases -- http-faults.jsonl
//! ```
//!
//! A row with a `server` is a fault of HTTP: a server that behaves just so, asked over a real socket. A row with a
//! text is one to read JSON from, which waits for a reader that can be called on its own. What a row expects is
//! never looked at: that is the scorer's.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};

use serde_json::{Value, json};

mod body;
mod fault;
mod gzip;
mod http_date;
mod server;
mod sinks;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: cases FILE, with one JSON object a line")?;
    let log = sinks::Log::install()?;
    for (index, line) in BufReader::new(File::open(&path)?).lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let row = serde_json::from_str(&line).map_err(|error| format!("{path}:{}: {error}", index + 1))?;
        println!("{}", answer(&row, &log).await);
    }
    Ok(())
}

async fn answer(row: &Value, log: &sinks::Log) -> Value {
    let id = &row["id"];
    if row.get("server").is_none() {
        return json!({"id": id, "error": "unsupported"});
    }
    if let Some(reason) = fault::skipped(row) {
        return json!({"id": id, "skipped": reason});
    }
    match fault::answer(row, log).await {
        Ok(answer) => answer,
        Err(error) => json!({"id": id, "error": error.to_string()}),
    }
}
