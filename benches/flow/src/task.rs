//! The task: a loop of two steps. One adds, the other decides whether there is more to do.

use llmnode::prelude::Action;
use serde::{Deserialize, Serialize};

/// The state of a flow, about 1 KB, on the heap in every library.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Counter {
    pub count: u64,
    pub limit: u64,
    /// Whether each step gives other tasks a turn.
    pub yields: bool,
    pub notes: Vec<u64>,
}

/// What the second step decides.
#[derive(Action)]
pub enum Decision {
    More,
    Enough,
}

impl Counter {
    /// Two steps for each that is counted.
    pub fn of(steps: u64, yields: bool) -> Counter {
        Counter {
            count: 0,
            limit: steps / 2,
            yields,
            notes: vec![7; 125],
        }
    }

    pub fn decide(&self) -> Decision {
        if self.count < self.limit {
            Decision::More
        } else {
            Decision::Enough
        }
    }
}

/// What each step waits for.
pub async fn turn(yields: bool) {
    if yields {
        tokio::task::yield_now().await;
    }
}
