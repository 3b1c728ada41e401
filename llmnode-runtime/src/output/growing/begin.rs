//! Finds where the JSON starts in a text that is still being written: at its start, after the model's thoughts, or at
//! the start of a line in prose, as in a fence.

use super::super::find::{Tag, closing, tag_at};
use crate::text::floor_char_boundary;

/// A mark of thoughts is not longer than this.
const MARK: usize = 256;

/// What is known of the start of the JSON.
#[derive(Debug, Default)]
pub(super) enum Begin {
    /// Nothing but white space has been written.
    #[default]
    Nothing,
    /// The text so far is too short to tell.
    Little(String),
    /// Inside thoughts, which this mark opened. The text is the mark and the last part of the thoughts.
    Thoughts(String, Tag),
    Prose(Line),
    /// The JSON has started.
    Json,
}

#[derive(Debug, Default)]
pub(super) struct Line {
    /// Only white space has come since the start of the line.
    at_start: bool,
    /// How many characters of a fence the line starts with.
    ticks: usize,
    in_fence: bool,
    /// The line starts with a bracket, which opens a list of objects or a note.
    bracket: bool,
}

impl Begin {
    pub(super) fn prose(at_start: bool) -> Self {
        Begin::Prose(Line { at_start, ..Line::default() })
    }

    pub(super) fn is_open(&self) -> bool {
        !matches!(self, Begin::Json)
    }

    /// Reads more text. Returns the first text of the JSON, or `None` if it has not started or had started before.
    pub(super) fn push(&mut self, text: &str) -> Option<String> {
        let (mut known, mut text) = match std::mem::take(self) {
            Begin::Json => {
                *self = Begin::Json;
                return None;
            }
            Begin::Nothing => (Begin::Nothing, text.to_owned()),
            Begin::Little(before) => (Begin::Nothing, before + text),
            Begin::Thoughts(before, tag) => (Begin::Thoughts(String::new(), tag), before + text),
            prose @ Begin::Prose(_) => (prose, text.to_owned()),
        };
        loop {
            let (next, rest) = match known {
                Begin::Nothing | Begin::Little(_) => first(text),
                Begin::Thoughts(_, tag) => thoughts(text, tag),
                Begin::Prose(line) => line.read(text),
                Begin::Json => (Begin::Json, Some(text)),
            };
            match (next, rest) {
                (Begin::Json, rest) => {
                    *self = Begin::Json;
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

/// What kind of text starts like this, and what of it is left to read.
fn first(text: String) -> (Begin, Option<String>) {
    let begun = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let mut chars = begun.chars();
    match (chars.next(), chars.next()) {
        (None, _) => (Begin::Nothing, None),
        (Some('['), None) => (Begin::Little(begun.to_owned()), None),
        (Some('<' | '◁'), _) | (Some('['), Some('T')) => match tag_at(begun, 0, 0) {
            Some(tag) if tag.opens => (Begin::Thoughts(String::new(), tag), Some(begun.to_owned())),
            None if begun.len() < MARK && !begun.contains(['\n', ' ']) => {
                (Begin::Little(begun.to_owned()), None)
            }
            _ => (Begin::prose(false), Some(begun.to_owned())),
        },
        (Some('{' | '[' | '"' | '-' | '0'..='9' | 't' | 'f' | 'n'), _) => {
            (Begin::Json, Some(begun.to_owned()))
        }
        _ => (Begin::prose(true), Some(begun.to_owned())),
    }
}

/// The end of thoughts. Of what is read, only as much is kept as a mark may need.
fn thoughts(text: String, tag: Tag) -> (Begin, Option<String>) {
    if let Some(end) = closing(&text, &tag) {
        return (Begin::Nothing, Some(text[end..].to_owned()));
    }
    let from = floor_char_boundary(&text, text.len().saturating_sub(MARK)).max(tag.at.end);
    let kept = text[..tag.at.end].to_owned() + &text[from..];
    (Begin::Thoughts(kept, tag), None)
}

impl Line {
    /// Reads prose up to the JSON in it.
    fn read(mut self, text: String) -> (Begin, Option<String>) {
        for (at, c) in text.char_indices() {
            if self.bracket && !c.is_whitespace() {
                if c == '{' {
                    return (Begin::Json, Some(format!("[{}", &text[at..])));
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
                '{' => return (Begin::Json, Some(text[at..].to_owned())),
                '[' if self.in_fence => return (Begin::Json, Some(text[at..].to_owned())),
                '[' => self.bracket = true,
                _ => self.at_start = false,
            }
        }
        (Begin::Prose(self), None)
    }
}
