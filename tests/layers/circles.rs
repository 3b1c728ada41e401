//! Files that import each other: the strongly connected components, by Tarjan's algorithm.

use std::collections::{BTreeMap, BTreeSet};

use crate::imports::{Module, Sources, imports};

/// The circles of a crate, each with its files in order: `["run/attempt", "run/call"]`.
pub(crate) fn circles(sources: &Sources) -> Vec<Vec<String>> {
    let edges: BTreeMap<&Module, BTreeSet<Module>> = imports(sources)
        .into_iter()
        .map(|(module, imports)| {
            (
                module,
                imports.into_iter().map(|import| import.file).collect(),
            )
        })
        .collect();
    let mut search = Search {
        edges: &edges,
        numbers: BTreeMap::new(),
        path: Vec::new(),
        circles: Vec::new(),
    };
    for module in edges.keys() {
        search.visit(module);
    }
    search.circles.sort();
    search.circles
}

struct Search<'a> {
    edges: &'a BTreeMap<&'a Module, BTreeSet<Module>>,
    numbers: BTreeMap<&'a Module, usize>,
    path: Vec<&'a Module>,
    circles: Vec<Vec<String>>,
}

impl<'a> Search<'a> {
    /// Returns the lowest number that can be reached from the module along the path.
    fn visit(&mut self, module: &'a Module) -> usize {
        if let Some(number) = self.numbers.get(module) {
            return if self.path.contains(&module) {
                *number
            } else {
                usize::MAX
            };
        }
        let number = self.numbers.len();
        self.numbers.insert(module, number);
        let start = self.path.len();
        self.path.push(module);
        let edges = self.edges;
        let lowest = edges[module]
            .iter()
            .map(|next| self.visit(next))
            .min()
            .unwrap_or(number)
            .min(number);
        if lowest == number {
            let circle = self.path.split_off(start);
            if circle.len() > 1 {
                let mut files: Vec<_> = circle.iter().map(|module| module.join("/")).collect();
                files.sort();
                self.circles.push(files);
            }
        }
        lowest
    }
}
