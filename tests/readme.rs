//! The README's claims that no other test covers. Its Rust snippets are doctests of the crate.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "tests")]

const README: &str = include_str!("../README.md");

/// The README shows the beginning of the error, as it would be for its own program.
#[test]
fn the_compile_error_is_what_rustc_prints() {
    let printed = include_str!("../llmnode-macros/tests/ui/readme/misspelt_in_sort.stderr");
    let case = include_str!("../llmnode-macros/tests/ui/readme/misspelt_in_sort.rs");
    let place = |text: &str| {
        text.lines()
            .position(|line| line.starts_with("    prompt "))
            .unwrap()
            + 1
    };
    let (_, program) = README.split_once("```rust\n").unwrap();
    let (there, here) = (place(case), place(program));
    let (_, error) = README
        .split_once("A misspelt variable does not compile")
        .unwrap();
    let (_, error) = error.split_once("```text\n").unwrap();
    let (error, _) = error.split_once("```").unwrap();
    let printed = printed
        .replace(
            &format!("tests/ui/readme/misspelt_in_sort.rs:{there}:"),
            &format!("src/main.rs:{here}:"),
        )
        .replace(&format!("\n{there} "), &format!("\n{here} "));
    assert!(printed.starts_with(error), "{printed}");
    // The case is the README's node, misspelt.
    let node = |text: &str| {
        let (_, node) = text.split_once("#[llm_node(\n").unwrap();
        node.split_once(")]")
            .unwrap()
            .0
            .lines()
            .map(|line| line.split(" // ").next().unwrap().trim_end().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        node(&case.replace("{leter:fence}", "{letter:fence}")),
        node(README)
    );
}

/// The rows of the table below a heading of the page on categories, each as its cells.
fn table(heading: &str) -> Vec<Vec<String>> {
    let (_, section) = include_str!("../docs/categories.md")
        .split_once(heading)
        .unwrap();
    let rows = section
        .lines()
        .skip_while(|line| !line.starts_with("|---"))
        .skip(1);
    rows.take_while(|line| line.starts_with('|'))
        .map(|line| {
            line.trim_matches('|')
                .split('|')
                .map(|cell| cell.trim().to_owned())
                .collect()
        })
        .collect()
}

#[test]
fn the_table_of_categories_is_the_codes() {
    use llmnode::{Category, Group};
    let named = |group: &str| {
        let row = table("# Categories of errors")
            .into_iter()
            .find(|row| row[0] == group)
            .unwrap();
        row[1]
            .split('`')
            .filter(|word| !word.trim().is_empty())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    for (name, group) in [
        ("answer", Group::Answer),
        ("transport", Group::Transport),
        ("final", Group::Final),
        ("node", Group::Node),
        ("stop", Group::Stop),
    ] {
        let in_code: Vec<_> = Category::ALL
            .iter()
            .filter(|one| one.group() == group)
            .map(|category| category.as_str())
            .collect();
        assert_eq!(named(name), in_code, "{name}");
    }
    let described: Vec<_> = table("## What to do")
        .into_iter()
        .map(|row| row[0].trim_matches('`').to_owned())
        .collect();
    let all: Vec<_> = Category::ALL
        .iter()
        .map(|category| category.as_str())
        .collect();
    assert_eq!(described, all);
}

/// On another platform the tree for Linux is not downloaded.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn the_numbers_of_crates_are_those_of_cargo_tree() {
    let claimed = "With the default feature `openai`, 78 crates are built, hyper and rustls among them; without it, 41.";
    assert!(README.contains(claimed));
    assert_eq!((crates(&[]), crates(&["--no-default-features"])), (78, 41));
}

/// The README stays short: lines of text are wrapped, so that the number of lines says something. Code that is wider than
/// this is cut at the right edge of the registry's page.
#[test]
fn the_readme_is_read_in_a_minute_and_its_code_fits_on_a_page() {
    assert!(README.lines().count() <= 150, "{}", README.lines().count());
    let mut in_code = false;
    let mut words = 0;
    for line in README.lines() {
        in_code ^= line.starts_with("```");
        let most = if in_code { 88 } else { 130 };
        assert!(line.chars().count() <= most, "{line}");
        if !in_code && !line.starts_with('[') {
            words += line.split_whitespace().count();
        }
    }
    assert!(words <= 350, "{words}");
}

/// What coding agents read is short, begins with its frontmatter, and names cases that are there.
#[test]
fn the_skill_is_short_and_its_mistakes_are_cases() {
    let skill = include_str!("../skills/llmnode/SKILL.md");
    let lines = skill.lines().count() + include_str!("../llms.txt").lines().count();
    assert!(lines <= 500, "{lines}");
    assert!(skill.starts_with("---\nname: llmnode\ndescription: "));
    let (_, mistakes) = skill.split_once("## Mistakes").unwrap();
    let cases: Vec<_> = mistakes
        .lines()
        .filter(|line| line.ends_with("` |"))
        .collect();
    assert!(cases.len() >= 10);
    for line in cases {
        let case = line.trim_end_matches("` |").rsplit('`').next().unwrap();
        let path = format!(
            "{}/llmnode-macros/tests/ui/{case}.stderr",
            env!("CARGO_MANIFEST_DIR")
        );
        assert!(std::path::Path::new(&path).exists(), "{path}");
    }
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for link in include_str!("../llms.txt").split("](").skip(1) {
        let path = link.split(')').next().unwrap();
        assert!(root.join(path).exists(), "{path}");
    }
}

fn pages() -> impl Iterator<Item = std::path::PathBuf> {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let files = docs.read_dir().unwrap().map(|entry| entry.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|kind| kind == "md"))
}

