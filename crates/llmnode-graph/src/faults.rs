//! What is wrong with a graph: each mistake once, with its place, what there is, and what was likely meant.

use std::error::Error;
use std::fmt;

use llmnode_runtime::internal::{nearest, one_line};
use serde::Serialize;

/// How many names a fault lists of those that there are.
const LISTED: usize = 12;
/// How many names are compared in all to find those that were meant: a file of 10,000 edges with wrong targets is
/// refused as soon as any other.
const COMPARED: usize = 500_000;

/// One thing that is wrong with a graph's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Fault {
    /// Where, as a JSON pointer into the file: `/nodes/1/data/tools/1`. Empty: the file as a whole.
    pub pointer: String,
    /// The subgraph's file in which it is; `None`: the file that was loaded.
    pub file: Option<String>,
    /// The nodes by which a subgraph's file is reached, the outermost first, as pointers: `/nodes/2`, then
    /// `inner:/nodes/0`.
    pub via: Vec<String>,
    /// What kind of mistake it is.
    pub kind: FaultKind,
    /// What is wrong, and what to do.
    pub message: String,
    /// The known names, if the mistake is one in a name; the first twelve.
    pub known: Vec<String>,
    /// The known name that was likely meant.
    pub proposal: Option<String>,
}

/// What kind of mistake a fault is. The words may change in any release, the kinds do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FaultKind {
    /// The file cannot be read, or is not JSON.
    Syntax,
    /// A file larger, longer or deeper than allowed.
    Cap,
    /// A file of another format.
    Format,
    /// A version that this llmnode does not read, or none.
    Version,
    /// A member or setting that nobody knows.
    UnknownMember,
    /// A member that stands twice in one object.
    DuplicateMember,
    /// A member that has to be there.
    Missing,
    /// A value of another type than expected.
    WrongKind,
    /// A number, text or list beyond its bounds.
    OutOfRange,
    /// A node type that is not registered.
    UnknownType,
    /// An edge from or to a node that is not there.
    UnknownNode,
    /// An edge from a handle that its node does not have.
    UnknownHandle,
    /// A tool, profile, store, program, condition, reducer or other word that is none of those that there are.
    UnknownName,
    /// A name that cannot be one: reserved, empty, or of letters that are not allowed.
    BadName,
    /// An id or a name that two have.
    Duplicate,
    /// A handle that needs an edge and has none.
    MissingEdge,
    /// A template that is not closed, or names nothing.
    Template,
    /// A pattern that does not compile.
    Regex,
    /// A setting that its node type refuses.
    Setting,
    /// No start, or several.
    Start,
    /// Nodes to which no way leads from the start.
    Unreachable,
    /// Nodes from which no way leads to the end.
    Endless,
    /// A branch of a fork that leads back before the fork.
    ForkBack,
    /// A node that two branches of a fork come to, but not on all their ways.
    ForkShared,
    /// An edge into a branch of a fork from outside.
    ForkEntered,
    /// An edge from a fork straight to where its branches meet.
    ForkToJoin,
    /// A node within a branch of a fork that waits for an approval.
    ForkApproval,
    /// A value that is read and nobody wrote before, or not on every way.
    Data,
    /// A key that two branches of a fork write, without a reducer.
    Conflict,
    /// A system prompt that reads what a model, a tool or a search wrote.
    Untrusted,
    /// A subgraph within itself, or too deep.
    Nesting,
    /// A node type or setting for which a feature of the crate is off.
    Feature,
}

