//! Proof that every validator inside an output type can be reached by diving.
//!
//! A definition with validators leaves a mark in its JSON schema. The schema of an output shows the marks of
//! all types inside it, also of those inside containers that no dive knows. A mark that the dive does not
//! come to is a validator that would be skipped in silence: the first use of such an output is an error.

use std::collections::BTreeSet;
use std::marker::PhantomData;

use super::dive::{Validated, ValidatedFields};

/// The schema keyword that holds the mark of a type with validators. It is never sent.
pub(crate) const MARK: &str = "x-llmnode-validated";

/// The marks that a dive can come to.
#[derive(Debug, Default)]
pub struct Reach {
    marks: BTreeSet<&'static str>,
}

impl Reach {
    /// Notes a type's mark. `false` if it was noted before: its fields need no second look.
    pub fn enter(&mut self, mark: &'static str) -> bool {
        self.marks.insert(mark)
    }

    /// The first of a schema's marks that no dive comes to.
    pub(crate) fn missing<'m>(&self, marks: &'m [String]) -> Option<&'m str> {
        marks.iter().map(String::as_str).find(|mark| !self.marks.contains(mark))
    }
}

/// A type that generated code dives into, before there is a value of it.
#[derive(Debug)]
pub struct Reached<T: ?Sized>(PhantomData<fn(&T)>);

impl<T: ?Sized> Reached<T> {
    /// Stands for the type.
    #[expect(clippy::new_without_default, reason = "only generated code makes one")]
    pub const fn new() -> Self {
        Reached(PhantomData)
    }
}

/// First choice: a type whose definition says how to dive into it.
pub trait ReachFields {
    /// Notes the types a dive can come to.
    fn reach(&self, to: &mut Reach);
}

impl<T: ValidatedFields + ?Sized> ReachFields for &Reached<T> {
    fn reach(&self, to: &mut Reach) {
        T::reach(to);
    }
}

/// Last choice: no dive goes in.
pub trait ReachNothing {
    /// Notes nothing.
    fn reach(&self, _: &mut Reach) {}
}

impl<T: ?Sized> ReachNothing for Reached<T> {}

/// First choice: the type has validators of its own, and its schema says so.
pub trait Marked {
    /// The mark, for the schema.
    fn mark(&self, mark: &'static str) -> Option<&'static str> {
        Some(mark)
    }
}

impl<T: Validated + ?Sized> Marked for &Reached<T> {}

/// Last choice: nothing to mark.
pub trait Unmarked {
    /// No mark.
    fn mark(&self, _: &'static str) -> Option<&'static str> {
        None
    }
}

impl<T: ?Sized> Unmarked for Reached<T> {}
