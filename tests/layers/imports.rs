//! Parses the sources of a crate and resolves the imports of each file to the files that define them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A file's module: `["run", "attempt"]` for `run/attempt.rs`, none for `lib.rs` and `main.rs`.
pub(crate) type Module = Vec<String>;

/// The sources of a crate by module, without its tests.
pub(crate) type Sources = BTreeMap<Module, String>;

pub(crate) fn sources(of: &str) -> Sources {
    let mut found = Sources::new();
    collect(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join(of).join("src"),
        &mut Vec::new(),
        &mut found,
    );
    found
}

fn collect(folder: &Path, module: &mut Module, to: &mut Sources) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        // Tests may import whatever they like.
        if name == "tests" || name.ends_with("_tests") {
            continue;
        }
        let own = if matches!(&*name, "mod" | "lib" | "main") {
            Vec::new()
        } else {
            vec![name]
        };
        module.extend(own.iter().cloned());
        if path.is_dir() {
            collect(&path, module, to);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            to.insert(module.clone(), fs::read_to_string(&path).unwrap());
        }
        module.truncate(module.len() - own.len());
    }
}

/// An import of one file, or a path in its code.
#[derive(Debug)]
pub(crate) struct Import {
    /// From the root of the crate, as it is written: `["Run"]` for `crate::Run`.
    pub(crate) path: Vec<String>,
    /// The file that defines it.
    pub(crate) file: Module,
}

/// What each file imports from other files of its crate.
pub(crate) fn imports(sources: &Sources) -> BTreeMap<&Module, Vec<Import>> {
    let paths: BTreeMap<&Module, Vec<RawPath>> = sources
        .iter()
        .map(|(module, text)| {
            let mut found = Vec::new();
            read(text.parse().unwrap(), 0, &mut found);
            (module, found)
        })
        .collect();
    let names: BTreeMap<&Module, Names> = paths
        .iter()
        .map(|(module, paths)| (*module, Names::of(module, paths, sources)))
        .collect();
    let crate_ = Crate { sources, names };
    paths
        .iter()
        .map(|(module, paths)| (*module, crate_.imports_of(module, paths)))
        .collect()
}

struct Crate<'a> {
    sources: &'a Sources,
    names: BTreeMap<&'a Module, Names>,
}

/// The names that the `use` declarations of a file bring, with their paths from the root of the crate.
#[derive(Default)]
struct Names {
    all: BTreeMap<String, Vec<String>>,
    /// Those that other files may import from this one.
    exported: BTreeMap<String, Vec<String>>,
}

impl Names {
    fn of(module: &Module, paths: &[RawPath], sources: &Sources) -> Self {
        let mut names = Names::default();
        for path in paths.iter().filter(|path| path.import) {
            let Some(absolute) = path.absolute(module, sources, &BTreeMap::new()) else {
                continue;
            };
            let Some(name) = path.alias.clone().or_else(|| absolute.last().cloned()) else {
                continue;
            };
            if path.public {
                names.exported.insert(name.clone(), absolute.clone());
            }
            names.all.insert(name, absolute);
        }
        names
    }
}

impl Crate<'_> {
    fn imports_of(&self, module: &Module, paths: &[RawPath]) -> Vec<Import> {
        let names = &self.names[module];
        let mut found = Vec::new();
        for path in paths {
            let known = if path.import {
                &BTreeMap::new()
            } else {
                &names.all
            };
            let Some(absolute) = path.absolute(module, self.sources, known) else {
                continue;
            };
            // A module that re-exports its folder does not use it.
            if path.import && path.public && absolute.starts_with(module) {
                continue;
            }
            let file = self.file_of(&absolute, 0);
            // Of an imported module, the paths in the code say what is used.
            if file != *module && !(path.import && file == absolute) {
                found.push(Import {
                    path: absolute,
                    file,
                });
            }
        }
        found
    }

    /// The file that defines an item: the longest prefix that is a module, or where that module has it from.
    fn file_of(&self, path: &[String], followed: usize) -> Module {
        let length = (0..=path.len())
            .rev()
            .find(|length| self.sources.contains_key(&path[..*length]));
        let module = &path[..length.unwrap_or(0)];
        let rest = &path[module.len()..];
        let exported = rest
            .first()
            .and_then(|name| self.names.get(&module.to_vec())?.exported.get(name));
        match exported {
            Some(from) if followed < 8 && from[..] != path[..=module.len()] => {
                self.file_of(&[&from[..], &rest[1..]].concat(), followed + 1)
            }
            _ => module.to_vec(),
        }
    }
}

/// A path of several segments, or a leaf of a `use` declaration.
#[derive(Debug)]
struct RawPath {
    segments: Vec<String>,
    alias: Option<String>,
    import: bool,
    public: bool,
}

