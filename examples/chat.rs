//! A conversation: the program keeps what was said, and a field of the node takes it into the next request.
//!
//! ```text
//! cargo run --example chat                       # no key needed: starts a server on loopback itself
//! OPENAI_BASE_URL=… OPENAI_API_KEY=… OPENAI_MODEL=… cargo run --example chat
//! ```
//!
//! Each line of the input is a turn; the conversation ends with the input.

use std::io::BufRead;

use llmnode::StubServer;
use llmnode::prelude::*;
use llmnode::stub_server::{LoggedRequest, StubReply, StubServerBuilder};

mod common;

/// Of so many turns at most the messages are sent again.
const TURNS: usize = 20;

/// Answers in a conversation.
#[llm_node(
    system = "You are a librarian who likes to talk. Answer in one or two sentences.",
    prompt = "{input}",
    max_tokens = 300
)]
struct Chat<'a> {
    #[node(history)]
    history: &'a [Message],
    input: &'a str,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    common::Arguments::read("");
    let (model, _server) = common::model(stub()).await?;
    let run = Run::new(model);
    let mut history: Vec<Message> = vec![];
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let input = line.trim();
        if input.is_empty() {
            continue;
        }
        match run
            .call(&Chat {
                history: &history,
                input,
            })
            .report()
            .await
        {
            Ok(report) => {
                println!("{}", report.value);
                history = report.history()?;
            }
            // What was not answered is not part of the conversation.
            Err(error) => eprintln!("{error}"),
        }
        if history.len() > 2 * TURNS {
            // Half of them at once: what the provider has cached ends where the oldest turn is cut off.
            history.cut(TURNS);
        }
    }
    eprintln!("tokens: {:?}", run.ledger().tokens_used());
    Ok(())
}

/// A server that remembers what it is told, and nothing else.
fn stub() -> StubServerBuilder {
    StubServer::builder().default_reply(StubReply::for_request(|request: &LoggedRequest| {
        let messages = request.messages();
        let said: Vec<_> = messages
            .iter()
            .filter(|(role, _)| role == "user")
            .map(|(_, said)| said.as_str())
            .collect();
        match said.split_last() {
            Some((last, [])) => StubReply::text(format!("You said: {last}")),
            Some((last, before)) => {
                StubReply::text(format!("You said: {last} And before: {}", before.join(" ")))
            }
            None => StubReply::text("You said nothing."),
        }
    }))
}
