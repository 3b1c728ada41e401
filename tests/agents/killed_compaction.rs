//! An agent whose conversation is compacted, and whose process is killed at each record: what was left out is in the journal, and a
//! later process leaves out the same, whatever its model and its rules would say.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use llmnode::journal::JournalFile;
use llmnode::prelude::*;
use llmnode::{FnModel, Reply, Toolset};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::compacted::{Log, rounds, small, tools};
use crate::killed::killing::{self, Killing};

/// Enough for three compactions.
const PAGES: usize = 20;

#[derive(Default, Serialize, Deserialize)]
struct World {
    said: String,
}

#[llm_node(prompt = "What do the pages say?", state = World, store = said, turns = 40, compact(keep = 2), window = 8_192)]
struct Keep {
    #[node(tools)]
    #[prep(tools(&Log::default()))]
    tools: Toolset,
}

flow! { Keeping(World): Keep => end }

/// Notes what each request holds, by its number of rounds.
fn model(effects: PathBuf) -> FnModel {
    small(move |request| {
        let turn = rounds(request);
        let results: Vec<String> = request
            .messages
            .iter()
            .filter(|message| message.answers().is_some())
            .map(|message| message.content.chars().take(40).collect())
            .collect();
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(&effects)
            .unwrap();
        file.write_all(format!("{turn} {}\n", results.join(" | ")).as_bytes())
            .unwrap();
        match turn {
            PAGES => Reply::text("Done."),
            turn => Reply::text("").call("search", json!({"page": turn})),
        }
    })
}

fn run(journal: &Path) -> Run<World> {
    Run::new(model(journal.with_extension("effects"))).with_state(World::default())
}

/// The process that is killed: this test program, started again.
#[tokio::test]
async fn child() {
    let Some((journal, at)) = killing::orders::<usize>() else {
        return;
    };
    let file = JournalFile::open(&journal).unwrap();
    run(&journal)
        .flow(Keeping)
        .resume(Killing::new(file, Some(at)))
        .await
        .unwrap();
}

/// What was sent, by the number of rounds.
fn sent(journal: &Path) -> BTreeMap<usize, Vec<String>> {
    let effects = std::fs::read_to_string(journal.with_extension("effects")).unwrap();
    let mut sent: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for line in effects.lines() {
        let (turn, results) = line.split_once(' ').unwrap();
        let of_turn = sent.entry(turn.parse().unwrap()).or_default();
        of_turn.push(results.to_owned());
    }
    sent
}

/// From one moment to the next: the third one by default, since each is two processes. With `LLMNODE_STEP=1`, there are all.
pub(crate) fn step() -> usize {
    std::env::var("LLMNODE_STEP").map_or(3, |step| step.parse().unwrap())
}

#[tokio::test]
async fn killed_at_each_record_an_agent_leaves_out_the_same() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-compaction-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut whole: Option<BTreeMap<usize, Vec<String>>> = None;
    let mut records = 0;
    // The last moments first: they have all compactions before them.
    let straight = folder.join("straight.journal");
    let file = JournalFile::open(&straight).unwrap();
    run(&straight).flow(Keeping).resume(file).await.unwrap();
    let expected = whole.get_or_insert_with(|| sent(&straight));
    let compactions = expected
        .values()
        .filter(|sent| sent[0].contains("left out"));
    assert!(compactions.count() > 5);
    let mut moment = 0;
    loop {
        let journal = folder.join(format!("{moment}.journal"));
        let mut process = killing::start("killed_compaction::child", &journal, moment);
        let was_killed = tokio::task::spawn_blocking(move || killing::was_killed(&mut process))
            .await
            .unwrap();
        if let Ok(text) = std::fs::read_to_string(&journal) {
            records += text.matches("\"compacted\":{\"conversation\"").count();
        }
        let mut run = run(&journal);
        let file = JournalFile::open(&journal).unwrap();
        run.flow(Keeping).resume(file).await.unwrap();
        assert_eq!(run.state().said, "Done.");
        let sent = sent(&journal);
        assert_eq!(sent.len(), PAGES + 1);
        for (turn, each) in &sent {
            let first = &expected[turn][0];
            assert!(
                each.iter().all(|one| one == first),
                "{moment}, {turn}: {each:?}"
            );
            assert!(
                each.len() <= 2,
                "{moment}: at most the request under way is unknown"
            );
        }
        if !was_killed {
            break;
        }
        moment += step();
    }
    assert!(moment > 60, "{moment}");
    assert!(
        records > 20,
        "a process after a compaction was killed {records} times"
    );
    std::fs::remove_dir_all(folder).unwrap();
}
