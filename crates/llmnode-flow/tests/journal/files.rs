//! One file: its writers, and its size.

use llmnode_flow::flow::RunExt;
use llmnode_flow::journal::{Fsync, JournalFile, Record};
use llmnode_runtime::{Category, FnModel, Run};

use crate::support::{Memory, Research, STEPS, TOKENS, World, answer, fails_after, model, path, run};

#[tokio::test]
async fn a_second_writer_is_refused_and_goes_on_once_the_first_has_ended() {
    let path = path("two");
    let other = path.clone();
    let refused = std::sync::Arc::new(std::sync::Mutex::new(None));
    let kept = refused.clone();
    // While the third request of the first flow is under way, another one resumes the journal.
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let first_model = FnModel::new(move |request| {
        if asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 2 {
            let path = other.clone();
            let second = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                let mut run = run(model());
                let journal = JournalFile::open(path).unwrap();
                runtime.block_on(run.flow(Research).resume(journal).into_future())
            });
            *kept.lock().unwrap() = Some(second.join().unwrap().unwrap_err());
        }
        answer(&request.messages[0].content)
    });
    let mut first = run(first_model);
    let journal = JournalFile::open(&path).unwrap();
    first.flow(Research).journal(journal.clone()).await.unwrap();
    let error = refused.lock().unwrap().take().unwrap();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(error.message().starts_with("another flow is writing to the journal "), "{error}");
    assert_eq!((first.state().done, journal.history().unwrap().steps()), (STEPS as u32, STEPS));

    // A handle that the program keeps holds no lock.
    let mut second = run(model());
    second.flow(Research).resume(JournalFile::open(&path).unwrap()).await.unwrap();
    assert_eq!(second.state().done, STEPS as u32);
}

/// Nine steps with states so large that the file is written anew.
#[cfg(unix)]
async fn compacted(path: &std::path::Path) -> u64 {
    let state = World { padding: "x".repeat(400_000), ..World::default() };
    let mut first = Run::new(fails_after(9)).with_state(state);
    first.flow(Research).resume(JournalFile::open(path).unwrap().fsync(Fsync::Never)).await.unwrap_err();
    assert_eq!(JournalFile::open(path).unwrap().history().unwrap().steps(), 9);
    std::fs::metadata(path).unwrap().len()
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_is_written_anew_keeps_its_permissions_and_the_links_to_it() {
    use std::os::unix::fs::PermissionsExt;
    let (real, link) = (path("compact-real"), path("compact-link"));
    std::fs::write(&real, "").unwrap();
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    assert!(compacted(&link).await < 6 * 400_000, "it was written anew");
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o7777, 0o600);
    assert_eq!(JournalFile::open(&real).unwrap().history().unwrap().steps(), 9);
    std::fs::remove_file(&link).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_somebody_elses_is_not_overwritten() {
    let beside = |path: &std::path::Path| std::path::PathBuf::from(format!("{}.compacting", path.display()));
    // A file of somebody else's.
    let path_of_file = path("compact-foreign");
    std::fs::write(beside(&path_of_file), "mine").unwrap();
    assert!(compacted(&path_of_file).await > 8 * 400_000, "the journal is only longer");
    assert_eq!(std::fs::read_to_string(beside(&path_of_file)).unwrap(), "mine");
    // A link.
    let (path_of_link, target) = (path("compact-trap"), path("compact-target"));
    std::fs::write(&target, "mine").unwrap();
    std::os::unix::fs::symlink(&target, beside(&path_of_link)).unwrap();
    assert!(compacted(&path_of_link).await > 8 * 400_000);
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "mine");
    std::fs::remove_file(beside(&path_of_file)).unwrap();
    std::fs::remove_file(beside(&path_of_link)).unwrap();
    // What a crash left of the journal's own.
    let path_of_rest = path("compact-rest");
    let journal = std::fs::read(&path_of_file).unwrap();
    std::fs::write(beside(&path_of_rest), &journal[..200]).unwrap();
    assert!(compacted(&path_of_rest).await < 6 * 400_000);
    assert!(!beside(&path_of_rest).exists());
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
    assert!(!std::path::Path::new(&format!("{}.compacting", path.display())).exists());
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
