//! One file: its writers, and its size.

use llmnode_flow::flow::RunExt;
use llmnode_flow::journal::{Fsync, JournalFile, Record};
use llmnode_runtime::{Category, FnModel, Run};

use crate::support::{Memory, Research, STEPS, TOKENS, World, answer, fails_after, model, path, run};

#[tokio::test]
async fn who_resumes_takes_the_journal_over_and_the_writer_before_stops() {
    let path = path("two");
    let other = path.clone();
    let resumed = std::sync::Arc::new(std::sync::Mutex::new(None));
    let kept = resumed.clone();
    // While the third request of the first process is under way, a second process resumes the journal and ends it.
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let first_model = FnModel::new(move |request| {
        if asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 2 {
            let path = other.clone();
            let second = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                let mut run = run(model());
                let ended = runtime
                    .block_on(run.flow(Research).resume(JournalFile::open(path).unwrap()).into_future());
                ended.map(|_| run.state().done)
            });
            *kept.lock().unwrap() = Some(second.join().unwrap().unwrap());
        }
        answer(&request.messages[0].content)
    });
    let mut first = run(first_model);
    let error = first.flow(Research).journal(JournalFile::open(&path).unwrap()).await.unwrap_err();
    assert_eq!(error.category(), Category::Aborted);
    assert!(error.message().starts_with("another writer has taken over the journal "), "{error}");
    assert_eq!(*resumed.lock().unwrap(), Some(STEPS as u32));
    assert!(
        JournalFile::open(&path).unwrap().history().unwrap().has_ended(),
        "nothing was written behind the end"
    );
}

#[tokio::test]
async fn a_file_that_is_gone_ends_the_flow() {
    let path = path("gone");
    let gone = path.clone();
    let removing = FnModel::new(move |request| {
        std::fs::remove_file(&gone).unwrap_or_default();
        answer(&request.messages[0].content)
    });
    let error = run(removing).flow(Research).journal(JournalFile::open(&path).unwrap()).await.unwrap_err();
    assert_eq!(error.category(), Category::Aborted);
    assert!(error.message().contains("cannot be written: "), "{error}");
}

#[tokio::test]
async fn superseded_states_are_dropped_where_that_pays() {
    let path = path("compact");
    let state = || World { padding: "x".repeat(400_000), ..World::default() };
    let mut first = Run::new(fails_after(9)).with_state(state());
    first.flow(Research).journal(JournalFile::open(&path).unwrap().fsync(Fsync::Never)).await.unwrap_err();
    let long = std::fs::metadata(&path).unwrap().len();
    assert!(long < 6 * 400_000, "nine states and the first one would be 4 MB, not {long} bytes");

    let (history, whole) =
        (JournalFile::open(&path).unwrap().history().unwrap(), std::fs::read_to_string(&path).unwrap());
    assert_eq!((history.steps(), whole.lines().count()), (9, 1 + 4 * 9 + 3), "no record is lost");
    let mut second = Run::new(model()).with_state(World::default());
    second.flow(Research).resume(JournalFile::open(&path).unwrap().fsync(Fsync::EachRecord)).await.unwrap();
    assert_eq!((second.state().done, second.state().padding.len()), (STEPS as u32, 400_000));
    assert_eq!(second.ledger().total().total.known, STEPS * TOKENS, "figures of all steps stay");
    assert!(
        !path.with_extension("new").exists()
            && !std::path::Path::new(&format!("{}.new", path.display())).exists()
    );
}

#[tokio::test]
async fn a_file_and_another_journal_hold_the_same_records() {
    let (path, memory) = (path("same"), Memory::default());
    run(model()).flow(Research).journal(JournalFile::open(&path).unwrap()).await.unwrap();
    run(model()).flow(Research).journal(memory.clone()).await.unwrap();
    let kind =
        |record: &Record| serde_json::to_value(record).unwrap().as_object().unwrap().keys().next().cloned();
    let written = std::fs::read_to_string(&path).unwrap();
    let in_file = written.lines().map(|line| {
        let line: serde_json::Value = serde_json::from_str(&line[18..]).unwrap();
        line["record"].as_object().unwrap().keys().next().cloned()
    });
    assert!(in_file.eq(memory.records.lock().unwrap().iter().map(kind)));
    assert_eq!(written.lines().count() as u64, 1 + 4 * STEPS);
}
