//! What the tests of batches share: letters that are sorted, and a model that sorts them by their words.

use std::path::PathBuf;
use std::time::Duration;

use llmnode::journal::JournalFile;
use llmnode::prelude::*;
use llmnode::stub_server::{LoggedRequest, StubReply, StubServer, StubServerBuilder};
use llmnode::{Anthropic, BatchApi, Gemini, OpenAi, Run};
use serde_json::json;

#[llm_output]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Label {
    pub(crate) label: String,
}

#[validate]
impl Label {
    fn is_known(&self) -> Result<(), Invalid> {
        match self.label.starts_with("wrong") {
            true => Err(Invalid::at("label", "is no label")),
            false => Ok(()),
        }
    }
}

/// Sorts a letter.
#[llm_node(prompt = "Sort: {letter}", output = Label, retries = 1, max_tokens = 50)]
pub(crate) struct Sort {
    pub(crate) letter: String,
}

pub(crate) fn letters(count: usize) -> Vec<Sort> {
    let letter = |number| Sort {
        letter: format!("letter {number}"),
    };
    (0..count).map(letter).collect()
}

/// The label that belongs to a letter.
pub(crate) fn label(number: usize) -> Label {
    Label {
        label: format!("label of letter {number}"),
    }
}

/// Answers each letter with its own label. Of letters that end in 3, the first answer is wrong.
pub(crate) fn sorting() -> StubServerBuilder {
    StubServer::builder().default_reply(StubReply::for_request(|request| {
        let messages = request.messages();
        let prompt = messages
            .iter()
            .find_map(|(_, text)| text.split_once("Sort: "))
            .map(|(_, letter)| letter.lines().next().unwrap_or_default().to_owned());
        let letter = prompt.unwrap_or_default();
        let is_corrected = messages.iter().any(|(role, _)| role == "assistant");
        let label = match letter.ends_with('3') && !is_corrected {
            true => format!("wrong {letter}"),
            false => format!("label of {letter}"),
        };
        StubReply::json(json!({"label": label})).usage(100, 10)
    }))
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Api {
    Chat,
    Responses,
    Anthropic,
    Gemini,
}

pub(crate) const APIS: [Api; 4] = [Api::Chat, Api::Responses, Api::Anthropic, Api::Gemini];

pub(crate) fn run_at(url: &str, api: Api) -> Run {
    run_with_bodies_of(url, api, 8 * 1024 * 1024)
}

/// A run over a model whose answers have so many bytes at most.
pub(crate) fn run_with_bodies_of(url: &str, api: Api, bytes: usize) -> Run {
    let openai = || {
        OpenAi::builder()
            .base_url(url)
            .without_key()
            .model("gpt-x")
            .max_body_bytes(bytes)
            .build()
            .unwrap()
    };
    match api {
        Api::Chat => Run::new(openai()),
        Api::Responses => Run::new(openai().responses()),
        Api::Anthropic => Run::new(
            Anthropic::builder()
                .base_url(url)
                .model("claude-x")
                .max_body_bytes(bytes)
                .build()
                .unwrap(),
        ),
        Api::Gemini => Run::new(
            Gemini::builder()
                .base_url(url.replace("/v1", "/v1beta"))
                .model("gemini-x")
                .max_body_bytes(bytes)
                .build()
                .unwrap(),
        ),
    }
}

pub(crate) fn run(server: &StubServer, api: Api) -> Run {
    run_at(&server.base_url(), api)
}

/// A journal in a folder of its own, which is gone at the end.
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn new(name: &str) -> Self {
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("llmnode-batches-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Place(folder)
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.join("sort.journal")
    }

    pub(crate) fn open(&self) -> JournalFile {
        JournalFile::open(self.path()).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Looks often, so that tests are quick.
pub(crate) fn quick() -> BatchApi {
    BatchApi::new().poll(Duration::from_millis(2))
}

/// Until the server has a batch. That its process knows it, this does not say.
pub(crate) async fn until_sent(server: &StubServer) {
    while server.batches_seen() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Until the server was asked where a batch of OpenAI stands: from then on its process knows its id.
pub(crate) async fn until_looked_at(server: &StubServer) {
    while !server.requests().iter().any(is_look) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn is_look(request: &LoggedRequest) -> bool {
    request.method() == "GET" && request.path().contains("/batches/batch_")
}
