//! The rooms of each crate, which are its top-level modules, import downwards only, and no files import each other in a
//! circle. Between crates, Cargo ensures both.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

mod circles;
mod imports;

use std::collections::BTreeSet;
use std::path::Path;

use circles::circles;
use imports::{Sources, imports, of_internal, sources};

/// The rooms of the core, from the ground up.
const CORE: &[&str] = &[
    "text",
    "into_outcome",
    "clock",
    "money",
    "prices",
    "position",
    "format",
    "validate",
    "output",
    "prompt",
    "ledger",
    "error",
    "pause",
    "conversation",
    "limits",
    "settings",
    "node",
    "run",
    "dyn_node",
    "testing",
    "private",
    "ext",
    "internal",
];
const READER: &[&str] = &[
    "text",
    "many_values",
    "tree",
    "flag",
    "violation",
    "marks",
    "decimal",
    "json",
    "repair",
    "check",
    "schema",
    "renamer",
    "ask",
    "error",
    "find",
    "calls",
    "coerce",
    "serde_error",
    "serde_observer",
    "target",
    "select",
    "read",
    "reader",
    "answer",
    "reading",
    "incremental",
    "ext",
    "internal",
];
const MODEL: &[&str] = &[
    "text",
    "json_text",
    "panics",
    "credential",
    "redactor",
    "category",
    "ids",
    "usage",
    "media",
    "tool",
    "provider_state",
    "api_kind",
    "prompt_parts",
    "message",
    "answer_limit",
    "response_format",
    "reasoning",
    "cache",
    "message_json",
    "request",
    "completion",
    "error",
    "pace",
    "gate",
    "retry_budget",
    "sink",
    "batch",
    "chat_model",
    "async_openai",
    "transcript",
    "window",
    "testing",
    "ext",
    "internal",
];
const FLOW: &[&str] = &["flow", "journal", "private"];
const HTTP: &[&str] = &[
    "http",
    "refusal",
    "api",
    "batch",
    "openai",
    "anthropic",
    "gemini",
    "ext",
];
const GRAPH: &[&str] = &[
    "faults", "template", "facts", "shape", "file", "profiles", "check", "state", "graph", "ext",
];
const RAG: &[&str] = &[
    "words",
    "matrix",
    "chunks",
    "document",
    "hits",
    "fusion",
    "store",
    "embed",
    "hash_embedder",
    "openai",
    "memory",
    "sqlite",
    "chroma",
    "collection_config",
    "search",
    "write",
    "collection",
    "graph",
];
const EVAL: &[&str] = &[
    "random",
    "statistics",
    "fall",
    "score",
    "metric",
    "builtin_metrics",
    "jsonl",
    "dataset",
    "case",
    "evaluated_case",
    "report",
    "agreement",
    "evaluating",
    "columns",
    "figures",
    "table",
    "difference",
    "comparison",
    "difference_table",
    "baseline",
    "common",
    "verdict",
    "gate_error",
    "gate",
    "ext",
];
const SMART: &[&str] = &[
    "signature",
    "form",
    "program",
    "node",
    "refine",
    "graph",
    "ext",
    "generated",
    "optimise",
];
const CHATS: &[&str] = &[
    "ids",
    "store",
    "info",
    "body",
    "history",
    "turns",
    "memory",
    "postgres",
    "sqlite",
    "chat",
    "check_store",
    "conversations",
];
const CLI: &[&str] = &[
    "terminal",
    "location",
    "args",
    "report",
    "table",
    "placeholders",
    "stores",
    "hints",
    "node_types",
    "mcp",
    "check",
    "page",
    "run",
    "serve",
];
const CASSETTE: &[&str] = &[
    "diff",
    "request_key",
    "entry",
    "mismatch",
    "sink",
    "file",
    "cassette",
];
const MCP: &[&str] = &[
    "clean",
    "asks",
    "failure",
    "message",
    "reply",
    "secret",
    "tool_list",
    "unanswered",
    "process",
    "events",
    "http_client",
    "connection",
    "server",
];
const PAGE: &[&str] = &[
    "document",
    "texts",
    "conversation",
    "collect",
    "html",
    "reading",
    "words",
    "layout",
    "picture",
    "view",
    "chart",
    "calls",
    "states",
    "page",
    "recording",
    "ext",
];
const SERVE: &[&str] = &[
    "options", "key", "stalled", "file", "form", "decision", "kept", "history", "running", "state",
    "waits", "panels", "app", "access", "run", "restore", "api", "serve", "ext",
];
const STUB: &[&str] = &[
    "sample",
    "form",
    "headers",
    "request",
    "counts",
    "api",
    "model_answer",
    "prefix",
    "chat",
    "responses",
    "messages",
    "gemini",
    "wire",
    "rules",
    "log",
    "billing",
    "answer",
    "reply",
    "embedding",
    "completion",
    "response",
    "reader",
    "batches",
    "routes",
    "exchange",
    "server",
];
const MACROS: &[&str] = &[
    "generated",
    "diagnostics",
    "generics",
    "item",
    "names",
    "macro_args",
    "settings",
    "literals",
    "description",
    "time",
    "manifest",
    "crate_path",
    "cfg",
    "ide",
    "expression",
    "choices",
    "action",
    "step_impl",
    "prompt",
    "validate",
    "output",
    "tool",
    "node",
    "flow",
];

