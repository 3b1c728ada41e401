//! Checks that the nodes and edges of a file make one graph that runs: handles, start, paths, forks, data.
//!
//! The checks are in stages. Each lists all of its faults, and the next one begins only if there are none.

mod dataflow;
mod forks;
mod handles;
mod keys;
mod links;
mod order;
mod reachability;
mod reads_writes;
mod start;
mod step_graph;
#[cfg(test)]
mod tests;
mod types;

pub(crate) use self::handles::handles;
pub(crate) use self::links::{Link, Links, links};
use self::step_graph::StepGraph;
use crate::facts::Facts;
use crate::faults::Faults;
use crate::file::GraphFile;
use crate::shape::region;
pub(crate) use crate::shape::{Fork, Next, Region, To};

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) region: Region,
    /// Read and never written, sorted. Without declared inputs, a run has to provide them.
    pub(crate) needs: Vec<String>,
}

pub(crate) fn check(
    file: &GraphFile,
    links: &Links,
    facts: &[Facts],
    faults: &mut Faults,
) -> Option<Plan> {
    let graph = StepGraph::new(file, links, facts);
    let start = graph.start(faults)?;
    graph.reachability(start, faults);
    let forks = graph.forks(start, faults);
    if !faults.is_empty() {
        return None;
    }
    let needs = graph.reads_writes(start, &forks, faults);
    types::check(file, facts, faults);
    faults.is_empty().then(|| Plan {
        region: region(&graph.shape, start, &forks),
        needs,
    })
}
