//! Paths that do not lead to a store.

use std::fs;

use llmnode_rag::*;
use llmnode_runtime::Category;
use rusqlite::Connection;

use crate::support::*;

/// Case 59, of files.
#[test]
fn what_is_no_store_is_refused_by_name() {
    let folder = Folder::new();
    let at = |name: &str| folder.0.join(name);
    let refused = |name: &str, says: &[&str]| {
        let before = fs::read(at(name)).ok();
        let error = SqliteStore::open(at(name)).unwrap_err();
        assert_eq!(error.category(), Category::ConfigError, "{error}");
        for words in says.iter().chain(&[name]) {
            assert!(error.message().contains(words), "{words:?}: {error}");
        }
        assert_eq!(fs::read(at(name)).ok(), before, "{name} is left as it is");
    };
    fs::create_dir(at("folder")).unwrap();
    refused("folder", &["directory", "name a file in it"]);

    fs::create_dir(at("chroma-data")).unwrap();
    Connection::open(at("chroma-data/chroma.sqlite3"))
        .unwrap()
        .execute_batch(
            "CREATE TABLE embeddings_queue (seq_id INTEGER); CREATE TABLE tenants (id TEXT)",
        )
        .unwrap();
    refused("chroma-data", &["directory of Chroma", "`ChromaStore`"]);
    refused(
        "chroma-data/chroma.sqlite3",
        &["of Chroma", "`ChromaStore`"],
    );

    Connection::open(at("other.db"))
        .unwrap()
        .execute_batch("CREATE TABLE accounts (id INTEGER)")
        .unwrap();
    refused("other.db", &["another program"]);

    fs::write(
        at("notes.txt"),
        "these are notes, and there are many of them".repeat(50),
    )
    .unwrap();
    refused("notes.txt", &["not a file of SQLite"]);

    drop(SqliteStore::open(at("new.db")).unwrap());
    Connection::open(at("new.db"))
        .unwrap()
        .execute_batch("PRAGMA user_version = 2")
        .unwrap();
    refused(
        "new.db",
        &["llmnode/documents version 2", "newer than version 1"],
    );

    let error = SqliteStore::open(at("nowhere/docs.db")).unwrap_err();
    assert!(
        error.category() == Category::ExecError && error.message().contains("nowhere"),
        "{error}"
    );
    // An empty file is a new store.
    fs::write(at("empty.db"), "").unwrap();
    drop(SqliteStore::open(at("empty.db")).unwrap());
    drop(SqliteStore::open(at("empty.db")).unwrap());
}

#[tokio::test]
async fn a_store_is_there_after_it_was_closed() {
    let folder = Folder::new();
    for written in [true, false] {
        let docs = Collection::builder(folder.store(), "docs")
            .embedder(HashEmbedder::new(64))
            .open()
            .await
            .unwrap();
        if written {
            run()
                .call(&docs.write(Document::new("a", "the key").meta("n", 1.5)))
                .await
                .unwrap();
        }
        let hits = run().call(&docs.search("key")).await.unwrap();
        assert_eq!((hits.len(), hits[0].metadata["n"].as_f64()), (1, Some(1.5)));
    }
}
