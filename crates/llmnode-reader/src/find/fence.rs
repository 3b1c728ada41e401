//! Code fences.
//!
//! A fence is three or more backticks, or tildes at the begin of a line. Models
//! close them in odd ways: behind a bracket on its line, within the line that opens
//! them, or not at all. Where it ends is decided here, once, for all who ask.

use std::ops::Range;

/// A fence and what is in it. An unclosed fence extends to the end of the text.
pub(super) struct Fence {
    pub(super) content: Range<usize>,
    /// The byte behind its closing marks.
    pub(super) end: usize,
}

impl Fence {
    /// The fence that opens at this byte.
    pub(super) fn at(text: &str, at: usize) -> Option<Fence> {
        let mark = *text.as_bytes().get(at)?;
        let is_possible = match mark {
            b'`' => true,
            b'~' => super::context::begins_line(&text[..at]),
            _ => false,
        };
        if !is_possible {
            return None;
        }
        let length = run_length(text, at, mark);
        let behind = at + length;
        // Beside a quotation mark, it is part of a string.
        let is_quoted =
            text[..at].ends_with(['"', '\'']) || text[behind..].starts_with(['"', '\'']);
        if length < 3 || is_quoted {
            return None;
        }
        Some(opened(text, behind, &text[at..behind]))
    }
}

/// The fence whose opening marks end at `tag`, where the name of its language may stand.
fn opened(text: &str, tag: usize, marks: &str) -> Fence {
    let name = text[tag..]
        .find(|c| !is_in_language(c))
        .unwrap_or(text.len() - tag);
    let behind = tag + name;
    let next = marks_from(text, behind, marks).unwrap_or(text.len());
    let line_end = match text[behind..next].find('\n') {
        Some(length) => behind + length,
        None => next,
    };
    // It is closed in the line that opens it.
    if line_end < text.len() && line_end == next {
        return Fence {
            content: behind..next,
            end: next + marks.len(),
        };
    }
    // The rest of the line is its title, unless the value begins there.
    let line = text[behind..line_end].trim_start();
    let content = if line.starts_with(['{', '[', '"']) {
        behind
    } else {
        line_end
    };
    closed(text, content, marks)
}

fn is_in_language(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '#' | '.')
}

/// How often this mark stands in a row from `at` on.
pub(super) fn run_length(text: &str, at: usize, mark: u8) -> usize {
    let mut end = at;
    while text.as_bytes().get(end) == Some(&mark) {
        end += 1;
    }
    end - at
}

/// Where from `at` on at least as many marks stand in a row: a fence within a fence has fewer.
fn marks_from(text: &str, mut at: usize, marks: &str) -> Option<usize> {
    let mark = *marks.as_bytes().first()?;
    loop {
        at += text[at..].find(char::from(mark))?;
        let run = run_length(text, at, mark);
        if run >= marks.len() {
            return Some(at);
        }
        at += run;
    }
}

/// Ends at a line of marks, or at marks behind a bracket at the end of a line.
///
/// A line of marks is the better end, also behind the other one: marks behind a
/// bracket may be a part of a string. But it is looked for on a few lines only, or
/// the next fence of the text would be taken for it.
fn closed(text: &str, content: usize, marks: &str) -> Fence {
    const MAX_LINES: u32 = 8;
    let mut at = content;
    let mut behind_bracket = None;
    let mut lines = 0;
    while lines < MAX_LINES
        && let Some(found) = marks_from(text, at, marks)
    {
        let begin = match text[at..found].rfind('\n') {
            Some(line_end) => at + line_end + 1,
            None => at,
        };
        let end = match text[found..].find('\n') {
            Some(line_end) => found + line_end + 1,
            None => text.len(),
        };
        let line = &text[begin..end];
        let bare = line.trim();
        if is_only_marks(bare, marks) {
            return Fence {
                content: content..begin,
                end,
            };
        }
        if let Some(before) = bare.strip_suffix(marks)
            && before.ends_with(['}', ']'])
        {
            let end = begin + line.find(before).unwrap_or(0) + before.len();
            behind_bracket.get_or_insert(Fence {
                content: content..end,
                end: end + marks.len(),
            });
        }
        lines += u32::from(behind_bracket.is_some());
        at = end;
    }
    behind_bracket.unwrap_or(Fence {
        content: content..text.len(),
        end: text.len(),
    })
}

fn is_only_marks(line: &str, marks: &str) -> bool {
    let mark = marks.as_bytes()[0];
    line.starts_with(marks) && line.bytes().all(|byte| byte == mark)
}
