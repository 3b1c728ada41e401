//! The journal as a file: its size, and the files beside it.

#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use llmnode_flow::flow::RunExt;
use llmnode_flow::journal::{Fsync, JournalFile, Record};
use llmnode_runtime::{Category, FnModel, Run};

use crate::support::{
    Memory, Research, STEPS, TOKENS, World, answer, fails_after, model, path, run,
};

/// Nine steps with states so large that the file is written anew.
#[cfg(unix)]
async fn compacted(path: &Path) -> u64 {
    let state = World {
        padding: "x".repeat(400_000),
        ..World::default()
    };
    let mut first = Run::new(fails_after(9)).with_state(state);
    first
        .flow(Research)
        .resume(JournalFile::open(path).unwrap().fsync(Fsync::Never))
        .await
        .unwrap_err();
    assert_eq!(
        JournalFile::open(path).unwrap().history().unwrap().steps(),
        9
    );
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
    assert_eq!(
        std::fs::metadata(&real).unwrap().permissions().mode() & 0o7777,
        0o600
    );
    assert_eq!(
        JournalFile::open(&real).unwrap().history().unwrap().steps(),
        9
    );
    std::fs::remove_file(&link).unwrap();
}

/// The file that takes the journal's place is made with one of these names.
#[cfg(unix)]
fn names_beside(path: &Path) -> [PathBuf; 4] {
    let run = first_line(path)["record"]["started"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let hash = run.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let name =
        |number: &str| PathBuf::from(format!("{}.{hash:016x}{number}.compacting", path.display()));
    ["", "-1", "-2", "-3"].map(name)
}

#[cfg(unix)]
fn first_line(path: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(path).unwrap();
    serde_json::from_str(&text.lines().next().unwrap()[18..]).unwrap()
}

/// A journal with large states that is about to be written anew, and another run's.
#[cfg(unix)]
async fn about_to_be_compacted(name: &str) -> (PathBuf, PathBuf) {
    let (journal, other) = (path(name), path(&format!("{name}-other")));
    for path in [&journal, &other] {
        let state = World {
            padding: "x".repeat(400_000),
            ..World::default()
        };
        let mut first = Run::new(fails_after(2)).with_state(state);
        first.flow(Research).resume(open(path)).await.unwrap_err();
    }
    (journal, other)
}

#[cfg(unix)]
fn open(path: &Path) -> JournalFile {
    JournalFile::open(path).unwrap().fsync(Fsync::Never)
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_somebody_elses_is_not_overwritten() {
    let (journal, other) = about_to_be_compacted("compact-foreign").await;
    let names = names_beside(&journal);
    let target = path("compact-target");
    std::fs::write(&target, "mine").unwrap();
    // A text, the journal of another run, a link to the journal's own begin, and a file without a word.
    std::fs::write(&names[0], "mine").unwrap();
    std::fs::copy(&other, &names[1]).unwrap();
    let own = path("compact-own");
    std::fs::copy(&journal, &own).unwrap();
    std::os::unix::fs::symlink(&own, &names[2]).unwrap();
    let there = |path: &PathBuf| {
        (
            std::fs::read(path).unwrap(),
            std::fs::symlink_metadata(path).unwrap().ino(),
        )
    };
    let others = |taken: usize| names[..taken].iter().map(there).collect::<Vec<_>>();

    // With the last name, the file is written anew.
    let before = others(3);
    let mut second = run(fails_after(5));
    second
        .flow(Research)
        .resume(open(&journal))
        .await
        .unwrap_err();
    assert!(
        std::fs::metadata(&journal).unwrap().len() < 6 * 400_000,
        "it was written anew"
    );
    assert!(others(3) == before && !names[3].exists());
    // Without any, it is only longer.
    std::fs::write(&names[3], "").unwrap();
    let before = others(4);
    let mut third = run(model());
    third.flow(Research).resume(open(&journal)).await.unwrap();
    assert!(std::fs::metadata(&journal).unwrap().len() > 6 * 400_000);
    assert!(others(4) == before);
    assert_eq!(
        JournalFile::open(&journal)
            .unwrap()
            .history()
            .unwrap()
            .steps(),
        STEPS
    );
    for name in names {
        std::fs::remove_file(name).unwrap();
    }
}

#[cfg(unix)]
#[tokio::test]
async fn what_a_crash_left_of_the_same_run_is_removed() {
    let (journal, _) = about_to_be_compacted("compact-rest").await;
    let whole = std::fs::read(&journal).unwrap();
    let line = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let names = names_beside(&journal);
    std::fs::write(&names[0], &whole[..line]).unwrap();
    std::fs::write(&names[2], &whole[..line + 200]).unwrap();
    // Of another run of the same flow, or not known as this one's.
    std::fs::write(&names[1], &whole[..line - 1]).unwrap();
    run(fails_after(0))
        .flow(Research)
        .resume(open(&journal))
        .await
        .unwrap_err();
    assert_eq!(
        names.each_ref().map(|name| name.exists()),
        [false, true, false, false]
    );
    assert_eq!(std::fs::read(&names[1]).unwrap(), &whole[..line - 1]);
    std::fs::remove_file(&names[1]).unwrap();
}

#[tokio::test]
async fn records_keep_their_time_when_the_file_is_written_anew() {
    let path = path("compact-times");
    let times = |path: &Path| {
        let text = std::fs::read_to_string(path).unwrap();
        let line = |line: &str| serde_json::from_str::<serde_json::Value>(&line[18..]).unwrap();
        let lines = text.lines().map(line);
        lines
            .map(|line| (line["n"].as_u64(), line["unix_ms"].as_u64()))
            .collect::<Vec<_>>()
    };
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let (kept, journal) = (seen.clone(), path.clone());
    let looking = FnModel::new(move |request| {
        kept.lock()
            .unwrap()
            .push((std::fs::metadata(&journal).unwrap().len(), times(&journal)));
        answer(&request.messages[0].content)
    });
    let state = World {
        padding: "x".repeat(400_000),
        ..World::default()
    };
    let mut run = Run::new(looking.named("fn")).with_state(state);
    run.flow(Research)
        .journal(JournalFile::open(&path).unwrap().fsync(Fsync::Never))
        .await
        .unwrap();
    let seen = seen.lock().unwrap();
    assert!(
        seen.windows(2).any(|pair| pair[1].0 < pair[0].0),
        "it was written anew"
    );
    assert!(
        seen.windows(2)
            .all(|pair| pair[1].1.starts_with(&pair[0].1))
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
    let error = run(removing)
        .flow(Research)
        .journal(JournalFile::open(&path).unwrap())
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::Aborted);
    assert!(error.message().contains("cannot be written: "), "{error}");
}

#[tokio::test]
async fn superseded_states_are_dropped_where_that_pays() {
    let path = path("compact");
    let state = || World {
        padding: "x".repeat(400_000),
        ..World::default()
    };
    let mut first = Run::new(fails_after(9)).with_state(state());
    first
        .flow(Research)
        .journal(JournalFile::open(&path).unwrap().fsync(Fsync::Never))
        .await
        .unwrap_err();
    let long = std::fs::metadata(&path).unwrap().len();
    assert!(
        long < 6 * 400_000,
        "nine states and the first one would be 4 MB, not {long} bytes"
    );

    let (history, whole) = (
        JournalFile::open(&path).unwrap().history().unwrap(),
        std::fs::read_to_string(&path).unwrap(),
    );
    assert_eq!(
        (history.steps(), whole.lines().count()),
        (9, 1 + 4 * 9 + 3),
        "no record is lost"
    );
    let mut second = Run::new(model()).with_state(World::default());
    second
        .flow(Research)
        .resume(JournalFile::open(&path).unwrap().fsync(Fsync::EachRecord))
        .await
        .unwrap();
    assert_eq!(
        (second.state().done, second.state().padding.len()),
        (STEPS as u32, 400_000)
    );
    assert_eq!(
        second.ledger().total().total.known,
        STEPS * TOKENS,
        "figures of all steps stay"
    );
    let beside = std::fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|file| file.unwrap().path());
    let name = format!("{}.", path.display());
    let own: Vec<_> = beside
        .filter(|file| file.to_string_lossy().starts_with(&name))
        .collect();
    assert_eq!(own, [PathBuf::from(format!("{name}lock"))]);
}

#[tokio::test]
async fn a_file_and_another_journal_hold_the_same_records() {
    let (path, memory) = (path("same"), Memory::default());
    run(model())
        .flow(Research)
        .journal(JournalFile::open(&path).unwrap())
        .await
        .unwrap();
    run(model())
        .flow(Research)
        .journal(memory.clone())
        .await
        .unwrap();
    let kind = |record: &Record| {
        serde_json::to_value(record)
            .unwrap()
            .as_object()
            .unwrap()
            .keys()
            .next()
            .cloned()
    };
    let written = std::fs::read_to_string(&path).unwrap();
    let in_file = written.lines().map(|line| {
        let line: serde_json::Value = serde_json::from_str(&line[18..]).unwrap();
        line["record"].as_object().unwrap().keys().next().cloned()
    });
    assert!(in_file.eq(memory.records.lock().unwrap().iter().map(kind)));
    assert_eq!(written.lines().count() as u64, 1 + 4 * STEPS);
}
