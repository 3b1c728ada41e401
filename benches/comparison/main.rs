//! Six tasks with llmnode, rig, genai and pydantic-ai, each as its own docs do it: prints tables in Markdown.
//!
//! `benches/comparison/run` builds the programs and starts this one, with where they are: `comparison PEERS PYTHON EVALS [TASK..]`. Each
//! task has a server of its own for each library (`llmnode::stub_server`, as strict as the provider that it stands for), and a program of
//! each library (`by_llmnode`, `peers`, `by_pydantic_ai`), which is started, killed and started again as the task says. What is counted
//! is what the server saw, and what the program says at its end. Nobody's time is measured.
//!
//! With `ONLY=NAME` in the environment one library alone is asked, and with `SHOW` all that was sent and said is printed, too.

mod library;
mod server;
mod source;
mod tasks;

use std::path::Path;

use library::Library;
use tasks::{Row, TASKS};

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [peers, python, evals, wanted @ ..] = words.as_slice() else {
        panic!("comparison PEERS PYTHON EVALS [TASK..]");
    };
    for task in TASKS {
        if !wanted.is_empty() && !wanted.iter().any(|name| name == task.name) {
            continue;
        }
        let mut libraries = Library::all(Path::new(peers), python, evals);
        if let Ok(name) = std::env::var("ONLY") {
            libraries.retain(|library| library.name.split(' ').next() == Some(&*name));
        }
        let columns =
            futures::future::join_all(libraries.iter().map(|library| column(task, library))).await;
        print(task.title, &libraries, &columns);
    }
}

/// What one library does with a task, and what its program takes.
async fn column(task: &tasks::Task, library: &Library) -> Vec<Row> {
    let source = source::read(&library.source(task.name));
    let size = format!("{}; {}", source.lines, source.names);
    let mut rows = vec![
        Row::new("lines of code; names of the library", size),
        Row::new("by hand", source.by_hand),
    ];
    rows.extend((task.run)(library.clone()).await);
    rows
}

fn print(title: &str, libraries: &[Library], columns: &[Vec<Row>]) {
    let names: Vec<&str> = libraries
        .iter()
        .filter_map(|library| library.name.split(' ').next())
        .collect();
    println!("\n| {title} | {} |", names.join(" | "));
    println!("|---|{}", "---|".repeat(names.len()));
    for (at, row) in columns[0].iter().enumerate() {
        let cells: Vec<&str> = columns
            .iter()
            .map(|column| column[at].said.as_str())
            .collect();
        println!("| {} | {} |", row.what, cells.join(" | "));
    }
}
