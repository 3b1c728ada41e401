//! Files that load, and files with mistakes, whose faults are compared by kind and place, not by words.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

mod together;

use std::fs;
use std::path::{Path, PathBuf};

use llmnode_graph::{CheckedRegistry, Fault, Graph, Registry};
use llmnode_runtime::{BoxError, Cx, Exec, Node, ScriptedModel, Toolset};

/// A node of the program's: shortens a text.
#[derive(schemars::JsonSchema, serde::Deserialize)]
struct Summarize {
    text: String,
    words: usize,
}

impl Node for Summarize {
    type Output = String;
    const NAME: &'static str = "summarize";
}

impl<S: Sync> Exec<S> for Summarize {
    async fn exec(&self, _: &Cx<'_, S>) -> Result<String, BoxError> {
        Ok(self
            .text
            .split_whitespace()
            .take(self.words)
            .collect::<Vec<_>>()
            .join(" "))
    }
}

/// What the programs of these files register.
fn registry() -> CheckedRegistry {
    let tool = |query: String| async { Ok::<String, BoxError>(query) };
    Registry::new()
        .tools(
            ["web_search", "search", "calculator"]
                .into_iter()
                .fold(Toolset::new(), |tools, name| {
                    tools.function(name, "A tool.", tool)
                }),
        )
        .node::<Summarize>()
        .model("good", ScriptedModel::new())
        .model("fast", ScriptedModel::new())
        .model("1", ScriptedModel::new())
        .folder(data("subgraphs"))
        .build()
        .unwrap()
}

fn data(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(folder)
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data/graphs")
}

/// The files of a folder with this ending, in order.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut all: Vec<PathBuf> = all
        .filter(|path| path.extension().is_some_and(|own| own == ending))
        .collect();
    all.sort();
    all
}

/// `kind place`, as the files of expected faults have it.
fn told(fault: &Fault) -> String {
    format!(
        "{} {}",
        fault.kind,
        if fault.via.is_empty() {
            fault.pointer.clone()
        } else {
            fault.place()
        }
    )
}

#[test]
fn good_files_load() {
    let registry = registry();
    let mut count = 0;
    for path in files(&data("good"), "json")
        .into_iter()
        .chain(files(&examples(), "json"))
    {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        match Graph::parse(&text, &registry) {
            Ok(graph) => {
                let warned: Vec<String> =
                    graph.warnings().iter().map(ToString::to_string).collect();
                assert!(warned.is_empty(), "{name}: {warned:?}");
                count += 1;
            }
            // They need types of other crates, and say so.
            Err(faults) if matches!(name, "support.json" | "react_flow_rag_and_smart.json") => {
                let told: Vec<String> = faults.faults.iter().map(told).collect();
                assert_eq!(told, ["feature /nodes/0/type", "feature /nodes/1/type"]);
                assert!(
                    faults.faults[0].message.contains("the feature `rag`"),
                    "{faults}"
                );
            }
            Err(faults) => panic!("{name}: {faults}"),
        }
    }
    assert!(count >= 20, "{count}");
}

#[test]
fn bad_files_have_each_mistake_once() {
    let registry = registry();
    let (mut wrong, mut kinds) = (Vec::new(), std::collections::BTreeSet::new());
    for path in files(&data("bad"), "json") {
        let text = fs::read_to_string(&path).unwrap();
        let expected = fs::read_to_string(path.with_extension("faults")).unwrap();
        let (faults, warnings) = match Graph::parse(&text, &registry) {
            Ok(graph) => (Vec::new(), graph.warnings().to_vec()),
            Err(faults) => (faults.faults, faults.warnings),
        };
        kinds.extend(faults.iter().map(|fault| fault.kind));
        let found: Vec<String> = faults
            .iter()
            .map(told)
            .chain(warnings.iter().map(|one| format!("warning {}", told(one))))
            .collect();
        let expected: Vec<&str> = expected.lines().map(str::trim_end).collect();
        let trimmed: Vec<&str> = found.iter().map(|line| line.trim_end()).collect();
        if trimmed != expected {
            let words: Vec<String> = faults
                .iter()
                .chain(&warnings)
                .map(ToString::to_string)
                .collect();
            wrong.push(format!(
                "{}:\n  {}\nin words:\n  {}\nexpected:\n  {}",
                path.file_stem().unwrap().to_str().unwrap(),
                found.join("\n  "),
                words.join("\n  "),
                expected.join("\n  ")
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(kinds.len() >= 29, "{kinds:?}");
}

/// The graph of the guide, with ten mistakes made in it.
#[test]
fn ten_mistakes_in_the_graph_of_the_guide_are_found_in_two_loads() {
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/graphs.md"))
            .unwrap();
    let (_, text) = page.split_once("r#\"").unwrap();
    let (text, _) = text.split_once("\"#").unwrap();
    let registry = registry();
    Graph::parse(text, &registry).unwrap();
    let mut mistakes = vec![
        ("\"inputs\"", "\"inptus\"", "unknown_member /inptus inputs"),
        (
            "\"max_steps\": 50",
            "\"max_steps\": 0",
            "out_of_range /max_steps -",
        ),
        (
            "\"save_as\": \"facts\"",
            "\"save_to\": \"facts\"",
            "unknown_member /nodes/0/data/save_to save_as",
        ),
        (
            "\"condition\": \"contains\"",
            "\"condition\": \"contain\"",
            "unknown_name /nodes/1/data/routes/0/condition contains",
        ),
        (
            "\"type\": \"router\"",
            "\"type\": \"router\", \"id\": \"again\"",
            "duplicate_member /nodes/1/id -",
        ),
        (
            "Answer {{ question }}.",
            "Answer {{ question }.",
            "template /nodes/2/data/prompt -",
        ),
        (
            "\"profile\": \"good\"",
            "\"profile\": \"god\"",
            "unknown_name /nodes/2/data/profile good",
        ),
        (
            "\"tools\": [\"web_search\"]",
            "\"tools\": [\"web_serch\"]",
            "unknown_name /nodes/0/data/tools/0 web_search",
        ),
        (
            "\"target\": \"route\"",
            "\"target\": \"ruote\"",
            "unknown_node /edges/0/target route",
        ),
        (
            "\"sourceHandle\": \"empty\"",
            "\"sourceHandle\": \"empyt\"",
            "unknown_handle /edges/1/sourceHandle empty",
        ),
    ];
    // What the edges lead to is clear once the ids and the settings are.
    for listed in [7, 3] {
        let mut wrong = text.to_owned();
        for (right, mistake, _) in &mistakes {
            assert!(wrong.contains(right), "the guide's graph has no {right}");
            wrong = wrong.replacen(right, mistake, 1);
        }
        let faults = Graph::parse(&wrong, &registry).unwrap_err();
        let mut found: Vec<String> = faults
            .faults
            .iter()
            .map(|fault| {
                format!(
                    "{} {}",
                    told(fault),
                    fault.proposal.as_deref().unwrap_or("-")
                )
            })
            .collect();
        found.sort_unstable();
        let mut expected: Vec<&str> = mistakes.drain(..listed).map(|(.., told)| told).collect();
        expected.sort_unstable();
        assert_eq!(found, expected, "{faults}");
    }
}
