//! A text in sentences, and these in words: `**Red** is the answer.` has the words `red is the answer`.
//!
//! Emphasis and backticks are left out, and so are quotation marks around a name. A line goes on in the next one behind
//! a colon, a comma or a heading, or where that begins with a small letter.

use super::mention::{Mention, Name};

/// A word in lower case, or a mark that is no part of one.
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) name: Option<Name>,
    /// It begins with a capital.
    pub(super) capital: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Sentence {
    pub(super) words: Vec<Word>,
    /// It is a question.
    pub(super) asked: bool,
    /// It trails off (`Red..`), or a quotation ends with it.
    pub(super) trails: bool,
    /// It begins a line.
    pub(super) begins_line: bool,
    /// The line before it ended without a mark, and may go on here.
    pub(super) loose: bool,
}

/// The sentences of a text in which these names stand, in their order.
pub(super) fn sentences(text: &[char], names: &[Mention]) -> Vec<Sentence> {
    let mut reader = Reader { text, names, at: 0, heading: false, now: Sentence::default(), all: Vec::new() };
    reader.now.begins_line = true;
    while let Some(&c) = text.get(reader.at) {
        reader.step(c);
    }
    reader.end();
    reader.all
}

struct Reader<'t> {
    text: &'t [char],
    /// Those that are still to come.
    names: &'t [Mention],
    at: usize,
    heading: bool,
    now: Sentence,
    all: Vec<Sentence>,
}

pub(super) fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '“' | '”' | '‘' | '’' | '«' | '»')
}

pub(super) fn is_markup(c: char) -> bool {
    matches!(c, '*' | '_' | '`')
}

impl Reader<'_> {
    fn step(&mut self, c: char) {
        let next = self.text.get(self.at + 1).copied();
        match self.names.split_first() {
            Some((name, later)) if name.from <= self.at => {
                self.names = later;
                let word: Vec<String> = name.name.words().collect();
                self.push(word.join(" "), Some(name.name.clone()));
                self.at = name.to.max(self.at + 1);
                // A quotation mark belongs to the name.
                self.at += usize::from(self.text.get(self.at).is_some_and(|c| is_quote(*c)));
                return;
            }
            _ => {}
        }
        let names_next = self.names.first().is_some_and(|name| name.from == self.at + 1);
        match c {
            '\n' => self.line(),
            '\\' if next == Some('n') => self.line(),
            '#' if self.now.words.is_empty() && self.now.begins_line => self.heading = true,
            '.' | '!' | '?' => return self.stop(),
            c if c.is_alphanumeric() => return self.word(),
            c if c.is_whitespace() || is_markup(c) || (is_quote(c) && names_next) => {}
            c => self.push(c.to_string(), None),
        }
        self.at += if c == '\\' && next == Some('n') { 2 } else { 1 };
    }

    fn push(&mut self, text: String, name: Option<Name>) {
        let capital = self.text.get(self.at).is_some_and(|c| c.is_uppercase());
        self.now.words.push(Word { text, name, capital });
    }

    /// `it's` and `I'd` are two words.
    fn word(&mut self) {
        let rest = &self.text[self.at..];
        let is_part = |(index, c): &(usize, &char)| {
            let joins = matches!(c, '\'' | '’') && rest.get(index + 1).is_some_and(|c| c.is_alphanumeric());
            c.is_alphanumeric() || joins
        };
        let word: String = rest.iter().enumerate().take_while(is_part).map(|(_, c)| *c).collect();
        let length = word.chars().count();
        let word = word.to_lowercase().replace('’', "'");
        let (word, verb) = match word.rsplit_once('\'') {
            Some((subject, "s")) => (subject, Some("is")),
            Some((subject, "d")) => (subject, Some("would")),
            Some((subject, "ll")) => (subject, Some("will")),
            Some((subject, "m")) => (subject, Some("am")),
            _ => (word.as_str(), None),
        };
        self.push(word.to_owned(), None);
        if let Some(verb) = verb {
            self.push(verb.to_owned(), None);
        }
        self.at += length;
    }

    /// `.`, `!`, `?` or several of them; a point within a number, behind one that begins the sentence (`1. Red`), behind
    /// a single letter (`e.g.`) or in `No. 5` ends nothing.
    fn stop(&mut self) {
        let marks = self.text[self.at..].iter().take_while(|c| matches!(c, '.' | '!' | '?')).count();
        let (run, rest) = self.text[self.at..].split_at(marks);
        let closing = rest.iter().take_while(|c| is_markup(**c) || is_quote(**c) || **c == ')').count();
        let number = rest.iter().find(|c| !c.is_whitespace()).is_some_and(|c| c.is_numeric());
        let is_short = |word: &Word| {
            let item = self.now.words.len() == 1 && word.text.chars().all(char::is_numeric);
            let letter = item || word.text.chars().count() == 1;
            (word.name.is_none() && letter) || (number && word.text == "no")
        };
        let ends = rest.get(closing).is_none_or(|c| c.is_whitespace() || *c == '\\')
            && !(run == ['.'] && self.now.words.last().is_some_and(is_short));
        if !ends {
            self.push(run.iter().collect(), None);
            self.at += marks;
            return;
        }
        self.now.asked = run.contains(&'?');
        self.now.trails = run.ends_with(&['.', '.']) || rest[..closing].iter().any(|c| is_quote(*c));
        self.at += marks + closing;
        self.end();
    }

    fn line(&mut self) {
        let Some(last) = self.now.words.last() else {
            self.now.begins_line = true;
            return;
        };
        if matches!(last.text.as_str(), ":" | ",") {
            return;
        }
        let rest = self.text[self.at..].iter().skip(1);
        let blank: Vec<&char> = rest.clone().take_while(|c| c.is_whitespace()).collect();
        let small = rest.clone().nth(blank.len()).is_some_and(|c| c.is_lowercase());
        if small && !blank.contains(&&'\n') {
            return;
        }
        if std::mem::take(&mut self.heading) && !self.now.words.iter().any(|word| word.text == ":") {
            return self.push(":".to_owned(), None);
        }
        self.end();
        (self.now.begins_line, self.now.loose) = (true, true);
    }

    fn end(&mut self) {
        let done = std::mem::take(&mut self.now);
        self.heading = false;
        if !done.words.is_empty() {
            self.all.push(done);
        }
    }
}
