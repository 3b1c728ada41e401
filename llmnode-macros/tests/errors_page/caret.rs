//! The yardstick of an error: whether what is underlined has to change.

use std::ops::Range;

use crate::case::Case;

/// By what an error is well placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A mark touches what has to change, in the program or in the line of the prompt that the message shows.
    Marked,
    /// The whole prompt is underlined, and the message has the line and the column in words.
    InWords,
    /// A mark of its help touches what has to change.
    Helped,
    /// What has to change is a matter of judgement, and a mark touches it.
    Judged,
}

/// How an error reaches what has to change.
enum Touch {
    Mark,
    Words,
}

impl Case {
    /// Whether it has one error, and that one underlines what has to change, at its own place or in its help.
    pub(crate) fn well_answered(&self) -> bool {
        self.answer().is_some()
    }

    /// By what its error is well placed, if it is.
    pub(crate) fn answer(&self) -> Option<Answer> {
        if self.printed.len() != 1 {
            return None;
        }
        let answer = match self.touch() {
            Some(Touch::Mark) => Answer::Marked,
            Some(Touch::Words) => Answer::InWords,
            None if self.helps() => Answer::Helped,
            None => return None,
        };
        Some(if self.judged.is_some() {
            Answer::Judged
        } else {
            answer
        })
    }

    /// Whether the help or a note of the first error underlines what has to change, elsewhere in the program.
    fn helps(&self) -> bool {
        let Some(error) = self.printed.first() else {
            return false;
        };
        let mut places: Vec<Vec<&str>> = vec![];
        for line in error.lines() {
            match places.last_mut() {
                _ if is_arrow(line) => places.push(vec![line]),
                Some(place) => place.push(line),
                None => {}
            }
        }
        let own = places
            .iter()
            .skip(1)
            .filter(|place| place[0].contains("src/main.rs"));
        let mut marks = own.flat_map(|place| marks(place.iter().copied()));
        // An attribute that is underlined as a whole marks nothing in it.
        marks.any(|(code, under)| {
            !underlined(code, &under).contains('"')
                && self.tokens.iter().any(|token| hits(code, token, &under))
        })
    }

    /// How an underline of the first error touches what has to change, if any does. A mark is better than words.
    fn touch(&self) -> Option<Touch> {
        let error = self.printed.first()?;
        let touches: Vec<_> = self
            .tokens
            .iter()
            .filter_map(|token| touch(error, token))
            .collect();
        let marked = touches.iter().any(|touch| matches!(touch, Touch::Mark));
        if marked {
            Some(Touch::Mark)
        } else {
            touches.into_iter().next()
        }
    }
}

/// How an underline of the error touches the token. That of a whole prompt does not, unless the message has the place in
/// it: the line with a mark below it, or its number and column.
fn touch(error: &str, token: &str) -> Option<Touch> {
    let hit = |(code, under): &(&str, Range<usize>)| hits(code, token, under);
    let within = |(code, under): &(&str, Range<usize>)| {
        let underlined = underlined(code, under);
        underlined.contains('"') && underlined.len() > token.len() && !token.starts_with('"')
    };
    let own = marks(own_place(error));
    let mut direct = own.iter().filter(|mark| hit(mark));
    if direct.clone().any(|mark| !within(mark)) {
        return Some(Touch::Mark);
    }
    direct.next()?;
    if marks(excerpt(error)).iter().any(hit) {
        return Some(Touch::Mark);
    }
    (error.contains("Line<") && error.contains("Column<")).then_some(Touch::Words)
}

/// The lines of a prompt that the message itself shows.
fn excerpt(error: &str) -> impl Iterator<Item = &str> {
    error.lines().take_while(|line| !is_arrow(line))
}

/// The lines between an error's first place and the next.
fn own_place(error: &str) -> impl Iterator<Item = &str> {
    error
        .lines()
        .skip_while(|line| !is_arrow(line))
        .skip(1)
        .take_while(|line| !is_arrow(line))
}

fn is_arrow(line: &str) -> bool {
    line.trim_start().starts_with("--> ")
}

/// Each `^^^`, by the line of code above it and its columns.
fn marks<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<(&'a str, Range<usize>)> {
    let mut code = "";
    let mut marks = vec![];
    for line in lines {
        if line.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
            code = line;
        } else if line.trim_start().starts_with('|') {
            marks.extend(underlines(line).map(|under| (code, under)));
        }
    }
    marks
}

fn underlined(code: &str, under: &Range<usize>) -> String {
    code.chars().skip(under.start).take(under.len()).collect()
}

/// The columns of each `^^^` of a line.
fn underlines(line: &str) -> impl Iterator<Item = Range<usize>> {
    let under: Vec<bool> = line.chars().map(|c| c == '^').collect();
    let starts = (0..under.len())
        .filter(|&at| under[at] && (at == 0 || !under[at - 1]))
        .collect::<Vec<_>>();
    starts.into_iter().map(move |start| {
        let length = under[start..].iter().take_while(|&&under| under).count();
        start..start + length
    })
}

/// Whether the line of code has the token at underlined columns.
fn hits(code: &str, token: &str, under: &Range<usize>) -> bool {
    code.match_indices(token).any(|(at, _)| {
        let start = code[..at].chars().count();
        start < under.end && under.start < start + token.chars().count()
    })
}