impl RawPath {
    /// The path from the root of the crate; none for a path of another crate.
    fn absolute(
        &self,
        module: &Module,
        sources: &Sources,
        names: &BTreeMap<String, Vec<String>>,
    ) -> Option<Vec<String>> {
        let segments = self
            .segments
            .strip_suffix(&["self".to_owned()])
            .unwrap_or(&self.segments);
        let (first, rest) = segments.split_first()?;
        match first.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([module, rest].concat()),
            "super" => {
                let supers = segments
                    .iter()
                    .take_while(|segment| *segment == "super")
                    .count();
                let around = &module[..module.len().saturating_sub(supers)];
                Some([around, &segments[supers..]].concat())
            }
            name => {
                let child = [module, std::slice::from_ref(first)].concat();
                match names.get(name) {
                    _ if sources.contains_key(&child) => Some([&child, rest].concat()),
                    Some(path) => Some([path, rest].concat()),
                    None => None,
                }
            }
        }
    }
}

/// Collects all paths, those of `use` declarations leaf by leaf. `depth` is the number of inline modules around.
fn read(tokens: TokenStream, depth: usize, to: &mut Vec<RawPath>) {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        if is(&tokens, at, "#")
            && tokens
                .get(at + 1)
                .is_some_and(|token| token.to_string() == "[cfg (test)]")
        {
            at = end_of_item(&tokens, at);
        } else if is(&tokens, at, "use") {
            let end = (at..tokens.len())
                .find(|end| is(&tokens, *end, ";"))
                .unwrap_or(tokens.len());
            let public = at > 0
                && (is(&tokens, at - 1, "pub")
                    || at > 1
                        && is(&tokens, at - 2, "pub")
                        && matches!(tokens[at - 1], TokenTree::Group(_)));
            let mut leaves = Vec::new();
            use_tree(&tokens[at + 1..end], &[], public, &mut leaves);
            to.extend(leaves.into_iter().map(|path| leave_inline(path, depth)));
            at = end;
        } else if let TokenTree::Group(group) = &tokens[at] {
            let inline = at >= 2 && is(&tokens, at - 2, "mod");
            read(group.stream(), depth + usize::from(inline), to);
        } else if matches!(tokens[at], TokenTree::Ident(_)) {
            let segments = path_at(&tokens, at);
            // The punctuation between two segments is two tokens.
            at += 3 * (segments.len() - 1);
            if segments.len() > 1 {
                to.push(leave_inline(
                    RawPath {
                        segments,
                        alias: None,
                        import: false,
                        public: false,
                    },
                    depth,
                ));
            }
        } else if is(&tokens, at, ":")
            && is(&tokens, at + 1, ":")
            && matches!(tokens.get(at + 2), Some(TokenTree::Ident(_)))
        {
            // `::name` and what follows a generic argument begin no path of this crate.
            at += 2 + 3 * (path_at(&tokens, at + 2).len() - 1);
        }
        at += 1;
    }
}

/// In an inline module the first `super` is the file itself.
fn leave_inline(mut path: RawPath, depth: usize) -> RawPath {
    let supers = path
        .segments
        .iter()
        .take_while(|segment| *segment == "super")
        .count();
    if depth > 0 && supers > 0 {
        let left = supers.min(depth);
        path.segments.drain(..left);
        if supers == left {
            path.segments.insert(0, "self".to_owned());
        }
    }
    path
}

fn is(tokens: &[TokenTree], at: usize, text: &str) -> bool {
    tokens
        .get(at)
        .is_some_and(|token| !matches!(token, TokenTree::Group(_)) && token.to_string() == text)
}

/// An item ends with a brace or a semicolon.
fn end_of_item(tokens: &[TokenTree], from: usize) -> usize {
    let ends = |at: &usize| {
        is(tokens, *at, ";")
            || matches!(&tokens[*at], TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
    };
    (from..tokens.len()).find(ends).unwrap_or(tokens.len())
}

fn path_at(tokens: &[TokenTree], mut at: usize) -> Vec<String> {
    let mut segments = vec![tokens[at].to_string()];
    while is(tokens, at + 1, ":")
        && is(tokens, at + 2, ":")
        && matches!(tokens.get(at + 3), Some(TokenTree::Ident(_)))
    {
        at += 3;
        segments.push(tokens[at].to_string());
    }
    segments
}

fn use_tree(tokens: &[TokenTree], before: &[String], public: bool, to: &mut Vec<RawPath>) {
    let mut segments = before.to_vec();
    let mut alias = None;
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Ident(ident) if *ident == "as" => {
                alias = tokens.get(at + 1).map(ToString::to_string);
                break;
            }
            TokenTree::Ident(ident) => segments.push(ident.to_string()),
            TokenTree::Group(group) => {
                let inner: Vec<_> = group.stream().into_iter().collect();
                for tree in inner
                    .split(|token| token.to_string() == ",")
                    .filter(|tree| !tree.is_empty())
                {
                    use_tree(tree, &segments, public, to);
                }
                return;
            }
            _ => {}
        }
        at += 1;
    }
    to.push(RawPath {
        segments,
        alias,
        import: true,
        public,
    });
}

/// The names that the crates above import from the core's hidden module.
pub(crate) fn of_internal(sources: &Sources) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for text in sources.values() {
        let mut paths = Vec::new();
        read(text.parse().unwrap(), 0, &mut paths);
        found.extend(paths.iter().filter_map(|path| match &*path.segments {
            [krate, internal, name, ..] if krate == "llmnode_runtime" && internal == "internal" => {
                Some(name.clone())
            }
            _ => None,
        }));
    }
    found
}
