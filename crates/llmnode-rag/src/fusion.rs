//! One list of two: by reciprocal ranks.

use std::collections::BTreeMap;

/// How much the first places count over the next ones: the usual figure.
const FLAT: f64 = 60.0;

/// The best `k` of lists of ids, each with its score, best first. Equal scores are in the order of their ids.
pub(crate) fn fused<'a>(lists: impl IntoIterator<Item = Vec<&'a str>>, k: usize) -> Vec<(&'a str, f64)> {
    let mut scores: BTreeMap<&str, f64> = BTreeMap::new();
    for list in lists {
        for (rank, id) in list.into_iter().enumerate() {
            *scores.entry(id).or_default() += 1.0 / (FLAT + rank as f64 + 1.0);
        }
    }
    let mut fused: Vec<_> = scores.into_iter().collect();
    fused.sort_by(|(one, score), (other, than)| than.total_cmp(score).then_with(|| one.cmp(other)));
    fused.truncate(k);
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_lists_have_comes_first_and_ties_go_by_id() {
        let ids = |lists: [Vec<&'static str>; 2], k| -> Vec<_> {
            fused(lists, k).into_iter().map(|(id, _)| id).collect()
        };
        assert_eq!(ids([vec!["c", "b"], vec!["a", "b"]], 9), ["b", "a", "c"]);
        assert_eq!(ids([vec!["b"], vec!["a"]], 1), ["a"]);
        assert!(ids([vec![], vec![]], 3).is_empty());
    }
}
