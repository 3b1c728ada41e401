//! A gate of an evaluation of 60 letters, 54 of which the prompt sorts right: which changes it stops.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use llmnode::StubServer;
use llmnode::stub_server::{LoggedRequest, Provider, StubReply};
use serde_json::{Value, json};

use super::Row;
use crate::library::Library;
use crate::server::{answer, folder, show};

const LETTERS: u32 = 60;
const PROMPT: &str = "Which team reads this letter?";
/// 42 are right.
const WORSE: &str = "Which of the teams?";
/// 54 are right, others than before.
const OTHERS: &str = "Which team has to read this letter?";
/// 54 are right, but not the one that must be.
const MUST: &str = "Sort this letter.";
/// As the first prompt, with an outage.
const OUTAGE: &str = "Which team reads this letter, please?";
/// When the outage begins, in requests, and how long everything is refused.
const BEFORE: u32 = 60;
const OUT: Duration = Duration::from_secs(3);

struct Gate {
    library: Library,
    server: StubServer,
    folder: PathBuf,
}

impl Gate {
    async fn check(&self, prompt: &str, word: &str) -> String {
        let url = self.server.base_url();
        let said = self
            .library
            .run("gate", &url, &self.folder, &[prompt, word])
            .await;
        show(&self.library, &said, &[]);
        verdict(&said)
    }
}

fn verdict(said: &Value) -> String {
    if said["passes"].is_string() {
        return "passes".to_owned();
    }
    let why = said["fails"].as_str().or(said["died"].as_str());
    let why = why.unwrap_or_default().lines().next().unwrap_or_default();
    match () {
        () if why.contains("must be right") => "fails: a must".to_owned(),
        () if why.contains("unfinished") => "fails: unfinished".to_owned(),
        () if why.contains("503") => "fails: the 503".to_owned(),
        () if why.contains("worse") => "fails: worse".to_owned(),
        () => format!("fails: {why:.40}"),
    }
}

pub async fn run(library: Library) -> Vec<Row> {
    let outage: Mutex<Outage> = Mutex::default();
    let server = StubServer::builder()
        .as_provider(Provider::OpenAi)
        .log_limit(0)
        .default_reply(StubReply::for_request(move |request| {
            reply(request, &mut outage.lock().unwrap())
        }))
        .start()
        .await
        .unwrap();
    let gate = Gate {
        library,
        server,
        folder: folder(),
    };
    std::fs::write(gate.folder.join("letters.jsonl"), letters()).unwrap();
    gate.check(PROMPT, "bless").await;
    let blessed = gate.server.requests_seen();
    let mut rows = Vec::new();
    let checks = [
        (PROMPT, "the same prompt"),
        (OTHERS, "as good, by other letters"),
        (WORSE, "a worse prompt: 42 of 60 for 54"),
        (MUST, "as good, but the letter that must be right is wrong"),
        (OUTAGE, "the same prompt, and 503s for three seconds"),
    ];
    for (prompt, what) in checks {
        rows.push(Row::new(what, gate.check(prompt, "check").await));
    }
    let checked = gate.server.requests_seen() - blessed;
    rows.push(Row::new(
        "requests: baseline; the five checks",
        format!("{blessed}; {checked}"),
    ));
    rows
}

/// A letter a line, with its team: even ones are bills.
fn letters() -> String {
    (0..LETTERS)
        .map(|at| {
            let mut row =
                json!({"letter": format!("letter {at:04}"), "expected": {"team": team(at, true)}});
            if at == 0 {
                row["must"] = json!(true);
            }
            format!("{row}\n")
        })
        .collect()
}

fn team(letter: u32, is_right: bool) -> &'static str {
    match letter.is_multiple_of(2) == is_right {
        true => "billing",
        false => "repairs",
    }
}

#[derive(Default)]
struct Outage {
    requests: u32,
    since: Option<Instant>,
}

impl Outage {
    fn refuses(&mut self) -> bool {
        self.requests += 1;
        self.requests > BEFORE && self.since.get_or_insert_with(Instant::now).elapsed() < OUT
    }
}

fn reply(request: &LoggedRequest, outage: &mut Outage) -> StubReply {
    let body = request.body();
    let Some(at) = body.find("letter 00") else {
        return StubReply::error(
            400,
            "invalid_request_error",
            "no_letter",
            "There is no letter.",
        );
    };
    let letter: u32 = body[at + "letter ".len()..][..4].parse().unwrap();
    let last = letter % 10;
    if body.contains(OUTAGE) && outage.refuses() {
        return StubReply::error(503, "server_error", Value::Null, "It is down.");
    }
    let is_wrong = match () {
        () if body.contains(WORSE) => last > 6,
        () if body.contains(OTHERS) => last == 7,
        () if body.contains(MUST) => letter == 0 || (last == 9 && letter > 9),
        () => last == 9,
    };
    answer(request, json!({"team": team(letter, !is_wrong)}))
}
