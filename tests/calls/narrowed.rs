//! Corrections whose schema allows only what a check listed.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use llmnode::flow::Batch;
use llmnode::journal::JournalFile;
use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServer};
use llmnode::{AttemptRecord, CallReport, Cassette, CassetteMode, OpenAi, ResponseFormat};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Default, Serialize, Deserialize)]
struct World {
    inventory: Vec<String>,
}

fn world() -> World {
    World {
        inventory: ["key", "lamp"].map(str::to_owned).into(),
    }
}

#[llm_output]
#[derive(Debug, PartialEq)]
struct Choice {
    #[serde(rename = "chosenItem")]
    item: Option<String>,
    room: u32,
    others: Vec<Other>,
}

#[llm_output]
#[derive(Debug, PartialEq)]
struct Other {
    item: String,
}

#[validate]
impl Choice {
    fn is_in_stock(&self, state: &World) -> Result<(), Invalid> {
        match &self.item {
            Some(item) if !state.inventory.contains(item) => {
                Err(Invalid::at("item", format!("{item:?} is not here"))
                    .allowed(&state.inventory)
                    .only())
            }
            _ => Ok(()),
        }
    }

    fn room_is_open(&self) -> Result<(), Invalid> {
        if self.room < 3 {
            return Ok(());
        }
        Err(Invalid::at("room", "is closed").allowed([1, 2]))
    }

    fn others_are_in_stock(&self, state: &World) -> Result<(), Invalid> {
        let bad = self
            .others
            .iter()
            .position(|other| !state.inventory.contains(&other.item));
        bad.map_or(Ok(()), |at| {
            Err(Invalid::at(format!("others[{at}].item"), "is not here")
                .allowed(&state.inventory)
                .only())
        })
    }
}

#[llm_node(prompt = "Choose.", output = Choice, state = World, batch = Choose::once, retries = 2)]
struct Choose;

impl Choose {
    fn once(_: &World) -> Vec<Choose> {
        vec![Choose]
    }
}

flow! { Choosing(World): Batch<Choose> as Choose => end }

fn choice(item: &str, room: u32, others: &[&str]) -> StubReply {
    let others: Vec<_> = others.iter().map(|item| json!({"item": item})).collect();
    StubReply::json(json!({"chosenItem": item, "room": room, "others": others}))
}

async fn server(replies: impl IntoIterator<Item = StubReply>) -> (StubServer, OpenAi) {
    let server = StubServer::builder().script(replies).start().await.unwrap();
    let model = OpenAi::builder()
        .base_url(server.base_url())
        .model("m")
        .build()
        .unwrap();
    (server, model)
}

fn bodies(server: &StubServer) -> Vec<Value> {
    server
        .requests()
        .iter()
        .map(|request| request.json().unwrap().clone())
        .collect()
}

fn schema(server: &StubServer, request: usize) -> Value {
    bodies(server)[request]["response_format"]["json_schema"]["schema"].clone()
}

fn narrowed<T>(report: &CallReport<T>) -> Vec<Vec<&str>> {
    let all = report.record.attempts.iter();
    all.map(|one| one.narrowed.iter().map(String::as_str).collect())
        .collect()
}

#[tokio::test]
async fn a_closed_list_stands_in_the_schema_of_the_correction_at_its_place_alone() {
    let (server, model) = server([choice("axe", 9, &[]), choice("key", 1, &[])]).await;
    let report = Run::new(model)
        .with_state(world())
        .call(&Choose)
        .report()
        .await
        .unwrap();
    let [mut first, mut second] = [schema(&server, 0), schema(&server, 1)];
    let [before, after] =
        [&mut first, &mut second].map(|schema| schema["properties"]["chosenItem"].take());
    assert_eq!(
        (before.get("enum"), &after["enum"]),
        (None, &json!(["key", "lamp", null]))
    );
    assert_eq!(
        second, first,
        "neither the room, whose list is not closed, nor the other items"
    );
    assert_eq!(narrowed(&report), [vec![], vec!["/chosenItem"]]);
    let record = serde_json::to_value(&report.record.attempts).unwrap();
    assert_eq!(
        (record[0].get("narrowed"), &record[1]["narrowed"]),
        (None, &json!(["/chosenItem"]))
    );
    let older: AttemptRecord = serde_json::from_value(record[0].clone()).unwrap();
    assert!(older.narrowed.is_empty());
}

#[tokio::test]
async fn a_place_in_a_list_stays_in_words() {
    let (server, model) = server([choice("key", 1, &["axe"]), choice("key", 1, &[])]).await;
    let report = Run::new(model)
        .with_state(world())
        .call(&Choose)
        .report()
        .await
        .unwrap();
    assert_eq!(schema(&server, 1), schema(&server, 0));
    assert_eq!(narrowed(&report), [[""; 0]; 2]);
}

#[tokio::test]
async fn a_closed_list_that_is_refused_again_is_not_closed_again() {
    let answers = ["axe", "axe", "key"].map(|item| choice(item, 1, &[]));
    let (server, model) = server(answers).await;
    let report = Run::new(model)
        .with_state(world())
        .call(&Choose)
        .report()
        .await
        .unwrap();
    assert_eq!(narrowed(&report), [vec![], vec!["/chosenItem"], vec![]]);
    assert_eq!(schema(&server, 2), schema(&server, 0));
}

