//! Loads a graph within another.

use std::rc::Rc;

use llmnode_reader::internal::one_line;

use crate::faults::{FaultKind, GraphFaults, shown};
use crate::graph::folder::text_of;
use crate::graph::load::load;
use crate::graph::loaded::Graph;
use crate::graph::node_type::{LoadContext, NodeLoader};

const DEPTH: usize = 5;

pub(crate) fn subgraph(node: &mut NodeLoader<'_>, name: &str) -> Option<Graph> {
    let LoadContext {
        registry,
        names,
        cache,
    } = node.context;
    let path = |from: usize| {
        let names = names[from..].iter().map(String::as_str).chain([name]);
        one_line(names.collect::<Vec<_>>().join(" > "), 300)
    };
    if let Some(at) = names.iter().position(|one| one == name) {
        return refused(node, format!("the graph contains itself: {}", path(at)));
    }
    let too_deep = |height: usize| names.len() + height > DEPTH;
    if too_deep(0) {
        return refused(
            node,
            format!("graphs are nested more than {DEPTH} deep: {}", path(0)),
        );
    }
    let known = cache.graphs.borrow().get(name).cloned();
    let loaded = match known {
        Some(loaded) => loaded,
        None => {
            let text = text_of(
                name,
                registry,
                &node.node.data.pointer("/flow_id"),
                node.faults,
            )?;
            let loaded = Rc::new(load(&text, Some(name), node.context));
            cache
                .graphs
                .borrow_mut()
                .insert(name.to_owned(), Rc::clone(&loaded));
            loaded
        }
    };
    // A file that two nodes refer to reports its faults only once.
    let is_first = node.faults.is_first(name);
    let graph = match &*loaded {
        Ok(graph) => graph.clone(),
        Err(inner) if is_first => {
            node.faults.absorb(&node.node.at, name, inner.clone());
            return None;
        }
        Err(_) => {
            node.faults.repeated();
            return None;
        }
    };
    let (height, named) = (graph.loaded.height, shown(name));
    if too_deep(height) {
        let message = format!(
            "graphs are nested more than {DEPTH} deep: {named:?} has {height} more within it"
        );
        return refused(node, message);
    }
    if is_first {
        let warnings = GraphFaults {
            graph: None,
            faults: Vec::new(),
            warnings: graph.warnings().to_vec(),
        };
        node.faults.absorb(&node.node.at, name, warnings);
    }
    Some(graph)
}

fn refused(node: &mut NodeLoader<'_>, message: String) -> Option<Graph> {
    node.fault_of(FaultKind::Nesting, "/flow_id", message);
    None
}
