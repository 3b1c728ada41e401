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
use crate::facts::{Facts, Role};
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

pub(crate) fn check(file: &GraphFile, links: &Links, facts: &[Facts], faults: &mut Faults) -> Option<Plan> {
    let steps: Vec<bool> = facts.iter().map(|facts| facts.role == Role::Step).collect();
    let shape = step_graph::step_graph(file, links, facts, &steps);
    let start = start::start(file, links, &shape, (facts, &steps), faults)?;
    reachability::check(file, facts, (&shape, start), &steps, faults);
    let forks = forks::check(file, links, facts, (&shape, start), faults);
    if !faults.is_empty() {
        return None;
    }
    let needs = reads_writes::ReadsWrites { file, facts, steps: &steps }.check(&shape, start, &forks, faults);
    types::check(file, facts, faults);
    faults.is_empty().then(|| Plan { region: region(&shape, start, &forks), needs })
}
