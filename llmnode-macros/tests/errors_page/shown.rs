//! What the page shows of an error: the message, the line that is underlined, and the notes that help.

/// The most lines of an error that are shown.
const LINES: usize = 12;

/// Beginnings of what rustc adds about how it came to an error, which the entry's cause tells better.
const ASIDE: &[&str] = &[
    "this error originates",
    "required ",
    "the trait `",
    "the following other types",
    "this trait has no implementations",
    "within `",
    "for that trait implementation",
    "for types from other crates",
    "for more information",
    "see issue",
    "the full name for the type",
    "consider using `--verbose`",
    "an identifier with the same name",
    "the nightly-only",
    "add `#![feature",
];

/// The error in short, and whether `…` stands for something.
pub(crate) fn shown(error: &str) -> (String, bool) {
    let mut lines: Vec<&str> = vec![];
    let mut cut = false;
    for (nth, part) in parts(error).into_iter().enumerate() {
        match nth {
            0 => lines.extend(code(&part)),
            _ if is_aside(&part) => cut = true,
            _ => lines.extend(part.iter().filter(|line| !is_place(line) && !is_empty(line))),
        }
    }
    cut |= lines.len() > LINES;
    lines.truncate(LINES);
    (lines.join("\n") + if cut { "\n…\n" } else { "\n" }, cut)
}

/// The error proper: its message, and the line of the prompt if the message shows it, or else that of the program.
fn code<'a>(part: &[&'a str]) -> Vec<&'a str> {
    let place = part.iter().position(|line| is_place(line)).unwrap_or(part.len());
    let lines = if place > 1 { &part[..place] } else { part };
    lines.iter().filter(|line| !is_place(line) && !is_empty(line)).copied().collect()
}

/// The error proper, and each note or help that follows it.
fn parts(error: &str) -> Vec<Vec<&str>> {
    let mut parts: Vec<Vec<&str>> = vec![];
    for line in error.lines() {
        let begins = ["error", "note: ", "help: "].iter().any(|word| line.starts_with(word));
        match parts.last_mut() {
            Some(part) if !begins && !line.trim_start().starts_with("= ") => part.push(line),
            _ => parts.push(vec![line]),
        }
    }
    parts
}

/// Whether a note is about rustc's reasoning, or about code that is not the program's.
fn is_aside(part: &[&str]) -> bool {
    let Some(first) = part.first().filter(|line| !line.starts_with("error")) else { return false };
    let note = first.trim_start().trim_start_matches("= ");
    let said = note.trim_start_matches("note: ").trim_start_matches("help: ");
    let elsewhere =
        part.iter().any(|line| line.trim_start().starts_with("--> ") && !line.contains("src/main.rs"));
    elsewhere || ASIDE.iter().any(|beginning| said.starts_with(beginning))
}

fn is_place(line: &str) -> bool {
    line.trim_start().starts_with("--> ")
}

/// A line that only goes on with the gutter.
fn is_empty(line: &str) -> bool {
    matches!(line.trim(), "" | "|")
}

/// The message itself, without the position in a prompt.
fn headline(error: &str) -> String {
    let line = error.lines().next().unwrap_or_default();
    let line = line.split_once(": ").map_or(line, |(_, message)| message);
    let line = line.split_once(" (at ").map_or(line, |(message, _)| message);
    let mut words: Vec<&str> = line.split(' ').collect();
    if let Some(at) = words.windows(2).position(|pair| pair[0] == "at" && is_position(pair[1])) {
        let after = words.remove(at + 1).trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
        words.remove(at);
        let before = words[..at].join(" ");
        return format!("{before}{after} {}", words[at..].join(" ")).trim_end().to_owned();
    }
    line.to_owned()
}

/// `1:2`, or `1:2;`.
fn is_position(word: &str) -> bool {
    word.split_once(':').is_some_and(|(row, column)| {
        row.parse::<usize>().is_ok() && column.trim_end_matches(';').parse::<usize>().is_ok()
    })
}

/// What to search for: the message up to its remedy, and what is underlined where rustc's message says nothing.
pub(crate) fn title(error: &str) -> String {
    let headline = headline(error);
    if headline == "mismatched types"
        && let Some(label) = error.lines().find_map(|line| line.split_once("^ "))
    {
        return label.1.to_owned();
    }
    let mut inside = false;
    let end = headline.char_indices().position(|(at, c)| {
        inside ^= c == '`';
        !inside && headline[at..].starts_with("; ")
    });
    headline.chars().take(end.unwrap_or(usize::MAX)).collect()
}

/// What titles have in common that differ in the user's words. Types that do not match are told by what is expected.
pub(crate) fn shape(title: &str) -> String {
    let words = title.split('`').step_by(2).collect::<Vec<_>>().join("`");
    match title.strip_prefix("expected `").and_then(|rest| rest.split_once("`, found")) {
        Some((expected, _)) => format!("{words}{expected}"),
        None => words,
    }
}
