//! Loads a graph within another.

use llmnode_reader::internal::one_line;

use crate::faults::{FaultKind, GraphFaults, shown};
use crate::graph::folder::text_of;
use crate::graph::load::load;
use crate::graph::loaded::Graph;
use crate::graph::nesting::Nesting;
use crate::graph::node_type::NodeLoader;

const DEPTH: usize = 5;

pub(crate) fn subgraph(node: &mut NodeLoader<'_>, name: &str) -> Option<Graph> {
    let Nesting { names, cache } = node.nesting;
    let path = |from: usize| {
        let names = names[from..].iter().map(String::as_str).chain([name]);
        one_line(names.collect::<Vec<_>>().join(" > "), 300)
    };
    if let Some(at) = names.iter().position(|one| one == name) {
        node.fault_of(FaultKind::Nesting, "/flow_id", format!("the graph contains itself: {}", path(at)));
        return None;
    }
    let too_deep = |height: usize| names.len() + height > DEPTH;
    if too_deep(0) {
        let message = format!("graphs are nested more than {DEPTH} deep: {}", path(0));
        node.fault_of(FaultKind::Nesting, "/flow_id", message);
        return None;
    }
    let loaded = cache.graphs.borrow().get(name).cloned();
    let loaded = match loaded {
        Some(loaded) => loaded,
        None => {
            let text = match text_of(name, node.registry) {
                Ok(text) => text,
                Err(wrong) => {
                    let place = node.settings.pointer("/flow_id");
                    wrong.note(&place, name, node.registry, node.faults);
                    return None;
                }
            };
            let loaded = load(&text, Some(name), node.registry, node.nesting);
            cache.graphs.borrow_mut().insert(name.to_owned(), loaded.clone());
            loaded
        }
    };
    match loaded {
        Ok(graph) if too_deep(graph.loaded.height) => {
            let message = format!(
                "graphs are nested more than {DEPTH} deep: {:?} has {} more within it",
                shown(name),
                graph.loaded.height
            );
            node.fault_of(FaultKind::Nesting, "/flow_id", message);
            None
        }
        Ok(graph) => {
            let warnings =
                GraphFaults { graph: None, faults: Vec::new(), warnings: graph.warnings().to_vec() };
            node.faults.absorb(&node.node.at, name, warnings);
            Some(graph)
        }
        Err(inner) => {
            node.faults.absorb(&node.node.at, name, inner);
            None
        }
    }
}
