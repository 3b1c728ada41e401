//! Collects faults and warnings while a graph is loaded.

use std::collections::HashSet;

use llmnode_reader::text::nearest;

use super::{Fault, FaultKind, GraphFaults, LISTED, shown};

/// For proposals of names, in all: a file with 10,000 wrong targets must be refused quickly.
const MAX_COMPARISONS: usize = 100_000;
/// Above this count, faults no longer list the known names.
const MAX_WITH_NAMES: usize = 1_000;

/// A file of one line may have any number.
const MAX_FAULTS: usize = 20_000;

#[derive(Debug, Default)]
pub(crate) struct Faults {
    faults: Vec<Fault>,
    warnings: Vec<Fault>,
    compared: usize,
    noted: usize,
    /// Files whose faults were absorbed.
    absorbed: HashSet<String>,
}

impl Faults {
    pub(crate) fn fault(
        &mut self,
        pointer: impl Into<String>,
        kind: FaultKind,
        message: impl Into<String>,
    ) {
        self.noted += 1;
        note(&mut self.faults, Fault::new(pointer, kind, message));
    }

    pub(crate) fn warn(
        &mut self,
        pointer: impl Into<String>,
        kind: FaultKind,
        message: impl Into<String>,
    ) {
        note(&mut self.warnings, Fault::new(pointer, kind, message));
    }

    pub(crate) fn unknown<'n>(
        &mut self,
        is_fault: bool,
        pointer: impl Into<String>,
        kind: FaultKind,
        message: impl Into<String>,
        name: &str,
        names: impl IntoIterator<Item = &'n str>,
    ) {
        let mut names: Vec<&str> = names.into_iter().collect();
        names.dedup();
        self.compared += names.len();
        let mut fault = Fault::new(pointer, kind, message);
        if names.is_empty() {
            fault.message.push_str("; there is none");
        }
        if self.compared <= MAX_COMPARISONS {
            fault.proposal = nearest(name, names.iter().copied()).map(str::to_owned);
        }
        if self.faults.len() < MAX_WITH_NAMES {
            fault.known = names.into_iter().take(LISTED).map(shown).collect();
        }
        self.noted += usize::from(is_fault);
        note(
            if is_fault {
                &mut self.faults
            } else {
                &mut self.warnings
            },
            fault,
        );
    }

    /// Whether nothing of this file has been absorbed yet.
    pub(crate) fn is_first(&mut self, file: &str) -> bool {
        self.absorbed.insert(file.to_owned())
    }

    /// A fault that stands in the list already.
    pub(crate) fn repeated(&mut self) {
        self.noted += 1;
    }

    pub(crate) fn absorb(&mut self, pointer: &str, file: &str, inner: GraphFaults) {
        self.noted += inner.faults.len();
        let lists = [
            (inner.faults, &mut self.faults),
            (inner.warnings, &mut self.warnings),
        ];
        for (from, to) in lists {
            for mut fault in from {
                for step in &mut fault.via {
                    if step.starts_with('/') {
                        step.insert_str(0, &format!("{file}:"));
                    }
                }
                fault.via.insert(0, pointer.to_owned());
                fault.file.get_or_insert_with(|| file.to_owned());
                // A file that two nodes refer to reports its faults only once.
                if !to.iter().any(|other| is_same(other, &fault)) {
                    to.push(fault);
                }
            }
        }
    }

    pub(crate) fn has(&self, kind: FaultKind, pointer: &str) -> bool {
        self.faults
            .iter()
            .any(|fault| fault.kind == kind && fault.pointer == pointer)
    }

    pub(crate) fn pointers(&self) -> impl Iterator<Item = &str> {
        self.faults.iter().map(|fault| fault.pointer.as_str())
    }

    pub(crate) fn append(&mut self, others: Faults) {
        others
            .faults
            .into_iter()
            .for_each(|fault| note(&mut self.faults, fault));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.faults.is_empty()
    }

    /// Also counts a subgraph's repeated faults.
    pub(crate) fn noted(&self) -> usize {
        self.noted
    }

    pub(crate) fn into_parts(self, graph: Option<String>) -> GraphFaults {
        let Faults {
            mut faults,
            mut warnings,
            ..
        } = self;
        faults.sort_by_cached_key(order);
        warnings.sort_by_cached_key(order);
        GraphFaults {
            graph,
            faults,
            warnings,
        }
    }
}

fn note(list: &mut Vec<Fault>, fault: Fault) {
    list.truncate(MAX_FAULTS - 1);
    list.push(fault);
}

/// By the outermost pointer: numbers by value, then names, then faults of the entire file.
fn order(fault: &Fault) -> (bool, Vec<(u64, String)>) {
    let outer = fault.via.first().unwrap_or(&fault.pointer);
    let rooms = [
        "format", "version", "name", "inputs", "state", "", "nodes", "edges",
    ];
    let mut parts = Vec::new();
    for (depth, part) in outer.split('/').skip(1).enumerate() {
        let room = rooms.iter().position(|room| *room == part).unwrap_or(5);
        parts.push(match part.parse::<u64>() {
            Ok(number) => (number, String::new()),
            Err(_) if depth == 0 => (room as u64, part.to_owned()),
            Err(_) => (u64::MAX, part.to_owned()),
        });
    }
    (outer.is_empty(), parts)
}

/// Whether two faults say the same of the same place.
fn is_same(one: &Fault, other: &Fault) -> bool {
    one.file == other.file
        && one.pointer == other.pointer
        && one.kind == other.kind
        && one.message == other.message
}
