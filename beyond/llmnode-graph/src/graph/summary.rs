//! What follows from the nodes of a graph for the graph as a whole.

use std::collections::BTreeSet;

use crate::facts::{Facts, Read, Role};
use crate::graph::roles::ToolLink;
use crate::graph::step::ERROR;
use crate::template::key;

/// An agent pauses if a node that it calls does.
pub(crate) fn pauses_of_tools(facts: &mut [Facts], called: &[Vec<ToolLink>]) {
    let begins_to = |facts: &[Facts], at: usize| {
        let mut called = called[at].iter().filter(|link| link.is_callable());
        !facts[at].pauses && called.any(|link| facts[link.node].pauses)
    };
    while let Some(at) = (0..facts.len()).find(|at| begins_to(facts, *at)) {
        facts[at].pauses = true;
    }
}

/// The graph as a node of an outer one. `untrusted`: keys that models, tools and stores write.
pub(crate) fn summary(facts: &[Facts], untrusted: &BTreeSet<String>) -> Facts {
    let steps = || facts.iter().filter(|one| one.role == Role::Step);
    let mut seen = BTreeSet::new();
    let writes = steps()
        .flat_map(|one| &one.writes)
        .filter(|write| seen.insert(&write.key))
        .cloned()
        .collect();
    let also_writes: BTreeSet<&String> = steps().flat_map(|one| &one.also_writes).collect();
    let value_flows: Vec<(String, String)> = facts.iter().flat_map(value_flows).collect();
    let is_prompt = |read: &&Read| read.in_system_prompt;
    let reads = facts.iter().flat_map(|one| {
        one.reads
            .iter()
            .filter(is_prompt)
            .chain(&one.system_prompt_reads)
    });
    let mut system_prompt_reads: Vec<Read> = reads.cloned().collect();
    let mut read: BTreeSet<String> = system_prompt_reads
        .iter()
        .map(|read| key(&read.name).to_owned())
        .collect();
    // What becomes part of a read value counts as read.
    while let Some((from, _)) = value_flows
        .iter()
        .find(|(from, to)| read.contains(to) && !read.contains(from))
    {
        system_prompt_reads.push(Read {
            name: from.clone(),
            at: String::new(),
            in_system_prompt: true,
        });
        read.insert(from.clone());
    }
    system_prompt_reads.retain(|read| !untrusted.contains(key(&read.name)));
    Facts {
        system_prompt_reads,
        value_flows,
        pauses: facts.iter().any(|one| one.pauses),
        writes,
        also_writes: also_writes.into_iter().cloned().collect(),
        writes_anything: facts.iter().any(|one| one.writes_anything),
        untrusted: facts.iter().any(|one| one.untrusted),
        retrieved: facts.iter().any(|one| one.retrieved),
        ..Facts::default()
    }
}

fn value_flows(facts: &Facts) -> impl Iterator<Item = (String, String)> {
    let list = facts.iterates.iter().map(|list| key(&list.name));
    let items = list.flat_map(|list| facts.keys().map(|item| (list.to_owned(), item.clone())));
    items.chain(facts.value_flows.iter().cloned())
}

/// Text of models, tools and stores, its items in iterators, and errors, which quote it.
pub(crate) fn untrusted(facts: &[Facts]) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = facts
        .iter()
        .filter(|one| one.untrusted)
        .flat_map(Facts::keys)
        .cloned()
        .collect();
    found.insert(ERROR.to_owned());
    let value_flows: Vec<(String, String)> = facts.iter().flat_map(value_flows).collect();
    while let Some((_, to)) = value_flows
        .iter()
        .find(|(from, to)| found.contains(from) && !found.contains(to))
    {
        found.insert(to.clone());
    }
    found
}
