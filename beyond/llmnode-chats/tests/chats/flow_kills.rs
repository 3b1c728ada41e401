//! Flows in many processes that are killed while they write into one chat.
//!
//! Eight processes at a time share one conversation. Each runs a flow with a journal of its own, whose two steps ask a question each, by
//! way of a tool. A process that was killed is started again with its journal until its flow has ended; then the next flow takes its
//! place. Whatever the moments of the kills, the chat has each question of each flow once, with the whole of its turn, the state of each
//! flow has both answers, and its ledger has the requests that the model has seen, but for those whose end nobody knows.
//!
//! `LLMNODE_KILLS=100` is the long run; by default there are 16.

#![cfg(unix)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use llmnode::chats::{ChatMessage, Conversations};
use llmnode::flow::Step;
use llmnode::journal::JournalFile;
use llmnode::prelude::*;
use llmnode::{BoxError, Cx};
use serde::{Deserialize, Serialize};

use crate::killing;
use crate::kills::{Ask, lines, model, note, open_store};
use crate::support::{Folder, postgres};

const WRITERS: usize = 8;
const QUESTIONS: usize = 2;
/// Of a reply, so that many kills meet a request.
const THINKS: Duration = Duration::from_millis(40);
/// Question, call, result, answer.
const MESSAGES: usize = 4;

#[derive(Clone, Default, Serialize, Deserialize)]
struct Desk {
    chats: PathBuf,
    flow: usize,
    answers: Vec<String>,
}

impl Desk {
    fn question(&self) -> String {
        format!("Question {}-{}", self.flow, self.answers.len())
    }
}

/// Asks in the chat that all flows share.
async fn asked(cx: &Cx<'_, Desk>, chats: &Path, question: &str) -> Result<String, BoxError> {
    let chats = open_store(chats).await;
    let chat = chats.open("desk").await?;
    // A claim of a process that was killed ends soon; others are waited for.
    let chat = chat
        .lease(Duration::from_millis(500))
        .wait(Duration::from_secs(60));
    let question = question.to_owned();
    Ok(cx.call(&Ask { question }).conversation(&chat).await?)
}

struct First {
    chats: PathBuf,
    question: String,
}

#[llmnode::step]
impl Step<Desk> for First {
    type Output = String;

    async fn prep(desk: &Desk) -> Result<Self, BoxError> {
        Ok(First {
            chats: desk.chats.clone(),
            question: desk.question(),
        })
    }

    async fn exec(&self, cx: &Cx<'_, Desk>) -> Result<String, BoxError> {
        asked(cx, &self.chats, &self.question).await
    }

    fn post(self, answer: String, desk: &mut Desk) -> Result<(), BoxError> {
        desk.answers.push(answer);
        Ok(())
    }
}

struct Second {
    chats: PathBuf,
    question: String,
}

#[llmnode::step]
impl Step<Desk> for Second {
    type Output = String;

    async fn prep(desk: &Desk) -> Result<Self, BoxError> {
        Ok(Second {
            chats: desk.chats.clone(),
            question: desk.question(),
        })
    }

    async fn exec(&self, cx: &Cx<'_, Desk>) -> Result<String, BoxError> {
        asked(cx, &self.chats, &self.question).await
    }

    fn post(self, answer: String, desk: &mut Desk) -> Result<(), BoxError> {
        desk.answers.push(answer);
        Ok(())
    }
}

flow! { Talk(Desk): First => Second, Second => end }

/// A file of one of the flows, beside the chats.
fn file(chats: &Path, flow: usize, what: &str) -> PathBuf {
    chats.with_file_name(format!("{flow}.{what}"))
}

/// The process that is killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn talker() {
    let Some((chats, flow)) = killing::orders::<usize>() else {
        return;
    };
    loop {
        let model = model(file(&chats, flow, "requests"), THINKS);
        let mut run = Run::new(model).with_state(Desk {
            chats: chats.clone(),
            flow,
            answers: Vec::new(),
        });
        let journal = JournalFile::open(file(&chats, flow, "journal")).unwrap();
        match run.flow(Talk).resume(journal).await {
            Ok(_) => return,
            // Under load a claim may be lost. Then nothing was appended, and the journal goes on.
            Err(error) => assert_eq!(error.category(), Category::Conflict, "{error}"),
        }
        note(&chats.with_extension("conflicts"), "one");
    }
}

