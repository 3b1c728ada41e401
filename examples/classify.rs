//! A file of records, eight at a time: results in order, and one failure does not disturb the others.
//!
//! ```text
//! cargo run --example classify                             # reads examples/data/tickets.jsonl
//! cargo run --example classify -- some/other/tickets.jsonl
//! ```

use llmnode::prelude::*;
use llmnode::{StubServer, stub_server};

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
#[llm_node(prompt = "Which topic has this ticket?\n\n{text}", output = Topic, retries = 1, temperature = 0.0)]
struct Classify {
    text: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1);
    let path = path.as_deref().unwrap_or(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/tickets.jsonl"));
    let lines = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let tickets: Vec<Ticket> = lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;

    let (model, _server) = model().await?;
    let run = Run::new(model);
    let nodes = tickets.iter().map(|ticket| Classify { text: ticket.text.clone() });
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

/// The model that the environment names, or else one on loopback that goes by words, is slower for some
/// tickets than for others, and declines to judge an empty one.
async fn model() -> Result<(OpenAi, Option<StubServer>), Box<dyn std::error::Error>> {
    if std::env::var_os("OPENAI_BASE_URL").is_some() {
        return Ok((OpenAi::from_env()?, None));
    }
    let clerk = stub_server::Reply::for_request(|request| {
        let messages = request.messages();
        let ticket =
            messages.last().map_or("", |(_, content)| content).rsplit("\n\n").next().unwrap_or_default();
        let has = |words: &[&str]| words.iter().any(|word| ticket.contains(word));
        let topic = match () {
            () if ticket.trim().is_empty() => {
                return stub_server::Reply::refusal("There is no ticket to judge.");
            }
            () if has(&["charged", "card", "money"]) => "Billing",
            () if has(&["crashes", "Nothing happens", "stuck"]) => "Defect",
            () if has(&["add", "let me"]) => "Wish",
            () => "Other",
        };
        let delay = std::time::Duration::from_millis(5 * (ticket.len() as u64 % 7));
        stub_server::Reply::json(serde_json::json!({"value": topic})).after(delay)
    });
    let server = StubServer::builder().default_reply(clerk).start().await?;
    let model = OpenAi::builder().base_url(server.base_url()).model("stub").build()?;
    Ok((model, Some(server)))
}
