//! An agent whose tool a person has to agree to. Meanwhile a new version is deployed; it is killed after the tool ran, and started again.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use llmnode::StubServer;
use llmnode::stub_server::{Provider, StubReply};
use serde_json::{Value, json};

use super::Row;
use crate::library::{Library, said};
use crate::server::{INPUT, OUTPUT, error, folder, show, text};

const OLD: &str = "You answer letters to a shop.";
const NEW: &str = "You answer letters to a shop, and are brief.";
const LETTER: &str = "My lamp arrived broken. Order 17.";

struct Shop {
    library: Library,
    server: StubServer,
    folder: PathBuf,
}

impl Shop {
    /// With `has_crash`, the first request after the tool gets no answer.
    async fn open(library: &Library, has_crash: bool) -> Shop {
        let stalls = Mutex::new(has_crash);
        let reply = StubReply::for_request(move |request| {
            let messages = request.messages();
            if !messages.iter().any(|message| message.0 == "tool") {
                let order = json!({"order": 17, "euros": 20});
                return StubReply::call("refund", order).usage(INPUT, OUTPUT);
            }
            if std::mem::take(&mut *stalls.lock().unwrap()) {
                return StubReply::never();
            }
            text("We have paid back 20 euros.")
        });
        let server = StubServer::builder()
            .as_provider(Provider::OpenAi)
            .default_reply(reply)
            .start()
            .await
            .unwrap();
        Shop {
            library: library.clone(),
            server,
            folder: folder(),
        }
    }

    async fn run(&self, system: &str, word: &str) -> Value {
        said(self.start(system, word)).await
    }

    fn start(&self, system: &str, word: &str) -> tokio::process::Child {
        let url = self.server.base_url();
        self.library
            .start("approval", &url, &self.folder, &[system, LETTER, word])
    }

    /// How often money was paid back.
    fn paid(&self) -> usize {
        let till = std::fs::read_to_string(self.folder.join("till"));
        till.unwrap_or_default().lines().count()
    }
}

pub async fn run(library: Library) -> Vec<Row> {
    let mut rows = over_a_deployment(&library).await;
    rows.push(twice_at_once(&library).await);
    rows
}

async fn over_a_deployment(library: &Library) -> Vec<Row> {
    let shop = Shop::open(library, true).await;
    let asked = shop.run(OLD, "ask").await;
    show(library, &asked, &[]);
    let early = shop.paid();
    let mut child = shop.start(NEW, "yes");
    while shop.server.requests_seen() < 2 && child.try_wait().unwrap().is_none() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    child.kill().await.unwrap();
    tokio::time::sleep(Duration::from_secs(3)).await;
    let answered = shop.run(NEW, "yes").await;
    show(library, &answered, &[]);
    let requests = shop.server.requests();
    let last = requests.last().map(|request| request.body().to_owned());
    let is_new = last.is_some_and(|body| body.contains(NEW));
    let how = error(&answered).unwrap_or_else(|| "answered".to_owned());
    vec![
        Row::new("paid before a person agreed", early.to_string()),
        Row::new(
            "killed between the tool and the answer, started again; paid; requests",
            format!("{how}; {}; {}", shop.paid(), requests.len()),
        ),
        Row::new(
            "the new system text is sent",
            if is_new { "yes" } else { "no" },
        ),
    ]
}

/// Two people agree in the same moment, in two processes.
async fn twice_at_once(library: &Library) -> Row {
    let shop = Shop::open(library, false).await;
    shop.run(OLD, "ask").await;
    let both = [shop.start(OLD, "yes"), shop.start(OLD, "yes")];
    for child in both {
        show(library, &said(child).await, &[]);
    }
    Row::new("two people agree at once: paid", shop.paid().to_string())
}
