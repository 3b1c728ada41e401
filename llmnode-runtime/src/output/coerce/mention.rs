//! The one name that a text gives as its answer: `The answer is RED.`
//!
//! A sentence must say so, all that do must say the same, and no other name may stand in the text as often.

use std::collections::HashMap;

use super::choice::Named;
use super::conclusion::{conclusions, is_denied, leaves};
use super::sentence::{is_markup, is_quote, sentences};
use crate::flag::Coercion;

/// A longer text is an essay, and no answer of one word.
const LONGEST: usize = 4096;

/// The name that the text gives as its answer. `common`: the names are words of every day, as `true` is, and mean the
/// same in any case.
pub(super) fn mentioned(text: &str, names: &[&str], common: bool) -> Named {
    if text.len() > LONGEST {
        return Named::None;
    }
    let text = Text::new(text);
    let mentions = text.mentions(names);
    let exact = !common && mentions.iter().any(|one| one.name.exact);
    let counted: Vec<&Name> =
        mentions.iter().map(|one| &one.name).filter(|name| name.exact || !exact).collect();
    let sentences = sentences(&text.written, &mentions);
    let all = conclusions(&sentences);
    let first = all.iter().enumerate().find_map(|(at, one)| Some((at, one.filter(|one| one.decides)?)));
    let Some((at, decided)) = first else { return two_of(&counted) };
    let name = decided.name;
    let other = all.iter().flatten().map(|one| one.name.index).find(|index| *index != name.index);
    if let Some(other) = name.rival.or(other).or_else(|| as_often(&counted, name)) {
        return Named::Two(name.index.min(other), name.index.max(other));
    }
    let each = || sentences.iter().zip(&all);
    let denied = each().any(|(sentence, concluded)| concluded.is_none() && is_denied(sentence, name));
    let stands =
        each().skip(at + 1).all(|(sentence, concluded)| leaves(sentence, concluded.is_some(), &decided));
    if denied || !stands {
        return Named::None;
    }
    Named::One(name.index, Coercion::Mentioned)
}

/// The first two of several names.
fn two_of(names: &[&Name]) -> Named {
    let Some(first) = names.first() else { return Named::None };
    let other = names.iter().map(|one| one.index).find(|index| *index != first.index);
    first.rival.or(other).map_or(Named::None, |other| Named::Two(first.index, other))
}

/// Another name that stands in the text at least as often.
fn as_often(counted: &[&Name], name: &Name) -> Option<usize> {
    let mut times: HashMap<usize, usize> = HashMap::new();
    for index in counted.iter().flat_map(|one| [Some(one.index), one.rival]).flatten() {
        *times.entry(index).or_default() += 1;
    }
    let own = times.get(&name.index).copied().unwrap_or(0);
    counted
        .iter()
        .map(|one| one.index)
        .find(|index| *index != name.index && times.get(index).is_some_and(|times| *times >= own))
}

/// A name as it stands in a text.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) index: usize,
    /// Another one that is meant as well, since only their case differs.
    pub(super) rival: Option<usize>,
    /// It is in the case of the name.
    pub(super) exact: bool,
    /// It stands between quotation marks, backticks or emphasis.
    pub(super) marked: bool,
    written: String,
}

impl Name {
    /// The words of it, in lower case.
    pub(super) fn words(&self) -> impl Iterator<Item = String> {
        let words = self.written.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’'));
        words.map(str::to_lowercase)
    }

    /// Whether it looks like any other word: `simple`, and `Simple` where that only begins the sentence.
    pub(super) fn is_small(&self, begins: bool) -> bool {
        let capital = self.written.starts_with(char::is_uppercase) && (self.exact || !begins);
        let is_sign = |c: char| c.is_uppercase() || c.is_numeric() || matches!(c, '_' | '-');
        let truth = matches!(self.written.to_lowercase().as_str(), "true" | "false" | "yes" | "no");
        !self.marked && !truth && !capital && !self.written.chars().skip(1).any(is_sign)
    }

    pub(super) fn is_letter(&self) -> bool {
        self.written.chars().count() == 1
    }

    /// Whether it is written as no word is: `k-1`, `RED`.
    pub(super) fn is_identifier(&self) -> bool {
        let capitals = self.written.chars().filter(|c| c.is_uppercase()).count();
        self.written.contains(|c: char| c.is_numeric() || matches!(c, '_' | '-'))
            || (capitals > 1 && !self.written.contains(char::is_lowercase))
    }
}

