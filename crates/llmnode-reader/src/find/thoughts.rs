//! Thoughts in a text, found while it comes.
//!
//! In comes a text in pieces of any size; out go the same characters in order, each
//! as a thought or as the answer, and no mark of a thought. What is read as a whole
//! is one piece, so that a text comes to the same however it is cut: a piece that
//! may be the begin of a mark waits for the next one.
//!
//! The marks are those of [`thinking`](super::thinking). They count
//!
//! 1. first in a text: what they enclose is thoughts, and the answer is what
//!    follows, without the space before it;
//! 2. if the first mark of a text ends thoughts that did not begin, since a
//!    template may have begun them in the prompt: all before it was thoughts
//!    ([`Spoken::Void`]). The text may also *mention* such a mark, so it counts
//!    only where it ends a line or has the answer right behind it, and not in code;
//! 3. as headers of channels, of which `final` is the answer. A header that names a
//!    recipient is a call, and stays.
//!
//! Behind an answer that has begun, a mark is a part of it.

use std::ops::Range;

use super::super::repair::is_quote;
use super::thinking::{CHANNEL, LONGEST_HEADER, MESSAGE, PAIRS, START, Tag, is_in_name, tag_at};
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
///
/// Any other mark without its begin is a tag of the answer, such as `</reason>` in XML.
const BEGUN_BY_TEMPLATES: [&str; 3] = ["think", "thinking", CHANNEL];

/// Where in the text the reading is. It only goes down this list, but for thoughts,
/// behind which a text may begin again.
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

/// What stands where a mark could.
enum Found {
    Nothing,
    /// More text may make it a mark.
    Incomplete,
    Mark(Tag),
}

/// Divides a text into thoughts and answer while it comes.
#[derive(Debug)]
pub struct Thoughts {
    /// All that has come. A mark may begin far before the piece that completes it.
    text: String,
    state: State,
    /// Up to here the text is read.
    at: usize,
    /// Up to here it is shown.
    shown: usize,
    /// Behind what is shown, up to here there is only what may not be shown.
    waits: usize,
    before: Before,
    /// Some thoughts were found, so that the space before the answer is left out.
    has_thoughts: bool,
    /// Then marks that end a message are looked for, in the answer as well.
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
    /// No fence is partly behind `end`, where a mark begins. An `end` that was
    /// passed already is the same mark once more.
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

    /// An odd number of marks leaves one open.
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
    let mut divider = Thoughts::default();
    let mut divided = Divided::default();
    divider.push(text, &mut |piece| divided.add(piece));
    divider.end(&mut |piece| divided.add(piece));
    divider
        .has_thoughts
        .then_some((divided.answer, divided.thoughts))
}

/// What has been shown of a text.
#[derive(Default)]
struct Divided {
    answer: String,
    thoughts: String,
}

impl Divided {
    fn add(&mut self, piece: Spoken<'_>) {
        match piece {
            Spoken::Answer(piece) => self.answer += piece,
            Spoken::Thought(piece) => self.thoughts += piece,
            Spoken::Void => self.answer.clear(),
        }
    }
}

