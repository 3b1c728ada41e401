//! Where in a text the JSON is, in time linear in the text.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::IgnoredAny;

use super::candidates::Candidates;
use super::error::{ReadError, nothing, place};
use super::repair::{Fuel, Repairs};
use super::{fence, prose, thinking};
use crate::flag::{Flag, Note};

/// The longest text in which JSON is looked for, in bytes. What is JSON as it stands may be longer.
pub(super) const LONGEST: usize = 16 << 20;

/// JSON found in a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found<'t> {
    /// Strict JSON, without anything around it: a part of the text, unless it was repaired.
    pub(crate) json: Cow<'t, str>,
    /// What was done to come by it.
    pub(crate) notes: Vec<Note>,
    /// Where it stands in the text.
    pub(crate) part: Range<usize>,
}

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// An object: a list in the prose (a citation, say) is then no rival of one, and no stand-in for one either,
    /// though serde would fill a struct from it.
    pub(crate) object: bool,
    /// Also what is JSON only after a repair that loses nothing.
    pub(crate) repaired: bool,
}

/// A text in which JSON is looked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Search<'t, 'f> {
    pub(super) text: &'t str,
    pub(super) wanted: Wanted,
    pub(super) fuel: &'f Fuel,
    /// All values are wanted, though they differ.
    pub(super) every: bool,
}

/// The one JSON value of `text`: the whole text, else the value in its code fences, else the one in its prose.
///
/// # Errors
/// No JSON, two values that differ, or JSON that is broken or incomplete; never a part of such.
pub(super) fn find_json(text: &str, wanted: Wanted) -> Result<Found<'_>, ReadError> {
    let whole = trimmed(text);
    if is_json(whole) {
        return if wanted.object && !whole.starts_with('{') {
            Err(ReadError::NoObject { at: place(text, offset(text, whole)) })
        } else {
            Ok(as_it_stands(text, whole))
        };
    }
    let (mut found, thought) = looked_for(text, wanted, false, |candidates| candidates.only())?;
    found.notes.splice(0..0, thought);
    Ok(found)
}

/// All values of `text`, in the places where one is looked for; none, if it has nothing like JSON.
///
/// # Errors
/// JSON that is broken or incomplete.
pub(super) fn find_every(text: &str, repaired: bool) -> Result<Vec<Found<'_>>, ReadError> {
    let whole = trimmed(text);
    if is_json(whole) {
        return Ok(vec![as_it_stands(text, whole)]);
    }
    let wanted = Wanted { object: false, repaired };
    let (mut found, thought) = looked_for(text, wanted, true, |candidates| candidates.every())?;
    found.iter_mut().for_each(|one| drop(one.notes.splice(0..0, thought.clone())));
    Ok(found)
}

fn as_it_stands<'t>(text: &str, json: &'t str) -> Found<'t> {
    let begin = offset(text, json);
    Found { json: Cow::Borrowed(json), notes: Vec::new(), part: begin..begin + json.len() }
}

/// The text without thoughts, and a note of them.
///
/// # Errors
/// Thoughts that never end.
pub(crate) fn without_thoughts(text: &str) -> Result<(String, Option<Note>), ReadError> {
    if text.len() > LONGEST {
        return Err(ReadError::TooLong);
    }
    let wanted = Wanted { object: false, repaired: false };
    let fuel = Fuel::of(text);
    let (parts, thought) = thinking::left_out(Search { text, wanted, fuel: &fuel, every: false })?;
    let said: Vec<&str> = parts.into_iter().map(|part| &text[part]).collect();
    Ok((said.join("\n"), thought.then(|| after_thinking(text))))
}

fn after_thinking(text: &str) -> Note {
    Note { flag: Flag::AfterThinking, place: place(text, 0).to_string(), times: 1 }
}

/// What `take` makes of the candidates in a text that is no JSON as a whole, and a note of thoughts.
fn looked_for<'t, T>(
    text: &'t str,
    wanted: Wanted,
    every: bool,
    take: impl FnOnce(Candidates<'t, '_>) -> Result<T, ReadError>,
) -> Result<(T, Option<Note>), ReadError> {
    if text.len() > LONGEST {
        return Err(ReadError::TooLong);
    }
    // So that a line end behind it changes nothing.
    let text = text.trim_end_matches(is_blank);
    let fuel = Fuel::of(text);
    let search = Search { text, wanted, fuel: &fuel, every };
    let (parts, thought) = thinking::left_out(search)?;
    let found = take(around_thoughts(search, &parts)?)?;
    Ok((found, thought.then(|| after_thinking(text))))
}

/// The values in the parts of the text that are not thoughts.
fn around_thoughts<'t, 'f>(
    search: Search<'t, 'f>,
    parts: &[Range<usize>],
) -> Result<Candidates<'t, 'f>, ReadError> {
    let text = search.text;
    let mut candidates = Candidates::new(search);
    if let [part] = parts
        && let rest = trimmed(&text[part.clone()])
        && rest.len() < trimmed(text).len()
        && is_json(rest)
    {
        let begin = offset(text, rest);
        candidates.add_json(begin..begin + rest.len(), &Repairs::default(), &[])?;
        return Ok(candidates);
    }
    for part in parts {
        fence::search(search, part.clone(), &mut candidates)?;
    }
    if candidates.is_empty() {
        for part in parts {
            prose::search(search, part.clone(), false, &mut candidates)?;
        }
    }
    if parts.is_empty() { Err(nothing("")) } else { Ok(candidates) }
}

/// The text without white space, byte order marks and zero-width characters around it.
pub(super) fn trimmed(text: &str) -> &str {
    text.trim_matches(is_blank)
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}'..='\u{200d}' | '\u{2060}')
}

pub(super) fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Where `part`, a slice of `text`, begins in it.
pub(super) fn offset(text: &str, part: &str) -> usize {
    part.as_ptr().addr().saturating_sub(text.as_ptr().addr())
}

/// Where the first of some bytes is, many of the others at a time.
pub(super) fn first_of(text: &[u8], is_one: impl Fn(u8) -> bool) -> Option<usize> {
    const MANY: usize = 32;
    // Where they stand close together, many at a time would be too many.
    const FEW: usize = 4;
    if let Some(near) = text.iter().take(FEW).position(|byte| is_one(*byte)) {
        return Some(near);
    }
    let has_none = |part: &&[u8]| !part.iter().fold(false, |any, byte| any | is_one(*byte));
    let passed = MANY * text.chunks_exact(MANY).take_while(has_none).count();
    text[passed..].iter().position(|byte| is_one(*byte)).map(|found| passed + found)
}
