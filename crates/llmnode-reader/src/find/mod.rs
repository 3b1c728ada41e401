//! Finds the JSON in a text: one pass from left to right, in which whatever begins
//! first owns everything up to its end.
//!
//! The text of a model comes in; candidates for the answer go out, in the order of
//! the text, each with where it stands (the whole text, a fence, a tag, prose) and
//! what it is. In this order:
//!
//! 1. Is the whole text one value? Then it is the only candidate.
//! 2. Else marks are looked for, and the first one decides: a tag of thinking (what
//!    is in it is no answer; behind it, step 1 is tried again), a fence (the same
//!    for what is in it), a bracket (is it JSON, or a word in brackets, a template,
//!    code?).
//! 3. If nothing was found, the words are a candidate: they may name a choice.
//!
//! A bracket that does not parse is a candidate as well, a *broken* one: if the
//! answer is broken and an example beside it is not, the example must not be taken
//! for the answer. Only what clearly is no JSON is dropped.
//!
//! The time is bounded by the length of the text, also for texts that were made to
//! be slow: each byte is owned by one mark, and whatever reads ahead counts how
//! often it did (`MAX_WHOLE_SCANS`).
//!
//! The type is not known here. Which candidate is the answer is decided in `select.rs`.

mod context;
mod fence;
mod thinking;
mod thoughts;

use std::ops::Range;

pub(super) use self::context::brackets;
use self::context::{
    begins_json, begins_line, fills_tag, holds_members, matching_end, standalone_fault, tag_before,
};
use self::fence::{Fence, run_length};
pub(super) use self::thinking::{Tag, find_closing, tag_at};
pub use self::thoughts::{Spoken, Thoughts, without_thoughts};
use super::json::Json;
use super::repair::{self, ParsedJson, Repairs, SyntaxError, is_quote, skip_blank};

/// Where a candidate stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Enclosure {
    /// All that is left of the text once its thinking is taken away.
    WholeText,
    /// A code fence, which models put around an answer rather than around an example.
    Fence,
    /// A tag that holds nothing else: `<answer>[3]</answer>`.
    Tag,
    /// Between sentences. A list here may be a citation, so it is judged more strictly.
    Prose,
}

/// A part of the text that may be the answer.
#[derive(Debug)]
pub(super) struct Candidate<'t> {
    pub(super) place: Enclosure,
    /// Bytes of the text.
    pub(super) part: Range<usize>,
    pub(super) content: Content<'t>,
}

/// What a candidate holds.
#[derive(Debug)]
pub(super) enum Content<'t> {
    /// One value, and what was repaired to parse it.
    Json(Json<'t>, Repairs),
    /// One per line, fence or numbered item; becomes a list if the type wants one.
    Lines(Vec<(Range<usize>, Json<'t>)>, Repairs),
    /// It may name a value: `Red`.
    Text,
    /// Does not parse, or is part of something larger.
    Broken(SyntaxError),
}

impl Content<'_> {
    /// Notes another repair, of what was around the value.
    fn repaired(mut self, kind: &'static str, at: usize) -> Option<Self> {
        let Content::Json(_, repairs) = &mut self else {
            return None;
        };
        repairs.add(kind, at);
        Some(self)
    }
}

/// What one pass over a text has found.
#[derive(Debug, Default)]
pub(super) struct Scan<'t> {
    pub(super) candidates: Vec<Candidate<'t>>,
    /// The byte of the first tag of thinking.
    pub(super) thinking: Option<usize>,
    /// The byte of a tag that is never closed: what follows may be thoughts or the
    /// answer, and nobody knows which.
    pub(super) unclosed_thinking: Option<usize>,
}

/// Looks for candidates. `lenient`: what is nearly JSON is one, too.
pub(super) fn scan(text: &str, lenient: bool) -> Scan<'_> {
    #[cfg(test)]
    super::counts::add(|counts| counts.walked += 1);
    let mut scanner = Scanner {
        text,
        lenient,
        at: 0,
        start: 0,
        end: text.len(),
        whole_scans: 0,
        found: Scan::default(),
    };
    scanner.run();
    scanner.found
}

/// What is in the only fence of a text that has nothing else which could be an answer.
///
/// The fast path reads it without a search, so any mark that the search would look at rules it out.
pub(super) fn only_fence(text: &str) -> Option<Range<usize>> {
    const OTHER_MARKS: [char; 6] = ['{', '[', '<', '◁', '`', '~'];
    let at = text.find("```")?;
    let fence = Fence::at(text, at)?;
    let before = &text[..at];
    let behind = &text[fence.end..];
    if before.contains(OTHER_MARKS) || behind.contains(OTHER_MARKS) {
        return None;
    }
    let content = trimmed(&text[fence.content]);
    let begin = offset(text, content);
    Some(begin..begin + content.len())
}

