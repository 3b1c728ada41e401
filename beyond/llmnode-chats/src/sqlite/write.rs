//! Writes in one transaction each, which takes the lock of the writer at once.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::store::{Change, ChatRow};

pub(super) fn write(connection: &mut Connection, change: &Change) -> rusqlite::Result<bool> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if !write_row(&transaction, change)? {
        return Ok(false);
    }
    write_rest(&transaction, change)?;
    write_messages(&transaction, change)?;
    write_covers(&transaction, change)?;
    transaction.commit()?;
    Ok(true)
}

fn write_row(transaction: &Transaction<'_>, change: &Change) -> rusqlite::Result<bool> {
    let row = &change.row;
    let parent = row.parent.as_ref();
    let shared = parent.map_or(0, |parent| parent.messages);
    let parent = parent.map(|parent| &*parent.chat);
    if let Some(over) = change.over {
        let update = "UPDATE chat SET version = ?3, rev = ?4, messages = ?5, format = ?6, changed = ?7 WHERE id = ?1 AND version = ?2";
        let changed = transaction.prepare_cached(update)?.execute(params![
            row.id,
            over,
            row.version,
            row.revision,
            row.messages,
            row.format,
            row.changed
        ])?;
        return Ok(changed == 1);
    }
    let has_parent = match parent {
        Some(parent) => exists(transaction, parent)?,
        None => true,
    };
    if exists(transaction, &row.id)? || !has_parent {
        return Ok(false);
    }
    let insert = "INSERT INTO chat (id, version, rev, messages, parent, parent_n, format, changed)
                  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    transaction.execute(
        insert,
        params![
            row.id,
            row.version,
            row.revision,
            row.messages,
            parent,
            shared,
            row.format,
            row.changed
        ],
    )?;
    Ok(true)
}

fn exists(transaction: &Transaction<'_>, chat: &str) -> rusqlite::Result<bool> {
    let select = "SELECT 1 FROM chat WHERE id = ?1";
    let found = transaction.query_row(select, [chat], |_| Ok(()));
    Ok(found.optional()?.is_some())
}

fn run(transaction: &Transaction<'_>, chat: &str, sql: &str) -> rusqlite::Result<usize> {
    transaction.prepare_cached(sql)?.execute([chat])
}

/// Claim, pause, unfinished turn and pins, each in its table.
fn write_rest(transaction: &Transaction<'_>, change: &Change) -> rusqlite::Result<()> {
    let ChatRow {
        id,
        claim,
        pause,
        unfinished,
        pins,
        ..
    } = &change.row;
    run(transaction, id, "DELETE FROM claim WHERE chat = ?1")?;
    if let Some(claim) = claim {
        transaction
            .prepare_cached("INSERT INTO claim (chat, owner, turn, until) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![
                id,
                claim.owner,
                claim.turn,
                claim.until.min(i64::MAX as u64)
            ])?;
    }
    if change.has_new_bodies {
        run(transaction, id, "DELETE FROM pause WHERE chat = ?1")?;
        if let Some(pause) = pause {
            transaction
                .prepare_cached(
                    "INSERT INTO pause (chat, turn, pause, last_pin, body) VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute(params![id, pause.turn, pause.pause, pause.last_pin, pause.body])?;
        }
        run(transaction, id, "DELETE FROM unfinished WHERE chat = ?1")?;
        if let Some(kept) = unfinished {
            transaction
                .prepare_cached(
                    "INSERT INTO unfinished (chat, turn, last_pin, body) VALUES (?1, ?2, ?3, ?4)",
                )?
                .execute(params![id, kept.turn, kept.last_pin, kept.body])?;
        }
    }
    run(transaction, id, "DELETE FROM pin WHERE chat = ?1")?;
    for pin in pins {
        transaction
            .prepare_cached("INSERT INTO pin (chat, n, body) VALUES (?1, ?2, ?3)")?
            .execute(params![id, pin.number, pin.text])?;
    }
    Ok(())
}

fn write_messages(transaction: &Transaction<'_>, change: &Change) -> rusqlite::Result<()> {
    for blob in &change.blobs {
        transaction
            .prepare_cached("INSERT OR IGNORE INTO blob (hash, body) VALUES (?1, ?2)")?
            .execute([&blob.hash, &blob.body])?;
    }
    let mut message = transaction.prepare_cached(
        "INSERT INTO message (chat, n, turn, pinned, failed, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let mut uses = transaction
        .prepare_cached("INSERT INTO message_blob (chat, n, hash) VALUES (?1, ?2, ?3)")?;
    for one in &change.messages {
        message.execute(params![
            change.row.id,
            one.number,
            one.turn,
            one.pinned,
            one.failed,
            one.body
        ])?;
        for hash in &one.blobs {
            uses.execute(params![change.row.id, one.number, hash])?;
        }
    }
    Ok(())
}

fn write_covers(transaction: &Transaction<'_>, change: &Change) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO covers (chat, n, place, first, last, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for (place, one) in (1_u64..).zip(&change.covers) {
        insert.execute(params![
            change.row.id,
            one.messages,
            place,
            one.first,
            one.last,
            one.body
        ])?;
    }
    Ok(())
}

fn is_changed_since(
    transaction: &Transaction<'_>,
    chat: &str,
    time: u64,
) -> rusqlite::Result<bool> {
    let select = "SELECT 1 FROM chat WHERE id = ?1 AND changed >= ?2";
    let time = time.min(i64::MAX as u64);
    let found = transaction.query_row(select, params![chat, time], |_| Ok(()));
    Ok(found.optional()?.is_some())
}

/// What refers to a chat, and the chat last.
const OF_A_CHAT: [&str; 7] = [
    "DELETE FROM covers WHERE chat = ?1",
    "DELETE FROM message_blob WHERE chat = ?1",
    "DELETE FROM message WHERE chat = ?1",
    "DELETE FROM claim WHERE chat = ?1",
    "DELETE FROM pause WHERE chat = ?1",
    "DELETE FROM unfinished WHERE chat = ?1",
    "DELETE FROM pin WHERE chat = ?1",
];

pub(super) fn delete(
    connection: &mut Connection,
    chats: &[String],
    before: Option<u64>,
) -> rusqlite::Result<bool> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for chat in chats {
        if let Some(before) = before
            && is_changed_since(&transaction, chat, before)?
        {
            return Ok(false);
        }
        for fork in super::read::forks(&transaction, chat)? {
            if !chats.contains(&fork) {
                return Ok(false);
            }
        }
    }
    // Forks before what they were forked from: the list has them behind it.
    for chat in chats.iter().rev() {
        for delete in OF_A_CHAT {
            transaction.prepare_cached(delete)?.execute([chat])?;
        }
        transaction.execute("DELETE FROM chat WHERE id = ?1", [chat])?;
    }
    transaction.execute(
        "DELETE FROM blob WHERE NOT EXISTS (SELECT 1 FROM message_blob WHERE message_blob.hash = blob.hash)",
        [],
    )?;
    transaction.commit()?;
    Ok(true)
}
