//! A tool that asks a person in the middle of its work, in a flow with a journal. The process that asks and the one that has the answer
//! are killed at each record: the question stays the same, and the tool goes on once with its answer.

#![cfg(unix)]

use std::io::Write;
use std::path::{Path, PathBuf};

use llmnode::journal::JournalFile;
use llmnode::prelude::*;
use llmnode::{Category, FnModel, Paused, Question, Reply, Toolset};
use llmnode_runtime::ext::{AskedReplies, AskedReply, Asks};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::killed::killing::{self, Killing};

#[derive(Default, Serialize, Deserialize)]
struct Till {
    effects: PathBuf,
    said: String,
}

#[llm_node(prompt = "Refund the order.", state = Till, store = said)]
struct Refund {
    #[node(tools)]
    #[prep(refunds(&state.effects))]
    tools: Toolset,
}

flow! { Refunding(Till): Refund => end }

fn note(effects: &Path, what: &str) {
    let file = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(effects);
    file.unwrap()
        .write_all(format!("{what}\n").as_bytes())
        .unwrap();
}

/// As tools of MCP servers, it does not run again by itself.
fn refunds(effects: &Path) -> Toolset {
    let effects = effects.to_owned();
    let schema = json!({"type": "object"});
    let tools = Toolset::new().asking_function("refund", "Refunds.", schema, move |_, replies| {
        let done = refunded(&effects, replies);
        async move { done }
    });
    tools.idempotent(false)
}

fn refunded(effects: &Path, replies: Option<AskedReplies>) -> Result<String, BoxError> {
    let Some(replies) = replies else {
        note(effects, "asked");
        let properties = json!({"euros": {"type": "integer", "maximum": 50}});
        let schema = json!({"type": "object", "properties": properties, "required": ["euros"]});
        let asks = Asks {
            questions: [("amount".to_owned(), Question::new("How much?", schema))].into(),
            memory: Some("sealed".to_owned()),
        };
        return Err(asks.into_error().into());
    };
    assert_eq!(replies.memory.as_deref(), Some("sealed"));
    let AskedReply::Answer(answer) = &replies.replies["amount"] else {
        return Err("it was answered".into());
    };
    note(effects, "refunded");
    Ok(format!("refunded {}", answer["euros"]))
}

fn run(journal: &Path) -> Run<Till> {
    let effects = journal.with_extension("effects");
    let noted = effects.clone();
    let model = FnModel::new(move |request| {
        note(&noted, &format!("request {}", request.messages.len()));
        match request.messages.last() {
            Some(result) if result.answers().is_some() => Reply::text(&*result.content),
            _ => Reply::text("").call("refund", json!({})),
        }
    });
    Run::new(model).with_state(Till {
        effects,
        ..Till::default()
    })
}

fn times(journal: &Path, what: &str) -> usize {
    let effects = std::fs::read_to_string(journal.with_extension("effects")).unwrap_or_default();
    effects.lines().filter(|line| *line == what).count()
}

fn answered(paused: Paused) -> Paused {
    let id = paused.waiting()[0].id.clone();
    paused.answer(&id, json!({"euros": 20})).unwrap()
}

/// A flow that goes on until it waits or has ended, and again if nobody knows whether its tool has run.
struct GoneOn {
    outcome: Result<(), NodeError>,
    said: String,
    doubts: usize,
}

async fn go_on(journal: &Path, decided: Option<&Paused>) -> GoneOn {
    for doubts in 0..2 {
        let mut run = run(journal);
        let file = JournalFile::open(journal).unwrap();
        let mut flow = run.flow(Refunding).resume(file);
        if let Some(decided) = decided {
            flow = flow.approve(decided.clone());
        }
        if doubts > 0 {
            flow = flow.rerun();
        }
        let outcome = flow.await;
        let is_in_doubt = match &outcome {
            Err(error) => error.message().contains("the node `refund` was called"),
            Ok(()) => false,
        };
        if !is_in_doubt {
            let said = run.state().said.clone();
            return GoneOn {
                outcome,
                said,
                doubts,
            };
        }
    }
    panic!("it was run again by a person's word")
}