/// What stands in a fence that is all of the text.
pub(super) fn enclosed_in_fence(text: &str) -> Option<&str> {
    let fence = Fence::at(text, 0)?;
    let content = trimmed(&text[fence.content]);
    let is_all = fence.end == text.len();
    // Another fence within may be the real one.
    let is_only_one = !content.contains("```");
    (is_all && is_only_one).then_some(content)
}

/// Found in JSON and in marks of thinking, but not in words.
const MARKS: [char; 7] = ['{', '[', '"', '\'', '`', '<', '◁'];
/// Each may read the rest of the text.
const MAX_WHOLE_SCANS: u32 = 32;

/// The one pass. `at` only grows, but for a look into a fence, whose bytes are not
/// looked at again behind it.
struct Scanner<'t> {
    text: &'t str,
    lenient: bool,
    at: usize,
    /// Where the part begins and ends that is searched: the text behind its
    /// thoughts, or the content of a fence.
    start: usize,
    end: usize,
    whole_scans: u32,
    found: Scan<'t>,
}

impl<'t> Scanner<'t> {
    /// Tries the whole text, then goes from mark to mark, and takes the words if
    /// there was nothing else.
    fn run(&mut self) {
        if self.try_whole_text() {
            return;
        }
        while let Some(mark) = self.next_mark() {
            self.at = mark;
            if !self.take_mark() {
                return;
            }
        }
        self.only_words();
    }

    /// Where the next byte is that may begin something. 0xe2 is the first byte of
    /// `◁`, and of dashes and curly quotes.
    fn next_mark(&self) -> Option<usize> {
        let rest = &self.text.as_bytes()[self.at..];
        let found = rest
            .iter()
            .position(|byte| matches!(byte, b'{' | b'[' | b'`' | b'~' | b'<' | 0xe2))?;
        Some(self.at + found)
    }

    /// Takes what begins at this mark and goes behind it. `false`: what follows is
    /// not to be searched.
    ///
    /// Thinking comes first, since it may hold fences and brackets, and a fence
    /// second, since it may hold brackets.
    fn take_mark(&mut self) -> bool {
        if let Some(tag) = thinking::tag_at(self.text, self.at, self.start) {
            return self.skip_thinking(&tag);
        }
        if let Some(fence) = Fence::at(self.text, self.at) {
            self.fence(&fence);
            self.at = fence.end;
            return true;
        }
        match self.text.as_bytes()[self.at] {
            b'{' | b'[' => self.bracket(),
            // Each run of marks is examined once, and not again from each of its bytes.
            mark @ (b'`' | b'~') => self.at += run_length(self.text, self.at, mark),
            _ => self.at += 1,
        }
        true
    }

    /// Goes behind thinking, where the answer may be all that is left. `false`: the
    /// search ends here.
    ///
    /// A closing mark alone ends thinking too, since a template may put the opening
    /// one into the prompt. Then all before it was thinking, and no candidate.
    fn skip_thinking(&mut self, tag: &thinking::Tag) -> bool {
        self.found.thinking.get_or_insert(tag.at.start);
        let end = if tag.opens {
            thinking::find_closing(self.text, tag)
        } else {
            self.found.candidates.clear();
            Some(tag.at.end)
        };
        let Some(end) = end else {
            self.found.unclosed_thinking = Some(tag.at.start);
            return false;
        };
        self.at = end;
        // With text before it, what is behind the thinking is not the whole answer.
        let is_behind_text = !is_blank(&self.text[self.start..tag.at.start]);
        if tag.opens && is_behind_text {
            return true;
        }
        self.start = end;
        self.whole_scans += 1;
        if self.whole_scans > MAX_WHOLE_SCANS {
            return true;
        }
        !self.try_whole_text()
    }

    /// Whether all that is left is one value, which then is the only candidate.
    fn try_whole_text(&mut self) -> bool {
        let text = trimmed(&self.text[self.start..]);
        self.start = offset(self.text, text);
        let part = self.start..self.start + text.len();
        let content = match self.value(part.clone()) {
            Some(content) => Some(content),
            None => self.after_comments(part.clone()),
        };
        let Some(content) = content else {
            return false;
        };
        self.push(Enclosure::WholeText, part, content);
        true
    }

