//! Finds the JSON in a text: one pass from left to right, in which whatever begins first owns everything up to its end.
//!
//! The text of a model comes in; candidates for the answer go out, in the order of the text, each with where it stands (the whole
//! text, a fence, a tag, prose) and what it is. In this order:
//!
//! 1. Is the whole text one value? Then it is the only candidate.
//! 2. Else marks are looked for, and the first one decides: a tag of thinking (what is in it is no answer; behind it, step 1 is tried
//!    again), a fence (the same for what is in it), a bracket (is it JSON, or a word in brackets, a template, code?).
//! 3. If nothing was found, the words are a candidate: they may name a choice.
//!
//! A bracket that does not parse is a candidate as well, a *broken* one: if the answer is broken and an example beside it is
//! not, the example must not be taken for the answer. Only what clearly is no JSON is dropped.
//!
//! The time is bounded by the length of the text, also for texts that were made to be slow: each byte is owned by one mark, and
//! whatever reads ahead counts how often it did (`MAX_WHOLE_SCANS`).
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
use self::fence::Fence;
pub(super) use self::thinking::{Tag, find_closing, tag_at};
pub use self::thoughts::{Spoken, Thoughts, without_thoughts};
use super::json::Json;
use super::repair::{self, ParsedJson, Repairs, SyntaxError, is_quote, skip_blank};

/// Where a candidate stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Enclosure {
    /// Except thinking.
    WholeText,
    Fence,
    Tag,
    Prose,
}

#[derive(Debug)]
pub(super) struct Candidate<'t> {
    pub(super) place: Enclosure,
    pub(super) part: Range<usize>,
    pub(super) content: Content<'t>,
}

#[derive(Debug)]
pub(super) enum Content<'t> {
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

#[derive(Debug, Default)]
pub(super) struct Scan<'t> {
    pub(super) candidates: Vec<Candidate<'t>>,
    /// The byte of the first tag of thinking.
    pub(super) thinking: Option<usize>,
    /// The byte of a tag that is never closed: what follows may be thoughts or the answer, and nobody knows which.
    pub(super) unclosed_thinking: Option<usize>,
}

/// Looks for candidates. `lenient`: what is nearly JSON is one, too.
pub(super) fn scan(text: &str, lenient: bool) -> Scan<'_> {
    #[cfg(test)]
    super::counts::add(|counts| counts.walked += 1);
    let mut scan = Scanner {
        text,
        lenient,
        at: 0,
        start: 0,
        end: text.len(),
        whole_scans: 0,
        found: Scan::default(),
    };
    scan.run();
    scan.found
}

/// What is in the only fence of a text that has nothing else which could be an answer.
pub(super) fn only_fence(text: &str) -> Option<Range<usize>> {
    const OTHER_MARKS: [char; 6] = ['{', '[', '<', '◁', '`', '~'];
    let at = text.find("```")?;
    let fence = Fence::at(text, at)?;
    if text[..at].contains(OTHER_MARKS) || text[fence.end..].contains(OTHER_MARKS) {
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
    (fence.end == text.len() && !content.contains("```")).then_some(content)
}

/// Found in JSON and in marks of thinking, but not in words.
const MARKS: [char; 7] = ['{', '[', '"', '\'', '`', '<', '◁'];
/// Each may read the rest of the text.
const MAX_WHOLE_SCANS: u32 = 32;

struct Scanner<'t> {
    text: &'t str,
    lenient: bool,
    at: usize,
    /// Where the part begins and ends that is searched: the text behind its thoughts, or the content of a fence.
    start: usize,
    end: usize,
    whole_scans: u32,
    found: Scan<'t>,
}

