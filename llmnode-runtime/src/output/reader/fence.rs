//! The values in code fences.

use std::ops::Range;

use super::candidates::Candidates;
use super::error::{ReadError, boundary, broken, faulty};
use super::find::{Search, first_of, is_json, offset, trimmed};
use super::prose;
use super::repair::{Repairs, is_quote, parse};
use crate::flag::Flag;

/// Adds the values in the code fences of a part of the text.
pub(super) fn search<'t>(
    search: Search<'t, '_>,
    part: Range<usize>,
    candidates: &mut Candidates<'t, '_>,
) -> Result<(), ReadError> {
    let mut blocks = Blocks::of(search.text, part.clone());
    let (mut gaps, mut gap) = (Vec::new(), part.start);
    while let Some(block) = blocks.next() {
        let over = json_over(search, gap, block.content.start, part.end)?;
        if let Some(end) = over {
            // Its lines are looked at again.
            if !search.fuel.spend(block.content.len()) {
                return Err(ReadError::Tangled);
            }
            blocks = Blocks::of(search.text, end..part.end);
            continue;
        }
        add(search, &block, candidates)?;
        gaps.push(gap..block.content.start);
        gap = block.content.end;
    }
    gaps.push(gap..part.end);
    if candidates.has_one() {
        for gap in gaps {
            rivals(search, gap, candidates)?;
        }
    }
    Ok(())
}

/// Where the JSON ends that begins before a fence and ends behind it, since the fence stands in one of its strings.
///
/// # Errors
/// There is such JSON, and it is broken: what is in the fence is a part of it.
fn json_over(
    search: Search<'_, '_>,
    start: usize,
    fence: usize,
    end: usize,
) -> Result<Option<usize>, ReadError> {
    let text = &search.text[..end];
    let mut at = start;
    while let Some(begin) = text[at..fence.max(at)].find(['{', '[']).map(|found| at + found) {
        at = begin + 1;
        if prose::is_before_fence(&text[at..]) {
            continue;
        }
        match parse(text, begin, search.wanted.repaired, search.fuel) {
            Ok(parsed) => at = parsed.end,
            Err(fault) if fault.what.is_tangled() => return Err(ReadError::Tangled),
            Err(fault) if fault.reached > fence && prose::is_meant(search, &text[begin..], &fault) => {
                return Err(faulty(search.text, begin, &fault));
            }
            Err(fault) => at = boundary(text, fault.reached.min(fence).max(at)),
        }
    }
    Ok((at > fence).then_some(at))
}

/// Adds the objects beside the fences that begin with a key in quotes: of two answers, none is the better one, also if one
/// of them had to be repaired.
fn rivals<'t>(
    search: Search<'t, '_>,
    gap: Range<usize>,
    candidates: &mut Candidates<'t, '_>,
) -> Result<(), ReadError> {
    let text = &search.text[..gap.end];
    let mut at = gap.start;
    while let Some(begin) = text[at..].find('{').map(|found| at + found) {
        let is_quoted = text[begin + 1..].trim_ascii_start().starts_with(is_quote);
        match parse(text, begin, is_quoted && search.wanted.repaired, search.fuel) {
            Ok(parsed) => {
                at = parsed.end;
                if is_quoted && (parsed.is_strict() || !parsed.is_doubtful()) {
                    candidates.add_parsed(begin, &parsed, Repairs::default(), &[Flag::InProse])?;
                }
            }
            Err(fault) if fault.what.is_tangled() => return Err(ReadError::Tangled),
            Err(fault) => at = boundary(text, fault.reached.max(begin + 1)),
        }
    }
    Ok(())
}