/// The table of features in the crate's documentation has all of them.
#[test]
fn the_table_of_features_is_the_manifests() {
    let (_, listed) = include_str!("../Cargo.toml")
        .split_once("\n[features]\n")
        .unwrap();
    let (listed, _) = listed.split_once("\n\n").unwrap();
    let names = listed
        .lines()
        .filter_map(|line| line.split_once(" = ").map(|(name, _)| name));
    let (_, table) = include_str!("../src/lib.rs")
        .split_once("//! # Features")
        .unwrap();
    let rows: String = table
        .lines()
        .take_while(|line| line.starts_with("//!") || line.is_empty())
        .collect();
    let missing: Vec<_> = names
        .filter(|name| *name != "default" && !rows.contains(&format!("`{name}`")))
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}

/// The macro's documentation lists each argument, with its default and an example.
#[test]
fn the_documentation_of_a_node_lists_every_argument() {
    let (_, keys) = include_str!("../src/__private/keys.rs")
        .split_once("    llm_node {")
        .unwrap();
    let (keys, _) = keys.split_once("    }").unwrap();
    let names: Vec<_> = keys
        .lines()
        .filter_map(|line| line.rsplit_once("\" ").map(|(_, name)| name))
        .collect();
    assert!(names.len() >= 30, "{names:?}");
    let docs = include_str!("../src/lib.rs");
    let rows: Vec<_> = docs
        .lines()
        .filter(|line| line.starts_with("/// | `"))
        .collect();
    let documented = |name: &str| {
        let forms = [
            format!("`{name} ="),
            format!("`{name}("),
            format!("`{name}`"),
        ];
        rows.iter().any(|row| {
            forms
                .iter()
                .any(|form| row.split(" | ").take(2).any(|cell| cell.contains(form)))
        })
    };
    let missing: Vec<_> = names.into_iter().filter(|name| !documented(name)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn what_the_readme_says_to_run_is_what_ci_runs() {
    let (_, commands) = README.split_once("```sh\n").unwrap();
    let (commands, _) = commands.split_once("```").unwrap();
    let ci = include_str!("../.ci/run").replace(" --quiet", "");
    for command in commands
        .lines()
        .map(|line| line.split("  #").next().unwrap().trim())
    {
        assert!(ci.contains(&format!(" {command}\n")), "{command}");
    }
    assert!(README.contains("llmnode needs Rust 1.89."));
    assert!(include_str!("../Cargo.toml").contains("rust-version = \"1.89\""));
}

/// What `.ci/run` does in one go, the jobs do part by part.
#[test]
fn each_part_of_ci_has_a_job() {
    let (_, parts) = include_str!("../.ci/run")
        .split_once("\n    all | ")
        .unwrap();
    let (parts, _) = parts.split_once(") ;;").unwrap();
    let (_, jobs) = include_str!("../.github/workflows/ci.yml")
        .split_once("part: [")
        .unwrap();
    let (jobs, _) = jobs.split_once(']').unwrap();
    assert_eq!(jobs.replace(", ", " | "), parts);
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn crates(arguments: &[&str]) -> usize {
    let output = std::process::Command::new(env!("CARGO"))
        .args([
            "tree",
            "--package",
            "llmnode",
            "--edges",
            "normal,build",
            "--prefix",
            "none",
            "--offline",
            "--locked",
        ])
        .args(["--target", "x86_64-unknown-linux-gnu"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let tree = String::from_utf8(output.stdout).unwrap();
    let crates = tree
        .lines()
        .map(|line| line.split(' ').take(2).collect::<Vec<_>>());
    crates.collect::<std::collections::BTreeSet<_>>().len()
}

#[test]
fn the_wiring_of_opentelemetry_is_the_examples() {
    let (_, page) = include_str!("../docs/observability.md")
        .split_once("```text\n")
        .unwrap();
    let example = include_str!("../examples/apps/src/bin/opentelemetry/telemetry.rs");
    for line in page.lines().take_while(|line| *line != "```") {
        assert!(example.contains(line), "{line}");
    }
}

#[test]
fn the_line_that_logs_to_the_terminal_is_the_examples() {
    let page = include_str!("../docs/observability.md");
    let line = "tracing_subscriber::fmt::init();";
    assert!(page.contains(&format!("`{line}`")));
    assert!(include_str!("../examples/apps/src/bin/service/main.rs").contains(line));
}

/// The names of the spans' fields, in the code and on the page about them.
#[test]
fn the_page_names_every_field_of_the_spans() {
    let names = include_str!("../llmnode-runtime/src/ledger/spans/names.rs");
    let page = include_str!("../docs/observability.md");
    let names: Vec<_> = names
        .lines()
        .filter_map(|line| line.strip_suffix("\";")?.split('"').nth(1))
        .collect();
    assert!(names.len() >= 30, "{names:?}");
    for name in names.iter().filter(|name| !name.starts_with("otel.")) {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}

/// The page for those who come from PocketFlow names the tests that pin its behaviours.
#[test]
fn the_tests_that_the_page_on_pocketflow_names_are_there() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let tests: String = ["tests/calls", "crates/llmnode-flow/tests/flow"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap())
        .filter_map(|entry| std::fs::read_to_string(entry.unwrap().path()).ok())
        .collect();
    let page = include_str!("../docs/pocketflow.md");
    let behaviours: Vec<_> = page
        .lines()
        .filter(|line| line.starts_with("| P"))
        .filter(|line| !line.starts_with("| PocketFlow"))
        .collect();
    assert_eq!(behaviours.len(), 13);
    for line in behaviours {
        let names = line
            .rsplit(" | ")
            .next()
            .unwrap()
            .split('`')
            .skip(1)
            .step_by(2);
        let named: Vec<_> = names.filter(|name| !name.contains('/')).collect();
        assert!(!named.is_empty(), "{line}");
        for name in named {
            assert!(
                tests.contains(&format!("fn {name}(")),
                "no test is called {name}"
            );
        }
    }
}

/// Where a page's links to others lead. Each is defined at its end, by its own name, which has another place in rustdoc.
fn links(page: &str) -> impl Iterator<Item = &str> {
    let definitions = page
        .lines()
        .filter_map(|line| line.strip_prefix('[')?.split_once("]: "));
    definitions
        .filter(|(name, to)| name == to)
        .map(|(_, to)| to)
}

/// Pages that are in the repository alone.
const MAINTAINERS: [&str; 6] = [
    "decisions",
    "how-to-add",
    "performance",
    "probes",
    "releasing",
    "verification",
];

fn is_for_maintainers(page: &std::path::Path) -> bool {
    page.file_stem()
        .is_some_and(|name| MAINTAINERS.iter().any(|one| name == *one))
}

/// Who reads a page wants one thing of it. Code and tables apart.
#[test]
fn no_page_has_more_than_1500_words_of_prose() {
    for page in pages().filter(|page| !is_for_maintainers(page)) {
        let mut in_code = false;
        let mut words = 0;
        for line in std::fs::read_to_string(&page).unwrap().lines() {
            in_code ^= line.starts_with("```");
            let is_definition = line.starts_with('[') && line.contains("]: ");
            if !in_code && !is_definition && !line.starts_with('|') && !line.starts_with("```") {
                words += line.split_whitespace().count();
            }
        }
        assert!(words <= 1_500, "{}: {words} words", page.display());
    }
}

#[test]
fn links_between_pages_lead_somewhere_in_the_repository_and_in_rustdoc() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &std::path::Path| std::fs::read_to_string(path).unwrap();
    let crate_docs = read(&root.join("src/lib.rs"));
    // The formatter breaks the longer lines of it.
    let guide = read(&root.join("src/guide.rs"));
    let guide = guide.split_whitespace().collect::<Vec<_>>().join(" ");
    let guide = guide.replace("page!( ", "page!(");
    let guide_links = read(&root.join("src/guide_links.md"));
    let (mut names, mut found) = (Vec::new(), 0);
    for (page, folder, rustdoc) in pages()
        .map(|page| (page, root.join("docs"), &guide_links))
        .chain([(root.join("README.md"), root.to_owned(), &crate_docs)])
    {
        let text = read(&page);
        for to in links(&text) {
            let (file, anchor) = to.split_once('#').unwrap_or((to, ""));
            let there = read(&folder.join(file));
            let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
            let slug = |line: &str| {
                line.trim_start_matches(['#', ' '])
                    .to_lowercase()
                    .chars()
                    .filter(kept)
                    .collect::<String>()
            };
            let has_anchor = there
                .lines()
                .any(|line| line.starts_with('#') && slug(line).replace(' ', "-") == anchor);
            assert!(anchor.is_empty() || has_anchor, "{}: {to}", page.display());
            if is_for_maintainers(&page) {
                continue;
            }
            let own = rustdoc
                .lines()
                .any(|line| line.contains(&format!("[{to}]: ")));
            assert!(own, "{}: rustdoc has no place for {to}", page.display());
            found += 1;
        }
        let inline = text
            .split("](")
            .skip(1)
            .filter_map(|link| link.split(')').next());
        let is_page = |link: &&str| link.ends_with(".md") || link.contains(".md#");
        assert_eq!(
            inline.filter(is_page).collect::<Vec<_>>(),
            Vec::<&str>::new(),
            "{}",
            page.display()
        );
        names.extend(
            page.file_stem()
                .map(|name| name.to_string_lossy().into_owned()),
        );
    }
    assert!(found > 20, "{found}");
    names.retain(|name| name != "README" && !MAINTAINERS.contains(&name.as_str()));
    let missing = names
        .iter()
        .filter(|name| !guide.contains(&format!("page!({}, ", name.replace('-', "_"))));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&String>::new());
}

/// Every path that the maintainers' pages name: from the root, or of the runtime's sources.
#[test]
fn the_maintainers_pages_name_files_that_exist() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for (page, longest) in [
        ("ARCHITECTURE.md", 150),
        ("CONTRIBUTING.md", 80),
        ("docs/how-to-add.md", 60),
    ] {
        let text = std::fs::read_to_string(root.join(page)).unwrap();
        assert!(
            text.lines().count() <= longest,
            "{page} is longer than {longest} lines"
        );
        let spans = text
            .split('`')
            .skip(1)
            .step_by(2)
            .filter_map(|code| code.split_whitespace().next());
        let paths: Vec<_> = spans
            .filter(|word| word.contains('/') || word.ends_with(".rs"))
            .collect();
        assert!(paths.len() > 10, "{page}: {paths:?}");
        for path in paths {
            let found = [root.join(path), root.join("llmnode-runtime/src").join(path)];
            assert!(
                found.iter().any(|file| file.exists()),
                "{page} names `{path}`, which does not exist"
            );
        }
    }
}

/// The page says what is better elsewhere before it says anything else, and has a program of each library for each task.
#[test]
fn the_comparison_begins_with_what_is_better_elsewhere_and_has_a_program_for_each_task() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = include_str!("../docs/comparison.md");
    let heading = page.lines().find(|line| line.starts_with("## "));
    assert_eq!(heading, Some("## Where another is better"));
    let tasks = [
        ("extract", "extraction in a service"),
        ("rows", "2,000 rows under a rate limit"),
        ("chat", "a chat in a database"),
        ("approval", "an agent with an approval over a deployment"),
        ("gate", "a gate of an evaluation"),
        ("providers", "one agent on three providers"),
    ];
    let shown = page
        .lines()
        .filter(|line| line.ends_with("| llmnode | rig | genai | pydantic-ai |"));
    assert_eq!(shown.count(), tasks.len());
    for (task, title) in tasks {
        assert!(page.contains(&format!("| {title} | llmnode |")), "{title}");
        let programs = [
            format!("by_llmnode/{task}.rs"),
            format!("peers/src/by_rig/{task}.rs"),
            format!("peers/src/by_genai/{task}.rs"),
            format!("by_pydantic_ai/{task}.py"),
        ];
        for program in programs {
            let path = root.join("benches/comparison").join(&program);
            assert!(path.exists(), "{program}");
        }
    }
}

/// The models that docs and examples name, with the day on which each was last looked up. One that its provider has announced to
/// shut down goes from the pages first, and then from here.
const MODELS: [(&str, &str); 6] = [
    ("claude-sonnet-5-5", "2026-11-27"),
    ("gemini-3.8-flash", "2026-11-27"),
    ("gpt-5.6-luna", "2026-11-27"),
    ("gpt-6-luna", "2026-11-27"),
    ("gpt-oss-120b", "2026-11-30"),
    ("text-embedding-3-small", "2026-11-27"),
];

/// How names of models begin. `gpt-x` and the like are no models.
const FAMILIES: [&str; 8] = [
    "claude-",
    "deepseek-",
    "gemini-",
    "gpt-",
    "grok-",
    "llama-",
    "mistral-",
    "text-embedding-",
];

fn files_below(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if !path.is_dir() {
            files.push(path);
        } else if !path.ends_with("target") {
            files.extend(files_below(&path));
        }
    }
    files
}

