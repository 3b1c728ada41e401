//! A map of many short prompts over a batch API: how much memory the client takes while all of them wait, and how long it takes
//! to send, read and validate them.
//!
//! ```text
//! cargo run --release --manifest-path benches/Cargo.toml --bin batch -- 50000 20000
//! ```
//!
//! The first argument is how many letters there are, the second how many requests wait at once; without it, all do. The stub server
//! is another process, started here, so that the memory is that of the client alone. Of one letter in ten the first answer is wrong,
//! so that there is a batch of corrections.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use llmnode::BatchApi;
use llmnode::journal::{JournalFile, MapExt as _};
use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServer};
use llmnode_benches::measure::{cpu, resident};

/// With this as the only argument, this process is the server.
const SERVER: &str = "server";
const LETTERS: usize = 50_000;
/// Each prompt has about 500 bytes.
const SENTENCE: &str =
    "I have called you three times about the roof of the house, which still leaks. ";
const SENTENCES: usize = 6;

#[llm_output]
struct Label {
    category: String,
}

#[validate]
impl Label {
    fn is_known(&self) -> Result<(), Invalid> {
        match self.category.as_str() {
            "repairs" => Ok(()),
            _ => Err(Invalid::at("category", "is none of: repairs, billing")),
        }
    }
}

#[llm_node(prompt = "Sort this letter:\n{letter}", output = Label, retries = 1, max_tokens = 50)]
struct Sort {
    letter: String,
}

fn letter(number: usize) -> Sort {
    let text = SENTENCE.repeat(SENTENCES);
    Sort {
        letter: format!("No. {number}. {text}"),
    }
}

#[tokio::main]
async fn main() {
    let argument = std::env::args().nth(1);
    match argument.as_deref() {
        Some(SERVER) => serve().await,
        letters => {
            let letters = letters.map_or(LETTERS, |letters| letters.parse().unwrap());
            let waiting = std::env::args().nth(2);
            let waiting = waiting.map_or(letters, |waiting| waiting.parse().unwrap());
            measure(letters, waiting).await;
        }
    }
}

/// Answers until the process is ended.
async fn serve() {
    let reply = StubReply::for_request(|request| {
        let messages = request.messages();
        let is_corrected = messages.iter().any(|(role, _)| role == "assistant");
        let is_tenth = messages.iter().any(|(_, text)| text.contains("0. I have"));
        let category = match is_tenth && !is_corrected {
            true => "gardens",
            false => "repairs",
        };
        StubReply::json(serde_json::json!({"category": category}))
    });
    let server = StubServer::builder()
        .default_reply(reply)
        // A file of 50,000 requests has about 60 MB.
        .max_body_bytes(256 * 1024 * 1024)
        .start()
        .await
        .unwrap();
    println!("{}", server.base_url());
    std::io::stdout().flush().unwrap();
    std::future::pending().await
}

/// The server's process, ended with this one.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start() -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg(SERVER)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let stdout = child.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut url).unwrap();
        Server {
            child,
            url: url.trim().to_owned(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn measure(letters: usize, waiting: usize) {
    let server = Server::start();
    let model = OpenAi::builder()
        .base_url(&*server.url)
        .without_key()
        .model("gpt-x")
        .build()
        .unwrap();
    let run = Run::new(model);
    let journal = std::env::temp_dir().join(format!("llmnode-batch-{}", std::process::id()));
    let batches = BatchApi::new()
        .max_requests(waiting)
        .poll(Duration::from_millis(100));
    let before = resident("VmRSS");
    let processor = cpu();
    let began = Instant::now();
    let mut results = run
        .map((0..letters).map(letter))
        .resume(JournalFile::open(&journal).unwrap())
        .batch_api(batches)
        .as_completed();
    let mut sorted = 0;
    let mut first_error = None;
    while let Some((_, outcome)) = results.next().await {
        match outcome {
            Ok(_) => sorted += 1,
            Err(error) => {
                first_error.get_or_insert(error);
            }
        }
    }
    drop(results);
    let elapsed = began.elapsed();
    let requests = run.ledger().total().requests;
    println!("{sorted} of {letters} letters sorted by {requests} requests");
    if let Some(error) = first_error {
        println!("the first that was not: {error}");
    }
    println!(
        "{:.1} s, of which the client computes {:.1} s; at most {:.0} MB of memory, {:.0} MB before",
        elapsed.as_secs_f64(),
        (cpu() - processor).as_secs_f64(),
        resident("VmHWM") / 1024.0,
        before / 1024.0,
    );
    std::fs::remove_file(journal).unwrap();
}
