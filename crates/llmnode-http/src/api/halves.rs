//! Halves of characters.
//!
//! JSON may write a character beyond the first 65,536 as two escapes, a surrogate
//! pair. A server that cuts its answer into events may cut between them, and one
//! that cuts a text at a limit may leave half of one. No Rust string can hold a
//! half, so serde refuses the whole text that has one.
//!
//! Hence three steps. [`marked`] replaces each escape of a half without its other
//! half by a character that stands for it, before the JSON is read: the last 2,048
//! characters of the last private plane, one for each half. All that follows
//! (events, texts, arguments, parts that go back) passes them on. [`Shown`] keeps a
//! first half back from a listener until the next piece, which may have the second
//! one. [`resolve`], at the end of an answer, makes a character of two halves that
//! came together, and U+FFFD of any other, which is flagged.

use std::time::Duration;

use llmnode_model::ext::{CarriedPart, Json, PromptParts};
use std::borrow::Cow;
use std::ops::ControlFlow;

use llmnode_model::{Delta, ModelError, ResponseFormat, Sink, TokenUsage};
use llmnode_reader::Flag;
use memchr::memchr;

use super::expected_calls::ExpectedCalls;
use super::read_answer::{ReadAnswer, ReadResult, Unreadable};
use super::wire::{End, StreamedAnswer};
use crate::http::sse::Event;

/// Stands for the half 0xD800; the others follow it.
const FIRST_MARK: u32 = 0x0010_F800;
const FIRST_HALF: u32 = 0xD800;
const FIRST_SECOND_HALF: u32 = 0xDC00;

