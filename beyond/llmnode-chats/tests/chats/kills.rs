//! Processes that are killed while they write: this test program, started again.
//!
//! Eight writers share four chats. Whatever the moment of a kill, a chat has whole turns alone, each once, as many as its revision
//! says, and nothing of an answered question is asked for twice.
//!
//! `LLMNODE_KILLS=100` is the long run; by default there are 16.

#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use llmnode::FnModel;
use llmnode::chats::{Chat, Conversations};
use llmnode::prelude::*;
use serde_json::json;

use crate::killing;
use crate::support::{Folder, postgres};

const WRITERS: usize = 8;
const CHATS: usize = 4;

/// What time it is.
#[tool]
fn now() -> String {
    "noon".to_owned()
}

#[llm_node(prompt = "{question}", tools = [Now])]
pub(crate) struct Ask {
    pub(crate) question: String,
}

/// Appends a line to a file, in one piece.
pub(crate) fn note(file: &Path, line: &str) {
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(file)
        .unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

pub(crate) fn lines(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Calls a tool, then answers with the question, and notes each request. Each reply takes this long.
pub(crate) fn model(requests: PathBuf, thinks: Duration) -> FnModel {
    FnModel::new(move |request| {
        let is_question = |message: &&Message| message.content.starts_with("Question");
        let asked = request.messages.iter().rfind(is_question).unwrap();
        note(&requests, &asked.content);
        let has_result = request
            .messages
            .last()
            .is_some_and(|message| message.answers().is_some());
        let reply = if has_result {
            Reply::text(format!("Answer to {}", asked.content))
        } else {
            Reply::text("").call("now", json!({}))
        };
        reply.after(thinks)
    })
}

/// Postgres if the parent has written its address, else SQLite.
pub(crate) async fn open_store(path: &Path) -> Conversations {
    match std::fs::read_to_string(path.with_extension("url")) {
        Ok(url) => Conversations::postgres(url).await.unwrap(),
        Err(_) => Conversations::sqlite(path).unwrap(),
    }
}

async fn open(chats: &Conversations, number: usize) -> Chat {
    let chat = chats
        .open(format!("chat/{}", number % CHATS))
        .await
        .unwrap();
    chat.lease(Duration::from_millis(400))
        .wait(Duration::from_secs(30))
}

/// The process that is killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writer() {
    let Some((path, number)) = killing::orders::<usize>() else {
        return;
    };
    let chats = open_store(&path).await;
    let run = Run::new(model(path.with_extension("requests"), Duration::ZERO));
    for asked in number.. {
        let chat = open(&chats, asked).await;
        let question = format!("Question {}-{asked}", std::process::id());
        let node = Ask {
            question: question.clone(),
        };
        match run.call(&node).conversation(&chat).await {
            Ok(_) => note(&path.with_extension("answered"), &question),
            // Under load a claim may be lost; then nothing was appended.
            Err(error) => assert_eq!(error.category(), Category::Conflict, "{error}"),
        }
        if path.with_extension("stop").exists() {
            return;
        }
    }
}

fn start(path: &Path, number: usize) -> Child {
    killing::start("kills::writer", path, number)
}

#[tokio::test]
async fn eight_writers_that_are_killed_leave_whole_turns_in_sqlite() {
    let folder = Folder::new("kills");
    eight_writers(&folder.file("chats.db")).await;
}

#[tokio::test]
async fn eight_writers_that_are_killed_leave_whole_turns_in_postgres() {
    let Some(url) = postgres("llmnode_chats_kills").await else {
        return;
    };
    let folder = Folder::new("kills-postgres");
    let path = folder.file("chats.db");
    std::fs::write(path.with_extension("url"), url).unwrap();
    eight_writers(&path).await;
}

async fn eight_writers(path: &Path) {
    let kills: usize = std::env::var("LLMNODE_KILLS").map_or(16, |kills| kills.parse().unwrap());
    let chats = open_store(path).await;
    let mut writers: Vec<Child> = (0..WRITERS).map(|number| start(path, number)).collect();
    for kill in 0..kills {
        std::thread::sleep(Duration::from_millis(60 + (kill as u64 * 37) % 190));
        let writer = &mut writers[(kill * 5) % WRITERS];
        writer.kill().unwrap();
        assert!(killing::was_killed(writer), "a writer ended by itself");
        *writer = start(path, kill);
    }
    std::fs::write(path.with_extension("stop"), "").unwrap();
    for writer in &mut writers {
        assert!(!killing::was_killed(writer));
    }
    let answered = check(&chats, path).await;
    println!("{kills} kills: {answered} turns");
}

/// Returns how many turns there are.
async fn check(chats: &Conversations, path: &Path) -> usize {
    let mut requests: BTreeMap<String, usize> = BTreeMap::new();
    for line in lines(&path.with_extension("requests")) {
        *requests.entry(line).or_default() += 1;
    }
    let mut kept = BTreeSet::new();
    for number in 0..CHATS {
        let chat = open(chats, number).await;
        let messages = chat.messages(..).await.unwrap();
        let info = chat.info().await.unwrap();
        assert_eq!(info.messages, messages.len() as u64);
        assert_eq!(info.revision as usize * 4, messages.len(), "no torn turn");
        for turn in messages.chunks(4) {
            assert!(turn.iter().all(|one| one.turn == turn[0].turn));
            let question = turn[0].message.content.clone();
            assert_eq!(turn[3].message.content, format!("Answer to {question}"));
            assert_eq!(requests.get(&question), Some(&2), "nothing is paid twice");
            assert!(kept.insert(question), "no turn is there twice");
        }
    }
    for question in lines(&path.with_extension("answered")) {
        assert!(
            kept.contains(&question),
            "{question} was answered, and is lost"
        );
    }
    kept.len()
}
