//! Flows that share a chat, in the workers' processes, over a store that can end its process just behind a commit.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use llmnode::chats::{Blob, Change, Chat, ChatRow, Conversations, Covers, Store, StoredMessage};
use llmnode::flow::Step;
use llmnode::prelude::*;
use llmnode::{Action, BoxFuture, Cx, NodeError};

use crate::work::World;

/// The file of the chats.
const CHATS: &str = "LLMNODE_CHATS";
/// Behind which write the process ends. Without it, none.
const LAST_WRITE: &str = "LLMNODE_LAST_WRITE";

/// The questions that a run asks in the chat.
pub(crate) const QUESTIONS: usize = 2;

/// Looks a word up.
#[tool]
fn look(word: String) -> String {
    format!("{word} is there")
}

#[llm_node(prompt = "{question}", tools = [Look], state = World)]
struct Ask {
    question: String,
}

/// Asks in the chat, and notes the answer.
struct Talk {
    question: String,
    chat: String,
}

#[derive(Action)]
pub(crate) enum Next {
    Ask,
    End,
}

#[llmnode::step]
impl Step<World> for Talk {
    type Output = String;
    type Action = Next;

    async fn prep(world: &World) -> Result<Self, BoxError> {
        Ok(Talk {
            question: question(&world.topic, world.notes.len()),
            chat: world.plan.clone(),
        })
    }

    async fn exec(&self, cx: &Cx<'_, World>) -> Result<String, BoxError> {
        let path = PathBuf::from(std::env::var(CHATS)?);
        let chat = patient(chats(&path)?, &self.chat).await?;
        let question = self.question.clone();
        Ok(cx.call(&Ask { question }).conversation(&chat).await?)
    }

    fn post(self, answer: String, world: &mut World) -> Result<Next, BoxError> {
        world.notes.push(answer);
        if world.notes.len() == QUESTIONS {
            return Ok(Next::End);
        }
        Ok(Next::Ask)
    }
}

flow! { pub(crate) Talking(World): Talk => match { Next::Ask => Talk, Next::End => end } }

/// A run that talks in this chat.
pub(crate) fn in_chat(run: &str, chat: &str) -> World {
    World {
        plan: chat.to_owned(),
        ..World::on(run)
    }
}

pub(crate) fn question(run: &str, number: usize) -> String {
    format!("Question {number} of {run}")
}

/// A chat that is waited for. The claim of a run whose worker was killed holds until another worker has the run: if others wrote first,
/// its turn would be asked anew, with what they wrote.
pub(crate) async fn patient(chats: Conversations, chat: &str) -> Result<Chat, NodeError> {
    let chat = chats.open(chat).await?;
    let chat = chat.lease(Duration::from_secs(120));
    Ok(chat.wait(Duration::from_secs(300)))
}

/// What a worker is told about the chats.
pub(crate) fn variables(path: &Path, last_write: Option<u64>) -> Vec<(&'static str, String)> {
    let mut variables = vec![(CHATS, path.display().to_string())];
    if let Some(write) = last_write {
        variables.push((LAST_WRITE, write.to_string()));
    }
    variables
}

fn chats(path: &Path) -> Result<Conversations, NodeError> {
    let sqlite = Conversations::sqlite(path)?;
    let Ok(last) = std::env::var(LAST_WRITE) else {
        return Ok(sqlite);
    };
    Ok(Conversations::over(Dying {
        sqlite,
        last: last.parse().unwrap(),
    }))
}

/// A store whose process ends when a write was committed and nobody has heard of it.
struct Dying {
    sqlite: Conversations,
    last: u64,
}

/// In this process.
static WRITES: AtomicU64 = AtomicU64::new(0);

impl Store for Dying {
    fn write<'a>(&'a self, change: &'a Change) -> BoxFuture<'a, Result<bool, NodeError>> {
        Box::pin(async move {
            let is_written = self.sqlite.store().write(change).await?;
            if is_written && WRITES.fetch_add(1, Ordering::Relaxed) + 1 == self.last {
                std::process::abort();
            }
            Ok(is_written)
        })
    }

    fn now(&self) -> BoxFuture<'_, Result<u64, NodeError>> {
        self.sqlite.store().now()
    }

    fn read<'a>(&'a self, chat: &'a str) -> BoxFuture<'a, Result<Option<ChatRow>, NodeError>> {
        self.sqlite.store().read(chat)
    }

    fn messages<'a>(
        &'a self,
        chat: &'a str,
        numbers: RangeInclusive<u64>,
    ) -> BoxFuture<'a, Result<Vec<StoredMessage>, NodeError>> {
        self.sqlite.store().messages(chat, numbers)
    }

    fn covers<'a>(
        &'a self,
        chat: &'a str,
        messages: u64,
    ) -> BoxFuture<'a, Result<Vec<Covers>, NodeError>> {
        self.sqlite.store().covers(chat, messages)
    }

    fn blobs<'a>(&'a self, hashes: &'a [String]) -> BoxFuture<'a, Result<Vec<Blob>, NodeError>> {
        self.sqlite.store().blobs(hashes)
    }

    fn turn<'a>(
        &'a self,
        chat: &'a str,
        turn: &'a str,
    ) -> BoxFuture<'a, Result<Option<u64>, NodeError>> {
        self.sqlite.store().turn(chat, turn)
    }

    fn forks<'a>(&'a self, chat: &'a str) -> BoxFuture<'a, Result<Vec<String>, NodeError>> {
        self.sqlite.store().forks(chat)
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a str>,
        most: u32,
    ) -> BoxFuture<'a, Result<Vec<ChatRow>, NodeError>> {
        self.sqlite.store().list(prefix, after, most)
    }

    fn delete<'a>(
        &'a self,
        chats: &'a [String],
        before: Option<u64>,
    ) -> BoxFuture<'a, Result<bool, NodeError>> {
        self.sqlite.store().delete(chats, before)
    }
}