impl<'t> Scanner<'t> {
    fn run(&mut self) {
        if self.try_whole_text() {
            return;
        }
        while let Some(found) = self.text.as_bytes()[self.at..]
            .iter()
            .position(|byte| matches!(byte, b'{' | b'[' | b'`' | b'~' | b'<' | 0xe2))
        {
            self.at += found;
            if let Some(tag) = thinking::tag_at(self.text, self.at, self.start) {
                if !self.skip_thinking(&tag) {
                    return;
                }
            } else if let Some(fence) = Fence::at(self.text, self.at) {
                self.fence(&fence);
                self.at = fence.end;
            } else if matches!(self.text.as_bytes()[self.at], b'{' | b'[') {
                self.bracket();
            } else {
                // Each run of marks is examined once.
                let byte = self.text.as_bytes()[self.at];
                let run = self.text.as_bytes()[self.at..]
                    .iter()
                    .take_while(|one| **one == byte)
                    .count();
                self.at += if matches!(byte, b'`' | b'~') { run } else { 1 };
            }
        }
        self.only_words();
    }

    /// A closing mark alone ends thinking too, since a template may put the opening one into the prompt.
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
        if tag.opens && !is_blank(&self.text[self.start..tag.at.start]) {
            return true;
        }
        self.start = end;
        self.whole_scans += 1;
        self.whole_scans > MAX_WHOLE_SCANS || !self.try_whole_text()
    }

    /// Whether all that is left is one value, which then is a candidate.
    fn try_whole_text(&mut self) -> bool {
        let text = trimmed(&self.text[self.start..]);
        self.start = offset(self.text, text);
        let part = self.start..self.start + text.len();
        match self
            .value(part.clone())
            .or_else(|| self.after_comments(part.clone()))
        {
            Some(content) => {
                self.push(Enclosure::WholeText, part, content);
                true
            }
            None => false,
        }
    }

    fn after_comments(&self, part: Range<usize>) -> Option<Content<'t>> {
        let begin = skip_blank(&self.text[..part.end], part.start);
        if begin == part.start || !self.lenient || self.text[part.start..begin].contains(MARKS) {
            return None;
        }
        self.value(begin..part.end)?
            .repaired(repair::kind::COMMENT, part.start)
    }

    /// Either one value, or only objects on separate lines.
    fn value(&self, part: Range<usize>) -> Option<Content<'t>> {
        let text = &self.text[..part.end];
        let begin = part.start;
        let first = text[begin..].chars().next()?;
        let is_literal = || matches!(&text[begin..], "true" | "false" | "null");
        if !(matches!(first, '{' | '[' | '"' | '-' | '0'..='9') || is_literal()) {
            return None;
        }
        let structured = matches!(first, '{' | '[');
        if structured
            && let Some(json) = self
                .lenient
                .then(|| parse_escaped(&text[begin..]))
                .flatten()
        {
            let mut repairs = Repairs::default();
            repairs.add(repair::kind::QUOTED, begin);
            return Some(Content::Json(json, repairs));
        }
        let parsed = repair::parse(text, begin, structured && self.lenient).ok()?;
        let mut repairs = parsed.repairs.clone();
        if structured && self.lenient && text[parsed.end..].trim_end() == "," {
            repairs.add(repair::kind::COMMA, parsed.end);
            return Some(Content::Json(parsed.json, repairs));
        }
        let rest = if self.lenient {
            skip_blank(text, parsed.end)
        } else {
            parsed.end
        };
        // A comment with brackets or quotes may hold another version.
        if rest == text.len() && !text[parsed.end..].contains(MARKS) {
            if parsed.end < rest {
                repairs.add(repair::kind::COMMENT, parsed.end);
            }
            return Some(Content::Json(parsed.json, repairs));
        }
        lines(text, begin, parsed, self.lenient)
    }

    /// Looks into a fence: one value, an assignment of one, or objects among other lines.
    fn fence(&mut self, fence: &Fence) {
        let content = trimmed(&self.text[fence.content.clone()]);
        let begin = offset(self.text, content);
        let part = begin..begin + content.len();
        if let Some(content) = self
            .value(part.clone())
            .or_else(|| self.assignment_value(part.clone()))
        {
            return self.push(Enclosure::Fence, part, content);
        }
        let before = self.found.candidates.len();
        let at = self.at;
        let start = self.start;
        let end = self.end;
        self.at = part.start;
        self.start = part.start;
        self.end = part.end;
        while let Some(found) = self.text.as_bytes()[self.at..part.end]
            .iter()
            .position(|byte| matches!(byte, b'{' | b'['))
        {
            self.at += found;
            if begins_line(&self.text[part.start..self.at])
                || !begins_json(&self.text[..part.end], self.at)
            {
                self.bracket();
                continue;
            }
            let what = "the JSON is part of code; answer with only the JSON";
            let fault = SyntaxError {
                at: self.at,
                what: Some(what.into()),
            };
            let end = matching_end(&self.text[..part.end], self.at).unwrap_or(part.end);
            if self.text[self.at..end].contains(['{', '"']) {
                self.push(Enclosure::Prose, self.at..end, Content::Broken(fault));
            }
            self.at = end;
        }
        self.at = at;
        self.start = start;
        self.end = end;
        if self.found.candidates.len() == before && !part.is_empty() {
            self.push(Enclosure::Fence, part, Content::Text);
        }
    }

    /// `const filter = {..};`, if the fence contains nothing else.
    fn assignment_value(&self, part: Range<usize>) -> Option<Content<'t>> {
        let text = self.text[..part.end].trim_end_matches(';');
        let line = text.get(part.start..)?.lines().next()?;
        let name = line.find('=').filter(|_| self.lenient)?;
        let begin = part.start + name + 1;
        let value = text[begin..].trim_start();
        if name == 0
            || !line[..name].chars().all(|c: char| {
                c.is_alphanumeric() || matches!(c, '_' | ' ' | '.' | ':' | '<' | '>' | ',')
            })
            || !value.starts_with(['{', '['])
        {
            return None;
        }
        let value = self.value(text.len() - value.len()..text.len())?;
        value.repaired(repair::kind::ASSIGNMENT, part.start)
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
            Ok(ParsedJson { json, end, repairs }) => {
                self.at = end;
                let place = if fills_tag(text, &(begin..end)) {
                    Enclosure::Tag
                } else {
                    Enclosure::Prose
                };
                let odd = !repairs.is_empty() && !self.is_likely_json(begin);
                if place == Enclosure::Prose && (!holds_members(&json) || odd) {
                    return;
                }
                let content = match standalone_fault(text, begin..end) {
                    Some(fault) => Content::Broken(fault),
                    None => Content::Json(json, repairs),
                };
                self.push(place, begin..end, content);
            }
            Err(fault) => {
                let end = matching_end(text, begin);
                let part = begin..end.unwrap_or(text.len()).max(fault.at.min(text.len()));
                self.at = part.end;
                let is_all = is_blank(&text[self.start..begin]) && is_blank(&text[part.end..]);
                let inner = &text[part.clone()];
                let is_list = inner.starts_with('[') && !inner.contains(['{', '"']);
                let is_template =
                    end.is_some() && inner.starts_with("{{") && !inner.contains(['"', '\'', ':']);
                let is_odd = inner.starts_with('{')
                    && !inner.starts_with("{{")
                    && !self.is_likely_json(begin);
                if is_all || !(is_list || is_template || is_odd) {
                    self.push(Enclosure::Prose, part, Content::Broken(fault));
                }
            }
        }
    }

    /// If the first key is quoted, or the line before the bracket has only a tag or words with a colon.
    fn is_likely_json(&self, begin: usize) -> bool {
        let inner = self.text[begin..self.end]
            .trim_start_matches(|c: char| matches!(c, '{' | '[') || c.is_whitespace());
        let before = self.text[..begin].trim_end_matches([' ', '\t']);
        inner.starts_with(is_quote)
            || begins_line(before)
            || before.ends_with(':')
            || tag_before(before).is_some_and(|(before, _)| begins_line(before))
    }

    fn push(&mut self, place: Enclosure, part: Range<usize>, content: Content<'t>) {
        self.found.candidates.push(Candidate {
            place,
            part,
            content,
        });
    }

    /// A text without JSON is a candidate itself.
    fn only_words(&mut self) {
        let text = trimmed(&self.text[self.start..]);
        if self.found.candidates.is_empty() && !text.is_empty() {
            let begin = offset(self.text, text);
            self.push(
                Enclosure::WholeText,
                begin..begin + text.len(),
                Content::Text,
            );
        }
    }
}

