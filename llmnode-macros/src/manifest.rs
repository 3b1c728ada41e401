//! By which name the package being compiled depends on `llmnode`: `lm = { package =
//! "llmnode", .. }` makes `::lm` of `::llmnode`.
//!
//! In goes the text of the package's `Cargo.toml`, out goes a name or nothing. The
//! manifest is split into its statements, each statement into keys and a value, and
//! what a dependency says of its package is collected by its key. A dependency that
//! is inherited is looked up in the manifest of the workspace. No TOML that cargo
//! accepts is refused, since cargo reads it first; what is not understood is passed
//! over.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Mutex;

/// The name under which the crate is published, whatever dependents call it.
const PACKAGE: &str = "llmnode";

/// Read once for each package: an editor expands those of a whole workspace in one process.
pub(crate) fn name_of_dependency() -> String {
    // The last folder and its answer.
    static LAST: Mutex<Option<(OsString, String)>> = Mutex::new(None);
    let Some(folder) = std::env::var_os("CARGO_MANIFEST_DIR") else {
        return PACKAGE.to_owned();
    };
    let Ok(mut last) = LAST.lock() else {
        return PACKAGE.to_owned();
    };
    match &*last {
        Some((of, name)) if *of == folder => name.clone(),
        _ => {
            let name = read(Path::new(&folder)).unwrap_or_else(|| PACKAGE.to_owned());
            *last = Some((folder, name.clone()));
            name
        }
    }
}

/// `None` if no dependency is the package, or several are.
/// Of the dependency's own entry, `package` counts; of an inherited one, that of
/// the workspace.
fn read(folder: &Path) -> Option<String> {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).ok()?;
    let mut names = vec![];
    let mut inherited = None;
    for (name, dependency) in dependencies(&manifest, &[]) {
        let package = if dependency.inherits {
            let of_workspace = inherited.get_or_insert_with(|| workspace(folder, &manifest));
            of_workspace
                .get(&name)
                .and_then(|dependency| dependency.package.clone())
        } else {
            dependency.package
        };
        if package.as_deref().unwrap_or(&name) == PACKAGE {
            names.push(name);
        }
    }
    match &names[..] {
        [name] => Some(name.replace('-', "_")),
        _ => None,
    }
}

/// The dependencies of the nearest manifest that has a workspace.
/// Upwards from the package, as cargo does; a package may be its own workspace.
fn workspace(folder: &Path, manifest: &str) -> BTreeMap<String, Dependency> {
    let above = folder.ancestors().skip(1);
    let above = above.filter_map(|folder| std::fs::read_to_string(folder.join("Cargo.toml")).ok());
    let found = std::iter::once(manifest.to_owned())
        .chain(above)
        .find(|manifest: &String| {
            leaves(manifest)
                .iter()
                .any(|leaf| leaf.keys.first().is_some_and(|key| key == "workspace"))
        });
    found
        .map(|manifest| dependencies(&manifest, &["workspace"]))
        .unwrap_or_default()
}

/// What an entry says that matters here.
#[derive(Default)]
struct Dependency {
    package: Option<String>,
    inherits: bool,
}

/// By the key, those of all targets and of tests included. `of`: the table that
/// holds the tables of dependencies.
fn dependencies(manifest: &str, of: &[&str]) -> BTreeMap<String, Dependency> {
    let mut found = BTreeMap::<String, Dependency>::new();
    for Leaf { keys, value } in leaves(manifest) {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let Some(keys) = keys.strip_prefix(of) else {
            continue;
        };
        let keys = match keys {
            ["target", _, rest @ ..] => rest,
            keys => keys,
        };
        // `dependencies.NAME.KEY`, however it is spelt: as a table, a dotted key or
        // an inline table.
        let [
            "dependencies" | "dev-dependencies" | "dev_dependencies",
            name,
            says @ ..,
        ] = keys
        else {
            continue;
        };
        let dependency = found.entry((*name).to_owned()).or_default();
        match says {
            ["package"] => dependency.package = string(value),
            ["workspace"] => dependency.inherits = value == "true",
            _ => {}
        }
    }
    found
}

