//! Strings in quotes of all kinds: where they end, and what they contain.

use std::borrow::Cow;

use super::{ParseResult, Parser, Role, is_quote, is_space, kind, name_length};
use crate::text::floor_char_boundary;

/// Unescaped quotation marks in a string. Bounded, since every object of a hostile text may start this search.
const MAX_MARKS: usize = 64;
const MAX_KEY_SCAN: usize = 100;

fn closes_quote(quote: char, c: char) -> bool {
    match quote {
        '“' | '”' | '„' => matches!(c, '“' | '”'),
        '‘' | '’' | '‚' => matches!(c, '‘' | '’'),
        '`' | '´' => matches!(c, '`' | '´'),
        '«' => c == '»',
        '»' => c == '«',
        other => other == c,
    }
}

#[derive(Default)]
struct Escapes {
    /// Escapes that mean another character, such as `\u00e9`.
    letters: bool,
    odd: Option<usize>,
}

impl<'t> Parser<'t> {
    pub(super) fn string(&mut self, role: Role) -> ParseResult<Cow<'t, str>> {
        let open = self.at;
        let quote = self.char().unwrap_or('"');
        if quote != '"' {
            self.repair(
                kind::QUOTES,
                open,
                "strings and keys must be in double quotes",
            )?;
        }
        for triple in ["\"\"\"", "'''"] {
            if role != Role::Key && self.text[open..].starts_with(triple) {
                return self.triple(open, triple);
            }
        }
        let start = open + quote.len_utf8();
        let (mut end, mut escaped) = self.closing_quote(start, quote)?;
        if let Some(last) = self.closing_quote_after_marks(start, end, role) {
            self.repair(
                kind::ESCAPE,
                end,
                "a quotation mark within a string must be escaped",
            )?;
            (end, escaped) = (last, self.text[start..last].contains('\\'));
        }
        let content = self.content(start, end, escaped, role, quote)?;
        self.at = end + self.text[end..].chars().next().map_or(0, char::len_utf8);
        Ok(content)
    }

    fn closing_quote(&self, start: usize, quote: char) -> ParseResult<(usize, bool)> {
        let mut at = start;
        let mut escaped = false;
        loop {
            let rest = &self.text.as_bytes()[at..];
            let found = match quote {
                '"' | '\'' => rest
                    .iter()
                    .position(|byte| *byte == quote as u8 || *byte == b'\\'),
                _ => self.text[at..].find(|c| c == '\\' || closes_quote(quote, c)),
            };
            match found {
                None => return self.truncated(),
                Some(found) if rest[found] == b'\\' => {
                    escaped = true;
                    let behind = self.text[at + found + 1..].chars().next();
                    at += found + 1 + behind.map_or(0, char::len_utf8);
                }
                Some(found) => return Ok((at + found, escaped)),
            }
        }
    }

    /// Treats the mark at `first` as part of the string. Only one reading may be left: marks that may end the string
    /// do, and those inside are pairs or apostrophes.
    fn closing_quote_after_marks(&self, start: usize, first: usize, role: Role) -> Option<usize> {
        let next = self.text.as_bytes().get(first + 1);
        if !self.lenient || matches!(next, None | Some(b',' | b':' | b'}' | b']' | b'\n')) {
            return None;
        }
        let quote = self.text[..start].chars().next_back()?;
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let mut at = first;
        let mut open = false;
        let mut behind_last = None;
        for _ in 0..MAX_MARKS {
            #[cfg(test)]
            crate::counts::add(|counts| counts.marks += 1);
            let mark = self.text[at..].chars().next()?;
            let inner = &self.text[start..at];
            let rest = &self.text[at + mark.len_utf8()..];
            let doubled = behind_last == Some(at);
            if may_end(rest, role) {
                let is_paired = at > first && !open && !(doubled && first == start);
                // Who escapes one mark escapes all; a line end may be layout; a text that breaks off may have more
                // marks.
                let is_odd =
                    || inner.contains(&format!("\\{quote}")) || inner.ends_with(['\n', '\r']);
                return (is_paired && !is_odd() && !rest.trim_start().is_empty()).then_some(at);
            }
            let before = inner.chars().next_back();
            let next = rest.chars().next()?;
            let opens = !is_word(before) && !next.is_whitespace() && !",;:.!?)".contains(next);
            let closes = before.is_some_and(|c| !c.is_whitespace()) && !next.is_alphanumeric();
            open = match open {
                _ if doubled => return None,
                open if matches!(mark, '\'' | '’') && is_word(before) && is_word(Some(next)) => {
                    open
                }
                true if closes => false,
                false if opens => true,
                _ => return None,
            };
            behind_last = Some(at + mark.len_utf8());
            at = self.closing_quote(at + mark.len_utf8(), quote).ok()?.0;
        }
        None
    }

    /// Between three quotation marks, single ones mean nothing.
    fn triple(&mut self, open: usize, marks: &str) -> ParseResult<Cow<'t, str>> {
        self.repair(kind::QUOTES, open, "strings must be in double quotes")?;
        let start = open + 3;
        let Some(end) = self.text[start..].find(marks).map(|found| start + found) else {
            return self.truncated();
        };
        if self.text[end + 3..].starts_with(&marks[..1]) {
            return self.wrong(end, "more than three quotation marks");
        }
        self.at = end + 3;
        let escaped = self.text[start..end].contains('\\');
        self.content(start, end, escaped, Role::Member, '"')
    }

    fn content(
        &mut self,
        start: usize,
        end: usize,
        escaped: bool,
        role: Role,
        quote: char,
    ) -> ParseResult<Cow<'t, str>> {
        let raw = &self.text[start..end];
        if quote == '`' && raw.contains("${") {
            return self.wrong(
                start,
                "a string with a place for a value in it; write the value",
            );
        }
        if raw.ends_with(['\n', '\r']) && !raw.trim_end().contains('\n') {
            let what = "a line end before the quotation mark, which may be layout or a part of the string; write it as `\\n`";
            return self.wrong(end, what);
        }
        if let Some(control) = raw.bytes().position(|byte| byte < 0x20) {
            let what =
                "a control character or line end in a string; write it as `\\n` or `\\u0000`";
            self.repair(kind::CONTROL_CHARACTER, start + control, what)?;
        }
        if escaped {
            self.unescaped(start, end, role, quote).map(Cow::Owned)
        } else {
            Ok(Cow::Borrowed(raw))
        }
    }

    fn unescaped(
        &mut self,
        start: usize,
        end: usize,
        role: Role,
        quote: char,
    ) -> ParseResult<String> {
        let mut text = String::with_capacity(end - start);
        let mut at = start;
        let mut escapes = Escapes::default();
        while let Some(found) = self.text[at..end].find('\\') {
            text.push_str(&self.text[at..at + found]);
            let escape = at + found;
            let Some(c) = self.text[escape + 1..end].chars().next() else {
                return self.wrong(escape, "a backslash with nothing after it");
            };
            at = escape + 1 + c.len_utf8();
            escapes.letters |= matches!(c, 'b' | 'f' | 'n' | 'r' | 't' | 'u');
            match c {
                '"' | '\\' | '/' => text.push(c),
                'b' | 'f'
                    if self.text[at..end].starts_with(|next: char| next.is_ascii_alphabetic()) =>
                {
                    return self.wrong(
                        escape,
                        "`\\b` and `\\f` are a backspace and a form feed in JSON; write a backslash as `\\\\`",
                    );
                }
                'b' => text.push('\u{8}'),
                'f' => text.push('\u{c}'),
                'n' => text.push('\n'),
                'r' => text.push('\r'),
                't' => text.push('\t'),
                'u' => text.push(self.code_point(escape, &mut at, end)?),
                c if c == '\'' || c == quote => {
                    self.repair(kind::ESCAPE, escape, "JSON does not allow this escape")?;
                    text.push(c);
                }
                c => {
                    if role == Role::Key || c.is_whitespace() {
                        return self.wrong(
                            escape,
                            "JSON does not allow this escape; write a backslash as `\\\\`",
                        );
                    }
                    self.repair(
                        kind::ESCAPE,
                        escape,
                        "JSON does not allow this escape; write a backslash as `\\\\`",
                    )?;
                    escapes.odd.get_or_insert(escape);
                    text.push('\\');
                    text.push(c);
                }
            }
        }
        text.push_str(&self.text[at..end]);
        match escapes.odd {
            // Two backslashes at the start may begin a network path.
            Some(odd) if escapes.letters || self.text[start..].starts_with("\\\\") => self.wrong(
                odd,
                "JSON does not allow this escape, so the other escapes of this string may be unintended too; write each \
                 backslash as `\\\\`",
            ),
            _ => Ok(text),
        }
    }

    fn code_point(&self, escape: usize, at: &mut usize, end: usize) -> ParseResult<char> {
        let unit = |at: usize| {
            let digits = self.text.get(at..at + 4).filter(|_| at + 4 <= end)?;
            let hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            hex.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
        };
        let Some(first) = unit(*at) else {
            return self.wrong(escape, "four hexadecimal digits must follow `\\u`");
        };
        *at += 4;
        let mut units = vec![first];
        if (0xd800..0xdc00).contains(&first) && self.text[*at..end].starts_with("\\u") {
            units.extend(unit(*at + 2));
        }
        match char::decode_utf16(units.iter().copied()).next() {
            Some(Ok(c)) => {
                *at += if c.len_utf16() == 2 { 6 } else { 0 };
                Ok(c)
            }
            _ => self.wrong(escape, "half of a surrogate pair, which is not a character"),
        }
    }
}

