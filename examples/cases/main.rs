//! Runs the library over a file of cases and prints what came of each, one JSON object a line.
//!
//! ```text
//! cargo run --release --example cases -- examples/data/faults.jsonl
//! ```
//!
//! A row with a `server` is a fault of HTTP: a server that behaves just so, asked over a real socket. A row with an
//! `input` is a text to read JSON from, as the type that a `target` names. A row with a `wire` is what a provider answered on its
//! own API. What a row expects is never looked at: that is the scorer's. A row that
//! cannot be run says why, and the rows after it are run.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};

use serde_json::{Value, json};

#[path = "../common/arguments.rs"]
mod arguments;
mod body;
mod connection;
mod fault;
mod gzip;
mod http_date;
mod outcome;
mod server;
mod sinks;
mod text;
mod time;
mod typed;
mod wire;

use arguments::Arguments;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let path = Arguments::read("FILE")
        .value(0)
        .unwrap_or_default()
        .to_owned();
    let file = File::open(&path).map_err(|error| format!("{path}: {error}"))?;
    let log = sinks::Log::install()?;
    for (index, line) in BufReader::new(file).split(b'\n').enumerate() {
        let line = line?;
        let line = line
            .strip_prefix(b"\xEF\xBB\xBF")
            .unwrap_or(&line)
            .trim_ascii();
        if line.is_empty() {
            continue;
        }
        let answer = match serde_json::from_slice::<Value>(line) {
            Ok(row) if row.is_object() => answer(&row, &log).await,
            Ok(_) => json!({"id": null, "line": index + 1, "error": "not a JSON object"}),
            Err(error) => {
                json!({"id": null, "line": index + 1, "error": format!("not JSON: {error}")})
            }
        };
        println!("{answer}");
    }
    Ok(())
}

async fn answer(row: &Value, log: &sinks::Log) -> Value {
    let id = &row["id"];
    if let Some(spoken) = wire::spoken(row) {
        return match spoken {
            Err(reason) => json!({"id": id, "skipped": reason}),
            Ok(()) => wire::answer(row)
                .await
                .unwrap_or_else(|error| json!({"id": id, "error": error.to_string()})),
        };
    }
    if !row["server"].is_object() {
        let unsupported =
            || json!({"id": id, "error": "unsupported: the row has no `server` and no `input`"});
        return text::answer(row).unwrap_or_else(unsupported);
    }
    if let Some(reason) = fault::skipped(row) {
        return json!({"id": id, "skipped": reason});
    }
    match fault::answer(row, log).await {
        Ok(answer) => answer,
        Err(error) => json!({"id": id, "error": error.to_string()}),
    }
}