/// The content of one fence: a candidate, an error if it was meant to be one, or other code.
fn add<'t>(
    search: Search<'t, '_>,
    block: &Block<'t>,
    candidates: &mut Candidates<'t, '_>,
) -> Result<(), ReadError> {
    let Search { text, wanted, .. } = search;
    let content = trimmed(&text[block.content.clone()]);
    let begin = offset(text, content);
    let end = begin + content.len();
    if content.is_empty() && block.tag.is_empty() {
        return Ok(());
    }
    if is_json(content) {
        return if wanted.object && !content.starts_with(['{', '[']) {
            Ok(())
        } else {
            candidates.add_json(begin..end, &Repairs::default(), &[Flag::Fenced])
        };
    }
    let is_tagged = block.tag.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("json"));
    if !is_tagged && !content.starts_with(['{', '[']) {
        return Ok(());
    }
    let before = candidates.len();
    prose::search(search, begin..end, true, candidates)?;
    if is_tagged && candidates.len() == before && candidates.is_empty() {
        return match serde_json::from_str::<serde::de::IgnoredAny>(content) {
            Err(error) => Err(broken(text, begin, content, &error)),
            Ok(_) => Ok(()),
        };
    }
    Ok(())
}

/// The contents of the fences of a part of a text that are code by their tag: JSON among it is a piece of that.
pub(super) fn code(text: &str, part: Range<usize>) -> Vec<Range<usize>> {
    Blocks::of(text, part).filter(|block| is_code(block.tag)).map(|block| block.content).collect()
}

/// Whether a fence's tag names a language in which no value is written. `js` and `python` are often said of plain JSON.
fn is_code(tag: &str) -> bool {
    const LANGUAGES: &str = "rust rs go golang java kotlin swift c cpp c++ csharp cs c# php ruby rb perl lua r scala dart elixir \
        haskell sh bash shell zsh fish console powershell bat css scss less sass sql yaml yml toml ini html htm diff patch \
        graphql proto protobuf dockerfile makefile nginx hcl terraform latex tex";
    let name = tag.split([' ', '{', ',', ':']).next().unwrap_or("").trim();
    !name.is_empty() && LANGUAGES.split_whitespace().any(|language| name.eq_ignore_ascii_case(language))
}

/// The content of a code fence.
pub(super) struct Block<'t> {
    pub(super) tag: &'t str,
    pub(super) content: Range<usize>,
}

/// The code fences of a part of a text. One that is not closed goes to its end.
pub(super) struct Blocks<'t> {
    text: &'t str,
    at: usize,
    end: usize,
}

impl<'t> Blocks<'t> {
    pub(super) fn of(text: &'t str, part: Range<usize>) -> Self {
        Blocks { text, at: part.start, end: part.end }
    }

    /// The next line that has a fence's mark in it, and where it begins: most have none, and all are looked at.
    fn marked_line(&mut self) -> Option<(usize, &'t str)> {
        let text = &self.text[self.at..self.end];
        let mark = first_of(text.as_bytes(), |byte| matches!(byte, b'`' | b'~'))?;
        let start = text[..mark].rfind('\n').map_or(0, |end| end + 1);
        let end = text[mark..].find('\n').map_or(text.len(), |end| mark + end + 1);
        let begin = self.at + start;
        self.at += end;
        Some((begin, &text[start..end]))
    }
}

impl<'t> Iterator for Blocks<'t> {
    type Item = Block<'t>;

    fn next(&mut self) -> Option<Block<'t>> {
        let mut open: Option<Fence<'t>> = None;
        while let Some((start, line)) = self.marked_line() {
            match &open {
                None => open = Fence::opened_by(line, self.at),
                Some(fence) if fence.is_closed_by(line) => {
                    return Some(Block { tag: fence.tag, content: fence.content..start });
                }
                Some(_) => {}
            }
        }
        open.map(|fence| Block { tag: fence.tag, content: fence.content..self.end })
    }
}

/// An open code fence.
struct Fence<'t> {
    mark: u8,
    length: usize,
    tag: &'t str,
    content: usize,
}

impl<'t> Fence<'t> {
    fn opened_by(line: &'t str, content: usize) -> Option<Self> {
        let line = line.trim();
        let mark = line.bytes().next().filter(|byte| matches!(byte, b'`' | b'~'))?;
        let length = line.bytes().take_while(|byte| *byte == mark).count();
        let tag = &line[length..];
        // Not code within the line, nor JSON that begins on the fence's own line.
        (length >= 3 && !tag.bytes().any(|byte| byte == mark || matches!(byte, b'{' | b'['))).then(|| Fence {
            mark,
            length,
            tag: tag.trim_start(),
            content,
        })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.bytes().all(|byte| byte == self.mark)
    }
}
