//! Signs that a value is a part of code, in which it is hardly the answer.

use super::super::repair::is_quote;

/// Whether what stands before a value is code: `x = `, `foo(`, `foo(1, `, or the mark of a line that a diff takes out.
pub(super) fn is_before(before: &str) -> bool {
    is_assigned(before)
        || is_argument(before)
        || is_taken_out(before)
        || is_statement(before)
        || is_option(before)
}

/// Whether it is the quoted value of a command's option: `-d '`, `--data "`.
fn is_option(before: &str) -> bool {
    let Some(line) = before.strip_suffix(['\'', '"']).and_then(|line| line.strip_suffix(' ')) else {
        return false;
    };
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let rest = line.trim_end_matches(is_part);
    let option = &line[rest.len()..];
    let name = option.strip_prefix("--").or_else(|| option.strip_prefix('-')).unwrap_or("");
    rest.ends_with(' ') && name.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// `let x = `, `opts=`, `data='`, `const {a} = `
fn is_assigned(before: &str) -> bool {
    before.trim_end_matches(is_quote).trim_end().strip_suffix('=').is_some_and(|name| {
        let name = name.strip_suffix([':', '+']).unwrap_or(name).trim_end_matches(' ');
        name.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ')' | ']' | '}' | '"'))
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
            b'(' => {
                let name = &before[..at];
                // A macro of Rust: `json!(`.
                let name = name.strip_suffix('!').unwrap_or(name);
                return name.ends_with(|c: char| c.is_alphanumeric() || c == '_');
            }
            _ => {}
        }
    }
    false
}

/// Whether the line begins as a statement that gives a value does: `return `, `export default `, `$ echo '`.
fn is_statement(before: &str) -> bool {
    const STATEMENTS: [&str; 6] = ["return", "yield", "throw new", "export default", "export", "echo"];
    let line = before.trim_end_matches(is_quote);
    let Some(line) = line.strip_suffix(' ').map(|line| line.trim_end_matches(' ')) else { return false };
    let behind = |word: &&str| line.strip_suffix(*word).map(|line| line.trim_end_matches([' ', '\t', '$']));
    STATEMENTS.iter().filter_map(behind).any(|line| line.is_empty() || line.ends_with('\n'))
}

/// Whether a name stands right before the brace, as that of a type or of a tool does: `Point{`, `get{`.
pub(super) fn is_name(before: &str) -> bool {
    let rest = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let name = &before[rest.len()..];
    // A line's end may be written as `\n`, and "JSON" is said of any value.
    let is_json = name.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("json"));
    !name.is_empty() && !is_json && !rest.ends_with('\\')
}

fn is_taken_out(before: &str) -> bool {
    before == "-" || before.ends_with("\n-")
}
