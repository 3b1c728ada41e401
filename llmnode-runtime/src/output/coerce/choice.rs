//! One of the values that a schema lists, as it was written or named.

use serde_json::Value;

use super::super::check::{Place, same, words::values};
use super::super::reader::Json;
use super::fit::{At, Changed, Fit, Fitter, Tier, Tried, misfit, only, two};
use super::mention::mentioned;
use crate::flag::Coercion;
use crate::output::schema::Node;

/// Signs that cross a name out.
const CROSSES: [char; 11] = ['✗', '✘', '✖', '✕', '❌', '❎', '🚫', '⛔', '≠', '☐', '×'];

impl<'t> Fitter<'_, '_, 't> {
    /// A value for a schema that lists what it may be.
    pub(super) fn choice(&self, node: &Node, value: &Json<'t>, place: &Place<'_>, at: At) -> Fit<'t> {
        let allowed = values(node);
        if let (Json::Array(items), true) = (value, at.tries(Tried::Shape)) {
            return self.single(node, items, place, at, |item, at| self.choice(node, item, place, at));
        }
        if !at.tries(Tried::Direct) {
            return misfit();
        }
        if allowed.iter().any(|one| Json::from(one) == *value) {
            return Ok(None);
        }
        let changed = |json, coercion, tier| Ok(Some(Changed::new(json, coercion, place, tier)));
        match value {
            Json::Number(digits) => {
                let equal = allowed.iter().find(|one| same(&Json::from(*one), value));
                if let Some(Value::Number(number)) = equal {
                    return changed(Json::Number(number.to_string().into()), Coercion::Integer, Tier::Kind);
                }
                match allowed.iter().any(|one| one.as_str() == Some(digits)) {
                    true => changed(Json::String(digits.clone()), Coercion::StringFromNumber, Tier::Scalar),
                    false => misfit(),
                }
            }
            Json::String(text) => {
                let numbers = allowed.iter().filter(|one| one.is_number());
                let mut found: Vec<Fit<'t>> = numbers
                    .filter(|one| same(&Json::from(*one), &Json::Number(text.trim().into())))
                    .map(|one| {
                        changed(
                            Json::Number(one.to_string().into()),
                            Coercion::NumberFromString,
                            Tier::Scalar,
                        )
                    })
                    .collect();
                found.push(self.name(allowed, text, place));
                only(found, place)
            }
            _ => misfit(),
        }
    }

    /// The string or Boolean that a text names.
    fn name(&self, allowed: &[Value], text: &str, place: &Place<'_>) -> Fit<'t> {
        let names: Vec<&Value> = allowed.iter().filter(|one| one.is_string() || one.is_boolean()).collect();
        let words: Vec<&str> = names
            .iter()
            .map(|one| match one {
                Value::Bool(true) => "true",
                Value::Bool(false) => "false",
                one => one.as_str().unwrap_or_default(),
            })
            .collect();
        let json = |index: usize| match names.get(index) {
            Some(Value::Bool(value)) => Json::Bool(*value),
            _ => Json::String(words.get(index).copied().unwrap_or_default().to_owned().into()),
        };
        let is_string = |index: usize| names.get(index).is_some_and(|one| one.is_string());
        match named(text, &words, !names.iter().any(|one| one.is_string())) {
            Named::One(index, Coercion::Choice) if !is_string(index) => {
                Ok(Some(Changed::new(json(index), Coercion::Boolean, place, Tier::Scalar)))
            }
            Named::One(index, coercion) => {
                let tier = if is_string(index) { Tier::Kind } else { Tier::Scalar };
                Ok(Some(Changed::new(json(index), coercion, place, tier)))
            }
            Named::Two(first, second) => Err(two(&json(first), &json(second), place)),
            Named::None => misfit(),
        }
    }
}

/// Which of several names a text is, or mentions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    None,
    /// The one of this index, and how.
    One(usize, Coercion),
    /// One as well as another.
    Two(usize, usize),
}

/// The name that a text is but for white space, punctuation around it, case and what stands between words; else the one
/// that it mentions. `common`: the names are words of every day, as `true` is.
pub(super) fn named(text: &str, names: &[&str], common: bool) -> Named {
    let trimmed = text.trim();
    let unquoted = unquoted(trimmed);
    let bare = bare(trimmed);
    for form in [Some(trimmed), Some(unquoted), bare].into_iter().flatten().filter(|form| !form.is_empty()) {
        for equal in [str::eq as fn(&str, &str) -> bool, equal_letters] {
            match one_of(names, |name| equal(name.trim(), form)) {
                Named::None => {}
                found => return found,
            }
        }
    }
    match bare.map_or(Named::None, |bare| one_of(names, |name| equal_words(name, bare))) {
        Named::None => mentioned(text, names, common),
        found => found,
    }
}

fn one_of(names: &[&str], is: impl Fn(&str) -> bool) -> Named {
    let mut found = names.iter().enumerate().filter(|(_, name)| is(name)).map(|(index, _)| index);
    match (found.next(), found.next()) {
        (None, _) => Named::None,
        (Some(only), None) => Named::One(only, Coercion::Choice),
        (Some(first), Some(second)) => Named::Two(first, second),
    }
}

fn equal_letters(one: &str, other: &str) -> bool {
    one.chars().flat_map(char::to_lowercase).eq(other.chars().flat_map(char::to_lowercase))
}

/// The text without quotation marks, backticks and emphasis around it.
fn unquoted(mut text: &str) -> &str {
    const PAIRS: [(char, char); 8] =
        [('"', '"'), ('\'', '\''), ('`', '`'), ('*', '*'), ('“', '”'), ('‘', '’'), ('(', ')'), ('[', ']')];
    loop {
        let within = |(open, close): &(char, char)| text.strip_prefix(*open)?.strip_suffix(*close);
        match PAIRS.iter().find_map(within).map(str::trim).filter(|inner| !inner.is_empty()) {
            Some(inner) => text = inner,
            None => return text,
        }
    }
}

