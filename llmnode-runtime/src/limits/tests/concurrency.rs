//! Reservations of requests side by side.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use proptest::prelude::*;

use super::*;

#[test]
fn two_that_ask_at_once_do_not_get_the_last_request_both() {
    let clock = TestClock::new();
    let arrived = AtomicUsize::new(0);
    let runs: Vec<_> = (0..500)
        .map(|_| of_run(Limits::new().requests(1)))
        .collect();
    let one = || {
        let mut begun = Vec::new();
        for (round, run) in runs.iter().enumerate() {
            let call = begin(run, &clock);
            arrived.fetch_add(1, Ordering::SeqCst);
            // Neither a lock nor the scheduler, which would let one go first.
            while arrived.load(Ordering::SeqCst) < 2 * (round + 1) {
                std::hint::spin_loop();
            }
            begun.push(
                block_on(call.reserve(|| of_prompt(1), NAMES, || None))
                    .map(drop)
                    .is_ok(),
            );
        }
        begun
    };
    let (one, other) = thread::scope(|scope| {
        let other = scope.spawn(one);
        (one(), other.join().unwrap())
    });
    assert!(one.iter().zip(&other).all(|(one, other)| one != other));
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

/// What one thread does with a request.
#[derive(Clone, Copy, Debug)]
enum Way {
    Answered(u8),
    Refused,
    Dropped,
    Unsent,
}

fn ways() -> impl Strategy<Value = Vec<Way>> {
    let way = prop_oneof![
        4 => any::<u8>().prop_map(Way::Answered),
        1 => Just(Way::Refused),
        1 => Just(Way::Dropped),
        1 => Just(Way::Unsent),
    ];
    prop::collection::vec(way, 1..60)
}

fn go(mut reservation: Reservation<'_>, way: Way) {
    match way {
        Way::Answered(tokens) => reservation.settle(&total(2 * u64::from(tokens))),
        Way::Refused => reservation.settle(&failed(Category::ServerError)),
        Way::Unsent => reservation.settle(&unsent()),
        Way::Dropped => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// However requests interleave, as many of them are begun as are allowed: none
    /// is refused, or left in line, while one is left.
    #[test]
    fn requests_are_exact_under_concurrency(ways in prop::collection::vec(ways(), 1..5), limit in 1..80_u64) {
        let clock = TestClock::new();
        let run = of_run(Limits::new().requests(limit));
        let begun = AtomicU64::new(0);
        thread::scope(|scope| {
            for ways in &ways {
                let (run, clock, begun) = (&run, &clock, &begun);
                scope.spawn(move || {
                    let call = CallLimits::begin(THREE.name, THREE, Limits::new(), None, run, clock).unwrap();
                    for way in ways {
                        let Ok(reservation) = block_on(call.reserve(|| of_prompt(1), NAMES, || None)) else { continue };
                        begun.fetch_add(u64::from(!matches!(way, Way::Unsent)), Ordering::Relaxed);
                        go(reservation, *way);
                    }
                });
            }
        });
        let all = ways.iter().flatten().filter(|way| !matches!(way, Way::Unsent)).count() as u64;
        let begun = begun.into_inner();
        prop_assert_eq!(begun, limit.min(3).min(all));
        // Nothing stays reserved, and what a refused request had reserved with its
        // other meters is given back.
        let call = begin(&run, &clock);
        let mut left = 0;
        while let Ok(reservation) = block_on(call.reserve(|| of_prompt(1), NAMES, || None)) {
            go(reservation, Way::Answered(1));
            left += 1;
        }
        prop_assert_eq!(begun + left, limit);
    }

    /// Tokens: at the start of each request spent and reserved are below the limit,
    /// and the sums are those of what came back.
    #[test]
    fn tokens_add_up(ways in ways(), hold in prop::collection::vec(0..8_usize, 60), limit in 1..4_000_u64) {
        let clock = TestClock::new();
        let run = of_run(Limits::new().tokens(limit));
        let call = begin(&run, &clock);
        let (mut open, mut spent, mut reserved) = (Vec::new(), 0, 0);
        for (way, hold) in ways.into_iter().zip(hold) {
            let estimate = 5 + 100;
            match at_once(&call, 5, Some(100), NAMES) {
                Some(Ok(reservation)) => {
                    prop_assert!(spent + reserved < limit);
                    reserved += estimate;
                    open.push((reservation, way));
                }
                Some(Err((_, message))) => {
                    prop_assert!(spent >= limit);
                    prop_assert!(message.contains(&format!("{spent} spent;")), "{message}");
                }
                None => prop_assert!(spent < limit && spent + reserved >= limit),
            }
            while open.len() > hold {
                let (reservation, way) = open.swap_remove(hold / 2);
                go(reservation, way);
                reserved -= estimate;
                spent += match way {
                    Way::Answered(tokens) => 2 * u64::from(tokens),
                    Way::Dropped => estimate,
                    Way::Refused | Way::Unsent => 0,
                };
            }
        }
    }
}
