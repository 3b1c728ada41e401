//! All conversations of a store.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use llmnode_runtime::{BoxError, Category, NodeError};

use crate::chat::Chat;
use crate::check_store::check_store;
use crate::history;
use crate::info::ChatInfo;
use crate::memory::MemoryChats;
use crate::store::Store;
use crate::turns;

/// Ids that are listed at once.
const PAGE: u32 = 100;

/// Bytes of an id.
const LONGEST_ID: usize = 512;

/// Conversations in a database. It is a cheap handle; clones share the database.
///
/// Feature `chats`; `chats-sqlite` for [`sqlite`](Self::sqlite).
///
/// ```
/// # use llmnode_chats as llmnode_chats;
/// use llmnode_chats::Conversations;
/// use llmnode_runtime::{DynNode, Message, NodeError, Run, ScriptedModel};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let chats = Conversations::in_memory(); // or Conversations::sqlite("chats.db")?
/// let chat = chats.open("acme/42").await?;
///
/// let run = Run::new(ScriptedModel::new().reply("Dune.").reply("By Frank Herbert."));
/// let librarian = DynNode::builder("librarian").text().build()?;
/// run.call(&librarian.ask("What shall I read?")).conversation(&chat).await?;
/// run.call(&librarian.ask("Who wrote it?")).conversation(&chat).await?;
/// assert_eq!(chat.history().await?.len(), 4);
/// # Ok::<(), NodeError>(()) }).unwrap();
/// ```
#[derive(Clone)]
pub struct Conversations {
    store: Arc<dyn Store>,
}

impl Conversations {
    /// Opens a file of SQLite, and creates it if it does not exist. Any number of processes may share it.
    ///
    /// # Errors
    /// `config_error` if the path names no file, one of another program, or one of a newer llmnode; `aborted` if it cannot be opened.
    #[cfg(feature = "sqlite")]
    pub fn sqlite(path: impl AsRef<std::path::Path>) -> Result<Self, NodeError> {
        Ok(Conversations::over(crate::sqlite::SqliteChats::open(path)?))
    }

    /// Connects to Postgres without TLS, and creates the tables if they are missing: `postgres://user:password@host/database`.
    ///
    /// # Errors
    /// `config_error` if a newer llmnode made the tables; `aborted` if the database cannot be reached.
    #[cfg(feature = "postgres")]
    pub async fn postgres(url: impl Into<String>) -> Result<Self, NodeError> {
        let connect = crate::postgres::connect_to(url.into());
        let store = crate::postgres::PostgresChats::open(connect).await?;
        Ok(Conversations::over(store))
    }

    /// Connects to Postgres as you do it, such as with TLS. The function makes a client of tokio-postgres 0.7, and spawns what drives
    /// it. There are at most eight clients at once, or as many as the database allows, each for the milliseconds of an operation; none is
    /// held while a model answers.
    ///
    /// # Errors
    /// As of [`postgres`](Self::postgres).
    #[cfg(feature = "postgres")]
    pub async fn postgres_with<F>(
        connect: impl Fn() -> F + Send + Sync + 'static,
    ) -> Result<Self, NodeError>
    where
        F: Future<Output = Result<tokio_postgres::Client, BoxError>> + Send + 'static,
    {
        let store = crate::postgres::PostgresChats::open(Arc::new(move || Box::pin(connect())));
        Ok(Conversations::over(store.await?))
    }

    /// Creates conversations that end with the process, for tests and for programs of one run.
    pub fn in_memory() -> Self {
        Conversations::over(MemoryChats::new())
    }

    /// Keeps conversations in a store of one's own.
    pub fn over(store: impl Store) -> Self {
        Conversations {
            store: Arc::new(store),
        }
    }

    /// The tables of [`sqlite`](Self::sqlite), as SQL that one may run oneself.
    #[cfg(feature = "sqlite")]
    pub const SQLITE_TABLES: &str = crate::sqlite::TABLES;

    /// The tables of [`postgres`](Self::postgres), for a role that may not create them itself.
    #[cfg(feature = "postgres")]
    pub const POSTGRES_TABLES: &str = crate::postgres::TABLES;

    /// Returns the store, for programs that look after its rows themselves.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Tries whether the store keeps its promises: a test for a store of one's own. It writes conversations whose ids begin with
    /// `check-store/` and a random text, and deletes them.
    ///
    /// ```
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    /// # runtime.block_on(async {
    /// llmnode_chats::Conversations::in_memory().check_store().await?;
    /// # Ok::<(), llmnode_runtime::BoxError>(()) }).unwrap();
    /// ```
    ///
    /// # Errors
    /// The first promise that is broken, or an error of the store.
    pub async fn check_store(&self) -> Result<(), BoxError> {
        check_store(&*self.store).await
    }

