//! Texts compared with what a test expects, in the test or in a file.

use std::path::{Path, PathBuf};

use super::diff::diff;
use super::variable;
use crate::model::Request;

const UPDATE: &str = "LLMNODE_UPDATE";

/// The text that a test expects, written in the test or in a [`file()`].
///
/// A text in the test that begins with a line break may be indented: that line break, the common indentation, and a
/// last blank line do not count.
#[derive(Clone, Debug)]
pub struct Expected(Place);

#[derive(Clone, Debug)]
enum Place {
    Here(String),
    File(String),
}

impl From<&str> for Expected {
    fn from(text: &str) -> Self {
        Expected(Place::Here(unindented(text)))
    }
}

/// Expects the text in `tests/snapshots/NAME.txt` of the package under test. The name has letters, digits, `_`, `-`
/// and `.`; each test has its own.
///
/// `LLMNODE_UPDATE=1 cargo test` writes the file. Without it a missing file fails the test, and so does a difference.
/// If the variable `CI` is set, nothing is written.
pub fn file(name: impl Into<String>) -> Expected {
    Expected(Place::File(name.into()))
}

/// Asserts that the [`transcript`](Request::transcript) of a request is the expected text.
///
/// [`request_of`](super::request_of) returns the first request of a node; `model.requests()[n]` is the n-th request
/// of a test, with corrections.
///
/// ```
/// # use llmnode_runtime as llmnode;
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
/// If they differ, with the difference; or if the file cannot be read or written.
#[track_caller]
pub fn assert_prompt(request: &Request, expected: impl Into<Expected>) {
    assert_snapshot(&request.transcript(), expected);
}

/// Asserts that a text is the expected one, such as a schema or the `Display` of an error.
///
/// # Panics
/// If they differ, with the difference; or if the file cannot be read or written.
#[track_caller]
pub fn assert_snapshot(text: &str, expected: impl Into<Expected>) {
    let mode = match (variable("CI"), variable(UPDATE)) {
        (None, None) => Mode::Compare,
        (None, Some(_)) => Mode::Update,
        (Some(_), _) => Mode::OnCi,
    };
    // Cargo runs tests in their package's folder, and says which that is, should the test have left it.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from("."), PathBuf::from);
    if let Err(fault) = check(text, &expected.into(), &package.join("tests/snapshots"), mode) {
        fail(&fault);
    }
}

#[track_caller]
#[expect(clippy::panic, reason = "how a test fails")]
pub(super) fn fail(fault: &str) -> ! {
    panic!("{fault}")
}

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Compare,
    Update,
    OnCi,
}

fn check(text: &str, expected: &Expected, folder: &Path, mode: Mode) -> Result<(), String> {
    let name = match &expected.0 {
        Place::Here(expected) => return compare(text, expected, "the expected text", ""),
        Place::File(name) => name,
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || !name.chars().all(plain) {
        return Err(format!("{name:?} cannot name a snapshot: use letters, digits, `_`, `-` and `.`"));
    }
    let path = folder.join(format!("{name}.txt"));
    let shown = path.display();
    if mode == Mode::Update {
        let written =
            std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, text.to_owned() + "\n"));
        return written.map_err(|error| format!("the snapshot {shown} cannot be written: {error}"));
    }
    let remedy = match mode {
        Mode::OnCi => {
            format!("run with {UPDATE}=1 on your machine (not here: CI is set), and commit the file")
        }
        _ => format!("if it is intended, run with {UPDATE}=1"),
    };
    match std::fs::read_to_string(&path) {
        // A checkout may have turned the line ends of the file, but not those of the prompt.
        Ok(file) if file.strip_suffix("\r\n").is_some_and(|file| file.replace("\r\n", "\n") == text) => {
            Ok(())
        }
        Ok(file) => {
            let expected = file.strip_suffix('\n').unwrap_or(&file);
            compare(text, expected, &format!("the snapshot {shown}"), &remedy)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(format!("there is no snapshot {shown}: {remedy}; it would be\n{text}"))
        }
        Err(error) => Err(format!("the snapshot {shown} cannot be read: {error}")),
    }
}

fn compare(found: &str, expected: &str, place: &str, remedy: &str) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    let difference = diff(expected, found);
    let remedy = if remedy.is_empty() { String::new() } else { format!("; {remedy}") };
    Err(format!("{place} (-) is not what was found (+){remedy}\n{difference}"))
}

/// See [`Expected`].
fn unindented(text: &str) -> String {
    let Some(block) = text.strip_prefix('\n') else { return text.to_owned() };
    let mut lines: Vec<&str> = block.split('\n').collect();
    let is_blank = |line: &&str| line.trim_matches(' ').is_empty();
    if lines.last().is_some_and(is_blank) {
        lines.pop();
    }
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let shared = lines.iter().filter(|line| !is_blank(line)).map(|line| indent(line)).min().unwrap_or(0);
    lines.iter().map(|line| line.get(shared..).unwrap_or("")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of its own, gone with the test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            Folder(std::env::temp_dir().join(format!("llmnode-{name}-{}", std::process::id())))
        }

        fn check(&self, text: &str, mode: Mode) -> Result<(), String> {
            check(text, &file("choose"), &self.0, mode)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_snapshot_is_written_only_when_asked_for_and_never_on_ci() {
        let folder = Folder::new("written");
        for mode in [Mode::Compare, Mode::OnCi] {
            let fault = folder.check("a\nb", mode).unwrap_err();
            assert!(fault.contains("there is no snapshot") && fault.contains("LLMNODE_UPDATE=1"), "{fault}");
        }
        folder.check("a\nb", Mode::Update).unwrap();
        assert_eq!(std::fs::read_to_string(folder.0.join("choose.txt")).unwrap(), "a\nb\n");
        folder.check("a\nb", Mode::Compare).unwrap();
        folder.check("a\nb", Mode::OnCi).unwrap();

        let fault = folder.check("a\nc", Mode::OnCi).unwrap_err();
        assert!(fault.contains("- b\n+ c\n") && fault.contains("on your machine"), "{fault}");
        folder.check("a\nb", Mode::Compare).unwrap();
    }

    #[test]
    fn final_line_breaks_count() {
        let folder = Folder::new("breaks");
        folder.check("a\n", Mode::Update).unwrap();
        folder.check("a\n", Mode::Compare).unwrap();
        folder.check("a", Mode::Compare).unwrap_err();
    }

    #[test]
    fn line_ends_that_a_checkout_turned_do_not_count() {
        let folder = Folder::new("turned");
        std::fs::create_dir_all(&folder.0).unwrap();
        std::fs::write(folder.0.join("choose.txt"), "a\r\nb\r\n").unwrap();
        folder.check("a\nb", Mode::Compare).unwrap();
        folder.check("a\r\nb", Mode::Compare).unwrap_err();
    }

    #[test]
    fn names_do_not_leave_the_folder() {
        for name in ["", "../secret", "a/b", "a\\b"] {
            let fault = check("", &file(name), Path::new("nowhere"), Mode::Update).unwrap_err();
            assert!(fault.contains("cannot name a snapshot"), "{fault}");
        }
    }

    #[test]
    fn a_text_in_the_test_may_be_indented() {
        assert_eq!(unindented("\n    a\n      b\n\n    c\n    "), "a\n  b\n\nc");
        assert_eq!(unindented("\n  a\n \n"), "a\n");
        assert_eq!(unindented("  a"), "  a");
        assert_eq!(unindented("\n"), "");
    }
}
