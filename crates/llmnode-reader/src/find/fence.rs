//! Code fences.

use std::ops::Range;

/// An unclosed fence extends to the end of the text.
pub(super) struct Fence {
    pub(super) content: Range<usize>,
    pub(super) end: usize,
}

impl Fence {
    pub(super) fn at(text: &str, at: usize) -> Option<Fence> {
        let mark = *text.as_bytes().get(at)?;
        if !matches!(mark, b'`' | b'~') {
            return None;
        }
        let is_mark = |byte: &u8| *byte == mark;
        let length = text.as_bytes()[at..]
            .iter()
            .take_while(|byte| is_mark(byte))
            .count();
        let is_fence = length >= 3
            && (mark == b'`' || (mark == b'~' && super::context::begins_line(&text[..at])));
        // Beside a quotation mark, it is part of a string.
        let is_text = |c: char| c == '"' || c == '\'';
        if !is_fence || text[..at].ends_with(is_text) || text[at + length..].starts_with(is_text) {
            return None;
        }
        let marks = &text[at..at + length];
        let tag = at + length;
        let is_tag =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '#' | '.');
        let behind = tag + text[tag..].find(|c| !is_tag(c)).unwrap_or(text.len() - tag);
        let next = marks_from(text, behind, marks).unwrap_or(text.len());
        let line_end = text[behind..next]
            .find('\n')
            .map_or(next, |found| behind + found);
        if line_end < text.len() && line_end == next {
            return Some(Fence {
                content: behind..next,
                end: next + length,
            });
        }
        let line = &text[behind..line_end];
        let content = if line.trim_start().starts_with(['{', '[', '"']) {
            behind
        } else {
            line_end
        };
        Some(closed(text, content, marks))
    }
}

fn marks_from(text: &str, mut at: usize, marks: &str) -> Option<usize> {
    let mark = marks.chars().next()?;
    loop {
        at += text[at..].find(mark)?;
        let run = text.as_bytes()[at..]
            .iter()
            .take_while(|byte| **byte == marks.as_bytes()[0])
            .count();
        if run >= marks.len() {
            return Some(at);
        }
        at += run;
    }
}

/// Ends at a line of marks, or at marks behind a bracket at the end of a line.
fn closed(text: &str, content: usize, marks: &str) -> Fence {
    const MAX_LINES: u32 = 8;
    let mut at = content;
    let mut glued = None;
    let mut lines = 0;
    while lines < MAX_LINES
        && let Some(found) = marks_from(text, at, marks)
    {
        let begin = text[at..found].rfind('\n').map_or(at, |end| at + end + 1);
        let end = text[found..]
            .find('\n')
            .map_or(text.len(), |end| found + end + 1);
        let line = &text[begin..end];
        let bare = line.trim();
        if bare.starts_with(marks) && bare.bytes().all(|byte| byte == marks.as_bytes()[0]) {
            return Fence {
                content: content..begin,
                end,
            };
        }
        if let Some(before) = bare
            .strip_suffix(marks)
            .filter(|before| before.ends_with(['}', ']']))
        {
            let end = begin + line.find(before).unwrap_or(0) + before.len();
            glued.get_or_insert(Fence {
                content: content..end,
                end: end + marks.len(),
            });
        }
        lines += u32::from(glued.is_some());
        at = end;
    }
    glued.unwrap_or(Fence {
        content: content..text.len(),
        end: text.len(),
    })
}
