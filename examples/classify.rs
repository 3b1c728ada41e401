//! A file of records, eight at a time: results in order, and one failure does not disturb the others.
//!
//! ```text
//! cargo run --example classify                                # ten tickets of its own
//! cargo run --example classify -- examples/data/tickets.jsonl # those of a file
//! ```

use std::time::Duration;

use llmnode::StubServer;
use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServerBuilder};

mod common;

#[derive(serde::Deserialize)]
struct Ticket {
    id: String,
    text: String,
}

#[llm_output]
#[derive(Debug)]
enum Topic {
    /// Payments, refunds, invoices.
    Billing,
    /// Something does not work.
    Defect,
    /// Something is missing.
    Wish,
    /// Anything else.
    Other,
}

/// Sorts a ticket by topic.
#[llm_node(prompt = "Which topic has this ticket?\n\n{text}", output = Topic, retries = 1)]
struct Classify {
    text: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = common::Arguments::read("[FILE]");
    let path = arguments.value(0).unwrap_or(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/data/tickets.jsonl"
    ));
    let lines = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let tickets: Vec<Ticket> = lines
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;

    let (model, _server) = common::model(stub()).await?;
    let run = Run::new(model);
    let nodes = tickets.iter().map(|ticket| Classify {
        text: ticket.text.clone(),
    });
    let topics = run.map(nodes).concurrency(8).await;

    for (ticket, topic) in tickets.iter().zip(&topics) {
        match topic {
            Ok(topic) => println!("{:<5} {topic:?}", ticket.id),
            Err(error) => println!("{:<5} failed: {}", ticket.id, error.category()),
        }
    }
    let failed = topics.iter().filter(|topic| topic.is_err()).count();
    let usage = run.ledger().total();
    println!(
        "{} of {} sorted, {} requests, {} tokens",
        topics.len() - failed,
        topics.len(),
        usage.requests,
        usage.total.known
    );
    Ok(())
}

/// A server that goes by words, is slower for some tickets than for others, and declines to judge an empty one.
fn stub() -> StubServerBuilder {
    StubServer::builder().default_reply(StubReply::for_request(|request| {
        let messages = request.messages();
        let ticket = messages
            .last()
            .map_or("", |(_, content)| content)
            .rsplit("\n\n")
            .next()
            .unwrap_or_default();
        let has = |words: &[&str]| words.iter().any(|word| ticket.contains(word));
        let topic = match () {
            () if ticket.trim().is_empty() => {
                return StubReply::refusal("There is no ticket to judge.");
            }
            () if has(&["charged", "card", "money"]) => "Billing",
            () if has(&["crashes", "Nothing happens", "stuck"]) => "Defect",
            () if has(&["add", "let me"]) => "Wish",
            () => "Other",
        };
        let delay = Duration::from_millis(5 * (ticket.len() as u64 % 7));
        StubReply::json(serde_json::json!({"value": topic})).after(delay)
    }))
}
