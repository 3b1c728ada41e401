//! A loop and a `match`: what nothing can be faster than that keeps the same state.

use crate::task::{Counter, Decision, turn};

enum At {
    Add,
    Decide,
}

async fn add(state: &mut Counter) {
    turn(state.yields).await;
    state.count += 1;
}

async fn decide(state: &mut Counter) -> Decision {
    turn(state.yields).await;
    state.decide()
}

pub async fn run(steps: u64, yields: bool) -> u64 {
    let mut state = Box::new(Counter::of(steps, yields));
    let mut at = At::Add;
    loop {
        at = match std::hint::black_box(at) {
            At::Add => {
                add(&mut state).await;
                At::Decide
            }
            At::Decide => match decide(&mut state).await {
                Decision::More => At::Add,
                Decision::Enough => return state.count,
            },
        };
    }
}
