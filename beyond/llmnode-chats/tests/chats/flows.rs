//! In a flow with a journal, whose process is killed at each record: one turn, and each answer is paid once.

#![cfg(unix)]

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use llmnode::chats::Conversations;
use llmnode::flow::Step;
use llmnode::journal::{JournalFile, MapExt};
use llmnode::prelude::*;
use llmnode::{BoxError, Cx, Exec, FnModel, ModelError, Node};
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

/// Items with the same question, each in a chat of its own.
struct SumUp {
    chats: Conversations,
    id: &'static str,
    fails: bool,
}

impl Node for SumUp {
    type Output = String;
    const NAME: &'static str = "sum_up";
}

impl<S: ?Sized + Sync> Exec<S> for SumUp {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<String, BoxError> {
        if self.fails {
            return Err("not now".into());
        }
        let chat = self.chats.open(self.id).await?;
        Ok(cx.call(&ask("Sum up.")).conversation(&chat).await?)
    }
}

#[tokio::test]
async fn equal_questions_in_several_chats_are_turns_of_their_own_after_a_restart() {
    let folder = Folder::new("equal");
    let chats = Conversations::in_memory();
    let model = FnModel::new(|_| Reply::text("Short."));
    let ids = ["a", "b", "c"];
    // The chat "b" cannot be opened the first time, so turns begin in another order the second time.
    for failing in [Some("b"), None] {
        let run = Run::new(model.clone());
        let file = JournalFile::open(folder.file("equal.journal")).unwrap();
        let nodes = ids.map(|id| SumUp {
            chats: chats.clone(),
            id,
            fails: failing == Some(id),
        });
        let answers = run.map(nodes).concurrency(1).resume(file).await;
        let failed = answers.iter().filter(|answer| answer.is_err()).count();
        assert_eq!(failed, usize::from(failing.is_some()));
    }
    for id in ids {
        let chat = chats.open(id).await.unwrap();
        assert_eq!(texts(&chat).await, ["Sum up.", "Short."], "{id}");
    }
    assert_eq!(model.requests().len(), 3, "each is paid once");
}

/// Asks again where the first call fails, and dies behind the turn.
struct Stubborn {
    chats: Conversations,
    dies: bool,
}

impl Node for Stubborn {
    type Output = String;
    const NAME: &'static str = "stubborn";
}

impl<S: ?Sized + Sync> Exec<S> for Stubborn {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<String, BoxError> {
        let chat = self.chats.open("a").await?;
        let node = ask("Sum up.");
        let mut answer = cx.call(&node).conversation(&chat).await;
        if answer.is_err() {
            answer = cx.call(&node).conversation(&chat).await;
        }
        if self.dies {
            return Err("the process dies".into());
        }
        Ok(answer?)
    }
}

#[tokio::test]
async fn a_question_that_is_asked_again_after_a_failure_is_the_same_turn() {
    let folder = Folder::new("again");
    let chats = Conversations::in_memory();
    let gone = ModelError::new(Category::BadRequest, "gone");
    let model = ScriptedModel::new().reply(Reply::error(gone));
    let run = Run::new(model.otherwise(|_| Reply::text("Short.")));
    for dies in [true, false] {
        let file = JournalFile::open(folder.file("again.journal")).unwrap();
        let node = Stubborn {
            chats: chats.clone(),
            dies,
        };
        let answers = run.map([node]).resume(file).await;
        assert_eq!(answers[0].is_err(), dies);
    }
    let chat = chats.open("a").await.unwrap();
    assert_eq!(texts(&chat).await, ["Sum up.", "Short."]);
}
