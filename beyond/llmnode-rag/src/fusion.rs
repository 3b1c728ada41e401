//! Merges two lists of hits by reciprocal ranks.

use std::collections::BTreeMap;

use crate::hits::{Hit, best};

/// The usual constant: the weight of first ranks over the next ones.
const RRF_K: f64 = 60.0;

pub(crate) fn reciprocal_rank_fusion(lists: [Vec<Hit>; 2], k: usize) -> Vec<Hit> {
    let mut all: BTreeMap<String, Hit> = BTreeMap::new();
    for list in lists {
        for (rank, hit) in list.into_iter().enumerate() {
            let score = 1.0 / (RRF_K + rank as f64 + 1.0);
            let sum = all.get(&hit.id).map_or(score, |other| other.score + score);
            all.insert(hit.id.clone(), Hit { score: sum, ..hit });
        }
    }
    best(all.into_values().collect(), k)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_lists_have_comes_first_and_ties_go_by_id() {
        let hit = |id: &&str| {
            serde_json::from_value(
                serde_json::json!({"id": id, "text": "", "source": "", "score": 9, "rank": 9}),
            )
        };
        let list =
            |ids: &[&str]| -> Vec<Hit> { ids.iter().map(hit).collect::<Result<_, _>>().unwrap() };
        let ids = |lists: [&[&str]; 2], k| -> Vec<String> {
            reciprocal_rank_fusion(lists.map(list), k)
                .into_iter()
                .map(|hit| hit.id)
                .collect()
        };
        assert_eq!(ids([&["c", "b"], &["a", "b"]], 9), ["b", "a", "c"]);
        assert_eq!(ids([&["b"], &["a"]], 1), ["a"]);
        assert!(ids([&[], &[]], 3).is_empty());
    }
}
