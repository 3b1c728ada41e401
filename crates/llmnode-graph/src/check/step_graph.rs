//! The steps of a file with their edges.

use std::collections::HashMap;

use super::handles::Handles;
use super::links::{Link, Links};
use crate::facts::Facts;
use crate::file::GraphFile;
use crate::shape::{Handle, OutEdge, Shape, To};

/// Handles that do not continue the flow: if they have no edge, nothing ends.
const NON_FLOW_HANDLES: &[&str] = &["error", "rejected", "tool-call"];

pub(super) struct StepGraph<'l> {
    pub(super) shape: Shape,
    pub(super) edges: Vec<&'l Link>,
    /// Targets of edges with an unknown source, and whether that source is missing in the file.
    pub(super) entered: Vec<(usize, bool)>,
    pub(super) unknown_sources: Vec<&'l Link>,
    /// An edge has an unknown target, or is missing.
    pub(super) has_unknown_target: bool,
}

pub(super) fn step_graph<'l>(
    file: &GraphFile,
    links: &'l Links,
    facts: &[Facts],
    steps: &[bool],
    handles: &'l Handles,
) -> StepGraph<'l> {
    let count = file.nodes.len();
    let mut ways: Vec<Vec<Handle>> = vec![Vec::new(); count];
    let mut places: HashMap<(usize, String), usize> = HashMap::new();
    let mut of_handle = |node: usize, name: String| {
        let ways = &mut ways[node];
        let place = *places.entry((node, name.clone())).or_insert_with(|| {
            // Edges of another node with the same id are not branches.
            ways.push(Handle { name, to: Vec::new(), unknown_exits: facts[node].has_shared_id });
            ways.len() - 1
        });
        (node, place)
    };
    let (mut edges, mut entered, mut unknown_sources) = (Vec::new(), Vec::new(), Vec::new());
    let (mut all, mut unknown_exits) = (Vec::new(), Vec::new());
    for (link, handle) in links.edges.iter().zip(&handles.of_edge) {
        let (to_step, to_node) = match link.to {
            Some(To::Node(to)) => (steps[to], Some(to)),
            _ => (true, None),
        };
        match link.from {
            None => {
                unknown_sources.push(link);
                entered.extend(to_node.filter(|_| to_step).map(|to| (to, link.is_foreign)));
            }
            Some(from) if steps[from] && to_step => {
                let name = match (handle.as_deref(), to_node) {
                    // Calls of the model are alternatives: one of them is taken.
                    (Some("tool-call"), Some(to)) => format!("tool-call:{}", file.nodes[to].id),
                    (Some(name), _) => name.to_owned(),
                    // An edge with an unknown handle does not run beside others.
                    (None, _) => format!("?{}", edges.len()),
                };
                let place = of_handle(from, name);
                match link.to {
                    Some(to) => all.push((place, OutEdge { to, edge: edges.len() })),
                    None => unknown_exits.push(place),
                }
                edges.push(link);
            }
            Some(_) => {}
        }
    }
    unknown_exits.extend(
        handles
            .missing
            .iter()
            .filter(|(node, _)| steps[*node])
            .map(|(node, name)| of_handle(*node, name.clone())),
    );
    let mut shape = Shape { ways, ends: vec![false; count], unknown_exits: vec![false; count] };
    for ((node, place), way) in all {
        let to = &mut shape.ways[node][place].to;
        // A misspelled edge may be the same as another.
        if to.iter().all(|other| other.to != way.to) {
            to.push(way);
        }
    }
    for (node, place) in &unknown_exits {
        shape.ways[*node][*place].unknown_exits = true;
        shape.unknown_exits[*node] = true;
    }
    for node in (0..count).filter(|node| steps[*node]) {
        let of = &facts[node].handles;
        let has = |handle: &str| shape.ways[node].iter().any(|one| one.name == handle);
        let is_way = |handle: &&str| {
            !NON_FLOW_HANDLES.contains(handle) && !of.required.iter().any(|one| one == handle)
        };
        let known = of.known.iter().map(String::as_str).chain(of.allows_unknown.then_some("default"));
        for handle in known.filter(is_way).filter(|handle| !has(handle)) {
            // An edge whose source is unknown may leave here.
            let may_leave = |link: &&Link| {
                let is_free = link.from.is_none() && (!link.has_shared_id || facts[node].has_shared_id);
                is_free && link.handle.as_deref().is_none_or(|by| by == handle)
            };
            match unknown_sources.iter().any(may_leave) {
                true => shape.unknown_exits[node] = true,
                false => shape.ends[node] = true,
            }
        }
    }
    let has_unknown_target = !unknown_exits.is_empty()
        || links.start_is_unknown
        || links.edges.iter().any(|link| link.from.is_none() && link.to.is_none());
    StepGraph { shape, edges, entered, unknown_sources, has_unknown_target }
}
