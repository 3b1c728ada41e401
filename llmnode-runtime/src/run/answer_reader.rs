//! The judgement on one answer, for any type.

use llmnode_model::{BoxFuture, Category};
use llmnode_reader::internal::{Answer, in_json_names};
use llmnode_reader::{Flag, Note, OutputSchema, Reader, Violation};

use super::context::CallContext;
use super::failure::Failure;
use super::tools::{Invocation, Outcome};
use crate::validate::{AttemptInfo, CheckOutcome};

/// Reads and checks answers: the part of a call that knows the node's types.
pub(super) trait AnswerReader: Send + Sync {
    fn schema(&self) -> Option<&OutputSchema>;

    fn read(&mut self, answer: &str, reader: Reader) -> Result<Answer<()>, Vec<Violation>>;

    /// `index` counts in the node's list.
    fn execute<'a>(
        &'a self,
        tool: usize,
        invocation: &'a Invocation<'a>,
        context: &'a CallContext<'_>,
    ) -> Option<BoxFuture<'a, Outcome>>;

    /// Runs the validators of the value that was read. `wrapped`: the model wrote `{"value": ..}`.
    fn check<'a>(&'a mut self, wrapped: bool, attempt: &'a AttemptInfo) -> BoxFuture<'a, CheckOutcome>;
}

/// Reads and checks one answer. Returns the flags and warnings of a good one; the judge keeps the value.
pub(super) async fn judge(
    judge: &mut dyn AnswerReader,
    answer: &str,
    reader: Reader,
    attempt: &AttemptInfo,
) -> Result<(Vec<Flag>, Vec<Violation>), Failure> {
    let rejected = |violations| Failure::rejected(Category::SchemaError, violations);
    let Answer { notes, wrapped, .. } = judge.read(answer, reader).map_err(rejected)?;
    let mut violations = match judge.check(wrapped, attempt).await {
        CheckOutcome::Completed(violations) => violations,
        CheckOutcome::Aborted(error) => {
            let message = format!("a validator ended the call: {error}");
            return Err(Failure { source: Some(error), ..Failure::new(Category::Aborted, message) });
        }
        CheckOutcome::Panicked(said) => return Err(Failure::new(Category::Panic, said)),
    };
    if let Some(schema) = judge.schema() {
        for violation in &mut violations {
            violation.path = in_json_names(std::mem::take(&mut violation.path), schema, wrapped);
        }
    }
    if violations.iter().all(|violation| violation.warning) {
        return Ok((flags(&notes), violations));
    }
    Err(Failure::rejected(Category::ValidationError, violations))
}

/// Each kind of change once.
fn flags(notes: &[Note]) -> Vec<Flag> {
    let mut flags: Vec<Flag> = Vec::with_capacity(notes.len());
    for note in notes {
        if !flags.contains(&note.flag) {
            flags.push(note.flag.clone());
        }
    }
    flags
}