/// Every crate with the order of its rooms, from the ground up.
const CRATES: &[(&str, &[&str])] = &[
    ("llmnode-runtime", CORE),
    ("llmnode-macros", MACROS),
    ("crates/llmnode-cassette", CASSETTE),
    ("beyond/llmnode-chats", CHATS),
    ("beyond/llmnode-cli", CLI),
    ("beyond/llmnode-eval", EVAL),
    ("crates/llmnode-flow", FLOW),
    ("beyond/llmnode-graph", GRAPH),
    ("crates/llmnode-http", HTTP),
    ("crates/llmnode-mcp", MCP),
    ("crates/llmnode-model", MODEL),
    ("beyond/llmnode-page", PAGE),
    ("beyond/llmnode-rag", RAG),
    ("crates/llmnode-reader", READER),
    ("beyond/llmnode-serve", SERVE),
    ("beyond/llmnode-smart", SMART),
    ("crates/llmnode-stub", STUB),
    ("crates/llmnode-testkit", &["bin"]),
];

/// Every import from a room that is not below the importing one, and every room that the order lacks.
fn faults(sources: &Sources, order: &[&str]) -> Vec<String> {
    let floor = |room: &str| order.iter().position(|one| *one == room);
    let mut found = Vec::new();
    for (module, imports) in imports(sources) {
        let Some(room) = module.first() else { continue };
        let Some(own) = floor(room) else {
            found.push(format!("the room `{room}` has no place in the order"));
            continue;
        };
        for import in imports {
            let Some(from) = import.file.first() else {
                continue;
            };
            if floor(from).is_some_and(|floor| floor > own) {
                found.push(format!(
                    "`{}` imports `{}` from `{from}`, which stands above `{room}`",
                    module.join("/"),
                    import.path[0],
                ));
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

#[test]
fn every_crate_is_read() {
    for group in ["crates", "beyond"] {
        for path in crates_in(group) {
            assert!(
                CRATES.iter().any(|(of, _)| *of == path),
                "{path} is missing in `CRATES`"
            );
        }
    }
}

/// The crates of a folder, as paths from the root.
fn crates_in(group: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(group);
    let entries = std::fs::read_dir(folder).unwrap();
    entries
        .map(|entry| format!("{group}/{}", entry.unwrap().file_name().to_str().unwrap()))
        .collect()
}

/// The core is built, tested and read without what stands on it. Only `llmnode-testkit`, which is not published, switches
/// on features of the facade.
#[test]
fn no_crate_of_the_core_names_one_beyond_it() {
    let beyond: Vec<String> = crates_in("beyond")
        .iter()
        .map(|path| path.replace("beyond/", ""))
        .collect();
    assert!(beyond.len() > 5, "{beyond:?}");
    let mut core = crates_in("crates");
    core.push("llmnode-macros".into());
    core.push("llmnode-runtime".into());
    for path in core {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(&path)
            .join("Cargo.toml");
        let manifest = std::fs::read_to_string(manifest).unwrap();
        for name in &beyond {
            assert!(!manifest.contains(name.as_str()), "{path} names {name}");
        }
    }
}

#[test]
fn rooms_import_downwards_only() {
    let found: Vec<_> = CRATES
        .iter()
        .flat_map(|(of, order)| {
            faults(&sources(of), order)
                .into_iter()
                .map(move |fault| format!("{of}: {fault}"))
        })
        .collect();
    assert_eq!(
        found,
        [] as [String; 0],
        "move what both need down, into a file of its own"
    );
}

#[test]
fn files_import_each_other_in_no_circle() {
    let found: Vec<_> = CRATES
        .iter()
        .flat_map(|(of, _)| {
            circles(&sources(of))
                .into_iter()
                .map(move |circle| format!("{of}: {}", circle.join(" ")))
        })
        .collect();
    assert_eq!(
        found,
        [] as [String; 0],
        "move what they share into a file of its own"
    );
}

#[test]
fn a_planted_circle_of_files_is_found() {
    let with = |module: &[&str], line: &str| {
        let mut sources = sources("crates/llmnode-cassette");
        let module: Vec<_> = module.iter().map(|part| (*part).to_owned()).collect();
        sources.get_mut(&module).unwrap().push_str(line);
        circles(&sources)
    };
    assert!(with(&["entry"], "").is_empty());
    for line in [
        "use crate::sink::Sink;",
        "use super::sink::{Sink as Planted};",
        "use crate::sink; fn planted(_: sink::Planted) {}",
        "fn planted() { crate::sink::planted() }",
        "mod planted { use super::super::sink::Planted; }",
    ] {
        let found = with(&["entry"], line);
        assert_eq!(found.len(), 1, "{line}");
        assert!(
            found[0].contains(&"entry".to_owned()) && found[0].contains(&"sink".to_owned()),
            "{line}: {found:?}"
        );
    }
    for line in [
        "#[cfg(test)] mod planted { use crate::sink::Planted; }",
        "const PLANTED: &str = \"crate::sink::Planted\";",
    ] {
        assert!(with(&["entry"], line).is_empty(), "{line}");
    }
}

/// The faults after a line is added to a module of the core.
fn planted(module: &[&str], line: &str) -> Vec<String> {
    let mut sources = sources("llmnode-runtime");
    let module: Vec<_> = module.iter().map(|part| (*part).to_owned()).collect();
    sources.get_mut(&module).unwrap().push_str(line);
    faults(&sources, CORE)
}

#[test]
fn a_planted_arrow_upwards_is_found() {
    for (module, line) in [
        (&["text"][..], "use crate::run::Run;"),
        (&["limits", "meter"], "use crate::Run;"),
        (
            &["ledger", "spans", "call"],
            "fn planted(_: crate::node::Missing) {}",
        ),
        (
            &["validate", "checks"],
            "use crate::{text::cut, prompt::Prompt};",
        ),
        (&["clock"], "use super::run::Run;"),
        (
            &["validate", "checks"],
            "use super::super::error::NodeError;",
        ),
        (
            &["validate", "checks"],
            "mod planted { use super::super::super::error::NodeError; }",
        ),
    ] {
        let faults = planted(module, line);
        assert_eq!(faults.len(), 1, "{line}: {faults:?}");
        assert!(
            faults[0].starts_with(&format!("`{}` imports", module.join("/"))),
            "{faults:?}"
        );
    }
}

#[test]
fn a_planted_circle_is_found() {
    // `output` is above `validate`.
    assert_eq!(
        planted(&["validate", "coverage"], "use crate::output::OutputSpec;"),
        ["`validate/coverage` imports `output` from `output`, which stands above `validate`"]
    );
    // Imports of tests close no circle, nor do those in a string.
    assert!(
        planted(
            &["validate", "coverage"],
            "#[cfg(test)] mod planted { use crate::output::OutputSpec; }"
        )
        .is_empty()
    );
    assert!(
        planted(
            &["validate", "coverage"],
            "/// `crate::output`\nconst PLANTED: &str = \"crate::output\";"
        )
        .is_empty()
    );
}

#[test]
fn a_room_without_a_place_is_found() {
    let mut sources = sources("llmnode-runtime");
    sources.retain(|one, _| one.is_empty());
    sources.insert(vec!["attic".to_owned()], String::new());
    assert_eq!(
        faults(&sources, CORE),
        ["the room `attic` has no place in the order"]
    );
}

/// The hidden module of the core lists what each crate above uses of it, and has nothing else.
#[test]
fn what_the_core_opens_is_listed_with_its_users() {
    let core = sources("llmnode-runtime");
    let rows = core[&vec!["internal".to_owned()]]
        .lines()
        .filter_map(|line| {
            let (user, items) = line
                .strip_prefix("//! | llmnode-")?
                .strip_suffix(" |")?
                .split_once(" | ")?;
            Some((
                user.to_owned(),
                items
                    .replace('`', "")
                    .split(", ")
                    .map(str::to_owned)
                    .collect::<BTreeSet<_>>(),
            ))
        });
    for (user, items) in rows {
        let ending = format!("/llmnode-{user}");
        let (folder, _) = CRATES.iter().find(|(of, _)| of.ends_with(&ending)).unwrap();
        let used = of_internal(&sources(folder));
        assert_eq!(items, used, "what llmnode-{user} uses of `internal`");
    }
}
