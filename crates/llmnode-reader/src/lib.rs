#![doc = include_str!("../README.md")]
#![warn(clippy::print_stderr, clippy::print_stdout)]

mod answer;
pub mod ask;
pub mod calls;
mod check;
mod coerce;
mod decimal;
mod error;
pub mod ext;
mod find;
mod flag;
mod incremental;
#[doc(hidden)]
pub mod internal;
mod json;
mod many_values;
mod marks;
mod read;
mod reader;
mod reading;
mod renamer;
mod repair;
mod schema;
mod select;
mod serde_error;
mod serde_observer;
mod target;
#[cfg(test)]
mod tests;
pub mod text;
mod tree;
mod violation;

pub use flag::{Flag, Repair};
pub use incremental::IncrementalParser;
pub use reader::Reader;
pub use reading::{ReadError, Reading};
pub use schema::{OutputSchema, StrictError};
pub use violation::Violation;

#[cfg(test)]
mod counts {
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
