//! The values between other words.

use std::ops::Range;

use serde::de::IgnoredAny;

use super::around::{Around, Doubt, Lead};
use super::candidates::Candidates;
use super::error::{ReadError, faulty, place};
use super::fence;
use super::find::Search;
use super::repair::{Fault, Parsed, begins_with_a_string, parse, word_in_brackets};
use crate::flag::{Flag, Repair};

/// Adds the lists and objects of a part of the text, which is the content of a fence if `fenced`.
///
/// Braces of the prose are skipped with all that they enclose: nothing within what isn't JSON is the answer.
pub(super) fn search<'t>(
    search: Search<'t, '_>,
    part: Range<usize>,
    fenced: bool,
    candidates: &mut Candidates<'t, '_>,
) -> Result<(), ReadError> {
    let text = &search.text[..part.end];
    let code = if fenced || next_opener(text, part.start).is_none() {
        Vec::new()
    } else {
        fence::code(text, part.clone())
    };
    let lead = Lead::of(text, part.start, code);
    let (mut pairs, mut index_end) = (None::<Pairs>, None);
    let mut at = doubled(search, text, &lead, fenced, candidates)?.unwrap_or(part.start);
    while let Some(begin) = next_opener(text, at) {
        at = begin + 1;
        if is_before_fence(&text[at..]) {
            continue;
        }
        // A word in brackets is never an answer.
        if let Some(end) = word_in_brackets(text, begin).filter(|_| search.wanted.repaired) {
            at = end;
            continue;
        }
        // Also what stands behind one: `list[0][1]`.
        let indexed = index_end == Some(begin) || is_index(&text[part.start..begin], &text[begin..]);
        if let Some(end) = json_end(search, text, begin)? {
            at = end;
            index_end = indexed.then_some(at);
            if !indexed {
                found(search, text, begin..end, None, &lead, fenced, candidates)?;
            }
            continue;
        }
        match parse(text, begin, search.wanted.repaired, search.fuel) {
            Ok(parsed) => {
                at = parsed.end;
                index_end = indexed.then_some(at);
                if !indexed {
                    found(search, text, begin..parsed.end, Some(&parsed), &lead, fenced, candidates)?;
                }
            }
            Err(fault) if is_meant(search, &text[begin..], &fault) => {
                return Err(faulty(search.text, begin, &fault));
            }
            Err(fault) => {
                candidates.doubt(|| faulty(search.text, begin, &fault));
                let mut reached = fault.reached;
                // What is nearly JSON isn't entered, and what its strings hold closes nothing.
                if !search.wanted.repaired {
                    match parse(text, begin, true, search.fuel) {
                        Ok(parsed) => {
                            at = parsed.end;
                            continue;
                        }
                        Err(meant) if is_meant(search, &text[begin..], &meant) => {
                            return Err(faulty(search.text, begin, &fault));
                        }
                        Err(further) => reached = reached.max(further.reached),
                    }
                }
                let pairs = pairs.get_or_insert_with(|| Pairs::of(text, part.start));
                let closer = match pairs.closer(begin) {
                    Some(closer) => closer,
                    // What follows may be a part of what it opened.
                    None if text[begin..].starts_with('{') => {
                        return Err(faulty(search.text, begin, &fault));
                    }
                    None => begin,
                };
                // Never before the place of the error, so that no part of the text is parsed again and again.
                at = super::error::boundary(text, (closer + 1).max(reached));
            }
        }
    }
    Ok(())
}

/// Adds an object in two pairs of braces, as a template writes one pair, and says where it ends. Nothing else stands beside it, and no
/// further brace in it, of which nobody could say whether it is doubled.
fn doubled<'t>(
    search: Search<'t, '_>,
    text: &'t str,
    lead: &Lead,
    fenced: bool,
    candidates: &mut Candidates<'t, '_>,
) -> Result<Option<usize>, ReadError> {
    let begin = lead.begin();
    let outer = text[begin..].trim_end();
    let inner = outer.strip_prefix("{{").and_then(|inner| inner.strip_suffix("}}"));
    let is_object = |inner: &str| inner.trim_ascii_start().starts_with('"') && !inner.contains(['{', '}']);
    if !search.wanted.repaired || !inner.is_some_and(is_object) {
        return Ok(None);
    }
    let Ok(parsed) = parse(text, begin + 1, true, search.fuel) else { return Ok(None) };
    if parsed.end + 1 != begin + outer.len() {
        return Ok(None);
    }
    let mut repairs = lead.comments();
    repairs.add(Repair::Closer, begin);
    let flags: &[Flag] = if fenced { &[Flag::Fenced] } else { &[] };
    candidates.add_parsed(begin + 1, &parsed, repairs, flags)?;
    Ok(Some(parsed.end + 1))
}

