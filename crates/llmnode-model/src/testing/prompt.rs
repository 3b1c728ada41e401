//! Compares a request with a text in the test.

use crate::Request;

/// Asserts that the [`transcript`](Request::transcript) of a request is the expected text.
///
/// `request_of` returns the first request of a node; `model.requests()[n]` is the n-th request
/// of a test, with corrections.
///
/// A text that begins with a line break may be indented: that line break, the
/// common indentation, and a last blank line do not count.
///
/// ```
/// # use llmnode_model as llmnode;
/// use llmnode::testing::assert_prompt;
/// # let request = llmnode::Request::new(vec![llmnode::Message::new(llmnode::Role::User, "Greet Ada.")]);
///
/// assert_prompt(
///     &request,
///     "
///     --- user
///     Greet Ada.
///     ",
/// );
/// ```
///
/// # Panics
/// If they differ, with both.
#[track_caller]
#[expect(clippy::panic, reason = "how a test fails")]
pub fn assert_prompt(request: &Request, expected: &str) {
    let expected = unindented(expected);
    let found = request.transcript();
    if found != expected {
        panic!("the request is not the expected one; expected:\n{expected}\nfound:\n{found}");
    }
}

fn is_blank(line: &str) -> bool {
    line.trim_matches(' ').is_empty()
}

fn unindented(text: &str) -> String {
    let Some(block) = text.strip_prefix('\n') else {
        return text.to_owned();
    };
    let mut lines: Vec<&str> = block.split('\n').collect();
    if lines.last().is_some_and(|line| is_blank(line)) {
        lines.pop();
    }
    let shared = lines
        .iter()
        .filter(|line| !is_blank(line))
        .map(|line| line.len() - line.trim_start_matches(' ').len())
        .min()
        .unwrap_or(0);
    lines
        .iter()
        .map(|line| line.get(shared..).unwrap_or(""))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expected_text_may_be_indented() {
        assert_eq!(unindented("\n    a\n      b\n\n    c\n    "), "a\n  b\n\nc");
        assert_eq!(unindented("\n  a\n \n"), "a\n");
        assert_eq!(unindented("  a"), "  a");
        assert_eq!(unindented("\n"), "");
    }
}