impl FaultKind {
    /// Returns the kind in snake_case, as in JSON: `unknown_member`.
    pub fn as_str(self) -> &'static str {
        match self {
            FaultKind::Syntax => "syntax",
            FaultKind::Cap => "cap",
            FaultKind::Format => "format",
            FaultKind::Version => "version",
            FaultKind::UnknownMember => "unknown_member",
            FaultKind::DuplicateMember => "duplicate_member",
            FaultKind::Missing => "missing",
            FaultKind::WrongKind => "wrong_kind",
            FaultKind::OutOfRange => "out_of_range",
            FaultKind::UnknownType => "unknown_type",
            FaultKind::UnknownNode => "unknown_node",
            FaultKind::UnknownHandle => "unknown_handle",
            FaultKind::UnknownName => "unknown_name",
            FaultKind::BadName => "bad_name",
            FaultKind::Duplicate => "duplicate",
            FaultKind::MissingEdge => "missing_edge",
            FaultKind::Template => "template",
            FaultKind::Regex => "regex",
            FaultKind::Setting => "setting",
            FaultKind::Start => "start",
            FaultKind::Unreachable => "unreachable",
            FaultKind::Endless => "endless",
            FaultKind::ForkBack => "fork_back",
            FaultKind::ForkShared => "fork_shared",
            FaultKind::ForkEntered => "fork_entered",
            FaultKind::ForkToJoin => "fork_to_join",
            FaultKind::ForkApproval => "fork_approval",
            FaultKind::Data => "data",
            FaultKind::Conflict => "conflict",
            FaultKind::Untrusted => "untrusted",
            FaultKind::Nesting => "nesting",
            FaultKind::Feature => "feature",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
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
        let pointer = if self.pointer.is_empty() { "/" } else { &self.pointer };
        let own = match &self.file {
            Some(file) => format!("{file}:{pointer}"),
            None => pointer.to_owned(),
        };
        self.via.iter().map(String::as_str).chain([&*own]).collect::<Vec<_>>().join(" > ")
    }
}

impl fmt::Display for Fault {
    /// One line: the place, what is wrong, and the name that was meant or else those that there are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", one_line(self.place(), 500), one_line(&self.message, 2000))?;
        match (&self.proposal, &*self.known) {
            (Some(meant), _) => write!(f, "; did you mean {meant:?}?"),
            (None, []) => Ok(()),
            (None, [only]) => write!(f, "; there is only {only:?}"),
            (None, known) => {
                let known: Vec<String> = known.iter().map(|name| format!("{name:?}")).collect();
                write!(f, "; there are {}", known.join(", "))
            }
        }
    }
}

/// Everything that is wrong with a graph.
///
/// `Display` writes one line for each fault; warnings are not in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GraphFaults {
    /// The name of the file or graph; `None`: it has none.
    pub graph: Option<String>,
    /// The faults, in the order of the file.
    pub faults: Vec<Fault>,
    /// What is likely no mistake but may be one.
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
        self.faults.iter().try_for_each(|fault| write!(f, "\n{fault}"))
    }
}

impl Error for GraphFaults {}

/// Collects what is wrong while a graph is loaded.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    faults: Vec<Fault>,
    warnings: Vec<Fault>,
    compared: usize,
    /// How often something was found wrong, whether or not it was said before.
    noted: usize,
}

impl Faults {
    /// Notes a fault.
    pub(crate) fn fault(
        &mut self,
        pointer: impl Into<String>,
        kind: FaultKind,
        message: impl Into<String>,
    ) -> &mut Fault {
        self.noted += 1;
        note(&mut self.faults, Fault::new(pointer, kind, message))
    }

    /// Notes a warning.
    pub(crate) fn warn(
        &mut self,
        pointer: impl Into<String>,
        kind: FaultKind,
        message: impl Into<String>,
    ) -> &mut Fault {
        note(&mut self.warnings, Fault::new(pointer, kind, message))
    }

