//! What a product does with conversations: list, read, fork, delete.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use llmnode::Image;
use llmnode::chats::{Chat, Conversations};
use llmnode::prelude::*;

use crate::support::{Folder, Moment, ask, seen, stores, texts};

async fn turns(chat: &Chat, questions: &[&str]) {
    let run = Run::new(ScriptedModel::new().otherwise(|_| Reply::text("Yes.")));
    for question in questions {
        run.call(&ask(question)).conversation(chat).await.unwrap();
    }
}

#[tokio::test]
async fn a_fork_shares_what_comes_before_it() {
    let folder = Folder::new("forks");
    for (name, chats) in stores(&folder).await {
        let chat = chats.open("acme/42").await.unwrap();
        turns(&chat, &["One?", "Two?", "Three?"]).await;
        let fork = chat.fork_at(4).await.unwrap();
        turns(&fork, &["Other?"]).await;
        assert_eq!(
            texts(&fork).await,
            ["One?", "Yes.", "Two?", "Yes.", "Other?", "Yes."]
        );
        assert_eq!(
            texts(&chat).await.len(),
            6,
            "{name}: the parent stays as it was"
        );
        // A fork of a fork, before and behind the place of the first one.
        let early = fork.fork_at(2).await.unwrap();
        let late = fork.fork_at(6).await.unwrap();
        turns(&early, &["Early?"]).await;
        turns(&late, &["Late?"]).await;
        assert_eq!(texts(&early).await, ["One?", "Yes.", "Early?", "Yes."]);
        assert_eq!(texts(&late).await.len(), 8);
        let parent = chats.list(early.id(), None).await.unwrap()[0]
            .parent
            .clone();
        assert_eq!(
            parent.as_deref(),
            Some("acme/42"),
            "{name}: chains stay short"
        );
        let empty = chat.fork_at(0).await.unwrap();
        turns(&empty, &["Anew?"]).await;
        assert_eq!(texts(&empty).await, ["Anew?", "Yes."]);
        let numbers = late.messages(3..=6).await.unwrap();
        let numbers: Vec<u64> = numbers.iter().map(|one| one.number).collect();
        assert_eq!(numbers, [3, 4, 5, 6]);
        for cut in [1, 3, 7, 100] {
            let error = chat.fork_at(cut).await.unwrap_err();
            assert_eq!(error.category(), Category::ConfigError, "{name}: {cut}");
        }
    }
}

#[tokio::test]
async fn deletion_asks_for_forks() {
    let folder = Folder::new("deletes");
    for (name, chats) in stores(&folder).await {
        let chat = chats.open("acme/42").await.unwrap();
        turns(&chat, &["One?"]).await;
        let fork = chat.fork_at(2).await.unwrap();
        let inner = fork.fork_at(2).await.unwrap();
        turns(&inner, &["Inner?"]).await;
        let error = chats.delete("acme/42").await.unwrap_err();
        assert_eq!(error.category(), Category::ConfigError);
        assert!(error.to_string().contains(fork.id()), "{name}: {error}");
        assert_eq!(texts(&inner).await.len(), 4);
        assert_eq!(chats.delete_with_forks("acme/42").await.unwrap(), 3);
        assert!(chats.list("", None).await.unwrap().is_empty());
        assert!(!chats.delete("acme/42").await.unwrap());
        // The same id begins anew.
        turns(&chat, &["Again?"]).await;
        assert_eq!(texts(&chat).await, ["Again?", "Yes."], "{name}");
    }
}

#[tokio::test]
async fn a_call_whose_conversation_is_deleted_gets_conflict() {
    let folder = Folder::new("gone");
    for (name, chats) in stores(&folder).await {
        let chat = chats.open("acme/42").await.unwrap();
        let slow = ScriptedModel::new()
            .otherwise(|_| Reply::text("Late.").after(Duration::from_millis(200)));
        let run = Run::new(slow);
        let question = ask("One?");
        let (outcome, deleted) = tokio::join!(run.call(&question).conversation(&chat), async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let deleted = chats.delete("acme/42").await.unwrap();
            turns(&chat, &["Anew?"]).await;
            deleted
        });
        assert!(deleted, "{name}");
        assert_eq!(
            outcome.unwrap_err().category(),
            Category::Conflict,
            "{name}"
        );
        assert_eq!(texts(&chat).await, ["Anew?", "Yes."], "{name}");
    }
}

