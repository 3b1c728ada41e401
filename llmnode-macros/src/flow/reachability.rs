//! Reachability in a graph whose first step is the start.
//!
//! `unreached` goes forward from the start, `stuck` backward from the ends. Both
//! mark what they come by, so a circle costs nothing, and are linear in the edges
//! for each start.

/// `edges[a]` are the steps that may follow `a`; `out[a]` says whether the flow may
/// end after it.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) edges: Vec<Vec<usize>>,
    pub(crate) out: Vec<bool>,
}

impl Graph {
    /// Omits steps that follow from other unreached ones.
    pub(crate) fn unreached(&self) -> Vec<usize> {
        // A step that is only reached from an unreached one is not reported: it
        // will be reached when the other is. So each unreached step takes those off
        // the list that it leads to, whether they came before it or will come.
        let mut reached = self.reached_from(0);
        let mut unreached = vec![];
        for step in 0..self.edges.len() {
            if !reached[step] {
                let from_step = self.reached_from(step);
                unreached.retain(|other: &usize| !from_step[*other]);
                unreached.push(step);
                for (index, is_reached) in from_step.into_iter().enumerate() {
                    reached[index] |= is_reached;
                }
            }
        }
        unreached
    }

    /// Whether each step is reached from this one, which reaches itself.
    fn reached_from(&self, step: usize) -> Vec<bool> {
        let mut reached = vec![false; self.edges.len()];
        mark(&self.edges, step, &mut reached);
        reached
    }

    /// Steps from which no path leads to an end.
    pub(crate) fn stuck(&self) -> Vec<usize> {
        // The same graph with its arrows turned around.
        let mut back = vec![vec![]; self.edges.len()];
        for (from, edges) in self.edges.iter().enumerate() {
            edges.iter().for_each(|to| back[*to].push(from));
        }
        let mut ends = vec![false; self.edges.len()];
        (0..ends.len())
            .filter(|step| self.out[*step])
            .for_each(|step| mark(&back, step, &mut ends));
        (0..ends.len()).filter(|step| !ends[*step]).collect()
    }
}

/// Depth first, with the stack on the heap: a flow may have any number of steps.
fn mark(edges: &[Vec<usize>], start: usize, marked: &mut [bool]) {
    let mut ahead = vec![start];
    while let Some(step) = ahead.pop() {
        if marked.get(step) == Some(&false) {
            marked[step] = true;
            ahead.extend(&edges[step]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::{Ident, Span, TokenStream};
    use proptest::prelude::*;
    use quote::quote;

    use super::Graph;

    /// Up to seven steps with up to three edges each; whether each leads out, too.
    fn graphs() -> impl Strategy<Value = Graph> {
        (1..8usize).prop_flat_map(|steps| {
            let edges = prop::collection::vec(0..steps, 0..4);
            let steps = prop::collection::vec((edges, any::<bool>()), steps);
            steps.prop_map(|steps| {
                let (edges, out) = steps.into_iter().unzip();
                Graph { edges, out }
            })
        })
    }

    /// Which step leads to which, by way of any others: itself among them.
    fn ways(graph: &Graph) -> Vec<Vec<bool>> {
        let count = graph.edges.len();
        let mut ways: Vec<Vec<bool>> = (0..count)
            .map(|from| {
                (0..count)
                    .map(|to| from == to || graph.edges[from].contains(&to))
                    .collect()
            })
            .collect();
        for _ in 0..count {
            for (from, by, to) in (0..count)
                .flat_map(|a| (0..count).flat_map(move |b| (0..count).map(move |c| (a, b, c))))
            {
                ways[from][to] |= ways[from][by] && ways[by][to];
            }
        }
        ways
    }

    /// The flow of a graph, whose steps without any edge lead to `end`.
    fn written(graph: &Graph) -> TokenStream {
        let name = |step: usize| Ident::new(&format!("S{step}"), Span::call_site());
        let steps = graph
            .edges
            .iter()
            .zip(&graph.out)
            .enumerate()
            .map(|(step, (edges, out))| {
                let (this, targets) = (name(step), edges.iter().map(|to| name(*to)));
                let end = (*out || edges.is_empty()).then(|| quote!(Decision::End => end,));
                let variants = (0..edges.len()).map(name);
                quote!(#this => match { #(Decision::#variants => #targets,)* #end },)
            });
        quote!(Research(World): #(#steps)*)
    }

    proptest! {
        #[test]
        fn what_is_not_reached_is_found(graph in graphs()) {
            let (ways, unreached) = (ways(&graph), graph.unreached());
            let lost: Vec<_> = (0..ways.len()).filter(|step| !ways[0][*step]).collect();
            prop_assert!(unreached.iter().all(|step| lost.contains(step)), "{:?} of {:?}", unreached, lost);
            prop_assert!(lost.iter().all(|step| unreached.iter().any(|root| ways[*root][*step])));
            let led_to = |step: usize| unreached.iter().any(|other| *other != step && ways[*other][step]);
            prop_assert!(!unreached.iter().any(|step| led_to(*step)), "none of {:?} is mended by another", unreached);
        }

        #[test]
        fn from_where_no_way_leads_out_is_found(graph in graphs()) {
            let ways = ways(&graph);
            let naive = |step: &usize| !(0..ways.len()).any(|end| graph.out[end] && ways[*step][end]);
            prop_assert_eq!(graph.stuck(), (0..ways.len()).filter(naive).collect::<Vec<_>>());
        }

        #[test]
        fn a_flow_is_refused_if_its_graph_is_wrong_and_else_is_not(graph in graphs()) {
            let expansion = crate::flow::expand(written(&graph)).to_string();
            let mut written = graph;
            for (edges, out) in written.edges.iter().zip(&mut written.out) {
                *out |= edges.is_empty();
            }
            let sound = written.unreached().is_empty() && written.stuck().is_empty();
            prop_assert_eq!(!expansion.contains("compile_error"), sound, "{}", expansion);
        }
    }
}