#[tokio::test]
async fn without_an_enforced_schema_the_list_stays_in_words() {
    let (server, model) = server([choice("axe", 1, &[]), choice("key", 1, &[])]).await;
    let run = Run::new(model).with_state(world());
    let report = run
        .call(&Choose)
        .response_format(ResponseFormat::Prompt)
        .report()
        .await
        .unwrap();
    let bodies = bodies(&server);
    let messages = |at: usize| bodies[at]["messages"].as_array().unwrap();
    assert_eq!(
        messages(1)[..2],
        messages(0)[..],
        "the prompt stays as it was"
    );
    let feedback = messages(1)[3]["content"].as_str().unwrap();
    assert!(
        feedback.contains(r#"is not here; allowed: "key", "lamp""#),
        "{feedback}"
    );
    assert_eq!(narrowed(&report), [[""; 0]; 2]);
}

#[tokio::test]
async fn a_list_of_choices_that_changed_is_sent_anew() {
    #[derive(Default)]
    struct Rooms {
        asked: AtomicUsize,
    }
    impl Rooms {
        fn free(&self) -> Vec<u32> {
            // The first list is that of the first request, and the second one that of its check.
            if self.asked.fetch_add(1, Ordering::Relaxed) == 0 {
                vec![1, 2]
            } else {
                vec![7, 8]
            }
        }
    }
    #[llm_output]
    #[derive(Debug)]
    struct Booking {
        nights: Vec<Night>,
        guest: String,
    }
    #[llm_output]
    #[derive(Debug)]
    struct Night {
        room: u32,
    }
    #[llm_node(
        prompt = "?",
        output = Booking,
        state = Rooms,
        choices(nights[].room = state.free(), guest = guests),
        retries = 1
    )]
    struct Book {
        guests: Vec<&'static str>,
    }
    let booking = |room: u32| StubReply::json(json!({"nights": [{"room": room}], "guest": "Ada"}));
    let (server, model) = server([booking(1), booking(7)]).await;
    let run = Run::new(model).with_state(Rooms::default());
    let report = run
        .call(&Book {
            guests: vec!["Ada"],
        })
        .report()
        .await
        .unwrap();
    let room = "/properties/nights/items/properties/room/enum";
    let listed = [0, 1].map(|request| schema(&server, request).pointer(room).cloned());
    assert_eq!(listed, [Some(json!([1, 2])), Some(json!([7, 8]))]);
    assert_eq!(
        schema(&server, 1)["properties"]["guest"]["enum"],
        json!(["Ada"])
    );
    assert_eq!(narrowed(&report), [vec![], vec!["/nights/0/room"]]);
}

#[tokio::test]
async fn a_server_that_takes_no_lists_gets_none_and_the_record_says_so() {
    let refusal = StubReply::error(
        400,
        "invalid_request_error",
        (),
        "Invalid schema for response_format 'Choice'",
    );
    let (server, model) = server([choice("axe", 1, &[]), refusal, choice("key", 1, &[])]).await;
    let report = Run::new(model)
        .with_state(world())
        .call(&Choose)
        .report()
        .await
        .unwrap();
    assert_eq!(schema(&server, 2), schema(&server, 0));
    assert_eq!(narrowed(&report), [vec![], vec!["/chosenItem"], vec![]]);
    assert_eq!(report.record.attempts[2].refused, ["choices"]);
}

fn file(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-narrowed-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

#[tokio::test]
async fn cassettes_and_journals_replay_it() {
    let (_server, model) = server([choice("axe", 1, &[]), choice("key", 1, &[])]).await;
    let path = file("cassette.json");
    let record = Cassette::open(&path).mode(CassetteMode::Record);
    let run = Run::new(record.around(move || Ok(model)).unwrap()).with_state(world());
    let recorded = run.call(&Choose).report().await.unwrap();
    drop(run);
    let nowhere = || -> Result<OpenAi, _> { panic!("no model is needed") };
    let run = Run::new(Cassette::open(&path).around(nowhere).unwrap()).with_state(world());
    let replayed = run.call(&Choose).report().await.unwrap();
    assert_eq!(
        (&replayed.value, narrowed(&replayed)),
        (&recorded.value, narrowed(&recorded))
    );

    // A crash between the bad answer and the good one.
    let late = choice("lamp", 1, &[]).after(Duration::from_secs(3600));
    let (server, model) = server([choice("axe", 1, &[]), late, choice("key", 1, &[])]).await;
    let path = file("journal");
    let mut run = Run::new(model.clone()).with_state(world());
    let flow = run.flow(Choosing).resume(JournalFile::open(&path).unwrap());
    tokio::time::timeout(Duration::from_millis(500), flow)
        .await
        .unwrap_err();
    assert_eq!(server.requests().len(), 2);
    let mut run = Run::new(model).with_state(world());
    run.flow(Choosing)
        .resume(JournalFile::open(&path).unwrap())
        .await
        .unwrap();
    let bodies = bodies(&server);
    assert_eq!(
        bodies[1], bodies[2],
        "the correction is asked for as before"
    );
    assert_ne!(schema(&server, 2), schema(&server, 0));
    let calls = run.ledger().calls();
    let narrowed: Vec<_> = calls
        .iter()
        .flat_map(|call| &call.attempts)
        .map(|one| &one.narrowed)
        .collect();
    assert!(
        narrowed.ends_with(&[&vec!["/chosenItem".to_owned()]]),
        "{narrowed:?}"
    );
    assert!(
        std::fs::read_to_string(&path)
            .unwrap()
            .contains(r#""narrowed":["/chosenItem"]"#)
    );
}