#[tokio::test]
async fn lists_go_by_prefix_and_page_and_old_ones_are_deleted() {
    let folder = Folder::new("lists");
    for (name, chats) in stores(&folder).await {
        for number in 0..120 {
            let chat = chats.open(format!("acme/{number:03}")).await.unwrap();
            chat.pin("a").await.unwrap();
        }
        let other = chats.open("acmé/1").await.unwrap();
        turns(&other, &["One?"]).await;
        let first = chats.list("acme/", None).await.unwrap();
        assert_eq!(first.len(), 100, "{name}");
        let rest = chats.list("acme/", Some("acme/099")).await.unwrap();
        assert_eq!(rest.len(), 20);
        assert_eq!(rest[0].id, "acme/100");
        let long_ago = SystemTime::now() - Duration::from_secs(3600);
        assert_eq!(chats.delete_before(long_ago).await.unwrap(), 0);
        let fork = other.fork_at(2).await.unwrap();
        let soon = SystemTime::now() + Duration::from_secs(60);
        assert_eq!(chats.delete_before(soon).await.unwrap(), 122, "{name}");
        assert!(chats.list(fork.id(), None).await.unwrap().is_empty());
    }
}

/// Whoever writes between the list of old chats and their deletion keeps the chat.
#[tokio::test]
async fn a_chat_that_somebody_comes_back_to_meanwhile_is_not_old() {
    let folder = Folder::new("back");
    for (name, chats) in stores(&folder).await {
        let chat = chats.open("acme/42").await.unwrap();
        let old = chats.open("acme/43").await.unwrap();
        turns(&chat, &["One?"]).await;
        turns(&old, &["One?"]).await;
        // Times are in milliseconds: another one before and after.
        tokio::time::sleep(Duration::from_millis(5)).await;
        let time = SystemTime::now();
        tokio::time::sleep(Duration::from_millis(5)).await;
        let is_back = AtomicBool::new(false);
        let owner = chat.clone();
        let seen = seen(chats, move |moment| {
            let is_first = moment == Moment::Listed && !is_back.swap(true, Ordering::Relaxed);
            let owner = owner.clone();
            Box::pin(async move {
                if is_first {
                    turns(&owner, &["Two?"]).await;
                }
            })
        });
        let deleted = seen.delete_before(time).await.unwrap();
        assert_eq!(texts(&chat).await, ["One?", "Yes.", "Two?", "Yes."]);
        assert_eq!(deleted, 1, "{name}");
        assert!(texts(&old).await.is_empty(), "{name}");
    }
}

#[tokio::test]
async fn a_large_attachment_stands_once() {
    #[llm_node(prompt = "What is it? {picture:attach}")]
    struct Look {
        picture: Image,
    }
    let folder = Folder::new("blobs");
    for (name, chats) in stores(&folder).await {
        let chat = chats.open("acme/42").await.unwrap();
        let run = Run::new(ScriptedModel::new().otherwise(|_| Reply::text("A lamp.")));
        let look = Look {
            picture: Image::bytes("image/png", vec![7; 40_000]).unwrap(),
        };
        let report = run.call(&look).conversation(&chat).report().await.unwrap();
        let second = run.call(&look).conversation(&chat).report().await.unwrap();
        let history = chat.history().await.unwrap();
        assert_eq!(history, second.history().unwrap(), "{name}");
        assert_eq!(history[..1], report.messages[..1]);
    }
    let path = folder.file("chats.db");
    let bytes = std::fs::metadata(&path).unwrap().len() + wal(&path);
    assert!(bytes < 600_000, "{bytes}");
}

fn wal(path: &std::path::Path) -> u64 {
    let name = format!("{}-wal", path.display());
    std::fs::metadata(name).map_or(0, |file| file.len())
}

#[tokio::test]
async fn ids_that_cannot_be_are_refused() {
    let chats = Conversations::in_memory();
    for id in [String::new(), "a".repeat(513), "a\0b".to_owned()] {
        let error = chats.open(id).await.unwrap_err();
        assert_eq!(error.category(), Category::ConfigError, "{error}");
    }
    chats.open("ü/42 %_'\"").await.unwrap();
}
