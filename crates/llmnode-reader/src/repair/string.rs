//! Strings in quotes of all kinds: where they end, and what they contain.
//!
//! In this order: the mark that opens a string says which marks can close it; the
//! first of those is its end, unless a *pair* of marks is in it that somebody
//! forgot to escape (`closing_quote_after_marks`); what is between is unescaped. A
//! single odd escape is taken for a backslash that was meant, but not beside
//! escapes that mean something else: then nobody knows which of them were meant.

use std::borrow::Cow;

use super::{ParseResult, Parser, Role, is_quote, is_space, kind, name_length};
use crate::text::floor_char_boundary;

/// Unescaped quotation marks in a string. Bounded, since every object of a hostile
/// text may start this search.
const MAX_MARKS: usize = 64;
/// How far a key is read to find out whether one follows.
const MAX_KEY_SCAN: usize = 100;

/// Whether `c` closes a string that `quote` has opened. Languages disagree on which
/// curly mark is the first, so either may be.
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

/// Which escapes a string has, to judge them together.
#[derive(Default)]
struct Escapes {
    /// Escapes that mean another character, such as `\u00e9`.
    letters: bool,
    /// The byte of the first escape that JSON does not know.
    odd: Option<usize>,
}

/// Where the mark is that ends a string.
struct StringEnd {
    at: usize,
    /// There is a backslash in the string.
    escaped: bool,
}

/// What is between two quotation marks.
#[derive(Clone, Copy)]
struct Quoted {
    start: usize,
    end: usize,
    role: Role,
    /// The mark that has opened it.
    quote: char,
}

