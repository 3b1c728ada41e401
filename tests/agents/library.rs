//! A library, tools for it, and a librarian.

use std::sync::Mutex;
use std::time::Duration;

use llmnode::prelude::*;
use llmnode::{AttemptKind, CallRecord, Cx, Request, Role, ToolError};

#[derive(Default)]
pub(crate) struct Library {
    pub(crate) books: Vec<String>,
    /// What tools did, in order.
    pub(crate) log: Mutex<Vec<String>>,
}

impl Library {
    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    fn note(&self, what: impl Into<String>) {
        self.log.lock().unwrap().push(what.into());
    }
}

pub(crate) fn run(model: ScriptedModel) -> Run<Library> {
    let books = ["Rust in Action", "The Go Book", "Deep C"]
        .map(str::to_owned)
        .into();
    Run::new(model).with_state(Library {
        books,
        log: Mutex::default(),
    })
}

/// Finds books by a word of their title.
#[tool]
pub(crate) async fn search(
    /// A word of the title.
    word: String,
    library: &Library,
) -> Result<Vec<String>, String> {
    library.note(format!("search {word}"));
    let found: Vec<String> = library
        .books
        .iter()
        .filter(|title| title.contains(&word))
        .cloned()
        .collect();
    if found.is_empty() {
        Err(format!("no title has the word {word:?}"))
    } else {
        Ok(found)
    }
}

/// Says how many books there are.
#[tool]
pub(crate) fn count(library: &Library) -> usize {
    library.note("count");
    library.books.len()
}

/// Lends a book.
#[tool(alone, idempotent = false)]
pub(crate) async fn lend(
    /// The title.
    title: String,
    /// For how many days.
    days: u32,
    library: &Library,
) {
    library.note(format!("lend {title} begins"));
    tokio::time::sleep(Duration::from_millis(5)).await;
    library.note(format!("lend {title} for {days} ends"));
}

#[validate(state)]
impl Lend {
    fn the_title_is_ours(&self, library: &Library) -> Result<(), Invalid> {
        if library.books.contains(&self.title) {
            return Ok(());
        }
        Err(Invalid::at("title", "is not one of ours").allowed(&library.books))
    }

    fn a_month_at_most(&self) -> Result<(), Invalid> {
        if self.days <= 30 {
            Ok(())
        } else {
            Err(Invalid::at("days", "is more than 30"))
        }
    }
}

/// Waits.
#[tool]
pub(crate) async fn wait(milliseconds: u64, library: &Library) -> String {
    library.note(format!("wait {milliseconds} begins"));
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    library.note(format!("wait {milliseconds} ends"));
    format!("waited {milliseconds}")
}

/// Hangs.
#[tool(deadline = 20ms)]
pub(crate) async fn hang() -> String {
    std::future::pending().await
}

/// Breaks.
#[tool]
pub(crate) fn explode(text: &str) -> String {
    panic!("it exploded over {text}");
}

/// Repeats a text.
#[tool]
pub(crate) fn echo(text: &str, times: u32) -> String {
    text.repeat(times as usize)
}

/// Closes the library.
#[tool]
pub(crate) fn close(cx: &Cx<'_, Library>) -> Result<(), ToolError> {
    cx.state().note("close");
    Err(ToolError::abort("the door is locked"))
}

/// Fails twice.
#[tool(attempts = 3)]
pub(crate) fn shaky(library: &Library) -> Result<&'static str, String> {
    library.note("shaky");
    if library.log().iter().filter(|one| *one == "shaky").count() < 3 {
        Err("not yet".into())
    } else {
        Ok("at last")
    }
}

#[llm_output]
#[derive(Debug, PartialEq)]
pub(crate) struct Advice {
    pub(crate) title: String,
}

#[validate(state)]
impl Advice {
    fn the_title_is_ours(&self, library: &Library) -> Result<(), Invalid> {
        if library.books.contains(&self.title) {
            Ok(())
        } else {
            Err(Invalid::at("title", "is not one of ours"))
        }
    }
}

/// Answers with text.
#[llm_node(
    prompt = "{question}",
    state = Library,
    tools = [Search, Count, Lend, Wait, Hang, Explode, Echo, Close, Shaky]
)]
pub(crate) struct Ask {
    pub(crate) question: &'static str,
}

/// Answers with a type.
#[llm_node(prompt = "{question}", output = Advice, state = Library, tools = [Search, Count], turns = 4, retries = 1)]
pub(crate) struct Recommend {
    pub(crate) question: &'static str,
}

pub(crate) const ASK: Ask = Ask {
    question: "What is good?",
};
pub(crate) const RECOMMEND: Recommend = Recommend {
    question: "What is good?",
};

pub(crate) fn kinds(record: &CallRecord) -> Vec<AttemptKind> {
    record.attempts.iter().map(|attempt| attempt.kind).collect()
}

/// The outcomes of the tools of an attempt.
pub(crate) fn outcomes(record: &CallRecord, attempt: usize) -> Vec<&str> {
    record.attempts[attempt]
        .tools
        .iter()
        .map(|tool| &*tool.outcome)
        .collect()
}

/// The results that a request holds.
pub(crate) fn results(request: &Request) -> Vec<&str> {
    let results = request
        .messages
        .iter()
        .filter(|message| message.role == Role::Tool);
    results.map(|message| message.content.as_str()).collect()
}