/// A value that is no table, with all the keys that lead to it.
struct Leaf<'a> {
    keys: Vec<String>,
    value: &'a str,
}

/// All values of the manifest. A header sets the table for what follows; `[[bin]]`
/// is read like `[bin]`, since no dependency stands in one.
fn leaves(manifest: &str) -> Vec<Leaf<'_>> {
    let mut found = vec![];
    let mut table = vec![];
    for statement in parts(manifest, '\n') {
        match statement.strip_prefix('[') {
            Some(header) => table = keys(header.trim_matches(['[', ']'])),
            None => pair(statement, &table, &mut found),
        }
    }
    found
}

/// A value that is an inline table is opened, and its pairs come with the keys
/// before them.
fn pair<'a>(statement: &'a str, table: &[String], found: &mut Vec<Leaf<'a>>) {
    let mut sides = parts(statement, '=').into_iter();
    let (Some(key), Some(first)) = (sides.next(), sides.next()) else {
        return;
    };
    let keys: Vec<String> = table.iter().cloned().chain(keys(key)).collect();
    // From the first part to the end: a value may have `=` in it.
    let value = statement[offset(statement, first)..].trim();
    match value
        .strip_prefix('{')
        .and_then(|inside| inside.strip_suffix('}'))
    {
        Some(inside) => parts(inside, ',')
            .into_iter()
            .for_each(|inner| pair(inner, &keys, found)),
        None => found.push(Leaf { keys, value }),
    }
}

/// Where a part begins that was cut out of the whole.
fn offset(whole: &str, part: &str) -> usize {
    part.as_ptr() as usize - whole.as_ptr() as usize
}

/// The keys of `a."b.c".d`, without quotes.
fn keys(dotted: &str) -> Vec<String> {
    parts(dotted, '.')
        .into_iter()
        .map(|key| string(key).unwrap_or_else(|| key.to_owned()))
        .collect()
}

/// What stands in quotes; escapes are not followed, since no name of a package has any.
fn string(value: &str) -> Option<String> {
    let value = value.trim();
    for quote in ['"', '\''] {
        let rest = value.strip_prefix(quote);
        if let Some(inside) = rest.and_then(|rest| rest.strip_suffix(quote)) {
            return Some(inside.to_owned());
        }
    }
    None
}

/// Splits at a separator outside of strings and brackets. Comments and what is empty are left out.
fn parts(text: &str, separator: char) -> Vec<&str> {
    let mut found = vec![];
    let mut depth = 0_i32;
    let mut begins = 0;
    let mut at = 0;
    while let Some(character) = text[at..].chars().next() {
        let mut next = at + character.len_utf8();
        match character {
            _ if character == separator && depth <= 0 => {
                found.push(&text[begins..at]);
                begins = next;
            }
            '#' => {
                next = text[at..]
                    .find('\n')
                    .map_or(text.len(), |length| at + length);
                if depth <= 0 {
                    found.push(&text[begins..at]);
                    begins = next;
                }
            }
            '"' | '\'' => next = behind_string(text, at, character),
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            _ => {}
        }
        at = next;
    }
    found.push(&text[begins..]);
    found
        .into_iter()
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect()
}

