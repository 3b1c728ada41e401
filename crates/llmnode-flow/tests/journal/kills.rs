//! Processes that are killed, or stopped, while they rewrite their journal.

#![cfg(unix)]

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use crate::crash::{
    Orders, Random, beside, check_end, check_process, fresh, is_written_anew, so_far, start,
};
use crate::killing::was_killed;
use crate::support::{World, undisturbed};

/// So long that the file is written anew from the sixth step on.
const LARGE: Orders = Orders {
    kill_at: None,
    padding: 300_000,
    waits: false,
};

async fn expected() -> World {
    World {
        padding: "x".repeat(LARGE.padding),
        ..undisturbed().await
    }
}

/// What tells the file that is to take the journal's place from an earlier one: a number, and when it was changed.
type Anew = Option<(u64, i64, i64)>;

fn written_anew(journal: &Path) -> Anew {
    let mut folder = std::fs::read_dir(journal.parent().unwrap())
        .unwrap()
        .map(|file| file.unwrap().path());
    let file = folder.find(|file| is_written_anew(file))?;
    // It may have been renamed by then.
    let file = std::fs::metadata(file).ok()?;
    Some((file.ino(), file.ctime(), file.ctime_nsec()))
}

/// Whether the process that began with `left` there writes, or has died while it wrote, the journal anew.
fn writes_anew(journal: &Path, left: Anew) -> bool {
    let there = written_anew(journal);
    there.is_some() && there != left
}

/// Waits until the process writes its journal anew, or comes to its end without.
fn wait_until_written_anew(child: &mut Child, journal: &Path, left: Anew) {
    while !writes_anew(journal, left) && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// How many processes are killed: 20, or as many as `JOURNAL_KILLS` says.
fn kills() -> u64 {
    std::env::var("JOURNAL_KILLS").map_or(20, |kills| kills.parse().unwrap())
}

#[tokio::test]
async fn killed_many_times_half_of_them_while_the_journal_is_written_anew_flows_go_on() {
    let (expected, mut random) = (expected().await, Random::default());
    let (mut all, mut anew) = (0, 0);
    for flow in 0.. {
        if all >= kills() && 2 * anew >= kills() {
            break;
        }
        let journal = fresh(&format!("kills-{flow}"));
        let mut killed = 0;
        loop {
            let (before, left) = (so_far(&journal), written_anew(&journal));
            let mut child = start(&journal, LARGE);
            if 2 * anew <= all + killed {
                wait_until_written_anew(&mut child, &journal, left);
                std::thread::sleep(Duration::from_micros(random.below(20_000)));
            } else {
                std::thread::sleep(Duration::from_micros(random.below(300_000)));
            }
            // It may have ended by then.
            let _ = child.kill();
            let is_killed = was_killed(&mut child);
            check_process(&journal, before);
            if !is_killed {
                break;
            }
            killed += 1;
            anew += u64::from(writes_anew(&journal, left));
        }
        check_end(&journal, &expected, killed);
        all += killed;
    }
    println!("{all} processes were killed, {anew} of them while they wrote the journal anew");
}

fn send(signal: &str, to: &Child) {
    assert!(
        Command::new("kill")
            .args([signal, &to.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
}

/// As on a disk that takes its time: the process does not come on, and is alive.
#[tokio::test]
async fn a_process_that_stands_still_while_it_writes_the_journal_anew_keeps_it() {
    let (expected, mut stopped) = (expected().await, 0);
    for flow in 0.. {
        if stopped == 3 {
            break;
        }
        let journal = fresh(&format!("stopped-{flow}"));
        let mut first = start(&journal, LARGE);
        wait_until_written_anew(&mut first, &journal, None);
        send("-STOP", &first);
        // On another core it may go on for a moment.
        std::thread::sleep(Duration::from_millis(50));
        // It may have come to the end of it by then.
        if writes_anew(&journal, None) {
            stopped += 1;
            let whole = std::fs::read(&journal).unwrap();
            std::thread::sleep(Duration::from_millis(400));
            assert!(!was_killed(&mut start(&journal, LARGE)));
            let refused = std::fs::read_to_string(beside(&journal, "refused")).unwrap();
            assert!(refused.starts_with("config_error: "), "{refused}");
            assert!(
                refused.contains("another flow or map is writing to the journal "),
                "{refused}"
            );
            assert!(
                writes_anew(&journal, None),
                "it is not taken for what a crash left"
            );
            assert!(std::fs::read(&journal).unwrap() == whole);
        }
        send("-CONT", &first);
        assert!(!was_killed(&mut first));
        check_end(&journal, &expected, 0);
    }
}
