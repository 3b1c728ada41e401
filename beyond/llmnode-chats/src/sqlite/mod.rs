//! Conversations in one file of SQLite.
//!
//! A connection for each handle, behind a lock; every operation runs on a thread for work that blocks, so that no task waits for the
//! disk. Nothing is held between two operations: what keeps writers apart is the claim, a row.

mod fault;
mod open;
mod read;
mod write;

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use llmnode_model::internal::lock;
use llmnode_runtime::{BoxFuture, Category, Covers, NodeError};
use rusqlite::Connection;

use self::fault::fault;
pub(crate) use self::open::TABLES;

use crate::memory::now;
use crate::store::{Blob, Change, ChatRow, Store, StoredMessage};

/// Conversations in a file of SQLite: what [`Conversations::sqlite`](crate::Conversations::sqlite) opens. Clones share the connection.
///
/// Any number of processes may share a file. It is written with `synchronous=FULL`: what a call has returned is on the disk.
#[derive(Clone, Debug)]
pub(crate) struct SqliteChats {
    path: PathBuf,
    connection: Arc<Mutex<Connection>>,
}

impl SqliteChats {
    /// Opens the file, and creates it if it does not exist.
    ///
    /// # Errors
    /// `config_error` if the path names no file, one of another program, or one of a newer llmnode; `aborted` if it cannot be opened.
    pub(crate) fn open(path: impl AsRef<Path>) -> Result<Self, NodeError> {
        let path = path.as_ref().to_owned();
        let connection = open::open(&path)?;
        Ok(SqliteChats {
            path,
            connection: Arc::new(Mutex::new(connection)),
        })
    }

    fn on_thread<'a, T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> BoxFuture<'a, Result<T, NodeError>> {
        let connection = Arc::clone(&self.connection);
        let path = self.path.clone();
        Box::pin(async move {
            let done = tokio::task::spawn_blocking(move || work(&mut lock(&connection))).await;
            match done {
                Ok(outcome) => outcome.map_err(|error| fault(&path, error)),
                Err(error) => {
                    let why = format!(
                        "{}: the work on the database was broken off",
                        path.display()
                    );
                    Err(NodeError::new(Category::Aborted, why).with_source(error))
                }
            }
        })
    }
}

impl Store for SqliteChats {
    fn now(&self) -> BoxFuture<'_, Result<u64, NodeError>> {
        Box::pin(std::future::ready(Ok(now())))
    }

    fn read<'a>(&'a self, chat: &'a str) -> BoxFuture<'a, Result<Option<ChatRow>, NodeError>> {
        let chat = chat.to_owned();
        self.on_thread(move |connection| read::row(&*connection.transaction()?, &chat))
    }

    fn messages<'a>(
        &'a self,
        chat: &'a str,
        numbers: RangeInclusive<u64>,
    ) -> BoxFuture<'a, Result<Vec<StoredMessage>, NodeError>> {
        let chat = chat.to_owned();
        self.on_thread(move |connection| {
            read::messages(&*connection.transaction()?, &chat, &numbers)
        })
    }

    fn covers<'a>(
        &'a self,
        chat: &'a str,
        messages: u64,
    ) -> BoxFuture<'a, Result<Vec<Covers>, NodeError>> {
        let chat = chat.to_owned();
        self.on_thread(move |connection| read::covers(connection, &chat, messages))
    }

    fn blobs<'a>(&'a self, hashes: &'a [String]) -> BoxFuture<'a, Result<Vec<Blob>, NodeError>> {
        let hashes = hashes.to_vec();
        self.on_thread(move |connection| read::blobs(connection, hashes))
    }

    fn turn<'a>(
        &'a self,
        chat: &'a str,
        turn: &'a str,
    ) -> BoxFuture<'a, Result<Option<u64>, NodeError>> {
        let chat = chat.to_owned();
        let turn = turn.to_owned();
        self.on_thread(move |connection| read::turn(connection, &chat, &turn))
    }

    fn write<'a>(&'a self, change: &'a Change) -> BoxFuture<'a, Result<bool, NodeError>> {
        let change = change.clone();
        self.on_thread(move |connection| write::write(connection, &change))
    }

    fn forks<'a>(&'a self, chat: &'a str) -> BoxFuture<'a, Result<Vec<String>, NodeError>> {
        let chat = chat.to_owned();
        self.on_thread(move |connection| read::forks(connection, &chat))
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a str>,
        most: u32,
    ) -> BoxFuture<'a, Result<Vec<ChatRow>, NodeError>> {
        let prefix = prefix.to_owned();
        let after = after.map(str::to_owned);
        self.on_thread(move |connection| {
            read::list(&*connection.transaction()?, &prefix, after.as_deref(), most)
        })
    }

    fn delete<'a>(
        &'a self,
        chats: &'a [String],
        before: Option<u64>,
    ) -> BoxFuture<'a, Result<bool, NodeError>> {
        let chats = chats.to_vec();
        self.on_thread(move |connection| write::delete(connection, &chats, before))
    }
}
