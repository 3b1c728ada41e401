//! Each store keeps its promises, and other programs can read its tables.

use std::process::Command;

use llmnode::chats::Conversations;
use llmnode::prelude::*;

use crate::support::{Folder, ask, connected, postgres, stores};

#[tokio::test]
async fn memory_and_sqlite_keep_the_promises_of_a_store() {
    let folder = Folder::new("contract");
    for (name, chats) in stores(&folder).await {
        let checked = chats.check_store().await;
        checked.unwrap_or_else(|fault| panic!("{name}: {fault}"));
    }
}

#[tokio::test]
async fn files_of_others_are_refused_untouched() {
    let folder = Folder::new("foreign");
    let text = folder.file("notes.txt");
    std::fs::write(&text, "no database, but long enough to be looked at as one: 0123456789012345678901234567890123456789012345").unwrap();
    let error = Conversations::sqlite(&text).unwrap_err();
    assert_eq!(error.category(), Category::ConfigError, "{error}");
    assert!(
        std::fs::read_to_string(&text)
            .unwrap()
            .starts_with("no database")
    );
    for nowhere in ["", ":memory:", "file:a?mode=memory"] {
        let error = Conversations::sqlite(nowhere).unwrap_err();
        assert_eq!(error.category(), Category::ConfigError, "{error}");
    }
    let error = Conversations::sqlite(folder.file("missing/chats.db")).unwrap_err();
    assert_eq!(error.category(), Category::Aborted, "{error}");
}

/// As `pg_dump --schema-only` restores them.
#[tokio::test]
async fn tables_without_their_version_are_refused() {
    let Some(url) = postgres("llmnode_chats_empty_version").await else {
        return;
    };
    Conversations::postgres(&*url).await.unwrap();
    let client = connected(&url).await;
    client
        .batch_execute("TRUNCATE chats_version")
        .await
        .unwrap();
    let error = Conversations::postgres(&*url).await.unwrap_err();
    assert_eq!(error.category(), Category::ConfigError, "{error}");
    let insert = "INSERT INTO chats_version VALUES (2)";
    assert!(error.to_string().contains(insert), "{error}");
    client.batch_execute(insert).await.unwrap();
    Conversations::postgres(url).await.unwrap();
}

const READER: &str = r#"
import json, sqlite3, sys
db = sqlite3.connect("file:" + sys.argv[1] + "?mode=ro", uri=True)
for chat, rev in db.execute("SELECT id, rev FROM chat ORDER BY id"):
    print(chat, rev)
    for n, body in db.execute("SELECT n, body FROM message WHERE chat = ? ORDER BY n", [chat]):
        message = json.loads(body)
        print(n, message["role"], message["content"])
for table in ["claim", "pause", "unfinished", "pin", "blob", "message_blob", "covers"]:
    print(table, db.execute("SELECT count(*) FROM " + table).fetchone()[0])
"#;

/// The documents show rows as they are; a program of one's own reads them without llmnode.
#[tokio::test]
async fn a_script_in_python_reads_the_tables() {
    let folder = Folder::new("python");
    let path = folder.file("chats.db");
    let chats = Conversations::sqlite(&path).unwrap();
    let chat = chats.open("acme/42").await.unwrap();
    let run = Run::new(ScriptedModel::new().reply("Dune."));
    run.call(&ask("What shall I read?"))
        .conversation(&chat)
        .await
        .unwrap();
    chat.pin("Never ship before Friday.").await.unwrap();
    let Ok(output) = Command::new("python3")
        .args(["-c", READER])
        .arg(&path)
        .output()
    else {
        eprintln!("python3 is missing: its script was not run");
        return;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "acme/42 1",
            "1 user What shall I read?",
            "2 assistant Dune.",
            "claim 0",
            "pause 0",
            "unfinished 0",
            "pin 1",
            "blob 0",
            "message_blob 0",
            "covers 0"
        ],
        "{error}"
    );
}

#[test]
fn the_tables_are_a_file_that_one_can_run_oneself() {
    for table in [
        "chat",
        "message",
        "claim",
        "pause",
        "unfinished",
        "pin",
        "blob",
        "covers",
    ] {
        assert!(
            Conversations::SQLITE_TABLES.contains(&format!("CREATE TABLE {table} (")),
            "{table}"
        );
    }
}
