//! Writes in one transaction each. The row of the conversation comes first, since its lock keeps other writers of it away.

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error, Transaction};

use super::read::{number, signed};
use crate::store::{Change, ChatRow};

pub(super) async fn write(client: &mut Client, change: &Change) -> Result<bool, Error> {
    match try_write(client, change).await {
        // Somebody created the row meanwhile, or deleted its parent or a blob: the caller reads again.
        Err(error) if is_race(&error) => Ok(false),
        outcome => outcome,
    }
}

fn is_race(error: &Error) -> bool {
    error.code().is_some_and(|code| {
        [
            SqlState::UNIQUE_VIOLATION,
            SqlState::FOREIGN_KEY_VIOLATION,
            SqlState::T_R_DEADLOCK_DETECTED,
        ]
        .contains(code)
    })
}

async fn try_write(client: &mut Client, change: &Change) -> Result<bool, Error> {
    let transaction = client.transaction().await?;
    if !write_row(&transaction, change).await? {
        return Ok(false);
    }
    write_rest(&transaction, change).await?;
    write_messages(&transaction, change).await?;
    write_covers(&transaction, change).await?;
    transaction.commit().await?;
    Ok(true)
}

async fn write_row(transaction: &Transaction<'_>, change: &Change) -> Result<bool, Error> {
    let row = &change.row;
    let revision = signed(row.revision);
    let messages = signed(row.messages);
    let format = i64::from(row.format);
    let changed = signed(row.changed);
    if let Some(over) = change.over {
        let update = "UPDATE chat SET version = $3, rev = $4, messages = $5, format = $6, changed = $7 WHERE id = $1 AND version = $2";
        let written = transaction
            .execute(
                update,
                &[
                    &row.id,
                    &over,
                    &row.version,
                    &revision,
                    &messages,
                    &format,
                    &changed,
                ],
            )
            .await?;
        return Ok(written == 1);
    }
    let parent = row.parent.as_ref().map(|parent| &*parent.chat);
    let shared = signed(row.parent.as_ref().map_or(0, |parent| parent.messages));
    let insert = "INSERT INTO chat (id, version, rev, messages, parent, parent_n, format, changed)
                  VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING";
    let written = transaction
        .execute(
            insert,
            &[
                &row.id,
                &row.version,
                &revision,
                &messages,
                &parent,
                &shared,
                &format,
                &changed,
            ],
        )
        .await?;
    Ok(written == 1)
}

/// Claim, pause, unfinished turn and pins, each in its table.
async fn write_rest(transaction: &Transaction<'_>, change: &Change) -> Result<(), Error> {
    let ChatRow {
        id,
        claim,
        pause,
        unfinished,
        pins,
        ..
    } = &change.row;
    let delete = "DELETE FROM claim WHERE chat = $1";
    transaction.execute(delete, &[id]).await?;
    if let Some(claim) = claim {
        let insert = "INSERT INTO claim (chat, owner, turn, until) VALUES ($1, $2, $3, $4)";
        let until = signed(claim.until);
        transaction
            .execute(insert, &[id, &claim.owner, &claim.turn, &until])
            .await?;
    }
    if change.has_new_bodies {
        let delete = "DELETE FROM pause WHERE chat = $1";
        transaction.execute(delete, &[id]).await?;
        if let Some(pause) = pause {
            let insert =
                "INSERT INTO pause (chat, turn, pause, last_pin, body) VALUES ($1, $2, $3, $4, $5)";
            let last = signed(pause.last_pin);
            transaction
                .execute(insert, &[id, &pause.turn, &pause.pause, &last, &pause.body])
                .await?;
        }
        let delete = "DELETE FROM unfinished WHERE chat = $1";
        transaction.execute(delete, &[id]).await?;
        if let Some(kept) = unfinished {
            let insert =
                "INSERT INTO unfinished (chat, turn, last_pin, body) VALUES ($1, $2, $3, $4)";
            let last = signed(kept.last_pin);
            transaction
                .execute(insert, &[id, &kept.turn, &last, &kept.body])
                .await?;
        }
    }
    let delete = "DELETE FROM pin WHERE chat = $1";
    transaction.execute(delete, &[id]).await?;
    for pin in pins {
        let insert = "INSERT INTO pin (chat, n, body) VALUES ($1, $2, $3)";
        let number = signed(pin.number);
        transaction
            .execute(insert, &[id, &number, &pin.text])
            .await?;
    }
    Ok(())
}

