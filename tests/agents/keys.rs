//! The key of each API is in nothing that a program shows, logs or keeps (W11, W29).

use std::error::Error;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use llmnode::journal::JournalFile;
use llmnode::prelude::*;
use llmnode::{Anthropic, Cassette, CassetteMode, Category, ChatModel, Gemini, ModelError, OpenAi};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tracing::Dispatch;

use crate::recorded::{Recorded, json};
use crate::sinks;

/// It looks like no key, so that nothing but the client itself can know it.
const KEY: &str = "canary-0123456789";

#[derive(Default, Serialize, Deserialize)]
struct World {
    said: String,
}

#[llm_node(prompt = "Greet.", state = World, store = said)]
struct Greet {}

#[llm_node(prompt = "Again.", state = World, store = said, transport_retries = 0)]
struct Again {}

flow! { Greeting(World): Greet => Again, Again => end }

fn file(name: &str) -> PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-keys-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&file);
    file
}

/// The first answer has the key beside its text, the second one is a refusal that repeats it.
async fn is_in_no_sink<B: Debug, M: ChatModel + Debug + 'static>(
    wire: &str,
    header: &str,
    answer: Value,
    builder: fn(&str) -> B,
    build: fn(B) -> Result<M, ModelError>,
) {
    // With one listener alone, a span that another test is the first to meet would be for nobody for good.
    static LISTENERS: LazyLock<[Dispatch; 2]> =
        LazyLock::new(|| std::array::from_fn(|_| Dispatch::new(sinks::Log::default())));
    LazyLock::force(&LISTENERS);
    let log = sinks::Log::default();
    let _listening = tracing::subscriber::set_default(log.clone());
    let echo = format!("invalid key: {KEY}");
    let refusal = json!({"type": "error", "error": {"type": echo, "code": KEY, "status": KEY, "message": echo}});
    let server =
        Recorded::start([json(answer), (401, "application/json", refusal.to_string())]).await;
    let builder = builder(&server.url);
    let mut texts = vec![format!("{builder:?} {builder:#?}")];
    let model = build(builder).unwrap();
    texts.push(format!("{model:?} {model:#?}"));

    let (tape, journal) = (
        file(&format!("{wire}.json")),
        file(&format!("{wire}.journal")),
    );
    let recorder = Cassette::open(&tape)
        .mode(CassetteMode::Record)
        .around(move || Ok(model))
        .unwrap();
    let mut run = Run::new(recorder).with_state(World::default());
    let error = run
        .flow(Greeting)
        .resume(JournalFile::open(&journal).unwrap())
        .await
        .unwrap_err();
    assert_eq!(
        (run.state().said.as_str(), error.category()),
        ("Hello.", Category::ApiKeyError),
        "{wire}"
    );
    let chain = std::iter::successors(Some(&error as &dyn Error), |error| (*error).source());
    texts.extend(chain.map(|error| format!("{error} {error:?} {error:#?}")));
    texts.extend([
        run.ledger().to_json().to_string(),
        format!("{:?}", run.ledger()),
    ]);
    drop(run);
    texts.extend([&tape, &journal].map(|file| std::fs::read_to_string(file).unwrap()));
    let logged = log.text();
    assert!(logged.contains("node"), "{wire}: {logged}");
    texts.push(logged);
    for text in texts {
        assert!(!text.contains("canary"), "{wire}: {text}");
    }
    for asked in server.asked() {
        let places: Vec<&str> = asked
            .head
            .lines()
            .filter(|line| line.contains(KEY))
            .collect();
        assert!(
            places.len() == 1 && places[0].to_lowercase().starts_with(header),
            "{wire}: {places:?}"
        );
    }
    std::fs::remove_file(tape).unwrap();
    std::fs::remove_file(journal).unwrap();
}

#[tokio::test]
async fn of_chat() {
    let message = json!({"role": "assistant", "content": "Hello."});
    let answer = json!({"id": KEY, "model": KEY, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    let builder = |url: &str| OpenAi::builder().base_url(url).api_key(KEY).model("m");
    is_in_no_sink(
        "chat",
        "authorization: bearer",
        answer,
        builder,
        |builder| builder.build(),
    )
    .await;
}

#[tokio::test]
async fn of_responses() {
    let text = json!([{"type": "output_text", "text": "Hello.", "annotations": []}]);
    let output = json!([{"type": "message", "id": KEY, "role": "assistant", "status": "completed", "content": text}]);
    let answer = json!({"id": KEY, "status": "completed", "model": KEY, "output": output});
    let builder = |url: &str| {
        OpenAi::builder()
            .base_url(url)
            .api_key(KEY)
            .model("m")
            .responses()
    };
    is_in_no_sink(
        "responses",
        "authorization: bearer",
        answer,
        builder,
        |builder| builder.build(),
    )
    .await;
}

#[tokio::test]
async fn of_messages() {
    let content = json!([{"type": "text", "text": "Hello."}]);
    let answer = json!({"type": "message", "id": KEY, "model": KEY, "content": content, "stop_reason": "end_turn"});
    let builder = |url: &str| Anthropic::builder().base_url(url).api_key(KEY).model("m");
    is_in_no_sink("messages", "x-api-key:", answer, builder, |builder| {
        builder.build()
    })
    .await;
}

#[tokio::test]
async fn of_gemini() {
    let content = json!({"role": "model", "parts": [{"text": "Hello."}]});
    let answer = json!({"candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "modelVersion": KEY, "responseId": KEY});
    let builder = |url: &str| Gemini::builder().base_url(url).api_key(KEY).model("m");
    is_in_no_sink("gemini", "x-goog-api-key:", answer, builder, |builder| {
        builder.build()
    })
    .await;
}
