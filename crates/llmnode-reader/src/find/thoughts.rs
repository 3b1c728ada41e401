//! Thoughts in a text, found while it comes.
//!
//! In comes a text in pieces of any size; out go the same characters in order, each as a thought or as the answer, and no
//! mark of a thought. What is read as a whole is one piece, so that a text comes to the same however it is cut: a piece that
//! may be the begin of a mark waits for the next one.
//!
//! The marks are those of [`thinking`](super::thinking). They count
//!
//! 1. first in a text: what they enclose is thoughts, and the answer is what follows, without the space before it;
//! 2. if the first mark of a text ends thoughts that did not begin, since a template may have begun them in the prompt: all
//!    before it was thoughts ([`Spoken::Void`]). The text may also *mention* such a mark, so it counts only where it ends a
//!    line or has the answer right behind it, and not in code;
//! 3. as headers of channels, of which `final` is the answer. A header that names a recipient is a call, and stays.
//!
//! Behind an answer that has begun, a mark is a part of it.

use std::ops::Range;

use super::super::repair::is_quote;
use super::thinking::{CHANNEL, LONGEST_HEADER, MESSAGE, PAIRS, START, Tag, tag_at};
use crate::text::floor_char_boundary;

/// A piece of a text in which there may be thoughts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spoken<'t> {
    /// Of the answer.
    Answer(&'t str),
    /// Of the thoughts.
    Thought(&'t str),
    /// All of the answer so far was thoughts, which follow. The answer begins behind them.
    Void,
}

/// Ends a message of a channel.
const ENDS: [&str; 3] = ["<|end|>", "<|return|>", "<|call|>"];

/// Names that templates put into prompts: the model writes only the end of the thoughts.
const BEGUN_BY_TEMPLATES: [&str; 3] = ["think", "thinking", CHANNEL];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing but space so far, or since the last thoughts.
    Begin,
    /// Behind this mark.
    Thinking { name: &'static str, from: usize },
    /// Its first mark may end thoughts that did not begin.
    Answer,
    /// All is the answer.
    Rest,
}

enum Found {
    Nothing,
    /// More text may make it a mark.
    Incomplete,
    Mark(Tag),
}

/// Divides a text into thoughts and answer while it comes.
#[derive(Debug)]
pub struct Thoughts {
    text: String,
    state: State,
    /// Up to here the text is read.
    at: usize,
    /// Up to here it is shown.
    shown: usize,
    /// Behind what is shown, up to here there is only what may not be shown.
    waits: usize,
    before: Before,
    has_thoughts: bool,
    has_channels: bool,
    /// Space at their begin is left out.
    begins_thoughts: bool,
}

/// What stands before a mark that may end thoughts, each byte looked at once.
#[derive(Debug, Default)]
struct Before {
    /// Up to here the text is read.
    at: usize,
    fences: usize,
    /// Where the line begins.
    line: usize,
    /// Backticks in the line.
    ticks: usize,
}

impl Before {
    /// No fence is partly behind `end`, where a mark begins.
    fn read_to(&mut self, text: &str, end: usize) {
        let Some(piece) = text.get(self.at..end) else {
            return;
        };
        self.fences += piece.matches("```").count();
        let line = piece.rsplit('\n').next().unwrap_or_default();
        if line.len() < piece.len() {
            self.line = end - line.len();
            self.ticks = 0;
        }
        self.ticks += line.matches('`').count();
        self.at = end;
    }

    fn is_code(&self) -> bool {
        self.fences % 2 == 1 || self.ticks % 2 == 1
    }
}

impl Default for Thoughts {
    fn default() -> Self {
        Thoughts {
            text: String::new(),
            state: State::Begin,
            at: 0,
            shown: 0,
            waits: 0,
            before: Before::default(),
            has_thoughts: false,
            has_channels: false,
            begins_thoughts: true,
        }
    }
}

/// The answer and the thoughts of a text. `None`: it has no thoughts.
pub fn without_thoughts(text: &str) -> Option<(String, String)> {
    if !text.contains(['<', '[', '◁']) {
        return None;
    }
    let mut read = Thoughts::default();
    let mut answer = String::new();
    let mut thoughts = String::new();
    let mut add = |piece: Spoken<'_>| match piece {
        Spoken::Answer(piece) => answer += piece,
        Spoken::Thought(piece) => thoughts += piece,
        Spoken::Void => answer.clear(),
    };
    read.push(text, &mut add);
    read.end(&mut add);
    read.has_thoughts.then_some((answer, thoughts))
}

