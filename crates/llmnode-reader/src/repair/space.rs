//! White space and comments. JSON has four kinds of white space and no comments; models write more of both.

use super::{ParseResult, Parser, kind};

impl Parser<'_> {
    pub(super) fn space(&mut self) -> ParseResult<()> {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.byte() {
            self.at += 1;
        }
        if !matches!(self.byte(), Some(b'/' | b'#' | 0x0b | 0x0c | 0x80..)) {
            return Ok(());
        }
        let text = self.text;
        let from = self.at;
        self.at = skip_blank(text, from);
        let mut at = from;
        while at < self.at {
            let end = unit(text, at);
            match text.as_bytes()[at] {
                b' ' | b'\n' | b'\t' | b'\r' => {}
                b'/' | b'#' => {
                    self.repair(kind::COMMENT, at, "JSON has no comments")?;
                    if let Some(fault) = comment_fault(&text[at..end]) {
                        return self.wrong(at, fault);
                    }
                    if self.lists > 0 && text[at..end].contains('"') {
                        return self.wrong(
                            at,
                            "a comment that seems to contain an item; leave the comment out",
                        );
                    }
                    self.commented = !self.text[at..end].starts_with("/*");
                }
                _ => self.repair(kind::SPACE, at, "JSON does not allow this white space")?,
            }
            at = end;
        }
        Ok(())
    }
}

/// Refuses comments that may hide content.
fn comment_fault(comment: &str) -> Option<&'static str> {
    if comment.contains("...") || comment.contains('…') {
        return Some(
            "an ellipsis in a comment, which means that something was left out; write all of it",
        );
    }
    if comment.starts_with("/*")
        && !comment.ends_with("*/")
        && comment.contains(['"', '\'', '{', '}', '[', ']'])
    {
        return Some("a comment that never ends");
    }
    // The line may also hold the next member.
    let is_line = !comment.starts_with("/*");
    if is_line && (has_property(comment, '"') || has_property(comment, '\'')) {
        return Some("a comment that seems to contain a property; leave the comment out");
    }
    None
}

/// Whether a colon follows a quotation mark, as behind a key.
fn has_property(comment: &str, quote: char) -> bool {
    let mut parts = comment.split(quote).skip(1);
    parts.any(|part| part.trim_start().starts_with(':'))
}

/// The end of the white space and the comments that begin at `at`.
pub(in super::super) fn skip_blank(text: &str, mut at: usize) -> usize {
    loop {
        let end = unit(text, at);
        if end == at {
            return at;
        }
        at = end;
    }
}

/// The end of one character of white space, or of one comment. `at` itself: there is neither.
fn unit(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    match bytes.get(at..).unwrap_or(&[]) {
        [b' ' | b'\n' | b'\t' | b'\r' | 0x0b | 0x0c, ..] => at + 1,
        [b'/', b'/', ..] | [b'#', ..] => match text[at..].find('\n') {
            Some(length) => at + length,
            None => text.len(),
        },
        [b'/', b'*', ..] => match text[at + 2..].find("*/") {
            Some(length) => at + 2 + length + 2,
            None => text.len(),
        },
        [first, ..] if !first.is_ascii() => {
            match text[at..].chars().next().filter(|c| is_space(*c)) {
                Some(c) => at + c.len_utf8(),
                None => at,
            }
        }
        _ => at,
    }
}

/// Includes zero-width characters.
pub(in super::super) fn is_space(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}'
        )
}

pub(in super::super) fn is_quote(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | '`' | '´' | '“' | '”' | '„' | '‘' | '’' | '‚' | '«' | '»'
    )
}
