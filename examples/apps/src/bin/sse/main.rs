//! A web page that shows an answer while it is written: server-sent events from axum to the browser.
//!
//! ```text
//! cargo run --manifest-path examples/apps/Cargo.toml --bin sse      # no key needed; then open http://127.0.0.1:3001
//! ```
//!
//! When the browser leaves, the call is cancelled: nothing more is read from the provider, and nothing more is paid.

mod app;
#[path = "../../../../common/mod.rs"]
mod common;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServerBuilder};
use llmnode::{CallRecord, StubServer};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    common::Arguments::read("");
    let (model, _server) = common::model(stub(Duration::from_millis(60))).await?;
    let run = Arc::new(Run::new(model).on_call(report));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3001").await?;
    println!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, app::router(run)).await?;
    Ok(())
}

fn report(record: &CallRecord) {
    let outcome = record.category.map_or("ok", Category::as_str);
    println!("{outcome} after {:.1} s", record.elapsed.as_secs_f64());
}

/// A model that plans slowly.
fn stub(pause: Duration) -> StubServerBuilder {
    let days = [("Oslo", 5), ("Bergen", 8), ("Tromsø", 11)];
    let days: Vec<_> = days
        .map(|(place, hours)| serde_json::json!({"place": place, "hours": hours}))
        .into();
    let plan = serde_json::json!({"title": "North along the coast", "days": days}).to_string();
    let characters: Vec<char> = plan.chars().collect();
    let pieces: Vec<String> = characters
        .chunks(6)
        .map(|piece| piece.iter().collect())
        .collect();
    StubServer::builder().default_reply(StubReply::pieces(pieces).pause(pause))
}
