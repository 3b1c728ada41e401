//! The values and numbers that a refusal offers, in whatever way it writes them.
//!
//! "Supported values are: 'low', 'medium', and 'high'." and a hundred other ways to
//! say so. A list begins behind a phrase that offers something and ends at the
//! first word that is neither a value nor a filler. Numbers are read behind phrases
//! such as "at most", with what the phrase adds.

use super::phrases::{AT_LEAST, AT_MOST, LISTS, OFFERING_WORDS};

/// Words that stand in a list of values, and are none.
const FILLERS: [&str; 38] = [
    "a",
    "an",
    "and",
    "any",
    "are",
    "be",
    "default",
    "either",
    "effort",
    "efforts",
    "false",
    "following",
    "for",
    "is",
    "level",
    "levels",
    "model",
    "modes",
    "null",
    "of",
    "only",
    "option",
    "options",
    "or",
    "reasoning",
    "reasoning_effort",
    "setting",
    "settings",
    "string",
    "the",
    "thinking",
    "this",
    "to",
    "tool_choice",
    "true",
    "type",
    "value",
    "values",
];

/// The names that the text offers behind the words of [`LISTS`], or of
/// [`OFFERING_WORDS`]. `text`: in lower case.
pub(super) fn named_values<'n>(text: &str, names: &[&'n str]) -> Option<Vec<&'n str>> {
    values_behind(text, LISTS, names).or_else(|| offered(text, names))
}

/// `leads`: what stands before a list.
pub(super) fn values_behind<'n>(
    text: &str,
    leads: &[&str],
    names: &[&'n str],
) -> Option<Vec<&'n str>> {
    leads.iter().find_map(|lead| {
        text.match_indices(lead).find_map(|(at, _)| {
            let listed = list(&text[at + lead.len()..], names);
            (!is_denied(&text[..at]) && !listed.is_empty()).then_some(listed)
        })
    })
}

/// A single word, which counts only by itself.
fn offered<'n>(text: &str, names: &[&'n str]) -> Option<Vec<&'n str>> {
    OFFERING_WORDS.iter().find_map(|word| {
        text.match_indices(word).find_map(|(at, _)| {
            let begins = !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            let listed = list(&text[at + word.len()..], names);
            (begins && !is_denied(&text[..at]) && !listed.is_empty()).then_some(listed)
        })
    })
}

/// `is not`, `aren't`, `cannot be`: what follows is refused, not offered.
fn is_denied(before: &str) -> bool {
    let mut words = before.split_whitespace().rev().filter(|word| *word != "be");
    words
        .next()
        .is_some_and(|word| matches!(word, "not" | "cannot" | "never") || word.ends_with("n't"))
}

/// The text may quote the request behind the list.
fn list<'n>(text: &str, names: &[&'n str]) -> Vec<&'n str> {
    let words = text
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty());
    let mut listed = Vec::new();
    for word in words {
        match names.iter().find(|name| **name == word) {
            Some(name) => listed.push(*name),
            None if FILLERS.contains(&word) => {}
            None => break,
        }
    }
    listed
}

/// The numbers that are taken, both included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) least: Option<u32>,
    pub(super) most: Option<u32>,
}

impl Bounds {
    pub(super) fn excludes(self, number: u32) -> bool {
        self.least.is_some_and(|least| number < least)
            || self.most.is_some_and(|most| number > most)
    }
}

/// `text`: in lower case. `name`: where the text has it, only what stands behind it
/// counts, if that says anything.
pub(super) fn bounds(text: &str, name: Option<&str>) -> Option<Bounds> {
    let behind = name
        .and_then(|name| text.find(name))
        .map_or(text, |at| &text[at..]);
    [behind, text]
        .into_iter()
        .find_map(|text| range(text).or_else(|| one_bound(text)))
}

/// What stands before a range, and between its numbers.
const RANGES: [(&str, &str); 7] = [
    ("between ", "and"),
    ("from ", "to"),
    ("range ", "to"),
    ("range ", "-"),
    ("allowed: ", "-"),
    ("allowed: ", "to"),
    ("[", ","),
];

/// `between 1 and 8`, `from 1 (inclusive) to 8 (exclusive)`, `[1, 8]`.
fn range(text: &str) -> Option<Bounds> {
    RANGES.into_iter().find_map(|(lead, middle)| {
        text.match_indices(lead).find_map(|(at, _)| {
            let (least, rest) = number(&text[at + lead.len()..])?;
            let rest = rest
                .trim_start()
                .trim_start_matches("(inclusive)")
                .trim_start();
            let (most, rest) = number(rest.strip_prefix(middle)?)?;
            let is_exclusive = rest.trim_start().starts_with("(exclusive)");
            let most = if is_exclusive {
                most.saturating_sub(1)
            } else {
                most
            };
            (least <= most).then_some(Bounds {
                least: Some(least),
                most: Some(most),
            })
        })
    })
}

/// The number behind the first of these words, with what the word adds to it: "less
/// than 9" allows 8.
fn number_behind(leads: &[(&str, i64)], text: &str) -> Option<u32> {
    leads.iter().find_map(|(lead, step)| {
        text.match_indices(lead).find_map(|(at, _)| {
            let rest = &text[at + lead.len()..];
            // Another lead has the whole of it.
            if rest.trim_start().starts_with("or equal") {
                return None;
            }
            let (number, _) = number(rest)?;
            u32::try_from(i64::from(number) + step).ok()
        })
    })
}

