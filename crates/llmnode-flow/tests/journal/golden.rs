//! The format: what was written once can be read forever.

use llmnode_flow::flow::RunExt;
use llmnode_flow::journal::JournalFile;
use llmnode_runtime::Category;

use crate::support::{Research, STEPS, TOKENS, model, path, run, undisturbed};

const WRITTEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/journal-v1.journal");
const WRITTEN_2: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/journal-v2.journal");
const WRITTEN_4: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/journal-v4.journal");

#[tokio::test]
async fn version_1_is_read() {
    let history = JournalFile::open(WRITTEN).unwrap().history().unwrap();
    assert_eq!(
        (history.flow(), history.steps(), history.has_ended()),
        ("research", 3, false)
    );
    assert_eq!(history.position().to_string(), "Judge");
    let [lost] = history.unknown() else {
        panic!("one request was under way")
    };
    assert_eq!(
        (&*lost.node, lost.at.to_string()),
        ("judge", "Judge".to_owned())
    );
    let attempt = lost.attempt.as_ref().unwrap();
    assert_eq!(
        (attempt.category, attempt.usage),
        (Some(Category::Cancelled), None)
    );
    let total = history.ledger().total();
    assert_eq!(
        (
            total.requests,
            total.total.known,
            total.total.unreported_calls
        ),
        (4, 3 * TOKENS, 1)
    );
}

#[tokio::test]
async fn version_2_is_read() {
    let history = JournalFile::open(WRITTEN_2).unwrap().history().unwrap();
    assert_eq!(
        (history.flow(), history.steps(), history.has_ended()),
        ("research", 3, false)
    );
    assert!(history.unknown().is_empty(), "the last request was refused");
    let total = history.ledger().total();
    assert_eq!((total.requests, total.total.known), (4, 3 * TOKENS));
}

/// It ends between an answer and the end of its attempt, which were two records: the answer is used, its figures are unknown.
#[tokio::test]
async fn version_4_is_read() {
    let history = JournalFile::open(WRITTEN_4).unwrap().history().unwrap();
    assert_eq!(
        (history.flow(), history.steps(), history.unknown().len()),
        ("research", 2, 1)
    );
    let (path, model) = (path("golden-4"), model());
    std::fs::copy(WRITTEN_4, &path).unwrap();
    let mut run = run(model.clone());
    run.flow(Research)
        .resume(JournalFile::open(&path).unwrap())
        .await
        .unwrap();
    assert_eq!(model.requests().len() as u64, STEPS - 3);
    let total = run.ledger().total();
    assert_eq!(
        (total.requests, total.total.known),
        (STEPS, (STEPS - 1) * TOKENS)
    );
}

#[tokio::test]
async fn older_versions_go_on() {
    for written in [WRITTEN, WRITTEN_2, WRITTEN_4] {
        let path = path("golden");
        std::fs::copy(written, &path).unwrap();
        let mut run = run(model());
        run.flow(Research)
            .resume(JournalFile::open(&path).unwrap())
            .await
            .unwrap();
        assert_eq!(*run.state(), undisturbed().await);
    }
}
