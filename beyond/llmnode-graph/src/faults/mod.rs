//! What is wrong with a graph: each mistake once, with its place, the known names, and what was probably intended.

mod collect;
mod kind;
mod locate;

use std::error::Error;
use std::fmt;

use llmnode_reader::text::{one_line, visible};
use llmnode_runtime::{Category, NodeError};
use serde::Serialize;

pub(crate) use self::collect::Faults;
pub use self::kind::FaultKind;
pub use self::locate::locate;

const LISTED: usize = 12;

/// One mistake in a graph's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Fault {
    /// Where, as a JSON pointer into the file: `/nodes/1/data/tools/1`. Empty: the file as a whole.
    pub pointer: String,
    /// The file of the subgraph that has the fault; `None`: the file that was loaded.
    pub file: Option<String>,
    /// The nodes that lead to a subgraph's file, the outermost first, as pointers: `/nodes/2`, then
    /// `inner:/nodes/0`.
    pub via: Vec<String>,
    /// What kind of mistake it is.
    pub kind: FaultKind,
    /// What is wrong, and what to do.
    pub message: String,
    /// The known names, if a name is wrong; at most the first twelve.
    pub known: Vec<String>,
    /// The known name that was probably intended.
    pub proposal: Option<String>,
}

impl Fault {
    fn new(pointer: impl Into<String>, kind: FaultKind, message: impl Into<String>) -> Self {
        Fault {
            pointer: pointer.into(),
            file: None,
            via: Vec::new(),
            kind,
            message: message.into(),
            known: Vec::new(),
            proposal: None,
        }
    }

    /// Returns the place: `/nodes/1/data/tools/1`, and for a subgraph `/nodes/2 > inner:/nodes/0/type`.
    pub fn place(&self) -> String {
        let pointer = if self.pointer.is_empty() {
            "/"
        } else {
            &self.pointer
        };
        let of_file = match &self.file {
            Some(file) => format!("{file}:{pointer}"),
            None => pointer.to_owned(),
        };
        self.via
            .iter()
            .map(String::as_str)
            .chain([&*of_file])
            .collect::<Vec<_>>()
            .join(" > ")
    }
}

impl fmt::Display for Fault {
    /// Writes one line: the place, what is wrong, and the proposed name or else the known ones.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = one_line(self.place(), 500);
        let message = one_line(&self.message, 2000);
        write!(f, "{}: {}", visible(&place), visible(&message))?;
        match (&self.proposal, &*self.known) {
            (Some(meant), _) => write!(f, "; did you mean {meant:?}?"),
            (None, []) => Ok(()),
            (None, [only]) => write!(f, "; there is only {only:?}"),
            (None, known_names) => {
                let known_names: Vec<String> =
                    known_names.iter().map(|name| format!("{name:?}")).collect();
                let more = if known_names.len() == LISTED {
                    ", …"
                } else {
                    ""
                };
                write!(f, "; there are {}{more}", known_names.join(", "))
            }
        }
    }
}

/// All mistakes in a graph.
///
/// `Display` writes one line for each fault, without the warnings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GraphFaults {
    /// The name of the file or graph, if it has one.
    pub graph: Option<String>,
    /// The faults, in the order of the file.
    pub faults: Vec<Fault>,
    /// Possible mistakes that do not stop the graph from loading.
    pub warnings: Vec<Fault>,
}

impl fmt::Display for GraphFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.faults.len();
        match &self.graph {
            Some(name) => write!(f, "the graph {name:?} has ")?,
            None => f.write_str("the graph has ")?,
        }
        write!(f, "{count} fault{}", if count == 1 { "" } else { "s" })?;
        self.faults
            .iter()
            .try_for_each(|fault| write!(f, "\n{fault}"))
    }
}

impl Error for GraphFaults {}

impl From<GraphFaults> for NodeError {
    fn from(error: GraphFaults) -> Self {
        NodeError::new(Category::ConfigError, error.to_string()).with_source(error)
    }
}

pub(crate) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

pub(crate) fn shown(name: &str) -> String {
    one_line(name, 80)
}

pub(crate) fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut names: Vec<String> = names
        .into_iter()
        .map(|name| format!("{:?}", shown(name)))
        .collect();
    let more = names.len().saturating_sub(LISTED);
    names.truncate(LISTED);
    match (&mut *names, more) {
        ([], _) => "nothing".to_owned(),
        ([only], _) => only.clone(),
        ([first @ .., last], 0) => format!("{} and {last}", first.join(", ")),
        (_, more) => format!("{} and {more} more", names.join(", ")),
    }
}
