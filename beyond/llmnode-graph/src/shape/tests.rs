use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// A graph from edges `(from, handle, targets)`; 99 is the end. Edges are numbered in order.
fn shape(nodes: usize, edges: &[(usize, &str, &[usize])]) -> Shape {
    let mut shape = Shape {
        ways: vec![Vec::new(); nodes],
        ends: vec![true; nodes],
    };
    let mut edge = 0;
    for (from, handle, targets) in edges {
        let mut to = Vec::new();
        for target in *targets {
            to.push(OutEdge {
                to: if *target == 99 {
                    To::End
                } else {
                    To::Node(*target)
                },
                edge,
            });
            edge += 1;
        }
        shape.ways[*from].push(Handle {
            name: (*handle).to_owned(),
            to,
        });
        shape.ends[*from] = false;
    }
    shape
}

fn found(nodes: usize, edges: &[(usize, &str, &[usize])]) -> (Vec<FoundFork>, Vec<ForkProblem>) {
    let shape = shape(nodes, edges);
    let reach = reach(&shape, &[0]);
    assert!(endless(&shape, &reach).is_empty());
    let (found, bad) = forks(&shape, 0);
    (found, bad.into_iter().map(|bad| bad.problem).collect())
}

fn joins(nodes: usize, edges: &[(usize, &str, &[usize])]) -> Vec<To> {
    let (found, bad) = found(nodes, edges);
    assert_eq!(bad, []);
    found.into_iter().map(|fork| fork.join).collect()
}

fn troubles(nodes: usize, edges: &[(usize, &str, &[usize])]) -> Vec<ForkProblem> {
    found(nodes, edges).1
}

#[test]
fn branches_of_unequal_length_meet_once() {
    let edges: &[(usize, &str, &[usize])] = &[
        (0, "", &[1, 2]),
        (1, "", &[3]),
        (3, "", &[4]),
        (2, "", &[4]),
        (4, "", &[99]),
    ];
    assert_eq!(joins(5, edges), [To::Node(4)]);
    let shape = shape(5, edges);
    let (found, _) = forks(&shape, 0);
    let region = region(&shape, 0, &found);
    assert_eq!(region.nodes, [0, 4]);
    assert_eq!(region.forks[0].branches[0].nodes, [1, 3]);
    assert_eq!(
        region.forks[0].branches[0].next[&(3, String::new())],
        Next::One(To::Node(4))
    );
}

#[test]
fn routers_loops_and_forks_may_stand_in_a_branch() {
    let looped: &[(usize, &str, &[usize])] = &[
        (0, "", &[1, 2]),
        (1, "again", &[1]),
        (1, "on", &[3]),
        (2, "x", &[4]),
        (2, "y", &[3]),
        (4, "", &[3]),
        (3, "", &[99]),
    ];
    assert_eq!(joins(5, looped), [To::Node(3)]);
    let nested: &[(usize, &str, &[usize])] = &[
        (0, "", &[1, 2]),
        (1, "", &[3, 4]),
        (3, "", &[5]),
        (4, "", &[5]),
        (5, "", &[6]),
        (2, "", &[6]),
        (6, "", &[99]),
    ];
    assert_eq!(joins(7, nested), [To::Node(6), To::Node(5)]);
}

#[test]
fn branches_may_end_and_a_loop_may_lead_through_a_fork() {
    assert_eq!(
        joins(3, &[(0, "", &[1, 2]), (1, "", &[99]), (2, "", &[99])]),
        [To::End]
    );
    let looped: &[(usize, &str, &[usize])] = &[
        (0, "again", &[1]),
        (0, "out", &[99]),
        (1, "", &[2, 3]),
        (2, "", &[0]),
        (3, "", &[0]),
    ];
    assert_eq!(joins(4, looped), [To::Node(0)]);
}

