//! The marks that models write around their thoughts.

use std::ops::Range;

use super::super::error::boundary;
use super::super::find::first_of;
use super::super::repair::is_quote;

/// Names of tags: `<think>..</think>`. Also `<think:name>` and `<name:think>`.
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

/// Marks of other forms, and what ends what they begin.
const PAIRS: [(&str, &[&str]); 10] = [
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

/// What begins a message on one of several channels, of which `final` is the one for the reader:
/// `<|start|>assistant<|channel|>analysis<|message|>`.
const CHANNEL: &str = "<|channel|>";
const MESSAGE: &str = "<|message|>";
const START: &str = "<|start|>assistant";
const ENDS: [&str; 2] = ["<|return|>", "<|end|>"];

/// A mark of thoughts.
pub(super) struct Tag {
    pub(super) at: Range<usize>,
    /// What its partner has as well.
    pub(super) name: &'static str,
    pub(super) opens: bool,
}

impl Tag {
    /// Whether it is one of channels, which end with a mark of their own.
    pub(super) fn is_channel(&self) -> bool {
        self.name == CHANNEL
    }
}

/// Whether a mark may stand in the text at all: most have none of what one begins with, which is found out fast.
pub(super) fn may_stand_in(text: &str) -> bool {
    text.contains('<') || text.contains('◁') || text.contains("THINK]")
}

/// The next mark at `from` or behind it, but for those in quotation marks, which are mentions.
pub(super) fn next_tag(text: &str, from: usize) -> Option<Tag> {
    let mut at = from;
    loop {
        // The last one begins `◁`.
        at += first_of(&text.as_bytes()[at..], |byte| matches!(byte, b'<' | b'[' | 0xe2))?;
        match tag_at(text, at, from) {
            Some(tag) if is_quoted(text, &tag.at) => at = tag.at.end,
            Some(tag) => return Some(tag),
            None => at += 1,
        }
    }
}

/// The text before `end` without the mark that ends the last channel.
pub(super) fn without_end(text: &str, start: usize) -> usize {
    let rest = text[start..].trim_end();
    let rest = ENDS.iter().find_map(|end| rest.strip_suffix(end)).unwrap_or(&text[start..]);
    start + rest.len()
}

/// The mark at `at`, of which nothing stands before `from`.
fn tag_at(text: &str, at: usize, from: usize) -> Option<Tag> {
    // JSON has many brackets, and prose many dashes.
    if !matches!(text.as_bytes()[at..], [b'<', ..] | [b'[', b'T' | b'/', ..] | [0xe2, 0x97, ..]) {
        return None;
    }
    let rest = &text[at..];
    if let Some(header) = rest.strip_prefix(CHANNEL) {
        return channel(text, at, from, header);
    }
    let pair = PAIRS.iter().find_map(|(open, closers)| {
        let closes =
            || closers.iter().find(|close| rest.starts_with(**close)).map(|close| (close.len(), false));
        let (length, opens) = if rest.starts_with(open) { Some((open.len(), true)) } else { closes() }?;
        Some(Tag { at: at..at + length, name: open, opens })
    });
    pair.or_else(|| named(at, rest))
}

/// `<think>`, `</think>`.
fn named(at: usize, rest: &str) -> Option<Tag> {
    const LONGEST: usize = 40;
    let inner = rest.strip_prefix('<')?;
    let (opens, inner) = inner.strip_prefix('/').map_or((true, inner), |inner| (false, inner));
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'_' | b'-');
    let length = inner.bytes().take(LONGEST).take_while(is_part).count();
    if !inner[length..].starts_with('>') {
        return None;
    }
    let whole = &inner[..length];
    let is = |part: &str| NAMES.into_iter().find(|name| part.eq_ignore_ascii_case(name));
    let name = match whole.split_once(':') {
        None => is(whole)?,
        Some((first, second)) => [first, second].into_iter().filter_map(is).find(|name| *name == "think")?,
    };
    let end = at + rest.len() - inner.len() + length + 1;
    Some(Tag { at: at..end, name, opens })
}

/// The header of a message: that of the answer ends thoughts, each other one begins them.
fn channel(text: &str, at: usize, from: usize, header: &str) -> Option<Tag> {
    const LONGEST: usize = 200;
    let (all, name) = (header.len(), header.trim_start_matches(' '));
    let length = name.bytes().take_while(u8::is_ascii_alphabetic).count();
    let before = text[..at].trim_end_matches(' ');
    let begin = before.strip_suffix(START).map(str::len).filter(|begin| *begin >= from).unwrap_or(at);
    let opens = !name[..length].eq_ignore_ascii_case("final");
    let header = header[..boundary(header, LONGEST.min(header.len()))].split('\n').next().unwrap_or("");
    let message = header.find(MESSAGE);
    let end = match message {
        Some(found) => found + MESSAGE.len(),
        None if opens => all - name.len() + length,
        None => return None,
    };
    Some(Tag { at: begin..at + CHANNEL.len() + end, name: CHANNEL, opens })
}

/// Whether it is a mention of a tag: `"</think>"`.
fn is_quoted(text: &str, at: &Range<usize>) -> bool {
    text[..at.start].ends_with(is_quote) && text[at.end..].starts_with(is_quote)
}