impl<'t> Parser<'t> {
    /// Parses a string, whose quotation mark comes next.
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
        let mut end = self.closing_quote(start, quote)?;
        if let Some(last) = self.closing_quote_after_marks(start, end.at, role) {
            self.repair(
                kind::ESCAPE,
                end.at,
                "a quotation mark within a string must be escaped",
            )?;
            end = StringEnd {
                at: last,
                escaped: self.text[start..last].contains('\\'),
            };
        }
        let quoted = Quoted {
            start,
            end: end.at,
            role,
            quote,
        };
        let content = self.content(quoted, end.escaped)?;
        let mark = self.text[end.at..].chars().next();
        self.at = end.at + mark.map_or(0, char::len_utf8);
        Ok(content)
    }

    /// The first mark that may close the string and is not escaped.
    fn closing_quote(&self, start: usize, quote: char) -> ParseResult<StringEnd> {
        let mut at = start;
        let mut escaped = false;
        loop {
            let rest = &self.text[at..];
            let found = match quote {
                // By bytes, as nearly all strings are in these.
                '"' | '\'' => rest
                    .bytes()
                    .position(|byte| byte == quote as u8 || byte == b'\\'),
                _ => rest.find(|c| c == '\\' || closes_quote(quote, c)),
            };
            let Some(found) = found else {
                return self.truncated();
            };
            at += found;
            if self.text.as_bytes()[at] != b'\\' {
                return Ok(StringEnd { at, escaped });
            }
            escaped = true;
            let behind = self.text[at + 1..].chars().next();
            at += 1 + behind.map_or(0, char::len_utf8);
        }
    }

    /// Treats the mark at `first` as part of the string, and finds the one that ends it.
    ///
    /// Only one reading may be left: marks that may end the string do, and those
    /// inside are pairs or apostrophes.
    fn closing_quote_after_marks(&self, start: usize, first: usize, role: Role) -> Option<usize> {
        let next = self.text.as_bytes().get(first + 1);
        // Nearly always the first mark is the end, which its next byte shows.
        if !self.lenient || matches!(next, None | Some(b',' | b':' | b'}' | b']' | b'\n')) {
            return None;
        }
        let quote = self.text[..start].chars().next_back()?;
        let mut at = first;
        let mut open = false;
        let mut behind_last = None;
        for _ in 0..MAX_MARKS {
            #[cfg(test)]
            crate::counts::add(|counts| counts.marks += 1);
            let mark = self.text[at..].chars().next()?;
            let behind = at + mark.len_utf8();
            let inner = &self.text[start..at];
            let rest = &self.text[behind..];
            let doubled = behind_last == Some(at);
            if may_end(rest, role) {
                let is_empty_pair = doubled && first == start;
                let is_paired = at > first && !open && !is_empty_pair;
                return (is_paired && is_likely_end(inner, rest, quote)).then_some(at);
            }
            if doubled {
                return None;
            }
            open = open_after_mark(open, inner, mark, rest)?;
            behind_last = Some(behind);
            at = self.closing_quote(behind, quote).ok()?.at;
        }
        None
    }

    /// Between three quotation marks, single ones mean nothing.
    fn triple(&mut self, open: usize, marks: &str) -> ParseResult<Cow<'t, str>> {
        self.repair(kind::QUOTES, open, "strings must be in double quotes")?;
        let start = open + 3;
        let Some(length) = self.text[start..].find(marks) else {
            return self.truncated();
        };
        let end = start + length;
        // A fourth mark may be the last character of the string.
        if self.text[end + 3..].starts_with(&marks[..1]) {
            return self.wrong(end, "more than three quotation marks");
        }
        self.at = end + 3;
        let escaped = self.text[start..end].contains('\\');
        let quoted = Quoted {
            start,
            end,
            role: Role::Member,
            quote: '"',
        };
        self.content(quoted, escaped)
    }

    /// What the string says. A string that is fine is not copied.
    fn content(&mut self, quoted: Quoted, escaped: bool) -> ParseResult<Cow<'t, str>> {
        let Quoted { start, end, .. } = quoted;
        let raw = &self.text[start..end];
        if quoted.quote == '`' && raw.contains("${") {
            return self.wrong(
                start,
                "a string with a place for a value in it; write the value",
            );
        }
        let ends_with_line_end = raw.ends_with(['\n', '\r']);
        if ends_with_line_end && !raw.trim_end().contains('\n') {
            let what = "a line end before the quotation mark, which may be layout or a part of the \
                        string; write it as `\\n`";
            return self.wrong(end, what);
        }
        if let Some(control) = raw.bytes().position(|byte| byte < 0x20) {
            let what =
                "a control character or line end in a string; write it as `\\n` or `\\u0000`";
            self.repair(kind::CONTROL_CHARACTER, start + control, what)?;
        }
        if escaped {
            let text = self.unescaped(quoted)?;
            return Ok(Cow::Owned(text));
        }
        Ok(Cow::Borrowed(raw))
    }

    /// The string without its escapes. All of them are judged at its end, together.
    fn unescaped(&mut self, quoted: Quoted) -> ParseResult<String> {
        let Quoted { start, end, .. } = quoted;
        let mut text = String::with_capacity(end - start);
        let mut at = start;
        let mut escapes = Escapes::default();
        while let Some(found) = self.text[at..end].find('\\') {
            let escape = at + found;
            text.push_str(&self.text[at..escape]);
            let Some(letter) = self.text[escape + 1..end].chars().next() else {
                return self.wrong(escape, "a backslash with nothing after it");
            };
            at = escape + 1 + letter.len_utf8();
            escapes.letters |= matches!(letter, 'b' | 'f' | 'n' | 'r' | 't' | 'u');
            match letter {
                '"' | '\\' | '/' => text.push(letter),
                'b' | 'f' => text.push(self.rare_control(escape, letter, &self.text[at..end])?),
                'n' => text.push('\n'),
                'r' => text.push('\r'),
                't' => text.push('\t'),
                'u' => text.push(self.code_point(escape, &mut at, end)?),
                letter if letter == '\'' || letter == quoted.quote => {
                    self.repair(kind::ESCAPE, escape, "JSON does not allow this escape")?;
                    text.push(letter);
                }
                letter => {
                    self.odd_escape(escape, letter, quoted.role)?;
                    escapes.odd.get_or_insert(escape);
                    text.push('\\');
                    text.push(letter);
                }
            }
        }
        text.push_str(&self.text[at..end]);
        // Two backslashes at the start may begin a network path.
        let may_be_path = self.text[start..].starts_with("\\\\");
        match escapes.odd {
            Some(odd) if escapes.letters || may_be_path => self.wrong(
                odd,
                "JSON does not allow this escape, so the other escapes of this string may be \
                 unintended too; write each backslash as `\\\\`",
            ),
            _ => Ok(text),
        }
    }

    /// A backspace or a form feed. Before a letter it is more likely a path or a
    /// formula, such as `\frac`.
    fn rare_control(&self, escape: usize, letter: char, behind: &str) -> ParseResult<char> {
        if behind.starts_with(|next: char| next.is_ascii_alphabetic()) {
            return self.wrong(
                escape,
                "`\\b` and `\\f` are a backspace and a form feed in JSON; write a backslash as \
                 `\\\\`",
            );
        }
        Ok(if letter == 'b' { '\u{8}' } else { '\u{c}' })
    }

    /// Notes an escape that JSON does not know, where it can only be a backslash:
    /// in keys it might be anything.
    fn odd_escape(&mut self, escape: usize, letter: char, role: Role) -> ParseResult<()> {
        let what = "JSON does not allow this escape; write a backslash as `\\\\`";
        if role == Role::Key || letter.is_whitespace() {
            return self.wrong(escape, what);
        }
        self.repair(kind::ESCAPE, escape, what)
    }

    /// The character of `\u0000`, or of two of them that are a surrogate pair. `at`
    /// goes behind them.
    fn code_point(&self, escape: usize, at: &mut usize, end: usize) -> ParseResult<char> {
        let Some(first) = self.code_unit(*at, end) else {
            return self.wrong(escape, "four hexadecimal digits must follow `\\u`");
        };
        *at += 4;
        let mut units = vec![first];
        let is_high_surrogate = (0xd800..0xdc00).contains(&first);
        if is_high_surrogate && self.text[*at..end].starts_with("\\u") {
            units.extend(self.code_unit(*at + 2, end));
        }
        match char::decode_utf16(units.iter().copied()).next() {
            Some(Ok(c)) => {
                *at += if c.len_utf16() == 2 { 6 } else { 0 };
                Ok(c)
            }
            _ => self.wrong(escape, "half of a surrogate pair, which is not a character"),
        }
    }

    /// The number that four hexadecimal digits are. `parse` alone would accept a sign.
    fn code_unit(&self, at: usize, end: usize) -> Option<u16> {
        if at + 4 > end {
            return None;
        }
        let digits = self.text.get(at..at + 4)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        u16::from_str_radix(digits, 16).ok()
    }
}

