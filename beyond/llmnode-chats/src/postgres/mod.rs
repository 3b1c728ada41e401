//! Conversations in Postgres.
//!
//! A connection is taken for one operation, and given back: what keeps writers apart while a model answers is the claim, a row. Each
//! write locks the row of its conversation first, so that two writers of one conversation wait for each other and not for the database.

mod read;
mod write;

use std::fmt;
use std::ops::{Deref, DerefMut, RangeInclusive};
use std::sync::{Arc, Mutex};

use llmnode_model::internal::lock;
use llmnode_runtime::{BoxError, BoxFuture, Category, NodeError};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_postgres::Client;

use crate::store::{Blob, Change, ChatRow, Store, StoredMessage};

/// The tables, as SQL that one may run oneself.
pub(crate) const TABLES: &str = include_str!("tables.sql");

const VERSION: i64 = 1;

/// Connections of a store. An operation takes milliseconds, and others wait for it in their order.
const CONNECTIONS: usize = 8;

/// Two programs must not create the tables at once.
const LOCK: i64 = 0x6c6c_6d63;

/// Makes a connection, and sees to it that it is driven.
pub(crate) type Connect =
    dyn Fn() -> BoxFuture<'static, Result<Client, BoxError>> + Send + Sync + 'static;

pub(crate) struct PostgresChats {
    connect: Arc<Connect>,
    idle: Mutex<Vec<Client>>,
    /// One for each connection that is not in use.
    permits: Semaphore,
}

/// A connection in use, which counts until it is dropped or given back.
struct UsedClient<'s> {
    client: Client,
    permit: SemaphorePermit<'s>,
}

impl Deref for UsedClient<'_> {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl DerefMut for UsedClient<'_> {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}

impl PostgresChats {
    pub(crate) async fn open(connect: Arc<Connect>) -> Result<Self, NodeError> {
        let store = PostgresChats {
            connect,
            idle: Mutex::default(),
            permits: Semaphore::new(CONNECTIONS),
        };
        let mut client = store.client().await?;
        create_tables(&mut client).await?;
        store.give_back(client);
        Ok(store)
    }

    async fn client(&self) -> Result<UsedClient<'_>, NodeError> {
        let permit = self.permits.acquire().await.map_err(|closed| {
            NodeError::new(Category::Aborted, "the connections to Postgres are closed")
                .with_source(closed)
        })?;
        loop {
            let idle = lock(&self.idle).pop();
            match idle {
                Some(client) if client.is_closed() => {}
                Some(client) => return Ok(UsedClient { client, permit }),
                None => break,
            }
        }
        let client = (self.connect)().await.map_err(|fault| {
            let why =
                format!("Postgres cannot be reached: {fault}; check its address, and that it runs");
            NodeError::new(Category::Aborted, why).with_source(fault)
        })?;
        Ok(UsedClient { client, permit })
    }

    /// Of an operation that failed, the connection is closed: nobody knows what state it is in.
    fn give_back(&self, used: UsedClient<'_>) {
        let UsedClient { client, permit } = used;
        if !client.is_closed() {
            lock(&self.idle).push(client);
        }
        drop(permit);
    }
}

/// Connects without TLS.
pub(crate) fn connect_to(url: String) -> Arc<Connect> {
    Arc::new(move || {
        let url = url.clone();
        Box::pin(async move {
            let connected = tokio_postgres::connect(&url, tokio_postgres::NoTls).await?;
            tokio::spawn(drive(connected.1));
            Ok(connected.0)
        })
    })
}

/// A client answers only while its connection is driven.
async fn drive(connection: impl Future<Output = Result<(), tokio_postgres::Error>>) {
    if let Err(fault) = connection.await {
        tracing::warn!(target: "llmnode::chat", "a connection to Postgres broke: {fault}");
    }
}

