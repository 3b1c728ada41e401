//! Nothing stays reserved, whatever becomes of calls side by side.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;
use crate::support::{BAD, GOAL, GOOD, World, busy, total_tokens, world};
use llmnode_runtime::{ModelError, Settings};

/// What becomes of one call.
#[derive(Clone, Debug)]
enum Way {
    /// An answer with this usage, after so many milliseconds.
    Answer(u64, u64),
    /// A bad answer, with this usage.
    Bad(u64),
    Busy,
    Broken,
    Panics,
    Never,
}

fn ways() -> impl Strategy<Value = Vec<Way>> {
    let way = prop_oneof![
        4 => (0..400_u64, 0..90_u64).prop_map(|(tokens, delay)| Way::Answer(tokens, delay)),
        2 => (0..400_u64).prop_map(Way::Bad),
        1 => Just(Way::Busy),
        1 => Just(Way::Broken),
        1 => Just(Way::Panics),
        1 => Just(Way::Never),
    ];
    prop::collection::vec(way, 1..40)
}

impl Way {
    fn reply(&self) -> Reply {
        let used = total_tokens;
        match *self {
            Way::Answer(tokens, delay) => Reply::text(GOOD)
                .usage(used(tokens))
                .after(Duration::from_millis(delay)),
            Way::Bad(tokens) => Reply::text(BAD).usage(used(tokens)),
            Way::Busy => busy().into(),
            Way::Broken => ModelError::new(Category::Network, "connection reset").into(),
            Way::Panics => panic!("a bug of the model"),
            Way::Never => Reply::never(),
        }
    }
}

/// How many more requests a run allows, one by one.
async fn left(run: &Run<World>) -> u64 {
    let mut left = 0;
    while run.call(&GOAL).await.is_ok() {
        left += 1;
    }
    left
}

/// How long each call and each attempt may take.
fn times() -> impl Strategy<Value = Settings> {
    let time = || prop::option::of((1..300_u64).prop_map(Duration::from_millis));
    (time(), time()).prop_map(|(deadline, attempt_timeout)| {
        let mut settings = Settings::new();
        (settings.deadline, settings.attempt_timeout) = (deadline, attempt_timeout);
        settings
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever becomes of calls side by side, answers, failures, retries, corrections, panics, drops and deadlines: no more
    /// requests are begun than allowed, the ledger has just as many, and nothing stays reserved.
    #[test]
    fn nothing_leaks_on_any_way_out(ways in ways(), limit in 1..60_u64, side_by_side in 1..9_usize, times in times()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let nodes: Vec<_> = ways.iter().map(|_| GOAL).collect();
            let (asked, calm) = (AtomicUsize::new(0), Arc::new(AtomicBool::new(false)));
            let model = FnModel::new({
                let calm = Arc::clone(&calm);
                move |_| match ways.get(asked.fetch_add(1, Ordering::Relaxed)) {
                    Some(way) if !calm.load(Ordering::Relaxed) => way.reply(),
                    _ => Reply::text(GOOD),
                }
            });
            let run = Run::new(model.clone()).with_state(world()).with_limits(Limits::new().requests(limit));
            let calls = run.map(&nodes).settings(times).concurrency(side_by_side);
            // The calls that still hang are dropped.
            let _ = tokio::time::timeout(60 * SECOND, calls).await;
            let begun = run.ledger().total().requests;
            prop_assert!(begun <= limit);
            prop_assert_eq!(model.requests().len() as u64, begun);
            calm.store(true, Ordering::Relaxed);
            prop_assert_eq!(begun + left(&run).await, limit);
            Ok(())
        })?;
    }
}
