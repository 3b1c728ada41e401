//! Chroma: against a server that imitates it, and against the real one (`scripts/chroma-server`).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use llmnode_rag::*;
use llmnode_runtime::Category;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::imitation::Imitation;
use crate::support::*;

/// A name that no earlier run has used.
fn fresh(name: &str) -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!(
        "{name}-{}-{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    )
}

/// The real server.
fn real() -> ChromaStore {
    let url = std::env::var("LLMNODE_CHROMA_URL")
        .expect("set LLMNODE_CHROMA_URL, or run scripts/chroma-server");
    ChromaStore::open(&url).unwrap()
}

/// Case 59, of servers.
#[test]
fn a_path_is_no_server() {
    for path in [
        "./chroma-data",
        "/var/lib/chroma",
        "docs.db",
        "chroma:8000",
        "",
    ] {
        let error = ChromaStore::open(path).unwrap_err();
        assert_eq!(error.category(), Category::ConfigError);
        assert!(
            error.message().contains("`SqliteStore`") && error.message().contains(path),
            "{error}"
        );
    }
    let error = ChromaStore::open("http://user:pass@127.0.0.1:8000").unwrap_err();
    assert!(
        error.message().contains("password") && !error.message().contains("pass@"),
        "{error}"
    );
    let error =
        ChromaStore::open_with_token("http://chroma.example", "LLMNODE_NO_SUCH_TOKEN").unwrap_err();
    assert_eq!(error.category(), Category::ApiKeyError);
    // Set wherever tests run; a token leaves the machine by https only.
    let error = ChromaStore::open_with_token("http://chroma.example", "PATH").unwrap_err();
    assert!(error.message().contains("https only"), "{error}");
    let error = ChromaStore::open("http://chroma.example/?api_key=canary").unwrap_err();
    assert!(
        error.message().contains("https only") && !error.message().contains("canary"),
        "{error}"
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_network_error() {
    let address = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let store = ChromaStore::open(&format!("http://{address}/?api_key=canary")).unwrap();
    assert!(!format!("{store:?}").contains("canary"));
    let error = Collection::builder(store, "docs").open().await.unwrap_err();
    assert_eq!(error.category(), Category::Network);
    assert!(error.message().contains(&address.to_string()), "{error}");
    assert!(!error.message().contains("canary"), "{error}");
}

#[tokio::test]
async fn imitated_searches_find_what_sqlite_finds() {
    let server = Imitation::start().await;
    same_as_sqlite(server.store()).await;
}

#[tokio::test]
async fn imitated_writes() {
    let server = Imitation::start().await;
    writes(Arc::new(server.store())).await;
}

#[tokio::test]
async fn imitated_errors() {
    let server = Imitation::start().await;
    let (store, url) = (server.store(), server.url());
    errors(store, &url).await;
    for (status, category) in [
        (401, Category::ApiKeyError),
        (429, Category::RateLimitError),
        (500, Category::ServerError),
    ] {
        server.fails(status);
        let error = Collection::builder(server.store(), "other")
            .open()
            .await
            .unwrap_err();
        assert_eq!(error.category(), category);
        assert!(
            error.message().contains("SomeError the server's words"),
            "{error}"
        );
    }
    server.fails(200);
    let error = Collection::builder(server.store(), "other")
        .open()
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::BadResponse);
}

/// A page of the server's list has fewer.
#[tokio::test]
async fn a_source_of_many_chunks_is_replaced_and_deleted_as_a_whole() {
    let server = Imitation::start().await;
    let docs = Collection::builder(server.store(), "docs").chunks(9, 0);
    let docs = docs.open().await.unwrap();
    let text = |word: &str| -> String {
        let paragraphs: Vec<String> = (0..2_100).map(|at| format!("{word}{at:04}.")).collect();
        paragraphs.join("\n\n")
    };
    let run = run();
    let old = docs.write(Document::new("a", text("old")));
    let old = run.call(&old).await.unwrap().chunks;
    assert!(old > 1_000, "{old}");
    let new = docs.write(Document::new("a", text("new")));
    let new = run.call(&new).await.unwrap();
    // Some have the same text in both.
    assert_eq!(new.replaced + new.kept, old);
    let all = new.chunks + new.kept;
    let size = CollectionSize::new(1, all);
    assert_eq!(docs.count().await.unwrap(), size);
    assert_eq!(docs.delete("a").await.unwrap(), all);
}

/// A server that answers each request with this.
async fn answering(status: &'static str, body: String) -> ChromaStore {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 16 * 1024];
            let _ = stream.read(&mut request).await;
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
            );
            let _ = stream.write_all(head.as_bytes()).await;
            let _ = stream.write_all(body.as_bytes()).await;
        }
    });
    ChromaStore::open(&format!("http://{address}")).unwrap()
}

