//! A librarian with tools: the model searches the shelf, hands a question on to a second agent, and answers with a type.
//!
//! ```text
//! cargo run --example agent -- "Something on the sea?"
//! cargo run --example agent -- --page run.html
//! ```

use std::sync::Mutex;

use llmnode::prelude::*;
use llmnode::stub_server::{LoggedRequest, StubReply, StubServerBuilder};
use llmnode::{Recording, StubServer};
use serde_json::json;

mod common;
mod page;

struct Library {
    shelf: Vec<Book>,
    /// The titles that are lent.
    lent: Mutex<Vec<String>>,
}

/// A book of the library.
#[llm_output]
#[derive(Clone)]
struct Book {
    title: String,
    year: u16,
}

/// Finds books on the shelf by a word of their title.
#[tool]
fn search(
    /// A word of the title.
    word: &str,
    library: &Library,
) -> Result<Vec<Book>, String> {
    let word = word.to_lowercase();
    let found: Vec<Book> = library
        .shelf
        .iter()
        .filter(|book| book.title.to_lowercase().contains(&word))
        .cloned()
        .collect();
    if found.is_empty() {
        Err(format!("no title has the word {word:?}"))
    } else {
        Ok(found)
    }
}

/// Lends a book to the reader.
#[tool(alone, idempotent = false)]
async fn lend(title: String, library: &Library) -> String {
    library
        .lent
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
        .push(title.clone());
    format!("{title:?} is lent")
}

/// Arguments are checked before the tool runs, as answers are.
#[validate(state)]
impl Lend {
    fn the_title_is_on_the_shelf(&self, library: &Library) -> Result<(), Invalid> {
        if library.shelf.iter().any(|book| book.title == self.title) {
            return Ok(());
        }
        let titles = library.shelf.iter().map(|book| &book.title);
        Err(Invalid::at("title", "is not on the shelf").allowed(titles))
    }
}

/// Says in one sentence why a book is worth reading.
#[llm_node(
    tool,
    prompt = "Why is {title:?} worth reading? Answer in one sentence.",
    max_tokens = 100
)]
struct Praise {
    title: String,
}

#[llm_output]
struct Advice {
    title: String,
    reason: String,
}

#[validate(state)]
impl Advice {
    fn the_title_is_on_the_shelf(&self, library: &Library) -> Result<(), Invalid> {
        let known = library.shelf.iter().any(|book| book.title == self.title);
        if known {
            Ok(())
        } else {
            Err(Invalid::at("title", "is not on the shelf"))
        }
    }
}

/// Recommends a book, and lends it.
#[llm_node(
    system = "You are a librarian. Search the shelf, lend one book, and say why.",
    prompt = "{question}",
    output = Advice,
    state = Library,
    tools = [Search, Lend, Praise],
    turns = 6,
    retries = 1,
    max_tokens = 300,
    deadline = 90s
)]
struct Recommend {
    question: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = common::Arguments::read("[QUESTION] [--page FILE]");
    let question = arguments
        .value(0)
        .unwrap_or("Something on the sea?")
        .to_owned();
    let (model, _server) = common::model(stub()).await?;
    let shelf = [
        ("The Sea Around Us", 1951),
        ("The Worst Journey in the World", 1922),
    ];
    let shelf = shelf
        .map(|(title, year)| Book {
            title: title.into(),
            year,
        })
        .into();
    let run = Run::new(model).with_state(Library {
        shelf,
        lent: Mutex::default(),
    });

    let librarian = Recommend { question };
    let recording = Recording::new().with_content(true);
    let mut answer = run.call(&librarian).record(&recording).stream();
    while let Some(event) = answer.next().await {
        match event {
            Event::ToolCalls(calls) => {
                calls
                    .iter()
                    .for_each(|call| println!("{} {}({})", call.id, call.name, call.arguments));
            }
            Event::ToolResult { id, outcome, .. } => println!("{id} {outcome}"),
            _ => {}
        }
    }
    let outcome = answer.report().await;
    page::write(&recording, arguments.option("--page"))?;
    let report = outcome?;
    println!("{}: {}", report.value.title, report.value.reason);
    println!(
        "lent: {:?}",
        run.state()
            .lent
            .lock()
            .map(|lent| lent.clone())
            .unwrap_or_default()
    );
    let total = run.ledger().total();
    println!(
        "requests: {} ({} of the librarian)",
        total.requests,
        report.record.attempts.len()
    );
    Ok(())
}

/// A server that plays the model: it misspells a title once, and mends it.
fn stub() -> StubServerBuilder {
    StubServer::builder().default_reply(StubReply::for_request(|request| {
        if request.messages()[0].1.starts_with("Why is") {
            return StubReply::text("It makes the ocean a neighbour.");
        }
        let lend = |title: &str| StubReply::call("lend", json!({"title": title}));
        let title = "The Sea Around Us";
        match results(request) {
            0 => StubReply::text("Let me look.").and_call("search", json!({"word": "sea"})),
            1 => lend("The Sea Around").and_call("praise", json!({"title": title})),
            3 => lend(title),
            _ => StubReply::call(
                "Advice",
                json!({"title": title, "reason": "It makes the ocean a neighbour."}),
            ),
        }
    }))
}

/// How many results of tools the request holds.
fn results(request: &LoggedRequest) -> usize {
    request
        .messages()
        .iter()
        .filter(|(role, _)| role == "tool")
        .count()
}
