//! A store without a database.

use std::collections::BTreeMap;
use std::future::ready;
use std::ops::{Bound, RangeInclusive};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use llmnode_model::internal::lock;
use llmnode_runtime::{BoxFuture, Covers, NodeError};

use crate::store::{Blob, Change, ChatRow, Store, StoredMessage};

/// Conversations in memory, for tests and for programs of one run. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryChats {
    tables: Arc<Mutex<Tables>>,
}

#[derive(Debug, Default)]
struct Tables {
    chats: BTreeMap<String, KeptChat>,
    blobs: BTreeMap<String, String>,
}

#[derive(Debug)]
struct KeptChat {
    row: ChatRow,
    /// Its own messages.
    messages: Vec<StoredMessage>,
    covers: Vec<Covers>,
}

impl MemoryChats {
    /// Creates an empty store.
    pub(crate) fn new() -> Self {
        MemoryChats::default()
    }
}

impl Tables {
    fn write(&mut self, change: &Change) -> bool {
        let stored = self.chats.get(&change.row.id).map(|chat| chat.row.version);
        let parent = change.row.parent.as_ref();
        let is_orphan = parent.is_some_and(|parent| !self.chats.contains_key(&parent.chat));
        if stored != change.over || is_orphan {
            return false;
        }
        for Blob { hash, body } in &change.blobs {
            self.blobs
                .entry(hash.clone())
                .or_insert_with(|| body.clone());
        }
        let chat = self
            .chats
            .entry(change.row.id.clone())
            .or_insert_with(|| KeptChat {
                row: ChatRow::default(),
                messages: Vec::new(),
                covers: Vec::new(),
            });
        chat.row = change.row.clone();
        chat.messages.extend_from_slice(&change.messages);
        chat.covers.extend_from_slice(&change.covers);
        true
    }

    fn forks(&self, chat: &str) -> Vec<String> {
        let rows = self.chats.values().map(|chat| &chat.row);
        rows.filter(|row| is_fork(row, chat))
            .map(|row| row.id.clone())
            .collect()
    }

    fn delete(&mut self, chats: &[String], before: Option<u64>) -> bool {
        let mut forks = chats.iter().flat_map(|chat| self.forks(chat));
        if forks.any(|fork| !chats.contains(&fork)) {
            return false;
        }
        let mut stored = chats.iter().filter_map(|chat| self.chats.get(chat));
        if stored.any(|chat| before.is_some_and(|before| chat.row.changed >= before)) {
            return false;
        }
        self.chats.retain(|id, _| !chats.contains(id));
        let messages = self.chats.values().flat_map(|chat| &chat.messages);
        let used: Vec<String> = messages.flat_map(|one| one.blobs.clone()).collect();
        self.blobs.retain(|hash, _| used.contains(hash));
        true
    }
}

fn is_fork(row: &ChatRow, of: &str) -> bool {
    row.parent.as_ref().is_some_and(|parent| parent.chat == of)
}

impl Store for MemoryChats {
    fn now(&self) -> BoxFuture<'_, Result<u64, NodeError>> {
        Box::pin(ready(Ok(now())))
    }

    fn read<'a>(&'a self, chat: &'a str) -> BoxFuture<'a, Result<Option<ChatRow>, NodeError>> {
        let row = lock(&self.tables)
            .chats
            .get(chat)
            .map(|chat| chat.row.clone());
        Box::pin(ready(Ok(row)))
    }

    fn messages<'a>(
        &'a self,
        chat: &'a str,
        numbers: RangeInclusive<u64>,
    ) -> BoxFuture<'a, Result<Vec<StoredMessage>, NodeError>> {
        let tables = lock(&self.tables);
        let messages = tables.chats.get(chat).map(|chat| &*chat.messages);
        let found = messages.unwrap_or_default().iter();
        let found = found.filter(|one| numbers.contains(&one.number)).cloned();
        Box::pin(ready(Ok(found.collect())))
    }

    fn covers<'a>(
        &'a self,
        chat: &'a str,
        messages: u64,
    ) -> BoxFuture<'a, Result<Vec<Covers>, NodeError>> {
        let tables = lock(&self.tables);
        let covers = tables.chats.get(chat).map(|chat| &*chat.covers);
        let covers = covers.unwrap_or_default().iter();
        let found = covers.filter(|one| one.messages <= messages).cloned();
        Box::pin(ready(Ok(found.collect())))
    }

    fn blobs<'a>(&'a self, hashes: &'a [String]) -> BoxFuture<'a, Result<Vec<Blob>, NodeError>> {
        let tables = lock(&self.tables);
        let found = hashes.iter().filter_map(|hash| {
            let body = tables.blobs.get(hash)?.clone();
            let hash = hash.clone();
            Some(Blob { hash, body })
        });
        Box::pin(ready(Ok(found.collect())))
    }

    fn turn<'a>(
        &'a self,
        chat: &'a str,
        turn: &'a str,
    ) -> BoxFuture<'a, Result<Option<u64>, NodeError>> {
        let tables = lock(&self.tables);
        let messages = tables.chats.get(chat).map(|chat| &*chat.messages);
        let first = messages
            .unwrap_or_default()
            .iter()
            .find(|one| one.turn == turn);
        Box::pin(ready(Ok(first.map(|one| one.number))))
    }

    fn write<'a>(&'a self, change: &'a Change) -> BoxFuture<'a, Result<bool, NodeError>> {
        let is_written = lock(&self.tables).write(change);
        Box::pin(ready(Ok(is_written)))
    }

    fn forks<'a>(&'a self, chat: &'a str) -> BoxFuture<'a, Result<Vec<String>, NodeError>> {
        let forks = lock(&self.tables).forks(chat);
        Box::pin(ready(Ok(forks)))
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a str>,
        most: u32,
    ) -> BoxFuture<'a, Result<Vec<ChatRow>, NodeError>> {
        let from = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        let tables = lock(&self.tables);
        let rows = tables
            .chats
            .range::<str, _>((from, Bound::Unbounded))
            .take_while(|(id, _)| id.starts_with(prefix))
            .take(most as usize)
            .map(|(_, chat)| chat.row.clone());
        Box::pin(ready(Ok(rows.collect())))
    }

    fn delete<'a>(
        &'a self,
        chats: &'a [String],
        before: Option<u64>,
    ) -> BoxFuture<'a, Result<bool, NodeError>> {
        let is_deleted = lock(&self.tables).delete(chats, before);
        Box::pin(ready(Ok(is_deleted)))
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
