//! What follows from the nodes of a graph for the graph as a whole.

use std::collections::BTreeSet;

use crate::facts::{Facts, Role};
use crate::graph::roles::ToolLink;
use crate::graph::step::ERROR;
use crate::template::key;

/// An agent waits where a node waits that it calls.
pub(crate) fn pauses_of_tools(facts: &mut [Facts], called: &[Vec<ToolLink>]) {
    let mut changed = true;
    while changed {
        changed = false;
        for (at, links) in called.iter().enumerate() {
            let mut within = links.iter().filter(|link| link.is_called());
            if !facts[at].pauses && within.any(|link| facts[link.node].pauses) {
                facts[at].pauses = true;
                changed = true;
            }
        }
    }
}

/// What the graph is to one that has it as a subgraph.
pub(crate) fn whole(facts: &[Facts]) -> Facts {
    let steps = || facts.iter().filter(|one| one.role == Role::Step);
    let mut seen = BTreeSet::new();
    let writes =
        steps().flat_map(|one| &one.writes).filter(|write| seen.insert(&write.key)).cloned().collect();
    let also_writes: BTreeSet<&String> = steps().flat_map(|one| &one.also_writes).collect();
    Facts {
        pauses: facts.iter().any(|one| one.pauses),
        writes,
        also_writes: also_writes.into_iter().cloned().collect(),
        writes_anything: facts.iter().any(|one| one.writes_anything),
        untrusted: facts.iter().any(|one| one.untrusted),
        retrieved: facts.iter().any(|one| one.retrieved),
        ..Facts::default()
    }
}

/// The keys that models, tools and stores write, and what iterators take out of them; and what an error says.
pub(crate) fn untrusted(facts: &[Facts]) -> BTreeSet<String> {
    let mut found: BTreeSet<String> =
        facts.iter().filter(|one| one.untrusted).flat_map(Facts::keys).cloned().collect();
    found.insert(ERROR.to_owned());
    loop {
        let taken = |one: &&Facts| one.iterates.as_ref().is_some_and(|read| found.contains(key(&read.name)));
        let more: Vec<String> = facts.iter().filter(taken).flat_map(Facts::keys).cloned().collect();
        let before = found.len();
        found.extend(more);
        if found.len() == before {
            return found;
        }
    }
}
