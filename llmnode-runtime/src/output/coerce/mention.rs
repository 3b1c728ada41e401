//! The one name that a text mentions: `The answer is RED.`
//!
//! A name that is denied, asked for or beside another one is no answer; nor is a word of every day in the middle of a
//! sentence, which may mean something else.

use super::choice::Named;
use crate::flag::Coercion;

/// A longer text is an essay, and no answer of one word.
const LONGEST: usize = 4096;
/// How many words around a mention may deny it.
const AROUND: usize = 4;
/// What denies a name before or after it, or puts another one beside it, in the languages that models mostly write.
const DENIALS: [&str; 47] = [
    "not",
    "no",
    "never",
    "cannot",
    "without",
    "neither",
    "nor",
    "except",
    "excluding",
    "exclude",
    "than",
    "instead",
    "rather",
    "non",
    "hardly",
    "against",
    "avoid",
    "avoiding",
    "or",
    "either",
    "unlike",
    "dont",
    "isnt",
    "cant",
    "wont",
    "doesnt",
    "wrong",
    "incorrect",
    "false",
    "unlikely",
    "impossible",
    "versus",
    "vs",
    "nicht",
    "kein",
    "keine",
    "oder",
    "weder",
    "pas",
    "jamais",
    "ou",
    "nunca",
    "ni",
    "não",
    "niet",
    "geen",
    "nessuno",
];
/// What follows a word that begins a text and is its subject.
const FOLLOWS_A_SUBJECT: [&str; 9] =
    ["is", "was", "because", "since", "as", "seems", "would", "should", "fits"];

/// The name that the text mentions, if it is one and nothing denies it.
pub(super) fn mentioned(text: &str, names: &[&str], common: bool) -> Named {
    if text.len() > LONGEST {
        return Named::None;
    }
    let text = Text::new(text);
    let exact = if common { Vec::new() } else { text.mentions(names, false) };
    let found = if exact.is_empty() { text.mentions(names, true) } else { exact };
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
            let name: Vec<char> = name.trim().chars().map(|c| if any_case { lower(c) } else { c }).collect();
            if !name.iter().any(|c| c.is_alphabetic()) {
                continue;
            }
            let at = text.windows(name.len()).enumerate().filter(|(_, part)| *part == name.as_slice());
            let mentions = at.map(|(from, part)| Mention { name: index, from, to: from + part.len() });
            found.extend(mentions.filter(|one| self.stands_alone(one)));
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

    /// Whether the words around it, in the same part of the sentence, deny it or put another one beside it.
    fn is_denied(&self, one: &Mention) -> bool {
        let before = self.written[..one.from].iter().rev().copied();
        let after = self.written[one.to..].iter().copied();
        let mut words = words(before, true);
        words.extend(self::words(after, false));
        words.iter().any(|word| DENIALS.contains(&word.as_str()) || word.ends_with("n't"))
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
        let next = words(self.written[one.to..].iter().copied(), false);
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

fn ends_part(c: char) -> bool {
    matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '\n' | '\r' | '(' | ')' | '—' | '\\')
}

/// The next words of a part of a sentence, in lower case; `back`: the characters come from the right.
fn words(characters: impl Iterator<Item = char>, back: bool) -> Vec<String> {
    let part: String = characters.take_while(|c| !ends_part(*c)).take(200).collect();
    let part: String = if back { part.chars().rev().collect() } else { part };
    let words = part
        .split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’'))
        .filter(|word| !word.is_empty());
    let words = words.map(|word| word.to_lowercase().replace('’', "'").trim_matches('\'').to_owned());
    let mut words: Vec<String> = words.collect();
    if back {
        words.reverse();
    }
    words.truncate(AROUND);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, names: &[&str]) -> Option<usize> {
        match mentioned(text, names, false) {
            Named::One(index, Coercion::Mentioned) => Some(index),
            Named::None => None,
            other => panic!("{text}: {other:?}"),
        }
    }

    fn truth(text: &str) -> Named {
        mentioned(text, &["true", "false"], true)
    }

    #[test]
    fn one_name_in_a_sentence_is_taken() {
        let names = ["ONE", "TWO", "k-2-3.1_1"];
        for (text, index) in [
            ("The answer is TWO", 1),
            ("The answer is Two.", 1),
            ("**one** is the answer", 0),
            ("Two is the answer", 1),
            ("TWO\" is one of the correct answers.", 1),
            ("I would think k-2-3.1_1 is the best", 2),
            ("k-2-3.1_1. The description", 2),
            ("ONE: The description", 0),
            ("ONE - The description", 0),
            ("The answer \"two\" is the correct one", 1),
        ] {
            let rivals = if text.contains("correct one") { &names[1..2] } else { &names[..] };
            assert_eq!(of(text, rivals), Some(if rivals.len() == 1 { 0 } else { index }), "{text}");
        }
    }

    #[test]
    fn what_is_denied_or_asked_or_an_everyday_word_is_no_answer() {
        let names = ["RED", "Blue", "no", "A"];
        for text in [
            "It is not RED",
            "It isn't RED.",
            "not the RED one",
            "anything other than RED",
            "RED is wrong",
            "RED is not it",
            "RED or something",
            "Is it RED?",
            "I have no idea",
            "No idea, sorry",
            "A good question",
            "REDISH",
            "INFRA-RED",
            "RED-ish",
            "RED.txt",
            "a/RED",
            "die Farbe ist nicht RED",
            "",
        ] {
            assert_eq!(of(text, &names), None, "{text}");
        }
        assert_eq!(of(&format!("{} RED", "x ".repeat(3000)), &names), None);
    }

    #[test]
    fn two_names_are_none() {
        assert_eq!(mentioned("ONE is it, not TWO", &["ONE", "TWO"], false), Named::Two(0, 1));
        assert_eq!(mentioned("Two is one of them", &["ONE", "TWO"], false), Named::Two(1, 0));
        assert_eq!(mentioned("it is red.", &["Red", "RED"], false), Named::Two(0, 1));
        assert_eq!(of("It is DARK RED", &["RED", "DARK RED"]), Some(1), "one is part of the other");
    }

    #[test]
    fn truth_is_taken_where_it_ends_the_sentence() {
        let is = |index| Named::One(index, Coercion::Mentioned);
        assert_eq!(truth("The answer is True"), is(0));
        assert_eq!(truth("Answer: **True**"), is(0));
        assert_eq!(truth("False.\\n\\nThe statement is mathematically incorrect."), is(1));
        assert_eq!(truth("It's true, as far as I see."), is(0));
        assert_eq!(truth("The true answer is unknown"), Named::None);
        assert_eq!(truth("That is not true."), Named::None);
        assert!(matches!(truth("False. So it does not hold true."), Named::Two(..)));
    }
}
