//! The flow: a query is written and executed, and what the database says against it goes back to who wrote it.

use std::sync::{Mutex, PoisonError};

use llmnode::BoxError;
use llmnode::flow::Step;
use llmnode::prelude::*;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error};

/// So many queries are tried.
pub const QUERIES: usize = 3;
/// So many rows are read.
const ROWS: usize = 20;

/// The shared store. The connection reads only: a model writes what it executes.
pub struct Desk {
    pub database: Mutex<Connection>,
    pub question: String,
    pub query: String,
    /// What the database said against the last query.
    pub fault: Option<String>,
    pub tried: usize,
    pub rows: Vec<String>,
}

impl Desk {
    /// The statements that made the tables.
    fn tables(&self) -> Result<Vec<String>, Error> {
        let database = self.database.lock().unwrap_or_else(PoisonError::into_inner);
        let mut statement =
            database.prepare("SELECT sql FROM sqlite_master WHERE type = 'table'")?;
        statement.query_map([], |row| row.get(0))?.collect()
    }
}

#[llm_output]
pub struct Query {
    /// One SELECT statement in SQLite's dialect.
    #[schemars(length(max = 200))]
    sql: String,
}

/// Writes a query. The expressions may fail: tables that cannot be read are a `prep_error`, and no model is asked.
#[llm_node(
    prompt = "The tables:\n{tables:list}\nThe question: {question}\nThe last query: {query:or(none)}\n\
              What was wrong with it: {fault:or(nothing)}\nWrite a query.",
    output = Query,
    retries = 1,
    state = Desk,
    post = Write::keep
)]
pub struct Write {
    #[prep(state.tables())]
    tables: Vec<String>,
    #[prep(state.question.clone())]
    question: String,
    #[prep(state.fault.as_ref().map(|_| state.query.clone()))]
    query: Option<String>,
    #[prep(state.fault.clone())]
    fault: Option<String>,
}

impl Write {
    fn keep(self, query: Query, state: &mut Desk) {
        state.query = query.sql;
    }
}

/// Executes the query. That it fails is nothing unusual, so it is an output, by which the flow goes on.
pub struct Execute {
    query: String,
}

#[derive(Action)]
pub enum Executed {
    Rows,
    Fault,
    GivenUp,
}

#[llmnode::step]
impl Step<Desk> for Execute {
    type Output = Result<Vec<String>, Error>;
    type Action = Executed;

    async fn prep(state: &Desk) -> Result<Self, BoxError> {
        Ok(Execute {
            query: state.query.clone(),
        })
    }

    async fn exec(&self, cx: &Cx<'_, Desk>) -> Result<Self::Output, BoxError> {
        let database = cx
            .state()
            .database
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Ok(rows(&database, &self.query))
    }

    fn post(self, output: Self::Output, state: &mut Desk) -> Result<Executed, BoxError> {
        state.tried += 1;
        Ok(match output {
            Ok(rows) => {
                state.rows = rows;
                Executed::Rows
            }
            Err(fault) => {
                state.fault = Some(fault.to_string());
                if state.tried == QUERIES {
                    Executed::GivenUp
                } else {
                    Executed::Fault
                }
            }
        })
    }
}

fn rows(database: &Connection, query: &str) -> Result<Vec<String>, Error> {
    let mut statement = database.prepare(query)?;
    let columns = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| {
        let values = (0..columns).map(|column| row.get_ref(column).map(shown));
        Ok(values.collect::<Result<Vec<_>, _>>()?.join(" | "))
    };
    statement.query_map([], row)?.take(ROWS).collect()
}

fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::Blob(bytes) => format!("{} bytes", bytes.len()),
    }
}

/// How it ended.
#[derive(Debug, PartialEq)]
pub enum Outcome {
    Answered,
    GivenUp,
}

flow! {
    /// Asks the database.
    pub Ask(Desk) -> Outcome:
    Write => Execute,
    Execute => match {
        Executed::Rows => end(Outcome::Answered),
        Executed::Fault => Write,
        Executed::GivenUp => end(Outcome::GivenUp),
    },
}
