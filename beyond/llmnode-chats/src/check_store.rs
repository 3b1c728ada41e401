//! What every store has to do, as a test that anybody can run against one's own.

use std::collections::HashSet;

use llmnode_runtime::{BoxError, BoxFuture, Covers};

use crate::ids;
use crate::store::{
    Blob, Change, ChatRow, Claim, KeptPause, KeptTurn, Parent, Pin, Store, StoredMessage,
};

pub(crate) async fn check_store(store: &dyn Store) -> Result<(), BoxError> {
    let place = format!("check-store/{}/", ids::unique());
    let checks: [Check; 7] = [
        |store, place| Box::pin(rows_come_back(store, place)),
        |store, place| Box::pin(one_writer_wins(store, place)),
        |store, place| Box::pin(messages_come_back(store, place)),
        |store, place| Box::pin(lists_go_on(store, place)),
        |store, place| Box::pin(forks_hold_their_parent(store, place)),
        |store, place| Box::pin(blobs_are_stored_once(store, place)),
        |store, place| Box::pin(covers_come_back(store, place)),
    ];
    for check in checks {
        check(store, &place).await?;
    }
    Ok(())
}

type Check = for<'a> fn(&'a dyn Store, &'a str) -> BoxFuture<'a, Result<(), BoxError>>;

fn promise(is_kept: bool, what: &str) -> Result<(), BoxError> {
    if is_kept {
        Ok(())
    } else {
        Err(format!("the store breaks a promise: {what}").into())
    }
}

fn row(place: &str, name: &str, version: i64) -> ChatRow {
    ChatRow {
        id: format!("{place}{name}"),
        version,
        format: ChatRow::FORMAT,
        changed: 1_700_000_000_123,
        ..ChatRow::default()
    }
}

fn message(number: u64, turn: &str) -> StoredMessage {
    StoredMessage {
        number,
        turn: turn.to_owned(),
        pinned: number == 1,
        failed: number == 2,
        body: format!("{{\"role\":\"user\",\"content\":\"{number} \u{1f41b}\\u0000\"}}"),
        blobs: Vec::new(),
    }
}

fn full(place: &str) -> ChatRow {
    let turn = "turn ü".to_owned();
    ChatRow {
        revision: 7,
        messages: 14,
        claim: Some(Claim {
            owner: "owner".into(),
            turn: turn.clone(),
            until: 1_700_000_060_000,
        }),
        pause: Some(KeptPause {
            turn: turn.clone(),
            pause: "pause".into(),
            last_pin: 2,
            body: "{\"a\": \"'\\\"\"}".into(),
        }),
        unfinished: Some(KeptTurn {
            turn,
            last_pin: 3,
            body: "{}".into(),
        }),
        pins: vec![
            Pin {
                number: 2,
                text: "b".into(),
            },
            Pin {
                number: 10,
                text: "a\n".into(),
            },
        ],
        ..row(place, "a row's id: ü/%_", 5)
    }
}

/// What a second writer writes over the same version.
fn late(place: &str, messages: Vec<StoredMessage>) -> Change {
    Change {
        row: ChatRow {
            messages: 1,
            ..row(place, "writers", 2)
        },
        over: Some(1),
        messages,
        ..Change::default()
    }
}

fn create(row: ChatRow) -> Change {
    Change {
        row,
        ..Change::default()
    }
}

fn blob(place: &str, name: &str) -> Blob {
    Blob {
        hash: format!("{place}{name}"),
        body: name.repeat(20_000),
    }
}

/// A conversation with one message that has these blobs.
fn using(place: &str, name: &str, blobs: &[Blob]) -> Change {
    Change {
        row: ChatRow {
            messages: 1,
            ..row(place, name, 1)
        },
        messages: vec![StoredMessage {
            blobs: blobs.iter().map(|blob| blob.hash.clone()).collect(),
            ..message(1, "turn")
        }],
        blobs: blobs.to_vec(),
        ..Change::default()
    }
}

