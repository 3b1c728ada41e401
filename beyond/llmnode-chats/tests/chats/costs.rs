//! What a turn costs in a chat of 200 messages: printed, and nothing is asserted about times.
//!
//! `scripts/pydantic_chats.py` does the same with the store of pydantic-ai's harness.

use std::time::{Duration, Instant};

use llmnode::chats::Conversations;
use llmnode::prelude::*;

use crate::support::{Folder, ask};

const TURNS: u32 = 100;
/// Turns and readings that are timed.
const TIMED: u32 = 20;

#[tokio::test]
#[ignore = "prints times"]
async fn a_turn_in_a_chat_of_200_messages() {
    let folder = Folder::new("costs");
    let chats = Conversations::sqlite(folder.file("chats.db")).unwrap();
    let chat = chats.open("acme/42").await.unwrap();
    let answer = "An answer of some length. ".repeat(16);
    let model = ScriptedModel::new().otherwise(move |_| Reply::from(answer.as_str()));
    let run = Run::new(model);
    let question = ask(&"A question of some length? ".repeat(4));
    let mut turns = Duration::ZERO;
    for turn in 0..TURNS {
        let begun = Instant::now();
        run.call(&question).conversation(&chat).await.unwrap();
        if turn >= TURNS - TIMED {
            turns += begun.elapsed();
        }
    }
    let begun = Instant::now();
    for _ in 0..TIMED {
        assert_eq!(chat.history().await.unwrap().len() as u32, 2 * TURNS);
    }
    let readings = begun.elapsed();
    let bytes = std::fs::metadata(folder.file("chats.db")).unwrap().len();
    println!(
        "llmnode: {:.2} ms a turn, {:.2} ms a reading, {bytes} bytes in the file",
        turns.as_secs_f64() * 1e3 / f64::from(TIMED),
        readings.as_secs_f64() * 1e3 / f64::from(TIMED)
    );
}
