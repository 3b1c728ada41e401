//! What a string holds.

use std::borrow::Cow;

use super::super::fault::Fault;
use super::super::scan::Scan;
use crate::flag::Repair;

impl<'t> Scan<'t, '_> {
    /// What stands between two quotation marks.
    pub(super) fn content(
        &mut self,
        start: usize,
        end: usize,
        escapes: bool,
        quote: char,
    ) -> Result<Cow<'t, str>, Fault> {
        if self.text[start..end].ends_with(['\n', '\r']) {
            return self.wrong(end, "a line end before the quotation mark, which may be layout or a part of the string; write it as `\\n`");
        }
        self.decoded(start, end, escapes, quote)
    }

    pub(super) fn decoded(
        &mut self,
        start: usize,
        end: usize,
        escapes: bool,
        quote: char,
    ) -> Result<Cow<'t, str>, Fault> {
        let raw = &self.text[start..end];
        if quote == '`' && raw.contains("${") {
            return self.wrong(start, "a string with a place for a value in it; write the value");
        }
        if raw.bytes().any(|byte| byte < 0x20) {
            let control = raw.bytes().take_while(|byte| *byte >= 0x20).count();
            self.repair(
                Repair::ControlCharacter,
                start + control,
                "a control character or line end in a string; write it as `\\n` or `\\u0000`",
            )?;
        }
        if escapes { self.unescaped(start, end, quote).map(Cow::Owned) } else { Ok(Cow::Borrowed(raw)) }
    }

    fn unescaped(&mut self, start: usize, end: usize, quote: char) -> Result<String, Fault> {
        let mut text = String::with_capacity(end - start);
        let mut at = start;
        while let Some(found) = self.text[at..end].find('\\') {
            text.push_str(&self.text[at..at + found]);
            let escape = at + found;
            let Some(c) = self.text[escape + 1..end].chars().next() else {
                return self.wrong(escape, "a backslash with nothing behind it");
            };
            at = escape + 1 + c.len_utf8();
            text.push(match c {
                '"' | '\\' | '/' => c,
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'u' => self.code_point(escape, &mut at, end)?,
                c if c == '\'' || c == quote => {
                    self.repair(Repair::Escape, escape, "JSON has no such escape")?;
                    c
                }
                _ => return self.wrong(escape, "JSON has no such escape; write a backslash as `\\\\`"),
            });
        }
        text.push_str(&self.text[at..end]);
        Ok(text)
    }

    /// What `\u0000` stands for, or two of them.
    fn code_point(&self, escape: usize, at: &mut usize, end: usize) -> Result<char, Fault> {
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
            _ => self.wrong(escape, "half a surrogate pair, which stands for no character"),
        }
    }
}
