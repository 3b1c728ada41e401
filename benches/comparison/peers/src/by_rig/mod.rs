//! rig.

mod approval;
mod chat;
mod extract;
mod gate;
mod providers;
mod rows;

use rig::DynModel;
use rig::operation::Completion;
use rig::providers::openai::OpenAIConfig;
use serde_json::Value;

pub fn model(url: &str) -> DynModel<Completion> {
    let client = OpenAIConfig::new("sk-test").with_base_url(url).client();
    client.chat("gpt-5.4-mini").into()
}

pub async fn run(task: &str, url: &str, folder: &str, words: &[String]) -> Value {
    match task {
        "extract" => extract::run(url, words).await,
        "rows" => rows::run(url, folder, &words[0], words[1].parse().unwrap()).await,
        "chat" => chat::run(url, folder, &words[0], &words[1]).await,
        "approval" => approval::run(url, &words[0], &words[1], &words[2]).await,
        "gate" => gate::run(url, &words[0], &words[1]).await,
        "providers" => providers::run(url, &words[0]).await,
        _ => panic!("no task {task}"),
    }
}

/// The variant of an error.
fn name(error: &impl std::fmt::Debug) -> String {
    let text = format!("{error:?}");
    let end = text.find([' ', '(', '{']).unwrap_or(text.len());
    text[..end].to_owned()
}
