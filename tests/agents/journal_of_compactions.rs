//! The form of a journal with compactions: what was written once can be read forever.

use std::path::Path;

use llmnode::journal::JournalFile;
use llmnode::prelude::*;
use llmnode::{FnModel, Reply, Request, Summary, Toolset, Transcript};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::compacted::small;

/// Of version 7, broken off before the last request: a part of the conversation was summed up.
const WRITTEN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/agents/compactions-v7.journal"
);

const PAGES: usize = 8;

#[derive(Default, Serialize, Deserialize)]
struct Desk {
    said: String,
}

#[llm_node(
    prompt = "What do the pages say? Never ship before Friday.",
    state = Desk,
    store = said,
    turns = 20,
    compact(keep = 1, at = 1_200, with = Summarise)
)]
struct Keep {
    #[node(tools)]
    #[prep(tools())]
    tools: Toolset,
}

/// Sums up.
#[llm_node(prompt = "Sum up:\n{part:fence}", output = Summary, state = Desk)]
struct Summarise {
    part: Transcript,
}

flow! { Keeping(Desk): Keep => end }

/// Results of odd pages are long enough to be left out.
fn tools() -> Toolset {
    let schema = json!({"type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"]});
    Toolset::new().json_function("read", "Reads a page.", schema, |page: Value| async move {
        let number = page["page"].as_u64().unwrap_or_default();
        let length = if number % 2 == 1 { 1_200 } else { 800 };
        let length = usize::try_from(length).unwrap_or_default();
        Ok::<_, BoxError>(format!("page {number}: {}", "x".repeat(length)))
    })
}

fn is_summing_up(request: &Request) -> bool {
    request.messages[0].content.starts_with("Sum up:")
}

fn model() -> FnModel {
    small(|request| {
        if is_summing_up(request) {
            let rule = "Never ship before Friday.";
            return Reply::json(
                json!({"binding": [rule], "done": ["read pages"], "facts": ["page 1 has an x"]}),
            );
        }
        let calls = request.messages.iter().flat_map(|message| message.calls());
        let newest = calls.filter_map(|call| {
            let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
            arguments["page"].as_u64()
        });
        let page = newest.max().map_or(0, |page| page + 1);
        match usize::try_from(page).unwrap() {
            PAGES => Reply::text("Done."),
            _ => Reply::text("").call("read", json!({"page": page})),
        }
    })
}

#[tokio::test]
async fn version_7_is_read_and_goes_on() {
    let written = std::fs::read_to_string(WRITTEN).unwrap();
    assert!(written.contains("\"version\":7"));
    assert!(written.contains("\"step\":\"summary\""));
    let name = format!("llmnode-golden-{}.journal", std::process::id());
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, &written).unwrap();
    let model = model();
    let mut run = Run::new(model.clone()).with_state(Desk::default());
    let journal = JournalFile::open(&path).unwrap();
    run.flow(Keeping).resume(journal).await.unwrap();
    assert_eq!(run.state().said, "Done.");
    let requests = model.requests();
    assert_eq!(requests.len(), 1, "all else is in the journal");
    let texts = requests[0].messages.iter().map(|message| &*message.content);
    let texts: Vec<&str> = texts.collect();
    assert!(
        texts.iter().any(|text| text.starts_with("[Summary")),
        "{texts:?}"
    );
    std::fs::remove_file(path).unwrap();
}
