//! The values in code fences.

use std::ops::Range;

use super::candidates::Candidates;
use super::error::{ReadError, broken};
use super::find::{Search, is_json, offset, trimmed};
use super::prose;
use super::repair::Repairs;
use crate::flag::Flag;

/// Adds the values in the code fences of a part of the text.
pub(super) fn search<'t>(
    search: Search<'t, '_>,
    part: Range<usize>,
    candidates: &mut Candidates<'t, '_>,
) -> Result<(), ReadError> {
    for block in Blocks::of(search.text, part) {
        add(search, &block, candidates)?;
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
}

impl<'t> Iterator for Blocks<'t> {
    type Item = Block<'t>;

    fn next(&mut self) -> Option<Block<'t>> {
        let mut open: Option<Fence<'t>> = None;
        for line in self.text[self.at..self.end].split_inclusive('\n') {
            let start = self.at;
            self.at += line.len();
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
    mark: char,
    length: usize,
    tag: &'t str,
    content: usize,
}

impl<'t> Fence<'t> {
    fn opened_by(line: &'t str, content: usize) -> Option<Self> {
        let line = line.trim();
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let tag = line.trim_start_matches(mark);
        let length = line.len() - tag.len();
        // Not code within the line, nor JSON that begins on the fence's own line.
        (length >= 3 && !tag.contains([mark, '{', '['])).then(|| Fence {
            mark,
            length,
            tag: tag.trim_start(),
            content,
        })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|c| c == self.mark)
    }
}
