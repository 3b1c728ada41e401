//! The record of a flow as JSON.

use llmnode_flow::flow::{FlowRecord, RunExt};
use llmnode_runtime::{Category, FormatError};

use crate::watched::{Talk, talk};

/// Written by version 2. Never rewritten.
const GOLDEN: &str = include_str!("../data/flow-record-v2.json");

/// Written by the first version. Never rewritten.
const VERSION_1: &str = include_str!("../data/flow-record-v1.json");

#[tokio::test]
async fn a_record_is_read_back_as_it_was_written() {
    let record = talk().flow(Talk).report().await.unwrap().record;
    let json = serde_json::to_string_pretty(&record).unwrap();
    assert!(
        json.starts_with("{\n  \"format\": \"llmnode/flow-record\",\n  \"version\": 2,\n"),
        "{json}"
    );
    let read = FlowRecord::from_json(&json).unwrap();
    assert_eq!(serde_json::to_string_pretty(&read).unwrap(), json);
    assert_eq!(
        (read.usage(), read.taken, read.elapsed),
        (record.usage(), 2, record.elapsed)
    );
    assert_eq!(read.mermaid(), record.mermaid());
}

#[test]
fn version_2_is_read() {
    let record = FlowRecord::from_json(GOLDEN).unwrap();
    assert_everything(&record);
    let usage = record.usage();
    assert_eq!((usage.cached.known, usage.cached.unreported_calls), (4, 1));
    assert_eq!(usage.cost.unknown_calls, 2, "it had no costs");
    assert_eq!(usage.cache_write.unreported_calls, 2, "nor cache writes");
    let mut written = serde_json::to_value(&record).unwrap();
    for part in ["path", "steps"] {
        for step in written[part].as_array_mut().unwrap() {
            let usage = step["usage"].as_object_mut().unwrap();
            usage.retain(|name, _| name != "cost" && name != "cache_write");
        }
    }
    assert_eq!(
        written,
        serde_json::from_str::<serde_json::Value>(GOLDEN).unwrap()
    );
}

#[test]
fn version_1_is_read() {
    let record = FlowRecord::from_json(VERSION_1).unwrap();
    assert_everything(&record);
    assert_eq!(
        record.usage().cached.total(),
        None,
        "a 0 that nobody reported"
    );
}

fn assert_everything(record: &FlowRecord) {
    let failed = Some(Category::ConfigError);
    assert_eq!((record.taken, record.category), (2, failed));
    assert_eq!(record.position.as_ref().unwrap().to_string(), "Second");
    let steps: Vec<_> = record
        .path
        .iter()
        .map(|step| (step.position.to_string(), step.category))
        .collect();
    assert_eq!(
        steps,
        [("First".to_owned(), None), ("Second".to_owned(), failed)]
    );
    let (_, action, times) = &record.edges[0];
    assert_eq!(
        (record.steps[1].failures, *times, &**action),
        (1, 1, "true")
    );
    assert_eq!(
        (record.usage().total.known, record.usage().requests),
        (5, 2)
    );
    assert_eq!(
        (record.path[0].node.as_str(), record.elapsed.as_micros()),
        ("ask", 2500)
    );
    assert!(record.mermaid().contains("Second"));
}

#[test]
fn what_is_no_record_or_a_newer_one_is_refused_by_name() {
    let newer = GOLDEN.replacen("\"version\": 2", "\"version\": 3", 1);
    let error = FlowRecord::from_json(&newer).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("llmnode/flow-record version 3 is newer than version 2, the newest"),
        "{error}"
    );
    let ledger = GOLDEN.replacen("llmnode/flow-record", "llmnode/ledger", 1);
    assert!(matches!(
        FlowRecord::from_json(&ledger),
        Err(FormatError::Foreign { .. })
    ));
    assert!(matches!(
        FlowRecord::from_json(&GOLDEN[..200]),
        Err(FormatError::Malformed { .. })
    ));
}
