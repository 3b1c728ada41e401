//! Crashes at every write, and processes side by side.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use llmnode_runtime::{Category, Run, ScriptedModel};
use tokio::runtime::Runtime;

use super::SqliteStore;
use crate::{Collection, CollectionSize, Document, HashEmbedder};

/// Tells a process that it is the child: what to do, to which file.
const CHILD: &str = "LLMNODE_RAG_CHILD";

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("llmnode-rag-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
}

async fn docs(store: SqliteStore) -> Collection {
    Collection::builder(store, "docs")
        .embedder(HashEmbedder::new(16))
        .chunks(20, 0)
        .open()
        .await
        .unwrap()
}

async fn write(docs: &Collection, documents: Vec<Document>) {
    Run::new(ScriptedModel::new())
        .call(&docs.write_all(documents))
        .await
        .unwrap();
}

fn old() -> Vec<Document> {
    vec![
        Document::new(
            "a",
            "The old first one.\n\nThis one stays.\n\nAnd the last old.",
        )
        .meta("v", 1),
        Document::new("b", "Another text."),
    ]
}

fn new() -> Vec<Document> {
    vec![
        Document::new("a", "A new first one.\n\nThis one stays.").meta("v", 2),
        Document::new("c", "Another text.\n\nAnd more of it."),
    ]
}

