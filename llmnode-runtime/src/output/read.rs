//! From a model's text to the value: the type picks from what JSON the text has.
//!
//! What is JSON of the type as it stands is read by serde at once. Everything else is walked over once; each candidate is
//! parsed, made to fit, and read by serde. Two that the type takes and that differ are refused, as is one beside what is broken.

use super::error;
use super::find::{self, Content, Place, Spot, trimmed};
use super::pick::{Picker, Stood};
use super::repair::Repairs;
use super::target::{Slot, Target};
use crate::flag::{Flag, Note};
use crate::validate::Violation;

/// The longest text in which JSON is looked for, in bytes. What is JSON as it stands may be longer.
const LONGEST: usize = 16 << 20;

/// What was done to read a value.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) notes: Vec<Note>,
    /// Whether it came as `{"value": ..}`, so that its paths begin with `value` for the model.
    pub(super) wrapped: bool,
}

/// Reads the value of an answer into `slot`.
///
/// # Errors
/// All that is wrong.
pub(super) fn read(text: &str, target: &Target<'_>, slot: &mut dyn Slot) -> Result<Outcome, Vec<Violation>> {
    if target.read_at_once(trimmed(text), slot) {
        return Ok(Outcome { wrapped: target.is_wrapped(), ..Outcome::default() });
    }
    if text.len() > LONGEST {
        return Err(vec![error::too_long()]);
    }
    if let Some(part) = find::only_fence(text).filter(|_| !target.whole)
        && target.read_at_once(&text[part.clone()], slot)
    {
        let notes = Stood { place: Place::Fence, begin: part.start, repairs: Repairs::default() }.noted(text);
        return Ok(Outcome { notes, wrapped: target.is_wrapped() });
    }
    let found = find::walk(text, !target.exact && !target.whole);
    if target.whole
        && !matches!(found.spots[..], [Spot { place: Place::Whole, content: Content::Json(..), .. }])
    {
        return Err(vec![error::not_whole()]);
    }
    let thoughts =
        found.thoughts.map(|at| Note { flag: Flag::AfterThinking, place: error::place(text, at), times: 1 });
    let behind = found.thoughts.is_some();
    let taken = Picker { alone: false, behind, text, target, slot }.pick(found.spots, found.endless)?;
    let mut notes: Vec<Note> = thoughts.into_iter().collect();
    notes.extend(taken.stood.noted(text));
    notes.extend(taken.notes);
    Ok(Outcome { notes, wrapped: taken.wrapped })
}
