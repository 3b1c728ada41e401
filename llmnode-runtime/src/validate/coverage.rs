//! Proof that traversal reaches every validator inside an output type.
//!
//! A definition with validators leaves a mark in its JSON schema. The schema of an
//! output shows the marks of all types inside it, also of those inside containers
//! that traversal does not know. A mark that traversal does not reach is a
//! validator that would be skipped silently, so the first use of such an output is
//! an error.

use std::any::type_name;
use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;
use std::sync::Arc;

use llmnode_reader::OutputSchema;
use llmnode_reader::internal::{self, Uncovered, marks_of, schema_with_marks};
use schemars::JsonSchema;
use serde_json::Value;

/// A type with validators of its own, from `#[validate]` on an impl block.
pub trait Validated: ValidatedFields {}

/// A type whose definition says how to dive into its fields.
#[diagnostic::on_unimplemented(
    message = "the definition of `{Self}` does not say which validators are inside it",
    label = "its definition has neither `#[llm_output]` nor `#[llmnode::validate]`",
    note = "put `#[llm_output]` on the definition, or `#[llmnode::validate]` above its own derives"
)]
pub trait ValidatedFields {
    /// Whether the definition finds the block of its validators, if there is one.
    const SEES_BLOCK: bool = true;

    /// Notes which types a dive can come to.
    fn coverage(to: &mut Coverage);
}

/// The marks that traversal reaches.
#[derive(Debug, Default)]
pub struct Coverage {
    marks: BTreeSet<&'static str>,
    /// Marks of types that traversal misses, each with the first such place.
    skipped: BTreeMap<String, String>,
    visit: Visit,
}

/// How the type that is being visited is reached; it holds until the visit of that type ends.
#[derive(Clone, Copy, Debug, Default)]
struct Visit {
    /// The nearest type around it that has a mark, for messages.
    owner: Option<&'static str>,
    /// Its own validators run, not only those in its fields.
    validated: bool,
    /// It has validators of its own, and traversal goes past them to its fields.
    fields_only: bool,
}

impl Coverage {
    /// Records a type's mark. Returns `false` if it was recorded before: its fields
    /// need no second visit.
    pub fn enter(&mut self, mark: &'static str) -> bool {
        if self.visit.fields_only {
            self.skipped.entry(mark.to_owned()).or_insert_with(|| {
                "it is in a tuple or `Result` beside a type without validators".to_owned()
            });
        }
        self.visit.owner = Some(mark);
        self.marks.insert(mark)
    }

    /// Visits a type with validators of its own.
    pub fn validated<T: ValidatedFields + ?Sized>(&mut self) {
        self.descend::<T>(true, false);
    }

    /// Traversal treats all elements alike: if one has no validators, those of the
    /// others do not run.
    pub(super) fn element<T: ValidatedFields>(&mut self) {
        let validated = self.visit.validated;
        self.descend::<T>(validated, !validated);
    }

    fn descend<T: ValidatedFields + ?Sized>(&mut self, validated: bool, fields_only: bool) {
        let around = self.visit;
        self.visit.validated = validated;
        self.visit.fields_only = fields_only;
        T::coverage(self);
        self.visit = around;
    }

    /// Notes all validators inside a type that traversal does not enter, by the
    /// marks in its schema.
    ///
    /// It takes the schema as a function and the type as its name, so that it is
    /// compiled once and not for every type.
    fn skip(&mut self, schema: fn() -> Value, field: Option<&str>, held_as: &str) {
        for mark in marks_of(&schema()) {
            let subject = match (self.visit.owner, field) {
                (Some(owner), Some(field)) => format!("the field `{field}` of `{owner}`"),
                _ => "it".to_owned(),
            };
            let place = format!("{subject} is held as `{held_as}`, which llmnode cannot dive into");
            self.skipped.entry(mark).or_insert(place);
        }
    }

