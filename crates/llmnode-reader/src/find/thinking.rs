//! The marks that models write around their thinking.
//!
//! The lists are of what models and their templates write today. A mark that is in
//! no list is text. Both readers of thoughts ask here, the one for whole texts
//! (`scan`) and the one for texts that come in pieces (`thoughts.rs`), so that they
//! agree.

use std::ops::Range;

use super::super::repair::is_quote;
use crate::text::floor_char_boundary;

/// Also with a second name: `<think:name>`, `<name:think>`.
/// The names of tags, in letters of either case: `<think>`.
///
const NAMES: [&str; 10] = [
    "think",
    "thinking",
    "thought",
    "thoughts",
    "reason",
    "reasoning",
    "reflection",
    "scratchpad",
    "analysis",
    "antthinking",
];

/// Marks that are no tags, each with those that close it.
pub(super) const PAIRS: [(&str, &[&str]); 10] = [
    ("◁think▷", &["◁/think▷"]),
    ("[THINK]", &["[/THINK]"]),
    ("<|think|>", &["<|/think|>", "<|content|>"]),
    ("<|START_THINKING|>", &["<|END_THINKING|>"]),
    ("<|begin_of_thought|>", &["<|end_of_thought|>"]),
    ("<|think_start|>", &["<|think_end|>"]),
    ("<|inner_prefix|>", &["<|inner_suffix|>"]),
    ("<|open|>think<|sep|>", &["<|close|>think<|sep|>"]),
    ("<|channel>thought", &["<channel|>"]),
    ("<unused94>thought", &["<unused95>"]),
];

/// The header of a channel, of which `final` is the answer:
/// `<|start|>assistant<|channel|>analysis<|message|>`.
pub(super) const CHANNEL: &str = "<|channel|>";
pub(super) const MESSAGE: &str = "<|message|>";
pub(super) const START: &str = "<|start|>assistant";
/// How far a header is looked for, in bytes.
pub(super) const LONGEST_HEADER: usize = 200;

/// A mark around thinking. A closing one closes only the mark of its own name.
#[derive(Debug)]
pub(crate) struct Tag {
    pub(crate) at: Range<usize>,
    pub(super) name: &'static str,
    pub(crate) opens: bool,
}

/// The byte behind the mark that closes this one. Other marks in between are part of the thinking.
pub(crate) fn find_closing(text: &str, open: &Tag) -> Option<usize> {
    let mut at = open.at.end;
    loop {
        let rest = &text.as_bytes()[at..];
        at += rest
            .iter()
            .position(|byte| matches!(byte, b'<' | b'[' | 0xe2))?;
        match tag_at(text, at, open.at.end) {
            Some(tag) if !tag.opens && tag.name == open.name => return Some(tag.at.end),
            Some(tag) => at = tag.at.end,
            None => at += 1,
        }
    }
}

/// The mark at this byte. A quoted one is text *about* thinking. A header may begin
/// before `at`, but not before `from`.
pub(crate) fn tag_at(text: &str, at: usize, from: usize) -> Option<Tag> {
    mark_at(text, at, from).filter(|tag| !is_quoted(text, &tag.at))
}

/// A mark at this byte, quoted or not.
fn mark_at(text: &str, at: usize, from: usize) -> Option<Tag> {
    // Cheap filter: JSON has many brackets, and prose many dashes.
    if !matches!(
        text.as_bytes()[at..],
        [b'<', ..] | [b'[', b'T' | b'/', ..] | [0xe2, 0x97, ..]
    ) {
        return None;
    }
    let rest = &text[at..];
    if let Some(header) = rest.strip_prefix(CHANNEL) {
        return channel(text, at, from, header);
    }
    for (open, closers) in PAIRS {
        if let Some((length, opens)) = mark_of_pair(rest, open, closers) {
            return Some(Tag {
                at: at..at + length,
                name: open,
                opens,
            });
        }
    }
    named(at, rest)
}

/// The length of a mark of this pair that stands here, and whether it opens.
fn mark_of_pair(rest: &str, open: &str, closers: &[&str]) -> Option<(usize, bool)> {
    if rest.starts_with(open) {
        return Some((open.len(), true));
    }
    let close = closers.iter().find(|close| rest.starts_with(**close))?;
    Some((close.len(), false))
}

/// A tag of [`NAMES`]. Of two names, one must be `think`: namespaces of XML have common words, too.
fn named(at: usize, rest: &str) -> Option<Tag> {
    const LONGEST: usize = 40;
    let behind = rest.strip_prefix('<')?;
    let (opens, inner) = match behind.strip_prefix('/') {
        Some(inner) => (false, inner),
        None => (true, behind),
    };
    let length = inner
        .bytes()
        .take(LONGEST)
        .take_while(|byte| is_in_name(*byte))
        .count();
    if !inner[length..].starts_with('>') {
        return None;
    }
    let both = &inner[..length];
    let name = match both.split_once(':') {
        None => name_of_thinking(both)?,
        Some((first, second)) => {
            let is_think = [first, second]
                .iter()
                .any(|part| name_of_thinking(part) == Some("think"));
            is_think.then_some("think")?
        }
    };
    let begin_length = rest.len() - inner.len();
    let end = at + begin_length + length + 1;
    Some(Tag {
        at: at..end,
        name,
        opens,
    })
}

/// Of tags, with the sign between two names.
pub(super) fn is_in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'_' | b'-')
}

fn name_of_thinking(part: &str) -> Option<&'static str> {
    NAMES
        .into_iter()
        .find(|name| part.eq_ignore_ascii_case(name))
}

/// The answer's header ends thinking, any other begins it.
///
/// A header of the answer without its end is text. Another one counts even then,
/// since what follows is no answer.
fn channel(text: &str, at: usize, from: usize, header: &str) -> Option<Tag> {
    let name = header.trim_start_matches(' ');
    let length = name.bytes().take_while(u8::is_ascii_alphabetic).count();
    let opens = !name[..length].eq_ignore_ascii_case("final");
    let near = &header[..floor_char_boundary(header, LONGEST_HEADER)];
    let line = near.split('\n').next().unwrap_or("");
    let end = match line.find(MESSAGE) {
        Some(found) => found + MESSAGE.len(),
        None if opens => header.len() - name.len() + length,
        None => return None,
    };
    Some(Tag {
        at: header_begin(text, at, from)..at + CHANNEL.len() + end,
        name: CHANNEL,
        opens,
    })
}

/// Where the header begins whose channel is at `at`: with the role before it, if
/// that is near and not before `from`.
fn header_begin(text: &str, at: usize, from: usize) -> usize {
    let before = text[..at].trim_end_matches(' ');
    let spaces = at - before.len();
    match before.strip_suffix(START) {
        Some(outside) if outside.len() >= from && spaces <= LONGEST_HEADER => outside.len(),
        _ => at,
    }
}

/// Any two quotation marks count, so that `"<think>”` is a quotation as well.
fn is_quoted(text: &str, at: &Range<usize>) -> bool {
    text[..at.start].ends_with(is_quote) && text[at.end..].starts_with(is_quote)
}
