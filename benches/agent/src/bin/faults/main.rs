//! How twelve faults around tools end with llmnode, rig and pydantic-ai, on one server: prints a table in Markdown.
//!
//! Usage: `faults [PYTHON]`, a Python that has pydantic-ai; without it that column is left out. Each cell says how the call ended, how many
//! requests the server saw, what the library knows of the tokens that the server billed, and how many tools were executed.

mod by_llmnode;
mod by_rig;
mod script;

use std::fmt;
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;

/// No run takes longer; what is not done by then hangs.
const PATIENCE: Duration = Duration::from_secs(5);
const QUESTION: &str = "What is 1 + 2?";

/// How a run ended, as the library tells it.
#[derive(Deserialize)]
struct End {
    how: String,
    /// The tokens that the library counts.
    known: u64,
    executed: u64,
}

struct Row {
    end: End,
    requests: u64,
    billed: u64,
}

impl Row {
    fn new(server: &script::Server, model: &str, end: End) -> Self {
        let (requests, billed) = server.seen(model);
        Self {
            end,
            requests,
            billed,
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row {
            end:
                End {
                    how,
                    known,
                    executed,
                },
            requests,
            billed,
        } = self;
        write!(f, "{how}; {requests}; {known} of {billed}; {executed}")
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    rustls::crypto::ring::default_provider()
        .install_default()
        .unwrap();
    // The panics of tools are wanted.
    std::panic::set_hook(Box::new(|_| {}));
    let python = std::env::args().nth(1);
    let server = script::serve().await;
    println!("| fault | llmnode | rig | pydantic-ai |\n|---|---|---|---|");
    for (at, fault) in script::FAULTS.iter().enumerate() {
        let name = |who: &str| format!("{who}-{at}");
        let ours = by_llmnode::run(&server.url, &name("llmnode")).await;
        let ours = Row::new(&server, &name("llmnode"), ours);
        let rig = Row::new(
            &server,
            &name("rig"),
            by_rig::run(&server.url, &name("rig")).await,
        );
        let model = name("pydantic");
        let pydantic = python.as_deref().map(|python| {
            let end = by_pydantic_ai(python, &server.url, &model);
            Row::new(&server, &model, end).to_string()
        });
        println!(
            "| {fault} | {ours} | {rig} | {} |",
            pydantic.unwrap_or_default()
        );
    }
}

fn by_pydantic_ai(python: &str, url: &str, model: &str) -> End {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/pydantic_ai_faults.py");
    let patience = PATIENCE.as_secs().to_string();
    let output = Command::new(python)
        .args([program, url, model, QUESTION, &patience])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let line = said.lines().last();
    line.and_then(|line| serde_json::from_str(line).ok())
        .unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}
