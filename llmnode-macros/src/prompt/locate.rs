//! Positions in string literals: line and column in the value, and byte offsets in the source.
//!
//! Three countings meet here. A fault has a *byte of the text*. Messages have *line
//! and column*, in characters. The compiler's underlines need *bytes of the token*,
//! in which escapes are longer than what they stand for. `source_offsets` maps the
//! first to the last.

use std::fmt;
use std::ops::Range;

/// In the *value* of a literal, from 1, in characters. Prints as `2:8`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Position {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Of a byte of the text.
pub(crate) fn position(value: &str, offset: usize) -> Position {
    let before = &value[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Position {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}

/// Drawn as rustc does, for errors that can only underline the entire literal.
/// A tab counts as one column, as in rustc's pictures.
pub(crate) fn excerpt(value: &str, range: &Range<usize>) -> String {
    const WIDTH: usize = 72;
    let at = position(value, range.start);
    let line = value.lines().nth(at.line - 1).unwrap_or_default();
    // A long line is cut around the marked part.
    let skipped = (at.column - 1).saturating_sub(WIDTH / 2);
    let shown: String = line
        .chars()
        .skip(skipped)
        .take(WIDTH)
        .map(|c| if c == '\t' { ' ' } else { c })
        .collect();
    let before = at.column - 1 - skipped;
    // Carets do not go beyond what is shown, and there is at least one.
    let room = shown.chars().count().saturating_sub(before).max(1);
    let marked = value[range.clone()]
        .chars()
        .take_while(|&c| c != '\n')
        .count()
        .clamp(1, room);
    let number = at.line.to_string();
    let margin = " ".repeat(number.len());
    format!(
        "{margin} |\n{number} | {shown}\n{margin} | {}{}",
        " ".repeat(before),
        "^".repeat(marked)
    )
}

/// From offsets in the value to those in the token, quotes included. `None`: it is another literal.
/// One entry for each byte of the value, and one for its end. Checked against the
/// value: the token may be of a literal that a macro made.
pub(crate) fn source_offsets(token: &str, value: &str) -> Option<Vec<usize>> {
    let mut offsets = Vec::with_capacity(value.len() + 1);
    // A raw literal has no escapes: all offsets move by its opening.
    if let Some(raw) = token.strip_prefix('r') {
        let hashes = raw.find('"')?;
        let start = hashes + 2;
        let inside = token.get(start..token.len().checked_sub(hashes + 1)?)?;
        offsets.extend(start..=start + inside.len());
        return (inside == value).then_some(offsets);
    }
    let inside = token.strip_prefix('"')?.strip_suffix('"')?;
    let mut at = 0;
    while at < inside.len() {
        let (found, length) = unescape(&inside[at..])?;
        if let Some(found) = found {
            if !value[offsets.len()..].starts_with(found) {
                return None;
            }
            offsets.extend(std::iter::repeat_n(1 + at, found.len_utf8()));
        }
        at += length;
    }
    offsets.push(1 + at);
    (offsets.len() == value.len() + 1).then_some(offsets)
}

/// With the number of bytes that spell it. A line continuation has no character.
/// The escapes of Rust's string literals.
fn unescape(text: &str) -> Option<(Option<char>, usize)> {
    let mut chars = text.chars();
    let first = chars.next()?;
    if first != '\\' {
        return Some((Some(first), first.len_utf8()));
    }
    let found = match chars.next()? {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        '0' => '\0',
        same @ ('\\' | '\'' | '"') => same,
        'x' => {
            let code = u8::from_str_radix(text.get(2..4)?, 16).ok()?;
            return Some((Some(char::from(code)), 4));
        }
        'u' => {
            let end = text.find('}')?;
            let code = u32::from_str_radix(&text.get(3..end)?.replace('_', ""), 16).ok()?;
            return Some((Some(char::from_u32(code)?), end + 1));
        }
        '\n' | '\r' => {
            let rest = text[1..].trim_start_matches([' ', '\t', '\n', '\r']);
            return Some((None, text.len() - rest.len()));
        }
        _ => return None,
    };
    Some((Some(found), 2))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{excerpt, position, source_offsets};

    #[test]
    fn positions_count_characters_from_one() {
        assert_eq!(position("abc", 0).to_string(), "1:1");
        assert_eq!(position("äb\nüx{", 7).to_string(), "2:3");
        assert_eq!(position("a\n", 2).to_string(), "2:1");
    }

    #[test]
    fn an_excerpt_marks_the_range() {
        assert_eq!(
            excerpt("Goal:\nsay {} now", &(10..12)),
            "  |\n2 | say {} now\n  |     ^^"
        );
        assert_eq!(excerpt("{", &(0..1)), "  |\n1 | {\n  | ^");
        let long = format!("{}{{}}{}", "x".repeat(200), "y".repeat(200));
        let marked = excerpt(&long, &(200..202));
        let lines: Vec<_> = marked.lines().collect();
        assert_eq!(&lines[1][lines[2].find('^').unwrap()..][..2], "{}");
        assert!(lines[1].len() < 80);
    }

    #[test]
    fn offsets_through_escapes() {
        let token = r#""a\n\u{e9}\x41\
              {b}\"""#;
        let value = "a\n\u{e9}A{b}\"";
        let offsets = source_offsets(token, value).unwrap();
        let brace = value.find('{').unwrap();
        assert_eq!(&token[offsets[brace]..offsets[brace] + 3], "{b}");
        assert_eq!(offsets[value.len()], token.len() - 1);
        assert_eq!(source_offsets(token, "other"), None);
        assert_eq!(source_offsets(r###"r##"x{"#"##"###, "x{\"#").unwrap()[1], 5);
        for broken in [
            "",
            "\"",
            "r",
            "r#",
            "'a'",
            r#""\q""#,
            r#""\u{110000}""#,
            "r\"ab",
        ] {
            assert_eq!(source_offsets(broken, "ab"), None, "{broken}");
        }
    }

    proptest! {
        #[test]
        fn an_escaped_value_maps_to_itself(value in any::<String>(), token in any::<String>()) {
            let written = format!("{value:?}");
            let offsets = source_offsets(&written, &value).unwrap();
            prop_assert_eq!(offsets.len(), value.len() + 1);
            prop_assert!(offsets.is_sorted());
            // Whatever the token: an answer, never a panic.
            let _ = source_offsets(&token, &value);
        }

        #[test]
        fn an_excerpt_of_anything_has_three_lines(value in "[a-zé\t\r\n]{1,200}", at in any::<prop::sample::Index>()) {
            let starts: Vec<_> = value.char_indices().map(|(start, c)| (start, c.len_utf8())).collect();
            let (start, length) = starts[at.index(starts.len())];
            prop_assert_eq!(excerpt(&value, &(start..start + length)).split('\n').count(), 3);
        }
    }
}
