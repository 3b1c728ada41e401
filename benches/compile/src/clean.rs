//! A program that makes one typed call, built from nothing: by llmnode, and by others.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use nix::sys::resource::{Usage, UsageWho, getrusage};

/// Who makes the call, with which dependencies, by which program.
const PROGRAMS: [(&str, &str, &str); 4] = [
    (
        "llmnode",
        "llmnode = { path = LLMNODE }",
        include_str!("hello/llmnode.rs"),
    ),
    (
        "async-openai 0.43 and schemars by hand",
        "async-openai = { version = \"0.43\", default-features = false, features = [\"chat-completion\", \"rustls\"] }\n\
         schemars = \"1\"\nserde = { version = \"1\", features = [\"derive\"] }\nserde_json = \"1\"",
        include_str!("hello/async_openai.rs"),
    ),
    (
        "rstructor 0.6",
        "rstructor = { version = \"0.6\", default-features = false, features = [\"derive\", \"openai\"] }\n\
         serde = { version = \"1\", features = [\"derive\"] }\nserde_json = \"1\"",
        include_str!("hello/rstructor.rs"),
    ),
    (
        "rig-core 0.44",
        "rig-core = { version = \"=0.44.0\", default-features = false, features = [\"reqwest\", \"rustls\"] }\n\
         schemars = \"1\"\nserde = { version = \"1\", features = [\"derive\"] }\nserde_json = \"1\"",
        include_str!("hello/rig.rs"),
    ),
];

/// Builds each program from nothing, `cargo check` and `cargo build` with two jobs, and prints a table.
pub fn measure(root: &Path) {
    println!("| | crates | check: processor s | wall s | build: processor s | wall s |");
    println!("|---|---|---|---|---|---|");
    for (title, dependencies, program) in PROGRAMS {
        let folder = root.join("hello");
        write(&folder, dependencies, program);
        cargo(&folder, &["fetch", "--quiet"]);
        let crates = crates(&folder);
        let [check, build] = ["check", "build"].map(|how| {
            fs::remove_dir_all(folder.join("target")).ok();
            let (before, start) = (processor(), Instant::now());
            cargo(&folder, &[how, "--quiet", "-j2"]);
            (processor() - before, start.elapsed().as_secs_f64())
        });
        println!(
            "| {title} | {crates} | {:.0} | {:.0} | {:.0} | {:.0} |",
            check.0, check.1, build.0, build.1
        );
    }
}

fn write(folder: &Path, dependencies: &str, program: &str) {
    let llmnode = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let dependencies = dependencies.replace("LLMNODE", &format!("{llmnode:?}"));
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"hello\"\nedition = \"2024\"\n\n[dependencies]\n{dependencies}\n\
         tokio = {{ version = \"1\", features = [\"macros\", \"rt-multi-thread\"] }}\n"
    );
    fs::create_dir_all(folder.join("src")).expect("a folder");
    fs::remove_file(folder.join("Cargo.lock")).ok();
    fs::write(folder.join("Cargo.toml"), manifest).expect("a file");
    fs::write(folder.join("src/main.rs"), program).expect("a file");
}

fn cargo(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(folder)
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .output()
        .expect("cargo starts");
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// How many crates there are beside the program, what only builds them included.
fn crates(folder: &Path) -> usize {
    let tree = cargo(
        folder,
        &[
            "tree",
            "--edges",
            "normal,build",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ],
    );
    let mut crates: Vec<_> = tree
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .collect();
    crates.sort_unstable();
    crates.dedup();
    crates.len() - 1
}

/// User and system time of all processes that have ended below this one, in seconds.
fn processor() -> f64 {
    let usage: Usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the times of children");
    let seconds =
        |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    seconds(usage.user_time()) + seconds(usage.system_time())
}