async fn write_messages(transaction: &Transaction<'_>, change: &Change) -> Result<(), Error> {
    for blob in &change.blobs {
        let insert = "INSERT INTO blob (hash, body) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        transaction
            .execute(insert, &[&blob.hash, &blob.body])
            .await?;
    }
    let chat = &change.row.id;
    let insert =
        "INSERT INTO message (chat, n, turn, pinned, failed, body) VALUES ($1, $2, $3, $4, $5, $6)";
    let uses = "INSERT INTO message_blob (chat, n, hash) VALUES ($1, $2, $3)";
    for one in &change.messages {
        let number = signed(one.number);
        transaction
            .execute(
                insert,
                &[
                    chat,
                    &number,
                    &one.turn,
                    &one.pinned,
                    &one.failed,
                    &one.body,
                ],
            )
            .await?;
        for hash in &one.blobs {
            transaction.execute(uses, &[chat, &number, hash]).await?;
        }
    }
    Ok(())
}

async fn write_covers(transaction: &Transaction<'_>, change: &Change) -> Result<(), Error> {
    let insert =
        "INSERT INTO covers (chat, n, place, first, last, body) VALUES ($1, $2, $3, $4, $5, $6)";
    for (place, one) in (1_i64..).zip(&change.covers) {
        let messages = signed(one.messages);
        let first = signed(one.first);
        let last = signed(one.last);
        transaction
            .execute(
                insert,
                &[&change.row.id, &messages, &place, &first, &last, &one.body],
            )
            .await?;
    }
    Ok(())
}

/// What refers to a chat, and the chat last. `$1`: ids.
const OF_CHATS: [&str; 8] = [
    "DELETE FROM covers WHERE chat = ANY($1)",
    "DELETE FROM message_blob WHERE chat = ANY($1)",
    "DELETE FROM message WHERE chat = ANY($1)",
    "DELETE FROM claim WHERE chat = ANY($1)",
    "DELETE FROM pause WHERE chat = ANY($1)",
    "DELETE FROM unfinished WHERE chat = ANY($1)",
    "DELETE FROM pin WHERE chat = ANY($1)",
    "DELETE FROM chat WHERE id = ANY($1)",
];

/// Of the blobs of these chats, those that no other message has.
const UNUSED: &str = "DELETE FROM blob WHERE hash = ANY($1) AND NOT EXISTS
                      (SELECT 1 FROM message_blob WHERE message_blob.hash = blob.hash)";

pub(super) async fn delete(
    client: &mut Client,
    chats: &[String],
    before: Option<u64>,
) -> Result<bool, Error> {
    let hashes = match try_delete(client, chats, before).await {
        Ok(Some(hashes)) => hashes,
        Ok(None) => return Ok(false),
        Err(error) if is_race(&error) => return Ok(false),
        Err(error) => return Err(error),
    };
    match client.execute(UNUSED, &[&hashes]).await {
        // A message that is written just now has one of them: the next deletion sees to the others.
        Err(error) if !is_race(&error) => Err(error),
        _ => Ok(true),
    }
}

/// Returns the blobs that may be unused now. `None`: there are other forks, or one was changed since.
async fn try_delete(
    client: &mut Client,
    chats: &[String],
    before: Option<u64>,
) -> Result<Option<Vec<String>>, Error> {
    let transaction = client.transaction().await?;
    let lock = "SELECT changed FROM chat WHERE id = ANY($1) ORDER BY id FOR UPDATE";
    let rows = transaction.query(lock, &[&chats]).await?;
    if let Some(before) = before
        && rows.iter().any(|row| number(row, 0) >= before)
    {
        return Ok(None);
    }
    let forks = "SELECT count(*) FROM chat WHERE parent = ANY($1) AND NOT id = ANY($1)";
    let forks = transaction.query_one(forks, &[&chats]).await?;
    if forks.get::<_, i64>(0) > 0 {
        return Ok(None);
    }
    let hashes = "SELECT DISTINCT hash FROM message_blob WHERE chat = ANY($1)";
    let hashes = transaction.query(hashes, &[&chats]).await?;
    for delete in OF_CHATS {
        transaction.execute(delete, &[&chats]).await?;
    }
    transaction.commit().await?;
    Ok(Some(hashes.iter().map(|row| row.get(0)).collect()))
}
