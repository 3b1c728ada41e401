//! The programs of a library: where they are, and how they are started.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::process::{Child, Command};

/// No program takes longer; what is not done by then hangs.
const PATIENCE: Duration = Duration::from_secs(900);

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/comparison");

/// One of four.
#[derive(Clone)]
pub struct Library {
    pub name: &'static str,
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    Llmnode,
    /// The program that has both.
    Peer {
        program: PathBuf,
        word: &'static str,
    },
    PydanticAi {
        python: String,
        /// The interpreter with its evaluations and its harness, which are of an older version.
        evals: String,
    },
}

impl Library {
    pub fn all(peers: &Path, python: &str, evals: &str) -> Vec<Library> {
        vec![
            Library {
                name: "llmnode",
                kind: Kind::Llmnode,
            },
            Library {
                name: "rig 0.46.0",
                kind: Kind::Peer {
                    program: peers.to_owned(),
                    word: "rig",
                },
            },
            Library {
                name: "genai 0.7.2",
                kind: Kind::Peer {
                    program: peers.to_owned(),
                    word: "genai",
                },
            },
            Library {
                name: "pydantic-ai",
                kind: Kind::PydanticAi {
                    python: python.to_owned(),
                    evals: evals.to_owned(),
                },
            },
        ]
    }

    /// The text of the program for a task.
    pub fn source(&self, task: &str) -> PathBuf {
        let here = Path::new(HERE);
        match &self.kind {
            Kind::Llmnode => here.join(format!("by_llmnode/{task}.rs")),
            Kind::Peer { word, .. } => here.join(format!("peers/src/by_{word}/{task}.rs")),
            Kind::PydanticAi { .. } => here.join(format!("by_pydantic_ai/{task}.py")),
        }
    }

    /// Starts the program of a task.
    pub fn start(&self, task: &str, url: &str, folder: &Path, words: &[&str]) -> Child {
        let mut command = match &self.kind {
            Kind::Llmnode => {
                let mut program = std::env::current_exe().unwrap();
                program.set_file_name("comparison-llmnode");
                let mut command = Command::new(program);
                command.arg(task);
                command
            }
            Kind::Peer { program, word } => {
                let mut command = Command::new(program);
                command.args([word, task]);
                command
            }
            Kind::PydanticAi { python, evals } => {
                let older = matches!(task, "approval" | "chat" | "gate");
                let mut command = Command::new(if older { evals } else { python });
                command.arg(self.source(task));
                command
            }
        };
        if words.contains(&"bless") {
            command.env("LLMNODE_BLESS", "letters_are_sorted");
        }
        command
            .arg(url)
            .arg(folder)
            .args(words)
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("{}, {task}: {error}", self.name))
    }

    /// Runs the program of a task to its end. What it says is its last line, or `{"died": ..}` with the last line of its errors.
    pub async fn run(&self, task: &str, url: &str, folder: &Path, words: &[&str]) -> Value {
        said(self.start(task, url, folder, words)).await
    }
}

/// What a program that was started says at its end.
pub async fn said(child: Child) -> Value {
    let Ok(output) = tokio::time::timeout(PATIENCE, child.wait_with_output()).await else {
        return json!({"died": "hangs"});
    };
    let output = output.unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().last();
    if let Some(said) = line.and_then(|line| serde_json::from_str(line).ok()) {
        return said;
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    if std::env::var_os("SHOW").is_some() {
        eprintln!("{errors}");
    }
    json!({"died": errors.lines().last().unwrap_or_default()})
}
