//! Finds where the JSON starts in a text that is still being written: at its start, after the model's thoughts, or at
//! the start of a line in prose, as in a fence.

use super::super::find::{Tag, find_closing, tag_at};
use crate::text::floor_char_boundary;

/// Bytes; no mark of thinking is longer.
const MAX_MARK: usize = 256;

#[derive(Debug, Default)]
pub(super) enum Preamble {
    #[default]
    Nothing,
    Undecided(String),
    /// The text is the last part, where a closing mark may have begun.
    Thinking(String, Tag),
    Prose(Line),
    Json,
}

#[derive(Debug, Default)]
pub(super) struct Line {
    at_start: bool,
    /// Characters of a fence at the start.
    ticks: usize,
    in_fence: bool,
    /// Starts with `[`: a list of objects, or a note.
    bracket: bool,
}

impl Preamble {
    pub(super) fn prose(at_start: bool) -> Self {
        Preamble::Prose(Line {
            at_start,
            ..Line::default()
        })
    }

    pub(super) fn is_open(&self) -> bool {
        !matches!(self, Preamble::Json)
    }

    pub(super) fn push(&mut self, text: &str) -> Option<String> {
        let (mut known, mut text) = match std::mem::take(self) {
            Preamble::Json => {
                *self = Preamble::Json;
                return None;
            }
            Preamble::Nothing => (Preamble::Nothing, text.to_owned()),
            Preamble::Undecided(before) => (Preamble::Nothing, before + text),
            Preamble::Thinking(before, tag) => {
                (Preamble::Thinking(String::new(), tag), before + text)
            }
            prose @ Preamble::Prose(_) => (prose, text.to_owned()),
        };
        loop {
            let (next, rest) = match known {
                Preamble::Nothing | Preamble::Undecided(_) => classify(text),
                Preamble::Thinking(_, tag) => skip_thinking(text, tag),
                Preamble::Prose(line) => line.read(text),
                Preamble::Json => (Preamble::Json, Some(text)),
            };
            match (next, rest) {
                (Preamble::Json, rest) => {
                    *self = Preamble::Json;
                    return rest;
                }
                (next, None) => {
                    *self = next;
                    return None;
                }
                (next, Some(rest)) => (known, text) = (next, rest),
            }
        }
    }
}

fn classify(text: String) -> (Preamble, Option<String>) {
    let begun = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let mut chars = begun.chars();
    match (chars.next(), chars.next()) {
        (None, _) => (Preamble::Nothing, None),
        (Some('['), None) => (Preamble::Undecided(begun.to_owned()), None),
        (Some('<' | '◁'), _) | (Some('['), Some('T')) => match tag_at(begun, 0, 0) {
            Some(tag) if tag.opens => (
                Preamble::Thinking(String::new(), tag),
                Some(begun.to_owned()),
            ),
            None if begun.len() < MAX_MARK && !begun.contains(['\n', ' ']) => {
                (Preamble::Undecided(begun.to_owned()), None)
            }
            _ => (Preamble::prose(false), Some(begun.to_owned())),
        },
        (Some('{' | '[' | '"' | '-' | '0'..='9' | 't' | 'f' | 'n'), _) => {
            (Preamble::Json, Some(begun.to_owned()))
        }
        _ => (Preamble::prose(true), Some(begun.to_owned())),
    }
}

/// Keeps only as much text as a mark may need.
fn skip_thinking(text: String, tag: Tag) -> (Preamble, Option<String>) {
    if let Some(end) = find_closing(&text, &tag) {
        return (Preamble::Nothing, Some(text[end..].to_owned()));
    }
    let from = floor_char_boundary(&text, text.len().saturating_sub(MAX_MARK)).max(tag.at.end);
    let kept = text[..tag.at.end].to_owned() + &text[from..];
    (Preamble::Thinking(kept, tag), None)
}

impl Line {
    fn read(mut self, text: String) -> (Preamble, Option<String>) {
        for (at, c) in text.char_indices() {
            if self.bracket && !c.is_whitespace() {
                if c == '{' {
                    return (Preamble::Json, Some(format!("[{}", &text[at..])));
                }
                (self.bracket, self.at_start) = (false, false);
            }
            match c {
                _ if self.bracket => {}
                '\n' => (self.at_start, self.ticks) = (true, 0),
                _ if !self.at_start || c.is_whitespace() => {}
                '`' | '~' => {
                    self.ticks += 1;
                    if self.ticks == 3 {
                        (self.in_fence, self.at_start) = (!self.in_fence, false);
                    }
                }
                '{' => return (Preamble::Json, Some(text[at..].to_owned())),
                '[' if self.in_fence => return (Preamble::Json, Some(text[at..].to_owned())),
                '[' => self.bracket = true,
                _ => self.at_start = false,
            }
        }
        (Preamble::Prose(self), None)
    }
}
