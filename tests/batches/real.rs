//! Against OGX, which really runs the lines of batches, on a model of 0.5B: see `scripts/batches`, which starts it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command};
use std::time::Duration;

use llmnode::journal::{JournalFile, MapExt as _};
use llmnode::prelude::*;
use llmnode::{Anthropic, BatchApi, Group, OpenAi, ResponseFormat, Run};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::killing::{self, Killing};
use crate::support::Place;

/// `LLMNODE_OGX_LETTERS` sets another number.
const LETTERS: u32 = 200;
/// So small a model copies some numbers wrong. If most were, that no letter has the answer of another would say little.
const LEAST_COPIED: f64 = 0.5;
const MODEL: &str = "llama/Qwen2.5-Coder-0.5B-Instruct";

/// Kills while the batch is planned, uploaded, created and looked at; and while its results are read.
const EARLY_KILLS: usize = 24;
const LATE_KILLS: usize = 16;

#[llm_output]
#[derive(Debug)]
struct Found {
    number: u32,
}

#[llm_node(
    prompt = "Letter {number} says: the roof leaks.\nWhich number has the letter?",
    output = Found,
    retries = 1,
    max_tokens = 40
)]
struct Look {
    number: u32,
}

fn letters(count: u32) -> impl Iterator<Item = Look> + Send {
    (0..count).map(|number| Look {
        number: 1_000 + 37 * number,
    })
}

fn count() -> u32 {
    let set = std::env::var("LLMNODE_OGX_LETTERS").ok();
    set.map_or(LETTERS, |letters| letters.parse().unwrap())
}

/// Whether the answer is that of the letter: one that the model has copied wrong is no other letter's number.
fn is_own(found: u32, node: &Look) -> bool {
    let others = letters(count()).filter(|other| other.number != node.number);
    let numbers: Vec<u32> = others.map(|other| other.number).collect();
    assert!(
        !numbers.contains(&found),
        "letter {} has the answer of letter {found}",
        node.number
    );
    found == node.number
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Wire {
    OpenAi,
    Anthropic,
}

fn url() -> String {
    std::env::var("LLMNODE_OGX_URL").expect("scripts/batches sets LLMNODE_OGX_URL")
}

fn run(wire: Wire) -> Run {
    match wire {
        Wire::OpenAi => Run::new(
            OpenAi::builder()
                .base_url(url())
                .without_key()
                .model(MODEL)
                .build()
                .unwrap(),
        ),
        Wire::Anthropic => Run::new(
            // It passes no schema of Messages on, so the prompt has the form of the answer.
            Anthropic::builder()
                .base_url(url())
                .api_key("none")
                .model(MODEL)
                .response_format(ResponseFormat::Prompt)
                .build()
                .unwrap(),
        ),
    }
}

fn batches() -> BatchApi {
    BatchApi::new().poll(Duration::from_millis(500))
}

/// What the server says, as JSON.
fn get(path: &str) -> Value {
    let url = url();
    let (host, base) = url
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once('/'))
        .unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    // With HTTP/1.0, the body is all that comes.
    write!(stream, "GET /{base}{path} HTTP/1.0\r\nhost: {host}\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let (_, body) = response.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {response}"))
}

/// All batches that the server knows.
fn server_batches(wire: Wire) -> Vec<Value> {
    let path = match wire {
        Wire::OpenAi => "/batches?limit=100",
        Wire::Anthropic => "/messages/batches?limit=100",
    };
    get(path)["data"].as_array().unwrap().clone()
}

/// How many lines all batches of the server have.
fn lines(wire: Wire) -> u64 {
    let batches = server_batches(wire);
    let counts = batches.iter().map(|batch| &batch["request_counts"]);
    let of_batch = |counts: &Value| match wire {
        Wire::OpenAi => counts["total"].as_u64().unwrap(),
        Wire::Anthropic => counts
            .as_object()
            .unwrap()
            .values()
            .filter_map(Value::as_u64)
            .sum(),
    };
    counts.map(of_batch).sum()
}

fn ids(wire: Wire) -> Vec<Value> {
    let batches = server_batches(wire);
    batches.iter().map(|batch| batch["id"].clone()).collect()
}

/// Of the batches that were not there before: one that the server forgot when it was killed never ends.
fn have_ended(wire: Wire, before: &[Value]) -> bool {
    let batches = server_batches(wire);
    let mut own = batches
        .iter()
        .filter(|batch| !before.contains(&batch["id"]));
    own.all(|batch| match wire {
        Wire::OpenAi => batch["status"] == "completed",
        Wire::Anthropic => batch["processing_status"] == "ended",
    })
}

#[derive(Serialize, Deserialize)]
struct Orders {
    wire: Wire,
    kill_at: Option<usize>,
}

/// The process that is killed: this test program, started again.
#[tokio::test]
#[ignore = "scripts/batches starts OGX"]
async fn child() {
    let Some((journal, orders)) = killing::orders::<Orders>() else {
        return;
    };
    let file = JournalFile::open(&journal).unwrap();
    run(orders.wire)
        .map(letters(count()))
        .resume(Killing::new(file, orders.kill_at))
        .batch_api(batches().keep_files())
        .await;
}

fn start(wire: Wire, place: &Place, kill_at: Option<usize>) -> Child {
    let orders = Orders { wire, kill_at };
    killing::start_ignored("real::child", &place.path(), orders)
}