    /// A value behind comments at the begin of the text, unless a comment could hold the real one.
    fn after_comments(&self, part: Range<usize>) -> Option<Content<'t>> {
        if !self.lenient {
            return None;
        }
        let begin = skip_blank(&self.text[..part.end], part.start);
        let comments = &self.text[part.start..begin];
        if comments.is_empty() || comments.contains(MARKS) {
            return None;
        }
        let content = self.value(begin..part.end)?;
        content.repaired(repair::kind::COMMENT, part.start)
    }

    /// Either one value that fills the part, or only objects on separate lines.
    ///
    /// Scalars are parsed strictly: nothing about them can be repaired that a
    /// sentence could not say as well.
    fn value(&self, part: Range<usize>) -> Option<Content<'t>> {
        let text = &self.text[..part.end];
        let begin = part.start;
        let value = &text[begin..];
        let is_structured = value.starts_with(['{', '[']);
        if !is_structured && !begins_scalar(value) {
            return None;
        }
        let may_repair = is_structured && self.lenient;
        if may_repair && let Some(json) = parse_escaped(value) {
            let mut repairs = Repairs::default();
            repairs.add(repair::kind::QUOTED, begin);
            return Some(Content::Json(json, repairs));
        }
        let parsed = repair::parse(text, begin, may_repair).ok()?;
        let mut repairs = parsed.repairs.clone();
        if may_repair && text[parsed.end..].trim_end() == "," {
            repairs.add(repair::kind::COMMA, parsed.end);
            return Some(Content::Json(parsed.json, repairs));
        }
        let rest = if self.lenient {
            skip_blank(text, parsed.end)
        } else {
            parsed.end
        };
        let is_all = rest == text.len();
        // A comment with brackets or quotes may hold another version.
        if is_all && !text[parsed.end..].contains(MARKS) {
            if parsed.end < rest {
                repairs.add(repair::kind::COMMENT, parsed.end);
            }
            return Some(Content::Json(parsed.json, repairs));
        }
        lines(text, begin, parsed, self.lenient)
    }

    /// Looks into a fence: one value, an assignment of one, or objects among other lines.
    ///
    /// If it holds none of these, its words are a candidate: some models fence a bare choice.
    fn fence(&mut self, fence: &Fence) {
        let content = trimmed(&self.text[fence.content.clone()]);
        let begin = offset(self.text, content);
        let part = begin..begin + content.len();
        let value = match self.value(part.clone()) {
            Some(value) => Some(value),
            None => self.assignment_value(part.clone()),
        };
        if let Some(value) = value {
            return self.push(Enclosure::Fence, part, value);
        }
        let before = self.found.candidates.len();
        self.search_fence(part.clone());
        if self.found.candidates.len() == before && !part.is_empty() {
            self.push(Enclosure::Fence, part, Content::Text);
        }
    }

    /// Looks for objects in a fence with other lines. The search of the text around
    /// it is put aside meanwhile.
    fn search_fence(&mut self, part: Range<usize>) {
        let at = self.at;
        let start = self.start;
        let end = self.end;
        self.at = part.start;
        self.start = part.start;
        self.end = part.end;
        while let Some(found) = self.text[self.at..part.end].find(['{', '[']) {
            self.at += found;
            let begins_a_line = begins_line(&self.text[part.start..self.at]);
            if begins_a_line || !begins_json(&self.text[..part.end], self.at) {
                self.bracket();
            } else {
                self.code_bracket(part.end);
            }
        }
        self.at = at;
        self.start = start;
        self.end = end;
    }

    /// A bracket in the midst of a line of a fence is code. It is broken, so that
    /// it is not taken for the answer.
    fn code_bracket(&mut self, part_end: usize) {
        let what = "the JSON is part of code; answer with only the JSON";
        let fault = SyntaxError {
            at: self.at,
            what: Some(what.into()),
        };
        let end = matching_end(&self.text[..part_end], self.at).unwrap_or(part_end);
        // An index such as `rows[0]` is nothing that anybody could mean.
        if self.text[self.at..end].contains(['{', '"']) {
            self.push(Enclosure::Prose, self.at..end, Content::Broken(fault));
        }
        self.at = end;
    }

    /// `const filter = {..};`, if the fence contains nothing else.
    fn assignment_value(&self, part: Range<usize>) -> Option<Content<'t>> {
        if !self.lenient {
            return None;
        }
        let text = self.text[..part.end].trim_end_matches(';');
        let line = text.get(part.start..)?.lines().next()?;
        let sign = line.find('=')?;
        let name = &line[..sign];
        if name.is_empty() || !name.chars().all(may_be_in_declaration) {
            return None;
        }
        let value = text[part.start + sign + 1..].trim_start();
        if !value.starts_with(['{', '[']) {
            return None;
        }
        let content = self.value(text.len() - value.len()..text.len())?;
        content.repaired(repair::kind::ASSIGNMENT, part.start)
    }

    /// A bracket in prose. What follows it is a candidate, unless it clearly is something else.
    fn bracket(&mut self) {
        let text = &self.text[..self.end];
        let begin = self.at;
        if !begins_json(text, begin) {
            self.at += 1;
            return;
        }
        match repair::parse(text, begin, self.lenient) {
            Ok(parsed) => self.parsed_bracket(begin, parsed),
            Err(fault) => self.broken_bracket(begin, fault),
        }
    }

    /// A bracket that parses is a candidate, but for citations such as `[1]`, and
    /// for what needed a repair where nothing but the bracket says that it is JSON.
    fn parsed_bracket(&mut self, begin: usize, parsed: ParsedJson<'t>) {
        let ParsedJson { json, end, repairs } = parsed;
        let text = &self.text[..self.end];
        self.at = end;
        let place = if fills_tag(text, &(begin..end)) {
            Enclosure::Tag
        } else {
            Enclosure::Prose
        };
        let is_odd = !repairs.is_empty() && !self.is_likely_json(begin);
        if place == Enclosure::Prose && (!holds_members(&json) || is_odd) {
            return;
        }
        let content = match standalone_fault(text, begin..end) {
            Some(fault) => Content::Broken(fault),
            None => Content::Json(json, repairs),
        };
        self.push(place, begin..end, content);
    }

    /// A bracket that does not parse is a broken candidate, unless it is a list of
    /// words, a template's variable or a word in braces. What is all of the text is
    /// always one: there is no other answer whose place it could take.
    fn broken_bracket(&mut self, begin: usize, fault: SyntaxError) {
        let text = &self.text[..self.end];
        let closed_end = matching_end(text, begin);
        // A fault behind the matching bracket belongs to the candidate, too.
        let end = closed_end
            .unwrap_or(text.len())
            .max(fault.at.min(text.len()));
        self.at = end;
        let is_all = is_blank(&text[self.start..begin]) && is_blank(&text[end..]);
        let inner = &text[begin..end];
        let is_double = inner.starts_with("{{");
        let is_list = inner.starts_with('[') && !inner.contains(['{', '"']);
        let is_template = is_double && closed_end.is_some() && !inner.contains(['"', '\'', ':']);
        let is_word = inner.starts_with('{') && !is_double && !self.is_likely_json(begin);
        if is_all || !(is_list || is_template || is_word) {
            self.push(Enclosure::Prose, begin..end, Content::Broken(fault));
        }
    }

    /// If the first key is quoted, or the line before the bracket has only a tag or
    /// words with a colon.
    fn is_likely_json(&self, begin: usize) -> bool {
        let inner = self.text[begin..self.end].trim_start_matches(is_bracket_or_space);
        if inner.starts_with(is_quote) {
            return true;
        }
        let before = self.text[..begin].trim_end_matches([' ', '\t']);
        if begins_line(before) || before.ends_with(':') {
            return true;
        }
        match tag_before(before) {
            Some((before_tag, _)) => begins_line(before_tag),
            None => false,
        }
    }

    fn push(&mut self, place: Enclosure, part: Range<usize>, content: Content<'t>) {
        self.found.candidates.push(Candidate {
            place,
            part,
            content,
        });
    }

    /// A text without JSON is a candidate itself: it may name a choice.
    fn only_words(&mut self) {
        if !self.found.candidates.is_empty() {
            return;
        }
        let text = trimmed(&self.text[self.start..]);
        if text.is_empty() {
            return;
        }
        let begin = offset(self.text, text);
        let part = begin..begin + text.len();
        self.push(Enclosure::WholeText, part, Content::Text);
    }
}

