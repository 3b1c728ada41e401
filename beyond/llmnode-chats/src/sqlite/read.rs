//! Reads rows.

use std::ops::RangeInclusive;

use llmnode_runtime::Covers;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::store::{Blob, ChatRow, Claim, KeptPause, KeptTurn, Parent, Pin, StoredMessage};

const COLUMNS: &str = "id, version, rev, messages, parent, parent_n, format, changed";

pub(super) fn row(connection: &Connection, chat: &str) -> rusqlite::Result<Option<ChatRow>> {
    let select = format!("SELECT {COLUMNS} FROM chat WHERE id = ?1");
    let found = connection
        .prepare_cached(&select)?
        .query_row([chat], own_columns)
        .optional()?;
    found.map(|row| with_rest(connection, row)).transpose()
}

/// Of a database that another program has written into, a number may be any.
fn own_columns(row: &Row<'_>) -> rusqlite::Result<ChatRow> {
    let parent: Option<String> = row.get(4)?;
    let shared: u64 = row.get(5)?;
    Ok(ChatRow {
        id: row.get(0)?,
        version: row.get(1)?,
        revision: row.get(2)?,
        messages: row.get(3)?,
        parent: parent.map(|chat| Parent {
            chat,
            messages: shared,
        }),
        format: row.get(6)?,
        changed: row.get(7)?,
        ..ChatRow::default()
    })
}

fn with_rest(connection: &Connection, mut row: ChatRow) -> rusqlite::Result<ChatRow> {
    row.claim = connection
        .prepare_cached("SELECT owner, turn, until FROM claim WHERE chat = ?1")?
        .query_row([&row.id], |row| {
            Ok(Claim {
                owner: row.get(0)?,
                turn: row.get(1)?,
                until: row.get(2)?,
            })
        })
        .optional()?;
    row.pause = connection
        .prepare_cached("SELECT turn, pause, last_pin, body FROM pause WHERE chat = ?1")?
        .query_row([&row.id], |row| {
            Ok(KeptPause {
                turn: row.get(0)?,
                pause: row.get(1)?,
                last_pin: row.get(2)?,
                body: row.get(3)?,
            })
        })
        .optional()?;
    row.unfinished = connection
        .prepare_cached("SELECT turn, last_pin, body FROM unfinished WHERE chat = ?1")?
        .query_row([&row.id], |row| {
            Ok(KeptTurn {
                turn: row.get(0)?,
                last_pin: row.get(1)?,
                body: row.get(2)?,
            })
        })
        .optional()?;
    row.pins = connection
        .prepare_cached("SELECT n, body FROM pin WHERE chat = ?1 ORDER BY n")?
        .query_map([&row.id], |row| {
            Ok(Pin {
                number: row.get(0)?,
                text: row.get(1)?,
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(row)
}

pub(super) fn messages(
    connection: &Connection,
    chat: &str,
    numbers: &RangeInclusive<u64>,
) -> rusqlite::Result<Vec<StoredMessage>> {
    let first = *numbers.start();
    let last = (*numbers.end()).min(i64::MAX as u64);
    let mut messages = connection
        .prepare_cached(
            "SELECT n, turn, pinned, failed, body FROM message WHERE chat = ?1 AND n BETWEEN ?2 AND ?3 ORDER BY n",
        )?
        .query_map(params![chat, first, last], |row| {
            Ok(StoredMessage {
                number: row.get(0)?,
                turn: row.get(1)?,
                pinned: row.get(2)?,
                failed: row.get(3)?,
                body: row.get(4)?,
                blobs: Vec::new(),
            })
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let mut uses = connection.prepare_cached(
        "SELECT n, hash FROM message_blob WHERE chat = ?1 AND n BETWEEN ?2 AND ?3 ORDER BY n",
    )?;
    let mut rows = uses.query(params![chat, first, last])?;
    while let Some(row) = rows.next()? {
        let number: u64 = row.get(0)?;
        let place = messages.binary_search_by_key(&number, |message| message.number);
        if let Ok(place) = place {
            messages[place].blobs.push(row.get(1)?);
        }
    }
    Ok(messages)
}

pub(super) fn covers(
    connection: &Connection,
    chat: &str,
    messages: u64,
) -> rusqlite::Result<Vec<Covers>> {
    let messages = messages.min(i64::MAX as u64);
    connection
        .prepare_cached(
            "SELECT n, first, last, body FROM covers WHERE chat = ?1 AND n <= ?2 ORDER BY n, place",
        )?
        .query_map(params![chat, messages], |row| {
            Ok(Covers {
                messages: row.get(0)?,
                first: row.get(1)?,
                last: row.get(2)?,
                body: row.get(3)?,
            })
        })?
        .collect()
}

pub(super) fn blobs(connection: &Connection, hashes: Vec<String>) -> rusqlite::Result<Vec<Blob>> {
    let mut select = connection.prepare_cached("SELECT body FROM blob WHERE hash = ?1")?;
    let mut blobs = Vec::new();
    for hash in hashes {
        let body = select.query_row([&hash], |row| row.get(0)).optional()?;
        blobs.extend(body.map(|body| Blob { hash, body }));
    }
    Ok(blobs)
}

pub(super) fn turn(
    connection: &Connection,
    chat: &str,
    turn: &str,
) -> rusqlite::Result<Option<u64>> {
    connection
        .prepare_cached("SELECT min(n) FROM message WHERE chat = ?1 AND turn = ?2")?
        .query_row([chat, turn], |row| row.get(0))
}

pub(super) fn forks(connection: &Connection, chat: &str) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare_cached("SELECT id FROM chat WHERE parent = ?1 ORDER BY id")?
        .query_map([chat], |row| row.get(0))?
        .collect()
}

pub(super) fn list(
    connection: &Connection,
    prefix: &str,
    after: Option<&str>,
    most: u32,
) -> rusqlite::Result<Vec<ChatRow>> {
    // By bytes, without wildcards. The range ends where the prefix does, so that the index is enough.
    let select = format!(
        "SELECT {COLUMNS} FROM chat WHERE id >= ?1 AND (?2 IS NULL OR id > ?2) AND substr(id, 1, length(?1)) = ?1
         ORDER BY id LIMIT ?3"
    );
    let rows = connection
        .prepare_cached(&select)?
        .query_map(params![prefix, after, most], own_columns)?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    rows.into_iter()
        .map(|row| with_rest(connection, row))
        .collect()
}
