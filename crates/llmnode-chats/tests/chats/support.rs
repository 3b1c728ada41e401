//! Stores, nodes and models that the tests share.

use std::path::PathBuf;

use llmnode::chats::{Chat, Conversations};
use llmnode::prelude::*;

#[llm_node(system = "You are a librarian. Be brief.", prompt = "{question}")]
pub(crate) struct Ask {
    pub(crate) question: String,
}

pub(crate) fn ask(question: &str) -> Ask {
    Ask {
        question: question.to_owned(),
    }
}

/// A folder that goes away with the test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let name = format!("llmnode-chats-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Conversations in each store, by its name.
pub(crate) fn stores(folder: &Folder) -> Vec<(&'static str, Conversations)> {
    vec![
        ("memory", Conversations::in_memory()),
        (
            "sqlite",
            Conversations::sqlite(folder.file("chats.db")).unwrap(),
        ),
    ]
}

/// The texts of a history.
pub(crate) async fn texts(chat: &Chat) -> Vec<String> {
    let history = chat.history().await.unwrap();
    history.into_iter().map(|message| message.content).collect()
}
