//! Signs that a value is a part of code, in which it is hardly the answer.

/// Whether what stands before a value is code: `x = `, `foo(`, `foo(1, `, or the mark of a line that a diff takes out.
pub(super) fn is_before(before: &str) -> bool {
    is_assigned(before) || is_argument(before) || is_taken_out(before)
}

/// `let x = `, `opts=`
fn is_assigned(before: &str) -> bool {
    before.trim_end().strip_suffix('=').is_some_and(|name| {
        let name = name.strip_suffix(':').unwrap_or(name).trim_end_matches(' ');
        name.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ')' | ']'))
    })
}

/// Whether a bracket behind a name is open on the line. What another value ends is not looked at, so that all this
/// looks at no part of the text twice.
fn is_argument(before: &str) -> bool {
    let mut closed = 0_usize;
    for (at, byte) in before.bytes().enumerate().rev() {
        match byte {
            b'\n' | b'{' | b'}' | b'[' | b']' => return false,
            b')' => closed += 1,
            b'(' if closed > 0 => closed -= 1,
            b'(' => return before[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'),
            _ => {}
        }
    }
    false
}

fn is_taken_out(before: &str) -> bool {
    before == "-" || before.ends_with("\n-")
}
