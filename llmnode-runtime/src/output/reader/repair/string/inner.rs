//! Quotation marks that were not escaped within a string, and those that are missing at its end.

use super::super::fault::Fault;
use super::super::scan::Scan;
use super::{Follow, Role};
use crate::flag::Repair;

impl<'t> Scan<'t, '_> {
    /// Whether a string from `start` to `end` may have these marks in it. Returns where it ends instead if the
    /// mark at its end is missing.
    pub(super) fn judge(
        &mut self,
        role: Role,
        start: usize,
        inner: &[usize],
        end: usize,
        follow: Follow,
    ) -> Result<Option<usize>, Fault> {
        let Some(&first) = inner.first() else {
            return Ok(None);
        };
        if let Some(escaped) = inner.iter().find(|at| self.char_before(**at) == Some('\\')) {
            return self.wrong(
                *escaped,
                "two backslashes before a quotation mark, which escape each other; write `\\\"` within a string",
            );
        }
        let quote = self.text.as_bytes()[end.min(self.text.len() - 1)];
        let lone: Vec<usize> = inner.iter().copied().filter(|at| !self.is_apostrophe(*at)).collect();
        // What may follow the end of a string, may be the beginning of what breaks off.
        let goes_on = self.text[first..].trim_start_matches(['"', ' ']).starts_with([',', ':', '}', ']']);
        let missing = if role == Role::Member && inner.len() == 1 && quote == b'"' && !goes_on {
            self.missing_end(start, first, true)
        } else {
            None
        };
        let is_one = match lone[..] {
            [] => true,
            [at] if role == Role::Member => follow == Follow::Strong && self.is_glued(at, false),
            [at] => self.is_glued(at, true),
            _ => {
                lone.len().is_multiple_of(2)
                    && lone.chunks_exact(2).all(|pair| self.is_pair(pair[0], pair[1]))
            }
        };
        match (is_one, missing) {
            (true, None) => {
                self.repair(Repair::InnerQuote, first, "a quotation mark that is not escaped")?;
                Ok(None)
            }
            (false, Some(end)) => {
                self.repair(Repair::MissingQuote, end, "a quotation mark is missing")?;
                Ok(Some(end))
            }
            _ => self.wrong(
                first,
                "a quotation mark that may end the string or belong to it; write `\\\"` within a string",
            ),
        }
    }

    /// Reads a string that has no end in the text up to where its mark must be missing.
    pub(super) fn without_end(
        &mut self,
        start: usize,
        end: usize,
    ) -> Result<std::borrow::Cow<'t, str>, Fault> {
        let line = self.text[start..end].find('\n').map_or(end, |found| start + found);
        match self.missing_end(start, line, false) {
            Some(end) if self.lenient => {
                self.repair(Repair::MissingQuote, end, "a quotation mark is missing")?;
                self.at = end;
                self.content(start, end, false, '"')
            }
            _ => {
                self.at = start;
                self.truncated()
            }
        }
    }

    /// The comma of `first, key: `, where a key and its colon follow what must have been a string; `at_end` if they
    /// must stand right before `end`.
    fn missing_end(&self, start: usize, end: usize, at_end: bool) -> Option<usize> {
        let text = &self.text[start..end];
        if at_end && text.contains(['{', '}', '[', ']', '\n', '\\']) {
            return None;
        }
        // What the string cannot hold ends the search, so that nothing is looked at for each comma again.
        let text = text.split(['{', '}', '[', ']', '\\', '"']).next().unwrap_or(text);
        let whole = &self.text[start..end];
        text.match_indices(',').map(|(comma, _)| comma).find_map(|comma| {
            let key = whole[comma + 1..].trim_start_matches(' ');
            let length = key.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
            let is_key = length > 0 && !key.as_bytes()[0].is_ascii_digit();
            let rest = key[length..].trim_start_matches(' ').strip_prefix(':').filter(|_| is_key)?;
            let is_only =
                if at_end { rest.trim_start_matches(' ').is_empty() } else { !rest.starts_with("//") };
            Some(is_only.then_some(start + comma))
        })?
    }

    /// Whether it is a mark as in `it's` and `the dogs' house`.
    fn is_apostrophe(&self, at: usize) -> bool {
        let mark = self.char_at(at);
        let next = mark.and_then(|mark| self.char_at(at + mark.len_utf8()));
        matches!(mark, Some('\'' | '’'))
            && self.char_before(at).is_some_and(char::is_alphanumeric)
            && next.is_some_and(|c| c.is_alphanumeric() || c == ' ')
    }

    /// Whether text goes on without a break on both sides, and (`in_word`) within one word.
    fn is_glued(&self, at: usize, in_word: bool) -> bool {
        let after = self.char_at(at).and_then(|mark| self.char_at(at + mark.len_utf8()));
        let (Some(before), Some(after)) = (self.char_before(at), after) else {
            return false;
        };
        if in_word {
            return before.is_alphanumeric() && after.is_alphanumeric();
        }
        // `("` opens an argument, and `")` closes one: code, whose quotation marks come in pairs.
        !before.is_whitespace()
            && !matches!(before, '(' | '=' | '+')
            && after.is_alphanumeric()
            && !is_structure(before)
    }

    /// Whether two marks stand around what they quote: ` "so" `. A mark right behind what ends a sentence or a bracket
    /// may end a string too, of which code joins several: `"(a)"=>"(b)"`.
    fn is_pair(&self, first: usize, second: usize) -> bool {
        let after = |at| self.char_at(at).and_then(|mark| self.char_at(at + mark.len_utf8()));
        let is_outside = |c: char| !c.is_alphanumeric();
        self.char_before(first).is_some_and(|c| is_outside(c) && !is_structure(c) && !is_end(c))
            && after(first)
                .is_some_and(|c| !c.is_whitespace() && !matches!(c, ',' | ':' | '}' | ']') && !is_operator(c))
            && self
                .char_before(second)
                .is_some_and(|c| !c.is_whitespace() && !matches!(c, ':' | '{' | '[' | '+'))
            && after(second).is_some_and(is_outside)
    }

    fn char_before(&self, at: usize) -> Option<char> {
        self.text[..at].chars().next_back()
    }
}

fn is_structure(c: char) -> bool {
    matches!(c, ',' | ':' | '{' | '[' | '"')
}

fn is_end(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | ';' | ')' | ']' | '}')
}

/// What stands between two strings that code joins.
fn is_operator(c: char) -> bool {
    matches!(c, '+' | '&' | '%' | '*' | '|' | '?')
}
