//! Comments that may hide a part of the JSON.

/// Whether the comment that begins here goes on as if JSON did: behind a comma a key and its colon. On the last line, where it has
/// what closes the JSON as well, a key and its colon are enough. What stands behind a bracket in it says nothing.
/// A comment that never ends may have swallowed whatever of JSON stands in it.
pub(super) fn hides_a_member(text: &str) -> bool {
    if let Some(comment) = text.strip_prefix("/*") {
        return !comment.contains("*/") && comment.contains(['"', '\'', '{', '}', '[', ']']);
    }
    let (line, is_last) = text.split_once('\n').map_or((text, true), |(line, _)| (line, false));
    let line = line.split(['{', '}', '[', ']']).next().unwrap_or(line);
    let mut parts = line.split('"');
    let Some(mut before) = parts.next() else { return false };
    while let (Some(key), Some(behind)) = (parts.next(), parts.next()) {
        let is_next = is_last || before.trim_end().ends_with(',');
        if is_next && !key.is_empty() && behind.trim_start().starts_with(':') {
            return true;
        }
        before = behind;
    }
    false
}
