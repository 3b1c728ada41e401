//! The node of the tests, and a record of which answers were read that does not depend on the ledger.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use llmnode::prelude::*;

/// The requests whose answers a validator has seen.
#[derive(Default)]
pub(crate) struct Judged(Mutex<HashSet<String>>);

impl Judged {
    fn see(&self, request: &str) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(request.to_owned());
    }

    /// Whether the answer to the request was seen; it is not remembered any longer.
    pub(super) fn forget(&self, request: &str) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(request)
    }
}

#[llm_output]
#[derive(Debug)]
pub(crate) struct Answer {
    /// The server's id of the request that this answers.
    request: String,
    value: u32,
}

#[validate(state)]
impl Answer {
    fn is_seen(&self, judged: &Judged) -> Result<(), Invalid> {
        judged.see(&self.request);
        Ok(())
    }

    /// Takes a while, so that a call can be dropped meanwhile.
    async fn is_small(&self) -> Result<(), Invalid> {
        tokio::task::yield_now().await;
        if self.value < 100 {
            Ok(())
        } else {
            Err(Invalid::at("value", "is not below 100"))
        }
    }
}

/// One call of the tests.
#[llm_node(prompt = "Count {what}.", output = Answer, state = Judged, retries = 2)]
pub(crate) struct Count {
    pub(crate) what: u64,
}