    /// Returns the first of these marks that traversal misses, and why.
    ///
    /// A mark can be reached in one place and skipped in another; that counts as missed.
    fn missing(&self, marks: &[String]) -> Option<Uncovered> {
        for mark in marks {
            let place = match self.skipped.get(mark) {
                Some(place) => place.clone(),
                None if self.marks.contains(mark.as_str()) => continue,
                None => "it is held by a type that llmnode cannot dive into".to_owned(),
            };
            return Some(Uncovered {
                mark: mark.clone(),
                place,
            });
        }
        None
    }
}

/// Returns a validator inside the output that would never run. It is computed once
/// for each output type.
pub(crate) fn uncovered(
    schema: &OutputSchema,
    coverage: fn(&mut Coverage),
) -> Option<Arc<Uncovered>> {
    internal::uncovered(schema, coverage as usize, |marks| {
        let mut covered = Coverage::default();
        coverage(&mut covered);
        covered.missing(marks)
    })
}

/// A type that generated code traverses, before there is a value of it.
#[derive(Debug)]
pub struct CoverageProbe<T: ?Sized> {
    field: Option<&'static str>,
    ty: PhantomData<fn(&T)>,
}

impl<T: ?Sized> CoverageProbe<T> {
    /// Creates a probe of the type.
    #[expect(clippy::new_without_default, reason = "only generated code makes one")]
    pub const fn new() -> Self {
        CoverageProbe {
            field: None,
            ty: PhantomData,
        }
    }

    /// Creates a probe of the type of a field.
    pub const fn of(field: &'static str) -> Self {
        CoverageProbe {
            field: Some(field),
            ty: PhantomData,
        }
    }
}

impl<T: Validated + ?Sized> CoverageProbe<T> {
    /// The type has a `#[validate]` block.
    pub const IN_BLOCK: bool = true;
}

/// What holds of a type for which there is no such constant.
pub trait WithoutBlock {
    /// The type has no `#[validate]` block.
    const IN_BLOCK: bool = false;
}

impl<T: ?Sized> WithoutBlock for CoverageProbe<T> {}

/// First choice: a type with validators of its own.
pub trait CoverValidators {
    /// Records the types that traversal reaches.
    fn __coverage(&self, to: &mut Coverage);
}

impl<T: Validated + ?Sized> CoverValidators for &&&CoverageProbe<T> {
    fn __coverage(&self, to: &mut Coverage) {
        to.validated::<T>();
    }
}

/// Second choice: a type whose definition says how to traverse it.
pub trait CoverFields {
    /// Records the types that traversal reaches.
    fn __coverage(&self, to: &mut Coverage);
}

impl<T: ValidatedFields + ?Sized> CoverFields for &&CoverageProbe<T> {
    fn __coverage(&self, to: &mut Coverage) {
        to.descend::<T>(false, false);
    }
}

/// Third choice: traversal does not go in, and the schema shows what it misses.
pub trait CoverSchema {
    /// Records validators that traversal does not reach.
    fn __coverage(&self, to: &mut Coverage);
}

impl<T: JsonSchema + ?Sized> CoverSchema for &CoverageProbe<T> {
    fn __coverage(&self, to: &mut Coverage) {
        to.skip(schema_with_marks::<T>, self.field, type_name::<T>());
    }
}

/// Last choice: nothing is known.
pub trait CoverNothing {
    /// Records nothing.
    fn __coverage(&self, _: &mut Coverage) {}
}

impl<T: ?Sized> CoverNothing for CoverageProbe<T> {}

/// First choice: the type has validators of its own, and its schema says so.
pub trait Marked {
    /// The mark, for the schema.
    fn __mark(&self, mark: &'static str) -> Option<&'static str> {
        Some(mark)
    }
}

impl<T: Validated + ?Sized> Marked for &CoverageProbe<T> {}

/// Last choice: nothing to mark.
pub trait Unmarked {
    /// No mark.
    fn __mark(&self, _: &'static str) -> Option<&'static str> {
        None
    }
}

impl<T: ?Sized> Unmarked for CoverageProbe<T> {}