/// A maximum, a minimum, or both in one sentence.
fn one_bound(text: &str) -> Option<Bounds> {
    if let Some(most) = maximum_in(text) {
        return Some(Bounds {
            least: None,
            most: Some(most),
        });
    }
    let bounds = Bounds {
        least: number_behind(AT_LEAST, text),
        most: number_behind(AT_MOST, text),
    };
    (bounds.least.or(bounds.most).is_some()).then_some(bounds)
}

/// Anthropic: `max_tokens: 100000 > 64000, which is the maximum allowed number of
/// output tokens`; others: `exceeds limit: 9 > 8`.
fn maximum_in(text: &str) -> Option<u32> {
    let (before, behind) = text.split_once(" > ")?;
    let is_number = before
        .chars()
        .next_back()
        .is_some_and(|last| last.is_ascii_digit());
    let (most, rest) = number(behind)?;
    let is_of_a_maximum = rest.contains("maximum") || before.contains("limit");
    (is_number && is_of_a_maximum).then_some(most)
}

/// The number that the text begins with, behind few words, and what follows it.
fn number(text: &str) -> Option<(u32, &str)> {
    const MOST_BETWEEN: usize = 48;
    let at = text.find(|c: char| c.is_ascii_digit())?;
    if at > MOST_BETWEEN
        || !text[..at]
            .chars()
            .all(|c: char| c.is_ascii_alphabetic() || " :`'\"(=_*".contains(c))
    {
        return None;
    }
    let rest = &text[at..];
    let end = rest
        .char_indices()
        .find(|(index, c)| {
            let is_before_digit =
                rest[index + c.len_utf8()..].starts_with(|c: char| c.is_ascii_digit());
            let separates = matches!(c, ',' | '_') && is_before_digit;
            !c.is_ascii_digit() && !separates
        })
        .map_or(rest.len(), |(end, _)| end);
    let digits: String = rest[..end].chars().filter(char::is_ascii_digit).collect();
    // A fraction is a bound of something else.
    let is_whole = !rest[end..]
        .strip_prefix('.')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let number = digits.parse().ok().filter(|_| is_whole)?;
    Some((number, rest[end..].trim_start_matches(['`', '\'', '"'])))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

    #[test]
    fn lists_of_values() {
        for (text, listed) in [
            (
                "supported values are: 'low', 'medium', and 'high'.",
                Some(vec!["low", "medium", "high"]),
            ),
            (
                "input should be 'low', 'medium' or 'high'\", 'input': 'max'",
                Some(vec!["low", "medium", "high"]),
            ),
            (
                "`reasoning_effort` must be one of `none` or `default`",
                Some(vec!["none"]),
            ),
            (
                "always thinks; please use low, high, or max",
                Some(vec!["low", "high", "max"]),
            ),
            (
                "(must be \"high\", \"medium\", \"low\", true, or false)",
                Some(vec!["high", "medium", "low"]),
            ),
            (
                "this model only supports reasoning_effort none and high",
                Some(vec!["none", "high"]),
            ),
            (
                "supported levels: [\"low\", \"high\"]",
                Some(vec!["low", "high"]),
            ),
            (
                "this model supports: low, medium, high.",
                Some(vec!["low", "medium", "high"]),
            ),
            ("allowed reasoning efforts: low", Some(vec!["low"])),
            ("max: expected low | medium", Some(vec!["low", "medium"])),
            ("supported efforts are low/high", Some(vec!["low", "high"])),
            ("is not supported: max", None),
            ("cannot be supported for low", None),
            ("must be less than the max", None),
            ("only the default (1) value is supported", None),
            ("none of it is high", None),
        ] {
            assert_eq!(named_values(text, &EFFORTS), listed, "{text}");
        }
    }

    #[test]
    fn numbers_that_are_taken() {
        let of = |least, most| Some(Bounds { least, most });
        for (text, expected) in [
            (
                "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens",
                of(None, Some(64_000)),
            ),
            (
                "max_tokens is too large: 100000. this model supports at most 4096 completion \
                 tokens",
                of(None, Some(4096)),
            ),
            (
                "`max_tokens` must be less than or equal to `8192`, the maximum",
                of(None, Some(8192)),
            ),
            (
                "the valid range of max_tokens is [1, 8,192]",
                of(Some(1), Some(8192)),
            ),
            (
                "the supported range is from 1 (inclusive) to 65537 (exclusive).",
                of(Some(1), Some(65_536)),
            ),
            (
                "please choose a value between 512 and 8192.",
                of(Some(512), Some(8192)),
            ),
            (
                "integer below minimum value. expected a value >= 16, but got 1 instead.",
                of(Some(16), None),
            ),
            (
                "input should be greater than or equal to 1024",
                of(Some(1024), None),
            ),
            ("must be less than 4097", of(None, Some(4096))),
            (
                "max output tokens exceeds limit: 100000 > 8192",
                of(None, Some(8192)),
            ),
            (
                "maximum output tokens for this model is 8192",
                of(None, Some(8192)),
            ),
            (
                "max_tokens is out of range. allowed: 1-8192",
                of(Some(1), Some(8192)),
            ),
            ("temperature must be at most 1.5", None),
            ("must be greater than `thinking.budget_tokens`", None),
        ] {
            assert_eq!(bounds(text, None), expected, "{text}");
        }
    }
}
