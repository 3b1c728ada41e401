//! An agent whose conversation is summed up, and whose process is killed at each record: what the summary said is in the journal, and
//! a later process sends the same one. It is asked for again only where nobody knows whether it was answered.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use llmnode::journal::JournalFile;
use llmnode::prelude::*;
use llmnode::{FnModel, Limits, Message, Reply, Request, Summary, ToolCall, Toolset, Transcript};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::compacted::small;
use crate::killed::killing::{self, Killing};
use crate::killed_compaction::step;

const RULE: &str = "Never ship before Friday.";
const PAGES: u64 = 24;

#[derive(Default, Serialize, Deserialize)]
struct World {
    said: String,
}

#[llm_node(
    prompt = "What do the pages say? Never ship before Friday.",
    state = World,
    store = said,
    turns = 60,
    compact(keep = 2, at = 2_500, with = Summarise),
    window = 8_192
)]
struct Keep {
    #[node(tools)]
    #[prep(tools())]
    tools: Toolset,
}

/// Sums up.
#[llm_node(prompt = "Sum up:\n{part:fence}", output = Summary, state = World)]
struct Summarise {
    part: Transcript,
}

flow! { Keeping(World): Keep => end }

/// Results that are too short to be left out.
fn tools() -> Toolset {
    let schema = json!({"type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"]});
    Toolset::new().json_function("read", "Reads a page.", schema, |page: Value| async move {
        Ok::<_, BoxError>(format!("page {}: {}", page["page"], "x".repeat(900)))
    })
}

/// The newest page that was read, and no page before the first one.
fn newest_page(request: &Request) -> Option<u64> {
    let calls = request.messages.iter().flat_map(Message::calls);
    let pages = calls.map(|call: &ToolCall| {
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
        arguments["page"].as_u64().unwrap()
    });
    pages.max()
}

/// Notes the summary that each request holds, by its page. No two summaries are alike: each says which process had it made.
fn model(effects: PathBuf) -> FnModel {
    small(move |request| {
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(&effects)
            .unwrap();
        if request.messages[0].content.starts_with("Sum up:") {
            file.write_all(b"summary\n").unwrap();
            let noted = std::fs::read_to_string(&effects).unwrap().lines().count();
            let done = format!("read pages, as {} says in line {noted}", std::process::id());
            return Reply::json(json!({"binding": [RULE], "done": [done]}));
        }
        let texts = request.messages.iter().map(|message| &*message.content);
        let summaries: Vec<&str> = texts.filter(|text| text.starts_with("[Summary")).collect();
        let page = newest_page(request).map_or(0, |page| page + 1);
        let line = format!("{page} {}\n", summaries.join(" ").replace('\n', " "));
        file.write_all(line.as_bytes()).unwrap();
        match page {
            PAGES => Reply::text("Done."),
            page => Reply::text("").call("read", json!({"page": page})),
        }
    })
}

fn run(journal: &Path) -> Run<World> {
    Run::new(model(journal.with_extension("effects")))
        .with_state(World::default())
        .with_limits(Limits::new().requests(1_000))
}

/// Of version 7, by a process that was killed while the request behind page 15 was under way.
const WRITTEN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/agents/summary-v7.journal"
);

/// What was written once can be read forever.
#[tokio::test]
async fn a_journal_of_version_7_goes_on_with_its_summary() {
    let name = format!("llmnode-version-7-{}.journal", std::process::id());
    let journal = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::copy(WRITTEN, &journal).unwrap();
    let mut run = run(&journal);
    let file = JournalFile::open(&journal).unwrap();
    run.flow(Keeping).resume(file).await.unwrap();
    assert_eq!(run.state().said, "Done.");
    let sent = asked(&journal).sent;
    assert!(sent.keys().copied().eq(16..=PAGES), "{:?}", sent.keys());
    let summary = &sent[&16][0];
    assert!(summary.contains("as 21852 says in line"), "{summary}");
    std::fs::remove_file(journal.with_extension("effects")).unwrap();
    std::fs::remove_file(journal).unwrap();
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

/// What was asked of the model.
struct Asked {
    /// The summary that each request held, by its page.
    sent: BTreeMap<u64, Vec<String>>,
    summaries: usize,
}

fn asked(journal: &Path) -> Asked {
    let effects = std::fs::read_to_string(journal.with_extension("effects")).unwrap();
    let mut sent: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    let mut summaries = 0;
    for line in effects.lines() {
        match line.split_once(' ') {
            Some((page, summary)) => {
                let of_page = sent.entry(page.parse().unwrap()).or_default();
                of_page.push(summary.to_owned());
            }
            None => summaries += 1,
        }
    }
    Asked { sent, summaries }
}

#[tokio::test]
async fn killed_at_each_record_an_agent_sends_the_same_summary() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-summary-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let straight = folder.join("straight.journal");
    let file = JournalFile::open(&straight).unwrap();
    run(&straight).flow(Keeping).resume(file).await.unwrap();
    let expected = asked(&straight);
    assert!(expected.summaries >= 2, "{}", expected.summaries);
    let mut moment = 0;
    let mut records = 0;
    let mut behind_summaries = 0;
    loop {
        let journal = folder.join(format!("{moment}.journal"));
        let mut process = killing::start("killed_summary::child", &journal, moment);
        let was_killed = tokio::task::spawn_blocking(move || killing::was_killed(&mut process))
            .await
            .unwrap();
        if let Ok(text) = std::fs::read_to_string(&journal) {
            let compacted = text.matches("\"compacted\":{\"conversation\"").count();
            records += compacted;
            behind_summaries += usize::from(compacted > 0);
        }
        let mut run = run(&journal);
        let file = JournalFile::open(&journal).unwrap();
        run.flow(Keeping).resume(file).await.unwrap();
        assert_eq!(run.state().said, "Done.");
        let asked = asked(&journal);
        assert_eq!(asked.sent.len() as u64, PAGES + 1);
        let most = expected.summaries + 1;
        assert!(
            asked.summaries <= most,
            "{moment}: a summary was paid again"
        );
        for (page, each) in &asked.sent {
            assert!(
                each.iter().all(|one| *one == each[0]),
                "{moment}, {page}: {each:?}"
            );
            assert!(
                each.len() <= 2,
                "{moment}: at most the request under way is unknown"
            );
        }
        assert!(asked.sent[&PAGES][0].contains(RULE));
        if !was_killed {
            break;
        }
        moment += step();
    }
    assert!(moment > 60, "{moment}");
    assert!(
        records > 20 && behind_summaries > 10,
        "{records} {behind_summaries}"
    );
    std::fs::remove_dir_all(folder).unwrap();
}
