//! The public names, as the sources export them, so that review shows each name that comes or goes.
//!
//! `LLMNODE_UPDATE=1 cargo test --test names` updates the list.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use snapshot::assert_snapshot;

#[path = "support/snapshot.rs"]
mod snapshot;

/// The files of the public modules.
const MODULES: &[&str] = &[
    "src/lib.rs",
    "src/graph.rs",
    "llmnode-runtime/src/lib.rs",
    "llmnode-runtime/src/dyn_node/mod.rs",
    "llmnode-runtime/src/prompt/mod.rs",
    "llmnode-runtime/src/testing.rs",
    "crates/llmnode-model/src/media/mod.rs",
    "crates/llmnode-cassette/src/lib.rs",
    "beyond/llmnode-chats/src/lib.rs",
    "beyond/llmnode-eval/src/lib.rs",
    "crates/llmnode-flow/src/lib.rs",
    "crates/llmnode-flow/src/flow/mod.rs",
    "crates/llmnode-flow/src/journal/mod.rs",
    "beyond/llmnode-graph/src/lib.rs",
    "crates/llmnode-http/src/lib.rs",
    "crates/llmnode-mcp/src/lib.rs",
    "beyond/llmnode-page/src/lib.rs",
    "beyond/llmnode-rag/src/lib.rs",
    "beyond/llmnode-serve/src/lib.rs",
    "beyond/llmnode-smart/src/lib.rs",
    "beyond/llmnode-smart/src/optimise/mod.rs",
    "crates/llmnode-stub/src/lib.rs",
    "crates/llmnode-testkit/src/lib.rs",
];

/// Modules that are exported as one, and foreign crates.
const NO_ITEMS: &[&str] = &[
    "chats",
    "evals",
    "evaluate",
    "journal",
    "media",
    "dyn_node",
    "rag",
    "smart",
    "stub_server",
    "testing",
    "reqwest",
    "async_openai",
    "ext",
];

/// For people who write another crate, beside what a program imports: `ask` of the reader is not read either.
const SEAMS: &[&str] = &["ext"];

/// Crates whose names the facade has through the runtime.
const BELOW: &[&str] = &[
    "crates/llmnode-model/src/lib.rs",
    "crates/llmnode-reader/src/lib.rs",
];

/// Crates without a library.
const PROGRAMS: &[&str] = &["beyond/llmnode-cli/src/main.rs"];

/// What one file exports: its names, and its public modules that are files of their own.
#[derive(Default)]
struct Exports {
    names: BTreeSet<String>,
    modules: Vec<String>,
}

impl Exports {
    fn of(text: &str) -> Self {
        let mut found = Exports::default();
        found.items(text.parse().unwrap());
        found
    }

    fn items(&mut self, tokens: TokenStream) {
        let mut item = Vec::new();
        for token in tokens {
            let ends = match &token {
                TokenTree::Punct(punct) => punct.as_char() == ';',
                // The braces of a `use` precede its semicolon.
                TokenTree::Group(group) => {
                    group.delimiter() == Delimiter::Brace && !item.iter().any(|one| is(one, "use"))
                }
                _ => false,
            };
            item.push(token);
            if ends {
                self.item(&item);
                item.clear();
            }
        }
    }

    fn item(&mut self, item: &[TokenTree]) {
        let Some(at) = item.iter().position(|token| is(token, "pub")) else {
            return;
        };
        let attributes = item[..at]
            .iter()
            .map(ToString::to_string)
            .collect::<String>();
        let narrower = matches!(&item[at + 1], TokenTree::Group(_));
        if narrower || attributes.contains("doc (hidden)") || attributes.contains("doc(hidden)") {
            return;
        }
        let kind = |token: &&TokenTree| {
            [
                "use", "mod", "struct", "enum", "trait", "fn", "type", "const", "static",
            ]
            .iter()
            .any(|kind| is(token, kind))
        };
        let mut words = item[at + 1..].iter().skip_while(|token| !kind(token));
        let (kind, rest) = (words.next().unwrap().to_string(), words.collect::<Vec<_>>());
        match (kind.as_str(), item.last()) {
            ("use", _) => self.names.extend(used(&rest)),
            ("mod", Some(TokenTree::Group(inner))) => self.items(inner.stream()),
            ("mod", _) => self.modules.push(rest[0].to_string()),
            // Of a `const fn` the second word is no name either.
            _ => self.names.extend([rest
                .iter()
                .find(|token| !is(token, "fn"))
                .unwrap()
                .to_string()]),
        }
    }
}

