//! Every command that a page prints is one that is there: its program, example, test, feature, flag and file. What takes no key and
//! no other program is run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::pages::{Printed, printed, root};

/// What cargo knows of a package.
struct Package {
    name: String,
    folder: String,
    features: BTreeMap<String, Vec<String>>,
    targets: Vec<Target>,
}

struct Target {
    kind: String,
    name: String,
    needs: Vec<String>,
}

fn texts(value: &Value) -> Vec<String> {
    let texts = value.as_array().into_iter().flatten();
    texts
        .filter_map(|text| text.as_str().map(str::to_owned))
        .collect()
}

/// The packages of the workspace of this manifest.
fn packages(manifest: &Path) -> Vec<Package> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
            "--manifest-path",
        ])
        .arg(manifest)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(package)
        .collect()
}

fn package(package: &Value) -> Package {
    let name = package["name"].as_str().unwrap();
    let features = package["features"].as_object().unwrap();
    let target = |target: &Value| Target {
        kind: texts(&target["kind"]).join(","),
        name: target["name"].as_str().unwrap().to_owned(),
        needs: texts(&target["required-features"]),
    };
    Package {
        name: name.to_owned(),
        folder: Path::new(package["manifest_path"].as_str().unwrap())
            .parent()
            .unwrap()
            .display()
            .to_string(),
        features: features
            .iter()
            .map(|(name, on)| (name.clone(), texts(on)))
            .collect(),
        targets: package["targets"]
            .as_array()
            .unwrap()
            .iter()
            .map(target)
            .collect(),
    }
}

impl Package {
    fn target(&self, kind: &str, name: &str) -> Option<&Target> {
        self.targets
            .iter()
            .find(|target| target.kind == kind && target.name == name)
    }

    /// These and what they switch on.
    fn with_implied(&self, features: &[String]) -> BTreeSet<String> {
        let mut on = BTreeSet::new();
        let mut left: Vec<String> = features.to_vec();
        while let Some(feature) = left.pop() {
            left.extend(
                self.features
                    .get(&feature)
                    .filter(|_| !on.contains(&feature))
                    .into_iter()
                    .flatten()
                    .cloned(),
            );
            on.insert(feature);
        }
        on
    }

    /// Whether a test's name or module, or a part of one, is this.
    fn has_test(&self, part: &str) -> bool {
        let mut sources = String::new();
        for folder in ["src", "tests"] {
            read_all(&Path::new(&self.folder).join(folder), &mut sources);
        }
        let words = sources.split(|c: char| !c.is_alphanumeric() && c != '_');
        let after = ["fn", "mod"];
        words
            .clone()
            .zip(words.skip(1))
            .any(|(before, name)| after.contains(&before) && name.contains(part))
    }
}

fn read_all(folder: &Path, sources: &mut String) {
    for entry in folder.read_dir().into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_all(&path, sources);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            sources.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
}

