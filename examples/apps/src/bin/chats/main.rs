//! A chat that keeps its history: axum, server-sent events, SQLite. Open it in two tabs, kill it in the middle of an answer.
//!
//! ```text
//! cargo run --manifest-path examples/apps/Cargo.toml --bin chats      # no key needed; then open http://127.0.0.1:3002
//! ```
//!
//! The history is in `chats.db`. A second tab that asks meanwhile is told to wait, before anything is paid. If the browser leaves or the
//! program dies, the question is kept, and the page offers to go on.

mod app;
#[path = "../../../../common/mod.rs"]
mod common;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use llmnode::StubServer;
use llmnode::chats::Conversations;
use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServerBuilder};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    common::Arguments::read("");
    let (model, _server) = common::model(stub(Duration::from_millis(80))).await?;
    let service = app::Service {
        run: Run::new(model),
        chats: Conversations::sqlite("chats.db")?,
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3002").await?;
    println!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, app::router(Arc::new(service))).await?;
    Ok(())
}

/// A model that writes slowly.
fn stub(pause: Duration) -> StubServerBuilder {
    let words = "The sea is large, and the books about it are many; begin with Carson.";
    let pieces: Vec<String> = words.split_inclusive(' ').map(str::to_owned).collect();
    StubServer::builder().default_reply(StubReply::pieces(pieces).pause(pause))
}