fn is(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if *ident == word)
}

/// The names that a `use` brings: the last of each path, or what it is renamed to.
fn used(path: &[&TokenTree]) -> Vec<String> {
    let group = path.iter().find_map(|token| {
        if let TokenTree::Group(group) = token {
            Some(group)
        } else {
            None
        }
    });
    if let Some(group) = group {
        let inner: Vec<_> = group.stream().into_iter().collect();
        let paths = inner
            .split(|token| token.to_string() == ",")
            .filter(|path| !path.is_empty());
        return paths
            .flat_map(|path| used(&path.iter().collect::<Vec<_>>()))
            .collect();
    }
    let mut idents = path
        .iter()
        .filter(|token| matches!(token, TokenTree::Ident(_)));
    let glob = path.iter().any(|token| token.to_string() == "*");
    idents
        .next_back()
        .filter(|_| !glob)
        .map(ToString::to_string)
        .into_iter()
        .collect()
}

fn public() -> Exports {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Exports::default();
    for module in MODULES {
        let Exports { names, modules } =
            Exports::of(&std::fs::read_to_string(root.join(module)).unwrap());
        all.names.extend(
            names
                .into_iter()
                .filter(|name| !NO_ITEMS.contains(&name.as_str())),
        );
        all.modules.extend(modules);
    }
    all
}

#[test]
fn the_public_names_are_these() {
    let names = public().names;
    // 260 until the graph's `Turn` and the journal's, which is `ReplayStep` now, no longer counted as one.
    // 261 until conversations in a database (17 names), batches, caches and the questions of tools came.
    // 290 until evaluations were compared by case and by field, and judges with people.
    // 297 until long conversations came: what is left out, what is summed up, and what binds (9 names).
    assert!(
        names.len() <= 306,
        "{} names are more than anybody reads",
        names.len()
    );
    assert_snapshot(
        &names.into_iter().collect::<Vec<_>>().join("\n"),
        "public_names",
    );
}

#[test]
fn no_public_module_is_left_out() {
    let modules = public().modules;
    for module in modules.iter().filter(|module| *module != "guide") {
        if SEAMS.contains(&module.as_str()) {
            continue;
        }
        let files = [format!("/{module}/mod.rs"), format!("/{module}.rs")];
        let is_read = |known: &&str| files.iter().any(|file| known.ends_with(file));
        assert!(MODULES.iter().any(is_read), "`{module}` is not read");
    }
}

#[test]
fn what_is_exported_is_found() {
    let Exports { names, modules } = Exports::of(
        "use a::Not; mod own { pub struct Not; } pub(crate) use b::Not; #[doc(hidden)] pub mod hidden { pub struct Not; }
         #[doc(inline)] pub use c::{One, d::{Two, Three as Four}, e::*}; pub use f::Five; pub use g::*;
         pub mod open; pub mod inline { pub use h::Six; } #[derive(Debug)] pub struct Seven { pub not: u8 }
         impl Seven { pub fn not(&self) {} } pub const fn eight() {} pub type Nine<'a> = &'a u8; pub const TEN: u8 = 10;",
    );
    let expected = [
        "Five", "Four", "Nine", "One", "Seven", "Six", "TEN", "Two", "eight",
    ];
    assert_eq!(
        names.iter().map(String::as_str).collect::<Vec<_>>(),
        expected
    );
    assert_eq!(modules, ["open"]);
}

#[test]
fn every_crate_is_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["crates", "beyond"].map(|group| std::fs::read_dir(root.join(group)).unwrap());
    for folder in folders.into_iter().flatten() {
        let folder = folder.unwrap().path();
        let source = folder.strip_prefix(root).unwrap().join("src");
        let source = source.to_str().unwrap();
        let (library, program) = (format!("{source}/lib.rs"), format!("{source}/main.rs"));
        let is_read = [MODULES, BELOW]
            .iter()
            .any(|read| read.contains(&&*library));
        assert!(
            is_read || PROGRAMS.contains(&&*program),
            "`{library}` is not read"
        );
    }
}