/// Whether a string, a number, or a literal that is all of the text begins here.
/// Words may begin with a literal: `trueness`.
fn begins_scalar(value: &str) -> bool {
    value.starts_with(|c| matches!(c, '"' | '-' | '0'..='9'))
        || matches!(value, "true" | "false" | "null")
}

/// Of `const filter`, `let rows: Vec<Row>`, `self.filter`.
fn may_be_in_declaration(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | ' ' | '.' | ':' | '<' | '>' | ',')
}

fn is_bracket_or_space(c: char) -> bool {
    matches!(c, '{' | '[') || c.is_whitespace()
}

/// Parses JSON that stands as within a string, though no quotation marks are around
/// it: `{\"a\": 1}`.
fn parse_escaped(text: &str) -> Option<Json<'static>> {
    let inner = text.trim_start_matches(['{', '[', ' ', '\n', '\t', '\r']);
    let inner = inner.trim_start_matches("\\n").trim_start_matches(' ');
    // Only an escaped first key shows that all is escaped.
    if !inner.starts_with("\\\"") {
        return None;
    }
    let text = text
        .replace('\n', "\\n")
        .replace('\r', "\\r")
        .replace('\t', "\\t");
    let quoted = format!("\"{text}\"");
    let plain: String = serde_json::from_str(&quoted).ok()?;
    let json = repair::parse_strict(&plain)?;
    Some(json.into_owned())
}