async fn create_tables(client: &mut Client) -> Result<(), NodeError> {
    let transaction = client.transaction().await.map_err(fault)?;
    let take = "SELECT pg_advisory_xact_lock($1)";
    transaction.execute(take, &[&LOCK]).await.map_err(fault)?;
    let exists = "SELECT to_regclass('chats_version') IS NOT NULL";
    let exists = transaction.query_one(exists, &[]).await.map_err(fault)?;
    if exists.get(0) {
        let version = "SELECT max(version) FROM chats_version";
        let row = transaction.query_one(version, &[]).await.map_err(fault)?;
        let version: i64 = row.get(0);
        if version > VERSION {
            let why = format!(
                "the tables of Postgres have version {version}, and this version of llmnode reads up to {VERSION}; use a newer one"
            );
            return Err(NodeError::new(Category::ConfigError, why));
        }
        return Ok(());
    }
    transaction.batch_execute(TABLES).await.map_err(fault)?;
    transaction.commit().await.map_err(fault)
}

fn fault(error: tokio_postgres::Error) -> NodeError {
    let why = match error.as_db_error() {
        Some(database) => format!("Postgres: {}", database.message()),
        None => format!("Postgres: {error}"),
    };
    NodeError::new(Category::Aborted, why).with_source(error)
}

impl Store for PostgresChats {
    /// The database's, which all processes share.
    fn now(&self) -> BoxFuture<'_, Result<u64, NodeError>> {
        Box::pin(async {
            let client = self.client().await?;
            let now = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT";
            let row = client.query_one(now, &[]).await.map_err(fault)?;
            self.give_back(client);
            Ok(read::number(&row, 0))
        })
    }

    fn read<'a>(&'a self, chat: &'a str) -> BoxFuture<'a, Result<Option<ChatRow>, NodeError>> {
        Box::pin(async move {
            let mut client = self.client().await?;
            let row = read::row(&mut client, chat).await.map_err(fault)?;
            self.give_back(client);
            Ok(row)
        })
    }

    fn messages<'a>(
        &'a self,
        chat: &'a str,
        numbers: RangeInclusive<u64>,
    ) -> BoxFuture<'a, Result<Vec<StoredMessage>, NodeError>> {
        Box::pin(async move {
            let client = self.client().await?;
            let messages = read::messages(&client, chat, &numbers)
                .await
                .map_err(fault)?;
            self.give_back(client);
            Ok(messages)
        })
    }

    fn blobs<'a>(&'a self, hashes: &'a [String]) -> BoxFuture<'a, Result<Vec<Blob>, NodeError>> {
        Box::pin(async move {
            let client = self.client().await?;
            let blobs = read::blobs(&client, hashes).await.map_err(fault)?;
            self.give_back(client);
            Ok(blobs)
        })
    }

    fn turn<'a>(
        &'a self,
        chat: &'a str,
        turn: &'a str,
    ) -> BoxFuture<'a, Result<Option<u64>, NodeError>> {
        Box::pin(async move {
            let client = self.client().await?;
            let first = read::turn(&client, chat, turn).await.map_err(fault)?;
            self.give_back(client);
            Ok(first)
        })
    }

    fn write<'a>(&'a self, change: &'a Change) -> BoxFuture<'a, Result<bool, NodeError>> {
        Box::pin(async move {
            let mut client = self.client().await?;
            let is_written = write::write(&mut client, change).await.map_err(fault)?;
            self.give_back(client);
            Ok(is_written)
        })
    }

    fn forks<'a>(&'a self, chat: &'a str) -> BoxFuture<'a, Result<Vec<String>, NodeError>> {
        Box::pin(async move {
            let client = self.client().await?;
            let forks = read::forks(&client, chat).await.map_err(fault)?;
            self.give_back(client);
            Ok(forks)
        })
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a str>,
        most: u32,
    ) -> BoxFuture<'a, Result<Vec<ChatRow>, NodeError>> {
        Box::pin(async move {
            let mut client = self.client().await?;
            let rows = read::list(&mut client, prefix, after, most).await;
            let rows = rows.map_err(fault)?;
            self.give_back(client);
            Ok(rows)
        })
    }

    fn delete<'a>(&'a self, chats: &'a [String]) -> BoxFuture<'a, Result<bool, NodeError>> {
        Box::pin(async move {
            let mut client = self.client().await?;
            let is_deleted = write::delete(&mut client, chats).await.map_err(fault)?;
            self.give_back(client);
            Ok(is_deleted)
        })
    }
}

impl fmt::Debug for PostgresChats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresChats").finish_non_exhaustive()
    }
}
