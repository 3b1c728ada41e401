//! Collecting errors, and suggesting names.
//!
//! A macro reports all that is wrong in one run, so errors are collected and
//! emitted at the end. `syn::Error` can hold several and print each at its place;
//! `Errors` is the empty case that it lacks.
//!
//! Names are suggested as rustc does it, because people know its suggestions and
//! trust them. The rules go a little further: words of people who know another
//! library differ in their end (`retry`, `retries`) more often than in a letter.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::Error;

/// `must_use`, since errors that are dropped would be a program that compiles
/// although it is wrong.
#[derive(Default)]
#[must_use]
pub(crate) struct Errors(Option<Error>);

impl Errors {
    pub(crate) fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            none => *none = Some(error),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// For parsers of inner lists, which answer all their faults as one
    /// `syn::Error`.
    pub(crate) fn into_result(self) -> syn::Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}

impl ToTokens for Errors {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.0.as_ref().map(Error::to_compile_error));
    }
}

/// With an identifier's hygiene, rustc does not note that the error comes from a macro.
/// The place of the macro's attribute, for what is missing and has no token of its
/// own.
pub(crate) fn attribute_span(of: &Ident) -> Span {
    Span::call_site().resolved_at(of.span())
}

/// Like rustc: other case or underscores, an edit distance up to a third of the
/// length, or reordered words. Then the same word in another number or form, as
/// `retry` for `retries`.
pub(crate) fn suggest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // From the surest to the boldest: each rule is asked for all candidates before
    // the next, so that a distant word that is first in the list does not win over
    // a near one.
    let candidates: Vec<_> = candidates.into_iter().collect();
    if let Some(same) = candidates
        .iter()
        .find(|candidate| bare_letters(candidate) == bare_letters(name))
    {
        return Some(same);
    }
    // One edit for three letters, and at least one: as in rustc.
    let limit = name.chars().count().max(3) / 3;
    let nearest = candidates
        .iter()
        .map(|candidate| (distance(name, candidate), *candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance);
    if let Some((_, candidate)) = nearest {
        return Some(candidate);
    }
    // `file_prompt` for `prompt_file`.
    let words = sorted_words(name);
    let reordered = candidates
        .iter()
        .find(|candidate| sorted_words(candidate) == words);
    reordered
        .or_else(|| {
            candidates
                .iter()
                .find(|candidate| same_stem(name, candidate))
        })
        .copied()
}

/// Whether the words differ in at most three letters at their ends, behind at least
/// four common ones. Four letters, since shorter stems are shared by words that
/// have nothing to do with each other.
fn same_stem(name: &str, candidate: &str) -> bool {
    let common = name
        .chars()
        .zip(candidate.chars())
        .take_while(|(ours, theirs)| ours == theirs)
        .count();
    let longest = name.chars().count().max(candidate.chars().count());
    common >= 4 && longest - common <= 3
}

/// Without case and underscores.
fn bare_letters(name: &str) -> String {
    name.replace('_', "").to_lowercase()
}

/// By their letters, so that the order in which they stand does not matter.
fn sorted_words(name: &str) -> Vec<&str> {
    let mut words: Vec<_> = name.split('_').collect();
    words.sort_unstable();
    words
}

/// Swapping two neighbours is one edit.
/// Optimal string alignment: three rows of the usual matrix are enough, as a swap
/// looks back two.
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    // The row before the last one; empty in the first round, where no swap is
    // possible.
    let mut before: Vec<usize> = vec![];
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for i in 1..=from.len() {
        let mut next = vec![i];
        for j in 1..=to.len() {
            let replaced = row[j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut best = replaced.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[to.len()]
}

/// `what`, what it is near to, or else what there is.
pub(crate) fn unknown<'a>(
    what: &str,
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    otherwise: &str,
) -> String {
    match suggest(name, candidates) {
        Some(near) => format!("{what} `{name}`; did you mean `{near}`?"),
        None => format!("{what} `{name}`; {otherwise}"),
    }
}

/// For messages that name all that there is.
pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    joined(names, "and")
}

/// For messages that propose one of several.
pub(crate) fn any_of<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    joined(names, "or")
}

fn joined<'a>(names: impl IntoIterator<Item = &'a str>, word: &str) -> String {
    let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} {word} {last}", rest.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{distance, list, suggest};

    #[test]
    fn distances() {
        for (from, to, expected) in [
            ("", "", 0),
            ("", "ab", 2),
            ("topik", "topic", 1),
            ("lst", "list", 1),
            ("tpoic", "topic", 1),
            ("ab", "ba", 1),
        ] {
            assert_eq!(distance(from, to), expected, "{from} {to}");
            assert_eq!(distance(to, from), expected, "{to} {from}");
        }
    }

    #[test]
    fn proposals() {
        let fields = ["topic", "style", "user_name"];
        assert_eq!(suggest("topik", fields), Some("topic"));
        assert_eq!(suggest("Topic", fields), Some("topic"));
        assert_eq!(suggest("UserName", fields), Some("user_name"));
        assert_eq!(suggest("name_user", fields), Some("user_name"));
        assert_eq!(suggest("colour", fields), None);
        assert_eq!(suggest("retry", ["turns", "retries"]), Some("retries"));
        assert_eq!(suggest("validator", ["validate"]), Some("validate"));
        assert_eq!(suggest("retort", ["retries"]), None);
        assert_eq!(suggest("", fields), None);
    }

    #[test]
    fn lists() {
        assert_eq!(list([]), "");
        assert_eq!(list(["a"]), "`a`");
        assert_eq!(list(["a", "b", "c"]), "`a`, `b` and `c`");
    }
}
