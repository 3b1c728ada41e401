//! Snapshots of texts, in `tests/snapshots`.

use std::path::Path;

/// Asserts that a text is the one in `tests/snapshots/NAME.txt`. With `LLMNODE_UPDATE=1` it is written there instead, but
/// never where the variable `CI` is set.
#[track_caller]
pub(crate) fn assert_snapshot(text: &str, name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/snapshots/{name}.txt"));
    let is_set =
        |name| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0");
    if is_set("LLMNODE_UPDATE") && !is_set("CI") {
        return std::fs::write(path, format!("{text}\n")).unwrap();
    }
    let remedy = "if it is intended, run with LLMNODE_UPDATE=1";
    let kept = std::fs::read_to_string(&path);
    let kept = kept
        .map_err(|error| format!("{}: {error}; {remedy}", path.display()))
        .unwrap();
    // A checkout may have turned the line ends.
    let kept = kept.replace("\r\n", "\n");
    let kept = kept.strip_suffix('\n').unwrap_or(&kept);
    let differs = kept
        .lines()
        .zip(text.lines())
        .position(|(one, other)| one != other);
    let line = differs.unwrap_or_else(|| kept.lines().count().min(text.lines().count()));
    let [expected, found] =
        [kept, text].map(|text| text.lines().nth(line).unwrap_or("(no such line)"));
    assert!(
        kept == text,
        "{} differs in line {}; {remedy}\n- {expected}\n+ {found}\nfound:\n{text}",
        path.display(),
        line + 1
    );
}
