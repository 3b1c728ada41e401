//! Conversations in Postgres.
//!
//! A connection is taken for one operation from `pool`, and given back: what keeps writers apart while a model answers is the claim, a row. Each
//! write locks the row of its conversation first, so that two writers of one conversation wait for each other and not for the database.

mod pool;
mod read;
mod write;

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use llmnode_runtime::{BoxFuture, Category, Covers, NodeError};
use tokio_postgres::Client;

use self::pool::{Connect, Pool, in_time};

use crate::store::{Blob, Change, ChatRow, Store, StoredMessage};

/// The tables, as SQL that one may run oneself.
pub(crate) const TABLES: &str = concat!(include_str!("tables.sql"), include_str!("covers.sql"));

/// What the second version of the tables adds to the first one.
const SECOND: &str = include_str!("covers.sql");

const VERSION: i64 = 2;

/// Two programs must not create the tables at once.
const LOCK: i64 = 0x6c6c_6d63;

pub(crate) struct PostgresChats {
    pool: Pool,
}

impl PostgresChats {
    pub(crate) async fn open(connect: Arc<Connect>) -> Result<Self, NodeError> {
        let pool = Pool::new(connect);
        let mut client = pool.client().await?;
        in_time(create_tables(&mut client)).await??;
        pool.give_back(client);
        Ok(PostgresChats { pool })
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
        // NULL: there is no row.
        let version: Option<i64> = row.get(0);
        let version = version.ok_or_else(without_version)?;
        if version > VERSION {
            let why = format!(
                "the tables of Postgres have version {version}, and this version of llmnode reads up to {VERSION}; use a newer one"
            );
            return Err(NodeError::new(Category::ConfigError, why));
        }
        if version < VERSION {
            transaction
                .batch_execute(SECOND)
                .await
                .map_err(not_migrated)?;
        }
    } else {
        transaction.batch_execute(TABLES).await.map_err(fault)?;
    }
    transaction.commit().await.map_err(fault)
}

/// As tables are restored without their rows.
fn without_version() -> NodeError {
    let why = "the table `chats_version` of Postgres has no row, so nobody knows the version of the tables; if there is a table `covers`, \
               run `INSERT INTO chats_version VALUES (2)`, and otherwise `INSERT INTO chats_version VALUES (1)`";
    NodeError::new(Category::ConfigError, why)
}

fn not_migrated(error: tokio_postgres::Error) -> NodeError {
    let why = "the tables of Postgres have version 1, and could not be brought to version 2; run the end of \
               `Conversations::POSTGRES_TABLES`, from \"Version 2\" on, as a role that may create tables";
    NodeError::new(Category::ConfigError, why).with_source(fault(error))
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
            let client = self.pool.client().await?;
            let now = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT";
            let row = in_time(client.query_one(now, &[])).await?.map_err(fault)?;
            self.pool.give_back(client);
            Ok(read::number(&row, 0))
        })
    }

    fn read<'a>(&'a self, chat: &'a str) -> BoxFuture<'a, Result<Option<ChatRow>, NodeError>> {
        Box::pin(async move {
            let mut client = self.pool.client().await?;
            let row = in_time(read::row(&mut client, chat))
                .await?
                .map_err(fault)?;
            self.pool.give_back(client);
            Ok(row)
        })
    }

    fn messages<'a>(
        &'a self,
        chat: &'a str,
        numbers: RangeInclusive<u64>,
    ) -> BoxFuture<'a, Result<Vec<StoredMessage>, NodeError>> {
        Box::pin(async move {
            let client = self.pool.client().await?;
            let messages = in_time(read::messages(&client, chat, &numbers))
                .await?
                .map_err(fault)?;
            self.pool.give_back(client);
            Ok(messages)
        })
    }

    fn covers<'a>(
        &'a self,
        chat: &'a str,
        messages: u64,
    ) -> BoxFuture<'a, Result<Vec<Covers>, NodeError>> {
        Box::pin(async move {
            let client = self.pool.client().await?;
            let covers = in_time(read::covers(&client, chat, messages))
                .await?
                .map_err(fault)?;
            self.pool.give_back(client);
            Ok(covers)
        })
    }

    fn blobs<'a>(&'a self, hashes: &'a [String]) -> BoxFuture<'a, Result<Vec<Blob>, NodeError>> {
        Box::pin(async move {
            let client = self.pool.client().await?;
            let blobs = in_time(read::blobs(&client, hashes))
                .await?
                .map_err(fault)?;
            self.pool.give_back(client);
            Ok(blobs)
        })
    }

    fn turn<'a>(
        &'a self,
        chat: &'a str,
        turn: &'a str,
    ) -> BoxFuture<'a, Result<Option<u64>, NodeError>> {
        Box::pin(async move {
            let client = self.pool.client().await?;
            let first = in_time(read::turn(&client, chat, turn))
                .await?
                .map_err(fault)?;
            self.pool.give_back(client);
            Ok(first)
        })
    }

    fn write<'a>(&'a self, change: &'a Change) -> BoxFuture<'a, Result<bool, NodeError>> {
        Box::pin(async move {
            let mut client = self.pool.client().await?;
            let is_written = in_time(write::write(&mut client, change))
                .await?
                .map_err(fault)?;
            self.pool.give_back(client);
            Ok(is_written)
        })
    }

    fn forks<'a>(&'a self, chat: &'a str) -> BoxFuture<'a, Result<Vec<String>, NodeError>> {
        Box::pin(async move {
            let client = self.pool.client().await?;
            let forks = in_time(read::forks(&client, chat)).await?.map_err(fault)?;
            self.pool.give_back(client);
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
            let mut client = self.pool.client().await?;
            let list = read::list(&mut client, prefix, after, most);
            let rows = in_time(list).await?.map_err(fault)?;
            self.pool.give_back(client);
            Ok(rows)
        })
    }

    fn delete<'a>(
        &'a self,
        chats: &'a [String],
        before: Option<u64>,
    ) -> BoxFuture<'a, Result<bool, NodeError>> {
        Box::pin(async move {
            let mut client = self.pool.client().await?;
            let deletion = write::delete(&mut client, chats, before);
            let is_deleted = in_time(deletion).await?.map_err(fault)?;
            self.pool.give_back(client);
            Ok(is_deleted)
        })
    }
}

impl fmt::Debug for PostgresChats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresChats").finish_non_exhaustive()
    }
}
