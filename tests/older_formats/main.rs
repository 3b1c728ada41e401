//! Texts that collide under the old 64-bit hash are distinguished, and what older files recorded under such a hash is not
//! reused.

#![allow(clippy::panic, clippy::unwrap_used, missing_docs, reason = "tests")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use llmnode::graph::{Graph, Registry, State};
use llmnode::journal::JournalFile;
use llmnode::prelude::*;
use llmnode::rag::{Collection, Document, HashEmbedder, SqliteStore, StoreExt};
use llmnode::{
    Approval, Cassette, CassetteMode, Category, ChatModel, FnModel, Image, Message, Paused, Reply,
    Request, ScriptedModel, Sink, TokenUsage, Unfinished,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[path = "../../llmnode-runtime/tests/core/recorder.rs"]
#[expect(dead_code, reason = "shared with the tests of the core")]
mod recorder;

/// Two texts with the same FNV-1a of 64 bits behind the prefix that is hashed before them.
type Twins = (&'static str, [&'static str; 2]);

const PROMPTS: Twins = (
    r#"[[{"role":"user","content":""#,
    [
        "0mnc0pkhc05ap5y5ap5ypkhc05ap5y5ap5y5ap5y5ap5ypkhc05ap5y5ap5y5ap5y5ap5y5ap5ypkhc0",
        "uor5y5ap5y5ap5ypkhc05ap5ypkhc05ap5ypkhc0pkhc05ap5ypkhc05ap5y5ap5y5ap5y5ap5y5ap5y",
    ],
);

const GRAPHS: Twins = (
    r#"{"format":"llmnode/graph","version":1,"name":""#,
    [
        "3yhc0pkhc05ap5y5ap5ypkhc05ap5y5ap5y5ap5y5ap5ypkhc05ap5y5ap5y5ap5y5ap5y5ap5ypkhc0",
        "nwp5y5ap5y5ap5ypkhc05ap5ypkhc05ap5ypkhc0pkhc05ap5ypkhc05ap5y5ap5y5ap5y5ap5y5ap5y",
    ],
);

const WRITTEN: Twins = (
    "",
    [
        "3mhc0pkhc05ap5y5ap5ypkhc05ap5y5ap5y5ap5y5ap5ypkhc05ap5y5ap5y5ap5y5ap5y5ap5ypkhc0",
        "vcp5y5ap5y5ap5ypkhc05ap5ypkhc05ap5ypkhc0pkhc05ap5ypkhc05ap5y5ap5y5ap5y5ap5y5ap5y",
    ],
);

const DOCUMENTS: Twins = (
    r#"[""#,
    [
        "3nhc0pkhc05ap5y5ap5ypkhc05ap5y5ap5y5ap5y5ap5ypkhc05ap5y5ap5y5ap5y5ap5y5ap5ypkhc0",
        "pbp5y5ap5y5ap5ypkhc05ap5ypkhc05ap5ypkhc0pkhc05ap5ypkhc05ap5y5ap5y5ap5y5ap5y5ap5y",
    ],
);

#[test]
fn the_twins_collide() {
    for (before, twins) in [PROMPTS, GRAPHS, WRITTEN, DOCUMENTS] {
        let [one, other] = twins.map(|twin| {
            before
                .bytes()
                .chain(twin.bytes())
                .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
                })
        });
        assert!(one == other && twins[0] != twins[1]);
    }
}

/// A folder that is gone at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("llmnode-older-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A copy of a file of before.
    fn older(&self, name: &str) -> PathBuf {
        std::fs::copy(older(name), self.file(name)).unwrap();
        self.file(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn older(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/older_formats")
        .join(name)
}

fn journal(path: &Path) -> JournalFile {
    JournalFile::open(path).unwrap()
}

#[derive(Default, Serialize, Deserialize)]
struct Shop {
    said: String,
}

static COUNTED: AtomicUsize = AtomicUsize::new(0);
static CHARGED: AtomicUsize = AtomicUsize::new(0);
static REFUNDED: AtomicUsize = AtomicUsize::new(0);

/// Says what is in stock.
#[tool]
fn stock() -> u32 {
    COUNTED.fetch_add(1, Ordering::SeqCst);
    3
}

/// Takes the money.
#[tool(idempotent = false)]
fn charge() -> &'static str {
    CHARGED.fetch_add(1, Ordering::SeqCst);
    "charged"
}

/// Gives the money back.
#[tool(require_approval)]
fn refund() -> &'static str {
    REFUNDED.fetch_add(1, Ordering::SeqCst);
    "refunded"
}