async fn rows_come_back(store: &dyn Store, place: &str) -> Result<(), BoxError> {
    let row = full(place);
    promise(
        store.read(&row.id).await?.is_none(),
        "no row that nobody wrote",
    )?;
    let create = Change {
        row: row.clone(),
        has_new_bodies: true,
        ..Change::default()
    };
    promise(store.write(&create).await?, "a new row is written")?;
    promise(!store.write(&create).await?, "a row is not created twice")?;
    let stored = store.read(&row.id).await?;
    promise(
        stored.as_ref() == Some(&row),
        "a row comes back as it was written",
    )?;
    // Claims and pins change without the bodies.
    let renewed = ChatRow {
        version: 6,
        claim: None,
        pins: Vec::new(),
        ..row.clone()
    };
    let change = Change {
        row: renewed.clone(),
        over: Some(5),
        ..Change::default()
    };
    promise(
        store.write(&change).await?,
        "a row is written over its version",
    )?;
    let stored = store.read(&row.id).await?;
    promise(
        stored == Some(renewed.clone()),
        "bodies stay where none is new",
    )?;
    let emptied = ChatRow {
        version: 7,
        pause: None,
        unfinished: None,
        ..renewed
    };
    let change = Change {
        row: emptied.clone(),
        over: Some(6),
        has_new_bodies: true,
        ..Change::default()
    };
    promise(store.write(&change).await?, "bodies are removed")?;
    let stored = store.read(&row.id).await?;
    promise(stored.as_ref() == Some(&emptied), "removed bodies are gone")?;
    let ids = [row.id];
    promise(
        !store.delete(&ids, Some(emptied.changed)).await?,
        "what was changed at this time is not deleted",
    )?;
    promise(
        store.read(&ids[0]).await? == Some(emptied.clone()),
        "a refused deletion deletes nothing",
    )?;
    promise(
        store.delete(&ids, Some(emptied.changed + 1)).await?,
        "what was changed before this time is deleted",
    )
}

async fn one_writer_wins(store: &dyn Store, place: &str) -> Result<(), BoxError> {
    let first = row(place, "writers", 1);
    let id = first.id.clone();
    let create = Change {
        row: first,
        ..Change::default()
    };
    promise(store.write(&create).await?, "a new row is written")?;
    let a = late(place, vec![message(1, "a")]);
    let b = late(place, vec![message(1, "b")]);
    promise(store.write(&a).await?, "the first of two writers wins")?;
    promise(!store.write(&b).await?, "the second of two writers loses")?;
    let stored = store.messages(&id, 1..=9).await?;
    promise(
        stored.len() == 1 && stored[0].turn == "a",
        "a writer that loses writes nothing",
    )?;
    promise(
        store.delete(std::slice::from_ref(&id), None).await?,
        "a row is deleted",
    )?;
    let over_nothing = late(place, Vec::new());
    promise(
        !store.write(&over_nothing).await?,
        "no row is written over one that was deleted",
    )?;
    let left = store.messages(&id, 1..=9).await?;
    promise(left.is_empty(), "messages go with their conversation")
}

async fn messages_come_back(store: &dyn Store, place: &str) -> Result<(), BoxError> {
    let row = ChatRow {
        messages: 12,
        ..row(place, "messages", 1)
    };
    let id = row.id.clone();
    let messages: Vec<StoredMessage> = (1..=12)
        .map(|number| message(number, if number < 4 { "one" } else { "two" }))
        .collect();
    let change = Change {
        row,
        messages: messages.clone(),
        ..Change::default()
    };
    promise(
        store.write(&change).await?,
        "messages are written with their row",
    )?;
    for numbers in [1..=12, 1..=u64::MAX, 2..=3, 9..=40, 13..=20] {
        let is_wanted = |one: &&StoredMessage| numbers.contains(&one.number);
        let expected: Vec<StoredMessage> = messages.iter().filter(is_wanted).cloned().collect();
        let stored = store.messages(&id, numbers).await?;
        promise(
            stored == expected,
            "messages come back by their numbers, in order",
        )?;
    }
    promise(
        store.turn(&id, "two").await? == Some(4),
        "a turn is found by its id",
    )?;
    promise(
        store.turn(&id, "three").await?.is_none(),
        "no turn that nobody wrote",
    )?;
    promise(
        store.delete(&[id], None).await?,
        "a conversation is deleted",
    )
}

fn covers(messages: u64, first: u64) -> Covers {
    Covers {
        messages,
        first,
        last: messages - 1,
        body: format!("{{\"of\": \"{messages} ü\\u0000\"}}"),
    }
}

