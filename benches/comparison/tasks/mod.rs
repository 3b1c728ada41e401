//! The tasks: each is a server, the faults that it has, and what is counted.

mod approval;
mod chat;
mod extract;
mod gate;
mod providers;
mod rows;

use std::pin::Pin;

use crate::library::Library;

/// One row of the table for one library.
pub struct Row {
    pub what: &'static str,
    pub said: String,
}

impl Row {
    pub fn new(what: &'static str, said: impl Into<String>) -> Self {
        Self {
            what,
            said: said.into(),
        }
    }
}

type Rows = Pin<Box<dyn Future<Output = Vec<Row>>>>;

pub struct Task {
    /// As the programs are called.
    pub name: &'static str,
    pub title: &'static str,
    pub run: fn(Library) -> Rows,
}

pub const TASKS: &[Task] = &[
    Task {
        name: "extract",
        title: "extraction in a service",
        run: |library| Box::pin(extract::run(library)),
    },
    Task {
        name: "rows",
        title: "2,000 rows under a rate limit",
        run: |library| Box::pin(rows::run(library)),
    },
    Task {
        name: "chat",
        title: "a chat in a database",
        run: |library| Box::pin(chat::run(library)),
    },
    Task {
        name: "approval",
        title: "an agent with an approval over a deployment",
        run: |library| Box::pin(approval::run(library)),
    },
    Task {
        name: "gate",
        title: "a gate of an evaluation",
        run: |library| Box::pin(gate::run(library)),
    },
    Task {
        name: "providers",
        title: "one agent on three providers",
        run: |library| Box::pin(providers::run(library)),
    },
];
