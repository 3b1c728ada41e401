//! A workspace of generated crates, and how one of them is compiled.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use crate::sources::Sources;
use crate::wrapper::TIMES;

/// How a crate is compiled.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    Check,
    Debug,
    Release,
}

impl Mode {
    pub const ALL: [Mode; 3] = [Mode::Check, Mode::Debug, Mode::Release];

    pub fn name(self) -> &'static str {
        match self {
            Mode::Check => "check",
            Mode::Debug => "debug",
            Mode::Release => "release",
        }
    }

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Mode::Check => &["check"],
            Mode::Debug => &["build"],
            Mode::Release => &["build", "--release"],
        }
    }
}

/// The generated workspace. Its dependencies are compiled once in each mode.
pub struct Crates(PathBuf);

impl Crates {
    pub fn written(root: PathBuf, sources: &[Sources]) -> Crates {
        let names: Vec<_> = sources
            .iter()
            .map(|source| format!("{:?}", source.name))
            .collect();
        write(
            &root.join("Cargo.toml"),
            &format!(
                "[workspace]\nresolver = \"3\"\nmembers = [{}]\n",
                names.join(", ")
            ),
        );
        for source in sources {
            write(
                &root.join(&source.name).join("Cargo.toml"),
                &manifest(&source.name),
            );
            write(&root.join(&source.name).join("src/lib.rs"), &source.text);
        }
        fs::create_dir_all(root.join("times")).expect("a folder");
        Crates(root)
    }

    /// Compiles a crate whose dependencies are compiled; tells rustc's user time in seconds.
    pub fn compile(&self, source: &Sources, mode: Mode) -> f64 {
        let library = fs::File::options()
            .append(true)
            .open(self.0.join(&source.name).join("src/lib.rs"));
        library
            .and_then(|file| file.set_modified(SystemTime::now()))
            .expect("the crate is touched");
        let times = self.0.join("times");
        let status = Command::new(env!("CARGO"))
            .args(mode.arguments())
            .args(["--quiet", "-j1", "-p", &source.name])
            .current_dir(&self.0)
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_TARGET_DIR", self.0.join("target"))
            .env(
                "RUSTC_WRAPPER",
                std::env::current_exe().expect("this program has a path"),
            )
            .env(TIMES, &times)
            .status();
        assert!(
            status.expect("cargo starts").success(),
            "{} does not compile",
            source.name
        );
        let noted = fs::read_to_string(times.join(&source.name)).expect("the wrapper noted a time");
        noted.parse::<f64>().expect("microseconds") / 1e6
    }
}

fn manifest(name: &str) -> String {
    let llmnode = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    format!(
        "[package]\nname = \"{name}\"\nedition = \"2024\"\n\n[dependencies]\n\
         llmnode = {{ path = {llmnode:?}, default-features = false }}\n\
         schemars = \"1\"\nserde = {{ version = \"1\", features = [\"derive\"] }}\nserde_json = \"1\"\n"
    )
}

/// Writes a file unless it holds that text already.
fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a file in a folder")).expect("a folder");
    if fs::read_to_string(path).ok().as_deref() != Some(text) {
        fs::write(path, text).expect("a file is written");
    }
}
