//! From a model's text to a value: the type decides which of the JSON in the text is the answer.
//!
//! In this order, from the cheapest and most common:
//!
//! 1. *Fast path*: a text that is nothing but JSON of the type goes straight to
//!    serde. No tree is built, and nothing is repaired.
//! 2. *One fence*: the same for what is inside the only fence of a text, as most models write it.
//! 3. *Search* (`find`): one pass over the text finds candidates, and where
//!    thoughts end. Each candidate is parsed (`repair`), fitted to the type
//!    (`coerce`), read by serde, and checked (`check`); `select.rs` decides among
//!    them. Two different values that the type accepts are an error, and so is an
//!    accepted value next to broken JSON: the model may have meant either.
//!
//! Bounds come before the search, which is the first step that costs memory by the
//! text's content: its length, and how many values it could have.

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

/// How a value was read that is in its slot now.
#[derive(Debug, Default)]
pub(super) struct ReadOutcome {
    pub(super) notes: Vec<Repair>,
    /// The model wrote `{"value": ..}`.
    pub(super) wrapped: bool,
}

/// Reads the answer into the slot, or returns all that is wrong with it.
pub(super) fn read(
    text: &str,
    target: &Target<'_>,
    slot: &mut dyn Slot,
) -> Result<ReadOutcome, Vec<Violation>> {
    if target.try_fast_path(trimmed(text), slot) {
        return Ok(ReadOutcome {
            notes: Vec::new(),
            wrapped: target.is_wrapped(),
        });
    }
    if text.len() > MAX_SEARCHED {
        return Err(vec![error::too_long()]);
    }
    if has_many_values(text.as_bytes()) {
        return Err(vec![error::too_many_values()]);
    }
    if !target.whole_text
        && let Some(outcome) = read_only_fence(text, target, slot)
    {
        return Ok(outcome);
    }
    search(text, target, slot)
}

/// Has serde read what is in the only fence of the text. `None`: there is no such fence, or it is not JSON of the type.
fn read_only_fence(text: &str, target: &Target<'_>, slot: &mut dyn Slot) -> Option<ReadOutcome> {
    let part = find::only_fence(text)?;
    if !target.try_fast_path(&text[part.clone()], slot) {
        return None;
    }
    let origin = Origin {
        place: Enclosure::Fence,
        begin: part.start,
        repairs: Repairs::default(),
    };
    Some(ReadOutcome {
        notes: origin.notes_for(text),
        wrapped: target.is_wrapped(),
    })
}

/// Looks for the answer in the whole text. What was done to find it is noted from the outside in.
fn search(
    text: &str,
    target: &Target<'_>,
    slot: &mut dyn Slot,
) -> Result<ReadOutcome, Vec<Violation>> {
    let lenient = !target.exact && !target.whole_text;
    let found = find::scan(text, lenient);
    if target.whole_text && !is_whole_text(&found.candidates) {
        return Err(vec![error::not_only_json()]);
    }
    let selector = Selector {
        only_candidate: false,
        after_thinking: found.thinking.is_some(),
        text,
        target,
        slot,
    };
    let taken = selector.select(found.candidates, found.unclosed_thinking)?;
    let mut notes = Vec::new();
    if let Some(at) = found.thinking {
        notes.push(Repair {
            flag: Flag::AfterThinking,
            place: error::line_and_column(text, at),
            times: 1,
        });
    }
    notes.extend(taken.origin.notes_for(text));
    notes.extend(taken.notes);
    Ok(ReadOutcome {
        notes,
        wrapped: taken.wrapped,
    })
}

/// Whether the text is nothing but one JSON value.
fn is_whole_text(candidates: &[Candidate<'_>]) -> bool {
    matches!(
        candidates,
        [Candidate {
            place: Enclosure::WholeText,
            content: Content::Json(..),
            ..
        }]
    )
}