/// A name, from and to these characters.
#[derive(Clone, Debug)]
pub(super) struct Mention {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) name: Name,
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

/// A way to write a name.
struct Form {
    name: usize,
    written: Vec<char>,
    small: Vec<char>,
}

impl Form {
    fn all(index: usize, name: &str) -> impl Iterator<Item = Form> {
        let spoken = spoken(name);
        // As other languages write it: `VERY_HIGH`.
        let joined = spoken.as_ref().map(|said| said.replace(' ', "_")).filter(|joined| joined != name);
        [Some(name.to_owned()), spoken, joined].into_iter().flatten().map(move |form| {
            let written: Vec<char> = form.chars().collect();
            let small = written.iter().copied().map(lower).collect();
            Form { name: index, written, small }
        })
    }
}

impl Text {
    fn new(text: &str) -> Self {
        let written: Vec<char> = text.chars().collect();
        let lower = written.iter().copied().map(lower).collect();
        Text { written, lower }
    }

    /// Every name in the text, in any case. Whoever says `very high` of `High` and `VeryHigh` means the longer one.
    fn mentions(&self, names: &[&str]) -> Vec<Mention> {
        let named = names.iter().enumerate().filter(|(_, name)| name.contains(char::is_alphabetic));
        let forms: Vec<Form> = named.flat_map(|(index, name)| Form::all(index, name.trim())).collect();
        let mut found = Vec::new();
        let mut at = 0;
        while at < self.lower.len() {
            let here = forms.iter().filter(|form| {
                self.lower[at..].starts_with(&form.small) && self.stands_alone(at, at + form.small.len())
            });
            let longest = here.clone().map(|form| form.small.len()).max();
            if let Some(length) = longest {
                let names = here.filter(|form| form.small.len() == length);
                found.extend(self.mention(at, at + length, names));
            }
            at += longest.unwrap_or(1);
        }
        found
    }

    /// The mention of one of these names, of which one that is in its case comes before the others.
    fn mention<'f>(&self, from: usize, to: usize, names: impl Iterator<Item = &'f Form>) -> Option<Mention> {
        let is_exact = |form: &Form| self.written[from..to] == *form.written;
        let mut names: Vec<(usize, bool)> = names.map(|form| (form.name, is_exact(form))).collect();
        names.sort_by_key(|(index, exact)| (!exact, *index));
        let (index, exact) = *names.first()?;
        let rival = names.iter().find(|(other, as_exact)| *other != index && *as_exact == exact);
        let is_mark = |at: Option<usize>| self.at(at).is_some_and(|c| is_quote(c) || is_markup(c));
        let marked = is_mark(from.checked_sub(1)) || is_mark(Some(to));
        let written = self.written[from..to].iter().collect();
        let name = Name { index, rival: rival.map(|(other, _)| *other), exact, marked, written };
        Some(Mention { from, to, name })
    }

    fn at(&self, index: Option<usize>) -> Option<char> {
        self.written.get(index?).copied()
    }

    /// Whether it is no part of a longer word or sign.
    fn stands_alone(&self, from: usize, to: usize) -> bool {
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let joins =
            |c: char| matches!(c, '-' | '+' | '#' | '@' | '$' | '%' | '=' | '&' | '<' | '>' | '~' | '^');
        let binds = |c: char| matches!(c, '.' | '\'' | '’' | '/' | ':' | '\\');
        let before = self.at(from.checked_sub(1));
        let negated = matches!(before, Some('!' | '¬'));
        // `\n` is a line's end.
        let line = before == Some('n') && self.at(from.checked_sub(2)) == Some('\\');
        let free = |next: Option<char>, beyond: Option<char>| match next {
            Some('\\') => beyond == Some('n') || !is_word(beyond),
            Some(c) if c.is_alphanumeric() || c == '_' || joins(c) => false,
            Some(c) if binds(c) => !is_word(beyond),
            _ => true,
        };
        !negated
            && (line || free(before, self.at(from.checked_sub(2))))
            && free(self.at(Some(to)), self.at(Some(to + 1)))
    }
}

#[cfg(test)]
#[path = "mention_tests.rs"]
mod tests;
