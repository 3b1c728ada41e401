//! What the compiler says, pinned on the one toolchain that the root Cargo.toml names.

#![expect(clippy::expect_used, reason = "a test")]

use std::process::Command;

/// `ui-tests` of the root Cargo.toml.
fn pinned() -> &'static str {
    include_str!("../../Cargo.toml")
        .lines()
        .find_map(|line| line.strip_prefix("ui-tests = \"")?.strip_suffix('"'))
        .expect("Cargo.toml names the toolchain of the UI tests")
}

fn running() -> String {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = Command::new(rustc).arg("--version").output().expect("rustc tells its version").stdout;
    String::from_utf8_lossy(&version).split(' ').nth(1).unwrap_or_default().to_owned()
}

#[test]
fn ui() {
    let (pinned, running) = (pinned(), running());
    if pinned != running {
        assert!(std::env::var_os("CI").is_none(), "the UI tests need rustc {pinned}, and this is {running}");
        println!("UI tests skipped: they need rustc {pinned}, and this is {running}");
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/ui/*/*.rs");
}
