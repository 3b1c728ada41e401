//! Texts in columns of a terminal.
//!
//! A text of a model comes in; out come lines that take no more columns than they may. First what looks like a key goes, then line
//! breaks and characters that nobody sees become visible, so that no answer moves the cursor. Only then the columns are counted: a
//! letter of Chinese takes two, an accent that stands on the letter before it takes none. A line breaks between words if it can, and
//! never between a letter and its accents. What is too long ends with `…`.

use llmnode_model::ext::redact;
use llmnode_reader::text::{one_line, visible};

/// Of a text, so many bytes are looked at for each column: a letter of four bytes with as much in accents.
const BYTES_PER_COLUMN: usize = 8;

/// A text of a model or a metric on one line, of at most about so many bytes, without what a terminal would obey and what looks like a
/// key.
pub(super) fn shown(text: &str, bytes: usize) -> String {
    let clean = redact(text, &[]);
    visible(&one_line(clean, bytes)).into_owned()
}

/// At most so many lines, each at most `width` columns wide.
pub(super) fn wrapped(text: &str, width: usize, lines: usize) -> Vec<String> {
    let text = shown(text, width * lines * BYTES_PER_COLUMN);
    let mut left = text.trim();
    let mut wrapped = Vec::new();
    while !left.is_empty() && wrapped.len() < lines {
        let is_last = wrapped.len() + 1 == lines;
        let line = if is_last {
            cut(left, width)
        } else {
            line_of(left, width).to_owned()
        };
        // What the last line has no room for is gone.
        left = if is_last {
            ""
        } else {
            left[line.len()..].trim_start()
        };
        wrapped.push(line.trim_end().to_owned());
    }
    wrapped
}

/// The text with spaces behind it, up to this width.
pub(super) fn padded(text: &str, width: usize) -> String {
    let spaces = width.saturating_sub(columns(text));
    format!("{text}{}", " ".repeat(spaces))
}

/// The text if it is narrow enough, else its start and `…`.
fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let end = fitting(text, width.saturating_sub(1));
    format!("{}…", text[..end].trim_end())
}

/// As many words as fit, or a part of the first one.
fn line_of(text: &str, width: usize) -> &str {
    let end = fitting(text, width);
    let is_between_words = end == text.len() || text[end..].starts_with(' ');
    let at_space = text[..end].rfind(' ').filter(|space| *space > 0);
    match at_space {
        Some(space) if !is_between_words => &text[..space],
        _ => &text[..end],
    }
}

/// Where the text ends that fits, never before an accent. One letter fits at least, so that there is an end.
fn fitting(text: &str, width: usize) -> usize {
    let mut taken = 0;
    for (at, letter) in text.char_indices() {
        taken += width_of(letter);
        if taken > width && at > 0 {
            return at;
        }
    }
    text.len()
}

/// How many columns it takes.
pub(super) fn columns(text: &str) -> usize {
    text.chars().map(width_of).sum()
}

/// As terminals count: `wcwidth` over the ranges that are in use.
fn width_of(letter: char) -> usize {
    if is_on_the_letter_before(letter) {
        0
    } else if is_wide(letter) {
        2
    } else {
        1
    }
}

fn is_on_the_letter_before(letter: char) -> bool {
    matches!(letter,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}'..='\u{5c2}'
        | '\u{5c4}'..='\u{5c5}' | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6dc}'
        | '\u{6df}'..='\u{6e4}' | '\u{6e7}'..='\u{6e8}' | '\u{6ea}'..='\u{6ed}' | '\u{900}'..='\u{902}' | '\u{93a}' | '\u{93c}'
        | '\u{941}'..='\u{948}' | '\u{94d}' | '\u{951}'..='\u{957}' | '\u{9bc}' | '\u{9c1}'..='\u{9c4}' | '\u{9cd}'
        | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}' | '\u{eb1}' | '\u{eb4}'..='\u{ebc}'
        | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20f0}' | '\u{3099}'..='\u{309a}'
        | '\u{fe20}'..='\u{fe2f}')
}

fn is_wide(letter: char) -> bool {
    matches!(letter,
        '\u{1100}'..='\u{115f}' | '\u{231a}'..='\u{231b}' | '\u{23e9}'..='\u{23ec}' | '\u{2614}'..='\u{2615}'
        | '\u{26a1}' | '\u{26d4}' | '\u{2705}' | '\u{270a}'..='\u{270b}' | '\u{2728}' | '\u{274c}' | '\u{274e}'
        | '\u{2753}'..='\u{2755}' | '\u{2757}' | '\u{2795}'..='\u{2797}' | '\u{2b50}' | '\u{2b55}'
        | '\u{2e80}'..='\u{303e}' | '\u{3041}'..='\u{33ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{a000}'..='\u{a4cf}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffe6}' | '\u{1f18e}' | '\u{1f191}'..='\u{1f19a}'
        | '\u{1f200}'..='\u{1f265}' | '\u{1f300}'..='\u{1f64f}' | '\u{1f680}'..='\u{1f6ff}' | '\u{1f7e0}'..='\u{1f7eb}'
        | '\u{1f900}'..='\u{1faff}' | '\u{20000}'..='\u{3fffd}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_a_terminal() {
        for (text, taken) in [
            ("", 0),
            ("roof", 4),
            ("été", 3),
            ("e\u{301}te\u{301}", 3),
            ("屋根", 4),
            ("지붕", 4),
            ("🏠!", 3),
            ("หลังคา", 5),
        ] {
            assert_eq!(columns(text), taken, "{text}");
        }
        assert_eq!(padded("屋根", 6), "屋根  ");
        assert_eq!(padded("too long", 3), "too long");
    }

    #[test]
    fn lines_break_between_words_and_what_is_too_long_is_cut() {
        assert_eq!(wrapped("the roof leaks", 8, 3), ["the roof", "leaks"]);
        assert_eq!(
            wrapped("the roof leaks badly", 8, 2),
            ["the roof", "leaks b…"]
        );
        assert_eq!(
            wrapped("Dampfschifffahrt", 6, 3),
            ["Dampfs", "chifff", "ahrt"]
        );
        assert_eq!(wrapped("屋根が漏れています", 7, 2), ["屋根が", "漏れて…"]);
        // An accent stays with its letter, and a line of no room still ends.
        assert_eq!(
            wrapped("ae\u{301}e\u{301}", 2, 2),
            ["ae\u{301}", "e\u{301}"]
        );
        assert_eq!(wrapped("屋根", 1, 5), ["屋", "根"]);
        assert!(wrapped(" \n ", 8, 2).is_empty());
    }

    #[test]
    fn no_answer_moves_the_cursor_or_shows_a_key() {
        let text = "\u{1b}[2J\r\nabc\u{202e}d Bearer abcdef0123456789";
        let line = shown(text, 200);
        assert!(
            !line.contains(|c: char| c.is_control() || c == '\u{202e}'),
            "{line}"
        );
        assert!(
            line.contains("[redacted]") && !line.contains("abcdef0123456789"),
            "{line}"
        );
        let key = format!("sk-{}", "a1B2".repeat(10));
        assert!(!wrapped(&key, 10, 9).concat().contains("a1B2"));
    }
}
