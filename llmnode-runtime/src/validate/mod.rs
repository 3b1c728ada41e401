//! Validators: what they may return, how they are collected from an answer, and how they run.
//!
//! Traversing an answer is synchronous and only collects checks, so that recursive types need no boxed `async fn` at each
//! level; the attempt loop runs what was collected.

mod checks;
mod containers;
mod coverage;
mod function;
mod invalid;
mod run;
mod traverse;

pub use checks::{AttemptInfo, Checks};
pub(crate) use coverage::uncovered;
pub use coverage::{
    CoverFields, CoverNothing, CoverSchema, CoverValidators, Coverage, CoverageProbe, Marked,
    Unmarked, Validated, ValidatedFields, WithoutBlock,
};
pub use function::{validate, validate_with_state};
pub use invalid::Invalid;
pub(crate) use run::{CheckOutcome, CheckRun, run};
pub use traverse::{
    Dive, Traverse, TraverseFields, TraverseNothing, TraverseValidators, Validate, ValidateAll,
    ValidateFields, ValidateFieldsWithAnyState, ValidateWithAnyState, ValidatorBlock,
};
