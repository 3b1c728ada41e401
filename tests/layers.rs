//! The rooms of each crate, its top-level modules, import downwards only. Cargo sees to the same between the crates.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};

/// The rooms of the core, from the ground up. `function`, `credential` and what else stands between two rooms needs
/// nothing above it.
const CORE: &[&str] = &[
    "text",
    "credential",
    "files",
    "function",
    "clock",
    "panics",
    "category",
    "ids",
    "usage",
    "money",
    "prices",
    "position",
    "format",
    "flag",
    "media",
    "validate",
    "output",
    "model",
    "prompt",
    "ledger",
    "error",
    "pause",
    "limits",
    "settings",
    "node",
    "run",
    "primitive",
    "testing",
    "private",
    "internal",
];
const FLOW: &[&str] = &["flow", "journal", "private"];
const HTTP: &[&str] = &["http", "openai"];
const GRAPH: &[&str] =
    &["faults", "template", "facts", "shape", "file", "profiles", "check", "state", "graph", "bin"];
const RAG: &[&str] = &[
    "words",
    "coarse",
    "matrix",
    "chunks",
    "document",
    "hits",
    "fusion",
    "store",
    "embed",
    "hashed",
    "openai",
    "memory",
    "sqlite",
    "chroma",
    "docs",
    "search",
    "write",
    "collection",
    "graph",
];
const SMART: &[&str] = &[
    "random",
    "signature",
    "form",
    "program",
    "node",
    "refine",
    "graph",
    "ext",
    "generated",
    "evaluate",
    "optimise",
];
/// The sources of a crate by their modules: `["run", "attempt"]` for `run/attempt.rs`.
type Sources = BTreeMap<Vec<String>, String>;

fn sources(of: &str) -> Sources {
    let mut found = Sources::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(of).join("src"), &mut Vec::new(), &mut found);
    found
}

fn collect(folder: &Path, module: &mut Vec<String>, to: &mut Sources) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        // Tests may look wherever they like.
        if name == "tests" || name.ends_with("_tests") {
            continue;
        }
        let own = if name == "mod" || name == "lib" { Vec::new() } else { vec![name] };
        module.extend(own.iter().cloned());
        if path.is_dir() {
            collect(&path, module, to);
        } else {
            to.insert(module.clone(), fs::read_to_string(&path).unwrap());
        }
        module.truncate(module.len() - own.len());
    }
}

/// Every import from a room that does not stand below the importing one, and every room without a place.
fn faults(sources: &Sources, order: &[&str]) -> Vec<String> {
    let floor = |room: &str| order.iter().position(|one| *one == room);
    let exported = exports(&sources[&Vec::new()]);
    let mut found = Vec::new();
    for (module, text) in sources {
        let Some(room) = module.first() else { continue };
        let Some(own) = floor(room) else {
            found.push(format!("the room `{room}` has no place in the order"));
            continue;
        };
        let mut imports = Vec::new();
        read(text.parse().unwrap(), module.len(), &mut imports);
        for name in imports {
            let from = exported.get(&name).unwrap_or(&name);
            if floor(from).is_some_and(|floor| floor > own) {
                found.push(format!(
                    "`{}` imports `{name}` from `{from}`, which stands above `{room}`",
                    module.join("/")
                ));
            }
        }
    }
    found.dedup();
    found
}

/// What `lib.rs` exports, and from which room.
fn exports(lib: &str) -> BTreeMap<String, String> {
    let tokens: Vec<_> = lib.parse::<TokenStream>().unwrap().into_iter().collect();
    let mut found = BTreeMap::new();
    for at in 0..tokens.len() {
        if tokens[at].to_string() == "use" {
            let room = tokens[at + 1].to_string();
            for name in segments(&tokens[at + 2..]) {
                found.insert(name, room.clone());
            }
        }
    }
    found
}

/// Collects the first segments of all paths that begin at the crate's root: by `crate`, or by one `super` for each
/// module around.
fn read(tokens: TokenStream, depth: usize, to: &mut Vec<String>) {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|token| token.to_string() == text);
    let mut at = 0;
    while at < tokens.len() {
        if is(at, "#") && tokens.get(at + 1).is_some_and(|token| token.to_string() == "[cfg (test)]") {
            // The item is for tests alone: its end is a brace or a semicolon.
            while at < tokens.len()
                && !is(at, ";")
                && !matches!(&tokens[at], TokenTree::Group(group) if group.delimiter() == proc_macro2::Delimiter::Brace)
            {
                at += 1;
            }
        } else if is(at, "crate") && is(at + 1, ":") {
            to.extend(segments(&tokens[at + 1..]));
        } else if is(at, "super") && !(at >= 2 && is(at - 1, ":")) {
            let mut supers = 0;
            while is(at, "super") {
                (supers, at) = (supers + 1, at + 3);
            }
            if supers == depth {
                to.extend(segments(&tokens[at - 2..]));
            }
            continue;
        } else if let TokenTree::Group(group) = &tokens[at] {
            let within = at >= 2 && is(at - 2, "mod");
            read(group.stream(), depth + usize::from(within), to);
        }
        at += 1;
    }
}

