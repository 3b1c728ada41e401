//! The page: an entry for each message, in the order of the sections.

use std::collections::BTreeMap;

use crate::case::Case;
use crate::newcomer;

/// A section: its title, the folders below `tests/ui` it is made of, and what precedes its entries.
struct Section {
    title: &'static str,
    folders: &'static [&'static str],
    about: &'static str,
}

const SECTIONS: &[Section] = &[
    Section {
        title: "The prompt",
        folders: &["readme", "prompt"],
        about: "`prompt` and `system` name the node's fields in single braces. A position such as 2:11 counts lines and \
                characters of the text itself, from 1.",
    },
    Section {
        title: "Prompt files",
        folders: &["file"],
        about: "`prompt_file` and `system_file` name a file beside the source file. A position such as choose.md:2:11 counts \
                its lines and characters, from 1.",
    },
    Section {
        title: "Expressions in prompts",
        folders: &["with"],
        about: "`with(n = state.files.len())` declares prompt variables by Rust expressions.",
    },
    Section {
        title: "The arguments of `#[llm_node]`",
        folders: &["args"],
        about: "An argument is `name = value`, or `name(…)` for `limits` and `recover`; commas stand between.",
    },
    Section {
        title: "The struct",
        folders: &["item", "doubled", "cfg"],
        about: "A node is a struct with named fields, or with none, and each field is a variable of its prompts. `#[cfg]` and \
                `#[cfg_attr]` count as in this build.",
    },
    Section {
        title: "The conversation: history and examples",
        folders: &["history", "examples"],
        about: "`examples = [(input, output)]` and the messages of a field with `#[node(history)]` stand between system and user \
                message.",
    },
    Section {
        title: "The output and the state",
        folders: &["output"],
        about: "The type of the answer is read from JSON and described to the model by its schema; `#[llm_output]` derives both.",
    },
    Section {
        title: "Validators",
        folders: &["validate", "validate_path"],
        about: "Each method of a `#[validate]` block is a validator: \
                `fn(&self, state: &State, attempt: &Attempt) -> Result<(), Invalid>`, async or not, with either parameter or none. \
                `validate = path` names functions that are validators of a node.",
    },
    Section {
        title: "Limits",
        folders: &["limits"],
        about: "`limits(requests = 5, tokens = 2_000, money = 0.05, time = 30s)` has them all.",
    },
    Section {
        title: "After a failure: `recover` and the fallbacks",
        folders: &["recover"],
        about: "`recover(category = [step, step], …)` says what follows a failure; the steps are `retry(n)`, `retry(n, wait)`, \
                `repair(n)`, `model(\"name\")`, `fallback` and `bubble`.",
    },
];

const HEAD: &str = "\
# Errors you may meet

What the compiler says about a node that it cannot build, why, and what to write instead. Words in backticks are those of your program: search \
this page for the words around them. What a node can fail with when it runs is a [category](../README.md#categories), and its message says \
what to do; [reliability](reliability.md) has the rest.

This page is made of the cases in `llmnode-macros/tests/ui`, each of which is compiled by the tests and compared with its output. Do not edit \
it; `UPDATE=1 cargo test -p llmnode-macros --test errors_page` writes it anew.
";

/// The page of these cases; an error names a folder that no section has.
pub(crate) fn page(cases: &[Case]) -> Result<String, String> {
    let known = |case: &Case| {
        case.topic == newcomer::TOPIC
            || SECTIONS.iter().any(|section| section.folders.contains(&&*case.topic))
    };
    if let Some(case) = cases.iter().find(|case| !known(case)) {
        return Err(format!("no section of page.rs has the folder of {}; add it to SECTIONS", case.name));
    }
    let newcomers: Vec<_> = cases.iter().filter(|case| case.topic == newcomer::TOPIC).collect();
    let title = newcomer::TITLE;
    let mut contents = format!("- [{title}](#{}): {} mistakes\n", anchor(title), newcomers.len());
    let mut body = newcomer::section(&newcomers);
    for section in SECTIONS {
        let entries = entries(cases, section);
        let messages: usize = entries.iter().map(|entry| entry.headlines.len()).sum();
        let Section { title, about, .. } = section;
        contents += &format!("- [{title}](#{}): {messages} messages\n", anchor(title));
        body += &format!("\n## {title}\n\n{about}\n");
        for entry in entries {
            body += &entry.text();
        }
    }
    Ok(format!("{HEAD}\n{contents}{body}"))
}

/// As GitHub makes it of a heading.
fn anchor(title: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ');
    title.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
}

/// A message, or those that a case alone has, and further cases of the same.
struct Entry<'a> {
    headlines: Vec<String>,
    case: &'a Case,
    more: Vec<(String, &'a Case)>,
}

/// One entry for each message of the section's cases; those with one error come first.
fn entries<'a>(cases: &'a [Case], section: &Section) -> Vec<Entry<'a>> {
    let place = |case: &Case| section.folders.iter().position(|folder| *folder == case.topic);
    let mut chosen: Vec<_> = cases.iter().filter(|case| place(case).is_some()).collect();
    chosen.sort_by_key(|case| (case.errors, place(case)));

    let mut entries: Vec<Entry<'a>> = vec![];
    let mut by_shape = BTreeMap::new();
    for case in chosen {
        let said: Vec<_> = case.printed.iter().map(|error| headline(error)).collect();
        let mut fresh = vec![];
        for headline in &said {
            let next = entries.len();
            if *by_shape.entry(shape(headline)).or_insert(next) == next && !fresh.contains(headline) {
                fresh.push(headline.clone());
            }
        }
        if !fresh.is_empty() {
            entries.push(Entry { headlines: fresh, case, more: vec![] });
        } else if let Some(first) = said.into_iter().next() {
            entries[by_shape[&shape(&first)]].more.push((first, case));
        }
    }
    entries
}

/// The message itself, without the position in a prompt.
pub(crate) fn headline(error: &str) -> String {
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

/// What messages have in common that differ in the user's words.
fn shape(headline: &str) -> String {
    headline.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

impl Entry<'_> {
    fn text(&self) -> String {
        let Case { cause, mend, printed, .. } = self.case;
        let mut text = format!("\n### {}\n", self.headlines[0]);
        for headline in &self.headlines[1..] {
            text += &format!("\n**{headline}**\n");
        }
        text += &format!("\nCause: {cause}\\\nMend: {mend}\n");
        // rustc's own errors are about more than the line they quote.
        if printed.iter().any(|error| error.starts_with("error[") || error.contains("$WORKSPACE")) {
            text += &format!("\n```rust\n{}\n```\n", shown(&self.case.source));
        }
        text += &format!("\n```text\n{}```\n", printed.join("\n"));
        self.with_more(text)
    }

    /// The further cases, each in a line; what they say again is left out.
    fn with_more(&self, mut text: String) -> String {
        let mut lines: Vec<String> = vec![];
        for (headline, case) in &self.more {
            let Case { cause, mend, .. } = case;
            let line = format!("- {headline}\\\n  Cause: {cause} Mend: {mend}\n");
            if *headline != self.headlines[0] && !lines.contains(&line) {
                lines.push(line);
            }
        }
        if !lines.is_empty() {
            text += &format!("\nLikewise:\n\n{}", lines.concat());
        }
        text
    }
}

/// The items of a case: without imports and `main`.
fn shown(source: &str) -> String {
    let lines = source.lines().filter(|line| !line.starts_with("use "));
    let items: Vec<_> = lines.take_while(|line| !line.starts_with("fn main")).collect();
    items.join("\n").trim().to_owned()
}