    /// Opens a conversation. One that does not exist is empty, and is created by its first turn, pin or fork.
    ///
    /// # Errors
    /// `config_error` if the id is empty or longer than 512 bytes, if the conversation is damaged (with the number of the message), or
    /// if a newer llmnode wrote it; `aborted` if the database fails.
    pub async fn open(&self, id: impl Into<String>) -> Result<Chat, NodeError> {
        let id = id.into();
        if id.is_empty() || id.len() > LONGEST_ID || id.contains('\0') {
            let why = format!(
                "{:?} cannot be the id of a chat; take a text of 1 to {LONGEST_ID} bytes, such as \"acme/42\"",
                id.chars().take(40).collect::<String>()
            );
            return Err(NodeError::new(Category::ConfigError, why));
        }
        if let Some(row) = self.store.read(&id).await? {
            turns::check_format(&row)?;
            history::whole(&*self.store, &row).await?;
        }
        Ok(Chat::new(Arc::clone(&self.store), id))
    }

    /// Lists conversations whose ids begin with `prefix` and come behind `after`, in the order of the bytes of their ids: at most 100.
    /// Pass the last id for the next ones. A prefix such as `"acme/"` keeps tenants apart.
    ///
    /// # Errors
    /// `aborted` if the database fails.
    pub async fn list(
        &self,
        prefix: &str,
        after: Option<&str>,
    ) -> Result<Vec<ChatInfo>, NodeError> {
        let rows = self.store.list(prefix, after, PAGE).await?;
        Ok(rows.into_iter().map(ChatInfo::of).collect())
    }

    /// Deletes a conversation, with its pause and what is unfinished. `false`: there was none. A call that has it under way gets
    /// `conflict` when it ends.
    ///
    /// # Errors
    /// `config_error` if it has forks, since they share its messages; `aborted` if the database fails.
    pub async fn delete(&self, id: &str) -> Result<bool, NodeError> {
        if self.store.read(id).await?.is_none() {
            return Ok(false);
        }
        if self.store.delete(&[id.to_owned()], None).await? {
            return Ok(true);
        }
        let forks = self.store.forks(id).await?.join(", ");
        let why = format!(
            "the chat {id:?} has forks that share its messages: {forks}; delete them, too, with `delete_with_forks`"
        );
        Err(NodeError::new(Category::ConfigError, why))
    }

    /// Deletes a conversation with its forks, and theirs. Returns how many went.
    ///
    /// # Errors
    /// `conflict` if forks are made meanwhile, again and again; `aborted` if the database fails.
    pub async fn delete_with_forks(&self, id: &str) -> Result<usize, NodeError> {
        for _ in 0..8 {
            if self.store.read(id).await?.is_none() {
                return Ok(0);
            }
            let mut all = vec![id.to_owned()];
            let mut next = 0;
            while let Some(parent) = all.get(next).cloned() {
                all.extend(self.store.forks(&parent).await?);
                next += 1;
            }
            if self.store.delete(&all, None).await? {
                return Ok(all.len());
            }
        }
        Err(turns::conflict(format!(
            "forks of the chat {id:?} are made while it is deleted; try again"
        )))
    }

    /// Deletes the conversations that were last written before this time. One whose forks are newer stays. Returns how many went.
    ///
    /// # Errors
    /// `aborted` if the database fails.
    pub async fn delete_before(&self, time: SystemTime) -> Result<usize, NodeError> {
        let before = time
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |since| {
                u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
            });
        let mut deleted = 0;
        loop {
            let gone = self.delete_old(before).await?;
            deleted += gone;
            // What was forked goes once its forks are gone.
            if gone == 0 {
                return Ok(deleted);
            }
        }
    }

    async fn delete_old(&self, before: u64) -> Result<usize, NodeError> {
        let mut deleted = 0;
        let mut after: Option<String> = None;
        loop {
            let rows = self.store.list("", after.as_deref(), PAGE).await?;
            let Some(last) = rows.last() else {
                return Ok(deleted);
            };
            after = Some(last.id.clone());
            for row in rows.iter().filter(|row| row.changed < before) {
                // Somebody may have come back to it since the list.
                let id = std::slice::from_ref(&row.id);
                if self.store.delete(id, Some(before)).await? {
                    deleted += 1;
                }
            }
        }
    }
}

impl fmt::Debug for Conversations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversations").finish_non_exhaustive()
    }
}