/// Sells.
#[llm_node(prompt = "Sell.", state = Shop, tools = [Charge], store = said)]
struct Sell {}

/// Looks.
#[llm_node(prompt = "Look.", state = Shop, tools = [Stock], store = said)]
struct Look {}

/// Says a figure.
#[tool]
fn answer() -> u32 {
    3
}

/// Counts.
#[llm_node(prompt = "How many?", tools = [Answer])]
struct Count {}

/// Takes something back.
#[llm_node(prompt = "{wish}", tools = [Charge, Refund])]
struct Return {
    wish: &'static str,
}

/// Rates.
#[llm_node(prompt = "{topic}", output = u8)]
struct Rate {
    topic: &'static str,
}

flow! { Sale(Shop): Sell => end }
flow! { Visit(Shop): Look => end }

fn calls(tool: &str) -> Reply {
    Reply::text("").call(tool, json!({}))
}

fn shop(model: ScriptedModel) -> Run<Shop> {
    Run::new(model).with_state(Shop::default())
}

fn rater(said: &'static str) -> FnModel {
    FnModel::new(move |request| match &*request.messages[0].content {
        "snow" if said == "1" => Reply::failure(Category::Refusal),
        _ => Reply::text(said),
    })
    .named("rater")
}

async fn rated(model: &FnModel, path: &Path, topics: &[&'static str]) -> Vec<Option<u8>> {
    let nodes = topics.iter().map(|topic| Rate { topic });
    let run = Run::new(model.clone());
    let rated = run
        .map(nodes)
        .concurrency(1)
        .resume(journal(path))
        .allow_changes()
        .await;
    rated.into_iter().map(Result::ok).collect()
}

/// A graph whose only node waits for a person.
fn waits(name: &str) -> String {
    let node = r#"{"id":"pay","type":"agent","data":{"prompt":"Pay.","save_as":"paid","require_approval":true}}"#;
    format!(
        r#"{}{name}","nodes":[{node}],"edges":[{{"source":"pay","target":"END"}}]}}"#,
        GRAPHS.0
    )
}

async fn graph_run(file: &str, approved: Option<Paused>) -> Result<(), NodeError> {
    let graph = Graph::parse(file, &Registry::new().build().unwrap()).unwrap();
    let mut run =
        Run::new(ScriptedModel::new().reply("paid")).with_state(graph.start(json!({})).unwrap());
    match approved {
        Some(paused) => run.flow(&graph).approve(paused).await.map(drop),
        None => run.flow(&graph).await.map(drop),
    }
}

async fn writes(store: &SqliteStore, text: &str) -> (State, Collection) {
    let registry = Registry::new()
        .store("docs", store.clone(), HashEmbedder::new(16))
        .build()
        .unwrap();
    let node = json!({"id": "keep", "type": "rag_node", "data": {"store": "docs", "collection": "notes", "action": "write", "input": "{{ note }}"}});
    let file = json!({"format": "llmnode/graph", "version": 1, "inputs": {"note": {"type": "string"}}, "nodes": [node], "edges": [{"source": "keep", "target": "END"}]});
    let graph = Graph::parse(&file.to_string(), &registry).unwrap();
    let mut run = registry
        .run(ScriptedModel::new())
        .with_state(graph.start(json!({"note": text})).unwrap());
    run.flow(&graph).await.unwrap();
    let docs = Collection::builder(store.clone(), "notes")
        .embedder(HashEmbedder::new(16))
        .open()
        .await;
    (run.state().clone(), docs.unwrap())
}

/// Nobody listens.
struct Unheard;

impl Sink for Unheard {
    fn request_id(&mut self, _: &str) {}

    fn usage(&mut self, _: TokenUsage) {}
}

/// Asks about a text and about an image.
async fn cassette(path: &Path, mode: CassetteMode) -> [Result<String, Category>; 2] {
    let model = || {
        Ok(ScriptedModel::new()
            .named("small")
            .reply("a text")
            .reply("an image"))
    };
    let model = Cassette::open(path).mode(mode).around(model).unwrap();
    let image = Image::bytes("image/png", "a cat").unwrap();
    let ask = async |message: Message| {
        let completed = model
            .complete(&Request::new(vec![message]), &mut Unheard)
            .await;
        completed
            .map(|completion| completion.text)
            .map_err(|error| error.category)
    };
    [
        ask(Message::user("What is it?")).await,
        ask(Message::user("What is it?").attach(image)).await,
    ]
}

#[tokio::test]
async fn an_approval_of_one_graph_is_none_of_another_that_collides() {
    let [one, other] = GRAPHS.1.map(waits);
    let paused = graph_run(&one, None).await.unwrap_err().paused().unwrap();
    let decided = paused.decide("pay", Approval::yes()).unwrap();
    let error = graph_run(&other, Some(decided.clone())).await.unwrap_err();
    assert!(
        error.message().contains("changed since `pay` paused"),
        "{error}"
    );
    graph_run(&one, Some(decided)).await.unwrap();
}

#[tokio::test]
async fn an_approval_of_one_prompt_is_none_of_another_that_collides() {
    let [one, other] = PROMPTS.1.map(|wish| Return { wish });
    let model = || ScriptedModel::new().reply(calls("refund"));
    let paused = Run::new(model())
        .call(&one)
        .await
        .unwrap_err()
        .paused()
        .unwrap();
    let decided = paused
        .decide("call_1", Approval::no("not this one"))
        .unwrap();
    let error = Run::new(model())
        .call(&other)
        .approve(decided)
        .await
        .unwrap_err();
    assert!(
        error.message().contains("changed since the pause"),
        "{error}"
    );
}

#[tokio::test]
async fn an_item_takes_no_answer_of_another_that_collides() {
    let folder = Folder::new("twins");
    let path = folder.file("map.journal");
    let [one, other] = PROMPTS.1;
    assert_eq!(rated(&rater("1"), &path, &[one]).await, [Some(1)]);
    assert_eq!(rated(&rater("2"), &path, &[other]).await, [Some(2)]);
}

#[tokio::test]
async fn documents_that_collide_are_different_ones() {
    let folder = Folder::new("documents");
    let store = SqliteStore::open(folder.file("docs.db")).unwrap();
    for (number, text) in (1..).zip(WRITTEN.1) {
        assert_eq!(
            writes(&store, text).await.1.count().await.unwrap().sources,
            number
        );
    }
    let docs = Collection::builder(store, "docs")
        .embedder(HashEmbedder::new(16))
        .open()
        .await
        .unwrap();
    for text in DOCUMENTS.1 {
        let run = Run::new(ScriptedModel::new());
        let written = run
            .call(&docs.write(Document::new("a", text)))
            .await
            .unwrap();
        assert_eq!((written.kept, written.chunks), (0, 1));
    }
}

#[tokio::test]
async fn a_result_of_before_is_not_trusted_and_its_tool_not_executed_again() {
    let folder = Folder::new("sale");
    let path = folder.older("sale-v3.journal");
    let none = ScriptedModel::new();
    let error = shop(none.clone())
        .flow(Sale)
        .resume(journal(&path))
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(
        error
            .message()
            .starts_with("the node `charge` was called in the first step"),
        "{error}"
    );
    assert_eq!(
        (none.requests().len(), CHARGED.load(Ordering::SeqCst)),
        (0, 0)
    );

    let model = ScriptedModel::new().reply("Sold.");
    let mut run = shop(model.clone());
    run.flow(Sale).resume(journal(&path)).rerun().await.unwrap();
    assert_eq!((&*run.state().said, model.requests().len()), ("Sold.", 1));
}

#[tokio::test]
async fn an_answer_of_before_is_asked_for_anew_and_so_is_an_idempotent_tool() {
    let folder = Folder::new("visit");
    let path = folder.older("visit-v3.journal");
    let model = ScriptedModel::new().reply(calls("stock")).reply("Three.");
    let mut run = shop(model.clone());
    let (seen, _guard) = recorder::Recorder::start();
    run.flow(Visit).resume(journal(&path)).await.unwrap();
    assert_eq!((&*run.state().said, model.requests().len()), ("Three.", 2));
    assert_eq!(
        model.requests()[0].messages.len(),
        1,
        "the answer of before is not given again"
    );
    let told: Vec<_> = seen
        .events("llmnode::journal")
        .into_iter()
        .map(|event| event.fields["message"].clone())
        .collect();
    assert!(
        told[0]
            .starts_with("answers: 1, results of tools: 1; they have hashes of an older version"),
        "{told:?}"
    );
    assert!(
        told[1].starts_with("1 answers in the journal were not used"),
        "{told:?}"
    );
    assert_eq!(COUNTED.load(Ordering::SeqCst), 1);
    assert_eq!(
        run.ledger().total().requests,
        2 + 2,
        "what was spent before counts"
    );
}

#[tokio::test]
async fn a_map_of_before_goes_on_and_asks_anew_once() {
    let folder = Folder::new("map");
    let path = folder.older("map-v3.journal");
    for asked in [3, 0] {
        let model = rater("2");
        assert_eq!(
            rated(&model, &path, &["rain", "sun", "snow"]).await,
            [Some(2); 3]
        );
        assert_eq!(model.requests().len(), asked);
    }
}

#[tokio::test]
async fn a_pause_of_before_is_read_and_approves_nothing() {
    let read = |name: &str| -> Paused {
        serde_json::from_str(&std::fs::read_to_string(older(name)).unwrap()).unwrap()
    };
    let paused = read("paused-v1.json");
    assert!(paused.waiting().is_empty(), "it is decided");
    let none = ScriptedModel::new();
    let error = Run::new(none.clone())
        .call(&Return { wish: "Return it." })
        .approve(paused)
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(
        error.message().contains("was stored by an older version"),
        "{error}"
    );
    assert!(
        error
            .message()
            .ends_with("check what they did first: `charge`"),
        "{error}"
    );
    assert_eq!(
        (none.requests().len(), REFUNDED.load(Ordering::SeqCst)),
        (0, 0)
    );

    let error = graph_run(&waits("a"), Some(read("paused-graph-v1.json")))
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(
        error.message().contains("was stored by an older version"),
        "{error}"
    );
}

/// Version 4 calls what the model wrote `content`, and how far a call came `state`.
#[tokio::test]
async fn a_pause_of_versions_3_and_4_goes_on() {
    for name in ["paused-v3.json", "paused-v4.json"] {
        let stored = std::fs::read_to_string(older(name)).unwrap();
        let paused: Paused = serde_json::from_str(&stored).unwrap();
        let decided = paused.decide("call_1", Approval::no("it is used")).unwrap();
        let model = ScriptedModel::new().reply("Kept.");
        let answer = Run::new(model.clone())
            .call(&Return { wish: "Return it." })
            .approve(decided)
            .await
            .unwrap();
        assert_eq!(answer, "Kept.", "{name}");
        let [_, asked, _] = &*model.requests()[0].messages else {
            panic!("{name}: {:?}", model.requests());
        };
        assert_eq!(asked.content, "I ask first.", "{name}");
    }
}

#[tokio::test]
async fn an_unfinished_conversation_of_versions_1_and_2_goes_on() {
    for name in ["unfinished-v1.json", "unfinished-v2.json"] {
        let stored = std::fs::read_to_string(older(name)).unwrap();
        let unfinished: Unfinished = serde_json::from_str(&stored).unwrap();
        let answer = Run::new(ScriptedModel::new().reply("Three."))
            .call(&Count {})
            .resume(unfinished)
            .await
            .unwrap();
        assert_eq!(answer, "Three.", "{name}");
    }
}

#[tokio::test]
async fn a_cassette_of_before_plays_but_for_attachments() {
    let [text, image] = cassette(&older("cassette-v1.json"), CassetteMode::Replay).await;
    assert_eq!(text.unwrap(), "a text");
    assert_eq!(
        image.unwrap_err(),
        Category::ConfigError,
        "its short mark tells nothing"
    );
}

#[tokio::test]
async fn a_text_of_a_store_of_before_is_written_under_its_new_name_and_found_once() {
    let folder = Folder::new("written");
    let store = SqliteStore::open(folder.older("written-v1.db")).unwrap();
    for (chunks, kept) in [(0, 0), (0, 1)] {
        let (state, docs) = writes(&store, "The key is here.").await;
        let status = &state["rag_write_status"];
        assert_eq!(
            (status["chunks"].as_u64(), status["kept"].as_u64()),
            (Some(chunks), Some(kept))
        );
        let count = docs.count().await.unwrap();
        assert_eq!(
            (count.sources, count.chunks),
            (2, 1),
            "the text is stored once"
        );
    }
}