/// Objects on lines of their own, of which this is the first. `None`: there is
/// anything else on the lines.
fn lines<'t>(
    text: &'t str,
    begin: usize,
    first: ParsedJson<'t>,
    lenient: bool,
) -> Option<Content<'t>> {
    if !matches!(first.json, Json::Object(_)) {
        return None;
    }
    let mut objects = vec![(begin..first.end, first.json)];
    let mut repairs = first.repairs;
    let mut end = first.end;
    while end < text.len() {
        let blank = text[end..].find(|c: char| !c.is_whitespace())?;
        let next = end + blank;
        let is_on_new_line = text[end..next].contains('\n');
        if !is_on_new_line || !text[next..].starts_with('{') {
            return None;
        }
        let parsed = repair::parse(text, next, lenient).ok()?;
        for repair in parsed.repairs.iter() {
            repairs.add(repair.kind, repair.at);
        }
        objects.push((next..parsed.end, parsed.json));
        end = parsed.end;
    }
    Some(Content::Lines(objects, repairs))
}

/// Makes one candidate of several objects, if each fills a fence, or an item of one numbered list.
///
/// Any other candidate between them may be the answer, so nothing is joined beside one.
pub(super) fn join_objects<'t>(text: &str, candidates: Vec<Candidate<'t>>) -> Vec<Candidate<'t>> {
    let [first, .., last] = &candidates[..] else {
        return candidates;
    };
    let place = first.place;
    let part = first.part.start..last.part.end;
    let mut are_fenced = true;
    for candidate in &candidates {
        if !matches!(candidate.content, Content::Json(Json::Object(_), _)) {
            return candidates;
        }
        are_fenced &= candidate.place == Enclosure::Fence;
    }
    if !are_fenced && !is_numbered_list(text, &candidates) {
        return candidates;
    }
    let mut objects = Vec::with_capacity(candidates.len());
    let mut all_repairs = Repairs::default();
    for candidate in candidates {
        if let Content::Json(object, repairs) = candidate.content {
            for repair in repairs.iter() {
                all_repairs.add(repair.kind, repair.at);
            }
            objects.push((candidate.part, object));
        }
    }
    vec![Candidate {
        place,
        part,
        content: Content::Lines(objects, all_repairs),
    }]
}

/// Whether before each candidate there is a number on its line, one more than
/// before the last one, and no other text between.
fn is_numbered_list(text: &str, candidates: &[Candidate<'_>]) -> bool {
    let mut end = 0;
    let mut last: Option<u32> = None;
    for candidate in candidates {
        let before = &text[end..candidate.part.start];
        let (between, line) = before.rsplit_once('\n').unwrap_or(("", before));
        let Some(number) = item_number(line) else {
            return false;
        };
        if let Some(last) = last {
            let follows = last.checked_add(1) == Some(number);
            if !follows || !is_blank(between) {
                return false;
            }
        }
        end = candidate.part.end;
        last = Some(number);
    }
    // Words behind the last object would belong to its item.
    text[end..].lines().next().is_none_or(is_blank)
}

/// The number in `2. ` or `2) `.
fn item_number(line: &str) -> Option<u32> {
    let number = line.trim().strip_suffix(['.', ')'])?;
    number.parse().ok()
}

/// Also removes byte order marks and zero-width characters.
pub(super) fn trimmed(text: &str) -> &str {
    text.trim_matches(repair::is_space)
}

/// Whether nobody would see anything in it.
fn is_blank(text: &str) -> bool {
    text.chars().all(repair::is_space)
}

/// `part` must be a slice of `text`.
pub(super) fn offset(text: &str, part: &str) -> usize {
    part.as_ptr().addr().saturating_sub(text.as_ptr().addr())
}
