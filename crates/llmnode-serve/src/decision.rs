//! What a person decides about what waits.

use llmnode_runtime::{Approval, Category, NodeError, Paused};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::oneshot;

/// A run that waits for a person.
pub(crate) struct Waiting {
    /// Unique to this pause: in a loop, the same node waits again, and a page may show the old pause.
    pub(crate) number: String,
    pub(crate) paused: Paused,
    /// What was wrong with the last decision.
    pub(crate) problem: Option<String>,
    decided: Option<oneshot::Sender<Paused>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", tag = "answer")]
pub(crate) enum Answer {
    Yes,
    No { why: String },
    Edit { values: Value },
    Result { value: Value },
}

impl Waiting {
    pub(crate) fn new(
        number: String,
        paused: Paused,
        problem: Option<String>,
    ) -> (Self, oneshot::Receiver<Paused>) {
        let (sender, receiver) = oneshot::channel();
        (Waiting { number, paused, problem, decided: Some(sender) }, receiver)
    }

    /// Returns whether nothing waits any more; the run then continues.
    pub(crate) fn decide(&mut self, id: &str, answer: Answer) -> Result<bool, NodeError> {
        let paused = self.paused.clone();
        self.paused = match answer {
            Answer::Yes => paused.decide(id, Approval::yes()),
            Answer::No { why } if why.trim().is_empty() => {
                paused.decide(id, Approval::no("the person who runs the graph said no"))
            }
            Answer::No { why } => paused.decide(id, Approval::no(why)),
            Answer::Edit { values } if !values.is_object() => {
                return Err(NodeError::new(Category::ConfigError, "an edit is a JSON object of values"));
            }
            Answer::Edit { values } => paused.decide(id, Approval::edit(values)),
            Answer::Result { value } => paused.answer(id, value),
        }?;
        if !self.paused.waiting().is_empty() {
            return Ok(false);
        }
        if let Some(decided) = self.decided.take() {
            let _ = decided.send(self.paused.clone());
        }
        Ok(true)
    }
}
