//! Validators: the rules of the program that an answer has to keep, beyond its type.
//!
//! A value that was read from an answer comes in; violations with their paths go
//! out, or the error of the program that ends the call. In this order:
//!
//! 1. *Coverage* (`coverage.rs`), once for each output type: is every validator
//!    inside the type reached? A container that traversal does not know would hide
//!    the validators of its elements, so such a type is refused before it is ever
//!    used.
//! 2. *Traversal* (`traverse.rs`, `containers.rs`), once for each answer: the value
//!    is walked through, and each validator that is found becomes a [`Checks`]
//!    entry with its path (`checks.rs`). This step is synchronous and runs no
//!    validator, so that recursive types need no boxed `async fn` at each level.
//! 3. *Running* (`run.rs`): the collected checks run one after the other. A
//!    violation does not stop the ones after it, so the model hears of all its
//!    mistakes at once; an abort or a panic does.
//!
//! Validators run after the schema's own bounds were checked, and never on a value
//! that was not read: a validator may rely on its type. They run on every answer,
//! also on one that is played back from a journal, because the state may have
//! changed.
//!
//! The room knows neither models nor attempts: it is told the attempt's number
//! ([`AttemptInfo`]) and passes it on. What the model is told of a violation is
//! written in `run/feedback.rs`.
//!
//! Generated code does not know whether the type of a field has validators. It asks
//! a probe, by the order in which the compiler looks for methods: see
//! `docs/probes.md`.

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
    Unmarked, ValidatedFields, WithoutBlock,
};
pub use function::{validate, validate_with_state};
pub use invalid::Invalid;
pub(crate) use run::{CheckOutcome, CheckRun, run};
pub use traverse::{
    Dive, Traverse, TraverseFields, TraverseNothing, TraverseValidators, ValidateAll,
    ValidateBlock, ValidateFields, ValidateFieldsWithAnyState, ValidateWithAnyState,
    ValidatorBlock,
};
