//! In a flow with a journal, whose process is killed at each record: one turn, and each answer is paid once.

#![cfg(unix)]

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use llmnode::chats::Conversations;
use llmnode::flow::Step;
use llmnode::journal::JournalFile;
use llmnode::prelude::*;
use llmnode::{BoxError, Cx, FnModel};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::killing::{self, Killing};
use crate::support::{Folder, ask, texts};

#[derive(Clone, Default, Serialize, Deserialize)]
struct Desk {
    chats: PathBuf,
    answers: Vec<String>,
}

/// What time it is.
#[tool]
fn now() -> String {
    "noon".to_owned()
}

#[llm_node(prompt = "{question}", tools = [Now])]
struct Ask {
    question: String,
}

/// Asks one question in the chat.
struct Turn {
    chats: PathBuf,
    question: String,
}

#[llmnode::step]
impl Step<Desk> for Turn {
    type Output = String;

    async fn prep(desk: &Desk) -> Result<Self, BoxError> {
        Ok(Turn {
            chats: desk.chats.clone(),
            question: format!("Question {}", desk.answers.len()),
        })
    }

    async fn exec(&self, cx: &Cx<'_, Desk>) -> Result<String, BoxError> {
        let chats = Conversations::sqlite(&self.chats)?;
        let chat = chats.open("desk/1").await?;
        let question = self.question.clone();
        Ok(cx.call(&Ask { question }).conversation(&chat).await?)
    }

    fn post(self, answer: String, desk: &mut Desk) -> Result<(), BoxError> {
        desk.answers.push(answer);
        Ok(())
    }
}

/// The same question in the next step: a turn of its own.
struct Again {
    chats: PathBuf,
}

#[llmnode::step]
impl Step<Desk> for Again {
    type Output = String;

    async fn prep(desk: &Desk) -> Result<Self, BoxError> {
        Ok(Again {
            chats: desk.chats.clone(),
        })
    }

    async fn exec(&self, cx: &Cx<'_, Desk>) -> Result<String, BoxError> {
        let chats = Conversations::sqlite(&self.chats)?;
        let chat = chats.open("desk/1").await?;
        let question = "Question 0".to_owned();
        Ok(cx.call(&Ask { question }).conversation(&chat).await?)
    }

    fn post(self, answer: String, desk: &mut Desk) -> Result<(), BoxError> {
        desk.answers.push(answer);
        Ok(())
    }
}

flow! { Talk(Desk): Turn => Again, Again => end }

/// Notes each request by its messages.
fn model(requests: PathBuf) -> FnModel {
    FnModel::new(move |request| {
        let texts: Vec<_> = request.messages.iter().map(|one| &*one.content).collect();
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(&requests)
            .unwrap();
        let line = format!("{}\n", texts.join(" | "));
        file.write_all(line.as_bytes()).unwrap();
        match request.messages.last() {
            Some(last) if last.answers().is_some() => Reply::text("It is noon."),
            _ => Reply::text("").call("now", json!({})),
        }
    })
    .named("clock")
}

fn desk(path: &Path) -> Desk {
    Desk {
        chats: path.with_extension("db"),
        answers: Vec::new(),
    }
}

/// The process that is killed.
#[tokio::test]
async fn talker() {
    let Some((journal, at)) = killing::orders() else {
        return;
    };
    let model = model(journal.with_extension("requests"));
    let mut run = Run::new(model).with_state(desk(&journal));
    let file = JournalFile::open(&journal).unwrap();
    let flow = run.flow(Talk).resume(Killing::new(file, Some(at)));
    flow.await.unwrap();
}

/// Kills a process there, and goes on in this one. Returns whether it had ended before.
async fn killed_at(moment: usize, others_write: bool) -> bool {
    let folder = Folder::new(&format!("flow-{moment}-{others_write}"));
    let journal = folder.file("talk.journal");
    let mut child = killing::start("flows::talker", &journal, moment);
    let ended = !killing::was_killed(&mut child);
    let chats = Conversations::sqlite(journal.with_extension("db")).unwrap();
    let chat = chats.open("desk/1").await.unwrap();
    let revision = chat.info().await.unwrap().revision;
    if others_write {
        // Somebody else writes behind a turn that is there; while a turn is claimed, nobody can.
        let other = Run::new(ScriptedModel::new().reply("Hi."));
        let hello = ask("Hello!");
        let outcome = other.call(&hello).conversation(&chat).await;
        if let Err(error) = outcome {
            assert_eq!(error.category(), Category::Conflict, "{error}");
            return ended;
        }
    }
    let model = model(journal.with_extension("requests"));
    let mut run = Run::new(model).with_state(desk(&journal));
    let file = JournalFile::open(&journal).unwrap();
    run.flow(Talk).resume(file).await.unwrap();
    assert_eq!(run.state().answers, ["It is noon.", "It is noon."]);
    let turn = ["Question 0", "", "noon", "It is noon."];
    let mut expected = [turn, turn].concat();
    if others_write {
        let place = revision as usize * 4;
        expected.splice(place..place, ["Hello!", "Hi."]);
    }
    assert_eq!(texts(&chat).await, expected, "{moment}: each turn once");
    let info = chat.info().await.unwrap();
    assert_eq!(info.revision, 2 + u64::from(others_write));
    assert!(chat.unfinished().await.unwrap().is_none());
    check_requests(&journal, moment);
    ended
}

/// Each request was made once, or its outcome is unknown.
fn check_requests(journal: &Path, moment: usize) {
    let requests = std::fs::read_to_string(journal.with_extension("requests")).unwrap();
    let requests: Vec<&str> = requests.lines().collect();
    let different: BTreeSet<&&str> = requests.iter().collect();
    let history = JournalFile::open(journal).unwrap().history().unwrap();
    let unknown = history.unknown().len();
    assert_eq!(different.len(), 4, "{moment}: {requests:?}");
    assert!(
        requests.len() <= 4 + unknown,
        "{moment}: {unknown} unknown of {requests:?}"
    );
}

#[tokio::test]
async fn killed_at_each_record_a_flow_has_each_turn_once() {
    let mut moment = 0;
    while !killed_at(moment, false).await {
        moment += 1;
    }
    assert!(moment > 20, "{moment}");
}

#[tokio::test]
async fn a_turn_that_is_there_has_its_own_history_even_if_others_wrote_behind_it() {
    let mut moment = 0;
    while !killed_at(moment, true).await {
        moment += 1;
    }
}
