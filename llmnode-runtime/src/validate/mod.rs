//! Validators: what they may say, how they are collected from an answer, and how they run.
//!
//! Diving into an answer is synchronous and only collects checks, so that recursive types need no boxed
//! `async fn` at each level; the attempt loop runs what was collected.

mod checks;
mod containers;
mod dive;
mod function;
mod invalid;
mod marks;
mod reach;
mod run;

pub use checks::{Attempt, Checks};
pub use dive::{
    Dive, DiveFields, DiveNothing, DiveValidators, Validate, ValidateFields, ValidateFieldsWithAnyState,
    ValidateWithAnyState, Validated, ValidatedFields,
};
pub use function::{validate, validate_with_state};
pub use invalid::{Invalid, Violation};
pub(crate) use marks::{MARK, marks_of, schema_with_marks};
pub(crate) use reach::Unreached;
pub use reach::{Marked, Reach, ReachFields, ReachNothing, ReachSchema, ReachValidators, Reached, Unmarked};
pub(crate) use run::{Verdict, run};
