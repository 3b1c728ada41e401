//! PocketFlow's parallel nodes: three models are asked side by side on one state, and a fourth reads what they said.
//!
//! ```text
//! cargo run --example flow_parallel
//! ```

use std::time::Duration;

use llmnode::StubServer;
use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServerBuilder};

mod common;

#[derive(Default)]
struct Morning {
    place: String,
    weather: String,
    news: String,
    tides: String,
    brief: String,
}

#[llm_node(prompt = "The weather in {state.place}, in five words.", max_tokens = 40, state = Morning, store = weather)]
struct Weather;

#[llm_node(prompt = "The news from {state.place}, in five words.", max_tokens = 40, state = Morning, store = news)]
struct News;

#[llm_node(prompt = "The tides at {state.place}, in five words.", max_tokens = 40, state = Morning, store = tides)]
struct Tides;

/// Puts together what was gathered.
#[llm_node(
    prompt = "Make one sentence of this:\n{state.weather}\n{state.news}\n{state.tides}",
    max_tokens = 80,
    state = Morning,
    store = brief
)]
struct Brief;

// What the three write is written when the last of them has ended, in this order. If one fails, the others are cancelled,
// and none of them writes.
flow! { Wake(Morning):
    (Weather, News, Tides) as Gather => Brief,
    Brief => end,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    common::Arguments::read("");
    let (model, _server) = common::model(stub()).await?;
    let mut run = Run::new(model).with_state(Morning {
        place: "Heligoland".into(),
        ..Morning::default()
    });
    let report = run.flow(Wake).report().await?;
    let Morning {
        weather,
        news,
        tides,
        brief,
        ..
    } = run.state();
    println!("weather: {weather}\nnews: {news}\ntides: {tides}\nbrief: {brief}");
    for step in &report.record.steps {
        println!("{}: {} requests", step.position, step.usage.requests);
    }
    Ok(())
}

/// A server that takes longest for what is asked first.
fn stub() -> StubServerBuilder {
    StubServer::builder().default_reply(StubReply::for_request(|request| {
        let messages = request.messages();
        let asked = messages.last().map_or("", |(_, content)| content);
        let (said, milliseconds) = match asked {
            _ if asked.starts_with("The weather") => ("Wind from the west, dry.", 60),
            _ if asked.starts_with("The news") => ("The ferry is late again.", 30),
            _ if asked.starts_with("The tides") => ("High water at eleven today.", 1),
            _ => (
                "A dry and windy day, a late ferry, and high water at eleven.",
                1,
            ),
        };
        StubReply::text(said).after(Duration::from_millis(milliseconds))
    }))
}