async fn covers_come_back(store: &dyn Store, place: &str) -> Result<(), BoxError> {
    // Two of one place, which come back in their order.
    let all = [covers(4, 1), covers(9, 3), covers(9, 2), covers(12, 1)];
    let first = Change {
        row: row(place, "covers", 1),
        covers: all[..1].to_vec(),
        ..Change::default()
    };
    let id = first.row.id.clone();
    let second = Change {
        row: row(place, "covers", 2),
        over: Some(1),
        covers: all[1..].to_vec(),
        ..Change::default()
    };
    promise(
        store.write(&first).await? && store.write(&second).await?,
        "covers are written with their row",
    )?;
    promise(!store.write(&second).await?, "no covers without their row")?;
    for (messages, count) in [(3, 0), (4, 1), (11, 3), (12, 4), (u64::MAX, 4)] {
        let stored = store.covers(&id, messages).await?;
        promise(
            stored == all[..count],
            "covers of a history of so many messages come back, in order",
        )?;
    }
    promise(
        store.delete(std::slice::from_ref(&id), None).await?,
        "a conversation is deleted",
    )?;
    let left = store.covers(&id, u64::MAX).await?;
    promise(left.is_empty(), "covers go with their conversation")
}

async fn lists_go_on(store: &dyn Store, place: &str) -> Result<(), BoxError> {
    let names = ["list/%", "list/A", "list/_", "list/a", "list/ü", "lisT/a"];
    let mut ids: Vec<String> = Vec::new();
    for name in names {
        let row = row(place, name, 1);
        ids.push(row.id.clone());
        let change = Change {
            row,
            ..Change::default()
        };
        promise(store.write(&change).await?, "a new row is written")?;
    }
    let prefix = format!("{place}list/");
    let mut listed = Vec::new();
    loop {
        let after = listed.last().cloned();
        let page = store.list(&prefix, after.as_deref(), 2).await?;
        if page.is_empty() {
            break;
        }
        promise(page.len() <= 2, "a page has at most as many as asked for")?;
        listed.extend(page.into_iter().map(|row| row.id));
    }
    let mut expected: Vec<String> = ids.iter().take(5).cloned().collect();
    expected.sort_unstable();
    promise(
        listed == expected,
        "pages list all ids of a prefix, by their bytes",
    )?;
    promise(
        store.delete(&ids, None).await?,
        "several are deleted at once",
    )
}

async fn forks_hold_their_parent(store: &dyn Store, place: &str) -> Result<(), BoxError> {
    let parent = row(place, "parent", 1);
    let fork = ChatRow {
        parent: Some(Parent {
            chat: parent.id.clone(),
            messages: 2,
        }),
        ..row(place, "fork", 1)
    };
    let ids = [parent.id.clone(), fork.id.clone()];
    promise(
        !store.write(&create(fork.clone())).await?,
        "no fork of nothing",
    )?;
    promise(store.write(&create(parent)).await?, "a new row is written")?;
    promise(
        store.write(&create(fork.clone())).await?,
        "a fork is written",
    )?;
    promise(
        store.read(&fork.id).await? == Some(fork),
        "a fork knows its parent",
    )?;
    promise(
        store.forks(&ids[0]).await? == [ids[1].clone()],
        "a parent's forks are found",
    )?;
    promise(
        !store.delete(&ids[..1], None).await?,
        "what has forks is not deleted without them",
    )?;
    promise(
        store.read(&ids[0]).await?.is_some(),
        "a refused deletion deletes nothing",
    )?;
    promise(
        store.delete(&ids, None).await?,
        "a parent is deleted with its forks",
    )?;
    let left = store.read(&ids[1]).await?;
    promise(left.is_none(), "what is deleted is gone")
}

async fn blobs_are_stored_once(store: &dyn Store, place: &str) -> Result<(), BoxError> {
    let all = [blob(place, "a"), blob(place, "b")];
    let hashes: Vec<String> = all.iter().map(|blob| blob.hash.clone()).collect();
    let one = using(place, "blob-1", &all);
    let two = using(place, "blob-2", &all[..1]);
    promise(
        store.write(&one).await? && store.write(&two).await?,
        "equal blobs are no conflict",
    )?;
    let stored = store.messages(&one.row.id, 1..=1).await?;
    let named: HashSet<&String> = stored.iter().flat_map(|one| &one.blobs).collect();
    promise(
        named == hashes.iter().collect(),
        "a message knows its blobs",
    )?;
    promise(
        store.blobs(&hashes).await?.len() == 2,
        "blobs are found by their hashes",
    )?;
    promise(
        store.delete(&[one.row.id], None).await?,
        "a conversation is deleted",
    )?;
    let left = store.blobs(&hashes).await?;
    promise(
        left == all[..1],
        "a blob stays as long as a message has it, and no longer",
    )?;
    promise(
        store.delete(&[two.row.id], None).await?,
        "a conversation is deleted",
    )?;
    promise(
        store.blobs(&hashes).await?.is_empty(),
        "a blob goes with its last message",
    )
}
