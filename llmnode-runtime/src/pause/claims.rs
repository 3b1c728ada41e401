//! A decided conversation runs once in a process: what a person approved once must not be paid twice.
//!
//! It is claimed when its first waiting tool begins. A call that fails before has had no effect, so that the conversation is free
//! again. Between processes the program decides, by a key of its database.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex};

use llmnode_model::Category;
use llmnode_model::internal::lock;

use crate::error::NodeError;

/// When there are more, the oldest are forgotten.
const REMEMBERED: usize = 10_000;

static CLAIMED: LazyLock<Mutex<Claimed>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct Claimed {
    ids: HashSet<String>,
    order: VecDeque<String>,
}

impl Claimed {
    /// `false`: it is claimed already.
    fn add(&mut self, id: &str) -> bool {
        if !self.ids.insert(id.to_owned()) {
            return false;
        }
        self.order.push_back(id.to_owned());
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids.remove(&oldest);
        }
        true
    }
}

/// The right of one call to run what was approved in a conversation.
pub(crate) struct Claim {
    id: String,
    node: String,
    is_taken: AtomicBool,
}

impl Claim {
    pub(crate) fn new(id: String, node: String) -> Self {
        Claim {
            id,
            node,
            is_taken: AtomicBool::new(false),
        }
    }

    /// A `config_error` if another call has it.
    pub(crate) fn check(&self) -> Result<(), NodeError> {
        if lock(&CLAIMED).ids.contains(&self.id) {
            Err(self.refusal())
        } else {
            Ok(())
        }
    }

    /// Takes it when the first tool begins. The others of its call have it, too.
    pub(crate) fn take(&self) -> Result<(), NodeError> {
        let mut claimed = lock(&CLAIMED);
        if !self.is_taken.load(Ordering::Relaxed) {
            if !claimed.add(&self.id) {
                return Err(self.refusal());
            }
            self.is_taken.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    fn refusal(&self) -> NodeError {
        let why = format!(
            "the pause of `{}` is already approved: another call runs, or has run, its tools; if that call failed, its \
             `error.unfinished()` goes on",
            self.node
        );
        NodeError::new(Category::ConfigError, why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten() {
        let mut claimed = Claimed::default();
        for number in 0..=REMEMBERED {
            assert!(claimed.add(&number.to_string()));
        }
        assert!(!claimed.add("1") && claimed.add("0"));
        assert_eq!(
            (claimed.ids.len(), claimed.order.len()),
            (REMEMBERED, REMEMBERED)
        );
    }
}
