//! Reads messages: those of the conversation, and those that it shares with what it was forked from.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use llmnode_runtime::{Category, Covers, Message, NodeError, Role};

use crate::body;
use crate::store::{ChatRow, Parent, Store, StoredMessage};

/// Forks of forks that are followed. A fork of a shared message is one of the conversation that has it, so chains are short.
const MOST_FORKS: usize = 1_000;

/// The messages with these numbers, in order.
pub(crate) async fn stored(
    store: &dyn Store,
    row: &ChatRow,
    numbers: RangeInclusive<u64>,
) -> Result<Vec<StoredMessage>, NodeError> {
    let first = (*numbers.start()).max(1);
    let mut last = (*numbers.end()).min(row.messages);
    let mut parts = Vec::new();
    let mut chat = row.id.clone();
    let mut parent = row.parent.clone();
    for _ in 0..MOST_FORKS {
        let shared = parent.as_ref().map_or(0, |parent| parent.messages);
        let start = first.max(shared + 1);
        if start <= last {
            parts.push(store.messages(&chat, start..=last).await?);
        }
        last = last.min(shared);
        let Some(Parent { chat: next, .. }) = parent.filter(|_| first <= last) else {
            break;
        };
        let Some(above) = store.read(&next).await? else {
            return Err(torn(
                &row.id,
                last,
                "the conversation that it was forked from is gone",
            ));
        };
        chat = next;
        parent = above.parent;
    }
    parts.reverse();
    let messages: Vec<StoredMessage> = parts.into_iter().flatten().collect();
    check_numbers(row, first, &messages)?;
    Ok(messages)
}

fn check_numbers(row: &ChatRow, first: u64, messages: &[StoredMessage]) -> Result<(), NodeError> {
    for (expected, message) in (first..).zip(messages) {
        if message.number != expected {
            return Err(torn(&row.id, expected, "it is missing"));
        }
    }
    Ok(())
}

/// What stands for messages where the history was shortened, if it has so many messages. A fork has what its parent's history had
/// that it shares.
pub(crate) async fn covers(
    store: &dyn Store,
    row: &ChatRow,
    messages: u64,
) -> Result<Vec<Covers>, NodeError> {
    let mut parts = Vec::new();
    let mut chat = row.id.clone();
    let mut parent = row.parent.clone();
    let mut messages = messages;
    for _ in 0..MOST_FORKS {
        parts.push(store.covers(&chat, messages).await?);
        let Some(Parent {
            chat: next,
            messages: shared,
        }) = parent
        else {
            break;
        };
        messages = messages.min(shared);
        parent = store.read(&next).await?.and_then(|above| above.parent);
        chat = next;
    }
    parts.reverse();
    Ok(parts.into_iter().flatten().collect())
}

/// Their messages, with attachments.
pub(crate) async fn read(
    store: &dyn Store,
    stored: &[StoredMessage],
) -> Result<Vec<Message>, NodeError> {
    let mut hashes: Vec<String> = stored.iter().flat_map(|one| one.blobs.clone()).collect();
    hashes.sort_unstable();
    hashes.dedup();
    let blobs = if hashes.is_empty() {
        HashMap::new()
    } else {
        let blobs = store.blobs(&hashes).await?;
        blobs
            .into_iter()
            .map(|blob| (blob.hash, blob.body))
            .collect()
    };
    stored.iter().map(|one| body::read(one, &blobs)).collect()
}

/// The whole history, checked.
pub(crate) async fn whole(store: &dyn Store, row: &ChatRow) -> Result<Vec<Message>, NodeError> {
    if row.messages == 0 {
        return Ok(Vec::new());
    }
    let stored = stored(store, row, 1..=row.messages).await?;
    if stored.len() as u64 != row.messages {
        let next = stored.len() as u64 + 1;
        return Err(torn(&row.id, next, "it is missing"));
    }
    let messages = read(store, &stored).await?;
    check(&row.id, &messages)?;
    Ok(messages)
}

/// Each call has one result, and each result a call right before it.
fn check(chat: &str, messages: &[Message]) -> Result<(), NodeError> {
    let mut open: Vec<&str> = Vec::new();
    let mut asked_at = 0;
    for (number, message) in (1..).zip(messages) {
        if let Some(id) = message.answers() {
            let Some(place) = open.iter().position(|open| *open == id) else {
                let why = format!("it is the result of the call {id:?}, which is not open there");
                return Err(torn(chat, number, &why));
            };
            open.remove(place);
            continue;
        }
        if let Some(id) = open.first() {
            return Err(torn(chat, asked_at, &without_result(id)));
        }
        if message.role == Role::System {
            return Err(torn(chat, number, "it is a system message"));
        }
        open = message.calls().iter().map(|call| &*call.id).collect();
        asked_at = number;
    }
    match open.first() {
        Some(id) => Err(torn(chat, asked_at, &without_result(id))),
        None => Ok(()),
    }
}

fn without_result(call: &str) -> String {
    format!("its call {call:?} has no result behind it")
}

fn torn(chat: &str, number: u64, why: &str) -> NodeError {
    let message = format!(
        "the history of the chat {chat:?} was damaged at message {number}: {why}; providers refuse such a conversation; \
         repair the table, or delete the chat"
    );
    NodeError::new(Category::ConfigError, message)
}

#[cfg(test)]
mod tests {
    use llmnode_runtime::ToolCall;

    use super::*;

    #[test]
    fn damage_is_found_with_its_number() {
        let call = |id: &str| Message::assistant("").calling([ToolCall::new(id, "count", "{}")]);
        let user = || Message::user("How many?");
        let valid = [
            user(),
            call("1"),
            Message::tool("1", "3"),
            Message::assistant("3"),
        ];
        check("a", &valid).unwrap();
        for (messages, place) in [
            (vec![user(), call("1")], "message 2: its call \"1\""),
            (vec![user(), call("1"), user()], "message 2: its call"),
            (
                vec![user(), Message::tool("1", "3")],
                "message 2: it is the result",
            ),
            (
                vec![
                    user(),
                    call("1"),
                    Message::tool("1", "3"),
                    Message::tool("1", "3"),
                ],
                "message 4: it is the result",
            ),
            (vec![Message::system("Obey.")], "message 1: it is a system"),
        ] {
            let error = check("a", &messages).unwrap_err();
            assert_eq!(error.category(), Category::ConfigError);
            assert!(error.to_string().contains(place), "{error}");
        }
    }
}