fn behind_string(text: &str, begins: usize, quote: char) -> usize {
    // A string of three quotes ends at three, and may have one in it.
    let three = quote.to_string().repeat(3);
    let delimiter = if text[begins..].starts_with(&three) {
        three.as_str()
    } else {
        &three[..1]
    };
    let mut at = begins + delimiter.len();
    while let Some(character) = text[at..].chars().next() {
        if text[at..].starts_with(delimiter) {
            return at + delimiter.len();
        }
        let escaped = character == '\\' && quote == '"';
        at += character.len_utf8();
        if escaped {
            at += text[at..].chars().next().map_or(0, char::len_utf8);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::{read, workspace};

    fn in_folder(test: &str, files: &[(&str, &str)]) -> std::path::PathBuf {
        let folder =
            std::env::temp_dir().join(format!("llmnode-manifest-{}-{test}", std::process::id()));
        for (path, text) in files {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    fn name(test: &str, manifest: &str) -> Option<String> {
        let folder = in_folder(test, &[("Cargo.toml", manifest)]);
        let name = read(&folder);
        std::fs::remove_dir_all(folder).unwrap();
        name
    }

    #[test]
    fn the_ways_to_write_a_dependency() {
        for (index, (manifest, expected)) in [
            ("[dependencies]\nllmnode = \"0.1\"\n", Some("llmnode")),
            ("[dependencies]\nlm = { package = \"llmnode\", version = \"0.1\" } # renamed\n", Some("lm")),
            ("[dependencies]\n'my-llm' = { version = '0.1', features = [\n  'a', # }\n], package = \
              'llmnode' }", Some("my_llm")),
            ("[dependencies.lm]\npath = \"..\"\npackage = \"llmnode\"\n[features]\nb = []", Some("lm")),
            ("[dependencies]\nlm.package = \"llmnode\"\nlm.path = \"..\"\n", Some("lm")),
            ("dependencies = { lm = { package = \"llmnode\" } }", Some("lm")),
            ("[dev-dependencies]\nlm = { package = \"llmnode\" }", Some("lm")),
            ("[target.'cfg(unix)'.dependencies]\nlm = { package = \"llmnode\" }", Some("lm")),
            ("[target.\"cfg(not(any(windows)))\".dependencies.lm]\npackage = \"llmnode\"", Some("lm")),
            ("[dependencies]\nlm = { package = \"llmnode\" }\n[dev-dependencies]\nlm = { package = \
              \"llmnode\" }", Some("lm")),
            ("[dependencies]\nlm = { package = \"llmnode\" }\nother = { package = \"llmnode\" }", None),
            ("[dependencies]\nlm = { package = \"llmnode\" }\nllmnode = \"0.1\"", None),
            ("[dependencies]\nserde = \"1\"\n[patch.crates-io]\nlm = { package = \"llmnode\" }", None),
            ("[package]\nname = \"llmnode\"\ndescription = \"\"\"\n[dependencies]\nlm = { package \
              = \"llmnode\" }\n\"\"\"", None),
            ("# [dependencies]\n# lm = { package = \"llmnode\" }", None),
            ("[dependencies]\nlm = { package = ", None),
            ("= [ } \"", None),
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!(name(&format!("ways-{index}"), manifest).as_deref(), expected, "{manifest}");
        }
    }

    #[test]
    fn a_dependency_of_the_workspace() {
        let above = "[workspace]\nmembers = ['a/*']\n[workspace.dependencies]\nlm = { package = \
                     'llmnode' }\nllmnode = '0.1'";
        let folder = in_folder(
            "workspace",
            &[
                ("Cargo.toml", above),
                ("a/one/Cargo.toml", "[dependencies]\nlm.workspace = true"),
                (
                    "a/two/Cargo.toml",
                    "[dependencies]\nlm = { workspace = true, features = ['x'] }",
                ),
                (
                    "a/three/Cargo.toml",
                    "[dependencies]\nllmnode = { workspace = true }",
                ),
                (
                    "a/four/Cargo.toml",
                    "[dependencies]\nother = { workspace = true }",
                ),
            ],
        );
        let names =
            ["one", "two", "three", "four"].map(|member| read(&folder.join("a").join(member)));
        let missing = read(&folder.join("none"));
        assert_eq!(workspace(&folder.join("a/one"), "").len(), 2);
        std::fs::remove_dir_all(folder).unwrap();
        let [one, two, three, four] = names;
        assert_eq!((one.as_deref(), two.as_deref()), (Some("lm"), Some("lm")));
        assert_eq!(
            (three.as_deref(), four, missing),
            (Some("llmnode"), None, None)
        );
    }
}
