//! Whether the nodes and edges of a file make one graph that runs: handles, start, ways, forks, data.
//!
//! A fault counts as mended for all further checks, by what it proposes. Where it is not clear what was meant, the place is
//! unknown, and nothing is said that may follow from it.

mod data;
mod flat;
mod flow;
mod forks;
mod handles;
mod keys;
mod links;
mod start;
#[cfg(test)]
mod tests;
mod types;
mod ways;

use std::collections::HashMap;

pub(crate) use self::links::{Link, Links, links};
use crate::facts::{Facts, Role};
use crate::faults::Faults;
use crate::file::GraphFile;
pub(crate) use crate::shape::{Fork, Next, Region, To};
use crate::shape::{Handle, Shape, Way, region};

/// A graph as it runs.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) region: Region,
    /// What is read and never written, sorted: where a file does not say what its inputs are, a run has to be given it.
    pub(crate) needs: Vec<String>,
}

/// Handles that are no way on: where they have no edge, nothing ends.
const NO_WAYS: &[&str] = &["error", "rejected", "tool-call"];

/// Notes what is wrong with a graph. `facts`: of each node of the file. `None`: there are faults.
pub(crate) fn check(file: &GraphFile, links: &Links, facts: &[Facts], faults: &mut Faults) -> Option<Plan> {
    let handles = handles::check(file, links, facts, faults);
    let steps: Vec<bool> = facts.iter().map(|facts| facts.role == Role::Step).collect();
    let drawn = drawn(file, links, facts, &steps, &handles);
    let start = start::start(file, links, &drawn, (facts, &steps), faults);
    let roots = ways::check(file, facts, &drawn, &steps, &start, faults);
    let found = forks::check(file, facts, &drawn, &roots, faults);
    let needs = data::Data { file, facts, steps: &steps }.check(&drawn.shape, &roots, &found, faults);
    types::check(file, facts, faults);
    let start = roots.start.filter(|_| faults.is_empty())?;
    Some(Plan { region: region(&drawn.shape, start, &found), needs })
}

/// The steps and their edges as a graph.
struct Drawn<'l> {
    shape: Shape,
    /// The edges of the file by the numbers that the shape gives them.
    edges: Vec<&'l Link>,
    /// Nodes to which an edge leads whose source is unknown, and whether that is not in the file.
    entered: Vec<(usize, bool)>,
    /// The edges whose source is unknown.
    unknown_sources: Vec<&'l Link>,
    /// Whether the target of an edge is unknown, or an edge is missing.
    has_unknown_target: bool,
}

fn drawn<'l>(
    file: &GraphFile,
    links: &'l Links,
    facts: &[Facts],
    steps: &[bool],
    handles: &'l handles::Handles,
) -> Drawn<'l> {
    let count = file.nodes.len();
    let mut ways: Vec<Vec<Handle>> = vec![Vec::new(); count];
    let mut places: HashMap<(usize, String), usize> = HashMap::new();
    let mut of_handle = |node: usize, name: String| {
        let ways = &mut ways[node];
        let place = *places.entry((node, name.clone())).or_insert_with(|| {
            // Edges of another node with the same id are no branches.
            ways.push(Handle { name, to: Vec::new(), strays: facts[node].is_shared });
            ways.len() - 1
        });
        (node, place)
    };
    let (mut edges, mut entered, mut unknown_sources) = (Vec::new(), Vec::new(), Vec::new());
    let (mut all, mut strays) = (Vec::new(), Vec::new());
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
                    // Calls of the model: one of them is taken.
                    (Some("tool-call"), Some(to)) => format!("tool-call:{}", file.nodes[to].id),
                    (Some(name), _) => name.to_owned(),
                    // A way by itself.
                    (None, _) => format!("?{}", edges.len()),
                };
                let place = of_handle(from, name);
                match link.to {
                    Some(to) => all.push((place, Way { to, edge: edges.len() })),
                    None => strays.push(place),
                }
                edges.push(link);
            }
            Some(_) => {}
        }
    }
    strays.extend(
        handles
            .missing
            .iter()
            .filter(|(node, _)| steps[*node])
            .map(|(node, name)| of_handle(*node, name.clone())),
    );
    let mut shape = Shape { ways, ends: vec![false; count], strays: vec![false; count] };
    for ((node, place), way) in all {
        let to = &mut shape.ways[node][place].to;
        // A misspelled edge may be the same as another.
        if to.iter().all(|other| other.to != way.to) {
            to.push(way);
        }
    }
    for (node, place) in &strays {
        shape.ways[*node][*place].strays = true;
        shape.strays[*node] = true;
    }
    for node in (0..count).filter(|node| steps[*node]) {
        let of = &facts[node].handles;
        let has = |handle: &str| shape.ways[node].iter().any(|one| one.name == handle);
        let is_way =
            |handle: &&str| !NO_WAYS.contains(handle) && !of.required.iter().any(|one| one == handle);
        let known = of.known.iter().map(String::as_str).chain(of.open.then_some("default"));
        for handle in known.filter(is_way).filter(|handle| !has(handle)) {
            // An edge whose source is unknown may leave here.
            let may_leave = |link: &&Link| {
                let is_free = link.from.is_none() && (!link.is_shared || facts[node].is_shared);
                is_free && link.handle.as_deref().is_none_or(|by| by == handle)
            };
            match unknown_sources.iter().any(may_leave) {
                true => shape.strays[node] = true,
                false => shape.ends[node] = true,
            }
        }
    }
    let has_unknown_target = !strays.is_empty()
        || links.start_is_unknown
        || links.edges.iter().any(|link| link.from.is_none() && link.to.is_none());
    Drawn { shape, edges, entered, unknown_sources, has_unknown_target }
}
