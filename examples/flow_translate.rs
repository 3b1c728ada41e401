//! PocketFlow's batch flow: one flow of two steps, run for each pair of a file and a language.
//!
//! ```text
//! cargo run --example flow_translate                       # reads examples/data/pages
//! ```

use std::path::PathBuf;

use llmnode::BoxError;
use llmnode::StubServer;
use llmnode::flow::Step;
use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServerBuilder};

mod common;

const LANGUAGES: [&str; 3] = ["German", "French", "Danish"];

#[derive(Default)]
struct Book {
    file: PathBuf,
    language: String,
    text: String,
    /// File, language and translation.
    pages: Vec<(String, String, String)>,
}

/// Reads the file that is current.
struct Load {
    file: PathBuf,
}

#[llmnode::step]
impl Step<Book> for Load {
    type Output = String;

    async fn prep(state: &Book) -> Result<Self, BoxError> {
        Ok(Load {
            file: state.file.clone(),
        })
    }

    async fn exec(&self, _: &Cx<'_, Book>) -> Result<String, BoxError> {
        Ok(std::fs::read_to_string(&self.file).map_err(|error| {
            let message = format!("{}: {error}", self.file.display());
            NodeError::new(Category::Aborted, message).with_source(error)
        })?)
    }

    fn post(self, text: String, state: &mut Book) -> Result<(), BoxError> {
        state.text = text;
        Ok(())
    }
}

#[llm_node(
    prompt = "Translate into {language}:\n{text}",
    max_tokens = 100,
    state = Book,
    post = Render::keep
)]
struct Render {
    #[prep(state.language.clone())]
    language: String,
    #[prep(state.text.trim().to_owned())]
    text: String,
}

impl Render {
    fn keep(self, translation: String, state: &mut Book) {
        let file = state
            .file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        state.pages.push((file, self.language, translation));
    }
}

flow! {
    /// Translates one file: its parameters are written into the state as it begins.
    Translate(Book) { file: PathBuf, language: String }:
    Load => Render,
    Render => end,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    common::Arguments::read("");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/pages");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        files.push(entry?.path());
    }
    files.sort();
    let (model, _server) = common::model(stub()).await?;
    let mut run = Run::new(model).with_state(Book::default());
    let pairs = files
        .iter()
        .flat_map(|file| LANGUAGES.map(|language| (file.clone(), language.to_owned())));
    // Without `all`, the first error would end it.
    let outcomes = run
        .flows(pairs.map(|(file, language)| Translate { file, language }))
        .all()
        .await;
    for (file, language, translation) in &run.state().pages {
        println!("{file}, {language}: {translation}");
    }
    for error in outcomes.into_iter().filter_map(Result::err) {
        println!("failed: {error}");
    }
    Ok(())
}

/// A server that speaks all languages alike.
fn stub() -> StubServerBuilder {
    StubServer::builder().default_reply(StubReply::for_request(|request| {
        let messages = request.messages();
        let asked = messages.last().map_or("", |(_, content)| content);
        let (head, text) = asked.split_once(":\n").unwrap_or_default();
        let language = head.rsplit(' ').next().unwrap_or_default();
        StubReply::text(format!("({language}) {text}"))
    }))
}