/// The mark of a half.
fn mark_of(half: u16) -> char {
    let mark = FIRST_MARK + (u32::from(half) - FIRST_HALF);
    char::from_u32(mark).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The half that a character stands for, if it is a mark.
fn half_of(mark: char) -> Option<u32> {
    let above = u32::from(mark).checked_sub(FIRST_MARK)?;
    Some(FIRST_HALF + above)
}

fn is_first(half: u32) -> bool {
    half < FIRST_SECOND_HALF
}

/// The JSON with a mark for each half that is alone. `None`: it has none, as nearly
/// all.
///
/// One pass from backslash to backslash with `memchr`, since it is done for every
/// event. Behind each of them is either a half (six bytes, replaced), both halves of
/// a character (twelve, kept), or anything else that is escaped (at least one byte,
/// kept): a backslash that is escaped itself begins no escape. Nothing is copied
/// before the first half.
pub(crate) fn marked(json: &[u8]) -> Option<Vec<u8>> {
    let mut whole: Option<Vec<u8>> = None;
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = json.get(at..).and_then(|rest| memchr(b'\\', rest)) {
        at += found;
        let Some(half) = unit(json, at).filter(|unit| (0xD800..0xE000).contains(unit)) else {
            // What it escapes may be a backslash, which escapes nothing.
            at += 2;
            continue;
        };
        let other = unit(json, at + 6).filter(|unit| (0xDC00..0xE000).contains(unit));
        if half < 0xDC00 && other.is_some() {
            at += 12;
            continue;
        }
        let whole = whole.get_or_insert_with(|| Vec::with_capacity(json.len()));
        whole.extend_from_slice(&json[copied..at]);
        whole.extend_from_slice(mark_of(half).encode_utf8(&mut [0; 4]).as_bytes());
        at += 6;
        copied = at;
    }
    let mut whole = whole?;
    whole.extend_from_slice(&json[copied..]);
    Some(whole)
}

/// The code unit of an escape such as `\ud83d`.
fn unit(json: &[u8], at: usize) -> Option<u16> {
    let digits = json.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok()?;
    // `from_str_radix` takes a sign.
    if digits.starts_with('+') {
        return None;
    }
    u16::from_str_radix(digits, 16).ok()
}

/// Text with marks, read: what its characters are, and whether one is none.
struct Resolver {
    /// A first half that waits for its other one.
    first: Option<u32>,
    text: String,
    /// A half had no other one.
    is_broken: bool,
}

impl Resolver {
    fn new(first: Option<u32>) -> Self {
        Resolver {
            first,
            text: String::new(),
            is_broken: false,
        }
    }

    fn push(&mut self, c: char) {
        let half = half_of(c);
        if let Some(first) = self.first
            && let Some(second) = half
            && !is_first(second)
        {
            self.first = None;
            // UTF-16: ten bits of each half, above the first 65,536 characters.
            let high = (first - FIRST_HALF) << 10;
            let low = second - FIRST_SECOND_HALF;
            let c = char::from_u32(0x1_0000 + high + low);
            self.text.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
            return;
        }
        self.end();
        match half {
            Some(half) if is_first(half) => self.first = Some(half),
            Some(_) => self.replace(),
            None => self.text.push(c),
        }
    }

    /// A first half that waits gets no other one.
    fn end(&mut self) {
        if self.first.take().is_some() {
            self.replace();
        }
    }

    /// A half without its other one is no character; the answer is flagged.
    fn replace(&mut self) {
        self.is_broken = true;
        self.text.push(char::REPLACEMENT_CHARACTER);
    }
}

/// Cheap: the first byte of all marks is that of few characters.
fn has_marks(text: &str) -> bool {
    text.bytes().any(|byte| byte == 0xF4) && text.chars().any(|c| half_of(c).is_some())
}

/// Reads an event, and marks its halves before.
pub(crate) fn read_event(
    written: &mut dyn StreamedAnswer,
    event: Event<'_>,
    expected: ExpectedCalls<'_>,
    shown: &mut Shown<'_>,
) -> ControlFlow<End> {
    match marked(event.data) {
        None => written.read(event, expected, shown),
        Some(data) => {
            shown.has_marks = true;
            let marked = Event {
                data: &data,
                ..event
            };
            written.read(marked, expected, shown)
        }
    }
}

/// A first half that waits for the second one.
/// Text and reasoning are two streams, and each may wait.
#[derive(Debug, Default)]
struct Waiting(Option<u32>);

impl Waiting {
    /// Borrowed, if there is nothing to resolve: nearly always.
    fn piece<'p>(&mut self, piece: &'p str) -> Cow<'p, str> {
        if piece.is_empty() || (self.0.is_none() && !has_marks(piece)) {
            return Cow::Borrowed(piece);
        }
        let mut read = Resolver::new(self.0);
        piece.chars().for_each(|c| read.push(c));
        self.0 = read.first;
        Cow::Owned(read.text)
    }
}

/// What a listener sees of a stream: whole characters.
pub(crate) struct Shown<'s> {
    sink: &'s mut dyn Sink,
    has_marks: bool,
    text: Waiting,
    reasoning: Waiting,
}

impl<'s> Shown<'s> {
    pub(crate) fn new(sink: &'s mut dyn Sink) -> Self {
        Shown {
            sink,
            has_marks: false,
            text: Waiting::default(),
            reasoning: Waiting::default(),
        }
    }

    pub(crate) fn has_marks(&self) -> bool {
        self.has_marks
    }

    /// Shows the halves that wait. The answer has the same in their places.
    pub(crate) fn end(&mut self) {
        const REPLACED: &str = "\u{FFFD}";
        if self.reasoning.0.take().is_some() {
            self.sink.delta(Delta::Reasoning(REPLACED));
        }
        if self.text.0.take().is_some() {
            self.sink.delta(Delta::Text(REPLACED));
        }
    }
}