/// A tree of them would fill the memory.
#[tokio::test]
async fn answers_with_too_many_values_are_not_read() {
    let many = format!("[{}{{}}]", "{},".repeat(60_000));
    let store = answering("200 OK", many.clone()).await;
    let error = Collection::builder(store, "a").open().await.unwrap_err();
    assert_eq!(error.category(), Category::BadResponse);
    assert!(error.message().contains("too many values"), "{error}");

    let words = format!(r#"{{"error": "Own", "message": "words", "rest": {many}}}"#);
    let store = answering("500 No", words).await;
    let error = Collection::builder(store, "a").open().await.unwrap_err();
    assert_eq!(error.category(), Category::ServerError);
    assert!(!error.message().contains("words"), "{error}");
}

#[tokio::test]
async fn a_server_that_is_busy_is_asked_again_as_the_call_says() {
    let server = Imitation::start().await;
    let docs = Collection::builder(server.store(), "docs")
        .embedder(HashEmbedder::new(8))
        .open()
        .await
        .unwrap();
    run()
        .call(&docs.write(Document::new("a", "the key")))
        .await
        .unwrap();
    server.is_busy(1);
    let error = run().call(&docs.search("key")).await.unwrap_err();
    assert_eq!(error.category(), Category::ServerError);
    server.is_busy(2);
    let hits = run().call(&docs.search("key")).attempts(3).await.unwrap();
    assert_eq!(sources(&hits), ["a"]);
}

const OLD: &str = "The old one.\n\nThis stays.\n\nOld, too.";
const NEW: &str = "A new one.\n\nThis stays.\n\nNew, too.";

/// A write that broke off in its middle is done again as a whole, and leaves nothing of the other version.
#[tokio::test]
async fn a_write_that_broke_off_is_done_again() {
    broken_off_then(NEW, ["A new one.", "New, too.", "This stays."]).await;
    broken_off_then(OLD, ["Old, too.", "The old one.", "This stays."]).await;
}

async fn broken_off_then(again: &str, there: [&str; 3]) {
    for requests in 0.. {
        let server = Imitation::start().await;
        let docs = Collection::builder(server.store(), "docs")
            .embedder(HashEmbedder::new(8))
            .chunks(14, 0);
        let docs = docs.open().await.unwrap();
        run()
            .call(&docs.write(Document::new("a", OLD)))
            .await
            .unwrap();
        server.fails_after(requests);
        let broke_off = run()
            .call(&docs.write(Document::new("a", NEW)))
            .await
            .is_err();
        server.recovers();
        run()
            .call(&docs.write(Document::new("a", again)))
            .await
            .unwrap();
        let hits = run()
            .call(&docs.search("one stays old new too").k(10))
            .await
            .unwrap();
        let mut texts: Vec<_> = hits.iter().map(|hit| hit.text.as_str()).collect();
        texts.sort_unstable();
        assert_eq!(texts, there, "broke off at request {requests}");
        if !broke_off {
            assert!(requests > 5, "{requests}");
            break;
        }
    }
}

/// Case 60.
#[tokio::test]
#[ignore = "needs Chroma's server: scripts/chroma-server"]
async fn real_searches_find_what_sqlite_finds() {
    same_as_sqlite(real()).await;
}

#[tokio::test]
#[ignore = "needs Chroma's server: scripts/chroma-server"]
async fn real_writes() {
    writes(Arc::new(real())).await;
}

/// Case 60.
#[tokio::test]
#[ignore = "needs Chroma's server: scripts/chroma-server"]
async fn real_errors() {
    errors(real(), &std::env::var("LLMNODE_CHROMA_URL").unwrap()).await;
}

async fn same_as_sqlite(chroma: ChromaStore) {
    let words = [
        "key",
        "door",
        "lamp",
        "rug",
        "river",
        "stone",
        "bread",
        "flour",
        "ERR_NOT_FOUND",
        "the",
    ];
    let text = |at: usize| {
        let count = 6 + at * at % 9;
        let text: Vec<_> = (0..count)
            .map(|place| words[(at * 3 + place * place * (at % 4 + 1)) % words.len()])
            .collect();
        format!("{} no{at}.", text.join(" "))
    };
    let documents: Vec<_> = (0..120)
        .map(|at| Document::new(format!("{at:03}.md"), text(at)).meta("half", at % 2))
        .collect();
    let queries = [
        "key",
        "door lamp",
        "bread of flour",
        "ERR_NOT_FOUND",
        "no77",
        "river stone no12",
        "KEY no3 no4",
    ];
    // Any vectors, none of them as near as another.
    let vector = |at: usize| -> Vec<f32> {
        (0..32)
            .map(|place| (((at + 1) * (place + 3) * 7919) as f32).sin())
            .collect()
    };
    let texts = (0..120).map(text).chain(queries.map(str::to_owned));
    let vectors: BTreeMap<_, _> = texts
        .enumerate()
        .map(|(at, text)| (text, vector(at)))
        .collect();
    let folder = Folder::new();
    let name = fresh("same");
    let open = async |store: Arc<dyn DocumentStore>| {
        let docs = Collection::builder(store, &name)
            .embedder(Planted::of(vectors.clone()))
            .open()
            .await
            .unwrap();
        run()
            .call(&docs.write_all(documents.clone()))
            .await
            .unwrap();
        docs
    };
    let (ours, theirs) = (
        open(Arc::new(folder.store())).await,
        open(Arc::new(chroma)).await,
    );
    assert_eq!(ours.count().await.unwrap(), theirs.count().await.unwrap());
    let (mut same, mut all) = (0, 0);
    for query in queries {
        for by in [SearchMode::Words, SearchMode::Vector, SearchMode::Both] {
            for half in [None, Some(1)] {
                let search = |docs: &Collection| {
                    let search = docs.search(query).k(5).by(by);
                    half.into_iter()
                        .fold(search, |search, half| search.filter("half", half))
                };
                let ids = async |docs: &Collection| -> Vec<String> {
                    run()
                        .call(&search(docs))
                        .await
                        .unwrap()
                        .into_iter()
                        .map(|hit| hit.id)
                        .collect()
                };
                let (own, other) = (ids(&ours).await, ids(&theirs).await);
                all += 1;
                same += usize::from(own == other);
                if by == SearchMode::Vector {
                    assert_eq!(own, other, "{query} {by:?} {half:?}");
                }
                assert_eq!(own.first(), other.first(), "{query} {by:?} {half:?}");
            }
        }
    }
    println!("{same} of {all} searches gave the same ids in the same order");
    assert!(same * 10 >= all * 9, "{same} of {all}");
}

async fn writes(store: Arc<dyn DocumentStore>) {
    let name = fresh("writes");
    let embedder = Planted::default();
    let docs = Collection::builder(store.clone(), &name)
        .embedder(embedder.clone())
        .chunks(30, 0)
        .open()
        .await
        .unwrap();
    let text = "The key is here.\n\nThe lamp stays where it is.";
    let first = run()
        .call(&docs.write(Document::new("a", text).meta("v", 1)))
        .await
        .unwrap();
    assert_eq!((first.chunks, first.kept, first.replaced), (2, 0, 0));
    let asked = embedder.count();
    let same = run()
        .call(&docs.write(Document::new("a", text).meta("v", 1)))
        .await
        .unwrap();
    assert_eq!((same.chunks, same.kept, embedder.count()), (0, 2, asked));
    let text = "The key is elsewhere now.\n\nThe lamp stays where it is.";
    let again = run()
        .call(&docs.write(Document::new("a", text).meta("v", 2)))
        .await
        .unwrap();
    assert_eq!(
        (again.chunks, again.kept, again.replaced, embedder.count()),
        (1, 1, 1, asked + 1)
    );
    assert!(
        run()
            .call(&docs.search("here").by(SearchMode::Words))
            .await
            .unwrap()
            .is_empty(),
        "stale words"
    );
    assert_eq!(
        run()
            .call(&docs.search("lamp").filter("v", 2))
            .await
            .unwrap()
            .len(),
        2
    );
    assert!(
        run()
            .call(&docs.search("lamp").filter("v", 1))
            .await
            .unwrap()
            .is_empty()
    );

    let asked = embedder.count();
    // A text of two sources is there once, until the last of them is gone.
    let shared = run()
        .call(&docs.write(Document::new("b", "The lamp stays where it is.")))
        .await
        .unwrap();
    assert_eq!(
        (shared.chunks, shared.duplicates, embedder.count()),
        (0, 1, asked)
    );
    assert_eq!(docs.count().await.unwrap(), CollectionSize::new(2, 2));
    assert_eq!(docs.delete("a").await.unwrap(), 1);
    let hits = run()
        .call(&docs.search("lamp").by(SearchMode::Words))
        .await
        .unwrap();
    assert_eq!(sources(&hits), ["b"]);
    assert_eq!(docs.delete("b").await.unwrap(), 1);
    assert_eq!(docs.count().await.unwrap(), CollectionSize::new(0, 0));

    // Near-equal ones, in a batch and on the server.
    let vectors = [
        ("one a", vec![1.0, 0.0]),
        ("one b", vec![0.999, 0.02]),
        ("one c", vec![0.99, 0.05]),
        ("two", vec![0.0, 1.0]),
    ];
    let docs = Collection::builder(store, fresh("near"))
        .embedder(Planted::new(vectors))
        .dedup(0.95)
        .open()
        .await
        .unwrap();
    let written = run()
        .call(&docs.write_all([Document::new("a", "one a"), Document::new("b", "one b")]))
        .await
        .unwrap();
    assert_eq!((written.chunks, written.duplicates), (1, 1));
    let written = run()
        .call(&docs.write_all([Document::new("c", "one c"), Document::new("d", "two")]))
        .await
        .unwrap();
    assert_eq!((written.chunks, written.duplicates), (1, 1));
    assert_eq!(docs.count().await.unwrap(), CollectionSize::new(4, 2));
    // A small change of a source is a change.
    run()
        .call(&docs.write(Document::new("d", "one b")))
        .await
        .unwrap();
    assert_eq!(docs.count().await.unwrap(), CollectionSize::new(4, 1));
}

async fn errors(store: ChromaStore, url: &str) {
    let name = fresh("errors");
    let space = |dimensions| EmbeddingSpace::new(Some("planted".into()), dimensions);
    store.open(&name, &space(None)).await.unwrap();
    let docs = Collection::builder(store.clone(), &name)
        .embedder(Planted::default())
        .open()
        .await
        .unwrap();
    run()
        .call(&docs.write(Document::new("a", "a")))
        .await
        .unwrap();
    // A vector of another length, in the server's words.
    let longer = Planted::new([("b", vec![1.0, 0.0, 0.0])]);
    let docs = Collection::builder(store.clone(), &name)
        .embedder(longer)
        .open()
        .await
        .unwrap();
    let error = run()
        .call(&docs.write(Document::new("b", "b")))
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::BadRequest, "{error}");
    assert!(
        error.message().contains("InvalidArgumentError") && error.message().contains("dimension"),
        "{error}"
    );
    // Another embedder.
    let error = Collection::builder(store.clone(), &name)
        .embedder(HashEmbedder::new(2))
        .open()
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError, "{error}");
    assert!(
        error.message().contains("planted") && error.message().contains("hash/2"),
        "{error}"
    );
    // A collection that somebody has deleted.
    delete(url, &name).await;
    let error = run()
        .call(&docs.search("a").by(SearchMode::Words))
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::NotFound, "{error}");
    assert!(error.message().contains("NotFoundError"), "{error}");
}

async fn delete(url: &str, name: &str) {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let path =
        format!("/api/v2/tenants/default_tenant/databases/default_database/collections/{name}");
    let request = format!("DELETE {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
}