/// Programs and graphs that people read and copy. Data of tests names models as its sources did.
fn is_shown(example: &std::path::Path) -> bool {
    let is_program = example.extension().is_some_and(|kind| kind == "rs");
    let is_graph = example
        .parent()
        .is_some_and(|folder| folder.ends_with("graphs"));
    is_program || is_graph
}

#[test]
fn the_models_that_docs_and_examples_name_are_those_of_the_list() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let examples = files_below(&root.join("examples"));
    let files = pages()
        .filter(|page| !is_for_maintainers(page))
        .chain(examples.into_iter().filter(|file| is_shown(file)));
    let packages = ["crates", "beyond", "engines"]
        .map(|folder| root.join(folder).read_dir().unwrap())
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path().join("README.md"));
    let files = files.chain(packages.filter(|file| file.is_file()));
    let files = files
        .chain(["README.md", "skills/llmnode/SKILL.md", "llms.txt"].map(|file| root.join(file)));
    let mut named = std::collections::BTreeSet::new();
    for file in files {
        let text = std::fs::read_to_string(file).unwrap();
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '.'));
        let models = words.map(|word| word.trim_end_matches('.')).filter(|word| {
            let family = FAMILIES.iter().find_map(|family| word.strip_prefix(family));
            family.is_some_and(|version| version.contains(|c: char| c.is_ascii_digit()))
        });
        named.extend(models.map(str::to_owned));
    }
    assert_eq!(
        named.into_iter().collect::<Vec<_>>(),
        MODELS.map(|(name, _)| name.to_owned())
    );
}
