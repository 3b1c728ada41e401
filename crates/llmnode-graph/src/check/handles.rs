//! The handles by which edges leave their nodes.

use std::collections::HashSet;

use super::Links;
use crate::facts::{Facts, Role};
use crate::faults::{FaultKind, Faults, shown};
use crate::file::GraphFile;

pub(super) struct Handles {
    /// The handle of each edge; `None`: unknown.
    pub(super) of_edge: Vec<Option<String>>,
    pub(super) missing: Vec<(usize, String)>,
}

/// A wrong handle counts as the nearest name, or as the only one that lacks an edge.
pub(super) fn check(file: &GraphFile, links: &Links, facts: &[Facts], faults: &mut Faults) -> Handles {
    let mut of_edge: Vec<Option<String>> = links.edges.iter().map(|link| link.handle.clone()).collect();
    let mut used: HashSet<(usize, String)> = HashSet::new();
    let mut wrong = Vec::new();
    let mut unknown = HashSet::new();
    for (edge, link) in links.edges.iter().enumerate() {
        let Some(from) = link.from else { continue };
        let Facts { handles, role, .. } = &facts[from];
        match &link.handle {
            None => _ = unknown.insert(from),
            Some(name) if handles.allows_unknown || *role == Role::Tool || handles.known.contains(name) => {
                used.insert((from, name.clone()));
            }
            Some(name) => wrong.push((edge, from, name)),
        }
    }
    for (edge, from, name) in wrong {
        let meant = report_unknown_handle(file, links, facts, (edge, from, name), faults);
        let mut lacking = facts[from].handles.required.iter();
        let lacking = |used: &HashSet<_>| {
            let mut lacking = lacking.by_ref().filter(|handle| !used.contains(&(from, (*handle).clone())));
            lacking.next().filter(|_| lacking.next().is_none()).cloned()
        };
        let mut lacking = lacking;
        of_edge[edge] = meant.or_else(|| lacking(&used));
        match &of_edge[edge] {
            Some(handle) => _ = used.insert((from, handle.clone())),
            None => _ = unknown.insert(from),
        }
    }
    // An edge whose source is unknown may leave any node.
    let stray = links.edges.iter().filter(|link| link.from.is_none() && !link.has_shared_id);
    let stray = stray.map(|link| link.handle.as_deref());
    let stray: HashSet<Option<&str>> = stray.collect();
    let mut missing = Vec::new();
    for (node, of) in
        facts.iter().enumerate().filter(|(_, of)| of.role != Role::InvalidId && !of.has_shared_id)
    {
        for handle in of.handles.required.iter().filter(|handle| !used.contains(&(node, (*handle).clone()))) {
            if !unknown.contains(&node) && !stray.contains(&None) && !stray.contains(&Some(handle)) {
                let (id, name) = (shown(&file.nodes[node].id), shown(handle));
                let message = format!(
                    "{id:?} has no edge for its handle {name:?}: add one with \"sourceHandle\": {name:?}"
                );
                faults.fault(&file.nodes[node].at, FaultKind::MissingEdge, message);
            }
            missing.push((node, handle.clone()));
        }
    }
    Handles { of_edge, missing }
}

fn report_unknown_handle(
    file: &GraphFile,
    links: &Links,
    facts: &[Facts],
    (edge, from, name): (usize, usize, &str),
    faults: &mut Faults,
) -> Option<String> {
    let (node, at) = (shown(&file.nodes[from].id), &links.edges[edge].at);
    let known = facts[from].handles.known.iter().map(String::as_str);
    if name == "default" {
        let message =
            format!("{node:?} has no handle \"default\": write one of its handles as \"sourceHandle\"");
        faults.unknown(true, at, FaultKind::UnknownHandle, message, "", known).map(str::to_owned)
    } else {
        let message = match name {
            "rejected" => format!(
                "{node:?} has no handle \"rejected\" without \"require_approval\": true in its \"data\""
            ),
            name => format!("{node:?} has no handle {:?}", shown(name)),
        };
        let at = file.place(&format!("{at}/sourceHandle"));
        faults.unknown(true, at, FaultKind::UnknownHandle, message, name, known).map(str::to_owned)
    }
}
