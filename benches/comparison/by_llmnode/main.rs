//! The six tasks with llmnode, as its docs do them: `comparison-llmnode TASK URL FOLDER WORD..`. The last line says how it ended, as JSON.

mod approval;
mod chat;
mod extract;
mod gate;
mod providers;
mod rows;

use llmnode::OpenAi;
use serde_json::Value;

/// The model of all tasks: it has a price in every catalog.
pub fn model(url: &str) -> OpenAi {
    OpenAi::builder()
        .base_url(url)
        .api_key("sk-test")
        .model("gpt-5.4-mini")
        .build()
        .unwrap()
}

/// On a thread with the name of a test: a gate writes the baseline of the test that `LLMNODE_BLESS` names.
fn main() {
    let test = std::thread::Builder::new().name("letters_are_sorted".to_owned());
    test.spawn(all).unwrap().join().unwrap();
}

#[tokio::main]
async fn all() {
    rustls::crypto::ring::default_provider()
        .install_default()
        .unwrap();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [task, url, folder, words @ ..] = words.as_slice() else {
        panic!("comparison-llmnode TASK URL FOLDER WORD..");
    };
    let said: Value = match task.as_str() {
        "extract" => extract::run(url, words.to_vec()).await,
        "rows" => rows::run(url, folder, &words[0], words[1].parse().unwrap()).await,
        "chat" => chat::run(url, folder, &words[0], &words[1]).await,
        "approval" => approval::run(url, folder, &words[0], &words[1], &words[2]).await,
        "gate" => gate::run(url, &words[0]).await,
        "providers" => providers::run(url, &words[0]).await,
        _ => panic!("no task {task}"),
    };
    println!("{said}");
}
