//! A program whose `Cargo.toml` gives the crate another name is built as a user builds it, and run.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::expand::features;

/// Its folder, beside what is built.
fn package(target: &Path) -> PathBuf {
    let root = env!("CARGO_MANIFEST_DIR");
    let features = features().split(',').map(|one| format!("{one:?}")).collect::<Vec<_>>().join(", ");
    let folder = target.join("renamed");
    let manifest = format!(
        "[package]\nname = \"renamed\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         llm = {{ package = \"llmnode\", path = {root:?}, features = [{features}] }}\n\
         tokio = {{ version = \"1\", features = [\"macros\", \"rt\"] }}\n"
    );
    std::fs::create_dir_all(folder.join("src")).unwrap();
    std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    std::fs::write(folder.join("src/main.rs"), include_str!("renamed/program.rs")).unwrap();
    std::fs::copy(Path::new(root).join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    folder
}

#[test]
fn a_renamed_dependency_works() {
    let target = std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["run", "--quiet", "--offline", "--target-dir"]).arg(&target);
    // Cargo's variables for tests would make build scripts that read them run again.
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CARGO_PKG_")) {
        cargo.env_remove(name);
    }
    let output = cargo.current_dir(package(&target)).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(printed, "Page { items: [Plant { name: \"fern\" }] }\n3\n");
}
