//! The page: the mistakes of a first day, a section each matter, and for each what the compiler says and what to write.

use crate::case::Case;

/// The sections, with the cases that they show.
const SECTIONS: &[(&str, &[&str])] = &[
    (
        "The prompt",
        &[
            "prompt/unknown_variable",
            "prompt/unknown_variables",
            "prompt/state_path_misspelt",
            "prompt/double_braces_around_a_field",
            "prompt/list_field_without_filter",
            "prompt/method_in_braces",
        ],
    ),
    (
        "The answer's type",
        &[
            "output/output_without_llm_output",
            "output/nested_type_without_llm_output",
            "output/derives_above",
            "output/decimal_without_its_feature",
        ],
    ),
    (
        "State and validators",
        &[
            "prompt/state_not_named",
            "item/run_without_state",
            "item/state_beside_the_model",
            "validate/validator_returns_text",
            "validate/two_blocks",
            "validate_path/without_attempt",
        ],
    ),
    (
        "Calls and failures",
        &[
            "habits/node_by_value",
            "habits/await_left_out",
            "args/max_retries",
            "streams/event_with_question_mark",
            "habits/question_mark_on_map",
            "features/provider_without_its_feature",
        ],
    ),
    (
        "Tools",
        &["tools/name_of_the_function", "tools/node_without_state"],
    ),
    (
        "Steps and flows",
        &[
            "step/prep_moves",
            "step/route_async",
            "flow/variant_missing",
        ],
    ),
];

/// Errors in rustc's own words, which name no remedy: looked up, not read.
const LOOKED_UP: &[&str] = &[
    "habits/call_of_a_node",
    "habits/run_of_a_node",
    "habits/call_returned_unawaited",
    "habits/prompt_of_a_node_asserted",
    "habits/replies_of_a_list",
    "habits/reply_in_new",
    "habits/deadline_without_unit",
    "habits/error_as_an_enum",
    "habits/report_after_await",
    "habits/retries_of_a_run",
    "habits/settings_as_a_literal",
    "habits/stream_in_a_for_loop",
    "habits/system_message_of_a_call",
    "flow/flow_in_a_function",
    "recover/fallback_without_state",
    "tools/set_by_a_function",
    "habits/model_with_async_fn",
    "tools/state_pushed_to",
];

/// Above the table of these.
pub(crate) const LOOKED_UP_HEADING: &str = "## Errors that propose nothing";

const HEAD: &str = "\
# Compile errors

<!-- Made of cases in llmnode-macros/tests/ui by: UPDATE=1 cargo test -p llmnode-macros --test errors_page -->

This page has the mistakes that people make on their first day: what the compiler says, and what to write instead. Search it for the first line of your error. The type `PromptAt<(Line<3>, Column<8>), ..>` is line 3, column 8 of a prompt. If the program compiles and a call fails, look up the error's [category][categories.md].

[categories.md]: categories.md
";

/// The page; an error names a case that is missing.
pub(crate) fn page(cases: &[Case]) -> Result<String, String> {
    let mut page = HEAD.to_owned();
    for (section, names) in SECTIONS {
        page += &format!("\n## {section}\n");
        for name in *names {
            let case = cases.iter().find(|case| case.name == *name);
            page += &entry(
                case.ok_or_else(|| format!("page.rs shows {name}, and there is no such case"))?,
            )?;
        }
    }
    Ok(page + &looked_up(cases)?)
}

/// A row each: what rustc prints, and what to write.
fn looked_up(cases: &[Case]) -> Result<String, String> {
    let mut table = format!(
        "\n{LOOKED_UP_HEADING}\n\nIn these errors, the compiler proposes nothing, or the wrong thing. Look up its words in this table.\n\n| it prints | the remedy |\n|---|---|\n"
    );
    for name in LOOKED_UP {
        let case = cases
            .iter()
            .find(|case| case.name == *name)
            .ok_or_else(|| format!("page.rs looks up {name}, and there is no such case"))?;
        let error = case
            .printed
            .first()
            .ok_or_else(|| format!("{name} has no error"))?;
        table += &format!("| `` {} `` | {} |\n", searched(error), capital(&case.mend));
    }
    Ok(table)
}

/// The line by which an error is found: its first, or its label if the first says nothing of its own.
fn searched(error: &str) -> &str {
    let first = error.lines().next().unwrap_or_default();
    if !first.ends_with("mismatched types") {
        return first;
    }
    let label = error.lines().find_map(|line| line.split_once("^ "));
    label.map_or(first, |(_, label)| label)
}

/// What the person did, what the compiler says, and what to write.
fn entry(case: &Case) -> Result<String, String> {
    let error = case
        .printed
        .first()
        .ok_or_else(|| format!("{} has no error", case.name))?;
    let [cause, mend] = [&case.cause, &case.mend].map(|sentence| capital(sentence));
    let cause = cause.trim_end_matches('.');
    Ok(format!(
        "\n### {cause}\n\n```text\n{}\n```\n{mend}\n",
        shown(error)
    ))
}

/// The error proper: its message, and the line of the prompt if the message shows it, or else that of the program.
fn shown(error: &str) -> String {
    let begins = |line: &str| {
        ["note: ", "help: ", "= "]
            .iter()
            .any(|word| line.trim_start().starts_with(word))
    };
    let lines: Vec<_> = error.lines().take_while(|line| !begins(line)).collect();
    let place = lines
        .iter()
        .position(|line| is_place(line))
        .unwrap_or(lines.len());
    let lines = if place > 1 {
        &lines[..place]
    } else {
        &lines[..]
    };
    let lines: Vec<_> = lines
        .iter()
        .filter(|line| !is_place(line) && !is_empty(line))
        .copied()
        .collect();
    lines.join("\n")
}

fn is_place(line: &str) -> bool {
    line.trim_start().starts_with("--> ")
}

/// A line with nothing but the gutter.
fn is_empty(line: &str) -> bool {
    matches!(line.trim(), "" | "|")
}

/// The sentence with a capital letter.
fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .chain(letters)
        .collect()
}