#[tokio::test]
async fn flows_that_are_killed_have_each_turn_once_in_sqlite() {
    let folder = Folder::new("flow-kills");
    eight_flows(&folder.file("chats.db")).await;
}

#[tokio::test]
async fn flows_that_are_killed_have_each_turn_once_in_postgres() {
    let Some(url) = postgres("llmnode_chats_flow_kills").await else {
        return;
    };
    let folder = Folder::new("flow-kills-postgres");
    let path = folder.file("chats.db");
    std::fs::write(path.with_extension("url"), url).unwrap();
    eight_flows(&path).await;
}

struct Talker {
    flow: usize,
    child: Child,
}

impl Talker {
    fn start(chats: &Path, flow: usize) -> Self {
        let child = killing::start("flow_kills::talker", chats, flow);
        Talker { flow, child }
    }
}

async fn eight_flows(chats: &Path) {
    let kills: usize = std::env::var("LLMNODE_KILLS").map_or(16, |kills| kills.parse().unwrap());
    let store = open_store(chats).await;
    let mut flows = WRITERS;
    let mut talkers: Vec<Talker> = (0..WRITERS)
        .map(|flow| Talker::start(chats, flow))
        .collect();
    let mut killed = 0;
    let mut turn = 0;
    while killed < kills {
        turn += 1;
        std::thread::sleep(Duration::from_millis(60 + (turn * 37) % 190));
        let talker = &mut talkers[(turn as usize * 5) % WRITERS];
        talker.child.kill().unwrap();
        if killing::was_killed(&mut talker.child) {
            killed += 1;
        } else {
            // Its flow has ended, and the next one takes its place.
            talker.flow = flows;
            flows += 1;
        }
        *talker = Talker::start(chats, talker.flow);
    }
    for talker in &mut talkers {
        assert!(!killing::was_killed(&mut talker.child));
    }
    let unknown: usize = (0..flows).map(|flow| check_ledger(chats, flow)).sum();
    check_turns(&store, flows).await;
    let conflicts = lines(&chats.with_extension("conflicts")).len();
    println!(
        "{kills} kills: {flows} flows with {} turns, {unknown} requests unknown, {conflicts} claims lost",
        flows * QUESTIONS
    );
}

/// The chat has each question of each flow once, and whole turns alone.
async fn check_turns(store: &Conversations, flows: usize) {
    let chat = store.open("desk").await.unwrap();
    // Reading a history checks that each call has one result, and each result its call.
    let messages = chat.history().await.unwrap().len();
    let info = chat.info().await.unwrap();
    assert_eq!(info.revision as usize, flows * QUESTIONS, "a turn each");
    assert_eq!(messages, flows * QUESTIONS * MESSAGES, "no torn turn");
    assert!(!info.is_paused);
    let all = chat.messages(..).await.unwrap();
    let questions: BTreeSet<String> = all.chunks(MESSAGES).map(check_turn).collect();
    let expected = (0..flows).flat_map(|flow| {
        let each = 0..QUESTIONS;
        each.map(move |question| format!("Question {flow}-{question}"))
    });
    assert_eq!(questions, expected.collect());
}

/// Returns the question.
fn check_turn(turn: &[ChatMessage]) -> String {
    assert!(turn.iter().all(|one| one.turn == turn[0].turn));
    let question = turn[0].message.content.clone();
    assert_eq!(turn[2].message.content, "noon");
    assert_eq!(turn[3].message.content, format!("Answer to {question}"));
    question
}

/// A flow's journal has both answers, and each request that the model has seen. Returns of how many the end is unknown.
fn check_ledger(chats: &Path, flow: usize) -> usize {
    let journal = JournalFile::open(file(chats, flow, "journal")).unwrap();
    let history = journal.history().unwrap();
    assert!(history.has_ended(), "flow {flow}");
    let desk: Desk = serde_json::from_str(history.state().unwrap()).unwrap();
    let expected = [0, 1].map(|question| format!("Answer to Question {flow}-{question}"));
    assert_eq!(desk.answers, expected);
    let seen = lines(&file(chats, flow, "requests")).len();
    let unknown = history.unknown().len();
    let counted = history.ledger().total().requests as usize;
    assert!(
        seen <= counted && counted <= seen + unknown,
        "flow {flow}: the model has seen {seen}, the ledger has {counted}, {unknown} of them unknown"
    );
    unknown
}
