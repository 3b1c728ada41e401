//! The programs that are measured: each figure comes from a process of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Case;

/// So many steps each measurement takes at least, that it does not measure the clock.
const STEPS_IN_ALL: &str = "400000";
const STEPS_IN_ALL_OF_PYTHON: &str = "40000";

const STEPS_IN_ALL_TO_DISK: &str = "1000";

/// Where the programs are.
pub struct Programs {
    /// An interpreter that has PocketFlow and LangGraph.
    python: Option<PathBuf>,
}

impl Programs {
    /// The Python is what the environment's `FLOW_BENCH_PYTHON` names.
    pub fn find() -> Programs {
        let python = std::env::var_os("FLOW_BENCH_PYTHON").map(PathBuf::from);
        if python.is_none() {
            eprintln!("PocketFlow and LangGraph are left out: FLOW_BENCH_PYTHON names no Python");
        }
        Programs { python }
    }

    /// Who is measured with one run at a time.
    pub fn one_at_a_time(&self) -> Vec<&'static str> {
        self.with_python(
            &[
                "hand",
                "llmnode",
                "llmnode-built",
                "llmnode-graph",
                "graph-flow",
                "floxide",
            ],
            &["pocketflow", "pocketflow-async", "langgraph"],
        )
    }

    /// Who is measured with a journal: processor time does not tell what a disk takes.
    pub fn journalled(&self) -> [&'static str; 2] {
        ["llmnode-journal", "llmnode-journal-fsync"]
    }

    /// Who is measured with many runs side by side.
    pub fn side_by_side(&self) -> Vec<&'static str> {
        self.with_python(
            &["hand", "llmnode", "graph-flow", "floxide"],
            &["pocketflow-async"],
        )
    }

    fn with_python(&self, rust: &[&'static str], python: &[&'static str]) -> Vec<&'static str> {
        let python = if self.python.is_some() { python } else { &[] };
        [rust, python].concat()
    }

    /// Nanoseconds of a step: of the processor, and by the clock.
    pub fn time(&self, (library, steps, runs, yields): Case) -> [f64; 2] {
        let mut command = match &self.python {
            Some(python) if is_python(library) => {
                let mut command = Command::new(python);
                let script = if library == "langgraph" {
                    "src/by_langgraph.py"
                } else {
                    "src/by_pocketflow.py"
                };
                let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(script);
                command.arg(script).arg(STEPS_IN_ALL_OF_PYTHON);
                command
            }
            _ => {
                let mut command = beside_this_one("steps");
                command.arg(if library.ends_with("fsync") {
                    STEPS_IN_ALL_TO_DISK
                } else {
                    STEPS_IN_ALL
                });
                command
            }
        };
        let yields = if yields { "yes" } else { "no" };
        let numbers =
            numbers(command.args([library, &steps.to_string(), &runs.to_string(), yields]));
        [numbers[0], numbers[1]]
    }

    /// Nanoseconds that it takes to load a graph of so many nodes: llmnode with all its checks, LangGraph's `compile`.
    pub fn load(&self, nodes: usize) -> (f64, Option<f64>) {
        let nodes = nodes.to_string();
        let ours = numbers(beside_this_one("load").arg(&nodes))[0];
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/by_langgraph.py");
        let theirs = self
            .python
            .as_ref()
            .map(|python| numbers(Command::new(python).arg(script).arg("load").arg(&nodes))[0]);
        (ours, theirs)
    }

    /// Allocations of a step.
    pub fn allocations(&self, library: &str) -> Option<f64> {
        let counts = !is_python(library);
        counts
            .then(|| numbers(beside_this_one("allocations").args([library, "1000", "1", "no"]))[0])
    }
}

fn is_python(library: &str) -> bool {
    library.starts_with("pocketflow") || library == "langgraph"
}

fn beside_this_one(program: &str) -> Command {
    Command::new(std::env::current_exe().unwrap().with_file_name(program))
}

fn numbers(command: &mut Command) -> Vec<f64> {
    let output = command.stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "{command:?} failed");
    let text = String::from_utf8(output.stdout).unwrap();
    let number = |text: &str| {
        text.parse()
            .unwrap_or_else(|_| panic!("{command:?} printed {text:?}"))
    };
    text.split_whitespace().map(number).collect()
}
