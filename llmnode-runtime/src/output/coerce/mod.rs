//! JSON of another type made into what a schema asks for, where that loses nothing and only one value can be meant.
//!
//! A value that conforms is never changed, and what comes out always conforms. Where two values could be meant, the
//! answer is refused, with both named.

mod answer;
mod choice;
mod conclusion;
mod fit;
mod list;
mod mention;
mod object;
mod scalar;
mod sentence;
mod union;

use serde_json::Value;

use super::check::{Check, Place};
use super::reader::Json;
use crate::flag::{Coercion, Flag, Note};
use crate::validate::Violation;

pub(super) use self::answer::{Reread, reread, told, unmended};
use self::fit::{At, Fitter};

/// A value that conforms, and what was changed to make it so.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Coerced<'t> {
    pub(crate) json: Json<'t>,
    pub(crate) notes: Vec<Note>,
}

/// Why a value was not made to conform, where more is known than that it cannot be.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Misfit(pub(crate) Option<Violation>);

/// Makes `value`, which stands at `place`, conform to `schema`. The check counts the work.
///
/// # Errors
/// It conforms to no form of it, or to several.
pub(crate) fn coerce<'t>(
    check: &Check<'_>,
    schema: &Value,
    value: &Json<'t>,
    place: &Place<'_>,
) -> Result<Coerced<'t>, Misfit> {
    let fit = Fitter::new(check).fit(schema, value, place, At::BEGIN);
    if !check.ends() {
        return Err(Misfit(None));
    }
    let (json, changes) = match fit? {
        None => (value.clone(), Vec::new()),
        Some(changed) => (changed.json, changed.changes),
    };
    // Bounds and what else was not looked at.
    if !check.fits(schema, &json) {
        return Err(Misfit(None));
    }
    Ok(Coerced { json, notes: notes(changes) })
}

/// A change and the path where it was made.
#[derive(Clone, Debug, PartialEq)]
struct Change {
    coercion: Coercion,
    path: String,
}

impl Change {
    fn at(coercion: Coercion, place: &Place<'_>) -> Self {
        Change { coercion, path: place.path() }
    }
}

/// Each kind of change once, with its first place.
fn notes(changes: Vec<Change>) -> Vec<Note> {
    let note = |Change { coercion, path }| Note { flag: Flag::Coerced(coercion), place: path, times: 1 };
    let mut notes = Vec::new();
    answer::merge(&mut notes, changes.into_iter().map(note));
    notes
}

#[cfg(test)]
mod tests;
