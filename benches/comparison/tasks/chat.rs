//! A chat in a database, a process for each turn: one is killed, two ask at once, the system text changes, a request is refused.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use llmnode::StubServer;
use llmnode::stub_server::{LoggedRequest, Provider, StubReply};
use serde_json::Value;

use super::Row;
use crate::library::{Library, said};
use crate::server::{busy, error, folder, show, text};

const OLD: &str = "You are a librarian.";
const NEW: &str = "You are a bookseller.";
const KILLED: &str = "Where is my parcel?";

struct Chat {
    library: Library,
    server: StubServer,
    folder: PathBuf,
}

impl Chat {
    async fn ask(&self, system: &str, question: &str) -> Value {
        let url = self.server.base_url();
        let said = self
            .library
            .run("chat", &url, &self.folder, &[system, question])
            .await;
        show(&self.library, &said, &[]);
        said
    }

    /// Requests whose last message has this text.
    fn asked(&self, question: &str) -> Vec<LoggedRequest> {
        let mut requests = self.server.requests();
        requests.retain(|request| {
            let messages = request.messages();
            messages
                .last()
                .is_some_and(|last| last.1.contains(question))
        });
        requests
    }
}

pub async fn run(library: Library) -> Vec<Row> {
    let busy_since: Mutex<Option<Instant>> = Mutex::new(None);
    let has_stalled = Mutex::new(false);
    let reply = StubReply::for_request(move |request| {
        let messages = request.messages();
        let asked = messages
            .last()
            .map(|last| last.1.as_str())
            .unwrap_or_default();
        if asked.contains(KILLED) && !std::mem::replace(&mut *has_stalled.lock().unwrap(), true) {
            return StubReply::never();
        }
        if asked.contains("busy") {
            let since = *busy_since.lock().unwrap().get_or_insert_with(Instant::now);
            if since.elapsed() < Duration::from_secs(1) {
                return busy(1);
            }
        }
        let slow = if asked.contains("At once") { 1_500 } else { 0 };
        text("So it is.").after(Duration::from_millis(slow))
    });
    let server = StubServer::builder()
        .as_provider(Provider::OpenAi)
        .default_reply(reply)
        .start()
        .await
        .unwrap();
    let chat = Chat {
        library,
        server,
        folder: folder(),
    };
    chat.ask(OLD, "My name is Ada.").await;
    vec![
        killed(&chat).await,
        two_at_once(&chat).await,
        changed(&chat).await,
        refused(&chat).await,
    ]
}

/// The process dies while the model answers; the next one goes on without a question.
async fn killed(chat: &Chat) -> Row {
    let url = chat.server.base_url();
    let mut child = chat
        .library
        .start("chat", &url, &chat.folder, &[OLD, KILLED]);
    while chat.asked(KILLED).is_empty() && child.try_wait().unwrap().is_none() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    child.kill().await.unwrap();
    tokio::time::sleep(Duration::from_secs(3)).await;
    let next = chat.ask(OLD, "-").await;
    let is_kept = next["answer"].is_string();
    if !is_kept {
        chat.ask(OLD, KILLED).await;
    }
    let said = if is_kept {
        "kept, and answered"
    } else {
        "lost"
    };
    Row::new("killed while the model answers: the question", said)
}

/// Two windows ask in the same moment.
async fn two_at_once(chat: &Chat) -> Row {
    let url = chat.server.base_url();
    let one = chat
        .library
        .start("chat", &url, &chat.folder, &[OLD, "At once: one?"]);
    let two = chat
        .library
        .start("chat", &url, &chat.folder, &[OLD, "At once: two?"]);
    let both = [said(one).await, said(two).await];
    let answered = both
        .iter()
        .filter(|said| said["answer"].is_string())
        .count();
    let paid = chat.asked("At once").len();
    let error = both
        .iter()
        .find_map(error)
        .map(|error| format!("; {error}"));
    let error = error.unwrap_or_default();
    Row::new(
        "two questions at once: answered; requests; the other reads",
        format!("{answered}; {paid}{error}"),
    )
}

/// The system text is another one.
async fn changed(chat: &Chat) -> Row {
    let question = "What is my name?";
    chat.ask(NEW, question).await;
    let asked = chat.asked(question);
    let Some(request) = asked.last() else {
        return Row::new("a changed system text: what is sent", "nothing");
    };
    let body = request.body();
    let text = match (body.contains(NEW), body.contains(OLD)) {
        (true, false) => "the new one",
        (true, true) => "both",
        _ => "the old one",
    };
    let earlier = request.messages().len() - 2;
    Row::new(
        "a changed system text: what is sent; earlier messages",
        format!("{text}; {earlier}"),
    )
}

async fn refused(chat: &Chat) -> Row {
    let question = "Are you busy?";
    let said = chat.ask(NEW, question).await;
    let how = error(&said).unwrap_or_else(|| "answered".to_owned());
    Row::new(
        "a 429 for a second, with `retry-after: 1`; requests",
        format!("{how}; {}", chat.asked(question).len()),
    )
}
