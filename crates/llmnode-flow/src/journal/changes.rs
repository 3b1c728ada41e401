//! What differs between two flows.

use std::collections::{BTreeMap, BTreeSet};

use crate::flow::{EdgeTarget, Outline, OutlineStep};

/// Names what differs; empty if a run of one flow can continue as the other.
pub(super) fn changed_steps(was: &Outline, is: &Outline) -> Vec<String> {
    let (Outline::Flow(old, before), Outline::Flow(new, now)) = (was, is) else {
        return if was == is {
            Vec::new()
        } else {
            vec!["the flow".to_owned()]
        };
    };
    let mut changed = Vec::new();
    if old != new {
        changed.push(format!("the name of the flow (it was `{old}`)"));
    }
    let label = |step: &OutlineStep| step.label.clone();
    if before.first().map(label) != now.first().map(label) {
        changed.push("the start".to_owned());
    }
    let before = by_label(before);
    let now = by_label(now);
    let labels: BTreeSet<_> = before.keys().chain(now.keys()).collect();
    changed.extend(
        labels
            .into_iter()
            .copied()
            .filter(|label: &&str| match (before.get(label), now.get(label)) {
                (Some(old), Some(new)) => {
                    edges(old) != edges(new) || place_differs(&old.place, &new.place)
                }
                _ => true,
            })
            .map(|label| format!("the step `{label}`")),
    );
    changed
}

fn by_label(steps: &[OutlineStep]) -> BTreeMap<&str, &OutlineStep> {
    steps.iter().map(|step| (&*step.label, step)).collect()
}

/// Without their order, which does not matter.
fn edges(step: &OutlineStep) -> BTreeMap<&str, &EdgeTarget> {
    step.edges
        .iter()
        .map(|(action, target)| (&**action, target))
        .collect()
}

fn place_differs(was: &Outline, is: &Outline) -> bool {
    match (was, is) {
        (Outline::Parallel(before), Outline::Parallel(now)) => {
            before.len() != now.len()
                || before
                    .iter()
                    .zip(now)
                    .any(|(old, new)| place_differs(old, new))
        }
        _ => !changed_steps(was, is).is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(
        label: &'static str,
        node: &'static str,
        edges: &[(&'static str, &'static str)],
    ) -> OutlineStep {
        let target = |to: &'static str| match to {
            "end" => EdgeTarget::End,
            label => EdgeTarget::Step(label.into()),
        };
        let edges = edges
            .iter()
            .map(|(action, to)| ((*action).into(), target(to)))
            .collect();
        OutlineStep {
            label: label.into(),
            place: Outline::Node(node.into()),
            edges,
        }
    }

    fn flow(steps: Vec<OutlineStep>) -> Outline {
        Outline::Flow("research".into(), steps)
    }

    #[test]
    fn each_step_that_differs_is_named() {
        let was = flow(vec![
            step(
                "Decide",
                "decide",
                &[("Search", "Search"), ("Answer", "Answer")],
            ),
            step("Search", "search", &[("", "Decide")]),
            step("Answer", "answer", &[("", "end")]),
        ]);
        let is = flow(vec![
            step("Decide", "decide2", &[("Search", "Find"), ("Stop", "end")]),
            step("Find", "search", &[("", "Decide")]),
            step("Answer", "answer", &[("", "Decide")]),
        ]);
        assert_eq!(
            changed_steps(&was, &is),
            [
                "the step `Answer`",
                "the step `Decide`",
                "the step `Find`",
                "the step `Search`"
            ]
        );
    }

    #[test]
    fn the_order_of_steps_and_edges_matters_only_at_the_start() {
        let a = step("A", "a", &[("x", "B"), ("y", "C")]);
        let turned = step("A", "a", &[("y", "C"), ("x", "B")]);
        let b = step("B", "b", &[("", "end")]);
        let c = step("C", "c", &[("", "end")]);
        let was = flow(vec![a.clone(), b.clone(), c.clone()]);
        assert!(changed_steps(&was, &flow(vec![turned, c.clone(), b.clone()])).is_empty());
        assert_eq!(changed_steps(&was, &flow(vec![b, a, c])), ["the start"]);
    }

    fn outer(inner: Outline) -> Outline {
        flow(vec![OutlineStep {
            label: "Inner".into(),
            place: inner,
            edges: Vec::new(),
        }])
    }

    #[test]
    fn flows_within_are_compared_too() {
        let was = outer(flow(vec![step("A", "a", &[])]));
        let is = outer(flow(vec![step("A", "b", &[])]));
        assert_eq!(changed_steps(&was, &is), ["the step `Inner`"]);
        let node = outer(Outline::Node("n".into()));
        assert_eq!(changed_steps(&was, &node), ["the step `Inner`"]);
    }
}
