//! Code fences.

use std::ops::Range;

/// A fence, closed or not: then it goes to the end of the text.
pub(super) struct Fence {
    pub(super) content: Range<usize>,
    pub(super) end: usize,
}

impl Fence {
    /// The fence that begins with the mark at `at`.
    pub(super) fn at(text: &str, at: usize) -> Option<Fence> {
        let mark = text.as_bytes()[at];
        if !matches!(mark, b'`' | b'~') {
            return None;
        }
        let is_mark = |byte: &u8| *byte == mark;
        let length = text.as_bytes()[at..].iter().take_while(|byte| is_mark(byte)).count();
        let is_fence =
            length >= 3 && (mark == b'`' || (mark == b'~' && super::around::begins_line(&text[..at])));
        // Beside a quotation mark it is a part of a string.
        let is_text = |c: char| c == '"' || c == '\'';
        if !is_fence || text[..at].ends_with(is_text) || text[at + length..].starts_with(is_text) {
            return None;
        }
        let marks = &text[at..at + length];
        let tag = at + length;
        let is_tag = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '#' | '.');
        let behind = tag + text[tag..].find(|c| !is_tag(c)).unwrap_or(text.len() - tag);
        let line_end = text[behind..].find('\n').map_or(text.len(), |found| behind + found);
        let line = &text[behind..line_end];
        if let Some(found) = line.find(marks) {
            // All of it on one line.
            let end = behind + found;
            return Some(Fence { content: behind..end, end: end + length });
        }
        let content = if line.trim_start().starts_with(['{', '[', '"']) { behind } else { line_end };
        Some(closed(text, content, marks))
    }
}

/// The fence whose content begins at `content`, up to the line that has nothing but its marks, or that ends in them behind
/// a bracket.
fn closed(text: &str, content: usize, marks: &str) -> Fence {
    let mut at = content;
    let mut glued = None;
    for line in text[content..].split_inclusive('\n') {
        let bare = line.trim();
        if bare.starts_with(marks) && bare.bytes().all(|byte| byte == marks.as_bytes()[0]) {
            return Fence { content: content..at, end: at + line.len() };
        }
        if let Some(before) = bare.strip_suffix(marks).filter(|before| before.ends_with(['}', ']'])) {
            let end = at + line.find(before).unwrap_or(0) + before.len();
            glued.get_or_insert(Fence { content: content..end, end: end + marks.len() });
        }
        at += line.len();
    }
    glued.unwrap_or(Fence { content: content..text.len(), end: text.len() })
}
