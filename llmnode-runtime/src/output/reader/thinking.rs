//! What a model wrote while it thought: JSON in it is no answer.

use std::ops::Range;

use super::error::{ReadError, boundary, place};
use super::find::{Search, trimmed};
use super::repair::{is_quote, parse};

/// Names of the tags around thoughts.
const NAMES: [&str; 8] =
    ["think", "thinking", "thought", "thoughts", "reasoning", "reflection", "scratchpad", "analysis"];

struct Tag {
    at: Range<usize>,
    name: &'static str,
    opens: bool,
}

/// The parts of the text that are no thoughts, and whether there were any.
///
/// Of a closing tag without an opening one, which a prompt's template may have written, all before it is a
/// thought. A tag within JSON is none.
///
/// # Errors
/// Thoughts that never end.
pub(super) fn left_out(search: Search<'_, '_>) -> Result<(Vec<Range<usize>>, bool), ReadError> {
    let text = search.text;
    let (mut parts, mut start, mut at, mut scanned) = (Vec::new(), 0, 0, 0);
    let mut thought = false;
    while let Some(tag) = next_tag(text, at) {
        scanned = scanned.max(start);
        if let Some(end) = json_over(search, &mut scanned, tag.at.start)? {
            at = end;
            continue;
        }
        thought = true;
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
    }
    parts.push(start..text.len());
    if thought {
        parts.retain(|part: &Range<usize>| !trimmed(&text[part.clone()]).is_empty());
    }
    Ok((parts, thought))
}

/// Whether there are tags of thoughts, in the JSON or out of it.
pub(super) fn is_mentioned(text: &str) -> bool {
    next_tag(text, 0).is_some()
}

/// Where the JSON ends that begins before `tag` and ends behind it. `scanned`: from where JSON is looked for.
fn json_over(search: Search<'_, '_>, scanned: &mut usize, tag: usize) -> Result<Option<usize>, ReadError> {
    let Search { text, fuel, .. } = search;
    while *scanned < tag {
        let Some(begin) = text[*scanned..tag].find(['{', '[']).map(|found| *scanned + found) else {
            *scanned = tag;
            break;
        };
        // A tag within what is nearly JSON is none either, whether that may be repaired or not.
        match parse(text, begin, true, fuel) {
            Ok(parsed) => *scanned = parsed.end,
            Err(fault) if fault.what.is_tangled() => return Err(ReadError::Tangled),
            // Nor one within what was meant as JSON and is broken behind it.
            Err(fault) if fault.sure && fault.reached > tag => {
                return Ok(Some(boundary(text, fault.reached)));
            }
            Err(fault) => {
                *scanned = boundary(text, fault.reached.min(tag).max(begin + 1));
                continue;
            }
        }
        if *scanned > tag {
            return Ok(Some(*scanned));
        }
    }
    Ok(None)
}

fn next_tag(text: &str, from: usize) -> Option<Tag> {
    let mut at = from;
    loop {
        at += text[at..].find('<')?;
        let inner = &text[at + 1..];
        let (opens, inner) = match inner.strip_prefix('/') {
            Some(inner) => (false, inner),
            None => (true, inner),
        };
        let length = inner.bytes().take(12).take_while(u8::is_ascii_alphabetic).count();
        let name = NAMES.into_iter().find(|name| inner[..length].eq_ignore_ascii_case(name));
        if let Some(name) = name.filter(|_| inner[length..].starts_with('>')) {
            let end = text.len() - inner.len() + length + 1;
            if is_quoted(text, at, end) {
                at = end;
                continue;
            }
            return Some(Tag { at: at..end, name, opens });
        }
        at += 1;
    }
}

/// Whether it is a mention of a tag: `"</think>"`.
fn is_quoted(text: &str, begin: usize, end: usize) -> bool {
    text[..begin].ends_with(is_quote) && text[end..].starts_with(is_quote)
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
