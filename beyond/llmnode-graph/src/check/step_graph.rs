//! The steps of a file with their edges.

use std::collections::HashMap;

use super::links::Links;
use crate::facts::{Facts, Role};
use crate::file::GraphFile;
use crate::shape::{Handle, OutEdge, Shape, To};

/// Handles that do not continue the flow: without an edge, nothing ends.
const NON_FLOW_HANDLES: &[&str] = &["error", "rejected", "tool-call"];

pub(super) struct StepGraph<'f> {
    pub(super) file: &'f GraphFile,
    pub(super) links: &'f Links,
    pub(super) facts: &'f [Facts],
    pub(super) is_step: Vec<bool>,
    pub(super) shape: Shape,
}

impl<'f> StepGraph<'f> {
    pub(super) fn new(file: &'f GraphFile, links: &'f Links, facts: &'f [Facts]) -> Self {
        let is_step: Vec<bool> = facts.iter().map(|facts| facts.role == Role::Step).collect();
        let shape = shape(file, links, facts, &is_step);
        StepGraph {
            file,
            links,
            facts,
            is_step,
            shape,
        }
    }
}

fn shape(file: &GraphFile, links: &Links, facts: &[Facts], steps: &[bool]) -> Shape {
    let count = file.nodes.len();
    let mut shape = Shape {
        ways: vec![Vec::new(); count],
        ends: vec![false; count],
    };
    let mut places: HashMap<(usize, String), usize> = HashMap::new();
    for (edge, link) in links.edges.iter().enumerate() {
        if !steps[link.from] || link.to.node().is_some_and(|to| !steps[to]) {
            continue;
        }
        let name = match (&*link.handle, link.to) {
            // Only one of the model's calls is taken.
            ("tool-call", To::Node(to)) => format!("tool-call:{}", file.nodes[to].id),
            (name, _) => name.to_owned(),
        };
        let ways = &mut shape.ways[link.from];
        let place = *places.entry((link.from, name.clone())).or_insert_with(|| {
            ways.push(Handle {
                name,
                to: Vec::new(),
            });
            ways.len() - 1
        });
        ways[place].to.push(OutEdge { to: link.to, edge });
    }
    for node in (0..count).filter(|node| steps[*node]) {
        let Facts {
            handles,
            required_handles,
            ..
        } = &facts[node];
        for handle in handles {
            let has_edge = shape.ways[node].iter().any(|way| way.name == *handle);
            let is_flow = !NON_FLOW_HANDLES.contains(&handle.as_str());
            if is_flow && !required_handles.contains(handle) && !has_edge {
                shape.ends[node] = true;
            }
        }
    }
    shape
}
