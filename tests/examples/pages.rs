//! The commands that the pages of the repository print.
//!
//! Every Markdown page, and the head of every source file that says how it is run, is read for what stands in fences that are no
//! program of Rust and in spans of code. What begins as a command of this repository does is one; the rest of a line, such as a
//! comment or the place of a key, is not.

use std::path::{Path, PathBuf};

/// A command, and the page that prints it.
#[derive(Debug)]
pub(crate) struct Printed {
    /// From the root.
    pub(crate) page: String,
    /// `NAME=value` before the command.
    pub(crate) environment: Vec<String>,
    pub(crate) words: Vec<String>,
}

impl Printed {
    /// As a reader types it.
    pub(crate) fn line(&self) -> String {
        self.words.join(" ")
    }

    /// Whether a reader puts something of their own in, such as a key.
    pub(crate) fn has_blank(&self) -> bool {
        let blank = |word: &String| word.contains('…') || word.contains("..");
        self.environment.iter().any(blank) || self.words.iter().any(blank)
    }
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All of them, each as often as it is printed.
pub(crate) fn printed() -> Vec<Printed> {
    let mut files = Vec::new();
    gather(root(), &mut files);
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let page = file
            .strip_prefix(root())
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let text = std::fs::read_to_string(&file).unwrap();
        let text = if page.ends_with(".rs") {
            head(&text)
        } else {
            text
        };
        for code in codes(&text) {
            found.extend(command(&code).map(|(environment, words)| Printed {
                page: page.clone(),
                environment,
                words,
            }));
        }
    }
    found
}

/// Pages and sources below a folder. What changed when is no page, and a case of the macros' is not run by itself.
fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    const NOT_READ: [&str; 6] = [
        "target",
        "node_modules",
        ".git",
        "CHANGELOG.md",
        "ui",
        "snapshots",
    ];
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if NOT_READ.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            gather(&path, files);
        } else if [".md", ".rs"].iter().any(|kind| name.ends_with(kind)) || name == "llms.txt" {
            files.push(path);
        }
    }
}

/// The comment at the head of a source file.
fn head(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    lines
        .map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)))
        .collect()
}

/// The lines of fences and the spans of code, each without its marks. A line that ends in `\` goes on.
fn codes(page: &str) -> Vec<String> {
    let mut codes = Vec::new();
    for (index, part) in page.split("```").enumerate() {
        if index % 2 == 0 {
            let spans = part.split('`').skip(1).step_by(2);
            codes.extend(spans.map(|span| span.replace('\n', " ")));
            continue;
        }
        let (kind, text) = part.split_once('\n').unwrap_or((part, ""));
        if !kind.starts_with("rust") {
            let lines = text.replace("\\\n", "\\");
            codes.extend(lines.lines().map(|line| {
                line.split('\\')
                    .map(str::trim)
                    .collect::<Vec<_>>()
                    .join(" ")
            }));
        }
    }
    codes
}

/// The environment and the words of a command of this repository.
fn command(code: &str) -> Option<(Vec<String>, Vec<String>)> {
    let code = code.trim().trim_start_matches("$ ");
    // What stands behind three blanks explains the command.
    let code = code
        .split("   ")
        .next()?
        .split(" # ")
        .next()?
        .split("  #")
        .next()?;
    let mut words = words(code.trim_end_matches('&').trim());
    let is_setting = |word: &String| {
        word.split_once('=')
            .is_some_and(|(name, _)| is_variable(name))
    };
    let settings = words.iter().take_while(|word| is_setting(word)).count();
    let environment = words.drain(..settings).collect();
    let ours = |program: &str| {
        program == "cargo"
            || program == "llmnode-graph"
            || program.starts_with("scripts/")
            || (program.starts_with("benches/") && program.ends_with("/run"))
    };
    // A path alone may be named for what is in it.
    let is_named = |program: &str| root().join(program).is_dir() || program.contains('*');
    let program = words.first()?;
    (ours(program) && !is_named(program) && (words.len() > 1 || program.contains('/')))
        .then_some((environment, words))
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// The words of a line of a shell: quotation marks hold one together.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match quote {
            Some(end) if c == end => quote = None,
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c == ' ' => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[test]
fn commands_are_read_out_of_fences_spans_and_heads() {
    let page = "Run `cargo\ntest` or `Run`, as in\n\n```sh\n$ A=… cargo run -- \"x y\"   # why\n\
                benches/run \\\n  lint &\ncurl x\n```\n\n```rust\ncargo!();\n```\n";
    let found: Vec<_> = codes(page)
        .iter()
        .filter_map(|code| command(code))
        .collect();
    let expected = [
        (vec![], vec!["cargo", "test"]),
        (vec!["A=…"], vec!["cargo", "run", "--", "x y"]),
        (vec![], vec!["benches/run", "lint"]),
    ];
    let expected = expected.map(|(environment, words): (Vec<&str>, Vec<&str>)| {
        (
            environment.into_iter().map(str::to_owned).collect(),
            words.into_iter().map(str::to_owned).collect(),
        )
    });
    assert_eq!(found, expected);
    assert_eq!(
        head("//! `cargo test`\n//!\n//! x\nmod a;\n//! not\n"),
        "`cargo test`\n\nx\n"
    );
}
