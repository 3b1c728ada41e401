//! Checks that the nodes and edges of a file make one graph that runs: handles, start, paths, forks, data.
//!
//! In all further checks a fault counts as corrected by its proposal. If it is unclear what was intended, the place is
//! unknown, and nothing is reported that may only follow from it.

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

pub(crate) use self::links::{Link, Links, links};
use crate::facts::{Facts, Role};
use crate::faults::Faults;
use crate::file::GraphFile;
use crate::shape::region;
pub(crate) use crate::shape::{Fork, Next, Region, To};

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) region: Region,
    /// Read and never written, sorted: if a file does not declare its inputs, a run has to be given these.
    pub(crate) needs: Vec<String>,
}

/// `facts`: of each node of the file. `None`: there are faults.
pub(crate) fn check(file: &GraphFile, links: &Links, facts: &[Facts], faults: &mut Faults) -> Option<Plan> {
    let handles = handles::check(file, links, facts, faults);
    let steps: Vec<bool> = facts.iter().map(|facts| facts.role == Role::Step).collect();
    let step_graph = step_graph::step_graph(file, links, facts, &steps, &handles);
    let start = start::start(file, links, &step_graph, (facts, &steps), faults);
    let roots = reachability::check(file, facts, &step_graph, &steps, &start, faults);
    let found = forks::check(file, facts, &step_graph, &roots, faults);
    let needs = reads_writes::ReadsWrites { file, facts, steps: &steps }.check(
        &step_graph.shape,
        &roots,
        &found,
        faults,
    );
    types::check(file, facts, faults);
    let start = roots.start.filter(|_| faults.is_empty())?;
    Some(Plan { region: region(&step_graph.shape, start, &found), needs })
}
