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
    let wanted = request_key.lines();
    let lines: HashSet<&str> = wanted.lines().collect();
    let words: HashSet<&str> = wanted.split_whitespace().collect();
    let likeness = |entry: &String| {
        let same = entry.lines().filter(|line| lines.contains(line)).count();
        let (known, strange): (Vec<_>, Vec<_>) = entry
            .split_whitespace()
            .partition(|word| words.contains(word));
        (
            same,
            known.len().saturating_sub(strange.len()),
            Reverse(strange.len()),
        )
    };
    let mut recorded: Vec<String> = entries.map(RequestKey::lines).collect();
    recorded.sort_unstable();
    let best = recorded.iter().max_by_key(|entry| likeness(entry))?;
    Some(diff(best, &wanted))
}