/// As in `{\"a\": 1}`.
fn parse_escaped(text: &str) -> Option<Json<'static>> {
    let inner = text.trim_start_matches(['{', '[', ' ', '\n', '\t', '\r']);
    let inner = inner.trim_start_matches("\\n").trim_start_matches(' ');
    if !inner.starts_with("\\\"") {
        return None;
    }
    let text = text
        .replace('\n', "\\n")
        .replace('\r', "\\r")
        .replace('\t', "\\t");
    let plain: String = serde_json::from_str(&format!("\"{text}\"")).ok()?;
    repair::parse_strict(&plain).map(Json::into_owned)
}

/// Objects on lines of their own, of which this is the first.
fn lines<'t>(
    text: &'t str,
    begin: usize,
    first: ParsedJson<'t>,
    lenient: bool,
) -> Option<Content<'t>> {
    let ParsedJson {
        json: Json::Object(_),
        ..
    } = first
    else {
        return None;
    };
    let mut objects = vec![(begin..first.end, first.json)];
    let mut repairs = first.repairs;
    let mut end = first.end;
    while end < text.len() {
        let next = end + text[end..].find(|c: char| !c.is_whitespace())?;
        if !text[end..next].contains('\n') || !text[next..].starts_with('{') {
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

/// If each fills a fence, or an item of one numbered list.
pub(super) fn join_objects<'t>(text: &str, candidates: Vec<Candidate<'t>>) -> Vec<Candidate<'t>> {
    let fenced = candidates
        .iter()
        .all(|candidate| candidate.place == Enclosure::Fence);
    let [first, .., last] = &candidates[..] else {
        return candidates;
    };
    if !candidates.iter().all(|candidate: &Candidate<'_>| {
        matches!(candidate.content, Content::Json(Json::Object(_), _))
    }) || !(fenced || is_numbered_list(text, &candidates))
    {
        return candidates;
    }
    let place = first.place;
    let part = first.part.start..last.part.end;
    let mut objects = Vec::with_capacity(candidates.len());
    let mut all = Repairs::default();
    for candidate in candidates {
        if let Content::Json(object, repairs) = candidate.content {
            repairs.iter().for_each(|one| all.add(one.kind, one.at));
            objects.push((candidate.part, object));
        }
    }
    vec![Candidate {
        place,
        part,
        content: Content::Lines(objects, all),
    }]
}

fn is_numbered_list(text: &str, candidates: &[Candidate<'_>]) -> bool {
    let mut end = 0;
    let mut last = None;
    for candidate in candidates {
        let (between, line) = text[end..candidate.part.start]
            .rsplit_once('\n')
            .unwrap_or(("", &text[end..candidate.part.start]));
        let number = line
            .trim()
            .strip_suffix(['.', ')'])
            .and_then(|number| number.parse::<u32>().ok());
        let follows =
            last.is_none_or(|last: u32| number == last.checked_add(1) && is_blank(between));
        if number.is_none() || !follows {
            return false;
        }
        (end, last) = (candidate.part.end, number);
    }
    text[end..].lines().next().is_none_or(is_blank)
}

/// Also removes byte order marks and zero-width characters.
pub(super) fn trimmed(text: &str) -> &str {
    text.trim_matches(repair::is_space)
}

fn is_blank(text: &str) -> bool {
    text.chars().all(repair::is_space)
}

/// `part` must be a slice of `text`.
pub(super) fn offset(text: &str, part: &str) -> usize {
    part.as_ptr().addr().saturating_sub(text.as_ptr().addr())
}
