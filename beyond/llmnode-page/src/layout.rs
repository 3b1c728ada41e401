//! Where the boxes of a flow are: layers by the longest way from the start, one row for each of a layer.
//!
//! In this order: edges that lead back are found first (`order`), since with them there would be no longest way; the others give
//! each step its layer, so that all of them lead to the right. An edge over several layers gets a place in each one between, so
//! that no box stands on it. Then rows are chosen, the way that was taken at the top; positions come last, when the sizes of all
//! rows and layers are known. It knows no SVG.

use std::collections::HashMap;

use llmnode_flow::flow::{EdgeTarget, OutlineStep};

/// Between two layers, without labels, and between two rows.
const GAP: (i32, i32) = (44, 24);

/// Of one character of a label.
const CHARACTER: i32 = 7;

pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Those with a name, and how often each was taken.
    pub(crate) actions: Vec<(String, u64)>,
    pub(crate) taken: u64,
    /// It leads back to a step on the way to its own.
    pub(crate) back: bool,
    /// The places in the layers between.
    pub(crate) through: Vec<usize>,
}

/// Steps have the first indices; the end and `todo!()` follow, if edges lead there.
pub(crate) struct Edges {
    pub(crate) edges: Vec<Edge>,
    pub(crate) end: Option<usize>,
    pub(crate) todo: Option<usize>,
    pub(crate) places: usize,
}

impl Edges {
    /// `taken`: how often the edge of a step was taken, by the step's index and its action.
    pub(crate) fn of(steps: &[OutlineStep], taken: impl Fn(usize, &str) -> u64) -> Self {
        let index: HashMap<&str, usize> = steps
            .iter()
            .enumerate()
            .rev()
            .map(|(index, step)| (&*step.label, index))
            .collect();
        let mut all = Edges {
            edges: Vec::new(),
            end: None,
            todo: None,
            places: steps.len(),
        };
        let mut edge_numbers: HashMap<(usize, usize), usize> = HashMap::new();
        for (from, step) in steps.iter().enumerate() {
            for (action, to) in &step.edges {
                let to = match to {
                    EdgeTarget::Step(label) => match index.get(&**label) {
                        Some(to) => *to,
                        None => continue,
                    },
                    EdgeTarget::End => *all.end.get_or_insert_with(|| next(&mut all.places)),
                    _ => *all.todo.get_or_insert_with(|| next(&mut all.places)),
                };
                let edge = *edge_numbers.entry((from, to)).or_insert_with(|| {
                    let actions = Vec::new();
                    let through = Vec::new();
                    all.edges.push(Edge {
                        from,
                        to,
                        actions,
                        taken: 0,
                        back: false,
                        through,
                    });
                    all.edges.len() - 1
                });
                if let Some(edge) = all.edges.get_mut(edge) {
                    let times = taken(from, action);
                    edge.taken = edge.taken.saturating_add(times);
                    edge.actions
                        .extend((!action.is_empty()).then(|| (action.to_string(), times)));
                }
            }
        }
        all
    }

    /// Marks the edges that lead back, and returns an order in which the others lead forwards.
    fn order(&mut self) -> Vec<usize> {
        let mut out: Vec<Vec<usize>> = vec![Vec::new(); self.places];
        for (index, edge) in self.edges.iter().enumerate() {
            out[edge.from].push(index);
        }
        #[derive(Clone, Copy, PartialEq)]
        enum Visit {
            Not,
            OnTheWay,
            Done,
        }
        let mut visits = vec![Visit::Not; self.places];
        let mut order = Vec::new();
        for start in 0..self.places {
            if visits[start] != Visit::Not {
                continue;
            }
            visits[start] = Visit::OnTheWay;
            let mut way = vec![(start, 0)];
            while let Some((at, next)) = way.last_mut() {
                let Some(edge) = out[*at]
                    .get(*next)
                    .and_then(|index| self.edges.get_mut(*index))
                else {
                    visits[*at] = Visit::Done;
                    order.push(*at);
                    way.pop();
                    continue;
                };
                *next += 1;
                match visits[edge.to] {
                    Visit::OnTheWay => edge.back = true,
                    Visit::Done => {}
                    Visit::Not => {
                        visits[edge.to] = Visit::OnTheWay;
                        way.push((edge.to, 0));
                    }
                }
            }
        }
        order.reverse();
        order
    }
}

fn next(places: &mut usize) -> usize {
    *places += 1;
    *places - 1
}

pub(crate) struct Layout {
    /// Left and top of each place, with those between.
    pub(crate) at: Vec<(i32, i32)>,
    pub(crate) sizes: Vec<(i32, i32)>,
    /// Left and right of the layer of each place.
    pub(crate) layer: Vec<(i32, i32)>,
    pub(crate) size: (i32, i32),
}

