//! The marks that models write around their thinking.

use std::ops::Range;

use super::super::repair::is_quote;
use crate::text::floor_char_boundary;

/// Also with a second name: `<think:name>`, `<name:think>`.
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

/// The header of a channel, of which `final` is the answer: `<|start|>assistant<|channel|>analysis<|message|>`.
pub(super) const CHANNEL: &str = "<|channel|>";
pub(super) const MESSAGE: &str = "<|message|>";
pub(super) const START: &str = "<|start|>assistant";
/// How far a header is looked for, in bytes.
pub(super) const LONGEST_HEADER: usize = 200;

#[derive(Debug)]
pub(crate) struct Tag {
    pub(crate) at: Range<usize>,
    pub(super) name: &'static str,
    pub(crate) opens: bool,
}

pub(crate) fn find_closing(text: &str, open: &Tag) -> Option<usize> {
    let mut at = open.at.end;
    loop {
        at += text.as_bytes()[at..]
            .iter()
            .position(|byte| matches!(byte, b'<' | b'[' | 0xe2))?;
        match tag_at(text, at, open.at.end) {
            Some(tag) if !tag.opens && tag.name == open.name => return Some(tag.at.end),
            Some(tag) => at = tag.at.end,
            None => at += 1,
        }
    }
}

/// Ignores quoted marks. A header may begin before `at`, but not before `from`.
pub(crate) fn tag_at(text: &str, at: usize, from: usize) -> Option<Tag> {
    mark_at(text, at, from).filter(|tag| !is_quoted(text, &tag.at))
}

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
    let pair = PAIRS.iter().find_map(|(open, closers)| {
        let closes = || {
            closers
                .iter()
                .find(|close| rest.starts_with(**close))
                .map(|close| (close.len(), false))
        };
        let (length, opens) = if rest.starts_with(open) {
            Some((open.len(), true))
        } else {
            closes()
        }?;
        Some(Tag {
            at: at..at + length,
            name: open,
            opens,
        })
    });
    pair.or_else(|| named(at, rest))
}

fn named(at: usize, rest: &str) -> Option<Tag> {
    const LONGEST: usize = 40;
    let inner = rest.strip_prefix('<')?;
    let (opens, inner) = inner
        .strip_prefix('/')
        .map_or((true, inner), |inner| (false, inner));
    let length = inner
        .bytes()
        .take(LONGEST)
        .take_while(|byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'_' | b'-'))
        .count();
    if !inner[length..].starts_with('>') {
        return None;
    }
    let whole = &inner[..length];
    let is = |part: &str| {
        NAMES
            .into_iter()
            .find(|name| part.eq_ignore_ascii_case(name))
    };
    let name = match whole.split_once(':') {
        None => is(whole)?,
        Some((first, second)) => [first, second]
            .into_iter()
            .filter_map(is)
            .find(|name| *name == "think")?,
    };
    let end = at + rest.len() - inner.len() + length + 1;
    Some(Tag {
        at: at..end,
        name,
        opens,
    })
}

/// The answer's header ends thinking, any other begins it.
fn channel(text: &str, at: usize, from: usize, header: &str) -> Option<Tag> {
    let all = header.len();
    let name = header.trim_start_matches(' ');
    let length = name.bytes().take_while(u8::is_ascii_alphabetic).count();
    let before = text[..at].trim_end_matches(' ');
    let begin = before
        .strip_suffix(START)
        .map(str::len)
        .filter(|begin: &usize| *begin >= from && at - before.len() <= LONGEST_HEADER)
        .unwrap_or(at);
    let opens = !name[..length].eq_ignore_ascii_case("final");
    let header = header[..floor_char_boundary(header, LONGEST_HEADER)]
        .split('\n')
        .next()
        .unwrap_or("");
    let message = header.find(MESSAGE);
    let end = match message {
        Some(found) => found + MESSAGE.len(),
        None if opens => all - name.len() + length,
        None => return None,
    };
    Some(Tag {
        at: begin..at + CHANNEL.len() + end,
        name: CHANNEL,
        opens,
    })
}

fn is_quoted(text: &str, at: &Range<usize>) -> bool {
    text[..at.start].ends_with(is_quote) && text[at.end..].starts_with(is_quote)
}
