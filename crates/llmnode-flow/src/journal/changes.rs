//! What differs between two flows.

use std::collections::BTreeSet;

use crate::flow::{Outline, OutlineStep, To};

/// Everything in which a flow differs from what it was, in words; none: a run of the one goes on as the other.
pub(super) fn changes(was: &Outline, is: &Outline) -> Vec<String> {
    let mut found = Vec::new();
    compare(was, is, "the flow", &mut found);
    found
}

fn compare(was: &Outline, is: &Outline, place: &str, found: &mut Vec<String>) {
    match (was, is) {
        (Outline::Flow(old, before), Outline::Flow(new, now)) => {
            if old != new {
                found.push(format!("{place} was `{old}`, and is `{new}`"));
            }
            steps(before, now, place, found);
        }
        (Outline::Parallel(before), Outline::Parallel(now)) if before.len() == now.len() => {
            for (old, new) in before.iter().zip(now) {
                compare(old, new, place, found);
            }
        }
        _ if was == is => {}
        _ => found.push(format!("{place} was {}, and is {}", what(was), what(is))),
    }
}

fn what(outline: &Outline) -> String {
    match outline {
        Outline::Node(name) => format!("the node `{name}`"),
        Outline::Batch(name) => format!("a batch of the node `{name}`"),
        Outline::Flow(name, _) => format!("the flow `{name}`"),
        Outline::Parallel(places) => {
            format!("{} side by side", places.iter().map(what).collect::<Vec<_>>().join(", "))
        }
    }
}

fn steps(was: &[OutlineStep], is: &[OutlineStep], place: &str, found: &mut Vec<String>) {
    let label = |step: Option<&OutlineStep>| step.map(|step| step.label.clone());
    if let (Some(old), Some(new)) = (label(was.first()), label(is.first()))
        && old != new
    {
        found.push(format!("{place} started at `{old}`, and starts at `{new}`"));
    }
    for old in was {
        match is.iter().find(|new| new.label == old.label) {
            None => found.push(format!("the step `{}` is gone", old.label)),
            Some(new) => {
                let place = format!("the step `{}`", old.label);
                compare(&old.place, &new.place, &place, found);
                edges(old, new, found);
            }
        }
    }
    let new = is.iter().filter(|new| !was.iter().any(|old| old.label == new.label));
    found.extend(new.map(|step| format!("the step `{}` is new", step.label)));
}

fn edges(was: &OutlineStep, is: &OutlineStep, found: &mut Vec<String>) {
    let to = |step: &OutlineStep, action: &str| {
        step.edges.iter().find(|(name, _)| name == action).map(|(_, target)| leads(target))
    };
    let actions: BTreeSet<&str> = was.edges.iter().chain(&is.edges).map(|(action, _)| &**action).collect();
    for action in actions {
        let by = if action.is_empty() { String::new() } else { format!(" by `{action}`") };
        let label = &was.label;
        match (to(was, action), to(is, action)) {
            (Some(old), Some(new)) if old != new => {
                found.push(format!("`{label}`{by} led {old}, and leads {new}"));
            }
            (Some(old), None) => found.push(format!("`{label}`{by} led {old}, and has no such edge now")),
            (None, Some(new)) => found.push(format!("`{label}`{by} leads {new}, and had no such edge")),
            _ => {}
        }
    }
}

fn leads(target: &To) -> String {
    match target {
        To::Step(label) => format!("to `{label}`"),
        To::End => "out of the flow".to_owned(),
        _ => "nowhere yet".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(label: &'static str, node: &'static str, edges: &[(&'static str, &'static str)]) -> OutlineStep {
        let target = |to: &'static str| match to {
            "end" => To::End,
            label => To::Step(label.into()),
        };
        let edges = edges.iter().map(|(action, to)| ((*action).into(), target(to))).collect();
        OutlineStep { label: label.into(), place: Outline::Node(node.into()), edges }
    }

    fn flow(steps: Vec<OutlineStep>) -> Outline {
        Outline::Flow("research".into(), steps)
    }

    #[test]
    fn each_difference_is_named() {
        let was = flow(vec![
            step("Decide", "decide", &[("Search", "Search"), ("Answer", "Answer")]),
            step("Search", "search", &[("", "Decide")]),
            step("Answer", "answer", &[("", "end")]),
        ]);
        let is = flow(vec![
            step("Decide", "decide2", &[("Search", "Find"), ("Stop", "end")]),
            step("Find", "search", &[("", "Decide")]),
            step("Answer", "answer", &[("", "Decide")]),
        ]);
        assert_eq!(
            changes(&was, &is),
            [
                "the step `Decide` was the node `decide`, and is the node `decide2`",
                "`Decide` by `Answer` led to `Answer`, and has no such edge now",
                "`Decide` by `Search` led to `Search`, and leads to `Find`",
                "`Decide` by `Stop` leads out of the flow, and had no such edge",
                "the step `Search` is gone",
                "`Answer` led out of the flow, and leads to `Decide`",
                "the step `Find` is new",
            ]
        );
    }

    #[test]
    fn the_order_of_steps_and_edges_matters_only_at_the_start() {
        let (a, b) = (step("A", "a", &[("x", "B"), ("y", "C")]), step("B", "b", &[("", "end")]));
        let (turned, c) = (step("A", "a", &[("y", "C"), ("x", "B")]), step("C", "c", &[("", "end")]));
        let was = flow(vec![a.clone(), b.clone(), c.clone()]);
        assert!(changes(&was, &flow(vec![turned, c.clone(), b.clone()])).is_empty());
        assert_eq!(changes(&was, &flow(vec![b, a, c])), ["the flow started at `A`, and starts at `B`"]);
    }

    #[test]
    fn flows_within_are_compared_too() {
        let outer =
            |inner| flow(vec![OutlineStep { label: "Inner".into(), place: inner, edges: Vec::new() }]);
        let (was, is) = (outer(flow(vec![step("A", "a", &[])])), outer(flow(vec![step("A", "b", &[])])));
        assert_eq!(changes(&was, &is), ["the step `A` was the node `a`, and is the node `b`"]);
        let node = outer(Outline::Node("n".into()));
        assert_eq!(changes(&was, &node), ["the step `Inner` was the flow `research`, and is the node `n`"]);
    }
}