/// Punctuation that says nothing about the word before it. `+`, `-`, `#` and the like do, and so do crosses and question
/// marks: `C++`, `A-`, `Red?`.
fn is_harmless(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '"' | '\'' | '`' | '*' | '“' | '”' | '‘' | '’' | '.' | ',' | ':' | ';' | '!' | ')' | ']'
        )
}

/// The text without punctuation around it, where that says nothing: `"TWO!"`, `- Red`.
fn bare(text: &str) -> Option<&str> {
    let start = text.find(char::is_alphanumeric)?;
    let (last, letter) = text.char_indices().rev().find(|(_, c)| c.is_alphanumeric())?;
    let end = last + letter.len_utf8();
    let (head, body, tail) = (&text[..start], &text[start..end], &text[end..]);
    let is_bullet = head.ends_with(char::is_whitespace)
        && head.trim().chars().all(|c| matches!(c, '-' | '–' | '•' | '>' | '*'));
    let opens = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '*' | '“' | '‘' | '(' | '[');
    let questions = |c: char| c == '?' || CROSSES.contains(&c);
    let says_nothing = (is_bullet || head.chars().all(opens))
        && tail.chars().next().is_none_or(is_harmless)
        && !tail.chars().any(questions);
    // Without a letter it is a number, in which a sign or a point is no ornament.
    (says_nothing && body.contains(char::is_alphabetic)).then_some(body)
}

/// Whether two names have the same words, whatever stands between these: `to do`, `to_do`, `ToDo`.
fn equal_words(one: &str, other: &str) -> bool {
    let (Some(first), Some(second)) = (words(one), words(other)) else { return false };
    let letters = |words: &[(char, &str)]| -> String {
        words.iter().flat_map(|(_, word)| word.chars()).flat_map(char::to_lowercase).collect()
    };
    let joined = |name: &str| name.contains(char::is_alphabetic) && !name.contains(char::is_numeric);
    if joined(one) && joined(other) {
        return letters(&first) == letters(&second);
    }
    first.len() == second.len()
        && one.contains(char::is_alphabetic)
        && first.iter().zip(&second).enumerate().all(|(index, ((gap, word), (other_gap, other_word)))| {
            let is_digit = |word: &str| word.chars().all(char::is_numeric);
            let between_digits = index > 0 && is_digit(word) && is_digit(first[index - 1].1);
            let blank = |gap: char| gap.is_whitespace() || gap == '_';
            equal_letters(word, other_word)
                && (!between_digits || gap == other_gap || blank(*gap) || blank(*other_gap))
        })
}

/// The words of a name, each with what stands before it; `None`: other marks stand in it than those between words.
fn words(name: &str) -> Option<Vec<(char, &str)>> {
    let is_gap = |c: char| {
        c.is_whitespace() || matches!(c, '_' | '-' | '–' | '.' | '/' | ',' | ':' | '\'' | '’' | '&')
    };
    if !name.starts_with(char::is_alphanumeric)
        || !name.ends_with(char::is_alphanumeric)
        || !name.chars().all(|c| c.is_alphanumeric() || is_gap(c))
    {
        return None;
    }
    let mut found = Vec::new();
    let mut gap = ' ';
    let mut start = None;
    for (at, c) in name.char_indices() {
        match (c.is_alphanumeric(), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.push((gap, &name[from..at]));
                (gap, start) = (c, None);
            }
            (false, None) => gap = c,
            (true, Some(_)) => {}
        }
    }
    found.extend(start.map(|from| (gap, &name[from..])));
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_known_by_its_words() {
        let names = ["k1", "k-2-3.1_1", "NUMBER THREE", "to_do"];
        for (text, index) in [
            ("k1", 0),
            (" K1 ", 0),
            ("**k1**", 0),
            ("k-2-3 1_1", 1),
            ("number three", 2),
            ("Number_Three.", 2),
            ("ToDo", 3),
            ("- to do", 3),
            ("\"to-do\"!", 3),
            ("(to do)", 3),
            ("TO DO!@#", 3),
        ] {
            assert_eq!(named(text, &names, false), Named::One(index, Coercion::Choice), "{text}");
        }
        for text in ["", " ", "k", "k2", "k-2-3-1_1", "to#do", "to_do+", "-to do", "3", "."] {
            assert_eq!(named(text, &names, false), Named::None, "{text}");
        }
    }

    #[test]
    fn marks_that_mean_something_are_no_ornament() {
        for (text, names) in [
            ("C++", &["C", "Java"][..]),
            ("C#", &["C", "Java"]),
            ("A-", &["A", "B"]),
            ("A+", &["A", "B"]),
            ("!valid", &["valid", "other"]),
            ("-1", &["1", "2"]),
            ("1.5", &["15", "1"]),
            ("1.5 kg", &["1-5 kg", "15 kg"]),
            ("<5", &["5", ">5"]),
            ("5%", &["5", "50"]),
        ] {
            assert_eq!(named(text, names, false), Named::None, "{text}");
        }
    }

    #[test]
    fn the_nearer_form_of_a_name_wins_and_two_of_the_same_are_none() {
        let names = ["Red", "RED", "red!"];
        assert_eq!(named(" RED ", &names, false), Named::One(1, Coercion::Choice));
        assert_eq!(named("red!", &names, false), Named::One(2, Coercion::Choice));
        assert_eq!(named("red", &names, false), Named::Two(0, 1));
    }
}
