//! Raw text: a node without `output` gives the model's words as they are.
//!
//! ```text
//! cargo run --example text -- "a lighthouse keeper who is afraid of the sea"
//! ```

use llmnode::StubServer;
use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServerBuilder};

mod common;

/// Writes the first sentence of a story.
#[llm_node(
    prompt = "Write the first sentence of a story about {subject}, in {words:>1} words at most.",
    max_tokens = 200
)]
struct Opening<'a> {
    subject: &'a str,
    words: u32,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = common::Arguments::read("[SUBJECT]");
    let subject = arguments.value(0).unwrap_or("a lighthouse keeper");
    let (model, _server) = common::model(stub()).await?;
    let run = Run::new(model);
    let report = run
        .call(&Opening { subject, words: 20 })
        .temperature(0.7)
        .report()
        .await?;
    println!("{}", report.value);
    eprintln!(
        "({} tokens, {:.0?})",
        report.record.usage().total.known,
        report.record.elapsed
    );
    Ok(())
}

fn stub() -> StubServerBuilder {
    let line = "Every night he lit the lamp with his back to the water.";
    StubServer::builder().default_reply(StubReply::text(line))
}
