//! The handles by which edges leave their nodes.

use std::collections::HashSet;

use super::{Link, Links};
use crate::facts::{Facts, Role, TOOL_CALL};
use crate::faults::{FaultKind, Faults, shown};
use crate::file::GraphFile;

/// `facts`: of the loaded nodes. Returns whether each edge that leads to a tool has the handle for it.
pub(crate) fn handles(
    file: &GraphFile,
    links: &Links,
    facts: &[Option<Facts>],
    faults: &mut Faults,
) -> bool {
    let before = faults.noted();
    let mut calls_are_known = true;
    for link in &links.edges {
        // A tool's edges lead back to its caller, by any handle.
        let Some(of) = facts[link.from].as_ref().filter(|of| of.role == Role::Step) else {
            continue;
        };
        if !of.handles.contains(&link.handle) {
            unknown_handle(file, link, of, faults);
            calls_are_known &= !of.handles.iter().any(|handle| handle == TOOL_CALL);
        }
    }
    // An unknown handle may be the one without an edge.
    if links.are_complete && faults.noted() == before {
        missing_edges(file, links, facts, faults);
    }
    calls_are_known
}

fn unknown_handle(file: &GraphFile, link: &Link, of: &Facts, faults: &mut Faults) {
    let (place, name, remedy) = match &*link.handle {
        "default" => ("", "", ": write one of its handles as \"sourceHandle\""),
        "rejected" => (
            "/sourceHandle",
            "rejected",
            " without \"require_approval\": true in its \"data\"",
        ),
        name => ("/sourceHandle", name, ""),
    };
    let node = file.id(link.from);
    let at = format!("{}{place}", link.at);
    let message = format!("{node:?} has no handle {:?}{remedy}", shown(&link.handle));
    let handles_of = of.handles.iter().map(String::as_str);
    faults.unknown(
        true,
        at,
        FaultKind::UnknownHandle,
        message,
        name,
        handles_of,
    );
}

fn missing_edges(file: &GraphFile, links: &Links, facts: &[Option<Facts>], faults: &mut Faults) {
    let used: HashSet<(usize, &str)> = links
        .edges
        .iter()
        .map(|link| (link.from, &*link.handle))
        .collect();
    for (node, of) in facts
        .iter()
        .enumerate()
        .filter_map(|(node, of)| Some((node, of.as_ref()?)))
    {
        for handle in of
            .required_handles
            .iter()
            .filter(|handle| !used.contains(&(node, handle)))
        {
            let id = file.id(node);
            let name = shown(handle);
            let message = format!(
                "{id:?} has no edge for its handle {name:?}: add one with \"sourceHandle\": {name:?}"
            );
            faults.fault(&file.nodes[node].at, FaultKind::MissingEdge, message);
        }
    }
}
