//! What a turn costs in a chat of 200 messages with `rig-memory`, on the store of `rig-sqlite`, and what it costs to read its history.
//!
//! ```text
//! cargo run --release --ignore-rust-version --manifest-path benches/rig-chats/Cargo.toml
//! ```
//!
//! A turn loads the conversation, extends it and saves it, with `synchronous = FULL`. No model is asked, nobody else is kept away
//! meanwhile, and a process that dies keeps no question. `benches/src/bin/chats.rs` does the same with llmnode.

use std::path::Path;
use std::time::{Duration, Instant};

use rig_core::message::Message;
use rig_memory::{load_async, save_async};
use rig_sqlite::SqliteSessionStore;
use tokio_rusqlite::Connection;

const TURNS: u32 = 100;
/// Turns and readings that are timed: the last ones.
const TIMED: u32 = 20;
const ID: &str = "acme-42";

type Fault = Box<dyn std::error::Error>;

struct Cost {
    turns: Duration,
    readings: Duration,
}

fn question() -> String {
    "A question of some length? ".repeat(4)
}

fn answer() -> String {
    "An answer of some length. ".repeat(16)
}

async fn by_rig(path: &Path) -> Result<Cost, Fault> {
    let store = SqliteSessionStore::open(Connection::open(path).await?).await?;
    let mut turns = Duration::ZERO;
    for turn in 0..TURNS {
        let begun = Instant::now();
        let mut conversation = load_async(&store, ID).await?;
        conversation.extend([Message::user(question()), Message::assistant(answer())]);
        save_async(&store, ID, &mut conversation).await?;
        if turn >= TURNS - TIMED {
            turns += begun.elapsed();
        }
    }
    let begun = Instant::now();
    for _ in 0..TIMED {
        let conversation = load_async(&store, ID).await?;
        assert_eq!(conversation.messages().len(), 2 * TURNS as usize);
    }
    let readings = begun.elapsed();
    Ok(Cost { turns, readings })
}

#[tokio::main]
async fn main() -> Result<(), Fault> {
    let path = std::env::temp_dir().join(format!("rig-chats-{}.db", std::process::id()));
    let cost = by_rig(&path).await?;
    println!(
        "rig: {:.2} ms a turn, {:.2} ms a reading, {} bytes in the file",
        cost.turns.as_secs_f64() * 1e3 / f64::from(TIMED),
        cost.readings.as_secs_f64() * 1e3 / f64::from(TIMED),
        std::fs::metadata(&path)?.len()
    );
    std::fs::remove_file(path)?;
    Ok(())
}
