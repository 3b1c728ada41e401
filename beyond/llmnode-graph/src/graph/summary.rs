//! What follows from the nodes of a graph for the graph as a whole.

use std::collections::BTreeSet;

use crate::facts::{Facts, Read, Role};
use crate::graph::roles::ToolLink;
use crate::graph::step::ERROR;
use crate::template::key;

/// An agent pauses if a node that it calls does, and so on up.
pub(crate) fn pauses_of_tools(facts: &mut [Facts], called: &[Vec<ToolLink>]) {
    while let Some(node) = (0..facts.len()).find(|node| begins_to_pause(facts, called, *node)) {
        facts[node].pauses = true;
    }
}

fn begins_to_pause(facts: &[Facts], called: &[Vec<ToolLink>], node: usize) -> bool {
    if facts[node].pauses {
        return false;
    }
    called[node]
        .iter()
        .any(|link| link.is_callable() && facts[link.node].pauses)
}

/// The graph as a node of an outer one. `untrusted`: keys that models, tools and stores write.
pub(crate) fn summary(facts: &[Facts], untrusted: &BTreeSet<String>) -> Facts {
    let mut seen = BTreeSet::new();
    let mut writes = Vec::new();
    let mut also_writes: BTreeSet<&String> = BTreeSet::new();
    for step in facts.iter().filter(|facts| facts.role == Role::Step) {
        for write in &step.writes {
            if seen.insert(&write.key) {
                writes.push(write.clone());
            }
        }
        also_writes.extend(&step.also_writes);
    }
    let value_flows: Vec<(String, String)> = facts.iter().flat_map(value_flows).collect();
    let mut system_prompt_reads: Vec<Read> = Vec::new();
    for facts in facts {
        let in_prompts = facts.reads.iter().filter(|read| read.in_system_prompt);
        system_prompt_reads.extend(in_prompts.cloned());
        system_prompt_reads.extend(facts.system_prompt_reads.iter().cloned());
    }
    let mut read_keys = BTreeSet::new();
    for read in &system_prompt_reads {
        read_keys.insert(key(&read.name).to_owned());
    }
    // What becomes part of a read value counts as read.
    while let Some((from, _)) = value_flows
        .iter()
        .find(|(from, to)| read_keys.contains(to) && !read_keys.contains(from))
    {
        system_prompt_reads.push(Read {
            name: from.clone(),
            at: String::new(),
            in_system_prompt: true,
        });
        read_keys.insert(from.clone());
    }
    system_prompt_reads.retain(|read| !untrusted.contains(key(&read.name)));
    Facts {
        system_prompt_reads,
        value_flows,
        pauses: facts.iter().any(|facts| facts.pauses),
        writes,
        also_writes: also_writes.into_iter().cloned().collect(),
        writes_anything: facts.iter().any(|facts| facts.writes_anything),
        untrusted: facts.iter().any(|facts| facts.untrusted),
        retrieved: facts.iter().any(|facts| facts.retrieved),
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
