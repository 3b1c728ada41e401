//! Outputs: their schema, how an answer is read, and how it is checked.
//!
//! A text is searched for JSON (`find`, `repair`); each candidate is coerced to the type (`coerce`) and checked against its
//! schema (`check`); the type decides which candidate is the answer (`read`, `select`).

mod check;
mod coerce;
mod error;
mod find;
mod incremental;
mod json;
mod read;
mod reader;
mod reading;
mod repair;
mod schema;
mod select;
mod serde_error;
mod serde_observer;
mod spec;
mod target;
#[cfg(test)]
mod tests;

pub(crate) use check::{in_json_names, target};
pub(crate) use incremental::IncrementalParser;
pub use reader::Reader;
pub use reading::{ReadError, Reading};
pub use schema::{OutputSchema, StrictError};
pub(crate) use schema::{WRAPPER, is_annotation};
pub use spec::{Answer, AnswerForm, Argument, LlmOutput, OutputSpec, ReadResult, TypeReader};
pub(crate) use spec::{AnswerKind, Untyped, read_json_of};

#[cfg(test)]
pub(super) mod counts {
    use std::cell::Cell;

    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) struct Counts {
        pub(crate) walked: u32,
        pub(crate) parsed: u32,
        pub(crate) coerced: u32,
        pub(crate) read: u32,
        pub(crate) marks: u32,
    }

    thread_local!(static COUNTS: Cell<Counts> = const { Cell::new(Counts { walked: 0, parsed: 0, coerced: 0, read: 0, marks: 0 }) });

    pub(crate) fn add(count: impl FnOnce(&mut Counts)) {
        let mut counts = COUNTS.get();
        count(&mut counts);
        COUNTS.set(counts);
    }

    pub(crate) fn of(work: impl FnOnce()) -> Counts {
        COUNTS.set(Counts::default());
        work();
        COUNTS.get()
    }
}
