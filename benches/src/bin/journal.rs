//! What a journal adds to a step of a flow, by the size of the state and by what is forced to the disk.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use llmnode::flow::Step;
use llmnode::journal::{Fsync, JournalFile};
use llmnode::prelude::*;
use llmnode::{BoxError, BoxFuture, ChatModel, Completion, ModelError, Request, Sink};
use serde::{Deserialize, Serialize};

const ROUNDS: usize = 5;

#[derive(Serialize, Deserialize)]
struct World {
    steps: u64,
    most: u64,
    text: String,
}

#[llm_node(prompt = "Step {n}.", state = World)]
struct Ask {
    n: u64,
}

impl Step<World> for Ask {
    type Output = String;
    type Action = bool;

    async fn prep(state: &World) -> Result<Self, BoxError> {
        Ok(Ask { n: state.steps })
    }

    fn post(self, _: String, state: &mut World) -> Result<bool, BoxError> {
        state.steps += 1;
        Ok(state.steps < state.most)
    }
}

flow! {
    Loop(World), steps = 1_000_000:
    Ask => match { true => Ask, false => end },
}

/// Answers at once.
struct Ready;

impl ChatModel for Ready {
    fn complete<'a>(
        &'a self,
        _: &'a Request,
        _: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(async { Ok(Completion::new("yes")) })
    }
}

/// Time of a step.
async fn step(most: u64, bytes: usize, journal: Option<JournalFile>) -> Duration {
    let mut run = Run::new(Ready).with_state(World {
        steps: 0,
        most,
        text: "x".repeat(bytes),
    });
    let begin = Instant::now();
    let flow = run.flow(Loop);
    match journal {
        Some(journal) => flow.journal(journal).await.unwrap(),
        None => flow.await.unwrap(),
    }
    begin.elapsed() / u32::try_from(most).unwrap()
}

fn journal(path: &Path, fsync: Fsync) -> JournalFile {
    let _ = std::fs::remove_file(path);
    JournalFile::open(path).unwrap().fsync(fsync)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let path: PathBuf = std::env::args_os().nth(1).map_or_else(
        || std::env::temp_dir().join("llmnode-bench.journal"),
        Into::into,
    );
    for bytes in [1_000, 100_000] {
        let kinds = [
            (None, 2000),
            (Some(Fsync::Never), 2000),
            (Some(Fsync::EachStep), 200),
            (Some(Fsync::EachRecord), 200),
        ];
        let mut times = [const { Vec::new() }; 4];
        for _ in 0..ROUNDS {
            for (times, (fsync, steps)) in times.iter_mut().zip(kinds) {
                times.push(step(steps, bytes, fsync.map(|fsync| journal(&path, fsync))).await);
            }
        }
        let [without, kept @ ..] = times.map(median);
        println!(
            "journal.{bytes}.none {:.2} µs a step",
            without.as_secs_f64() * 1e6
        );
        for (kind, time) in ["never", "each-step", "each-record"].iter().zip(kept) {
            println!(
                "journal.{bytes}.{kind} +{:.2} µs a step",
                time.saturating_sub(without).as_secs_f64() * 1e6
            );
        }
    }
    let _ = std::fs::remove_file(path);
}
