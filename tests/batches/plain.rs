//! A map without `.batch_api` asks, pays and records as ever: a file has each byte that it sends and each record, so that no change
//! for batches slips in. After a change that is meant, `LLMNODE_UPDATE=1` writes the file anew; read the difference.

use llmnode::journal::MapExt as _;
use llmnode::stub_server::StubServer;
use llmnode::{Cache, Run};
use serde_json::Value;

use crate::money::prices;
use crate::support::{APIS, Api, Place, letters, run, sorting};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/batches/plain-map.txt");

/// What no two runs have in common.
const OF_A_RUN: [&str; 7] = [
    "unix_ms",
    "started_unix_ms",
    "elapsed_ms",
    "wait_ms",
    "first_chunk_ms",
    "host",
    "user-agent",
];

/// Letter 3 is corrected.
const LETTERS: usize = 4;

/// What a server got, in its order.
fn sent(server: &StubServer) -> String {
    let mut text = String::new();
    for request in server.requests() {
        text.push_str(&format!("{} {}\n", request.method(), request.path()));
        for (name, value) in request.headers() {
            if !OF_A_RUN.contains(&&*name.to_lowercase()) {
                text.push_str(&format!("{name}: {value}\n"));
            }
        }
        text.push_str(&format!("\n{}\n\n", request.body()));
    }
    text
}

/// A record in one line.
fn line(record: &Value) -> String {
    let mut record = record.clone();
    forget_times(&mut record);
    format!("{record}\n")
}

fn forget_times(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !OF_A_RUN.contains(&&**name));
            members.values_mut().for_each(forget_times);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_times),
        _ => {}
    }
}

fn journal(place: &Place) -> String {
    let file = std::fs::read_to_string(place.path()).unwrap();
    let mut lines = String::new();
    for text in file.lines() {
        // Behind a checksum and a length.
        let json = text.splitn(3, ' ').nth(2).unwrap();
        let entry: Value = serde_json::from_str(json).unwrap();
        lines.push_str(&line(&entry["record"]));
    }
    lines
}

/// With the ids of a run and of its map as words.
fn without_ids(text: &str, run: &Run, place: &Place) -> String {
    let call = run.ledger().calls()[0].id.to_string();
    let (of_run, _) = call.split_once('-').unwrap();
    let text = text.replace(of_run, "RUN");
    let file = std::fs::read_to_string(place.path()).unwrap_or_default();
    let map = file.split_once("\"map_started\":{\"id\":\"");
    match map.and_then(|(_, behind)| behind.split_once('"')) {
        Some((map, _)) => text.replace(map, "MAP"),
        None => text,
    }
}

/// The records of all calls, and what they cost together.
fn ledger(run: &Run) -> String {
    let mut lines = String::new();
    for call in run.ledger().calls() {
        // A map numbers its calls.
        let mut call = (*call).clone();
        call.item = None;
        lines.push_str(&line(&serde_json::to_value(call).unwrap()));
    }
    let usage = run.ledger().total();
    let cost = usage.cost.total().unwrap();
    format!(
        "{lines}{} requests, {} tokens, {cost:.6}\n",
        usage.requests, usage.total.known
    )
}

/// All that can be seen of a map at one API.
async fn seen(api: Api) -> String {
    let server = sorting().start().await.unwrap();
    let place = Place::new(&format!("plain-{api:?}"));
    let run = run(&server, api).with_prices(prices());
    let map = run.map(letters(LETTERS)).concurrency(1);
    let map = map.cache(Cache::Minutes5).resume(place.open());
    assert!(map.await.iter().all(Result::is_ok));
    let text = format!(
        "# {api:?}\n\n## Requests\n\n{}## Calls\n\n{}\n## Journal\n\n{}\n",
        sent(&server),
        ledger(&run),
        journal(&place)
    );
    without_ids(&text, &run, &place)
}

#[tokio::test]
async fn a_map_without_a_batch_api_is_byte_for_byte_as_before() {
    let mut text = String::new();
    for api in APIS {
        text.push_str(&seen(api).await);
    }
    let words = ["\"batch\"", "\"batch_"];
    assert!(!words.iter().any(|word| text.contains(word)), "{text}");
    if std::env::var_os("LLMNODE_UPDATE").is_some() {
        std::fs::write(FILE, &text).unwrap();
    }
    let expected = std::fs::read_to_string(FILE).unwrap();
    for (number, (line, before)) in text.lines().zip(expected.lines()).enumerate() {
        assert_eq!(line, before, "line {} of {FILE}", number + 1);
    }
    assert_eq!(text.len(), expected.len());
}

/// A map adds nothing to its calls but their numbers.
#[tokio::test]
async fn a_map_without_a_batch_api_asks_as_its_calls_alone_would() {
    for api in APIS {
        let of_map = sorting().start().await.unwrap();
        let place = Place::new(&format!("plain-calls-{api:?}"));
        let mapping = run(&of_map, api).with_prices(prices());
        let map = mapping.map(letters(LETTERS)).concurrency(1);
        let outcomes = map.cache(Cache::Minutes5).await;
        assert!(outcomes.iter().all(Result::is_ok));
        let of_calls = sorting().start().await.unwrap();
        let calling = run(&of_calls, api).with_prices(prices());
        for letter in &letters(LETTERS) {
            let call = calling.call(letter).cache(Cache::Minutes5);
            call.await.unwrap();
        }
        let map = format!("{}{}", sent(&of_map), ledger(&mapping));
        let calls = format!("{}{}", sent(&of_calls), ledger(&calling));
        assert_eq!(
            without_ids(&map, &mapping, &place),
            without_ids(&calls, &calling, &place),
            "{api:?}"
        );
    }
}