    /// Notes a name that is none of those that there are, as a fault or a warning.
    pub(crate) fn unknown<'n>(
        &mut self,
        is_fault: bool,
        pointer: impl Into<String>,
        kind: FaultKind,
        message: impl Into<String>,
        name: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) {
        let mut known: Vec<&str> = known.into_iter().collect();
        known.dedup();
        self.compared += known.len();
        let proposal = if self.compared <= COMPARED { nearest(name, known.iter().copied()) } else { None };
        let mut fault = Fault::new(pointer, kind, message);
        fault.proposal = proposal.map(str::to_owned);
        fault.known = known.into_iter().take(LISTED).map(shown).collect();
        self.noted += usize::from(is_fault);
        note(if is_fault { &mut self.faults } else { &mut self.warnings }, fault);
    }

    /// Takes in what is wrong with a subgraph's file, to which the node at `pointer` leads.
    pub(crate) fn absorb(&mut self, pointer: &str, file: &str, inner: GraphFaults) {
        self.noted += inner.faults.len();
        let lists = [(inner.faults, &mut self.faults), (inner.warnings, &mut self.warnings)];
        for (from, to) in lists {
            for mut fault in from {
                for step in &mut fault.via {
                    if step.starts_with('/') {
                        step.insert_str(0, &format!("{file}:"));
                    }
                }
                fault.via.insert(0, pointer.to_owned());
                fault.file.get_or_insert_with(|| file.to_owned());
                // A file that two nodes lead to has its faults once.
                let same = |one: &Fault| {
                    (&one.file, &one.pointer, one.kind, &one.message)
                        == (&fault.file, &fault.pointer, fault.kind, &fault.message)
                };
                if !to.iter().any(same) {
                    to.push(fault);
                }
            }
        }
    }

    /// Whether nothing is wrong; there may be warnings.
    pub(crate) fn is_empty(&self) -> bool {
        self.faults.is_empty()
    }

    /// How often something was found wrong: it grows where a fault of a subgraph is found that was said before.
    pub(crate) fn noted(&self) -> usize {
        self.noted
    }

    /// How many faults there are.
    pub(crate) fn len(&self) -> usize {
        self.faults.len()
    }

    /// Returns what was found, in the order of the file.
    pub(crate) fn into_parts(self, graph: Option<String>) -> GraphFaults {
        let Faults { mut faults, mut warnings, .. } = self;
        faults.sort_by_cached_key(order);
        warnings.sort_by_cached_key(order);
        GraphFaults { graph, faults, warnings }
    }
}

fn note(list: &mut Vec<Fault>, fault: Fault) -> &mut Fault {
    let at = list.len();
    list.push(fault);
    &mut list[at]
}

/// The parts of the outermost pointer; numbers by their size, before names. What concerns the whole stands last.
fn order(fault: &Fault) -> (bool, Vec<(u64, String)>) {
    let outer = fault.via.first().unwrap_or(&fault.pointer);
    let room = |part: &str| match part {
        "format" => 1,
        "version" => 2,
        "name" => 3,
        "inputs" => 4,
        "state" => 5,
        "nodes" => 7,
        "edges" => 8,
        _ => 6,
    };
    let part = |(depth, part): (usize, &str)| match part.parse::<u64>() {
        Ok(number) => (number, String::new()),
        Err(_) if depth == 0 => (room(part), part.to_owned()),
        Err(_) => (u64::MAX, part.to_owned()),
    };
    (outer.is_empty(), outer.split('/').skip(1).enumerate().map(part).collect())
}

/// A JSON pointer's part for a member's name.
pub(crate) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// A name as a message shows it.
pub(crate) fn shown(name: &str) -> String {
    one_line(name, 80)
}

/// Names as a message lists them: `"a"`, `"b"` and 3 more.
pub(crate) fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut names: Vec<String> = names.into_iter().map(|name| format!("{:?}", shown(name))).collect();
    let more = names.len().saturating_sub(LISTED);
    names.truncate(LISTED);
    match (&mut *names, more) {
        ([], _) => "nothing".to_owned(),
        ([only], _) => only.clone(),
        ([first @ .., last], 0) => format!("{} and {last}", first.join(", ")),
        (_, more) => format!("{} and {more} more", names.join(", ")),
    }
}
