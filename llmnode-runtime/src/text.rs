//! Cutting text without breaking characters or lines.

/// The largest index up to `at` that does not split a character.
pub(crate) fn floor_char_boundary(text: &str, at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    (0..=at).rev().find(|index| text.is_char_boundary(*index)).unwrap_or(0)
}

/// The text on one line, cut at `cap` bytes: control characters, line ends among them, become spaces.
pub(crate) fn one_line(text: &str, cap: usize) -> String {
    let end = floor_char_boundary(text, cap);
    let mut line: String = text[..end].chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if end < text.len() {
        line.push_str(" …");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_between_characters() {
        assert_eq!(one_line("häuser\nboot", 2), "h …");
        assert_eq!(one_line("häuser\nboot", 100), "häuser boot");
    }
}
