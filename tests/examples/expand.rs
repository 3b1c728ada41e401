//! `LLMNODE_EXPAND` prints expansions while a program is built, and a changed value rebuilds it.

use std::process::{Command, Output};

/// Builds the example of `tests/renamed`, which nothing runs. As a part of the workspace it takes the crates that are built for its
/// tests.
fn build(expand: Option<&str>) -> Output {
    let target = std::env::current_exe()
        .unwrap()
        .ancestors()
        .nth(3)
        .unwrap()
        .to_owned();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([
        "build",
        "--quiet",
        "--offline",
        "--workspace",
        "--example",
        "expanded",
        "--target-dir",
    ]);
    cargo.arg(target).current_dir(env!("CARGO_MANIFEST_DIR"));
    // Cargo's variables for tests would make build scripts that read them run again.
    let of_package = |name: &str| {
        ["CARGO_MANIFEST_", "CARGO_PKG_"]
            .iter()
            .any(|set| name.starts_with(set))
    };
    for (name, _) in std::env::vars().filter(|(name, _)| of_package(name)) {
        cargo.env_remove(name);
    }
    cargo
        .env_remove("LLMNODE_EXPAND")
        .envs(expand.map(|name| ("LLMNODE_EXPAND", name)));
    let output = cargo.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

fn printed(expand: &str) -> String {
    String::from_utf8(build(Some(expand)).stdout).unwrap()
}

#[test]
fn prints_the_expansion_that_was_asked_for() {
    assert_eq!(printed("Closing"), "", "no node of that name");
    let opening = printed("Opening");
    let (first, code) = opening.split_once('\n').unwrap();
    assert_eq!(first, "// tests/renamed/expanded.rs:6: #[llm_node] Opening");
    assert!(code.starts_with("#[doc"), "{code}");
    let tokens = code.split_whitespace().collect::<String>();
    assert!(
        tokens.contains("structOpening<'a>{subject:&'astr,words:u32,}"),
        "{tokens}"
    );
    assert!(
        tokens.contains("impl<'a>__llmnode::NodeforOpening<'a>{"),
        "{tokens}"
    );
    assert!(code.ends_with(";\n\n"), "{code}");
    assert_eq!(printed("*"), opening, "the example has one node");
    assert!(build(None).stdout.is_empty());
}