/// What a command of cargo says.
#[derive(Default)]
struct Cargo {
    subcommand: String,
    manifest: Option<String>,
    packages: Vec<String>,
    /// Kind and name.
    targets: Vec<(&'static str, String)>,
    features: Vec<String>,
    without_default: bool,
    /// `crates/llmnode-testkit` switches on what the tests need.
    is_workspace: bool,
    /// Not for cargo: parts of the names of tests, arguments of a program.
    values: Vec<String>,
}

impl Cargo {
    fn read(words: &[String]) -> Result<Cargo, String> {
        const FLAGS: [&str; 16] = [
            "--add",
            "--all",
            "--all-features",
            "--all-targets",
            "--check",
            "--examples",
            "--ignore-rust-version",
            "--lib",
            "--locked",
            "--offline",
            "--open",
            "--quiet",
            "--release",
            "--tests",
            "--undo",
            "--version",
        ];
        let mut cargo = Cargo {
            subcommand: words[1].clone(),
            ..Cargo::default()
        };
        let mut words = words[2..].iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().cloned().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--example" => cargo.targets.push(("example", value()?)),
                "--bin" => cargo.targets.push(("bin", value()?)),
                "--test" => cargo.targets.push(("test", value()?)),
                "--features" => cargo
                    .features
                    .extend(value()?.split(',').map(str::to_owned)),
                "--manifest-path" => cargo.manifest = Some(value()?),
                "--path" => cargo.manifest = Some(format!("{}/Cargo.toml", value()?)),
                "--package" | "-p" | "--exclude" => cargo.packages.push(value()?),
                "--" => {
                    cargo.values.extend(words.cloned());
                    break;
                }
                "--no-default-features" => cargo.without_default = true,
                "--workspace" => cargo.is_workspace = true,
                flag if flag.starts_with('-') && FLAGS.contains(&flag) => {}
                flag if flag.starts_with('-') => return Err(format!("{flag} is no flag of cargo")),
                other => cargo.values.push(other.to_owned()),
            }
        }
        Ok(cargo)
    }

    /// What is wrong with it, beside the folder of its page.
    fn check(&self, folder: &Path) -> Result<(), String> {
        const SUBCOMMANDS: [&str; 14] = [
            "add", "build", "check", "clippy", "deny", "doc", "expand", "fmt", "install", "login",
            "owner", "run", "test", "yank",
        ];
        if !SUBCOMMANDS.contains(&self.subcommand.as_str()) {
            return Err(format!(
                "`cargo {}` is none that the pages use",
                self.subcommand
            ));
        }
        if ["add", "deny", "login", "owner", "yank"].contains(&self.subcommand.as_str()) {
            return Ok(());
        }
        let manifest = match &self.manifest {
            Some(manifest) => root().join(manifest),
            None => folder.join("Cargo.toml"),
        };
        if !manifest.is_file() {
            return Err(format!("{} is not there", manifest.display()));
        }
        let all = packages(&manifest);
        let own = manifest.parent().unwrap().display().to_string();
        let one = match self.packages.first() {
            Some(name) => all.iter().find(|package| package.name == *name),
            None => all.iter().find(|package| package.folder == own),
        };
        if self.subcommand == "install" && self.manifest.is_none() {
            let name = self.values.first().ok_or("install what?")?;
            return packages(&root().join("Cargo.toml"))
                .iter()
                .find(|package| {
                    package.name == *name
                        && package.targets.iter().any(|target| target.kind == "bin")
                })
                .map_or(Err(format!("no package {name} has a program")), |_| Ok(()));
        }
        let package = one.ok_or(format!("there is no package {:?}", self.packages))?;
        self.check_features(package)?;
        self.check_targets(package)?;
        self.check_values(package)
    }

    fn check_features(&self, package: &Package) -> Result<(), String> {
        match self
            .features
            .iter()
            .find(|feature| !package.features.contains_key(*feature))
        {
            Some(feature) => Err(format!("{} has no feature {feature}", package.name)),
            None => Ok(()),
        }
    }

    fn check_targets(&self, package: &Package) -> Result<(), String> {
        let mut given = self.features.clone();
        given.extend((!self.without_default).then(|| "default".to_owned()));
        let on = package.with_implied(&given);
        for (kind, name) in &self.targets {
            let target = package
                .target(kind, name)
                .ok_or(format!("there is no {kind} {name}"))?;
            let missing: Vec<_> = target
                .needs
                .iter()
                .filter(|feature| !on.contains(*feature))
                .collect();
            if !missing.is_empty() && !self.is_workspace {
                return Err(format!(
                    "the {kind} {name} needs the features {missing:?}, too"
                ));
            }
        }
        Ok(())
    }

    /// A part of a test's name that no test has runs nothing, and says that all is well.
    fn check_values(&self, package: &Package) -> Result<(), String> {
        let parts = self
            .values
            .iter()
            .filter(|_| self.subcommand == "test")
            .filter(|part| !part.starts_with("--"));
        match parts.into_iter().find(|part| !package.has_test(part)) {
            Some(part) => Err(format!("no test of {} is called {part}", package.name)),
            None => Ok(()),
        }
    }
}

