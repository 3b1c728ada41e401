//! What a program takes: lines of code, and names of its library that its reader has to know.

use std::path::Path;

pub struct Source {
    pub lines: usize,
    pub names: usize,
    /// What a library leaves to the program, as its comments say.
    pub by_hand: String,
}

/// Reads the text of a program. Its first line lists the names, each of which has to stand in the code.
pub fn read(path: &Path) -> Source {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let (first, code) = text.split_once('\n').unwrap();
    let (_, list) = first.split_once("names: ").expect("a list of names");
    let names: Vec<&str> = list.trim_end_matches("\"\"\"").split(", ").collect();
    for name in &names {
        let is_used = code
            .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .any(|word| word == *name);
        assert!(is_used, "{path:?} does not use {name}");
    }
    let lines = code.lines().filter(|line| is_code(line)).count();
    let by_hand: Vec<&str> = code.lines().filter_map(by_hand).collect();
    let by_hand = match by_hand.is_empty() {
        true => "nothing".to_owned(),
        false => by_hand.join(", "),
    };
    Source {
        lines,
        names: names.len(),
        by_hand,
    }
}

/// Neither empty nor a comment.
fn is_code(line: &str) -> bool {
    let line = line.trim();
    let is_comment = line.starts_with("//")
        || line.starts_with("\"\"\"")
        || line.starts_with('#') && !line.starts_with("#[");
    !line.is_empty() && !is_comment
}

/// The first sentence of a comment on what is done by hand.
fn by_hand(line: &str) -> Option<&str> {
    let (_, what) = line.split_once("By hand: ")?;
    what.split('.').next()
}
