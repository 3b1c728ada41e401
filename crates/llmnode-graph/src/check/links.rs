//! The edges of a file, resolved to nodes.

use std::collections::{HashMap, HashSet};

use crate::faults::{FaultKind, Faults, shown};
use crate::file::{GraphFile, IdState, is_end, is_start};
use crate::shape::To;

#[derive(Debug, Default)]
pub(crate) struct Links {
    pub(crate) edges: Vec<Link>,
    pub(crate) starts: Vec<(usize, String)>,
    pub(crate) start_is_unknown: bool,
}

/// What is unknown is `None`.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) from: Option<usize>,
    pub(crate) handle: Option<String>,
    pub(crate) to: Option<To>,
    /// Its source is not in the file.
    pub(crate) is_foreign: bool,
    pub(crate) has_shared_id: bool,
    pub(crate) at: String,
}

impl Links {
    /// Without edges to the end, and those with an unknown source or target.
    pub(crate) fn by<'l>(&'l self, handle: &'l str) -> impl Iterator<Item = (usize, usize, &'l Link)> {
        self.edges.iter().filter(move |link| link.handle.as_deref() == Some(handle)).filter_map(
            |link| match (link.from, link.to) {
                (Some(from), Some(To::Node(to))) => Some((from, to, link)),
                _ => None,
            },
        )
    }
}

/// A wrong name counts as the nearest one, if a single one is the nearest.
pub(crate) fn links(file: &GraphFile, faults: &mut Faults) -> Links {
    // If no node could be read, no name is wrong.
    if file.nodes.is_empty() {
        return Links::default();
    }
    let names = Names::of(file);
    let mut links = Links::default();
    let mut seen = HashSet::new();
    for edge in &file.edges {
        let (source, target) = (edge.source.as_deref(), edge.target.as_deref());
        let leaves_start = source.is_some_and(|name| is_start(name) && !names.ids.contains_key(name));
        let (mut is_guess, mut is_foreign) = (false, false);
        let mut from = source.filter(|_| !leaves_start).and_then(|name| match names.ids.get(name) {
            Some(node) => *node,
            None => {
                let message = format!("no node {:?}", shown(name));
                let at = file.place(&format!("{}/source", edge.at));
                let intended = faults.unknown(true, at, FaultKind::UnknownNode, message, name, names.all());
                (is_guess, is_foreign) = (true, intended.is_none() && names.all_clear);
                names.intended(intended)
            }
        });
        let mut to = target.and_then(|name| match names.ids.get(name) {
            Some(node) => node.map(To::Node),
            None if is_end(name) => Some(To::End),
            None => {
                let message = format!("no node {:?}", shown(name));
                let at = file.place(&format!("{}/target", edge.at));
                let known = names.all().chain(["END"]);
                is_guess = true;
                match faults.unknown(true, at, FaultKind::UnknownNode, message, name, known) {
                    Some("END") => Some(To::End),
                    intended => names.intended(intended).map(To::Node),
                }
            }
        });
        if leaves_start {
            match to {
                Some(To::Node(node)) => links.starts.push((node, edge.at.clone())),
                Some(To::End) => {
                    let message = "the start leads directly to the end: let it lead to a node";
                    faults.fault(file.place(&format!("{}/target", edge.at)), FaultKind::Start, message);
                    links.start_is_unknown = true;
                }
                None => links.start_is_unknown = true,
            }
            continue;
        }
        if let (Some(node), Some(end), Some(handle)) = (from, to, &edge.handle) {
            let place = (node, handle, end);
            if is_guess && (seen.contains(&place) || end == To::Node(node)) {
                // A guess that repeats another edge, or makes a node lead to itself, is hardly right.
                from = names.exactly(source);
                to = names.exactly(target).map(To::Node).or(to.filter(|_| target.is_some_and(is_end)));
            } else if !is_guess && !seen.insert(place) {
                let message = format!(
                    "another edge leads from {:?} to {:?} already; remove one",
                    shown(source.unwrap_or_default()),
                    shown(target.unwrap_or_default())
                );
                faults.fault(&edge.at, FaultKind::Duplicate, message);
                continue;
            }
        }
        let has_shared_id = source.is_some_and(|name| names.ids.get(name) == Some(&None));
        let (handle, at) = (edge.handle.clone(), edge.at.clone());
        links.edges.push(Link { from, handle, to, is_foreign, has_shared_id, at });
    }
    links
}

struct Names<'f> {
    /// `None`: it is unclear which node has this id.
    ids: HashMap<&'f str, Option<usize>>,
    file: &'f GraphFile,
    /// If the id of some node is unclear, an unknown name may be its id.
    all_clear: bool,
}

impl<'f> Names<'f> {
    fn of(file: &'f GraphFile) -> Self {
        let mut ids = HashMap::new();
        for (index, node) in file.nodes.iter().enumerate().filter(|(_, node)| !node.id.is_empty()) {
            ids.entry(node.id.as_str()).or_insert(Some(index).filter(|_| node.id_state != IdState::Invalid));
        }
        ids.extend(file.unclear_name.iter().map(|name| (name.as_str(), None)));
        Names { ids, file, all_clear: file.nodes.iter().all(|node| node.id_state == IdState::Own) }
    }

    fn all(&self) -> impl Iterator<Item = &'f str> {
        self.file.nodes.iter().map(|node| node.id.as_str()).filter(|id| !id.is_empty())
    }

    fn intended(&self, name: Option<&str>) -> Option<usize> {
        self.exactly(name.filter(|_| self.all_clear))
    }

    fn exactly(&self, name: Option<&str>) -> Option<usize> {
        name.and_then(|name| *self.ids.get(name)?)
    }
}
