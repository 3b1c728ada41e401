//! What a model wrote while it thought: JSON in it is no answer.

use std::ops::Range;

use self::marks::{Tag, next_tag};
use super::error::{ReadError, boundary, place};
use super::find::{Search, trimmed};
use super::repair::{is_quote, parse};

mod marks;

/// The parts of the text that are no thoughts, and whether there were any.
///
/// Of a closing tag without an opening one, which a prompt's template may have written, all before it is a
/// thought. A tag within JSON is none.
///
/// # Errors
/// Thoughts that never end.
pub(super) fn left_out(search: Search<'_, '_>) -> Result<(Vec<Range<usize>>, bool), ReadError> {
    let text = search.text;
    let (mut parts, mut start, mut at) = (Vec::new(), 0, 0);
    if !marks::may_stand_in(text) {
        parts.push(start..text.len());
        return Ok((parts, false));
    }
    let (mut thought, mut channels) = (false, false);
    let mut sought = Sought::default();
    while let Some(tag) = next_tag(text, at) {
        if let Some(end) = json_over(search, &mut sought, tag.at.start)? {
            at = end;
            continue;
        }
        thought = true;
        channels |= tag.is_channel();
        at = tag.at.end;
        if tag.opens {
            parts.push(start..tag.at.start);
            let Some(close) = closing(text, &tag) else {
                return Err(ReadError::Thinking { at: place(text, tag.at.start) });
            };
            at = close;
        } else {
            parts.clear();
        }
        start = at;
        sought = Sought { at, broken: false };
    }
    parts.push(start..if channels { marks::without_end(text, start) } else { text.len() });
    if thought {
        parts.retain(|part: &Range<usize>| !trimmed(&text[part.clone()]).is_empty());
    }
    Ok((parts, thought))
}

/// Whether there are tags of thoughts, in the JSON or out of it.
pub(super) fn is_mentioned(text: &str) -> bool {
    marks::may_stand_in(text) && next_tag(text, 0).is_some()
}

/// How far JSON was looked for of which a tag may be a part, and whether some was broken.
#[derive(Default)]
struct Sought {
    at: usize,
    broken: bool,
}

/// Where the JSON ends that begins before `tag` and ends behind it.
fn json_over(search: Search<'_, '_>, sought: &mut Sought, tag: usize) -> Result<Option<usize>, ReadError> {
    let Search { text, fuel, .. } = search;
    while sought.at < tag {
        let Some(begin) = text[sought.at..tag].find(['{', '[']).map(|found| sought.at + found) else {
            sought.at = tag;
            break;
        };
        // A tag within what is nearly JSON is none either, whether that may be repaired or not.
        match parse(text, begin, true, fuel) {
            Ok(parsed) => sought.at = parsed.end,
            Err(fault) if fault.what.is_tangled() => return Err(ReadError::Tangled),
            // Nor one within what was meant as JSON and is broken behind it.
            Err(fault) if fault.sure && fault.reached > tag => {
                return Ok(Some(boundary(text, fault.reached)));
            }
            Err(fault) => {
                sought.broken |= fault.sure;
                sought.at = boundary(text, fault.reached.min(tag).max(begin + 1));
                continue;
            }
        }
        if sought.at > tag {
            return Ok(Some(sought.at));
        }
    }
    // Where JSON is broken before the tag, nobody knows what is a string, but by its looks.
    Ok((sought.broken && is_in_string(text, tag)).then_some(tag + 1))
}

/// Whether the nearest quotation marks on the line seem to begin and to end a string.
fn is_in_string(text: &str, tag: usize) -> bool {
    const NEAR: usize = 200;
    let before = &text[boundary(text, tag.saturating_sub(NEAR))..tag];
    let after = &text[tag..boundary(text, tag.saturating_add(NEAR).min(text.len()))];
    let (before, after) = (before.rsplit('\n').next(), after.split('\n').next());
    let (Some(before), Some(after)) = (before, after) else { return false };
    let opens = before.rfind(is_quote).is_some_and(|quote| {
        before[..quote].chars().next_back().is_none_or(|c| c.is_whitespace() || "{[,:".contains(c))
    });
    let closes = after.find(is_quote).is_some_and(|quote| {
        let behind = after[quote..].trim_start_matches(is_quote).trim_start();
        behind.is_empty() || behind.starts_with([',', ':', ']', '}'])
    });
    opens && closes
}

/// The end of the first closing tag of the same name.
fn closing(text: &str, open: &Tag) -> Option<usize> {
    let mut at = open.at.end;
    loop {
        let tag = next_tag(text, at)?;
        if !tag.opens && tag.name == open.name {
            return Some(tag.at.end);
        }
        at = tag.at.end;
    }
}