/// `sizes`: width and height of each place.
pub(crate) fn layout(edges: &mut Edges, mut sizes: Vec<(i32, i32)>) -> Layout {
    let mut layers = vec![0; edges.places];
    for at in edges.order() {
        for edge in edges
            .edges
            .iter()
            .filter(|edge| edge.from == at && !edge.back)
        {
            layers[edge.to] = layers[edge.to].max(layers[at] + 1);
        }
    }
    let last = layers.iter().copied().max().unwrap_or(0);
    edges.end.into_iter().for_each(|end| layers[end] = last);
    for edge in edges.edges.iter_mut().filter(|edge| !edge.back) {
        for layer in layers[edge.from] + 1..layers[edge.to] {
            edge.through.push(layers.len());
            layers.push(layer);
            sizes.push((0, 16));
        }
    }
    let rows = rows(edges, &layers, last);
    let heights = heights(&rows, &layers, &sizes);
    let mut at = vec![(0, 0); layers.len()];
    let mut spans = vec![(0, 0); layers.len()];
    let mut x = 0;
    let mut bottom = 0;
    for layer in 0..=last {
        let members = members(&layers, layer);
        let width = members
            .iter()
            .map(|place| sizes[*place].0)
            .max()
            .unwrap_or(0);
        for place in members {
            let top = heights[..rows[place]]
                .iter()
                .map(|height| height + GAP.1)
                .sum::<i32>();
            let (place_width, height) = sizes[place];
            at[place] = (
                x + (width - place_width) / 2,
                top + (heights[rows[place]] - height) / 2,
            );
            spans[place] = (x, x + width);
            bottom = bottom.max(top + heights[rows[place]]);
        }
        let label = edges
            .edges
            .iter()
            .filter(|edge| layers[edge.from] == layer && !edge.back)
            .map(|edge| label(edge).chars().count())
            .max();
        let label = i32::try_from(label.unwrap_or(0)).unwrap_or(0) * CHARACTER;
        x += width + if layer == last { 0 } else { GAP.0 + label };
    }
    Layout {
        at,
        sizes,
        layer: spans,
        size: (x, bottom),
    }
}

/// The places of one layer.
fn members(layers: &[usize], layer: usize) -> Vec<usize> {
    (0..layers.len())
        .filter(|place| layers[*place] == layer)
        .collect()
}

/// What was taken comes first, then what is near to where its edges come from.
fn rows(edges: &Edges, layers: &[usize], last: usize) -> Vec<usize> {
    let mut taken = vec![false; layers.len()];
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); layers.len()];
    for edge in edges.edges.iter().filter(|edge| !edge.back) {
        let mut from = edge.from;
        for place in edge.through.iter().copied().chain([edge.to]) {
            taken[place] |= edge.taken > 0;
            before[place].push(from);
            from = place;
        }
    }
    let mut rows = vec![0; layers.len()];
    for layer in 0..=last {
        let mut members = members(layers, layer);
        members.sort_by_key(|place| {
            let before = &before[*place];
            let near =
                before.iter().map(|from| rows[*from] * 100).sum::<usize>() / before.len().max(1);
            (!taken[*place], near, *place)
        });
        members
            .into_iter()
            .enumerate()
            .for_each(|(row, place)| rows[place] = row);
    }
    rows
}

fn heights(rows: &[usize], layers: &[usize], sizes: &[(i32, i32)]) -> Vec<i32> {
    let mut heights = vec![0; rows.iter().map(|row| row + 1).max().unwrap_or(0)];
    for place in 0..layers.len() {
        heights[rows[place]] = heights[rows[place]].max(sizes[place].1);
    }
    heights
}

fn repeated(times: u64) -> String {
    if times > 1 {
        format!("×{times}")
    } else {
        String::new()
    }
}

/// Both with a space between them, or the one that is there. Spaces of an action's own name stay.
fn beside(left: &str, right: &str) -> String {
    let space = if left.is_empty() || right.is_empty() {
        ""
    } else {
        " "
    };
    format!("{left}{space}{right}")
}

/// The text beside an edge.
///
/// A count stands at the action that was taken so often; the others are in brackets then.
pub(crate) fn label(edge: &Edge) -> String {
    let named: u64 = edge
        .actions
        .iter()
        .map(|(_, times)| *times)
        .fold(0, u64::saturating_add);
    let unnamed = edge.taken.saturating_sub(named);
    let mut parts: Vec<String> = Vec::new();
    if unnamed > 1 {
        parts.push(repeated(unnamed));
    }
    for (action, times) in &edge.actions {
        if *times > 0 {
            parts.push(beside(action, &repeated(*times)));
        }
    }
    let not_taken: Vec<&str> = edge
        .actions
        .iter()
        .filter(|(_, taken)| *taken == 0)
        .map(|(action, _)| &**action)
        .collect();
    let mut label = parts.join(", ");
    if edge.taken == 0 {
        label = not_taken.join(", ");
    } else if !not_taken.is_empty() {
        label = beside(&label, &format!("(not {})", not_taken.join(", ")));
    }
    crate::words::cut(&label, 30)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(actions: &[(&str, u64)], taken: u64) -> Edge {
        let actions = actions
            .iter()
            .map(|(action, times)| ((*action).to_owned(), *times))
            .collect();
        Edge {
            from: 0,
            to: 1,
            actions,
            taken,
            back: false,
            through: Vec::new(),
        }
    }

    #[test]
    fn a_count_stands_at_what_was_taken() {
        for (edge, expected) in [
            (edge(&[("error", 0)], 3), "×3 (not error)"),
            (edge(&[("error", 3)], 3), "error ×3"),
            (edge(&[("error", 1)], 3), "×2, error"),
            (edge(&[("error", 0)], 0), "error"),
            (edge(&[("a", 2), ("b", 0)], 2), "a ×2 (not b)"),
            (edge(&[("error", 0)], 1), "(not error)"),
            (edge(&[], 1), ""),
            (edge(&[], 2), "×2"),
        ] {
            assert_eq!(label(&edge), expected);
        }
    }
}
