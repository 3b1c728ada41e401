//! Collecting errors, and suggesting names.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::Error;

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
pub(crate) fn attribute_span(of: &Ident) -> Span {
    Span::call_site().resolved_at(of.span())
}

/// Like rustc: other case or underscores, an edit distance up to a third of the length, or reordered words. Then the same word in
/// another number or form, as `retry` for `retries`.
pub(crate) fn suggest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let candidates: Vec<_> = candidates.into_iter().collect();
    if let Some(same) = candidates
        .iter()
        .find(|candidate| bare_letters(candidate) == bare_letters(name))
    {
        return Some(same);
    }
    let limit = name.chars().count().max(3) / 3;
    let nearest = candidates
        .iter()
        .map(|candidate| (distance(name, candidate), *candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance);
    if let Some((_, candidate)) = nearest {
        return Some(candidate);
    }
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

/// Whether the words differ in at most three letters at their ends, behind at least four common ones.
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

fn sorted_words(name: &str) -> Vec<&str> {
    let mut words: Vec<_> = name.split('_').collect();
    words.sort_unstable();
    words
}

/// Swapping two neighbours is one edit.
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
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

pub(crate) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    joined(names, "and")
}

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
