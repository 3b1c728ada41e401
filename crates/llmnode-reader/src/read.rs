//! From a model's text to a value: the type decides which of the JSON in the text is the answer.
//!
//! Text that is already JSON of the type goes straight to serde. Everything else is searched once; each candidate is parsed,
//! coerced and read by serde. Two different values that the type accepts are an error, and so is an accepted value next to
//! broken JSON.

use super::error;
use super::find::{self, Candidate, Content, Enclosure, trimmed};
use super::many_values::has_many_values;
use super::repair::Repairs;
use super::select::{Origin, Selector};
use super::target::{Slot, Target};
use crate::flag::{Flag, Repair};
use crate::violation::Violation;

/// Bytes. For the search only; clean JSON may be longer.
const MAX_SEARCHED: usize = 16 << 20;

#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) notes: Vec<Repair>,
    pub(super) wrapped: bool,
}

pub(super) fn read(
    text: &str,
    target: &Target<'_>,
    slot: &mut dyn Slot,
) -> Result<Outcome, Vec<Violation>> {
    if target.try_fast_path(trimmed(text), slot) {
        return Ok(Outcome {
            wrapped: target.is_wrapped(),
            ..Outcome::default()
        });
    }
    if text.len() > MAX_SEARCHED {
        return Err(vec![error::too_long()]);
    }
    if has_many_values(text.as_bytes()) {
        return Err(vec![error::too_many_values()]);
    }
    if let Some(part) = find::only_fence(text).filter(|_| !target.whole_text)
        && target.try_fast_path(&text[part.clone()], slot)
    {
        let notes = Origin {
            place: Enclosure::Fence,
            begin: part.start,
            repairs: Repairs::default(),
        }
        .notes_for(text);
        return Ok(Outcome {
            notes,
            wrapped: target.is_wrapped(),
        });
    }
    let found = find::scan(text, !target.exact && !target.whole_text);
    if target.whole_text
        && !matches!(
            found.candidates[..],
            [Candidate {
                place: Enclosure::WholeText,
                content: Content::Json(..),
                ..
            }]
        )
    {
        return Err(vec![error::not_only_json()]);
    }
    let thinking = found.thinking.map(|at| Repair {
        flag: Flag::AfterThinking,
        place: error::line_and_column(text, at),
        times: 1,
    });
    let after_thinking = found.thinking.is_some();
    let taken = Selector {
        only_candidate: false,
        after_thinking,
        text,
        target,
        slot,
    }
    .select(found.candidates, found.unclosed_thinking)?;
    let mut notes: Vec<Repair> = thinking.into_iter().collect();
    notes.extend(taken.origin.notes_for(text));
    notes.extend(taken.notes);
    Ok(Outcome {
        notes,
        wrapped: taken.wrapped,
    })
}
