//! The message for a request that has no entry.

use std::cmp::Reverse;
use std::collections::HashSet;

use crate::diff::diff;
use crate::request_key::RequestKey;

/// `None`: there are no entries. The order of the entries does not matter.
pub(crate) fn nearest_entry_diff<'a>(
    request_key: &RequestKey,
    entries: impl Iterator<Item = &'a RequestKey>,
) -> Option<String> {
    let asked_lines = request_key.lines();
    let lines: HashSet<&str> = asked_lines.lines().collect();
    let words: HashSet<&str> = asked_lines.split_whitespace().collect();
    let mut recorded: Vec<String> = entries.map(RequestKey::lines).collect();
    recorded.sort_unstable();
    let nearest = recorded
        .iter()
        .max_by_key(|entry| likeness(entry, &lines, &words))?;
    Some(diff(nearest, &asked_lines))
}

/// Equal lines count first, then the words: a long line that differs in one word is
/// nearer than one about something else.
fn likeness(
    entry: &str,
    lines: &HashSet<&str>,
    words: &HashSet<&str>,
) -> (usize, usize, Reverse<usize>) {
    let same = entry.lines().filter(|line| lines.contains(line)).count();
    let (familiar, strange): (Vec<_>, Vec<_>) = entry
        .split_whitespace()
        .partition(|word| words.contains(word));
    let more_known = familiar.len().saturating_sub(strange.len());
    (same, more_known, Reverse(strange.len()))
}
