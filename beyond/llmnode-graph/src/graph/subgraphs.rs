//! Loads a graph within another.
//!
//! Each file is loaded once, however many nodes refer to it, and reports its faults to the first of them.

use std::rc::Rc;

use llmnode_reader::text::one_line;

use crate::faults::{FaultKind, GraphFaults, shown};
use crate::graph::folder::text_of;
use crate::graph::load::load;
use crate::graph::loaded::Graph;
use crate::graph::node_type::{LoadContext, NodeLoader};

/// Graphs within graphs. Each is a level of the stack.
const DEPTH: usize = 5;

/// `name`: of a file in the registry's folder.
pub(crate) fn subgraph(node: &mut NodeLoader<'_>, name: &str) -> Option<Graph> {
    let names = node.context.names;
    if let Some(index) = names.iter().position(|outer| outer == name) {
        let path = path_to(&names[index..], name);
        return refused(node, format!("the graph contains itself: {path}"));
    }
    let depth = names.len();
    if depth > DEPTH {
        let path = path_to(names, name);
        return refused(
            node,
            format!("graphs are nested more than {DEPTH} deep: {path}"),
        );
    }
    let loaded = loaded_once(node, name)?;
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
    let height = graph.loaded.height;
    let named = shown(name);
    if depth + height > DEPTH {
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

/// A file is read and loaded once for all nodes of one load that refer to it. `None`: it cannot be read, which the faults say.
fn loaded_once(node: &mut NodeLoader<'_>, name: &str) -> Option<Rc<Result<Graph, GraphFaults>>> {
    let LoadContext {
        registry, cache, ..
    } = node.context;
    let loaded = cache.graphs.borrow().get(name).cloned();
    if loaded.is_some() {
        return loaded;
    }
    let place = node.node.data.pointer("/flow_id");
    let text = text_of(name, registry, &place, node.faults)?;
    let loaded = Rc::new(load(&text, Some(name), node.context));
    cache
        .graphs
        .borrow_mut()
        .insert(name.to_owned(), Rc::clone(&loaded));
    Some(loaded)
}

/// `outer > inner > name`.
fn path_to(names: &[String], name: &str) -> String {
    let mut path = String::new();
    for outer in names {
        path.push_str(outer);
        path.push_str(" > ");
    }
    path.push_str(name);
    one_line(path, 300)
}
fn refused(node: &mut NodeLoader<'_>, message: String) -> Option<Graph> {
    node.fault_of(FaultKind::Nesting, "/flow_id", message);
    None
}