/// Kills processes at records of their journals and at any time, until the batch is answered and then while it is read. Returns how
/// many were killed.
fn kill_again_and_again(wire: Wire, place: &Place) -> usize {
    let before = ids(wire);
    let mut kills = 0;
    for number in 0..EARLY_KILLS {
        let at = (number % 2 == 0).then_some(number);
        let mut child = start(wire, place, at);
        // One that passes the moment of its kill waits for the batch.
        std::thread::sleep(Duration::from_millis(1_500 + 300 * (number % 12) as u64));
        let _ = child.kill();
        kills += usize::from(killing::was_killed(&mut child));
    }
    while !have_ended(wire, &before) {
        std::thread::sleep(Duration::from_secs(2));
    }
    for number in 0..LATE_KILLS {
        let mut child = start(wire, place, Some(1 + 3 * number));
        kills += usize::from(killing::was_killed(&mut child));
    }
    kills
}

async fn survives_kills(wire: Wire) {
    let before = lines(wire);
    let place = Place::new(&format!("real-{wire:?}"));
    let kills = kill_again_and_again(wire, &place);
    let run = run(wire);
    let reports = run
        .map(letters(count()))
        .resume(place.open())
        .batch_api(batches().keep_files())
        .report()
        .await;
    let mut requests = 0;
    let mut copied = 0;
    let mut bad = 0;
    for (node, report) in letters(count()).zip(reports) {
        match report {
            Ok(report) => {
                copied += u32::from(is_own(report.value.number, &node));
                requests += report.record.attempts.len() as u64;
            }
            // So small a model writes prose where nothing enforces the schema, and now and then spaces up to the limit.
            Err(error) => {
                let category = error.category();
                let is_of_model = category.group() == Group::Answer;
                assert!(
                    is_of_model || category == Category::TruncatedOutput,
                    "{error}"
                );
                bad += 1;
                requests += error.record().unwrap().attempts.len() as u64;
            }
        }
    }
    let history = place.open().history().unwrap();
    let counted = history.ledger().total();
    let sent = lines(wire) - before;
    println!(
        "{wire:?}: {kills} kills, {} letters, of which the model copied {copied} and {bad} have no good answer, none has that of another; {requests} requests, \
         {sent} lines in the server's batches, {} requests and {} tokens in the journal",
        count(),
        counted.requests,
        counted.total.known
    );
    assert!(kills >= EARLY_KILLS + LATE_KILLS - 2, "{kills}");
    assert!(f64::from(copied) >= LEAST_COPIED * f64::from(count() - bad));
    assert_eq!(sent, requests, "none is sent twice, and none is lost");
    assert_eq!(counted.requests, sent);
    assert_eq!(counted.total.unreported_calls, 0);
    assert!(history.unknown().is_empty());
}

#[tokio::test]
#[ignore = "scripts/batches starts OGX"]
async fn killed_forty_times_nothing_is_sent_twice_and_nothing_is_lost_by_openai() {
    survives_kills(Wire::OpenAi).await;
}

#[tokio::test]
#[ignore = "scripts/batches starts OGX"]
async fn killed_forty_times_nothing_is_sent_twice_and_nothing_is_lost_by_anthropic() {
    survives_kills(Wire::Anthropic).await;
}

/// OGX forgets that it runs a batch when it is killed, and the batch is in progress for ever, or being cancelled for ever.
#[tokio::test]
#[ignore = "scripts/batches starts OGX"]
async fn after_a_kill_of_the_server_the_rest_is_asked_at_once_and_its_first_cost_is_unknown() {
    const FEW: u32 = 40;
    for wire in [Wire::OpenAi, Wire::Anthropic] {
        let known = server_batches(wire).len();
        let place = Place::new(&format!("real-server-{wire:?}"));
        let run = run(wire);
        let within = batches().within(Duration::from_secs(60)).then_at_once();
        let map = run
            .map(letters(FEW))
            .resume(place.open())
            .batch_api(within)
            .report();
        let killer = tokio::task::spawn_blocking(move || kill_server(wire, known));
        let reports = map.await;
        killer.await.unwrap();
        let mut direct = 0;
        for (node, report) in letters(FEW).zip(reports) {
            let report = report.unwrap_or_else(|error| panic!("{wire:?} {}: {error}", node.number));
            is_own(report.value.number, &node);
            let last = report.record.attempts.last().unwrap();
            direct += usize::from(last.batch.is_none());
        }
        let total = run.ledger().total();
        println!(
            "{wire:?}: {direct} of {FEW} letters were asked at once, and {} requests are of unknown cost",
            total.total.unreported_calls
        );
        assert!(direct > 0);
        assert_eq!(total.total.unreported_calls as usize, direct, "{wire:?}");
    }
}

/// Kills it as soon as it has one more batch. `scripts/batches` starts it again.
fn kill_server(wire: Wire, known: usize) {
    while server_batches(wire).len() == known {
        std::thread::sleep(Duration::from_millis(200));
    }
    let pid = std::fs::read_to_string(std::env::var("LLMNODE_OGX_PID").unwrap()).unwrap();
    let killed = Command::new("kill").args(["-KILL", pid.trim()]).status();
    assert!(killed.unwrap().success());
}
