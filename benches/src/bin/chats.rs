//! What a turn costs in a chat of 200 messages on SQLite, and what it costs to read its history.
//!
//! ```text
//! cargo run --release --manifest-path benches/Cargo.toml --bin chats
//! ```
//!
//! A turn is a call, with a model that answers at once: it claims the chat, reads its history, keeps the question and appends the turn.
//! `benches/rig-chats` and `scripts/pydantic_chats.py` do the same with the stores of rig and of pydantic-ai's harness.

use std::time::{Duration, Instant};

use llmnode::chats::Conversations;
use llmnode::prelude::*;

const TURNS: u32 = 100;
/// Turns and readings that are timed: the last ones.
const TIMED: u32 = 20;

#[llm_node(system = "You are a librarian. Be brief.", prompt = "{question}")]
struct Ask {
    question: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::temp_dir().join(format!("llmnode-chats-{}.db", std::process::id()));
    let chat = Conversations::sqlite(&path)?.open("acme/42").await?;
    let answer = "An answer of some length. ".repeat(16);
    let model = ScriptedModel::new().otherwise(move |_| Reply::from(answer.as_str()));
    let run = Run::new(model);
    let question = "A question of some length? ".repeat(4);
    let node = Ask { question };
    let mut turns = Duration::ZERO;
    for turn in 0..TURNS {
        let begun = Instant::now();
        run.call(&node).conversation(&chat).await?;
        if turn >= TURNS - TIMED {
            turns += begun.elapsed();
        }
    }
    let begun = Instant::now();
    for _ in 0..TIMED {
        assert_eq!(chat.history().await?.len() as u32, 2 * TURNS);
    }
    let readings = begun.elapsed();
    println!(
        "llmnode: {:.2} ms a turn, {:.2} ms a reading, {} bytes in the file",
        turns.as_secs_f64() * 1e3 / f64::from(TIMED),
        readings.as_secs_f64() * 1e3 / f64::from(TIMED),
        std::fs::metadata(&path)?.len()
    );
    std::fs::remove_file(path)?;
    Ok(())
}
