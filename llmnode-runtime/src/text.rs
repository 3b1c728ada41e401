//! Cutting text without breaking characters or lines.

use std::borrow::Cow;

/// The largest index up to `at` that does not split a character.
pub(crate) fn floor_char_boundary(text: &str, at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    (0..=at).rev().find(|index| text.is_char_boundary(*index)).unwrap_or(0)
}

/// The text, cut at `cap` bytes.
pub(crate) fn cut(mut text: String, cap: usize) -> String {
    if text.len() > cap {
        text.truncate(floor_char_boundary(&text, cap));
        text.shrink_to_fit();
    }
    text
}

/// The text on one line, cut at `cap` bytes: control characters and line ends become spaces. A text that is so
/// already is not copied.
pub(crate) fn one_line<'t>(text: impl Into<Cow<'t, str>>, cap: usize) -> String {
    let text = text.into();
    let end = floor_char_boundary(&text, cap);
    if end == text.len() && !text.contains(breaks_line) {
        return text.into_owned();
    }
    let mut line = String::with_capacity(end + " …".len());
    line.extend(text[..end].chars().map(|c| if breaks_line(c) { ' ' } else { c }));
    if end < text.len() {
        line.push_str(" …");
    }
    line
}

/// The text on one line, about `cap` bytes of it: of a longer one the begin, which says what is wrong, and the
/// end, where what would be right often stands.
pub(crate) fn one_line_shortened(text: String, cap: usize) -> String {
    if text.len() <= cap {
        return one_line(text, cap);
    }
    let head = floor_char_boundary(&text, cap / 4);
    let tail = floor_char_boundary(&text, text.len() - cap * 3 / 4);
    format!("{} … {}", one_line(&text[..head], head), one_line(&text[tail..], text.len()))
}

fn breaks_line(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_between_characters() {
        assert_eq!(one_line("häuser\nboot", 2), "h …");
        assert_eq!(one_line("häuser\nboot\u{2028}x", 100), "häuser boot x");
        assert_eq!(cut("häuser".to_owned(), 2), "h");
    }

    #[test]
    fn keeps_both_ends_of_a_long_text() {
        assert_eq!(one_line_shortened("äöü\n".to_owned(), 8), "äöü ");
        assert_eq!(one_line_shortened("aaaabbbbccccääää".to_owned(), 8), "aa … äää");
        for cap in 0..20 {
            let line = one_line_shortened("ä€".repeat(9), cap);
            assert!(line.len() <= cap + 8, "{line}");
        }
    }
}
