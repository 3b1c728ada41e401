//! A prompt's literal with all but one placeholder blank, so that `format_args!`
//! accepts it and the compiler underlines that placeholder; `probe.rs` explains why
//! and how.

use std::ops::Range;

use proc_macro2::{Ident, Literal, Span};
use syn::LitStr;

use super::locate::source_offsets;
use super::source::Source;

/// `name`: what the literal captures; any name of the right length.
pub(crate) struct Mask {
    pub(crate) literal: Literal,
    pub(crate) name: Ident,
}

impl Mask {
    /// From `{` to behind `}`; resolves at `here`. `None` unless it is in one
    /// literal whose place is known.
    pub(crate) fn of(prompt: &Source, placeholder: &Range<usize>, here: Span) -> Option<Self> {
        let (literal, range) = prompt
            .literal(placeholder)
            .filter(|(literal, _)| is_spanned(literal))?;
        let mut mask = mask(&literal.token().to_string(), &literal.value(), &range)?;
        mask.literal.set_span(literal.span().resolved_at(here));
        Some(mask)
    }
}

/// From a token and its value, so that it can be tested without a compiler.
fn mask(token: &str, value: &str, range: &Range<usize>) -> Option<Mask> {
    let offsets = source_offsets(token, value)?;
    let start = *offsets.get(range.start)?;
    let end = *offsets.get(range.end)?;
    let hashes = if token.starts_with('r') {
        token.find('"')? - 1
    } else {
        0
    };
    // A raw literal opens with more bytes: a placeholder at the start loses its
    // brace, but its name is underlined.
    let opening = hashes + 2;
    let start = start.max(opening);
    let length = end.checked_sub(start + 2).filter(|&length| length > 0)?;
    // A span within a character makes the compiler panic.
    let edges = [start, start + 1, end - 1];
    if !edges.iter().all(|&edge| token.is_char_boundary(edge)) {
        return None;
    }
    let name = "x".repeat(length);
    let blank = " ".repeat(start - opening);
    let hashes = "#".repeat(hashes);
    let literal = format!("r{hashes}\"{blank}{{{name}}}\"{hashes}")
        .parse()
        .ok()?;
    Some(Mask {
        literal,
        name: Ident::new(&name, Span::mixed_site()),
    })
}

/// The fewest bytes that a mask can underline: braces, and a name between them.
const LEAST: usize = 3;

/// As much of the range as is in one line, and with what follows or precedes it if that is too short to be underlined.
pub(super) fn widened(text: &str, range: &Range<usize>) -> Range<usize> {
    let line_end = text[range.start..]
        .find('\n')
        .map_or(text.len(), |newline| range.start + newline);
    let mut end = range.end.min(line_end).max(range.start);
    while end < text.len() && end - range.start < LEAST {
        end += text[end..].chars().next().map_or(LEAST, char::len_utf8);
    }
    let mut start = range.start;
    while start > 0 && end - start < LEAST {
        start -= text[..start]
            .chars()
            .next_back()
            .map_or(start, char::len_utf8);
    }
    start..end
}

/// The literal with nothing but a variable of that name, at its bytes. `None` for
/// one that begins a plain literal.
pub(crate) fn named_mask(
    token: &str,
    value: &str,
    range: &Range<usize>,
    name: &str,
) -> Option<Literal> {
    let start = *source_offsets(token, value)?.get(range.start)?;
    let hashes = if token.starts_with('r') {
        token.find('"')? - 1
    } else {
        0
    };
    let blank = " ".repeat(start.checked_sub(hashes + 2)?);
    let hashes = "#".repeat(hashes);
    format!("r{hashes}\"{blank}{{{name}}}\"{hashes}")
        .parse()
        .ok()
}

/// Another macro may have given the literal a foreign span, in which positions mean nothing.
pub(super) fn is_spanned(literal: &LitStr) -> bool {
    literal
        .span()
        .source_text()
        .is_some_and(|text| text == literal.token().to_string())
}

#[cfg(test)]
mod tests {
    use super::{mask, widened};

    fn masked(token: &str, value: &str) -> Option<String> {
        let start = value.find("{topik").unwrap();
        let end = start + value[start..].find('}').unwrap() + 1;
        mask(token, value, &(start..end)).map(|mask| mask.literal.to_string())
    }

    #[test]
    fn a_mask_keeps_the_variable_at_its_bytes() {
        for (token, value) in [
            (r#""é\n{state.a} {topik}""#, "é\n{state.a} {topik}"),
            (r###"r##"é {a:list} {topik}"##"###, "é {a:list} {topik}"),
            (r#"" {topik:list}!""#, " {topik:list}!"),
            (r#"r"{topik}""#, "{topik}"),
        ] {
            let masked = masked(token, value).unwrap();
            assert_eq!(masked.find('{'), token.find("{topik"), "{token}");
            assert_eq!(
                masked.find('}'),
                token
                    .find("{topik")
                    .map(|at| at + token[at..].find('}').unwrap())
            );
        }
    }

    #[test]
    fn a_mask_of_the_first_byte_of_a_plain_literal_has_the_name() {
        let masked = masked(r#""{topik}""#, "{topik}").unwrap();
        assert_eq!(masked, r#"r"{xxxx}""#);
        assert_eq!(masked.find('}'), Some(7));
        assert!(mask(r#""{a}""#, "{a}", &(0..3)).is_none());
    }

    #[test]
    fn no_mask_begins_or_ends_within_a_character() {
        for (value, range) in [
            ("é}x", 0..4),
            ("€}", 0..4),
            ("{é.b}", 1..6),
            ("{a.é}", 1..5),
        ] {
            let token = format!("{value:?}");
            assert!(mask(&token, value, &range).is_none(), "{value} {range:?}");
        }
    }

    #[test]
    fn a_short_range_is_widened() {
        let text = "a {b\nc}\n{é";
        let part = |range| text[widened(text, &range)].to_owned();
        assert_eq!(part(2..3), "{b\n");
        assert_eq!(part(2..8), "{b\n");
        assert_eq!(part(6..7), "}\n{");
        assert_eq!(part(8..9), "{é");
        assert_eq!(part(9..11), "{é");
        assert_eq!(part(0..4), "a {b");
    }
}