/// Whether the mark between these two ends the string, though there were others before it.
///
/// Who escapes one mark escapes all; a line end may be layout; a text that breaks
/// off may have more marks.
fn is_likely_end(inner: &str, rest: &str, quote: char) -> bool {
    let escapes_marks = inner.contains(&format!("\\{quote}"));
    let ends_with_line_end = inner.ends_with(['\n', '\r']);
    let breaks_off = rest.trim_start().is_empty();
    !escapes_marks && !ends_with_line_end && !breaks_off
}

/// Whether a quotation within the string is open behind this mark. `None`: the mark
/// neither opens nor closes one.
fn open_after_mark(open: bool, inner: &str, mark: char, rest: &str) -> Option<bool> {
    let before = inner.chars().next_back();
    let next = rest.chars().next()?;
    let is_behind_word = before.is_some_and(char::is_alphanumeric);
    if matches!(mark, '\'' | '’') && is_behind_word && next.is_alphanumeric() {
        // An apostrophe.
        return Some(open);
    }
    if open {
        let is_behind_text = before.is_some_and(|c| !c.is_whitespace());
        return (is_behind_text && !next.is_alphanumeric()).then_some(false);
    }
    let begins_text = !next.is_whitespace() && !",;:.!?)".contains(next);
    (!is_behind_word && begins_text).then_some(true)
}

/// Whether a string may end before `rest`: something of JSON's syntax follows, or the line ends.
///
/// A comma may also be a comma of a sentence, so that what is behind it must go on
/// as an object or list would.
fn may_end(rest: &str, role: Role) -> bool {
    let rest = rest.trim_start_matches(|c| is_space(c) && !matches!(c, '\n' | '\r'));
    if role != Role::Key
        && let Some(behind) = rest.strip_prefix(',')
    {
        return may_follow(behind.trim_start(), role);
    }
    rest.is_empty() || rest.starts_with([',', ':', '}', ']', '\n', '\r']) || is_comment(rest)
}

/// Whether this may stand behind the comma that follows a string: an item in a
/// list, a key in an object.
fn may_follow(rest: &str, role: Role) -> bool {
    let behind_name = rest[name_length(rest)..].trim_start();
    match rest.chars().next() {
        None | Some(',' | '}' | ']') => true,
        _ if is_comment(rest) => true,
        Some('{' | '[' | '-' | '0'..='9') if role == Role::Item => true,
        Some(quote) if is_quote(quote) && role == Role::Item => true,
        Some(quote) if is_quote(quote) => {
            let near = &rest[quote.len_utf8()..floor_char_boundary(rest, MAX_KEY_SCAN)];
            match near.split_once(|c| closes_quote(quote, c)) {
                Some((_, behind_key)) => behind_key.trim_start().starts_with(':'),
                None => false,
            }
        }
        Some(_) if role == Role::Item => behind_name.starts_with([',', ']']),
        Some(_) => behind_name.len() < rest.len() && behind_name.starts_with(':'),
    }
}

/// Of any language: models write those of Python and of JavaScript.
fn is_comment(rest: &str) -> bool {
    rest.starts_with('#') || rest.starts_with("//") || rest.starts_with("/*")
}
