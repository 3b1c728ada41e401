//! Reads rows. What belongs to one row is read in one transaction, so that it fits together.

use std::ops::RangeInclusive;

use llmnode_runtime::Covers;
use tokio_postgres::{Client, Error, IsolationLevel, Row, Transaction};

use crate::store::{Blob, ChatRow, Claim, KeptPause, KeptTurn, Parent, Pin, StoredMessage};

const COLUMNS: &str = "id, version, rev, messages, parent, parent_n, format, changed";

/// Nobody writes negative numbers.
pub(super) fn number(row: &Row, column: usize) -> u64 {
    u64::try_from(row.get::<_, i64>(column)).unwrap_or_default()
}

pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

async fn snapshot(client: &mut Client) -> Result<Transaction<'_>, Error> {
    client
        .build_transaction()
        .isolation_level(IsolationLevel::RepeatableRead)
        .read_only(true)
        .start()
        .await
}

pub(super) async fn row(client: &mut Client, chat: &str) -> Result<Option<ChatRow>, Error> {
    let transaction = snapshot(client).await?;
    let select = format!("SELECT {COLUMNS} FROM chat WHERE id = $1");
    let Some(row) = transaction.query_opt(&select, &[&chat]).await? else {
        transaction.commit().await?;
        return Ok(None);
    };
    let row = with_rest(&transaction, own_columns(&row)).await?;
    transaction.commit().await?;
    Ok(Some(row))
}

fn own_columns(row: &Row) -> ChatRow {
    let parent: Option<String> = row.get(4);
    let shared = number(row, 5);
    ChatRow {
        id: row.get(0),
        version: row.get(1),
        revision: number(row, 2),
        messages: number(row, 3),
        parent: parent.map(|chat| Parent {
            chat,
            messages: shared,
        }),
        format: u32::try_from(number(row, 6)).unwrap_or(u32::MAX),
        changed: number(row, 7),
        ..ChatRow::default()
    }
}

async fn with_rest(transaction: &Transaction<'_>, mut row: ChatRow) -> Result<ChatRow, Error> {
    let claim = "SELECT owner, turn, until FROM claim WHERE chat = $1";
    let claim = transaction.query_opt(claim, &[&row.id]).await?;
    row.claim = claim.map(|row| Claim {
        owner: row.get(0),
        turn: row.get(1),
        until: number(&row, 2),
    });
    let pause = "SELECT turn, pause, last_pin, body FROM pause WHERE chat = $1";
    let pause = transaction.query_opt(pause, &[&row.id]).await?;
    row.pause = pause.map(|row| KeptPause {
        turn: row.get(0),
        pause: row.get(1),
        last_pin: number(&row, 2),
        body: row.get(3),
    });
    let kept = "SELECT turn, last_pin, body FROM unfinished WHERE chat = $1";
    let kept = transaction.query_opt(kept, &[&row.id]).await?;
    row.unfinished = kept.map(|row| KeptTurn {
        turn: row.get(0),
        last_pin: number(&row, 1),
        body: row.get(2),
    });
    let pins = "SELECT n, body FROM pin WHERE chat = $1 ORDER BY n";
    let pins = transaction.query(pins, &[&row.id]).await?;
    row.pins = pins
        .iter()
        .map(|row| Pin {
            number: number(row, 0),
            text: row.get(1),
        })
        .collect();
    Ok(row)
}

pub(super) async fn messages(
    client: &Client,
    chat: &str,
    numbers: &RangeInclusive<u64>,
) -> Result<Vec<StoredMessage>, Error> {
    let first = signed(*numbers.start());
    let last = signed(*numbers.end());
    let select = "SELECT n, turn, pinned, failed, body FROM message WHERE chat = $1 AND n BETWEEN $2 AND $3 ORDER BY n";
    let rows = client.query(select, &[&chat, &first, &last]).await?;
    let mut messages: Vec<StoredMessage> = rows
        .iter()
        .map(|row| StoredMessage {
            number: number(row, 0),
            turn: row.get(1),
            pinned: row.get(2),
            failed: row.get(3),
            body: row.get(4),
            blobs: Vec::new(),
        })
        .collect();
    let uses =
        "SELECT n, hash FROM message_blob WHERE chat = $1 AND n BETWEEN $2 AND $3 ORDER BY n, hash";
    for row in client.query(uses, &[&chat, &first, &last]).await? {
        let place = messages.binary_search_by_key(&number(&row, 0), |message| message.number);
        if let Ok(place) = place {
            messages[place].blobs.push(row.get(1));
        }
    }
    Ok(messages)
}

pub(super) async fn covers(
    client: &Client,
    chat: &str,
    messages: u64,
) -> Result<Vec<Covers>, Error> {
    let select =
        "SELECT n, first, last, body FROM covers WHERE chat = $1 AND n <= $2 ORDER BY n, place";
    let rows = client.query(select, &[&chat, &signed(messages)]).await?;
    let covers = rows.iter().map(|row| Covers {
        messages: number(row, 0),
        first: number(row, 1),
        last: number(row, 2),
        body: row.get(3),
    });
    Ok(covers.collect())
}

pub(super) async fn blobs(client: &Client, hashes: &[String]) -> Result<Vec<Blob>, Error> {
    let select = "SELECT hash, body FROM blob WHERE hash = ANY($1)";
    let rows = client.query(select, &[&hashes]).await?;
    let blobs = rows.iter().map(|row| Blob {
        hash: row.get(0),
        body: row.get(1),
    });
    Ok(blobs.collect())
}

pub(super) async fn turn(client: &Client, chat: &str, turn: &str) -> Result<Option<u64>, Error> {
    let select = "SELECT min(n) FROM message WHERE chat = $1 AND turn = $2";
    let row = client.query_one(select, &[&chat, &turn]).await?;
    let first: Option<i64> = row.get(0);
    Ok(first.and_then(|first| u64::try_from(first).ok()))
}

pub(super) async fn forks(client: &Client, chat: &str) -> Result<Vec<String>, Error> {
    let select = "SELECT id FROM chat WHERE parent = $1 ORDER BY id";
    let rows = client.query(select, &[&chat]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

pub(super) async fn list(
    client: &mut Client,
    prefix: &str,
    after: Option<&str>,
    most: u32,
) -> Result<Vec<ChatRow>, Error> {
    let transaction = snapshot(client).await?;
    let select = format!(
        "SELECT {COLUMNS} FROM chat WHERE id >= $1 AND ($2::TEXT IS NULL OR id > $2) AND starts_with(id, $1) ORDER BY id LIMIT $3"
    );
    let most = i64::from(most);
    let found = transaction
        .query(&select, &[&prefix, &after, &most])
        .await?;
    let mut rows = Vec::new();
    for row in &found {
        rows.push(with_rest(&transaction, own_columns(row)).await?);
    }
    transaction.commit().await?;
    Ok(rows)
}
