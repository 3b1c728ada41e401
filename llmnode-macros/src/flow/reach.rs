//! What can be reached in a graph whose first step is the start.

/// A graph: for each step, the steps that its edges lead to, and whether one leads out.
pub(crate) struct Graph {
    pub(crate) edges: Vec<Vec<usize>>,
    pub(crate) out: Vec<bool>,
}

impl Graph {
    /// The steps that nothing leads to from the start. Of those that lead to each other, the first to mend is named
    /// alone: with it the others are reached as well.
    pub(crate) fn unreached(&self) -> Vec<usize> {
        let mut reached = vec![false; self.edges.len()];
        mark(&self.edges, 0, &mut reached);
        let led_to = |step: usize, reached: &[bool]| {
            let others = (0..self.edges.len()).filter(|from| *from != step && !reached[*from]);
            others.into_iter().any(|from| self.edges[from].contains(&step))
        };
        let lost =
            |reached: &[bool]| -> Vec<usize> { (0..reached.len()).filter(|step| !reached[*step]).collect() };
        let roots: Vec<_> = lost(&reached).into_iter().filter(|step| !led_to(*step, &reached)).collect();
        let mut unreached = vec![];
        for step in roots.into_iter().chain(lost(&reached)) {
            if !reached[step] {
                unreached.push(step);
                mark(&self.edges, step, &mut reached);
            }
        }
        unreached.sort_unstable();
        unreached
    }

    /// The steps from which no way leads out.
    pub(crate) fn stuck(&self) -> Vec<usize> {
        let mut back = vec![vec![]; self.edges.len()];
        for (from, edges) in self.edges.iter().enumerate() {
            edges.iter().for_each(|to| back[*to].push(from));
        }
        let mut ends = vec![false; self.edges.len()];
        (0..ends.len()).filter(|step| self.out[*step]).for_each(|step| mark(&back, step, &mut ends));
        (0..ends.len()).filter(|step| !ends[*step]).collect()
    }
}

/// Marks a step and all that it leads to.
fn mark(edges: &[Vec<usize>], start: usize, marked: &mut [bool]) {
    let mut ahead = vec![start];
    while let Some(step) = ahead.pop() {
        if marked.get(step) == Some(&false) {
            marked[step] = true;
            ahead.extend(&edges[step]);
        }
    }
}