impl Thoughts {
    /// Takes the next piece of the text, and shows what is certain of it.
    pub fn push(&mut self, piece: &str, show: &mut dyn FnMut(Spoken<'_>)) {
        // Behind the last mark nothing is kept: most of a long answer passes through here.
        let nothing_waits = self.shown == self.text.len();
        if self.state == State::Rest && !self.has_channels && nothing_waits {
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

    /// Goes on until a state has read all that has come. `is_end`: nothing more
    /// comes, so that nothing can wait.
    fn read(&mut self, is_end: bool, show: &mut dyn FnMut(Spoken<'_>)) {
        loop {
            let state_changed = match self.state {
                State::Begin => self.begin(is_end, show),
                State::Thinking { name, from } => self.thinking(name, from, is_end, show),
                State::Answer => self.answer(is_end, show),
                State::Rest => self.rest(is_end, show),
            };
            if !state_changed {
                return;
            }
        }
    }

    /// At the begin of a text, or behind thoughts: more thoughts, or the answer.
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

    /// Goes behind a mark. What was before it is shown.
    fn enter(&mut self, tag: &Tag) {
        self.has_thoughts = true;
        self.has_channels |= tag.name == CHANNEL;
        self.begins_thoughts = true;
        self.at = tag.at.end;
        self.shown = tag.at.end;
    }

    /// Shows thoughts up to the mark that closes them, which is the one that opened
    /// them, or for channels the next header.
    ///
    /// A call in a channel ends them, too: it is a part of the answer, for who
    /// reads calls in texts.
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

    /// Shows the answer, until a mark shows that it was thoughts, or that none can follow.
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

    /// Whether a mark without a begin ends thoughts, or is mentioned. `None`: the
    /// next character says it.
    fn ends_thoughts(&mut self, tag: &Tag, is_end: bool) -> Option<bool> {
        let is_pair = PAIRS.iter().any(|(open, _)| *open == tag.name);
        if !is_pair && !BEGUN_BY_TEMPLATES.contains(&tag.name) {
            return Some(false);
        }
        // Nobody mentions the header of a channel.
        if tag.name == CHANNEL {
            return Some(true);
        }
        self.before.read_to(&self.text, tag.at.start);
        if self.before.is_code() {
            return Some(false);
        }
        match self.text[tag.at.end..].chars().next() {
            None if !is_end => None,
            // At the end of all it counts if it is alone on its line.
            None => {
                let before = &self.text[self.before.line..tag.at.start];
                Some(before.trim().is_empty())
            }
            Some('\n' | '\r') => Some(true),
            Some(next) => Some(begins_answer(next)),
        }
    }

    /// Shows what is left.
    ///
    /// The end of the last message of a channel is no part of it.
    fn rest(&mut self, is_end: bool, show: &mut dyn FnMut(Spoken<'_>)) -> bool {
        let mut end = self.text.len();
        // An end of a message that waits may be followed by space, which is not looked at again.
        let waits = self.waits > self.shown && !is_end;
        if waits && self.text[self.waits..].trim().is_empty() {
            self.waits = end;
            return false;
        }
        if let Some(message_end) = self.message_end_in_tail(is_end) {
            self.waits = end;
            end = message_end;
        }
        self.show_answer(end, show);
        self.at = end;
        false
    }

    /// Where at the end of the text a mark begins that ends a message of a channel,
    /// or may become one.
    fn message_end_in_tail(&self, is_end: bool) -> Option<usize> {
        if !self.has_channels {
            return None;
        }
        let tail = self.text[self.shown..].trim_end();
        let at = tail.rfind('<')?;
        let mark = &tail[at..];
        let is_complete = ENDS.contains(&mark);
        let may_become_one = !is_end && ENDS.iter().any(|end| end.starts_with(mark));
        (is_complete || may_become_one).then_some(self.shown + at)
    }

    /// Where a mark may begin.
    /// Whichever byte marks begin with: `<`, `[`, or the first of `◁`.
    ///
    fn next_mark(&self) -> Option<usize> {
        let rest = &self.text.as_bytes()[self.at..];
        let found = rest
            .iter()
            .position(|byte| matches!(byte, b'<' | b'[' | 0xe2))?;
        Some(self.at + found)
    }

    /// What stands at `at`. `from`: a header of a channel does not begin before it.
    fn find(&self, at: usize, from: usize, is_end: bool) -> Found {
        let mut mark = at;
        if let Some(behind) = self.text[at..].strip_prefix(START) {
            let header = behind.trim_start_matches(' ');
            let spaces = behind.len() - header.len();
            if spaces > LONGEST_HEADER {
                return Found::Nothing;
            }
            let may_begin_channel = header.len() < CHANNEL.len() && CHANNEL.starts_with(header);
            if may_begin_channel && !is_end {
                return Found::Incomplete;
            }
            if !header.starts_with(CHANNEL) {
                return Found::Nothing;
            }
            mark = self.text.len() - header.len();
        }
        if !is_end && may_grow(&self.text[mark..]) {
            return Found::Incomplete;
        }
        let tag = match tag_at(&self.text, mark, from.min(at)) {
            Some(tag) if tag.at.start >= at => tag,
            _ => return Found::Nothing,
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

    /// Whether a header here names a recipient. Without its end it is not known yet, and no call.
    fn is_call(&self, at: usize) -> bool {
        let rest = &self.text[at..];
        let header = rest.strip_prefix(START).unwrap_or(rest);
        let header = header.trim_start_matches(' ');
        let near = &header[..floor_char_boundary(header, CHANNEL.len() + LONGEST_HEADER)];
        if !near.starts_with(CHANNEL) {
            return false;
        }
        match near.split_once(MESSAGE) {
            Some((header, _)) => names_recipient(header),
            None => false,
        }
    }

    /// A mark that ends a message of a channel. Outside of channels it is text.
    fn end_of_message(&self, at: usize) -> Option<&'static str> {
        if !self.has_channels {
            return None;
        }
        let rest = &self.text[at..];
        ENDS.into_iter().find(|end| rest.starts_with(end))
    }

    /// Shows what of the answer was not shown yet.
    fn show_answer(&mut self, end: usize, show: &mut dyn FnMut(Spoken<'_>)) {
        let piece: Range<usize> = self.shown..end;
        if piece.start < piece.end {
            show(Spoken::Answer(&self.text[piece]));
            self.shown = end;
        }
    }

    /// Space at the end of thoughts is not shown, so it waits. Only what has not
    /// waited yet is looked at.
    fn show_thought(&mut self, end: usize, show: &mut dyn FnMut(Spoken<'_>)) {
        let waits = self.waits.max(self.shown);
        let is_space = match self.text.get(waits..end) {
            Some(piece) => piece.trim().is_empty(),
            // All of it has waited already.
            None => true,
        };
        if is_space {
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

/// Whether the answer may begin with this character right behind a mark. Behind a
/// mark that is only mentioned the sentence goes on.
fn begins_answer(next: char) -> bool {
    !next.is_whitespace() && !is_quote(next) && !".,;:!?)]}/".contains(next)
}

/// A header that says to whom it speaks is a call: `to=functions.search`.
fn names_recipient(header: &str) -> bool {
    header
        .split_whitespace()
        .any(|word| word.starts_with("to="))
}

/// Whether more text could make a mark of what begins here, or another one.
fn may_grow(rest: &str) -> bool {
    const LONGEST_NAME: usize = 40;
    if let Some(header) = rest.strip_prefix(CHANNEL) {
        // The length first: behind a header may be all of a long text.
        return header.len() < LONGEST_HEADER
            && !header.contains(MESSAGE)
            && !header.contains('\n');
    }
    if may_become_mark(rest) {
        return true;
    }
    let Some(name) = rest.strip_prefix('<') else {
        return false;
    };
    let name = name.strip_prefix('/').unwrap_or(name);
    name.len() < LONGEST_NAME && name.bytes().all(is_in_name)
}

/// Whether this is the begin of a mark that has no name, and not all of it.
fn may_become_mark(rest: &str) -> bool {
    for (open, closers) in PAIRS {
        if is_begin(rest, open) || closers.iter().any(|close| is_begin(rest, close)) {
            return true;
        }
    }
    is_begin(rest, CHANNEL) || is_begin(rest, START) || ENDS.iter().any(|end| is_begin(rest, end))
}

fn is_begin(rest: &str, mark: &str) -> bool {
    rest.len() < mark.len() && mark.starts_with(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answer and thoughts of a text in these pieces, as somebody who reads along
    /// has them at the end.
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
