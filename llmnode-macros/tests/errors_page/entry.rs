//! An entry: a message, what it looks like, and all cases that have it.

use std::collections::{BTreeMap, BTreeSet};

use crate::case::Case;
use crate::newcomer;
use crate::shown::{shape, shown, title};

/// A message, by the first case that has it, and further causes of the same.
pub(crate) struct Entry<'a> {
    pub(crate) title: String,
    pub(crate) anchor: String,
    error: &'a str,
    case: &'a Case,
    more: Vec<(String, &'a Case)>,
    /// The folders of all its cases.
    pub(crate) folders: Vec<&'a str>,
}

/// One entry for each message. Cases of one message come first, then the order of the folders.
pub(crate) fn entries<'a>(cases: &'a [Case], folders: &[&str]) -> Vec<Entry<'a>> {
    let mut chosen: Vec<&Case> = cases.iter().collect();
    chosen.sort_by_key(|case| {
        let place = folders.iter().position(|folder| *folder == case.topic);
        (messages(case), case.errors, place)
    });
    let mut entries: Vec<Entry<'a>> = vec![];
    let mut by_shape = BTreeMap::new();
    for case in chosen {
        for (nth, error) in case.printed.iter().enumerate() {
            let title = title(error);
            let next = entries.len();
            let at = *by_shape.entry(shape(&title)).or_insert(next);
            if at == next {
                entries.push(Entry {
                    title,
                    anchor: String::new(),
                    error,
                    case,
                    more: vec![],
                    folders: vec![],
                });
            } else if nth == 0 && (messages(case) == 1 || error.starts_with("error[")) {
                entries[at].more.push((title, case));
            }
            entries[at].folders.push(&case.topic);
        }
    }
    number(&mut entries);
    entries
}

/// How many different messages a case has.
fn messages(case: &Case) -> usize {
    case.printed.iter().map(|error| shape(&title(error))).collect::<BTreeSet<_>>().len()
}

/// The entry that has a case's first message.
pub(crate) fn of<'e, 'a>(entries: &'e [Entry<'a>], case: &Case) -> Option<&'e Entry<'a>> {
    let shape_of_first = shape(&title(case.printed.first()?));
    entries.iter().find(|entry| shape(&entry.title) == shape_of_first)
}

/// Gives each entry its anchor, with a number where others have the same letters.
fn number(entries: &mut [Entry<'_>]) {
    let mut given: BTreeMap<String, usize> = BTreeMap::new();
    for entry in entries {
        let plain = anchor(&entry.title);
        let before = given.entry(plain.clone()).or_default();
        entry.anchor = if *before == 0 { plain } else { format!("{plain}-{before}") };
        *before += 1;
    }
}

/// As GitHub makes it of a heading.
pub(crate) fn anchor(title: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ');
    title.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
}

impl Entry<'_> {
    /// The folder whose section has the entry: one that is about what the message is about, if any is.
    pub(crate) fn home(&self) -> &str {
        let about = self.folders.iter().find(|folder| !newcomer::is_mistake(folder));
        about.unwrap_or(&self.folders[0])
    }

    pub(crate) fn text(&self) -> String {
        let Case { cause, mend, name, .. } = self.case;
        let (text, cut) = shown(self.error);
        let mut lines = format!("\n### {}\nCause: {cause}\\\nMend: {mend}", self.title);
        if cut {
            let folder = "../llmnode-macros/tests/ui";
            lines += &format!(" [Program]({folder}/{name}.rs), [whole output]({folder}/{name}.stderr).");
        }
        lines += &format!("\n```text\n{text}```\n");
        for (sign, note) in NOTES {
            if self.error.contains(sign) {
                lines += &format!("{note}\n");
            }
        }
        lines + &self.others()
    }

    /// The further causes, each told once. Those that the table of mistakes has are left to it.
    fn others(&self) -> String {
        let tabled = |case: &Case| newcomer::is_mistake(&case.topic);
        let mut told = vec![(&self.case.cause, &self.case.mend)];
        let mut lines = String::new();
        for (title, case) in &self.more {
            let Case { cause, mend, .. } = case;
            if told.contains(&(cause, mend)) || (tabled(case) && !tabled(self.case)) {
                continue;
            }
            told.push((cause, mend));
            let message = if *title == self.title { String::new() } else { format!("**{title}**: ") };
            lines += &format!("- {message}{cause} Mend: {mend}\n");
        }
        if lines.is_empty() { lines } else { format!("\nOr is it one of these?\n{lines}") }
    }
}

/// What an output with these signs needs said.
const NOTES: &[(&str, &str)] = &[
    (
        "PromptAt<",
        "The type's name has the place in the prompt: `Line<2>` and `Column<16>` count its lines and characters from 1, and a \
         name before them is that of the prompt file (`state_md` for `state.md`).",
    ),
    (
        "help: remove the extra argument",
        "rustc's proposal drops what the program has to say; the mend above keeps it.",
    ),
    (
        "consider adding `#[derive(serde::",
        "rustc knows of serde alone: its derives are a part of what `#[llm_output]` adds.",
    ),
];