/// Where the JSON that begins here ends, if it is that as it stands: serde_json passes over it several times as
/// fast as the parser that repairs. Only what looks like JSON is tried, so that prose is not read twice.
fn json_end(search: Search<'_, '_>, text: &str, begin: usize) -> Result<Option<usize>, ReadError> {
    let text = &text[begin..];
    if !begins_with_a_string(text) && !begins_with_nothing(text) {
        return Ok(None);
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let read = matches!(values.next(), Some(Ok(_)));
    let end = values.byte_offset();
    if read && !search.fuel.spend(end) {
        return Err(ReadError::Tangled);
    }
    Ok(read.then_some(begin + end))
}

/// Whether an empty list or object comes first.
fn begins_with_nothing(text: &str) -> bool {
    let is_empty = |text: &str| text.starts_with("{}") || text.starts_with("[]");
    is_empty(text) || text.strip_prefix('[').is_some_and(is_empty)
}

/// Adds what was found: JSON as it stands, unless it was `parsed`.
fn found<'t>(
    search: Search<'t, '_>,
    text: &'t str,
    value: Range<usize>,
    parsed: Option<&Parsed<'t>>,
    lead: &Lead,
    fenced: bool,
    candidates: &mut Candidates<'t, '_>,
) -> Result<(), ReadError> {
    let begin = value.start;
    let is_list = text[begin..].starts_with('[');
    let is_word = is_list && parsed.is_some_and(|parsed| parsed.repairs.has(Repair::BareString));
    let around = match Around::of(text, begin, value.end, lead, search) {
        Ok(around) => around,
        // Brackets of the prose, not an answer that is broken.
        Err(Doubt::Part(_) | Doubt::GoesOn(_) | Doubt::Code(_))
            if is_word || (is_list && search.wanted.object) =>
        {
            return Ok(());
        }
        Err(doubt) => return Err(doubt.told(search.text)),
    };
    // A word in brackets is no list where there are other words.
    if is_word && around.in_prose && (!fenced || !begins_with_a_string(&text[begin..])) {
        return Ok(());
    }
    // Nor are words in braces an object, in a line of other words: `the type {name: string}`.
    if !fenced
        && around.in_prose
        && begin != lead.begin()
        && parsed.is_some_and(Parsed::is_words)
        && !has_own_lines(text, &value)
    {
        candidates.doubt(|| ReadError::Words { at: place(search.text, begin) });
        return Ok(());
    }
    // Nor is one word alone, which stands for something else: `[redacted]`; nor a link: `[1](..)`.
    let is_link = is_list && text[value.end..].starts_with('(');
    if (is_word && parsed.is_some_and(Parsed::is_one_word)) || (is_link && around.in_prose) {
        return Ok(());
    }
    let flags: &[Flag] = match (fenced, around.in_prose) {
        (true, true) => &[Flag::Fenced, Flag::InProse],
        (true, false) => &[Flag::Fenced],
        (false, true) => &[Flag::InProse],
        (false, false) => &[],
    };
    match parsed {
        Some(parsed) => candidates.add_parsed(begin, parsed, around.repairs, flags),
        None => candidates.add_json(value, &around.repairs, flags),
    }
}

/// Whether nothing else stands on the lines of a value.
fn has_own_lines(text: &str, value: &Range<usize>) -> bool {
    let before = text[..value.start].trim_end_matches([' ', '\t']);
    let behind = text[value.end..].trim_start_matches([' ', '\t']);
    (before.is_empty() || before.ends_with('\n')) && (behind.is_empty() || behind.starts_with(['\n', '\r']))
}

/// Whether a text that isn't JSON was meant as it, so that nothing else may be taken for the answer.
pub(super) fn is_meant(search: Search<'_, '_>, text: &str, fault: &Fault) -> bool {
    fault.what.is_tangled()
        || begins_with_a_string(text)
        || (fault.sure && !(search.wanted.object && text.starts_with('[')))
}

/// Whether a fence begins within the brace: `{```json`.
pub(super) fn is_before_fence(text: &str) -> bool {
    text.trim_start_matches([' ', '\n']).starts_with("```")
}

/// Whether a bracket is an index as in `list[0]`, `$[0]` and `f()[0]`, and not the JSON of "```json[0]".
fn is_index(before: &str, text: &str) -> bool {
    if !text.starts_with('[') {
        return false;
    }
    let name = before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
    if name.len() == before.len() {
        return before.ends_with(['$', ')']);
    }
    !name.ends_with("```") && !name.ends_with("~~~")
}

fn next_opener(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes().get(at..)?;
    bytes.iter().position(|byte| matches!(byte, b'{' | b'[')).map(|found| at + found)
}

/// The places of all braces and brackets that have a partner, by their opener. The two kinds don't mind each
/// other, since prose needn't nest them well. A text that is searched is short enough for such places.
struct Pairs {
    sorted: Vec<(u32, u32)>,
    /// How many were passed by.
    passed: usize,
}

impl Pairs {
    fn of(text: &str, start: usize) -> Self {
        let (mut braces, mut brackets, mut sorted) = (Vec::new(), Vec::new(), Vec::new());
        for (at, byte) in (0_u32..).zip(text.bytes()).skip(start) {
            match byte {
                b'{' => braces.push(at),
                b'[' => brackets.push(at),
                b'}' => sorted.extend(braces.pop().map(|open| (open, at))),
                b']' => sorted.extend(brackets.pop().map(|open| (open, at))),
                _ => {}
            }
        }
        sorted.sort_unstable();
        Pairs { sorted, passed: 0 }
    }

    /// Where what opens at `begin` is closed. It is asked for one opener behind the other.
    fn closer(&mut self, begin: usize) -> Option<usize> {
        let rest = &self.sorted[self.passed..];
        self.passed += rest.iter().take_while(|pair| (pair.0 as usize) < begin).count();
        self.sorted.get(self.passed).filter(|pair| pair.0 as usize == begin).map(|pair| pair.1 as usize)
    }
}