/// Goes on until the question waits. Returns how often a person had to decide whether the tool had run.
async fn asked(journal: &Path, moment: usize) -> (Paused, usize) {
    let gone_on = go_on(journal, None).await;
    let error = gone_on.outcome.unwrap_err();
    assert_eq!(error.category(), Category::Paused, "{moment}: {error}");
    let paused = error.paused().unwrap();
    let waiting = paused.waiting();
    assert_eq!(waiting[0].question.as_ref().unwrap().message, "How much?");
    (paused, gone_on.doubts)
}

/// The process that is killed: this test program, started again.
#[tokio::test]
async fn child() {
    let Some((journal, orders)) = killing::orders::<Orders>() else {
        return;
    };
    let file = JournalFile::open(&journal).unwrap();
    let mut run = run(&journal);
    let killing = Killing::new(file, Some(orders.at));
    let flow = run.flow(Refunding).resume(killing);
    match orders.decided {
        Some(decided) => flow.approve(decided).await.unwrap(),
        None => assert_eq!(flow.await.unwrap_err().category(), Category::Paused),
    }
}

#[derive(Serialize, Deserialize)]
struct Orders {
    at: usize,
    decided: Option<Paused>,
}

async fn was_killed(journal: &Path, orders: Orders) -> bool {
    let mut process = killing::start("killed_asks::child", journal, orders);
    let killed = tokio::task::spawn_blocking(move || killing::was_killed(&mut process));
    killed.await.unwrap()
}

fn journal(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-asks-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder.join("till.journal")
}

/// `doubts`: how often a person had to decide whether the refund was made.
fn assert_refunded(journal: &Path, said: &str, moment: usize, doubts: usize) {
    assert_eq!(said, "refunded 20", "{moment}");
    let history = JournalFile::open(journal).unwrap().history().unwrap();
    let unknown = history.unknown().len();
    let requests = times(journal, "request 1") + times(journal, "request 3");
    assert!(requests <= 2 + unknown, "{moment}: {requests}, {unknown}");
    let total = history.ledger().total().requests as usize;
    assert!((requests..=requests + unknown).contains(&total), "{moment}");
    // Who loses the question asks for it once more, and nothing was refunded by then.
    let asked = times(journal, "asked");
    let refunded = times(journal, "refunded");
    assert!(asked <= 2, "{moment}: {asked}");
    assert!(refunded <= 1 + doubts, "{moment}: {refunded}");
    std::fs::remove_dir_all(journal.parent().unwrap()).unwrap();
}

#[tokio::test]
async fn killed_at_each_record_a_tool_asks_the_same() {
    let mut moment = 0;
    let mut all_doubts = 0;
    loop {
        let journal = journal(&format!("asks-{moment}"));
        let decided = None;
        let orders = Orders {
            at: moment,
            decided,
        };
        let was_killed = was_killed(&journal, orders).await;
        let (paused, doubts) = asked(&journal, moment).await;
        let gone_on = go_on(&journal, Some(&answered(paused))).await;
        gone_on.outcome.unwrap();
        assert_eq!(gone_on.doubts, 0, "{moment}: it has only asked");
        assert_refunded(&journal, &gone_on.said, moment, 0);
        all_doubts += doubts;
        if !was_killed {
            assert_eq!(doubts, 0);
            break;
        }
        moment += 1;
    }
    assert!(moment > 10, "{moment}");
    // Behind the record that it begins, and before the one that it has asked.
    assert_eq!(all_doubts, 2);
}

#[tokio::test]
async fn killed_at_each_record_an_answer_reaches_its_tool_once() {
    let mut moment = 0;
    let mut all_doubts = 0;
    loop {
        let journal = journal(&format!("answers-{moment}"));
        let (paused, _) = asked(&journal, moment).await;
        let decided = answered(paused);
        let orders = Orders {
            at: moment,
            decided: Some(decided.clone()),
        };
        let was_killed = was_killed(&journal, orders).await;
        let gone_on = go_on(&journal, Some(&decided)).await;
        if was_killed {
            gone_on.outcome.unwrap();
        }
        assert_refunded(&journal, &gone_on.said, moment, gone_on.doubts);
        all_doubts += gone_on.doubts;
        if !was_killed {
            break;
        }
        moment += 1;
    }
    assert!(moment > 10, "{moment}");
    // Until its result is there.
    assert!(all_doubts <= 4, "{all_doubts}");
}
