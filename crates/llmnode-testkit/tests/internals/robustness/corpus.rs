//! The seeds of the fuzz targets, as they are and changed.

use std::path::Path;

use proc_macro2::TokenStream;
use proptest::prelude::*;

use super::mutate::change;
use crate::invariants::expansion::Use;
use crate::invariants::{literal, prompt};

/// The files of one target, with their names.
fn seeds(target: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(target);
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| {
            (
                path.display().to_string(),
                std::fs::read_to_string(path).unwrap(),
            )
        })
        .collect()
}

fn uses() -> Vec<Use> {
    let read = |(path, text): (String, String)| {
        Use::read(text.parse().unwrap()).unwrap_or_else(|| panic!("{path} uses no macro"))
    };
    seeds("macros").into_iter().map(read).collect()
}

#[test]
fn the_seeds_are_valid_uses() {
    for given in uses() {
        given.holds().unwrap();
        let expansion = given.expand().to_string();
        assert!(!expansion.contains("compile_error"), "{expansion}");
    }
}

#[test]
fn the_seeds_hold() {
    for (path, text) in seeds("prompt") {
        prompt::holds(&text).unwrap_or_else(|fault| panic!("{path}: {fault}"));
    }
    for (path, text) in seeds("literal") {
        literal::holds(&text).unwrap_or_else(|fault| panic!("{path}: {fault}"));
    }
}

/// What once did not, as the fuzz targets and the changed seeds found it.
#[test]
fn what_was_found_holds() {
    for found in [
        r#"#[llm_node(prompt = "a", crate = Self::a)] struct A;"#,
        r#"#[llm_node(prompt = "{a:Choice,\n  b}")] struct A;"#,
        r#"#[llm_node(prompt = "a", state = '_a + B)] struct A;"#,
        r#"#[llm_node(prompt = "a", state = World + recover(,))] struct A;"#,
        r#"#[llm_node(prompt = "a", recover(transport = [retry(5, 1s...2s)]))] struct A;"#,
        "#[llm_output] enum A<T> { B { c: List<item = T> + } }",
        r#"#[llm_output] #[serde(rename_all = prep, tag = "kind")] enum A { B }"#,
        "#[llm_output] struct A { #[serde(renam = \"b\")] #[schemars(min = 1)] a: u8 }",
    ] {
        let given = Use::read(found.parse().unwrap()).unwrap();
        given
            .holds()
            .unwrap_or_else(|fault| panic!("{found}: {fault}"));
    }
}

/// These tests and the fuzz crate are built of all modules of the macro crate.
#[test]
fn the_modules_are_those_of_the_macro_crate() {
    let modules = |path: &str| -> Vec<String> {
        let root =
            std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
        let declared = root
            .lines()
            .map(|line| line.trim_start().trim_start_matches("pub(crate) "));
        declared
            .filter(|line| line.starts_with("mod ") && line.ends_with(';'))
            .map(str::to_owned)
            .collect()
    };
    let included = modules("tests/internals/sources.rs");
    assert!(!included.is_empty());
    assert_eq!(
        included,
        modules("../../llmnode-macros/src/lib.rs"),
        "write them into tests/internals/sources.rs, too"
    );
}

/// A seed with some of its characters replaced, dropped or repeated.
fn changed_text(target: &str) -> impl Strategy<Value = String> {
    let texts: Vec<_> = seeds(target).into_iter().map(|(_, text)| text).collect();
    let edit = (
        any::<prop::sample::Index>(),
        0..3usize,
        prop::sample::select(vec!["{", "}", ":", "\\", "\"", "é", ""]),
    );
    (
        prop::sample::select(texts),
        prop::collection::vec(edit, 0..6),
    )
        .prop_map(|(text, edits)| {
            edits.into_iter().fold(text, |text, (at, repeated, piece)| {
                let mut chars: Vec<_> = text.chars().map(String::from).collect();
                if !chars.is_empty() {
                    let at = at.index(chars.len());
                    chars[at] = format!("{piece}{}", chars[at].repeat(repeated));
                }
                chars.concat()
            })
        })
}

proptest! {
    // A failure is kept as a seed or as a test: where the seeds change, a number means another case.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_uses(given in prop::sample::select(uses()), changes in prop::collection::vec((any::<bool>(), change()), 1..5)) {
        let mut changed = given;
        for (in_item, change) in changes {
            let part: &mut TokenStream = if in_item { &mut changed.item } else { &mut changed.arguments };
            *part = change.apply(part.clone());
            if let Err(fault) = changed.holds() {
                return Err(TestCaseError::fail(format!("{fault}\n{changed:?}")));
            }
        }
    }

    #[test]
    fn changed_prompts(text in changed_text("prompt")) {
        prop_assert_eq!(prompt::holds(&text), Ok(()));
    }

    #[test]
    fn changed_literals(text in changed_text("literal")) {
        prop_assert_eq!(literal::holds(&text), Ok(()));
    }
}
