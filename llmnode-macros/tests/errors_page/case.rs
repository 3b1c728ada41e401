//! A pinned case: what its comments say, its code, and what the compiler makes of it.

use std::path::Path;

/// One file below `tests/ui`, with its output.
pub(crate) struct Case {
    /// The folder.
    pub(crate) topic: String,
    /// `topic/case`.
    pub(crate) name: String,
    /// Why the message appears.
    pub(crate) cause: String,
    /// What to write instead.
    pub(crate) mend: String,
    /// How many errors the case says that it has.
    pub(crate) errors: usize,
    /// What has to change, where the case says so; any of several that would do.
    pub(crate) tokens: Vec<String>,
    /// Why the errors are not one, or not where it has to change, if so.
    pub(crate) missed: Option<String>,
    /// Why that is what has to change, where it is not plain.
    pub(crate) judged: Option<String>,
    /// The errors that were printed, each as it would be in a program's `src/main.rs`.
    pub(crate) printed: Vec<String>,
}

impl Case {
    /// Reads the case from its path below `tests/ui`; says what it lacks.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let lacks = |what: &str| format!("{} lacks {what}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| lacks(&error.to_string()))?;
        let output = std::fs::read_to_string(path.with_extension("stderr"))
            .map_err(|_| lacks("its output: run the test `ui` with TRYBUILD=overwrite"))?;

        let comments: Vec<_> = text
            .lines()
            .map_while(|line| line.strip_prefix("// "))
            .collect();
        let all = |key: &'static str| {
            comments
                .iter()
                .filter_map(move |line| line.strip_prefix(key))
                .map(str::trim)
        };
        let said = |key| all(key).next();
        let told = |key, what| said(key).map(str::to_owned).ok_or_else(|| lacks(what));
        let errors =
            said("Errors:").map(|count| count.parse().map_err(|_| lacks("a number of errors")));

        let blank = text
            .lines()
            .skip(comments.len())
            .take_while(|line| line.is_empty())
            .count();
        let [topic, name] = [path.parent().unwrap_or(path), path].map(|part| {
            part.file_stem()
                .map(|stem| stem.to_string_lossy().into_owned())
                .unwrap_or_default()
        });
        Ok(Self {
            cause: told("Cause:", "a first line `// Cause: …`: what the person did")?,
            mend: told("Mend:", "a second line `// Mend: …`: what to write instead")?,
            errors: errors.unwrap_or(Ok(1))?,
            missed: said("Missed:").map(str::to_owned),
            tokens: all("Token:").map(str::to_owned).collect(),
            judged: said("Judged:").map(str::to_owned),
            printed: printed(&output, comments.len() + blank),
            name: format!("{topic}/{name}"),
            topic,
        })
    }
}

/// The errors of an output, with the lines counted as if those above the code were not there.
fn printed(output: &str, above: usize) -> Vec<String> {
    let mut errors: Vec<String> = vec![];
    let mut gutter = 0;
    for line in output.lines() {
        if line.starts_with("error") {
            errors.push(String::new());
        }
        let line = match line.find("--> ").filter(|at| line[..*at].trim().is_empty()) {
            Some(at) => {
                gutter = at;
                placed(line, above)
            }
            None => numbered(line, gutter, above),
        };
        if let Some(error) = errors.last_mut() {
            error.push_str(line.trim_end());
            error.push('\n');
        }
    }
    errors
}

/// ` --> tests/ui/topic/case.rs:5:3` as ` --> src/main.rs:3:3`.
fn placed(line: &str, above: usize) -> String {
    let parts: Vec<&str> = line.split(':').collect();
    match (line.split_once("tests/ui/"), &parts[..]) {
        (Some((arrow, _)), [_, row, column]) => {
            format!("{arrow}src/main.rs:{}:{column}", less(row, above))
        }
        _ => line.replace("$WORKSPACE/", "").replace("$RUST/", ""),
    }
}

/// `5 | code` as `3 | code`, with the number in a gutter of that width.
fn numbered(line: &str, gutter: usize, above: usize) -> String {
    match line.split_at_checked(gutter) {
        Some((number, rest))
            if rest.starts_with(' ') && number.trim_start().parse::<usize>().is_ok() =>
        {
            format!("{:>gutter$}{rest}", less(number.trim_start(), above))
        }
        _ => line.to_owned(),
    }
}

fn less(number: &str, above: usize) -> String {
    let number = number
        .parse::<usize>()
        .map(|number| number.saturating_sub(above));
    number.map(|number| number.to_string()).unwrap_or_default()
}
