//! The edges of a file, resolved to nodes.

use std::collections::{HashMap, HashSet};

use crate::facts::TOOL_CALL;
use crate::faults::{FaultKind, Faults, shown};
use crate::file::{EdgeFile, GraphFile, is_end, is_start};
use crate::shape::To;

#[derive(Debug, Default)]
pub(crate) struct Links {
    pub(crate) edges: Vec<Link>,
    pub(crate) starts: Vec<(usize, String)>,
    pub(crate) are_complete: bool,
    pub(crate) calls_are_known: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) from: usize,
    pub(crate) handle: String,
    pub(crate) to: To,
    pub(crate) at: String,
}

impl Links {
    pub(crate) fn by<'l>(
        &'l self,
        handle: &'l str,
    ) -> impl Iterator<Item = (usize, usize, &'l Link)> {
        let edges = self.edges.iter().filter(move |link| link.handle == handle);
        edges.filter_map(|link| Some((link.from, link.to.node()?, link)))
    }
}

pub(crate) fn links(file: &GraphFile, faults: &mut Faults) -> Links {
    let names = Names::new(file);
    let mut links = Links {
        are_complete: file.edges_are_known,
        calls_are_known: file.calls_are_known,
        ..Links::default()
    };
    let mut seen = HashSet::new();
    for edge in &file.edges {
        let to = names.target(edge, faults);
        if is_start(&edge.source) && !names.ids.contains_key(&*edge.source) {
            match to {
                Some(To::Node(node)) => links.starts.push((node, edge.at.clone())),
                Some(To::End) => {
                    let message = "the start leads directly to the end: let it lead to a node";
                    faults.fault(format!("{}/target", edge.at), FaultKind::Start, message);
                }
                None => {}
            }
            continue;
        }
        let from = names.node(&edge.source, format!("{}/source", edge.at), None, faults);
        let (Some(from), Some(to)) = (from, to) else {
            links.are_complete = false;
            links.calls_are_known &= edge.handle != TOOL_CALL;
            continue;
        };
        if seen.insert((from, &edge.handle, to)) {
            links.edges.push(Link {
                from,
                handle: edge.handle.clone(),
                to,
                at: edge.at.clone(),
            });
        } else {
            let from = shown(&edge.source);
            let to = shown(&edge.target);
            let message = format!("another edge leads from {from:?} to {to:?} already; remove one");
            faults.fault(&edge.at, FaultKind::Duplicate, message);
        }
    }
    links
}

struct Names<'f> {
    /// `None`: several nodes have this id.
    ids: HashMap<&'f str, Option<usize>>,
    file: &'f GraphFile,
}

impl<'f> Names<'f> {
    fn new(file: &'f GraphFile) -> Self {
        let mut ids = HashMap::new();
        for (index, node) in file.nodes.iter().enumerate() {
            ids.entry(node.id.as_str())
                .and_modify(|entry| *entry = None)
                .or_insert(Some(index));
        }
        Names { ids, file }
    }

    fn target(&self, edge: &EdgeFile, faults: &mut Faults) -> Option<To> {
        if is_end(&edge.target) && !self.ids.contains_key(&*edge.target) {
            return Some(To::End);
        }
        self.node(
            &edge.target,
            format!("{}/target", edge.at),
            Some("END"),
            faults,
        )
        .map(To::Node)
    }

    fn node(
        &self,
        name: &str,
        at: String,
        also: Option<&str>,
        faults: &mut Faults,
    ) -> Option<usize> {
        let node = self.ids.get(name).copied();
        // The name may be a node's, if that node's id is wrong.
        if node.is_none() && self.file.ids_are_known {
            let node_ids = self
                .file
                .nodes
                .iter()
                .map(|node| node.id.as_str())
                .chain(also);
            let message = format!("no node {:?}", shown(name));
            faults.unknown(true, at, FaultKind::UnknownNode, message, name, node_ids);
        }
        node?
    }
}
