//! The judgement on one answer, for whatever type it is read as.

use super::failure::Failure;
use crate::BoxFuture;
use crate::category::Category;
use crate::flag::{Flag, Note};
use crate::output::{Answer, OutputSchema, Reader, in_json_names};
use crate::validate::{Attempt, Verdict, Violation};

/// Reads and checks answers: the part of a call that knows the node's types.
pub(super) trait Judge: Send {
    /// The schema that answers are read by.
    fn schema(&self) -> Option<&OutputSchema>;

    /// Reads an answer, and keeps the value.
    fn read(&mut self, answer: &str, reader: Reader) -> Result<Answer<()>, Vec<Violation>>;

    /// Runs the validators of the value that was read. `wrapped`: the model wrote `{"value": ..}`.
    fn check<'a>(&'a mut self, wrapped: bool, attempt: &'a Attempt) -> BoxFuture<'a, Verdict>;
}

/// What an answer was found to be.
pub(super) enum Judgement {
    /// Good; the judge keeps the value.
    Accepted { flags: Vec<Flag>, warnings: Vec<Violation> },
    /// Bad: the model can be told.
    Rejected { category: Category, violations: Vec<Violation> },
    /// Not the model's fault: the call ends.
    Stopped(Failure),
}

/// Reads and checks one answer.
pub(super) async fn judge(
    judge: &mut dyn Judge,
    answer: &str,
    reader: Reader,
    attempt: &Attempt,
) -> Judgement {
    let Answer { notes, wrapped, .. } = match judge.read(answer, reader) {
        Ok(read) => read,
        Err(violations) => return Judgement::Rejected { category: Category::SchemaError, violations },
    };
    let verdict = judge.check(wrapped, attempt).await;
    judgement(verdict, &notes, judge.schema(), wrapped)
}

/// What the checks of a value that was read come to, with the schema that it was read by.
fn judgement(
    mut verdict: Verdict,
    notes: &[Note],
    schema: Option<&OutputSchema>,
    wrapped: bool,
) -> Judgement {
    if let (Verdict::Judged(violations), Some(schema)) = (&mut verdict, schema) {
        for violation in violations {
            violation.path = in_json_names(std::mem::take(&mut violation.path), schema, wrapped);
        }
    }
    match verdict {
        Verdict::Judged(violations) if violations.iter().all(|violation| violation.warning) => {
            Judgement::Accepted { flags: flags(notes), warnings: violations }
        }
        Verdict::Judged(violations) => {
            Judgement::Rejected { category: Category::ValidationError, violations }
        }
        Verdict::Aborted(error) => Judgement::Stopped(Failure {
            message: format!("a validator ended the call: {error}"),
            source: Some(error),
            ..Failure::new(Category::Aborted, "")
        }),
        Verdict::Panicked(said) => Judgement::Stopped(Failure::new(Category::Panic, said)),
    }
}

/// What was done to read an answer, each once.
fn flags(notes: &[Note]) -> Vec<Flag> {
    let mut flags: Vec<Flag> = Vec::with_capacity(notes.len());
    for note in notes {
        if !flags.contains(&note.flag) {
            flags.push(note.flag);
        }
    }
    flags
}
