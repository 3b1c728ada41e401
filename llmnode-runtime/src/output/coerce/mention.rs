//! The one name that a text mentions: `The answer is RED.`
//!
//! A name that is denied, asked for or beside another one is no answer; nor is a word of every day in the middle of a
//! sentence, which may mean something else.

use super::choice::Named;
use super::denial::{self, ends_part};
use crate::flag::Coercion;

/// A longer text is an essay, and no answer of one word.
const LONGEST: usize = 4096;
/// What follows a word that begins a text and is its subject.
const FOLLOWS_A_SUBJECT: [&str; 9] =
    ["is", "was", "because", "since", "as", "seems", "would", "should", "fits"];

/// The name that the text mentions, if it is one and nothing denies it.
pub(super) fn mentioned(text: &str, names: &[&str], common: bool) -> Named {
    if text.len() > LONGEST {
        return Named::None;
    }
    let text = Text::new(text);
    let any_case = text.mentions(names, true);
    let exact = if common { Vec::new() } else { text.mentions(names, false) };
    let within = |one: &Mention| any_case.iter().any(|any| any.from == one.from && any.to == one.to);
    let exact: Vec<Mention> = exact.into_iter().filter(within).collect();
    let found = if exact.is_empty() { any_case } else { exact };
    let Some(first) = found.first() else { return Named::None };
    if let Some(other) = found.iter().find(|one| one.name != first.name) {
        return Named::Two(first.name, other.name);
    }
    let denied = found.iter().any(|one| text.is_denied(one) || text.is_asked(one));
    let meant = found.iter().any(|one| text.is_meant(one, common));
    if denied || !meant { Named::None } else { Named::One(first.name, Coercion::Mentioned) }
}

/// A name in a text, from and to these characters.
#[derive(Clone, Copy, Debug)]
struct Mention {
    name: usize,
    from: usize,
    to: usize,
}

struct Text {
    written: Vec<char>,
    lower: Vec<char>,
}

/// A name of several words as it is said, if that is another text: `VeryHigh` and `very_high`, `very high`.
fn spoken(name: &str) -> Option<String> {
    let mut said = String::new();
    let mut was_small = false;
    for c in name.chars() {
        if was_small && c.is_uppercase() {
            said.push(' ');
        }
        said.push(if matches!(c, '_' | '-') { ' ' } else { c });
        was_small = c.is_lowercase();
    }
    (said != name).then_some(said)
}

fn lower(c: char) -> char {
    let mut lower = c.to_lowercase();
    lower.next().filter(|_| lower.next().is_none()).unwrap_or(c)
}

impl Text {
    fn new(text: &str) -> Self {
        let written: Vec<char> = text.chars().collect();
        let lower = written.iter().copied().map(lower).collect();
        Text { written, lower }
    }

    /// Every mention of a name that is not part of that of a longer one.
    fn mentions(&self, names: &[&str], any_case: bool) -> Vec<Mention> {
        let mut found: Vec<Mention> = Vec::new();
        let text = if any_case { &self.lower } else { &self.written };
        for (index, name) in names.iter().enumerate() {
            if !name.chars().any(char::is_alphabetic) {
                continue;
            }
            // Whoever says `very high` of `High` and `VeryHigh` means the longer one.
            for form in [Some(name.trim().to_owned()), spoken(name.trim())].into_iter().flatten() {
                let form: Vec<char> = form.chars().map(|c| if any_case { lower(c) } else { c }).collect();
                let at = text.windows(form.len()).enumerate().filter(|(_, part)| *part == form.as_slice());
                let mentions = at.map(|(from, part)| Mention { name: index, from, to: from + part.len() });
                found.extend(mentions.filter(|one| self.stands_alone(one)));
            }
        }
        let is_part = |one: &Mention| {
            found.iter().any(|other| {
                other.from <= one.from && one.to <= other.to && other.to - other.from > one.to - one.from
            })
        };
        let mut whole: Vec<Mention> = found.iter().copied().filter(|one| !is_part(one)).collect();
        whole.sort_by_key(|one| (one.from, one.name));
        whole
    }

    fn at(&self, index: Option<usize>) -> Option<char> {
        self.written.get(index?).copied()
    }

    /// Whether it is no part of a longer word or sign.
    fn stands_alone(&self, one: &Mention) -> bool {
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let joins =
            |c: char| matches!(c, '-' | '+' | '#' | '@' | '$' | '%' | '=' | '&' | '<' | '>' | '~' | '^');
        let binds = |c: char| matches!(c, '.' | '\'' | '’' | '/' | ':' | '\\');
        let before = self.at(one.from.checked_sub(1));
        let after = self.at(Some(one.to));
        let negated = matches!(before, Some('!' | '¬'));
        let free = |next: Option<char>, beyond: Option<char>| match next {
            Some(c) if c.is_alphanumeric() || c == '_' || joins(c) => false,
            Some(c) if binds(c) => !is_word(beyond),
            _ => true,
        };
        !negated && free(before, self.at(one.from.checked_sub(2))) && free(after, self.at(Some(one.to + 1)))
    }

    /// Whether what stands around it denies it, doubts it, takes it back or puts another one beside it.
    fn is_denied(&self, one: &Mention) -> bool {
        denial::denies(&self.written[..one.from], &self.written[one.to..])
    }

    /// Whether its sentence is a question.
    fn is_asked(&self, one: &Mention) -> bool {
        let end = self.written[one.to..].iter().find(|c| matches!(c, '.' | '!' | '?' | '\n'));
        end == Some(&'?')
    }

    /// Whether it can hardly be another word: it is marked, ends a part of the sentence, or is written as a name.
    fn is_meant(&self, one: &Mention, common: bool) -> bool {
        let (before, after) = (self.at(one.from.checked_sub(1)), self.at(Some(one.to)));
        let is_mark =
            |c: Option<char>| c.is_some_and(|c| matches!(c, '"' | '\'' | '`' | '*' | '“' | '”' | '‘' | '’'));
        if is_mark(before) || is_mark(after) || self.ends_part(one.to) {
            return true;
        }
        let written = &self.written[one.from..one.to];
        if common || written.len() == 1 {
            return false;
        }
        let is_name = |c: &char| c.is_numeric() || matches!(c, '_' | '-');
        let begins_sentence = self.written[..one.from]
            .iter()
            .rev()
            .find(|c| !c.is_whitespace())
            .is_none_or(|c| matches!(c, '.' | '!' | '?' | ':'));
        let capital = written.first().is_some_and(|c| c.is_uppercase());
        let begins_text = self.written[..one.from].iter().all(|c| c.is_whitespace());
        let next = denial::words(self.written[one.to..].iter().take_while(|c| !ends_part(**c)));
        written.iter().any(is_name)
            || written.iter().skip(1).any(|c| c.is_uppercase())
            || (capital && !begins_sentence)
            || (begins_text && next.first().is_some_and(|word| FOLLOWS_A_SUBJECT.contains(&word.as_str())))
    }

    /// Whether a part of the sentence ends here: at a mark, or at a dash that stands alone.
    fn ends_part(&self, at: usize) -> bool {
        let mut rest = self.written[at..].iter().skip_while(|c| matches!(c, ' ' | '\t'));
        match rest.next() {
            None => true,
            Some('-' | '–' | '—') => rest.next().is_none_or(|c| c.is_whitespace()),
            Some(c) => ends_part(*c),
        }
    }
}

#[cfg(test)]
#[path = "mention_tests.rs"]
mod tests;
