//! PocketFlow's text-to-SQL: a question in words is answered from an SQLite file; a query that the database refuses
//! goes back to the model with what the database said.
//!
//! ```text
//! cargo run --manifest-path examples/apps/Cargo.toml --bin flow_sql     # a small file made on the spot
//! cargo run --manifest-path examples/apps/Cargo.toml --bin flow_sql -- library.db "Who has the most books?"
//! ```

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ask::{Ask, Desk, Outcome};
use llmnode::StubServer;
use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServerBuilder};
use rusqlite::{Connection, OpenFlags};

mod ask;
#[path = "../../../../common/mod.rs"]
mod common;
#[cfg(test)]
mod tests;

const LIGHTS: &str = "
    CREATE TABLE lights (name TEXT PRIMARY KEY, metres INTEGER, lit INTEGER);
    INSERT INTO lights VALUES ('north', 41, 1868), ('east', 22, 1901), ('south', 35, 1880);
";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = common::Arguments::read("[FILE] [QUESTION]");
    let given = arguments.value(0).map(PathBuf::from);
    let file = match &given {
        Some(file) => file.clone(),
        None => {
            made(std::env::temp_dir().join(format!("llmnode-flow-sql-{}.db", std::process::id())))?
        }
    };
    let question = arguments
        .value(1)
        .unwrap_or("Which light is the highest?")
        .to_owned();
    let (model, _server) = common::model(stub()).await?;
    let mut run = Run::new(model).with_state(desk(&file, question)?);
    let outcome = run.flow(Ask).await?;
    let desk = run.state();
    println!("queries: {}\nlast: {}", desk.tried, desk.query);
    match (outcome, &desk.fault) {
        (Outcome::Answered, _) => println!("answer: {}", desk.rows.join("; ")),
        (Outcome::GivenUp, fault) => println!("given up: {}", fault.as_deref().unwrap_or_default()),
    }
    if given.is_none() {
        std::fs::remove_file(file)?;
    }
    Ok(())
}

/// Makes the file anew.
fn made(file: PathBuf) -> Result<PathBuf, Box<dyn std::error::Error>> {
    if file.exists() {
        std::fs::remove_file(&file)?;
    }
    Connection::open(&file)?.execute_batch(LIGHTS)?;
    Ok(file)
}

/// Opens the file to be read only.
fn desk(file: &Path, question: String) -> rusqlite::Result<Desk> {
    let database = Mutex::new(Connection::open_with_flags(
        file,
        OpenFlags::SQLITE_OPEN_READ_ONLY,
    )?);
    Ok(Desk {
        database,
        question,
        query: String::new(),
        fault: None,
        tried: 0,
        rows: vec![],
    })
}

/// A server that guesses the name of a column at first.
fn stub() -> StubServerBuilder {
    StubServer::builder().default_reply(StubReply::for_request(|request| {
        let messages = request.messages();
        let asked = messages.last().map_or("", |(_, content)| content);
        let column = if asked.contains("no such column") { "metres" } else { "height" };
        StubReply::json(
            serde_json::json!({"sql": format!("SELECT name FROM lights ORDER BY {column} DESC LIMIT 1")}),
        )
    }))
}
