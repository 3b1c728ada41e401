//! `docs/errors.md`, made of some of the pinned cases, and the table of statuses in `docs/categories.md`:
//! `UPDATE=1 cargo test -p llmnode-macros --test errors_page` writes both anew. Only files are read, so this holds on any toolchain.

#![allow(clippy::expect_used, clippy::panic, reason = "tests")]

mod caret;
mod case;
mod newcomer;
mod page;
mod providers;

use std::path::{Path, PathBuf};

use case::Case;

/// All cases, by name.
fn cases() -> Vec<Case> {
    let mut paths: Vec<PathBuf> = children(Path::new("tests/ui"))
        .iter()
        .flat_map(|topic| children(topic))
        .collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    paths.sort();
    let (cases, faults): (Vec<_>, Vec<_>) = paths
        .iter()
        .map(|path| Case::read(path))
        .partition(Result::is_ok);
    let faults: Vec<_> = faults.into_iter().filter_map(Result::err).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(cases.len() >= 168, "the cases are found");
    cases.into_iter().flatten().collect()
}

fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder of cases");
    entries
        .map(|entry| entry.expect("an entry").path())
        .collect()
}

#[test]
fn each_case_has_as_many_errors_as_it_says() {
    let wrong: Vec<_> = cases()
        .iter()
        .filter(|case| case.printed.len() != case.errors)
        .map(|case| format!("{}: {} errors", case.name, case.printed.len()))
        .collect();
    assert!(
        wrong.is_empty(),
        "one error a file, or a line `// Errors: …`, but {wrong:#?}"
    );
}

#[test]
fn mistakes_of_newcomers_are_answered_well() {
    let cases = cases();
    let newcomers: Vec<_> = cases
        .iter()
        .filter(|case| newcomer::is_mistake(case))
        .collect();
    let mute: Vec<_> = newcomers
        .iter()
        .filter(|case| case.tokens.is_empty())
        .map(|case| &case.name)
        .collect();
    assert!(
        mute.is_empty(),
        "a line `// Token: …` says what has to change: {mute:#?}"
    );
    let silent = |case: &&&Case| case.well_answered() == case.missed.is_some();
    let silent: Vec<_> = newcomers
        .iter()
        .filter(silent)
        .map(|case| &case.name)
        .collect();
    assert!(
        silent.is_empty(),
        "one error at the token, or a line `// Missed: …` that says why not: {silent:#?}"
    );
}

/// By a mark, by line and column in words, in the help, by judgement.
#[test]
fn of_each_newcomers_mistakes_so_many_are_answered_well() {
    let cases = cases();
    // There were twenty of the first: a fallback that does not take the state is no mistake any more.
    // There were twenty of the third: a state in an `Arc` and labels of a map are none any more.
    let expected = [
        (19, 18, [13, 1, 2, 1]),
        (20, 19, [18, 1, 0, 0]),
        (18, 17, [14, 0, 0, 0]),
        (20, 19, [16, 0, 1, 0]),
    ];
    for (names, (mistakes, single, answers)) in newcomer::NEWCOMERS.into_iter().zip(expected) {
        let own: Vec<_> = cases
            .iter()
            .filter(|case| names.contains(&case.name.as_str()))
            .collect();
        assert_eq!(
            (own.len(), names.len()),
            (mistakes, mistakes),
            "each name is that of a case, and stands once: {names:#?}"
        );
        assert_eq!(newcomer::counts(&own), answers, "{names:#?}");
        assert_eq!(
            own.iter().filter(|case| case.printed.len() == 1).count(),
            single,
            "one error a mistake: {names:#?}"
        );
    }
    let mut all = newcomer::NEWCOMERS.concat();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 77, "no mistake is counted for two of them");
}

#[test]
fn cause_and_mend_are_sentences() {
    let sentence = |text: &str| text.ends_with('.') && text.len() < 140;
    let wrong: Vec<_> = cases()
        .into_iter()
        .filter(|case| !sentence(&case.cause) || !sentence(&case.mend))
        .map(|case| case.name)
        .collect();
    assert!(wrong.is_empty(), "one short sentence each, but {wrong:#?}");
}

/// The page on categories has the table between two comments.
#[test]
fn the_table_of_statuses_is_that_of_the_rules() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/categories.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let begin = "<!-- statuses -->\n";
    let end = "<!-- /statuses -->\n";
    let (before, rest) = page.split_once(begin).expect("where the table begins");
    let (_, after) = rest.split_once(end).expect("where the table ends");
    let table = providers::table();
    let right = format!("{before}{begin}{table}{end}{after}");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &right).expect("a file that can be written");
        return;
    }
    assert!(
        page == right,
        "docs/categories.md is older than the rules; UPDATE=1 cargo test -p llmnode-macros --test errors_page"
    );
}

#[test]
fn the_page_is_that_of_the_cases() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/errors.md");
    let page = page::page(&cases()).unwrap_or_else(|fault| panic!("{fault}"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &page).expect("a file that can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/errors.md is older than the cases; UPDATE=1 cargo test -p llmnode-macros --test errors_page"
    );
    let (guide, _) = page
        .split_once(page::LOOKED_UP_HEADING)
        .expect("the table, which is looked up");
    let words = guide.split_whitespace().count();
    assert!(
        words < 1_500,
        "{words} words; a page of a guide has fewer than 1,500"
    );
    let mut headings: Vec<_> = page.lines().filter(|line| line.starts_with("##")).collect();
    let count = headings.len();
    headings.sort();
    headings.dedup();
    assert_eq!(headings.len(), count, "each heading once");
}
