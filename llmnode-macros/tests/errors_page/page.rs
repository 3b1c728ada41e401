//! The page: an index, the mistakes of a first day, and an entry for each message in the order of the sections.

use crate::case::Case;
use crate::entry::{Entry, anchor, entries};
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
                `validate = path` names a `fn(&Output, &State, &Attempt) -> Result<(), Invalid>`, async or not. A node without \
                `state` leaves that argument out, and raw text is lent as `&str`.",
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
                `repair(n)`, `model(\"name\")`, `fallback` and `bubble`. `fallback = path` names a \
                `fn(&Self, &State, &NodeError) -> Output`, which may return a `Result` of it, and may be `async`. A node without \
                `state` leaves that argument out.",
    },
    Section {
        title: "Nodes as steps of a flow",
        folders: &["step"],
        about: "`#[prep(expression)]` on a field, or `prep = path`, makes a step from the state; `store = field`, `action = Type`, \
                `route = path` and `post = path` say what follows its output. `prep` is a `fn(&State) -> Self` and `batch` a \
                `fn(&State) -> Vec<Self>`, both `async` or not; `route` is a `fn(&Output, &State) -> Action` and `post` a \
                `fn(Self, Output, &mut State) -> Action`. Each may return a `Result` instead. Raw text is lent as `&str`.",
    },
    Section {
        title: "Flows",
        folders: &["flow", "action"],
        about: "`flow! { Name(State): Step => Other, Other => match { Decision::Again => Step, Decision::Done => end } }` declares a flow; \
                `#[derive(Action)]` stands on the enum of what a step decides.",
    },
    Section {
        title: "Other messages",
        folders: &newcomer::FOLDERS,
        about: "Most of these rustc has for any program; what they mean about a node.",
    },
];

const HEAD: &str = "\
# Errors you may meet

What the compiler says about a node that it cannot build, why, and what to write instead. Words in backticks are those of your program: search \
this page for the words around them. What a node can fail with when it runs is a [category][../README.md#categories], and its message says \
what to do; [reliability][reliability.md] has the rest.

Outputs are shortened: places are left out, and `…` stands for what rustc tells of its reasoning. The page is made of the cases in \
`llmnode-macros/tests/ui`, each of which is compiled by the tests and compared with its output. Do not edit it; \
`UPDATE=1 cargo test -p llmnode-macros --test errors_page` writes it anew.

[../README.md#categories]: ../README.md#categories
[reliability.md]: reliability.md
";

/// The page of these cases; an error names a folder that no section has.
pub(crate) fn page(cases: &[Case]) -> Result<String, String> {
    let folders: Vec<&str> = SECTIONS.iter().flat_map(|section| section.folders).copied().collect();
    if let Some(case) = cases.iter().find(|case| !folders.contains(&&*case.topic)) {
        return Err(format!("no section of page.rs has the folder of {}; add it to SECTIONS", case.name));
    }
    let entries = entries(cases, &folders);
    let title = newcomer::TITLE;
    let mut index = format!(
        "\n[{title}](#{}), and all messages by topic; one that several topics have stands with the first of them:\n",
        anchor(title)
    );
    let mut body = newcomer::section(cases, &entries);
    for section in SECTIONS {
        let own: Vec<_> = entries.iter().filter(|entry| section.has(entry.home())).collect();
        index += &section.index(&entries);
        let Section { title, about, .. } = section;
        body += &format!("\n## {title}\n\n{about}\n");
        body.extend(own.iter().map(|entry| entry.text()));
    }
    Ok(format!("{HEAD}{index}{body}"))
}

impl Section {
    fn has(&self, folder: &str) -> bool {
        self.folders.contains(&folder)
    }

    /// The links to all messages that cases of the section have, folded. Those of mistakes are in their table.
    fn index(&self, entries: &[Entry<'_>]) -> String {
        let newcomers = self.has(newcomer::FOLDERS[0]);
        let met = |entry: &&Entry<'_>| match newcomers {
            true => self.has(entry.home()),
            false => entry.folders.iter().any(|folder| self.has(folder)),
        };
        let mut links: Vec<_> = entries.iter().filter(met).collect();
        links.sort_by_key(|entry| entry.title.trim_start_matches('`').to_lowercase());
        let lines: String =
            links.iter().map(|entry| format!("- [{}](#{})\n", entry.title, entry.anchor)).collect();
        let title = anchor(self.title);
        let name = self.title.replace("`", "");
        format!(
            "\n<details><summary><a href=\"#{title}\">{name}</a>: {} messages</summary>\n\n{lines}\n</details>\n",
            links.len()
        )
    }
}
