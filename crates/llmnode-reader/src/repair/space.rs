//! White space and comments. JSON has four kinds of white space and no comments;
//! models write more of both.
//!
//! Each comment is a repair, and is looked at before it is dropped: it may hold
//! what belongs to the value. White space that JSON does not know, such as a
//! no-break space that came with a copied text, is dropped as it is.

use super::{ParseResult, Parser, kind};

impl Parser<'_> {
    /// Goes over white space and comments, and notes what JSON does not allow.
    pub(super) fn space(&mut self) -> ParseResult<()> {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.byte() {
            self.at += 1;
        }
        // Nearly always this is all: the rest is for what only models write.
        if !matches!(self.byte(), Some(b'/' | b'#' | 0x0b | 0x0c | 0x80..)) {
            return Ok(());
        }
        let text = self.text;
        let mut at = self.at;
        let behind = skip_blank(text, at);
        self.at = behind;
        while at < behind {
            let end = unit(text, at);
            match text.as_bytes()[at] {
                b' ' | b'\n' | b'\t' | b'\r' => {}
                b'/' | b'#' => self.comment(at, &text[at..end])?,
                _ => self.repair(kind::SPACE, at, "JSON does not allow this white space")?,
            }
            at = end;
        }
        Ok(())
    }

    /// Notes a comment, unless it may be more than one.
    fn comment(&mut self, at: usize, comment: &str) -> ParseResult<()> {
        self.repair(kind::COMMENT, at, "JSON has no comments")?;
        if let Some(fault) = comment_fault(comment) {
            return self.wrong(at, fault);
        }
        if self.lists > 0 && comment.contains('"') {
            let what = "a comment that seems to contain an item; leave the comment out";
            return self.wrong(at, what);
        }
        // A comment to the end of the line may have the closing bracket of its line in it.
        self.commented = !comment.starts_with("/*");
        Ok(())
    }
}

/// Why a comment may hide content. `None`: it hides none.
fn comment_fault(comment: &str) -> Option<&'static str> {
    if comment.contains("...") || comment.contains('…') {
        return Some(
            "an ellipsis in a comment, which means that something was left out; write all of it",
        );
    }
    let is_block = comment.starts_with("/*");
    let is_open = is_block && !comment.ends_with("*/");
    if is_open && comment.contains(['"', '\'', '{', '}', '[', ']']) {
        return Some("a comment that never ends");
    }
    // The line may also hold the next member.
    if !is_block && (has_property(comment, '"') || has_property(comment, '\'')) {
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
        [first, ..] if !first.is_ascii() => match text[at..].chars().next() {
            Some(c) if is_space(c) => at + c.len_utf8(),
            _ => at,
        },
        _ => at,
    }
}

/// White space, with the characters of no width, which are none for Unicode: they
/// come with copied texts.
pub(in super::super) fn is_space(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}'
        )
}

/// Whatever some language or keyboard has for quotation marks.
pub(in super::super) fn is_quote(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | '`' | '´' | '“' | '”' | '„' | '‘' | '’' | '‚' | '«' | '»'
    )
}
