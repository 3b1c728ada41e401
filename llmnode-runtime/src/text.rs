//! Cutting text without breaking characters or lines.

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

/// The text on one line, cut at `cap` bytes: control characters and line ends become spaces.
pub(crate) fn one_line(text: &str, cap: usize) -> String {
    let end = floor_char_boundary(text, cap);
    let mut line: String = text[..end].chars().map(on_one_line).collect();
    if end < text.len() {
        line.push_str(" …");
    }
    line
}

/// The text on one line, about `cap` bytes of it: of a longer one the begin, which says what is wrong, and the
/// end, where what would be right often stands.
pub(crate) fn one_line_shortened(text: &str, cap: usize) -> String {
    if text.len() <= cap {
        return one_line(text, cap);
    }
    let head = floor_char_boundary(text, cap / 4);
    let tail = floor_char_boundary(text, text.len() - cap * 3 / 4);
    format!("{} … {}", one_line(&text[..head], head), one_line(&text[tail..], text.len()))
}

fn on_one_line(c: char) -> char {
    if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c }
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
        assert_eq!(one_line_shortened("äöü\n", 8), "äöü ");
        assert_eq!(one_line_shortened("aaaabbbbccccääää", 8), "aa … äää");
        for cap in 0..20 {
            let line = one_line_shortened(&"ä€".repeat(9), cap);
            assert!(line.len() <= cap + 8, "{line}");
        }
    }
}
