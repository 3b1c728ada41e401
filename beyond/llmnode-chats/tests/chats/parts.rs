//! Rows that others have written, or damaged.

use std::sync::Arc;

use llmnode::chats::{Change, ChatRow, Conversations, StoredMessage};
use llmnode::prelude::*;

use crate::support::ask;

async fn written(chats: &Conversations, format: u32, bodies: &[&str]) {
    let messages = (1..).zip(bodies).map(|(number, body)| StoredMessage {
        number,
        turn: "turn".into(),
        pinned: false,
        failed: false,
        body: (*body).to_owned(),
        blobs: Vec::new(),
    });
    let change = Change {
        row: ChatRow {
            id: "a".into(),
            version: 1,
            revision: 1,
            messages: bodies.len() as u64,
            format,
            ..ChatRow::default()
        },
        messages: messages.collect(),
        ..Change::default()
    };
    assert!(chats.store().write(&change).await.unwrap());
}

const QUESTION: &str = r#"{"role":"user","content":"How many?"}"#;
const CALL: &str = r#"{"role":"assistant","content":"","tool_calls":[{"id":"1","type":"function","function":{"name":"count","arguments":"{}"}}]}"#;

#[tokio::test]
async fn a_torn_history_is_refused_with_the_number_of_its_message() {
    for (bodies, place) in [
        (vec![QUESTION, CALL], "message 2"),
        (vec![QUESTION, "{\"role\":"], "message 2"),
        (vec!["7"], "message 1"),
    ] {
        let chats = Conversations::in_memory();
        written(&chats, ChatRow::FORMAT, &bodies).await;
        let error = chats.open("a").await.unwrap_err();
        assert_eq!(error.category(), Category::ConfigError, "{error}");
        assert!(error.to_string().contains(place), "{error}");
    }
}

#[tokio::test]
async fn damage_that_comes_later_is_found_before_anything_is_paid() {
    let chats = Conversations::in_memory();
    let chat = chats.open("a").await.unwrap();
    written(&chats, ChatRow::FORMAT, &[QUESTION, CALL]).await;
    let model = ScriptedModel::new();
    let run = Run::new(model.clone());
    let error = run
        .call(&ask("Hello?"))
        .conversation(&chat)
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError, "{error}");
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn a_newer_format_is_refused_untouched() {
    let chats = Conversations::in_memory();
    let chat = chats.open("a").await.unwrap();
    written(&chats, ChatRow::FORMAT + 1, &[QUESTION]).await;
    let before = chats.store().read("a").await.unwrap();
    let error = chats.open("a").await.unwrap_err();
    assert!(error.to_string().contains("use a newer one"), "{error}");
    let run = Run::new(ScriptedModel::new());
    let call = run.call(&ask("Hello?")).conversation(&chat).await;
    assert_eq!(call.unwrap_err().category(), Category::ConfigError);
    assert_eq!(
        chat.pin("a").await.unwrap_err().category(),
        Category::ConfigError
    );
    assert_eq!(chats.store().read("a").await.unwrap(), before);
}

/// A handle may be shared, and the trait is an object.
#[tokio::test]
async fn handles_are_send_and_shared() {
    let chats = Arc::new(Conversations::in_memory());
    let chat = chats.open("a").await.unwrap();
    let run = Arc::new(Run::new(ScriptedModel::new().reply("Hi.")));
    let answered = tokio::spawn(async move {
        run.call(&ask("Hello?")).conversation(&chat).await.unwrap();
        chat.info().await.unwrap().revision
    });
    assert_eq!(answered.await.unwrap(), 1);
}