#[test]
fn each_bad_branch_has_its_own_trouble() {
    let straight: &[(usize, &str, &[usize])] = &[(0, "", &[1, 2]), (1, "", &[2]), (2, "", &[99])];
    assert_eq!(troubles(3, straight), [ForkProblem::ToJoin { edge: 1 }]);
    let to_end: &[(usize, &str, &[usize])] = &[(0, "", &[1, 99]), (1, "", &[99])];
    assert_eq!(troubles(2, to_end), [ForkProblem::ToJoin { edge: 1 }]);
    let back: &[(usize, &str, &[usize])] = &[
        (0, "", &[1]),
        (1, "", &[2, 3]),
        (2, "x", &[0]),
        (2, "y", &[4]),
        (3, "", &[4]),
        (4, "", &[99]),
    ];
    assert_eq!(
        troubles(5, back),
        [ForkProblem::Back {
            head: 2,
            edge: 3,
            to: 0
        }]
    );
    let shared: &[(usize, &str, &[usize])] = &[
        (0, "", &[1, 2]),
        (1, "x", &[3]),
        (1, "y", &[4]),
        (2, "", &[3]),
        (3, "", &[4]),
        (4, "", &[99]),
    ];
    assert_eq!(
        troubles(5, shared),
        [ForkProblem::Shared {
            heads: [1, 2],
            node: 3
        }]
    );
    let entered: &[(usize, &str, &[usize])] = &[
        (0, "x", &[1]),
        (0, "y", &[3]),
        (1, "", &[2, 4]),
        (2, "", &[3]),
        (3, "", &[5]),
        (4, "", &[5]),
        (5, "", &[99]),
    ];
    assert_eq!(
        troubles(6, entered),
        [ForkProblem::Entered {
            head: 2,
            edge: 1,
            from: 0,
            to: 3
        }]
    );
    let start: &[(usize, &str, &[usize])] = &[
        (0, "", &[1]),
        (1, "on", &[2]),
        (1, "out", &[99]),
        (2, "", &[0, 3]),
        (3, "", &[1]),
    ];
    assert_eq!(
        troubles(4, start),
        [ForkProblem::Start { head: 0, start: 0 }]
    );
}

#[test]
fn a_mistake_in_forks_within_one_another_is_one() {
    // 3 leads back to 0 and is in a fork within a fork.
    let back: &[(usize, &str, &[usize])] = &[
        (0, "", &[1, 2]),
        (1, "", &[3, 4]),
        (3, "x", &[0]),
        (3, "y", &[5]),
        (4, "", &[5]),
        (5, "", &[6]),
        (2, "", &[6]),
        (6, "", &[99]),
    ];
    assert_eq!(
        troubles(7, back),
        [ForkProblem::Back {
            head: 1,
            edge: 4,
            to: 0
        }]
    );
    // 7 is shared by a branch of the outer fork and one of the inner.
    let shared: &[(usize, &str, &[usize])] = &[
        (0, "", &[1, 2]),
        (1, "", &[3, 4]),
        (3, "x", &[7]),
        (3, "y", &[5]),
        (7, "", &[5]),
        (4, "", &[5]),
        (5, "", &[6]),
        (2, "x", &[7]),
        (2, "y", &[6]),
        (6, "", &[99]),
    ];
    let troubles = troubles(8, shared);
    assert_eq!(troubles.len(), 1, "{troubles:?}");
    assert!(
        matches!(troubles[0], ForkProblem::Shared { heads: [1, 2], .. }),
        "{troubles:?}"
    );
}

#[test]
fn ways_are_followed_in_groups() {
    let edges: &[(usize, &str, &[usize])] = &[
        (0, "x", &[1]),
        (0, "y", &[99]),
        (1, "", &[2]),
        (2, "", &[1]),
        (3, "", &[4]),
        (4, "", &[99]),
        (5, "", &[99]),
    ];
    let shape = shape(6, edges);
    let reach = reach(&shape, &[0]);
    assert_eq!(
        unreachable(&shape, &reach, &[true; 6]),
        [vec![3, 4], vec![5]]
    );
    assert_eq!(endless(&shape, &reach), [vec![1, 2]]);
}

/// What the definitions say, with no algorithm but "is there a way that avoids this node".
struct Plain<'s> {
    shape: &'s Shape,
}

impl Plain<'_> {
    /// All nodes on ways from one that avoid another, and whether the end is reached.
    fn ways(&self, from: To, avoid: To) -> (BTreeSet<usize>, bool) {
        let (mut seen, mut ends) = (BTreeSet::new(), false);
        let mut open = vec![from];
        while let Some(to) = open.pop() {
            match to {
                _ if to == avoid => {}
                To::End => ends = true,
                To::Node(node) => {
                    if seen.insert(node) {
                        open.extend(
                            self.shape.ways[node]
                                .iter()
                                .flat_map(|handle| &handle.to)
                                .map(|way| way.to),
                        );
                        if self.shape.ends[node] {
                            open.push(To::End);
                        }
                    }
                }
            }
        }
        (seen, ends)
    }

    /// A node that nobody is.
    const NOBODY: To = To::Node(usize::MAX);

    fn reached(&self) -> BTreeSet<usize> {
        self.ways(To::Node(0), Plain::NOBODY).0
    }

    fn stuck(&self) -> bool {
        self.reached()
            .into_iter()
            .any(|node| !self.ways(To::Node(node), Plain::NOBODY).1)
    }

    /// Every way from this one to the end passes that one.
    fn has_to_pass(&self, from: To, by: To) -> bool {
        by == To::End || from == by || !self.ways(from, by).1
    }

    fn join(&self, heads: &[To]) -> To {
        let candidates: Vec<To> = (0..self.shape.len())
            .map(To::Node)
            .filter(|one| heads.iter().all(|head| self.has_to_pass(*head, *one)))
            .collect();
        // The nearest: it comes before all others on every way.
        let is_first = |one: &&To| {
            candidates
                .iter()
                .all(|other| self.has_to_pass(**one, *other))
        };
        candidates.iter().find(is_first).copied().unwrap_or(To::End)
    }

    /// Whether a fork is right, and its join.
    fn judge(&self, from: usize, handle: usize) -> Option<To> {
        let heads: Vec<To> = self.shape.ways[from][handle]
            .to
            .iter()
            .map(|way| way.to)
            .collect();
        let join = self.join(&heads);
        if heads.contains(&join) {
            return None;
        }
        let regions: Vec<BTreeSet<usize>> =
            heads.iter().map(|head| self.ways(*head, join).0).collect();
        for (branch, region) in regions.iter().enumerate() {
            let alone = regions
                .iter()
                .enumerate()
                .all(|(other, nodes)| other == branch || nodes.is_disjoint(region));
            if !alone || region.contains(&from) || region.contains(&0) {
                return None;
            }
            for node in self.reached() {
                for (index, ways) in self.shape.ways[node].iter().enumerate() {
                    for way in &ways.to {
                        let enters = matches!(way.to, To::Node(to) if region.contains(&to))
                            && !region.contains(&node);
                        if enters && !(node == from && index == handle && way.to == heads[branch]) {
                            return None;
                        }
                    }
                }
            }
        }
        Some(join)
    }
}