impl Sink for Shown<'_> {
    fn request_id(&mut self, id: &str) {
        self.sink.request_id(id);
    }

    fn wants_prompt(&self) -> bool {
        self.sink.wants_prompt()
    }

    fn prompt_before(&self) -> Option<&PromptParts> {
        self.sink.prompt_before()
    }

    fn prompt(&mut self, parts: PromptParts, ttl: Option<Duration>) {
        self.sink.prompt(parts, ttl);
    }

    fn begins(&mut self) {
        self.sink.begins();
    }

    fn usage(&mut self, usage: TokenUsage) {
        self.sink.usage(usage);
    }

    fn response_format(&mut self, response_format: ResponseFormat) {
        self.sink.response_format(response_format);
    }

    fn refused(&mut self, part: &str) {
        self.sink.refused(part);
    }

    fn unsent(&mut self) {
        self.sink.unsent();
    }

    fn flag(&mut self, flag: Flag) {
        self.sink.flag(flag);
    }

    fn listens(&self) -> bool {
        self.sink.listens()
    }

    fn delta(&mut self, delta: Delta<'_>) {
        if !self.has_marks {
            return self.sink.delta(delta);
        }
        match delta {
            Delta::Text(piece) => {
                let piece = self.text.piece(piece);
                self.sink.delta(Delta::Text(&piece));
            }
            Delta::Reasoning(piece) => {
                let piece = self.reasoning.piece(piece);
                self.sink.delta(Delta::Reasoning(&piece));
            }
            _ => self.sink.delta(delta),
        }
    }
}

