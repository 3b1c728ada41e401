//! Five letters at once, and one thing wrong with the answers to each.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use llmnode::StubServer;
use llmnode::stub_server::{LoggedRequest, Provider, StubReply};
use serde_json::{Value, json};

use super::Row;
use crate::library::Library;
use crate::server::{answer, billed, busy, folder, known, show, text};

/// What is wrong with the answers to each: `reply` says when.
const LETTERS: [&str; 5] = [
    "letter-good",
    "letter-wrong",
    "letter-prose",
    "letter-busy",
    "letter-never",
];

#[derive(Default)]
struct Seen {
    requests: u32,
    first: Option<Instant>,
}

pub async fn run(library: Library) -> Vec<Row> {
    let seen: Arc<Mutex<HashMap<&'static str, Seen>>> = Arc::default();
    let noted = Arc::clone(&seen);
    let reply = StubReply::for_request(move |request| {
        let Some(letter) = LETTERS
            .into_iter()
            .find(|letter| request.body().contains(letter))
        else {
            return StubReply::error(
                400,
                "invalid_request_error",
                "no_letter",
                "There is no letter.",
            );
        };
        let mut noted = noted.lock().unwrap();
        reply(letter, noted.entry(letter).or_default(), request)
    });
    let server = StubServer::builder()
        .as_provider(Provider::OpenAi)
        .default_reply(reply)
        .start()
        .await
        .unwrap();
    let folder = folder();
    let said = library
        .run("extract", &server.base_url(), &folder, &LETTERS)
        .await;
    let requests = server.requests();
    show(&library, &said, &requests);
    let seen = seen.lock().unwrap();
    let outcomes: Vec<String> = (0..LETTERS.len())
        .map(|at| outcome(&said["outcomes"][at], seen.get(LETTERS[at])))
        .collect();
    let known = known(&said, billed(&requests));
    vec![
        Row::new(
            "an answer out of bounds, then a right one; requests",
            outcomes[1].clone(),
        ),
        Row::new("prose around the JSON; requests", outcomes[2].clone()),
        Row::new(
            "a 429 for a second, with `retry-after: 1`; requests",
            outcomes[3].clone(),
        ),
        Row::new("never right; requests", outcomes[4].clone()),
        Row::new(
            "tokens known of those billed; millionths of a dollar",
            known,
        ),
    ]
}

/// How a letter ended, and how many requests it took.
fn outcome(said: &Value, seen: Option<&Seen>) -> String {
    let requests = seen.map_or(0, |seen| seen.requests);
    match said.as_str() {
        Some("A-17 120.5") => format!("right; {requests}"),
        Some(error) => format!("`{error}`; {requests}"),
        None => "died".to_owned(),
    }
}

fn reply(letter: &str, seen: &mut Seen, request: &LoggedRequest) -> StubReply {
    let first = *seen.first.get_or_insert_with(Instant::now);
    seen.requests += 1;
    let right = json!({"number": "A-17", "total": 120.5});
    let wrong = json!({"number": "A-17", "total": -120.5});
    match letter {
        "letter-wrong" if seen.requests == 1 => answer(request, wrong),
        "letter-never" => answer(request, wrong),
        "letter-prose" if seen.requests == 1 => text(&format!(
            "Here is the invoice:\n```json\n{right}\n```\nAnything else?"
        )),
        "letter-busy" if first.elapsed() < Duration::from_secs(1) => busy(1),
        _ => answer(request, right),
    }
}