/// Whether every word of a script's arguments that is no number, no file and no place for one stands in its text.
fn check_script(printed: &Printed) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    let path = root().join(&printed.words[0]);
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    if std::fs::metadata(&path).unwrap().permissions().mode() & 0o111 == 0 {
        return Err("it cannot be executed".to_owned());
    }
    knows(&text, &printed.words[1..])
}

/// Of the program that runs graphs: its commands and options stand in its usage.
fn check_graph_command(printed: &Printed) -> Result<(), String> {
    let usage = include_str!("../../beyond/llmnode-cli/src/args.rs");
    let commands = ["check", "help", "--help", "page", "run", "schema", "serve"];
    let command = printed.words[1].as_str();
    if !commands.contains(&command) {
        return Err(format!("it has no command {command}"));
    }
    let options: Vec<String> = printed.words[2..]
        .iter()
        .filter(|word| word.starts_with("--"))
        .cloned()
        .collect();
    knows(usage, &options)
}

fn knows(text: &str, arguments: &[String]) -> Result<(), String> {
    let names_it = |word: &&String| word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    match arguments
        .iter()
        .filter(names_it)
        .find(|word| !text.contains(word.trim_start_matches('-')))
    {
        Some(word) => Err(format!("it takes no {word}")),
        None => Ok(()),
    }
}

/// Where a page's commands are typed: what is a workspace of its own has its own folder, all else the root.
fn folder(page: &str) -> PathBuf {
    let own = ["engines/llmnode-restate", "engines/postgres"];
    match own.iter().find(|folder| page.starts_with(*folder)) {
        Some(folder) => root().join(folder),
        // It says so.
        None if page == "docs/many-machines.md" => root().join("engines/llmnode-restate"),
        None => root().to_owned(),
    }
}

fn fault(printed: &Printed) -> Option<String> {
    let checked = match printed.words[0].as_str() {
        "cargo" => {
            Cargo::read(&printed.words).and_then(|cargo| cargo.check(&folder(&printed.page)))
        }
        "llmnode-graph" => check_graph_command(printed),
        _ => check_script(printed),
    };
    checked
        .err()
        .map(|why| format!("{}: `{}`: {why}", printed.page, printed.line()))
}

