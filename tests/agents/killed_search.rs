//! An agent that searches for tools, whose process is killed at each record: what was found is in the journal by name, and is not
//! searched for again.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use llmnode::journal::{Journal, JournalError, JournalFile, Record};
use llmnode::prelude::*;
use llmnode::{BoxFuture, FnModel, Reply, Toolset};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::deferred::{Log, many};
use crate::killed::killing::{self, Killing};

#[derive(Default, Serialize, Deserialize)]
struct World {
    said: String,
}

#[llm_node(prompt = "I want a refund.", state = World, store = said)]
struct Keep {
    #[node(tools)]
    #[prep(many(&Log::default()).deferred())]
    tools: Toolset,
}

flow! { Keeping(World): Keep => end }

/// Notes what each request lists, with the number of its messages.
fn model(effects: PathBuf) -> FnModel {
    FnModel::new(move |request| {
        let names: Vec<&str> = request.tools.iter().map(|tool| &*tool.name).collect();
        let turn = request.messages.len();
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(&effects)
            .unwrap();
        file.write_all(format!("{turn} {}\n", names.join(" ")).as_bytes())
            .unwrap();
        match turn {
            1 => Reply::text("").call("search_tools", json!({"query": "delete label"})),
            3 => Reply::text("").call("hr_get_shift", json!({"number": 1})),
            _ => Reply::text("Done."),
        }
    })
    .named("searching")
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

async fn killed(moment: usize, journal: &Path) -> bool {
    let mut process = killing::start("killed_search::child", journal, moment);
    tokio::task::spawn_blocking(move || killing::was_killed(&mut process))
        .await
        .unwrap()
}

/// A journal of a process whose index found other tools: for the question, and for the search.
struct Older(JournalFile);

impl Journal for Older {
    fn read<'j>(
        &'j mut self,
        each: &'j mut (dyn FnMut(Record) + Send),
    ) -> BoxFuture<'j, Result<(), JournalError>> {
        Box::pin(async {
            let mut changed = |record: Record| {
                let json = serde_json::to_string(&record).unwrap();
                let json = json
                    .replace("\"shop_get_refund\"", "\"hr_get_applicant\"")
                    .replace("\"mail_get_label\"", "\"hr_get_vacation\"");
                each(serde_json::from_str(&json).unwrap());
            };
            self.0.read(&mut changed).await
        })
    }

    fn append<'j>(&'j mut self, record: &'j Record) -> BoxFuture<'j, Result<(), JournalError>> {
        self.0.append(record)
    }
}

async fn go_on(journal: &Path) {
    let mut run = run(journal);
    let file = JournalFile::open(journal).unwrap();
    run.flow(Keeping).resume(file).await.unwrap();
    assert_eq!(run.state().said, "Done.");
}

/// What was listed, by the number of messages.
fn listed(journal: &Path) -> BTreeMap<usize, Vec<String>> {
    let effects = std::fs::read_to_string(journal.with_extension("effects")).unwrap();
    let mut listed: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for line in effects.lines() {
        let (turn, names) = line.split_once(' ').unwrap();
        let of_turn = listed.entry(turn.parse().unwrap()).or_default();
        of_turn.push(names.to_owned());
    }
    listed
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[tokio::test]
async fn killed_at_each_record_an_agent_lists_what_was_found() {
    let folder = folder("search");
    let mut moment = 0;
    let mut whole: Option<BTreeMap<usize, Vec<String>>> = None;
    loop {
        let journal = folder.join(format!("{moment}.journal"));
        let was_killed = killed(moment, &journal).await;
        go_on(&journal).await;
        let listed = listed(&journal);
        assert_eq!(listed.keys().copied().collect::<Vec<_>>(), [1, 3, 5]);
        let expected = whole.get_or_insert_with(|| listed.clone());
        for (turn, names) in &listed {
            let first = &expected[turn][0];
            assert!(names.iter().all(|one| one == first), "{moment}: {names:?}");
        }
        if !was_killed {
            break;
        }
        moment += 1;
    }
    assert!(moment > 10, "{moment}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn what_another_index_would_find_is_not_found_again() {
    let folder = folder("index");
    for moment in 0.. {
        let journal = folder.join(format!("{moment}.journal"));
        assert!(killed(moment, &journal).await, "no moment has two rounds");
        let before = listed_or_nothing(&journal);
        let text = std::fs::read_to_string(&journal).unwrap();
        let has_result = text.contains("found") && text.contains("mail_get_label");
        if before.contains_key(&3) || !has_result {
            continue;
        }
        let mut run = run(&journal);
        let older = Older(JournalFile::open(&journal).unwrap());
        run.flow(Keeping).resume(older).await.unwrap();
        let now = &listed(&journal)[&3][0];
        for (old, new) in [
            ("shop_get_refund", "hr_get_applicant"),
            ("mail_get_label", "hr_get_vacation"),
        ] {
            assert!(now.contains(new) && !now.contains(old), "{moment}: {now}");
        }
        break;
    }
    std::fs::remove_dir_all(folder).unwrap();
}

fn listed_or_nothing(journal: &Path) -> BTreeMap<usize, Vec<String>> {
    match journal.with_extension("effects").exists() {
        true => listed(journal),
        false => BTreeMap::new(),
    }
}
