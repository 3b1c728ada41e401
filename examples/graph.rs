//! A graph from a file: an agent lists topics, another writes on each, a third puts the texts together. What a front end draws, a
//! program runs.
//!
//! ```text
//! cargo run --example graph --features graph -- "What is a lighthouse?"
//! ```
//!
//! `examples/data/graphs` has a file of each shape.

use std::time::Duration;

use llmnode::graph::{Graph, Registry};
use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServerBuilder};
use llmnode::{Recording, StubServer};
use serde_json::json;

mod common;
mod page;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = common::Arguments::read("[QUESTION] [--page FILE]");
    let question = arguments.value(0).unwrap_or("What is a lighthouse?");
    let (model, _server) = common::model(stub()).await?;
    let registry = Registry::new()
        .folder(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/graphs"))
        .build()?;
    // Everything that is wrong with the file is said here, before a request.
    let graph = Graph::open("iterator", &registry)?;
    // A small model on a busy machine would write for minutes.
    let limits = Limits::new().time(Duration::from_secs(90));
    let mut run = registry
        .run(model)
        .with_limits(limits)
        .with_state(graph.start(json!({"question": question}))?);
    let recording = Recording::new().with_content(true);
    let outcome = run.flow(&graph).record(&recording).report().await;
    page::write(&recording, arguments.option("--page"))?;
    let report = outcome?;
    for step in &report.record.steps {
        println!(
            "{}: {} visits, {} requests",
            step.position, step.visits, step.usage.requests
        );
    }
    println!(
        "answer: {}",
        run.state()["answer"].as_str().unwrap_or_default()
    );
    Ok(())
}

/// A server that answers each of the three.
fn stub() -> StubServerBuilder {
    StubServer::builder().default_reply(StubReply::for_request(|request| {
        let messages = request.messages();
        let said = messages.last().map_or("", |(_, said)| said.as_str());
        match said.strip_prefix("On ") {
            Some(topic) => StubReply::text(format!("Of its {topic} much is known.")),
            None if said.starts_with("Topics") => StubReply::text(r#"["light", "keeper"]"#),
            None => StubReply::text(said),
        }
    }))
}
