//! Processes that are killed, and others that continue where they stopped.

#![cfg(unix)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use llmnode_flow::flow::RunExt;
use llmnode_flow::journal::{Fsync, JournalFile};
use llmnode_runtime::{FnModel, Run, Usage};
use serde::{Deserialize, Serialize};

use crate::killing::{self, Killing, was_killed};
use crate::support::{Outcome, Research, STEPS, TOKENS, World, answer, path, undisturbed};

/// The start, and for each step the start of the request, its answer, the end of the call, and the step.
const RECORDS: usize = 1 + 4 * STEPS as usize;

/// What a process leaves that came to the end of the flow.
#[derive(Serialize, Deserialize)]
struct Ended {
    state: World,
    total: Usage,
}

/// The same numbers in each run of the tests.
pub(crate) struct Random(u64);

impl Default for Random {
    fn default() -> Self {
        Random(0x9e37_79b9_7f4a_7c15)
    }
}

impl Random {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// A journal in a folder of its own.
pub(crate) fn fresh(name: &str) -> PathBuf {
    let folder = path(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).unwrap();
    folder.join("flow.journal")
}

pub(crate) fn beside(journal: &Path, what: &str) -> PathBuf {
    journal.with_extension(what)
}

/// Waits until another process has made this file.
fn wait_for(file: &Path) {
    while !file.exists() {
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// What a process of the tests does beside its flow.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Orders {
    /// Twice the number of the record at which it kills itself, and one more for behind it.
    pub(crate) kill_at: Option<usize>,
    /// How long the state is, beside what the steps write to it.
    pub(crate) padding: usize,
    /// It begins when the file `start` is there, and makes its first request when `go` is.
    pub(crate) waits: bool,
}

/// The process that is killed: this test program, started anew.
#[test]
fn child() {
    let Some((journal, orders)) = killing::orders::<Orders>() else {
        return;
    };
    let (at, go) = (orders.kill_at, beside(&journal, "go"));
    let mut effects = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(beside(&journal, "effects"))
        .unwrap();
    // A line in one piece: killed between the text and its end, the next process would write on in the same line.
    let effects = std::sync::Mutex::new(move |asked: &str| {
        effects.write_all(format!("{asked}\n").as_bytes()).unwrap();
    });
    let model = FnModel::new(move |request| {
        let asked = &request.messages[0].content;
        (effects.lock().unwrap())(asked);
        if orders.waits {
            wait_for(&go);
        }
        answer(asked).after(Duration::from_millis(1))
    });
    let state = World {
        padding: "x".repeat(orders.padding),
        ..World::default()
    };
    let mut run = Run::new(model.named("fn")).with_state(state);
    let fsync = if at.is_some() {
        Fsync::Never
    } else {
        Fsync::EachStep
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    if orders.waits {
        std::fs::write(
            beside(&journal, &format!("ready-{}", std::process::id())),
            "",
        )
        .unwrap();
        wait_for(&beside(&journal, "start"));
    }
    let file = JournalFile::open(&journal).unwrap().fsync(fsync);
    let action =
        runtime.block_on(async { run.flow(Research).resume(Killing::new(file, at)).await });
    if let Err(error) = action {
        std::fs::write(
            beside(&journal, "refused"),
            format!("{}: {error}", error.category().as_str()),
        )
        .unwrap();
        return;
    }
    assert_eq!(action.unwrap(), Outcome::Published("done".to_owned()));
    let ended = Ended {
        state: run.state().clone(),
        total: run.ledger().total(),
    };
    std::fs::write(
        beside(&journal, "ended"),
        serde_json::to_string(&ended).unwrap(),
    )
    .unwrap();
}

pub(crate) fn start(journal: &Path, orders: Orders) -> Child {
    killing::start("crash::child", journal, orders)
}

/// How many steps are completed or have their answer, and how many requests the model was asked so far.
pub(crate) fn so_far(journal: &Path) -> (u64, usize) {
    let steps = JournalFile::open(journal)
        .unwrap()
        .history()
        .unwrap()
        .steps();
    let written = std::fs::read_to_string(journal).unwrap_or_default();
    let (lines, rest) = written.split_at(written.rfind('\n').map_or(0, |end| end + 1));
    // A torn last line says nothing; a whole one may lack its end.
    let length = rest
        .get(9..17)
        .and_then(|length| usize::from_str_radix(length, 16).ok());
    let written = if length == Some(rest.len().saturating_sub(18)) {
        &*written
    } else {
        lines
    };
    let last = |kind: &str| written.rfind(&format!(r#""record":{{"{kind}""#));
    let steps = steps + u64::from(last("answered") > last("stepped"));
    let effects = std::fs::read_to_string(beside(journal, "effects")).unwrap_or_default();
    (steps, effects.lines().count())
}

/// The process that began at that point executed what was not completed, in order, and nothing else.
pub(crate) fn check_process(journal: &Path, (steps, requests): (u64, usize)) {
    let effects = std::fs::read_to_string(beside(journal, "effects")).unwrap_or_default();
    for (line, done) in effects.lines().skip(requests).zip(steps..) {
        assert_eq!(
            line.split(' ').next(),
            Some(&*done.to_string()),
            "{effects}"
        );
    }
}

/// The flow has ended as if nothing had happened, and each request is accounted for once.
pub(crate) fn check_end(journal: &Path, expected: &World, killed: u64) {
    let ended: Ended =
        serde_json::from_slice(&std::fs::read(beside(journal, "ended")).unwrap()).unwrap();
    assert_eq!(ended.state, *expected);
    let history = JournalFile::open(journal).unwrap().history().unwrap();
    let (total, unknown) = (ended.total, history.unknown().len() as u64);
    assert_eq!(total, history.ledger().total());
    assert_eq!(total.total.unreported_calls, unknown);
    assert_eq!(total.total.known, (total.requests - unknown) * TOKENS);
    let asked = so_far(journal).1 as u64;
    assert!(
        total.requests - unknown <= asked && asked <= total.requests,
        "{asked} {total:?}"
    );
    assert!(
        (STEPS..=STEPS + killed).contains(&total.requests),
        "{killed} kills: {total:?}"
    );
    let folder = journal.parent().unwrap();
    for file in std::fs::read_dir(folder).unwrap() {
        let file = file.unwrap();
        // A process that dies right after it has made a file leaves it empty, and known to nobody.
        let empty = file.metadata().unwrap().len() == 0;
        assert!(
            empty || !is_written_anew(&file.path()),
            "{} was left",
            file.path().display()
        );
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// Whether this is the file that is to take the journal's place.
pub(crate) fn is_written_anew(file: &Path) -> bool {
    file.extension()
        .is_some_and(|extension| extension == "compacting")
}

#[tokio::test]
async fn killed_at_every_record_a_flow_goes_on() {
    let expected = undisturbed().await;
    for moment in 0..2 * RECORDS {
        let journal = fresh(&format!("boundary-{moment}.journal"));
        let orders = Orders {
            kill_at: Some(moment),
            ..Orders::default()
        };
        assert!(was_killed(&mut start(&journal, orders)));
        let before = so_far(&journal);
        // Four records a step, the second of which is the answer.
        assert_eq!(
            before.0,
            (moment as u64 + 3) / 8,
            "steps answered at moment {moment}"
        );
        // Only what began and has no answer is unknown.
        let unknown = JournalFile::open(&journal)
            .unwrap()
            .history()
            .unwrap()
            .unknown()
            .len();
        assert_eq!(
            unknown,
            usize::from(matches!(moment % 8, 3 | 4)),
            "unknown at moment {moment}"
        );
        assert!(!was_killed(&mut start(&journal, Orders::default())));
        check_process(&journal, before);
        check_end(&journal, &expected, 1);
    }
}

#[tokio::test]
async fn killed_at_a_hundred_random_moments_flows_go_on() {
    let expected = undisturbed().await;
    let (mut random, mut all) = (Random::default(), 0);
    while all < 100 {
        let journal = fresh(&format!("random-{all}.journal"));
        let mut killed = 0;
        loop {
            let before = so_far(&journal);
            let mut child = start(&journal, Orders::default());
            std::thread::sleep(Duration::from_micros(random.below(60_000)));
            // It may have ended by then.
            let _ = child.kill();
            let is_killed = was_killed(&mut child);
            check_process(&journal, before);
            if !is_killed {
                break;
            }
            killed += 1;
        }
        check_end(&journal, &expected, killed);
        all += killed;
    }
}