#[test]
fn every_command_on_a_page_is_one_that_is_there() {
    let printed = printed();
    assert!(printed.len() > 100, "{}", printed.len());
    let faults: Vec<_> = printed.iter().filter_map(fault).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_command_that_is_not_there_is_found() {
    let command = |line: &str| Printed {
        page: "README.md".to_owned(),
        environment: Vec::new(),
        words: line.split(' ').map(str::to_owned).collect(),
    };
    for (line, why) in [
        (
            "cargo run --example quickstop",
            "there is no example quickstop",
        ),
        (
            "cargo run --example graph",
            "the example graph needs the features [\"graph\"], too",
        ),
        (
            "cargo run --example text --features texts",
            "llmnode has no feature texts",
        ),
        (
            "cargo run --example text --realease",
            "--realease is no flag of cargo",
        ),
        (
            "cargo test --test readme no_such_thing",
            "no test of llmnode is called no_such_thing",
        ),
        (
            "cargo test -p llmnode-nothing",
            "there is no package [\"llmnode-nothing\"]",
        ),
        (
            "cargo runs --example text",
            "`cargo runs` is none that the pages use",
        ),
        (
            "cargo test --manifest-path no/Cargo.toml",
            "no/Cargo.toml is not there",
        ),
        ("scripts/no-such", "No such file"),
        ("scripts/fuzz readers 3", "it takes no readers"),
        ("llmnode-graph draw x.json", "it has no command draw"),
        ("llmnode-graph run x.json --pages", "it takes no --pages"),
    ] {
        let fault = fault(&command(line)).expect(line);
        assert!(fault.contains(why), "{fault}");
    }
    for line in [
        "cargo run --example cases -- x",
        "cargo test --test readme the_compile_error",
    ] {
        assert_eq!(fault(&command(line)), None);
    }
}

/// The examples that the pages run without a key, as they print it. They write to the temporary folder, and nothing to where they
/// are started.
#[test]
fn the_examples_run_as_the_pages_print_them() {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("printed-{}", std::process::id()));
    for part in ["started", "temporary"] {
        std::fs::create_dir_all(folder.join(part)).unwrap();
    }
    let mut ran = BTreeSet::new();
    for printed in printed()
        .iter()
        .filter(|printed| !printed.has_blank() && printed.words[0] == "cargo")
    {
        let Some((name, values)) = example_of_the_crate(printed) else {
            continue;
        };
        // The files of a folder are those of a server from npm.
        let needs_more = name == "agent_mcp" && !values.is_empty();
        let arguments: Vec<String> = values.iter().map(|value| placed(value)).collect();
        if !needs_more && ran.insert((name.clone(), arguments.clone())) {
            run_in(&folder, &name, &arguments, &printed.page);
        }
    }
    assert!(ran.len() >= 25, "{ran:?}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The example that a command runs, and what it is given.
fn example_of_the_crate(printed: &Printed) -> Option<(String, Vec<String>)> {
    let cargo = Cargo::read(&printed.words).unwrap();
    if cargo.manifest.is_some() || folder(&printed.page) != root() {
        return None;
    }
    let (_, name) = cargo.targets.iter().find(|(kind, _)| *kind == "example")?;
    Some((name.clone(), cargo.values.clone()))
}

/// A file of the checkout, from the folder of the test.
fn placed(argument: &str) -> String {
    let file = root().join(argument);
    if file.exists() {
        file.display().to_string()
    } else {
        argument.to_owned()
    }
}

/// With what somebody types who is asked.
fn run_in(folder: &Path, name: &str, arguments: &[String], page: &str) {
    use std::io::Write;
    let started = folder.join("started");
    let mut child = crate::example(name)
        .args(arguments)
        .current_dir(&started)
        .env("TMPDIR", folder.join("temporary"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One that reads nothing may have ended.
    let _ = child.stdin.take().unwrap().write_all(b"y\ny\n");
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{page}: {name} {arguments:?}: {}",
        crate::text(&output)
    );
    for entry in started.read_dir().unwrap() {
        let entry = entry.unwrap();
        let file = entry.file_name();
        let is_asked_for = arguments.iter().any(|argument| *file == **argument);
        assert!(is_asked_for, "{name} {arguments:?} leaves {file:?} behind");
        std::fs::remove_file(entry.path()).unwrap();
    }
}

#[test]
fn an_argument_that_an_example_does_not_take_is_an_error_that_says_which_it_takes() {
    let examples = packages(&root().join("Cargo.toml"))
        .into_iter()
        .find(|package| package.name == "llmnode")
        .unwrap();
    let examples = examples
        .targets
        .into_iter()
        .filter(|target| target.kind == "example");
    let mut count = 0;
    for example in examples {
        let output = crate::run(&example.name, &["--no-such", "argument"], &[]);
        let said = crate::text(&output);
        assert_eq!(output.status.code(), Some(1), "{}: {said}", example.name);
        let begin = "\"--no-such\" is no argument of this example; it takes ";
        assert!(
            said.starts_with(begin) && said.lines().count() == 1,
            "{}: {said}",
            example.name
        );
        count += 1;
    }
    assert!(count >= 20, "{count}");
    let said = crate::text(&crate::run("text", &["one", "two"], &[]));
    assert_eq!(
        said,
        "\"two\" is no argument of this example; it takes [SUBJECT]\n"
    );
    assert_eq!(
        crate::text(&crate::run("cases", &[], &[])),
        "FILE is missing; it takes FILE\n"
    );
    let said = crate::text(&crate::run("flow_vote", &["--page"], &[]));
    assert_eq!(said, "--page needs a value; it takes [--page FILE]\n");
    let said = crate::text(&crate::run("optimise", &["refelct"], &[]));
    assert_eq!(
        said,
        "\"refelct\" is no argument of this example; it takes [reflect]\n"
    );
}