fn may_end(rest: &str, role: Role) -> bool {
    let rest = rest.trim_start_matches(|c| is_space(c) && !matches!(c, '\n' | '\r'));
    if let Some(rest) = rest.strip_prefix(',').filter(|_| role != Role::Key) {
        return may_follow(rest.trim_start(), role);
    }
    rest.is_empty() || rest.starts_with([',', ':', '}', ']', '\n', '\r']) || is_comment(rest)
}

fn may_follow(rest: &str, role: Role) -> bool {
    let behind_name = rest[name_length(rest)..].trim_start();
    match rest.chars().next() {
        None | Some(',' | '}' | ']') => true,
        _ if is_comment(rest) => true,
        Some('{' | '[' | '-' | '0'..='9') if role == Role::Item => true,
        Some(quote) if is_quote(quote) && role == Role::Item => true,
        Some(quote) if is_quote(quote) => {
            let key = &rest[quote.len_utf8()..floor_char_boundary(rest, MAX_KEY_SCAN)];
            key.split_once(|c| closes_quote(quote, c))
                .is_some_and(|(_, rest)| rest.trim_start().starts_with(':'))
        }
        Some(_) if role == Role::Item => behind_name.starts_with([',', ']']),
        Some(_) => behind_name.len() < rest.len() && behind_name.starts_with(':'),
    }
}

fn is_comment(rest: &str) -> bool {
    rest.starts_with('#') || rest.starts_with("//") || rest.starts_with("/*")
}