impl Thoughts {
    /// Takes the next piece of the text.
    pub fn push(&mut self, piece: &str, show: &mut dyn FnMut(Spoken<'_>)) {
        if self.state == State::Rest && !self.has_channels && self.shown == self.text.len() {
            if !piece.is_empty() {
                show(Spoken::Answer(piece));
            }
            return;
        }
        self.text.push_str(piece);
        self.read(false, show);
    }

    /// Shows what has waited.
    pub fn end(&mut self, show: &mut dyn FnMut(Spoken<'_>)) {
        self.read(true, show);
    }

    fn read(&mut self, is_end: bool, show: &mut dyn FnMut(Spoken<'_>)) {
        loop {
            let before = self.state;
            let goes_on = match before {
                State::Begin => self.begin(is_end, show),
                State::Thinking { name, from } => self.thinking(name, from, is_end, show),
                State::Answer => self.answer(is_end, show),
                State::Rest => self.rest(is_end, show),
            };
            if !goes_on {
                return;
            }
        }
    }

    fn begin(&mut self, is_end: bool, show: &mut dyn FnMut(Spoken<'_>)) -> bool {
        let rest = self.text[self.at..].trim_start();
        if rest.is_empty() {
            if is_end && !self.has_thoughts {
                self.show_answer(self.text.len(), show);
            }
            self.at = self.text.len();
            return false;
        }
        let at = self.text.len() - rest.len();
        self.at = at;
        match self.find(at, at, is_end) {
            Found::Incomplete => return false,
            Found::Mark(tag) if tag.opens => {
                self.enter(&tag);
                self.state = State::Thinking {
                    name: tag.name,
                    from: tag.at.end,
                };
            }
            // The header of the answer, or thoughts that end before they begin.
            Found::Mark(tag) => self.enter(&tag),
            Found::Nothing => {
                if self.has_thoughts {
                    self.shown = at;
                    self.state = State::Rest;
                } else {
                    self.state = State::Answer;
                }
            }
        }
        true
    }

    fn enter(&mut self, tag: &Tag) {
        self.has_thoughts = true;
        self.has_channels |= tag.name == CHANNEL;
        self.begins_thoughts = true;
        self.at = tag.at.end;
        self.shown = tag.at.end;
    }

    fn thinking(
        &mut self,
        name: &'static str,
        from: usize,
        is_end: bool,
        show: &mut dyn FnMut(Spoken<'_>),
    ) -> bool {
        while let Some(at) = self.next_mark() {
            if let Some(end) = self.end_of_message(at) {
                self.show_thought(at, show);
                self.shown = at + end.len();
                self.at = self.shown;
                continue;
            }
            match self.find(at, from, is_end) {
                Found::Incomplete => {
                    self.show_thought(at, show);
                    self.at = at;
                    return false;
                }
                Found::Mark(tag) if tag.name == name && !tag.opens => {
                    self.show_thought(tag.at.start, show);
                    self.enter(&tag);
                    self.state = State::Begin;
                    return true;
                }
                // A further header of thoughts.
                Found::Mark(tag) if tag.name == name && name == CHANNEL => {
                    self.show_thought(tag.at.start, show);
                    self.enter(&tag);
                }
                Found::Mark(tag) => self.at = tag.at.end,
                Found::Nothing if self.is_call(at) => {
                    self.show_thought(at, show);
                    self.at = at;
                    self.shown = at;
                    self.state = State::Rest;
                    return true;
                }
                Found::Nothing => self.at = at + 1,
            }
        }
        self.show_thought(self.text.len(), show);
        self.at = self.text.len();
        false
    }

    fn answer(&mut self, is_end: bool, show: &mut dyn FnMut(Spoken<'_>)) -> bool {
        while let Some(at) = self.next_mark() {
            match self.find(at, 0, is_end) {
                Found::Incomplete => {
                    self.show_answer(at, show);
                    self.at = at;
                    return false;
                }
                Found::Mark(tag) if tag.opens => {
                    self.state = State::Rest;
                    return true;
                }
                Found::Mark(tag) => match self.ends_thoughts(&tag, is_end) {
                    None => {
                        self.show_answer(at, show);
                        self.at = at;
                        return false;
                    }
                    Some(false) => self.at = tag.at.end,
                    Some(true) => {
                        show(Spoken::Void);
                        self.shown = 0;
                        self.waits = 0;
                        self.begins_thoughts = true;
                        self.show_thought(tag.at.start, show);
                        self.enter(&tag);
                        self.state = State::Begin;
                        return true;
                    }
                },
                Found::Nothing => self.at = at + 1,
            }
        }
        self.show_answer(self.text.len(), show);
        self.at = self.text.len();
        false
    }

    /// Whether a mark without a begin ends thoughts, or is mentioned. `None`: the next character says it.
    fn ends_thoughts(&mut self, tag: &Tag, is_end: bool) -> Option<bool> {
        let is_pair = PAIRS.iter().any(|(open, _)| *open == tag.name);
        if !is_pair && !BEGUN_BY_TEMPLATES.contains(&tag.name) {
            return Some(false);
        }
        if tag.name == CHANNEL {
            return Some(true);
        }
        self.before.read_to(&self.text, tag.at.start);
        if self.before.is_code() {
            return Some(false);
        }
        match self.text[tag.at.end..].chars().next() {
            None if !is_end => None,
            None => Some(self.text[self.before.line..tag.at.start].trim().is_empty()),
            Some('\n' | '\r') => Some(true),
            Some(next) => {
                Some(!next.is_whitespace() && !is_quote(next) && !".,;:!?)]}/".contains(next))
            }
        }
    }

    /// The end of the last message of a channel is no part of it.
    fn rest(&mut self, is_end: bool, show: &mut dyn FnMut(Spoken<'_>)) -> bool {
        let mut end = self.text.len();
        if self.waits > self.shown && !is_end && self.text[self.waits..].trim().is_empty() {
            self.waits = end;
            return false;
        }
        if self.has_channels {
            let tail = self.text[self.shown..].trim_end();
            let begun = tail.rfind('<').map(|at| &tail[at..]);
            let ends = |tail: &str| ENDS.iter().any(|end| end.starts_with(tail));
            if let Some(begun) = begun.filter(|tail| ends(tail))
                && (!is_end || ENDS.contains(&begun))
            {
                self.waits = end;
                end = self.shown + tail.len() - begun.len();
            }
        }
        self.show_answer(end, show);
        self.at = end;
        false
    }

    /// Where a mark may begin.
    fn next_mark(&self) -> Option<usize> {
        let rest = &self.text.as_bytes()[self.at..];
        Some(
            self.at
                + rest
                    .iter()
                    .position(|byte| matches!(byte, b'<' | b'[' | 0xe2))?,
        )
    }

    fn find(&self, at: usize, from: usize, is_end: bool) -> Found {
        let rest = &self.text[at..];
        let mut mark = at;
        if let Some(behind) = rest.strip_prefix(START) {
            let spaces = behind.len();
            let behind = behind.trim_start_matches(' ');
            if spaces - behind.len() > LONGEST_HEADER {
                return Found::Nothing;
            }
            if behind.len() < CHANNEL.len() && CHANNEL.starts_with(behind) && !is_end {
                return Found::Incomplete;
            }
            if !behind.starts_with(CHANNEL) {
                return Found::Nothing;
            }
            mark = self.text.len() - behind.len();
        }
        if !is_end && may_grow(&self.text[mark..]) {
            return Found::Incomplete;
        }
        let Some(tag) = tag_at(&self.text, mark, from.min(at)).filter(|tag| tag.at.start >= at)
        else {
            return Found::Nothing;
        };
        // The next character may be the other quote.
        let quoted = self.text[..tag.at.start].ends_with(is_quote) && tag.at.end == self.text.len();
        if quoted && !is_end {
            return Found::Incomplete;
        }
        if tag.opens && tag.name == CHANNEL && names_recipient(&self.text[tag.at.clone()]) {
            return Found::Nothing;
        }
        Found::Mark(tag)
    }

    fn is_call(&self, at: usize) -> bool {
        let rest = &self.text[at..];
        let header = rest
            .strip_prefix(START)
            .unwrap_or(rest)
            .trim_start_matches(' ');
        let header = &header[..floor_char_boundary(header, CHANNEL.len() + LONGEST_HEADER)];
        header.starts_with(CHANNEL)
            && names_recipient(header.split_once(MESSAGE).map_or("", |(header, _)| header))
    }

    fn end_of_message(&self, at: usize) -> Option<&'static str> {
        ENDS.into_iter()
            .find(|end| self.has_channels && self.text[at..].starts_with(end))
    }

    fn show_answer(&mut self, end: usize, show: &mut dyn FnMut(Spoken<'_>)) {
        let piece: Range<usize> = self.shown..end;
        if piece.start < piece.end {
            show(Spoken::Answer(&self.text[piece]));
            self.shown = end;
        }
    }

    /// Space at the end of thoughts is not shown, so it waits.
    fn show_thought(&mut self, end: usize, show: &mut dyn FnMut(Spoken<'_>)) {
        let waits = self.waits.max(self.shown);
        if self
            .text
            .get(waits..end)
            .is_none_or(|piece| piece.trim().is_empty())
        {
            self.waits = waits.max(end);
            return;
        }
        let mut piece = &self.text[self.shown..end];
        if self.begins_thoughts {
            piece = piece.trim_start();
        }
        let begin = end - piece.len();
        let piece = piece.trim_end();
        self.begins_thoughts = false;
        self.shown = begin + piece.len();
        self.waits = end;
        show(Spoken::Thought(piece));
    }
}

fn names_recipient(header: &str) -> bool {
    header
        .split_whitespace()
        .any(|word| word.starts_with("to="))
}

/// Whether more text could make a mark of what begins here, or another one.
fn may_grow(rest: &str) -> bool {
    const LONGEST_NAME: usize = 40;
    if let Some(header) = rest.strip_prefix(CHANNEL) {
        return header.len() < LONGEST_HEADER
            && !header.contains(MESSAGE)
            && !header.contains('\n');
    }
    let mut fixed = PAIRS
        .iter()
        .flat_map(|(open, ends)| std::iter::once(open).chain(*ends));
    let others = [CHANNEL, START].into_iter().chain(ENDS);
    let begins = |mark: &str| rest.len() < mark.len() && mark.starts_with(rest);
    if fixed.any(|mark| begins(mark)) || others.into_iter().any(begins) {
        return true;
    }
    let Some(name) = rest.strip_prefix('<') else {
        return false;
    };
    let name = name.strip_prefix('/').unwrap_or(name);
    name.len() < LONGEST_NAME
        && name
            .bytes()
            .all(|byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answer and thoughts of a text in these pieces, as somebody who reads along has them at the end.
    fn divided<'p>(pieces: impl IntoIterator<Item = &'p str>) -> (String, String) {
        let mut read = Thoughts::default();
        let mut answer = String::new();
        let mut thoughts = String::new();
        let mut add = |piece: Spoken<'_>| match piece {
            Spoken::Answer(piece) => answer += piece,
            Spoken::Thought(piece) => thoughts += piece,
            Spoken::Void => answer.clear(),
        };
        pieces
            .into_iter()
            .for_each(|piece| read.push(piece, &mut add));
        read.end(&mut add);
        (answer, thoughts)
    }

    const THOUGHTS: [(&str, &str, &str); 22] = [
        ("<think>hmm</think>\n\nHello", "Hello", "hmm"),
        ("\n<think>\nhmm\n</think>\nHello\n", "Hello\n", "hmm"),
        ("<think>\n\n</think>\n\nHello", "Hello", ""),
        ("</think>\n\nHello", "Hello", ""),
        ("hmm</think>\n\nHello", "Hello", "hmm"),
        ("hmm\n</think>Hello", "Hello", "hmm"),
        ("hmm\n</think>", "", "hmm"),
        (
            "I quote `</think>` and go on.\n</think>\nHello",
            "Hello",
            "I quote `</think>` and go on.",
        ),
        (
            "<think>a < b</think><thinking>c</thinking>Hello",
            "Hello",
            "a < bc",
        ),
        (
            "<THINK>say \"</think>\" twice</THINK>Hello",
            "Hello",
            "say \"</think>\" twice",
        ),
        ("<think>hmm", "", "hmm"),
        (
            "<think>hmm</think>Say <think>x</think> or </think>\n.",
            "Say <think>x</think> or </think>\n.",
            "hmm",
        ),
        ("◁think▷hmm◁/think▷Hello", "Hello", "hmm"),
        ("[THINK]hmm[/THINK]Hello", "Hello", "hmm"),
        ("<|channel>thought\nhmm<channel|>Hello", "Hello", "hmm"),
        (
            "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Hello",
            "Hello",
            "hm",
        ),
        (
            "<|start|>assistant<|channel|>analysis<|message|>a\nb<|end|><|start|>assistant<|channel|>final<|message|>Hello<|return|>",
            "Hello",
            "a\nb",
        ),
        (
            "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary<|message|>b<|end|><|start|>assistant<|channel|>final <|constrain|>text<|message|>Hello<|en",
            "Hello<|en",
            "ab",
        ),
        ("<|channel|>final<|message|>Hello<|end|>", "Hello", ""),
        (
            "hm<|start|>assistant<|channel|>final<|message|>Hello",
            "Hello",
            "hm",
        ),
        (
            "<|channel|>commentary to=functions.shout <|constrain|>json<|message|>{\"value\":\"hi\"}<|call|>",
            "<|channel|>commentary to=functions.shout <|constrain|>json<|message|>{\"value\":\"hi\"}<|call|>",
            "",
        ),
        (
            "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary to=functions.f<|message|>{}",
            "<|start|>assistant<|channel|>commentary to=functions.f<|message|>{}",
            "hm",
        ),
    ];

    const MENTIONS: [&str; 14] = [
        "",
        " \n",
        "Hello",
        "Models write <think> before they think, and </think> behind.",
        "Close it with </think>.",
        "Close it with `</think>`",
        "It ends with </think>, see?",
        "As in:\n```\nhmm</think>\nHello\n```\n",
        "a < b, a <b> and [T] or ◁",
        "<b>Hello</b>",
        "`<think>` is a mark.",
        "<reason code=\"1\">late</reason>\nfine",
        "The answer is <",
        "Say <|channel|>analysis<|message|>x",
    ];

    #[test]
    fn thoughts_are_no_answer() {
        for (text, answer, thoughts) in THOUGHTS {
            assert_eq!(
                divided([text]),
                (answer.to_owned(), thoughts.to_owned()),
                "{text}"
            );
        }
        for text in MENTIONS {
            assert_eq!(divided([text]), (text.to_owned(), String::new()), "{text}");
            assert_eq!(without_thoughts(text), None, "{text}");
        }
        assert_eq!(
            without_thoughts("<think>hmm</think>\n\nHello"),
            Some(("Hello".to_owned(), "hmm".to_owned()))
        );
    }

    #[test]
    fn a_text_comes_to_the_same_however_it_is_cut() {
        for text in THOUGHTS.iter().map(|(text, ..)| *text).chain(MENTIONS) {
            let whole = divided([text]);
            let places: Vec<usize> = (0..=text.len())
                .filter(|at| text.is_char_boundary(*at))
                .collect();
            for (first, rest) in places
                .iter()
                .enumerate()
                .map(|(at, place)| (*place, &places[at..]))
            {
                for second in rest {
                    let pieces = [&text[..first], &text[first..*second], &text[*second..]];
                    assert_eq!(divided(pieces), whole, "{text}: {first} {second}");
                }
            }
            let characters = text
                .char_indices()
                .map(|(at, c)| &text[at..at + c.len_utf8()]);
            assert_eq!(divided(characters), whole, "{text}");
        }
    }

    #[test]
    fn a_text_without_marks_does_not_wait() {
        let mut read = Thoughts::default();
        let mut shown = Vec::new();
        for piece in ["Hel", "lo, ", "a <", "b", " c"] {
            read.push(piece, &mut |spoken| shown.push(format!("{spoken:?}")));
        }
        assert_eq!(
            shown,
            [
                "Answer(\"Hel\")",
                "Answer(\"lo, \")",
                "Answer(\"a \")",
                "Answer(\"<b c\")"
            ]
        );
    }

    /// A piece that looked at all before it would not end here.
    #[test]
    fn each_byte_is_looked_at_once() {
        const PIECES: usize = 200_000;
        for (begin, piece) in [
            ("", " "),
            ("<think>", " "),
            ("<think>a", " "),
            ("<|start|>assistant", " "),
            ("<|channel|>final<|message|>a<|end|>", " "),
            ("a", " </think> a"),
            ("a <|channel|>final", "<|channel|>final"),
            ("<think><|channel|>final", "<|channel|>final"),
        ] {
            let pieces = || std::iter::once(begin).chain(std::iter::repeat_n(piece, PIECES));
            let whole: String = pieces().collect();
            assert_eq!(
                divided(pieces()),
                divided([whole.as_str()]),
                "{begin}{piece}"
            );
        }
        let mentions = "a </think>".repeat(20_000);
        let pieces = std::iter::once(mentions.as_str()).chain(std::iter::repeat_n("", 100_000));
        assert_eq!(divided(pieces), divided([mentions.as_str()]));
    }
}
