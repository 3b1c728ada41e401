//! Finds where the JSON starts in a text that is still being written: at its start,
//! after the model's thoughts, or at the start of a line in prose, as in a fence.
//!
//! What was written cannot be taken back, so a begin that may still become
//! something else waits: a `<` may be a mark of thinking, a `[` a list or a note.
//! What waits is bounded, by the longest mark.

use super::super::find::{Tag, find_closing, tag_at};
use crate::text::floor_char_boundary;

/// Bytes; no mark of thinking is longer.
const MAX_MARK: usize = 256;

/// What the text has been so far.
#[derive(Debug, Default)]
pub(super) enum Preamble {
    /// Nothing but space.
    #[default]
    Nothing,
    /// The begin of a mark, or not.
    Undecided(String),
    /// The text is the last part, where a closing mark may have begun.
    Thinking(String, Tag),
    /// Words, in which JSON begins at the start of a line.
    Prose(Line),
    /// The JSON has begun. What follows is for the parser.
    Json,
}

/// Where in a line of prose the text ends.
#[derive(Debug, Default)]
pub(super) struct Line {
    at_start: bool,
    /// Characters of a fence at the start.
    ticks: usize,
    in_fence: bool,
    /// Starts with `[`: a list of objects, or a note.
    bracket: bool,
}

/// What the text is up to a place, and what follows it. `None`: all was read.
struct Classified {
    preamble: Preamble,
    rest: Option<String>,
}

impl Classified {
    /// All was read, and more text may follow.
    fn waiting(preamble: Preamble) -> Self {
        Classified {
            preamble,
            rest: None,
        }
    }

    /// Something else begins in this text.
    fn followed_by(preamble: Preamble, rest: impl Into<String>) -> Self {
        Classified {
            preamble,
            rest: Some(rest.into()),
        }
    }
}

impl Preamble {
    /// `at_start`: at the start of a line, where JSON may begin.
    pub(super) fn prose(at_start: bool) -> Self {
        Preamble::Prose(Line {
            at_start,
            ..Line::default()
        })
    }

    pub(super) fn is_open(&self) -> bool {
        !matches!(self, Preamble::Json)
    }

    /// Takes the next piece. Returns the text from the begin of the JSON on, when it is found.
    pub(super) fn push(&mut self, text: &str) -> Option<String> {
        let mut current = match std::mem::take(self) {
            Preamble::Json => {
                *self = Preamble::Json;
                return None;
            }
            Preamble::Nothing => Classified::followed_by(Preamble::Nothing, text),
            Preamble::Undecided(before) => {
                Classified::followed_by(Preamble::Nothing, before + text)
            }
            Preamble::Thinking(before, tag) => {
                let thinking = Preamble::Thinking(String::new(), tag);
                Classified::followed_by(thinking, before + text)
            }
            prose @ Preamble::Prose(_) => Classified::followed_by(prose, text),
        };
        loop {
            let Some(text) = current.rest else {
                *self = current.preamble;
                return None;
            };
            current = match current.preamble {
                Preamble::Nothing | Preamble::Undecided(_) => classify(text),
                Preamble::Thinking(_, tag) => skip_thinking(text, tag),
                Preamble::Prose(line) => line.read(text),
                Preamble::Json => {
                    *self = Preamble::Json;
                    return Some(text);
                }
            };
        }
    }
}

/// What begins here, by the first characters.
fn classify(text: String) -> Classified {
    let begun = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let mut chars = begun.chars();
    match (chars.next(), chars.next()) {
        (None, _) => Classified::waiting(Preamble::Nothing),
        (Some('['), None) => Classified::waiting(Preamble::Undecided(begun.to_owned())),
        (Some('<' | '◁'), _) | (Some('['), Some('T')) => classify_mark(begun),
        (Some('{' | '[' | '"' | '-' | '0'..='9' | 't' | 'f' | 'n'), _) => {
            Classified::followed_by(Preamble::Json, begun)
        }
        _ => Classified::followed_by(Preamble::prose(true), begun),
    }
}

/// A mark of thinking, the begin of one, or prose.
fn classify_mark(begun: &str) -> Classified {
    let may_grow = begun.len() < MAX_MARK && !begun.contains(['\n', ' ']);
    match tag_at(begun, 0, 0) {
        Some(tag) if tag.opens => {
            let thinking = Preamble::Thinking(String::new(), tag);
            Classified::followed_by(thinking, begun)
        }
        None if may_grow => Classified::waiting(Preamble::Undecided(begun.to_owned())),
        _ => Classified::followed_by(Preamble::prose(false), begun),
    }
}

/// Goes behind the thinking, or waits for its end. Keeps only as much text as a mark may need.
fn skip_thinking(text: String, tag: Tag) -> Classified {
    if let Some(end) = find_closing(&text, &tag) {
        return Classified::followed_by(Preamble::Nothing, &text[end..]);
    }
    let last = floor_char_boundary(&text, text.len().saturating_sub(MAX_MARK));
    let from = last.max(tag.at.end);
    let kept = text[..tag.at.end].to_owned() + &text[from..];
    Classified::waiting(Preamble::Thinking(kept, tag))
}

impl Line {
    /// Reads on in prose, up to JSON at the start of a line.
    fn read(mut self, text: String) -> Classified {
        for (at, c) in text.char_indices() {
            if self.bracket && !c.is_whitespace() {
                if c == '{' {
                    let list = format!("[{}", &text[at..]);
                    return Classified::followed_by(Preamble::Json, list);
                }
                self.bracket = false;
                self.at_start = false;
            }
            match c {
                _ if self.bracket => {}
                '\n' => {
                    self.at_start = true;
                    self.ticks = 0;
                }
                _ if !self.at_start || c.is_whitespace() => {}
                '`' | '~' => {
                    self.ticks += 1;
                    if self.ticks == 3 {
                        self.in_fence = !self.in_fence;
                        self.at_start = false;
                    }
                }
                '{' => return Classified::followed_by(Preamble::Json, &text[at..]),
                '[' if self.in_fence => {
                    return Classified::followed_by(Preamble::Json, &text[at..]);
                }
                '[' => self.bracket = true,
                _ => self.at_start = false,
            }
        }
        Classified::waiting(Preamble::Prose(self))
    }
}