/// Words that say nothing to a reader who has not met the authors, in names of types, modules and files, and in names of functions.
const NOT_IN_TYPES: &[&str] = &[
    "told", "said", "minded", "meant", "given", "own", "stand", "stands", "place", "around",
    "within", "whole", "made", "known",
];
/// Types of the interface whose names have one of these words for good: a collection is asked which sources it *knows*.
const NAMED_FOR_IT: &[&str] = &["KnownSources"];
const NOT_IN_FUNCTIONS: &[&str] = &[
    "told", "tell", "tells", "said", "say", "says", "minded", "meant", "vain", "stand", "stands",
];

/// Words that are no names of anything, of locals and fields neither: a name says what the thing is, in the words of its type.
/// Behind each is what is written in its place, as the case is.
const NO_NAMES: &[&str] = &[
    "asked",    // node, request, attempts
    "asking",   // attempts, node
    "said",     // message, content, text
    "own",      // what it is: settings, node_prices, own_name
    "given",    // expected, value, settings
    "known",    // found, names, previous
    "book",     // live_record
    "flowing",  // running_flow
    "misfit",   // mismatch
    "stand",    // state
    "made",     // provenance, created
    "wanted",   // expected
    "in_words", // describe
    "goes_on",  // continues
    "is_told",  // is_reported
    "visited",  // run_caught
    "stepped",  // run_step
];

/// Files that still have some of [`NO_NAMES`], with these. A line that is mended goes; none comes, so that new code has names.
const NAMES_TO_MEND: &str = include_str!("names_to_mend.txt");

/// The identifiers in these tokens that are no names, each once. Tests are left out, and what stands behind a dot: that is
/// named where it is declared.
fn no_names(tokens: TokenStream, found: &mut BTreeSet<String>) {
    let mut before = String::new();
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                let name = name.to_string();
                if NO_NAMES.contains(&&*name) && before != "." {
                    found.insert(name.clone());
                }
                before = name;
            }
            TokenTree::Group(_) if before == "tests" => before.clear(),
            TokenTree::Group(group) => {
                no_names(group.stream(), found);
                before.clear();
            }
            TokenTree::Punct(punct) => before = punct.to_string(),
            TokenTree::Literal(_) => before.clear(),
        }
    }
}

/// Of all packages, also of those that are no part of the workspace.
fn every_source() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = ["src", "llmnode-macros/src", "llmnode-runtime/src"]
        .map(|folder| root.join(folder))
        .to_vec();
    for group in ["crates", "beyond", "engines"] {
        for package in std::fs::read_dir(root.join(group)).unwrap() {
            folders.push(package.unwrap().path().join("src"));
        }
    }
    let mut files = Vec::new();
    for folder in folders.iter().filter(|folder| folder.exists()) {
        sources(folder, &mut files);
    }
    files
}

/// `LLMNODE_UPDATE=1` takes lines off the list that are mended, and adds none.
#[test]
fn locals_and_fields_have_names() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let listed: BTreeSet<&str> = NAMES_TO_MEND.lines().collect();
    let mut found = BTreeSet::new();
    for file in every_source() {
        let text = std::fs::read_to_string(&file).unwrap();
        let mut names = BTreeSet::new();
        no_names(text.parse().unwrap(), &mut names);
        let file = file.strip_prefix(root).unwrap().display().to_string();
        found.extend(names.iter().map(|name| format!("{file}: {name}")));
    }
    if std::env::var_os("LLMNODE_UPDATE").is_some() {
        let left: String = found
            .iter()
            .filter(|line| listed.contains(line.as_str()))
            .map(|line| format!("{line}\n"))
            .collect();
        std::fs::write(root.join("tests/names_to_mend.txt"), left).unwrap();
    }
    let new: Vec<&String> = found
        .iter()
        .filter(|line| !listed.contains(line.as_str()))
        .collect();
    assert!(
        new.is_empty(),
        "these are no names, see `NO_NAMES` for what is written in their place: {new:#?}"
    );
}

/// The words of a name in either spelling, in small letters.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for letter in name.chars() {
        if letter == '_' || letter.is_uppercase() {
            words.push(String::new());
        }
        words
            .last_mut()
            .unwrap()
            .extend(letter.to_lowercase().filter(|letter| *letter != '_'));
    }
    words
}

