//! From a model's text to the value: the type picks from what JSON the text has.
//!
//! What is JSON of the type as it stands is read by serde at once. Everything else is walked over once; each candidate is
//! parsed, made to fit, and read by serde. Two that the type takes and that differ are refused, as is one beside what is broken.

use super::error;
use super::find::{self, Candidate, Content, Enclosure, trimmed};
use super::repair::Repairs;
use super::select::{Origin, Selector};
use super::target::{Slot, Target};
use crate::flag::{Flag, Note};
use crate::validate::Violation;

/// The longest text in which JSON is looked for, in bytes. What is JSON as it stands may be longer.
const MAX_SEARCHED: usize = 16 << 20;

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
    if target.try_fast_path(trimmed(text), slot) {
        return Ok(Outcome { wrapped: target.is_wrapped(), ..Outcome::default() });
    }
    if text.len() > MAX_SEARCHED {
        return Err(vec![error::too_long()]);
    }
    if let Some(part) = find::only_fence(text).filter(|_| !target.whole_text)
        && target.try_fast_path(&text[part.clone()], slot)
    {
        let notes = Origin { place: Enclosure::Fence, begin: part.start, repairs: Repairs::default() }
            .notes_for(text);
        return Ok(Outcome { notes, wrapped: target.is_wrapped() });
    }
    let found = find::scan(text, !target.exact && !target.whole_text);
    if target.whole_text
        && !matches!(
            found.candidates[..],
            [Candidate { place: Enclosure::WholeText, content: Content::Json(..), .. }]
        )
    {
        return Err(vec![error::not_only_json()]);
    }
    let thinking = found.thinking.map(|at| Note {
        flag: Flag::AfterThinking,
        place: error::line_and_column(text, at),
        times: 1,
    });
    let after_thinking = found.thinking.is_some();
    let taken = Selector { only_candidate: false, after_thinking, text, target, slot }
        .select(found.candidates, found.unclosed_thinking)?;
    let mut notes: Vec<Note> = thinking.into_iter().collect();
    notes.extend(taken.origin.notes_for(text));
    notes.extend(taken.notes);
    Ok(Outcome { notes, wrapped: taken.wrapped })
}
