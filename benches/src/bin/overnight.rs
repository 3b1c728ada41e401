//! What a map over a batch API sends, and what a script by hand does, where the process dies once while its batch is under way.
//!
//! ```text
//! cargo run --release --manifest-path benches/Cargo.toml --bin overnight -- PYTHON
//! ```
//!
//! PYTHON has the package `openai`. Both sort a hundred letters, of which one in ten is answered wrong at first and corrected. All
//! batches of the server are looked at until they have ended: the provider answers, and bills, those that nobody waits for, too.

use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use llmnode::BatchApi;
use llmnode::journal::{JournalFile, MapExt as _};
use llmnode::prelude::*;
use llmnode::stub_server::{StubBatch, StubReply, StubServer};

const LETTERS: usize = 100;
/// A batch ends at a look after these.
const LOOKS: u32 = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/overnight_by_hand.py");
const PAGE: &str = include_str!("../../../docs/overnight.md");

#[llm_output]
enum Topic {
    Billing,
    Repairs,
    Other,
}

#[llm_node(prompt = "What is this letter about?\n{letter:fence}", output = Topic, retries = 1, max_tokens = 50)]
struct Sort {
    letter: String,
}

async fn server() -> StubServer {
    let reply = StubReply::for_request(|request| {
        let messages = request.messages();
        let is_corrected = messages.iter().any(|(role, _)| role == "assistant");
        let is_tenth = messages
            .iter()
            .any(|(_, text)| text.contains("0: the roof"));
        let topic = match is_tenth && !is_corrected {
            true => "gardens",
            false => "repairs",
        };
        // The script asks for an object, the map for whatever its type is.
        let is_by_hand = messages.iter().all(|(_, text)| !text.contains("```"));
        match is_by_hand {
            true => StubReply::json(serde_json::json!({"topic": topic})),
            false => StubReply::json(topic),
        }
    });
    let slow = std::iter::repeat_with(|| StubBatch::new().in_progress(LOOKS));
    StubServer::builder()
        .default_reply(reply)
        .batches(slow.take(20))
        .start()
        .await
        .expect("a server")
}

async fn sort(server: &StubServer, journal: &Path) -> usize {
    let model = OpenAi::builder()
        .base_url(server.base_url())
        .without_key()
        .model("gpt-5.6-luna")
        .build()
        .expect("a model");
    let run = Run::new(model);
    let letters = (0..LETTERS).map(|number| Sort {
        letter: format!("No. {number}: the roof leaks."),
    });
    let topics = run
        .map(letters)
        .resume(JournalFile::open(journal).expect("a journal"))
        .batch_api(BatchApi::new().poll(BETWEEN_LOOKS))
        .await;
    topics.iter().filter(|topic| topic.is_ok()).count()
}

/// Until a batch is created, and a moment more.
async fn until_sent(server: &StubServer) {
    while server.batches_seen() == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    tokio::time::sleep(3 * BETWEEN_LOOKS).await;
}

async fn by_a_map() -> StubServer {
    let server = server().await;
    let journal = std::env::temp_dir().join(format!("llmnode-overnight-{}", std::process::id()));
    tokio::select! {
        _ = sort(&server, &journal) => panic!("it ends before it is stopped"),
        () = until_sent(&server) => {}
    }
    let sorted = sort(&server, &journal).await;
    println!("the map: {sorted} of {LETTERS} letters are sorted");
    std::fs::remove_file(journal).expect("the journal");
    server
}

fn script(python: &str, server: &StubServer) -> Child {
    Command::new(python)
        .arg(SCRIPT)
        .arg(server.base_url())
        .args([LETTERS.to_string(), BETWEEN_LOOKS.as_secs_f64().to_string()])
        .spawn()
        .expect("Python")
}

async fn by_hand(python: &str) -> StubServer {
    let server = server().await;
    let mut killed = script(python, &server);
    until_sent(&server).await;
    killed.kill().expect("a kill");
    killed.wait().expect("its end");
    let mut again = script(python, &server);
    tokio::task::spawn_blocking(move || again.wait())
        .await
        .expect("a thread")
        .expect("its end");
    server
}

/// Looks at all batches until they have ended, and returns how many lines were answered.
async fn billed(server: &StubServer) -> usize {
    let client = reqwest::Client::new();
    let get = async |path: &str| -> serde_json::Value {
        let response = client.get(format!("{}{path}", server.base_url()));
        let text = response.send().await.expect("a response").text().await;
        serde_json::from_str(&text.expect("a body")).expect("JSON")
    };
    let list = get("/batches?limit=100").await;
    for batch in list["data"].as_array().into_iter().flatten() {
        let id = batch["id"].as_str().expect("an id");
        for _ in 0..=LOOKS {
            get(&format!("/batches/{id}")).await;
        }
    }
    server.billed_lines().len()
}

/// Lines of code, without blank ones and comments, up to where the page's program is tested.
fn lines(code: &str) -> usize {
    let code = code.lines().map(str::trim);
    code.filter(|line| !line.is_empty() && !line.starts_with("//"))
        .count()
}

#[tokio::main]
async fn main() {
    let python = std::env::args().nth(1).expect("a Python that has openai");
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (_, page) = PAGE.split_once("```rust,no_run\n").expect("the program");
    let (page, _) = page.split_once("#[tokio::test]").expect("its test");
    let script = std::fs::read_to_string(SCRIPT).expect("the script");
    println!(
        "lines: the page's program {}, the script {}",
        lines(page),
        lines(&script)
    );
    let map = by_a_map().await;
    let hand = by_hand(&python).await;
    for (who, server) in [("map", &map), ("script", &hand)] {
        println!(
            "{who}: {} batches, {} requests answered and billed",
            server.batches_seen(),
            billed(server).await
        );
    }
}
