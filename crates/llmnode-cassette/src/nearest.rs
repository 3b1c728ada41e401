//! What to say of a request that no entry fits.

use std::collections::HashSet;

use llmnode_runtime::internal::diff;

use crate::asked::Asked;

/// The entry that is most like the request, and what differs; `None`: there are no entries.
pub(crate) fn nearest<'a>(asked: &Asked, entries: impl Iterator<Item = &'a Asked>) -> Option<String> {
    let wanted = asked.lines();
    let lines: HashSet<&str> = wanted.lines().collect();
    let recorded = entries.map(Asked::lines);
    let best = recorded.max_by_key(|entry| entry.lines().filter(|line| lines.contains(line)).count())?;
    Some(diff(&best, &wanted))
}