/// Reads a body. `has_marks`: it has some already.
pub(crate) fn read_body(
    body: &[u8],
    has_marks: bool,
    expected: ExpectedCalls<'_>,
    read: fn(&[u8], ExpectedCalls<'_>) -> ReadResult,
) -> ReadResult {
    match marked(body) {
        None if !has_marks => read(body, expected),
        None => resolve(read(body, expected)),
        Some(body) => resolve(read(&body, expected)),
    }
}

/// Makes characters of the marks in what was read.
pub(crate) fn resolve(read: ReadResult) -> ReadResult {
    match read {
        Ok(mut answer) => {
            if resolve_answer(&mut answer) {
                answer.flags.push(Flag::Unreadable);
            }
            Ok(answer)
        }
        Err(Unreadable::Failure(mut failure)) => {
            resolve_failure(&mut failure);
            Err(Unreadable::Failure(failure))
        }
        Err(Unreadable::Rejected(mut failure, mut parts)) => {
            let text = failure.answer.as_ref().map(|answer| answer.content.clone());
            resolve_parts(&text.unwrap_or_default(), &mut parts);
            resolve_failure(&mut failure);
            Err(Unreadable::Rejected(failure, parts))
        }
        other => other,
    }
}

/// A failure may carry what the model wrote.
fn resolve_failure(failure: &mut ModelError) {
    resolve_text(&mut failure.message);
    if let Some(answer) = &mut failure.answer {
        resolve_text(&mut answer.content);
    }
}

/// The parts come first: their lengths are of the text as it is before.
fn resolve_answer(answer: &mut ReadAnswer) -> bool {
    let ReadAnswer {
        completion, parts, ..
    } = answer;
    let mut is_broken = resolve_parts(&completion.text, parts);
    is_broken |= resolve_text(&mut completion.text);
    for call in &mut completion.calls {
        is_broken |= resolve_text(&mut call.arguments);
        is_broken |= resolve_text(&mut call.name);
        is_broken |= resolve_text(&mut call.id);
    }
    let words = [
        &mut completion.reasoning,
        &mut completion.refusal,
        &mut completion.response_id,
    ];
    for text in words.into_iter().chain([&mut completion.model]).flatten() {
        is_broken |= resolve_text(text);
    }
    is_broken
}

fn resolve_text(text: &mut String) -> bool {
    if !has_marks(text) {
        return false;
    }
    let mut read = Resolver::new(None);
    text.chars().for_each(|c| read.push(c));
    read.end();
    *text = read.text;
    read.is_broken
}

/// The pieces of the text get the lengths that they have when it is resolved. `text` is not yet.
fn resolve_parts(text: &str, parts: &mut [CarriedPart]) -> bool {
    let mut is_broken = false;
    let mut rest = text;
    let mut read = Resolver::new(None);
    let mut last: Option<&mut usize> = None;
    for part in parts {
        match part {
            CarriedPart::Text { bytes, beside } => {
                let (piece, behind) = rest.split_at_checked(*bytes).unwrap_or((rest, ""));
                rest = behind;
                let before = read.text.len();
                let waited = read.first.is_some();
                let mut chars = piece.chars();
                if waited && let Some(last) = last.take() {
                    // What waited belongs to the piece that it began in.
                    if let Some(c) = chars.next() {
                        read.push(c);
                    }
                    *last += read.text.len() - before;
                }
                let begin = read.text.len();
                chars.for_each(|c| read.push(c));
                *bytes = read.text.len() - begin;
                last = Some(bytes);
                is_broken |= resolve_json(beside);
            }
            CarriedPart::Call { beside, .. } => is_broken |= resolve_json(beside),
            CarriedPart::Other(json) => is_broken |= replace_json(json),
        }
    }
    let before = read.text.len();
    read.end();
    if let Some(last) = last {
        *last += read.text.len() - before;
    }
    is_broken
}

fn resolve_json(json: &mut Option<Json>) -> bool {
    json.as_mut().is_some_and(replace_json)
}

fn replace_json(json: &mut Json) -> bool {
    let mut text = json.raw().get().to_owned();
    if !has_marks(&text) {
        return false;
    }
    let is_broken = resolve_text(&mut text);
    if let Ok(raw) = serde_json::value::RawValue::from_string(text) {
        *json = Json::new(&raw);
    }
    is_broken
}

#[cfg(test)]
mod tests {
    use llmnode_model::Completion;

    use super::*;

    #[test]
    fn only_halves_that_are_alone_are_marked() {
        for json in [
            r#"{"a":"b"}"#,
            r#""\ud83d\ude00""#,
            r#""\\ud83d""#,
            r#""\u00e9 \\""#,
            "",
            r"\",
            r"\u",
            r"\u+83d",
        ] {
            assert_eq!(marked(json.as_bytes()), None, "{json}");
        }
        let json = r#"["\ud83d","\ude00\ud83d\ude00","\\\ud83d\u0041"]"#;
        let texts: Vec<String> = serde_json::from_slice(&marked(json.as_bytes()).unwrap()).unwrap();
        let [first, second] = [0xD83D, 0xDE00].map(mark_of);
        assert_eq!(
            texts,
            [
                format!("{first}"),
                format!("{second}\u{1F600}"),
                format!("\\{first}A")
            ]
        );
    }

    #[test]
    fn each_piece_of_a_text_keeps_what_began_in_it() {
        let [first, second] = [0xD83D, 0xDE00].map(mark_of);
        for (pieces, resolved) in [
            (["a", "b", "c"].map(str::to_owned), ["a", "b", "c"]),
            (
                [format!("a{first}"), format!("{second}b"), first.to_string()],
                ["a\u{1F600}", "b", "\u{FFFD}"],
            ),
            (
                [first.to_string(), second.to_string(), second.to_string()],
                ["\u{1F600}", "", "\u{FFFD}"],
            ),
        ] {
            let part = |piece: &String| CarriedPart::Text {
                bytes: piece.len(),
                beside: None,
            };
            let parts = pieces.iter().map(part).collect();
            let mut answer = ReadAnswer::new(
                Completion::new(pieces.concat()),
                false,
                parts,
                (None, false),
            );
            resolve_answer(&mut answer);
            assert_eq!(answer.completion.text, resolved.concat());
            let lengths = answer.parts.iter().map(|part| match part {
                CarriedPart::Text { bytes, .. } => *bytes,
                _ => 0,
            });
            assert!(
                lengths.eq(resolved.iter().map(|piece| piece.len())),
                "{resolved:?}"
            );
        }
    }
}