/// The names behind `::`, one or those of a group.
fn segments(tokens: &[TokenTree]) -> Vec<String> {
    match tokens {
        [TokenTree::Punct(one), TokenTree::Punct(two), next, ..]
            if one.as_char() == ':' && two.as_char() == ':' =>
        {
            match next {
                TokenTree::Group(group) => {
                    let all: Vec<_> = group.stream().into_iter().collect();
                    let entries = all.split(|token| token.to_string() == ",");
                    entries.filter_map(|entry| Some(entry.first()?.to_string())).collect()
                }
                name => vec![name.to_string()],
            }
        }
        _ => Vec::new(),
    }
}

#[test]
fn rooms_import_downwards_only() {
    for (of, order) in [
        ("llmnode-runtime", CORE),
        ("crates/llmnode-flow", FLOW),
        ("crates/llmnode-http", HTTP),
        ("crates/llmnode-graph", GRAPH),
        ("crates/llmnode-rag", RAG),
        ("crates/llmnode-smart", SMART),
    ] {
        let faults = faults(&sources(of), order);
        assert!(faults.is_empty(), "{of}:\n{}", faults.join("\n"));
    }
}

/// The faults after a line is added to a module of the core.
fn planted(module: &[&str], line: &str) -> Vec<String> {
    let mut sources = sources("llmnode-runtime");
    let module: Vec<_> = module.iter().map(|part| (*part).to_owned()).collect();
    sources.retain(|one, _| one.is_empty() || *one == module);
    sources.get_mut(&module).unwrap().push_str(line);
    faults(&sources, CORE)
}

#[test]
fn a_planted_arrow_upwards_is_found() {
    for (module, line) in [
        (&["text"][..], "use crate::run::Run;"),
        (&["limits", "meter"], "use crate::Run;"),
        (&["ledger", "spans", "call"], "fn planted(_: crate::node::Missing) {}"),
        (&["model", "request"], "use crate::{BoxError, category::Category, prompt::Prompt};"),
        (&["clock"], "use super::run::Run;"),
        (&["media", "file"], "use super::super::error::NodeError;"),
        (&["media", "file"], "mod planted { use super::super::super::error::NodeError; }"),
    ] {
        let faults = planted(module, line);
        assert_eq!(faults.len(), 1, "{line}: {faults:?}");
        assert!(faults[0].starts_with(&format!("`{}` imports", module.join("/"))), "{faults:?}");
    }
}

#[test]
fn a_planted_circle_is_found() {
    // `output` stands on `validate`.
    assert_eq!(
        planted(&["validate", "reach"], "use crate::output::Reader;"),
        ["`validate/reach` imports `output` from `output`, which stands above `validate`"]
    );
    // What is for tests alone closes no circle, nor does what stands in a text.
    assert!(
        planted(&["validate", "reach"], "#[cfg(test)] mod planted { use crate::output::Reader; }").is_empty()
    );
    assert!(
        planted(&["validate", "reach"], "/// `crate::output`\nconst PLANTED: &str = \"crate::output\";")
            .is_empty()
    );
}

#[test]
fn a_room_without_a_place_is_found() {
    let mut sources = sources("llmnode-runtime");
    sources.retain(|one, _| one.is_empty());
    sources.insert(vec!["attic".to_owned()], String::new());
    assert_eq!(faults(&sources, CORE), ["the room `attic` has no place in the order"]);
}

/// The hidden module of the core lists what each crate above uses of it, and has nothing else.
#[test]
fn what_the_core_opens_is_listed_with_its_users() {
    let core = sources("llmnode-runtime");
    let rows = core[&vec!["internal".to_owned()]].lines().filter_map(|line| {
        let (user, items) = line.strip_prefix("//! | llmnode-")?.strip_suffix(" |")?.split_once(" | ")?;
        Some((
            user.to_owned(),
            items.replace('`', "").split(", ").map(str::to_owned).collect::<BTreeSet<_>>(),
        ))
    });
    for (user, items) in rows {
        let mut used = BTreeSet::new();
        for text in sources(&format!("crates/llmnode-{user}")).values() {
            inside(text.parse().unwrap(), &mut used);
        }
        assert_eq!(items, used, "what llmnode-{user} uses of `internal`");
    }
}

/// Collects the names behind `llmnode_runtime::internal`.
fn inside(tokens: TokenStream, to: &mut BTreeSet<String>) {
    let tokens: Vec<_> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            inside(group.stream(), to);
        } else if token.to_string() == "internal"
            && at >= 3
            && tokens[at - 3].to_string() == "llmnode_runtime"
        {
            to.extend(segments(&tokens[at + 1..]));
        }
    }
}
