//! What comments may hide, and what they say of it.

/// Words that stand for what was left out, and those that do so behind them.
const OMISSIONS: [&str; 13] = [
    "etc",
    "omitted",
    "truncated",
    "abbreviated",
    "elided",
    "snipped",
    "unchanged",
    "and so on",
    "and so forth",
    "and more",
    "the rest",
    "rest of",
    "as above",
];
const MORE: [&str; 5] = ["remaining", "more", "other", "additional", "further"];
const OF_THESE: [&str; 14] = [
    "items",
    "entries",
    "fields",
    "rows",
    "elements",
    "records",
    "objects",
    "members",
    "values",
    "keys",
    "properties",
    "results",
    "lines",
    "ones",
];
/// What a comment says to whoever shall write the rest. Without quotes, such words may be a value.
const ASKED_FOR: [&str; 10] = [
    "add more",
    "add other",
    "add others",
    "add the other",
    "add the others",
    "more here",
    "repeat for",
    "continue for",
    "same pattern",
    "same structure",
];

/// Whether a comment stands for what was left out: `etc.`, `and 8 others`, `repeat for each`.
pub(super) fn stands_for_more(comment: &str) -> bool {
    let words = words(comment);
    if words.is_empty() {
        return false;
    }
    let is_count = |number: &str| number.bytes().all(|byte| byte.is_ascii_digit());
    let counts = match &words[..] {
        [.., number, last] => is_count(number) && (is_one_of(last, &["others"]) || is_one_of(last, &MORE)),
        _ => false,
    };
    counts || ASKED_FOR.into_iter().any(|phrase| has(&words, phrase)) || are_left_out(&words)
}

/// Whether words stand for what was left out: `etc.`, `and so on`, `remaining items`.
pub(super) fn leaves_out(text: &str) -> bool {
    are_left_out(&words(text))
}

fn are_left_out(words: &[&str]) -> bool {
    let are_more = |pair: &[&str]| is_one_of(pair[0], &MORE) && is_one_of(pair[1], &OF_THESE);
    OMISSIONS.into_iter().any(|phrase| has(words, phrase)) || words.windows(2).any(are_more)
}

/// Whether some of the words are these.
fn has(words: &[&str], phrase: &str) -> bool {
    let begin = |words: &[&str]| {
        let mut words = words.iter();
        phrase.split(' ').all(|part| words.next().is_some_and(|word| word.eq_ignore_ascii_case(part)))
    };
    (0..words.len()).any(|at| begin(&words[at..]))
}

fn is_one_of(word: &str, known: &[&str]) -> bool {
    known.iter().any(|known| word.eq_ignore_ascii_case(known))
}

fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

/// Whether the comment that begins here goes on as if JSON did: behind a comma a key and its colon, or these behind other
/// words and a comma at its end. On the last line, where it has what closes the JSON as well, a key and its colon are enough.
/// What stands behind a bracket in it says nothing.
/// A comment that never ends may have swallowed whatever of JSON stands in it.
pub(super) fn hides_a_member(text: &str) -> bool {
    if let Some(comment) = text.strip_prefix("/*") {
        return !comment.contains("*/") && comment.contains(['"', '\'', '{', '}', '[', ']']);
    }
    let (line, is_last) = text.split_once('\n').map_or((text, true), |(line, _)| (line, false));
    if !line.bytes().any(|byte| matches!(byte, b'"' | b'\'')) {
        return false;
    }
    let goes_on = line.trim_end().ends_with([',', '{', '[']);
    let line = line.split(['{', '}', '[', ']']).next().unwrap_or(line);
    ['"', '\''].into_iter().any(|quote| has_member(line, quote, is_last, goes_on))
}

/// Whether a key in such marks and its colon stand where a member may begin, or a string and its comma at the end.
fn has_member(line: &str, quote: char, is_last: bool, goes_on: bool) -> bool {
    let mut parts = line.split(quote);
    let Some(first) = parts.next() else { return false };
    // A member that begins the comment was taken out by it.
    let is_last = is_last || (goes_on && first.contains(char::is_alphanumeric));
    let (mut before, mut key) = (first, parts.next());
    // An apostrophe may stand before it, so that each mark is tried.
    while let (Some(inner), Some(behind)) = (key, parts.next()) {
        let is_next = is_last || before.trim_end().ends_with(',');
        if is_next && !inner.is_empty() && behind.trim_start().starts_with(':') {
            return true;
        }
        (before, key) = (inner, Some(behind));
    }
    // Of a list: `first "a",`.
    is_last && line.trim_end().strip_suffix(',').is_some_and(|item| item.ends_with(quote))
}