fn random() -> impl Strategy<Value = Shape> {
    (3_usize..41).prop_flat_map(|count| {
        // Mostly forward, so that many forks meet; now and then back or to the end.
        let handle = prop::collection::vec((0_usize..100, 1_usize..5), 1..4);
        prop::collection::vec(prop::collection::vec(handle, 1..3), count).prop_map(move |nodes| {
            let mut edge = 0;
            let ways: Vec<Vec<Handle>> = nodes
                .into_iter()
                .enumerate()
                .map(|(node, handles)| {
                    let handles = handles.into_iter().enumerate().map(|(index, targets)| {
                        let mut all: Vec<To> = targets
                            .into_iter()
                            .map(|(chance, step)| match chance {
                                0..6 => To::Node(node.saturating_sub(step)),
                                _ if node + step < count => To::Node(node + step),
                                _ => To::End,
                            })
                            .collect();
                        all.sort_unstable();
                        all.dedup();
                        let to = all.into_iter().map(|to| {
                            edge += 1;
                            OutEdge { to, edge: edge - 1 }
                        });
                        Handle {
                            name: index.to_string(),
                            to: to.collect(),
                        }
                    });
                    handles.collect()
                })
                .collect();
            Shape {
                ends: vec![false; count],
                ways,
            }
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn forks_are_what_the_definitions_say(shape in random()) {
        let plain = Plain { shape: &shape };
        let reach = reach(&shape, &[0]);
        let reached: BTreeSet<usize> =
            (0..shape.len()).filter(|node| reach[*node]).collect();
        prop_assert_eq!(&reached, &plain.reached());
        prop_assert_eq!(!endless(&shape, &reach).is_empty(), plain.stuck());
        let lost: BTreeSet<usize> =
            unreachable(&shape, &reach, &vec![true; shape.len()]).into_iter().flatten().collect();
        prop_assert_eq!(lost.union(&reached).count(), shape.len());
        prop_assert!(lost.is_disjoint(&reached));
        if !plain.stuck() {
            let (found, bad) = forks(&shape, 0);
            let mut right = Vec::new();
            for node in &reached {
                for handle in 0..shape.ways[*node].len() {
                    if shape.ways[*node][handle].to.len() > 1 {
                        right.extend(plain.judge(*node, handle).map(|join| (*node, handle, join)));
                    }
                }
            }
            let mut told: Vec<_> = found.iter().map(|fork| (fork.from, fork.handle, fork.join)).collect();
            told.sort_unstable();
            if bad.is_empty() {
                prop_assert_eq!(told, right);
                let region = region(&shape, 0, &found);
                let mut steps = Vec::new();
                every_step(&region, &mut steps);
                steps.sort_unstable();
                prop_assert_eq!(steps, reached.into_iter().collect::<Vec<_>>());
            } else {
                let count = |shape: &Shape| reached.iter().flat_map(|node| &shape.ways[*node])
                    .filter(|handle| handle.to.len() > 1).count();
                prop_assert!(right.len() < count(&shape), "{bad:?}");
            }
        }
    }
}

/// Each step is in one region.
fn every_step(region: &Region, to: &mut Vec<usize>) {
    to.extend(&region.nodes);
    region
        .forks
        .iter()
        .flat_map(|fork| &fork.branches)
        .for_each(|branch| every_step(branch, to));
}