/// The names in these tokens that have a word they should not have.
fn unclear(tokens: TokenStream, found: &mut Vec<String>) {
    let mut before = String::new();
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                let name = name.to_string();
                let refused: &[&str] = match &*before {
                    "struct" | "enum" | "trait" | "type" | "mod" => NOT_IN_TYPES,
                    "fn" => NOT_IN_FUNCTIONS,
                    _ => &[],
                };
                let is_clear = NAMED_FOR_IT.contains(&&*name);
                if !is_clear && words(&name).iter().any(|word| refused.contains(&&**word)) {
                    found.push(format!("{before} {name}"));
                }
                before = name;
            }
            // Tests say in whole sentences what they show.
            TokenTree::Group(_) if before == "tests" => before.clear(),
            TokenTree::Group(group) => {
                unclear(group.stream(), found);
                before.clear();
            }
            _ => before.clear(),
        }
    }
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.extension() {
            _ if path.is_dir() && !path.ends_with("tests") => sources(&path, files),
            Some(extension) if extension == "rs" && !path.ends_with("tests.rs") => files.push(path),
            _ => {}
        }
    }
}

/// The sources of all libraries and programs.
fn all_sources() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for module in MODULES
        .iter()
        .filter(|module| module.ends_with("src/lib.rs"))
        .chain(PROGRAMS)
    {
        sources(root.join(module).parent().unwrap(), &mut files);
    }
    sources(&root.join("llmnode-macros/src"), &mut files);
    files
}

/// How names of models begin.
const MODELS: [&str; 15] = [
    "gpt-",
    "chatgpt",
    "o1-",
    "o3-",
    "o4-",
    "claude-",
    "gemini-",
    "gemma",
    "grok-",
    "mistral-large",
    "deepseek-",
    "qwen",
    "kimi-",
    "glm-",
    "llama-3",
];

/// A hint in a message, and the example in another one. Prices are in a file of data.
const WITH_NAMES_OF_MODELS: [&str; 2] = [
    "crates/llmnode-http/src/http/lookalikes.rs",
    "llmnode-runtime/src/prices/file.rs",
];

/// The literals in these tokens that name a model, but for those of docs and tests.
fn names_of_models(tokens: TokenStream, found: &mut Vec<String>) {
    let mut before = String::new();
    for token in tokens {
        match &token {
            TokenTree::Literal(literal) => {
                let text = literal.to_string().to_lowercase();
                found.extend(
                    MODELS
                        .iter()
                        .any(|name| text.contains(name))
                        .then_some(text),
                );
            }
            // Of an attribute, which is also how a doc comment comes.
            TokenTree::Group(_) if before == "#" || before == "tests" => {}
            TokenTree::Group(group) => names_of_models(group.stream(), found),
            _ => {}
        }
        before = token.to_string();
    }
}

/// What a model takes is learned from what it refuses. A list of names would be wrong a month later.
#[test]
fn no_model_is_known_by_its_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for path in all_sources() {
        let shown = path.strip_prefix(root).unwrap().to_str().unwrap();
        if WITH_NAMES_OF_MODELS.contains(&shown) || shown.starts_with("crates/llmnode-stub/") {
            continue;
        }
        let mut in_file = Vec::new();
        names_of_models(
            std::fs::read_to_string(&path).unwrap().parse().unwrap(),
            &mut in_file,
        );
        found.extend(in_file.into_iter().map(|name| format!("{shown}: {name}")));
    }
    assert!(
        found.is_empty(),
        "a model is known by its name:\n{}",
        found.join("\n")
    );
    let mut planted = Vec::new();
    let tokens = r#"#[doc = "gpt-5"] fn a() { b("gpt-6*") } mod tests { const C: &str = "qwen"; }"#;
    names_of_models(tokens.parse().unwrap(), &mut planted);
    assert_eq!(planted, ["\"gpt-6*\""]);
}

#[test]
fn names_are_the_fields_own() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for path in all_sources() {
        let mut in_file = Vec::new();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        if words(stem)
            .iter()
            .any(|word| NOT_IN_TYPES.contains(&&**word))
        {
            in_file.push("the file's name".to_owned());
        }
        unclear(
            std::fs::read_to_string(&path).unwrap().parse().unwrap(),
            &mut in_file,
        );
        let shown = path.strip_prefix(root).unwrap().display();
        found.extend(in_file.into_iter().map(|name| format!("{shown}: {name}")));
    }
    assert!(
        found.is_empty(),
        "write what it is, in the words of tower, hyper or serde:\n{}",
        found.join("\n")
    );
    let mut planted = Vec::new();
    unclear(
        "mod a { struct WellKnown; fn is_told() {} fn known() {} }"
            .parse()
            .unwrap(),
        &mut planted,
    );
    assert_eq!(planted, ["struct WellKnown", "fn is_told"]);
}