/// This test in a process of its own.
fn child(task: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let value = format!("{task}\n{}", path.display());
    command
        .args(["--exact", "sqlite::tests::as_a_child", "--test-threads=1"])
        .env(CHILD, value);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[test]
fn as_a_child() {
    let Ok(told) = std::env::var(CHILD) else {
        return;
    };
    let (task, path) = told.split_once('\n').unwrap();
    let store = SqliteStore::open(path).unwrap();
    runtime().block_on(async {
        let docs = docs(store.clone()).await;
        match task.split_once(' ') {
            Some(("crash", at)) => {
                crashes(&store, at.parse().unwrap());
                write(&docs, new()).await;
            }
            Some(("write", name)) => {
                for at in 0..20 {
                    write(
                        &docs,
                        vec![Document::new(
                            format!("{name}{at}"),
                            format!("text {at} of {name}"),
                        )],
                    )
                    .await;
                }
            }
            _ => panic!("no such task"),
        }
    });
}

/// Ends the process at the write of this number: a row, or the end of a transaction.
fn crashes(store: &SqliteStore, at: usize) {
    static WRITES: AtomicUsize = AtomicUsize::new(0);
    let count = move || {
        if WRITES.fetch_add(1, Ordering::Relaxed) + 1 == at {
            std::process::abort();
        }
    };
    let inner = store.inner.lock().unwrap();
    inner
        .connection
        .update_hook(Some(move |_, _: &str, _: &str, _| count()))
        .unwrap();
    inner
        .connection
        .commit_hook(Some(move || {
            count();
            false
        }))
        .unwrap();
}

/// What is in the file, as somebody sees it who searches.
async fn seen(path: &Path) -> (CollectionSize, Vec<(String, String)>, Vec<String>) {
    let store = SqliteStore::open(path).unwrap();
    let docs = docs(store.clone()).await;
    let run = Run::new(ScriptedModel::new());
    let hits = run
        .call(&docs.search("first one stays text more old").k(50))
        .await
        .unwrap();
    let mut all: Vec<_> = hits.into_iter().map(|hit| (hit.source, hit.text)).collect();
    all.sort();
    let of_version = run
        .call(&docs.search("one").k(50).filter("v", 1))
        .await
        .unwrap();
    sound(&store);
    (
        docs.count().await.unwrap(),
        all,
        of_version.into_iter().map(|hit| hit.text).collect(),
    )
}

/// What SQLite and FTS5 say of the file, and that no chunk is without a source.
fn sound(store: &SqliteStore) {
    let inner = store.inner.lock().unwrap();
    let said: String = inner
        .connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(said, "ok");
    inner
        .connection
        .execute_batch("INSERT INTO words_1(words_1) VALUES ('integrity-check')")
        .unwrap();
    let rows = "SELECT count(*) FROM chunks WHERE id NOT IN (SELECT chunk FROM places)";
    assert_eq!(
        inner
            .connection
            .query_row(rows, [], |row| row.get::<_, i64>(0))
            .unwrap(),
        0,
        "chunks of no source"
    );
}

/// Case 53.
#[test]
fn a_crash_at_any_write_leaves_the_old_or_the_new_whole() {
    let folder = folder("crash");
    let before = folder.join("before.db");
    let (was, is) = runtime().block_on(async {
        write(&docs(SqliteStore::open(&before).unwrap()).await, old()).await;
        let after = folder.join("after.db");
        std::fs::copy(&before, &after).unwrap();
        write(&docs(SqliteStore::open(&after).unwrap()).await, new()).await;
        (seen(&before).await, seen(&after).await)
    });
    assert_ne!(was, is);
    let (mut writes, mut olds) = (0, 0);
    loop {
        writes += 1;
        assert!(writes < 200, "the child does not come to its end");
        let path = folder.join(format!("{writes}.db"));
        std::fs::copy(&before, &path).unwrap();
        let ended = child(&format!("crash {writes}"), &path).status().unwrap();
        let found = runtime().block_on(seen(&path));
        if ended.success() {
            assert_eq!(found, is);
            break;
        }
        assert!(
            found == was || found == is,
            "after a crash at write {writes}: {found:?}"
        );
        olds += usize::from(found == was);
    }
    println!("{} writes, {olds} crashes left the old", writes - 1);
    assert!(writes > 10 && olds > 8, "{writes} {olds}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn processes_write_one_file_and_nothing_is_lost() {
    let folder = folder("processes");
    let path = folder.join("docs.db");
    let mut children: Vec<_> = ["x", "y"]
        .iter()
        .map(|name| child(&format!("write {name}"), &path).spawn().unwrap())
        .collect();
    runtime().block_on(async {
        let docs = docs(SqliteStore::open(&path).unwrap()).await;
        for at in 0..20 {
            write(
                &docs,
                vec![Document::new(format!("z{at}"), format!("text {at} of z"))],
            )
            .await;
        }
        for child in &mut children {
            assert!(child.wait().unwrap().success());
        }
        // A handle that was open all the time sees what the others wrote.
        let run = Run::new(ScriptedModel::new());
        assert_eq!(
            run.call(&docs.search("text 7 of x").k(1)).await.unwrap()[0].source,
            "x7"
        );
        assert_eq!(docs.count().await.unwrap(), CollectionSize::new(60, 60));
        assert_eq!(
            run.call(&docs.search("text").k(100)).await.unwrap().len(),
            60
        );
    });
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_lock_that_stays_is_an_error_that_says_so() {
    let folder = folder("lock");
    let path = folder.join("docs.db");
    runtime().block_on(async {
        let (store, other) = (
            SqliteStore::open(&path).unwrap(),
            SqliteStore::open(&path).unwrap(),
        );
        let docs = docs(store.clone()).await;
        store
            .inner
            .lock()
            .unwrap()
            .connection
            .busy_timeout(Duration::from_millis(50))
            .unwrap();
        other
            .inner
            .lock()
            .unwrap()
            .connection
            .execute_batch("BEGIN IMMEDIATE")
            .unwrap();
        let run = Run::new(ScriptedModel::new());
        let error = run
            .call(&docs.write(Document::new("a", "text")))
            .await
            .unwrap_err();
        assert_eq!(error.category(), Category::ExecError);
        assert!(
            error.message().contains("another process has been writing"),
            "{error}"
        );
        // Readers continue, and the writer after the lock.
        assert!(run.call(&docs.search("text")).await.unwrap().is_empty());
        other
            .inner
            .lock()
            .unwrap()
            .connection
            .execute_batch("COMMIT")
            .unwrap();
        run.call(&docs.write(Document::new("a", "text")))
            .await
            .unwrap();
    });
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_write_that_is_dropped_is_whole_or_not_at_all() {
    let folder = folder("dropped");
    let path = folder.join("docs.db");
    runtime().block_on(async {
        let docs = docs(SqliteStore::open(&path).unwrap()).await;
        let run = Run::new(ScriptedModel::new());
        for at in 0..20 {
            let text: Vec<_> = (0..40).map(|chunk| format!("text {at} {chunk} here.")).collect();
            let writing = docs.write(Document::new("a", text.join("\n\n")));
            let mut call = Box::pin(run.call(&writing).report());
            for _ in 0..=at {
                tokio::select! { biased; _ = &mut call => break, () = tokio::task::yield_now() => {} }
            }
            drop(call);
            let chunks = docs.count().await.unwrap().chunks;
            assert!(chunks == 0 || chunks == 40, "{chunks}");
        }
    });
    std::fs::remove_dir_all(folder).unwrap();
}

/// The file of version 1, which all later releases read. `LLMNODE_UPDATE=1` writes it.
#[test]
fn the_golden_file_is_read() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/documents-1.db");
    let folder = folder("golden");
    if std::env::var_os("LLMNODE_UPDATE").is_some() {
        let _ = std::fs::remove_file(&golden);
        std::fs::create_dir_all(golden.parent().unwrap()).unwrap();
        rusqlite::Connection::open(&golden)
            .unwrap()
            .execute_batch("PRAGMA page_size = 512; VACUUM")
            .unwrap();
        runtime().block_on(async {
            write(&docs(SqliteStore::open(&golden).unwrap()).await, old()).await;
        });
    }
    let path = folder.join("docs.db");
    std::fs::copy(&golden, &path).unwrap();
    runtime().block_on(async {
        let (count, all, of_version) = seen(&path).await;
        assert_eq!((count, of_version.len()), (CollectionSize::new(2, 4), 3));
        assert!(all.contains(&("b".to_owned(), "Another text.".to_owned())));
        write(&docs(SqliteStore::open(&path).unwrap()).await, new()).await;
        assert_eq!(seen(&path).await.0, CollectionSize::new(3, 4));
    });
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_names_no_file_is_refused() {
    for name in ["", ":memory:", "file::memory:", "file:x?mode=memory"] {
        let error = SqliteStore::open(name).unwrap_err();
        assert_eq!(error.category(), Category::ConfigError, "{name}");
        assert!(
            error.message().contains("names no file") && error.message().contains("`MemoryStore`"),
            "{error}"
        );
        assert!(name.is_empty() || !Path::new(name).exists());
    }
}

#[cfg(unix)]
#[test]
fn a_new_file_is_private_and_an_old_one_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("private");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let path = folder.join("docs.db");
    runtime().block_on(async {
        let docs = docs(SqliteStore::open(&path).unwrap()).await;
        write(&docs, old()).await;
        for file in std::fs::read_dir(&folder).unwrap() {
            assert_eq!(mode(&file.unwrap().path()), 0o600);
        }
    });
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    drop(SqliteStore::open(&path).unwrap());
    assert_eq!(mode(&path), 0o640);
    std::fs::remove_dir_all(folder).unwrap();
}
