//! Stores, nodes and models that the tests share.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;

use llmnode::chats::{Blob, Change, Chat, ChatRow, Conversations, Covers, Store, StoredMessage};
use llmnode::prelude::*;
use llmnode::{BoxFuture, NodeError};

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

    /// As a name in SQL.
    fn name(&self) -> String {
        let name = self.0.file_name().unwrap().to_string_lossy();
        name.replace('-', "_")
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

/// Conversations in each store, by its name. Postgres is one of them if `LLMNODE_POSTGRES` has its address, as in `scripts/postgres`.
pub(crate) async fn stores(folder: &Folder) -> Vec<(&'static str, Conversations)> {
    let sqlite = Conversations::sqlite(folder.file("chats.db")).unwrap();
    let mut stores = vec![("memory", Conversations::in_memory()), ("sqlite", sqlite)];
    if let Some(url) = postgres(&folder.name()).await {
        stores.push(("postgres", Conversations::postgres(url).await.unwrap()));
    }
    stores
}

/// The address of an empty schema. `None`: there is no Postgres.
pub(crate) async fn postgres(schema: &str) -> Option<String> {
    let url = std::env::var("LLMNODE_POSTGRES").ok()?;
    let url = format!("{url}/postgres");
    let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls)
        .await
        .unwrap();
    let driven = tokio::spawn(connection);
    let create = format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}");
    client.batch_execute(&create).await.unwrap();
    drop(client);
    driven.await.unwrap().unwrap();
    Some(format!("{url}?options=-c%20search_path%3D{schema}"))
}

/// A connection that is driven.
pub(crate) async fn connected(url: &str) -> tokio_postgres::Client {
    let connected = tokio_postgres::connect(url, tokio_postgres::NoTls).await;
    let client_and_connection = connected.unwrap();
    tokio::spawn(client_and_connection.1);
    client_and_connection.0
}

/// The texts of a history.
pub(crate) async fn texts(chat: &Chat) -> Vec<String> {
    let history = chat.history().await.unwrap();
    history.into_iter().map(|message| message.content).collect()
}

/// What a store is about to do, or has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Writes,
    Wrote,
    Listed,
}

/// A store whose moments are seen.
struct Seen<F> {
    chats: Conversations,
    sees: Arc<F>,
    /// Writes go on when nobody waits for them any more, as those of databases do.
    goes_on: bool,
}

/// The same conversations, over a store that goes on when `sees` has ended.
pub(crate) fn seen(
    chats: Conversations,
    sees: impl Fn(Moment) -> BoxFuture<'static, ()> + Send + Sync + 'static,
) -> Conversations {
    Conversations::over(Seen {
        chats,
        sees: Arc::new(sees),
        goes_on: false,
    })
}

/// The same, whose writes go on when nobody waits for them any more.
pub(crate) fn going_on(
    chats: Conversations,
    sees: impl Fn(Moment) -> BoxFuture<'static, ()> + Send + Sync + 'static,
) -> Conversations {
    Conversations::over(Seen {
        chats,
        sees: Arc::new(sees),
        goes_on: true,
    })
}

impl<F> Store for Seen<F>
where
    F: Fn(Moment) -> BoxFuture<'static, ()> + Send + Sync + 'static,
{
    fn write<'a>(&'a self, change: &'a Change) -> BoxFuture<'a, Result<bool, NodeError>> {
        let chats = self.chats.clone();
        let sees = Arc::clone(&self.sees);
        let change = change.clone();
        let write = async move {
            sees(Moment::Writes).await;
            let is_written = chats.store().write(&change).await?;
            sees(Moment::Wrote).await;
            Ok(is_written)
        };
        match self.goes_on {
            true => Box::pin(async { tokio::spawn(write).await.unwrap() }),
            false => Box::pin(write),
        }
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a str>,
        most: u32,
    ) -> BoxFuture<'a, Result<Vec<ChatRow>, NodeError>> {
        Box::pin(async move {
            let rows = self.chats.store().list(prefix, after, most).await?;
            (self.sees)(Moment::Listed).await;
            Ok(rows)
        })
    }

    fn now(&self) -> BoxFuture<'_, Result<u64, NodeError>> {
        self.chats.store().now()
    }

    fn read<'a>(&'a self, chat: &'a str) -> BoxFuture<'a, Result<Option<ChatRow>, NodeError>> {
        self.chats.store().read(chat)
    }

    fn messages<'a>(
        &'a self,
        chat: &'a str,
        numbers: RangeInclusive<u64>,
    ) -> BoxFuture<'a, Result<Vec<StoredMessage>, NodeError>> {
        self.chats.store().messages(chat, numbers)
    }

    fn covers<'a>(
        &'a self,
        chat: &'a str,
        messages: u64,
    ) -> BoxFuture<'a, Result<Vec<Covers>, NodeError>> {
        self.chats.store().covers(chat, messages)
    }

    fn blobs<'a>(&'a self, hashes: &'a [String]) -> BoxFuture<'a, Result<Vec<Blob>, NodeError>> {
        self.chats.store().blobs(hashes)
    }

    fn turn<'a>(
        &'a self,
        chat: &'a str,
        turn: &'a str,
    ) -> BoxFuture<'a, Result<Option<u64>, NodeError>> {
        self.chats.store().turn(chat, turn)
    }

    fn forks<'a>(&'a self, chat: &'a str) -> BoxFuture<'a, Result<Vec<String>, NodeError>> {
        self.chats.store().forks(chat)
    }

    fn delete<'a>(
        &'a self,
        chats: &'a [String],
        before: Option<u64>,
    ) -> BoxFuture<'a, Result<bool, NodeError>> {
        self.chats.store().delete(chats, before)
    }
}
