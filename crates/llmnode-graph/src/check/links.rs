//! The edges of a file, by the nodes that they join.

use std::collections::{HashMap, HashSet};

use crate::faults::{FaultKind, Faults, shown};
use crate::file::{GraphFile, is_end, is_start};
use crate::shape::To;

/// The edges, resolved.
#[derive(Debug, Default)]
pub(crate) struct Links {
    pub(crate) edges: Vec<Link>,
    /// The nodes to which edges from `start` lead, and where these edges stand.
    pub(crate) starts: Vec<(usize, String)>,
    /// Whether an edge leads from or to a node that is not there.
    pub(crate) broken: bool,
}

/// An edge between nodes of the file.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) from: usize,
    pub(crate) handle: String,
    pub(crate) to: To,
    /// Where it stands: `/edges/3`.
    pub(crate) at: String,
}

/// Resolves the edges of a file.
pub(crate) fn links(file: &GraphFile, faults: &mut Faults) -> Links {
    let named = file.nodes.iter().enumerate().filter(|(_, node)| !node.is_double && !node.id.is_empty());
    let ids: HashMap<&str, usize> = named.map(|(index, node)| (node.id.as_str(), index)).collect();
    let names = || file.nodes.iter().map(|node| node.id.as_str()).filter(|id| !id.is_empty());
    let mut links = Links::default();
    let mut seen = HashSet::new();
    for edge in &file.edges {
        let to = match ids.get(edge.target.as_str()) {
            Some(node) => Some(To::Node(*node)),
            None if is_end(&edge.target) => Some(To::End),
            None => {
                let message = format!("no node {:?}", shown(&edge.target));
                let known = names().chain(["END"]);
                let at = format!("{}/target", edge.at);
                faults.unknown(true, at, FaultKind::UnknownNode, message, &edge.target, known);
                None
            }
        };
        let from = ids.get(edge.source.as_str());
        match (from, to) {
            (None, to) if is_start(&edge.source) => match to {
                Some(To::Node(node)) => links.starts.push((node, edge.at.clone())),
                Some(To::End) => {
                    let message = "the start leads straight to the end: let it lead to a node";
                    faults.fault(format!("{}/target", edge.at), FaultKind::Start, message);
                    links.broken = true;
                }
                None => links.broken = true,
            },
            (None, _) => {
                let message = format!("no node {:?}", shown(&edge.source));
                let at = format!("{}/source", edge.at);
                faults.unknown(true, at, FaultKind::UnknownNode, message, &edge.source, names());
                links.broken = true;
            }
            (Some(_), None) => links.broken = true,
            (Some(from), Some(to)) => {
                if seen.insert((*from, &edge.handle, to)) {
                    links.edges.push(Link {
                        from: *from,
                        handle: edge.handle.clone(),
                        to,
                        at: edge.at.clone(),
                    });
                } else {
                    let message = format!(
                        "another edge leads from {:?} to {:?} already; remove one",
                        shown(&edge.source),
                        shown(&edge.target)
                    );
                    faults.fault(&edge.at, FaultKind::Duplicate, message);
                }
            }
        }
    }
    links
}
