//! The tools of a set by their words, as BM25 ranks them.
//!
//! In: names, descriptions and parameters of the tools, and a query. Out: the
//! places of the tools that fit it best, best first. A name weighs more than a
//! description, and that more than parameters. A word of the query that a tool has
//! in another person's words counts in part. The tools of one server do not fill
//! the list while others fit as well: each further one of a group counts less.
//! Equal tools stand in the order of the set, so the same query always finds the
//! same.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::words::{others, words};

/// How often a word of a name, a description or a parameter counts.
const NAME: f64 = 3.0;
const DESCRIPTION: f64 = 1.0;
const PARAMETERS: f64 = 0.5;

/// How fast more of the same word counts less, and how much length does: the usual values.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.6;

/// What a word of the same meaning counts.
const OTHER_WORD: f64 = 0.4;

/// What each further tool of one group counts.
const SAME_GROUP: f64 = 0.85;

/// A tool as it is found.
pub(super) struct Indexed<'t> {
    pub(super) name: &'t str,
    pub(super) description: &'t str,
    /// Names and descriptions of the parameters.
    pub(super) parameters: String,
    /// Of its server, if it is of one.
    pub(super) group: &'t str,
}

pub(super) struct Index {
    groups: Vec<String>,
    lengths: Vec<f64>,
    mean_length: f64,
    /// The tools that have a word, and how often.
    by_word: HashMap<String, Vec<Posting>>,
}

struct Posting {
    tool: usize,
    count: f64,
}

impl Index {
    pub(super) fn of<'t>(tools: impl IntoIterator<Item = Indexed<'t>>) -> Self {
        let mut index = Index {
            groups: Vec::new(),
            lengths: Vec::new(),
            mean_length: 1.0,
            by_word: HashMap::new(),
        };
        for tool in tools {
            index.add(&tool);
        }
        let total: f64 = index.lengths.iter().sum();
        if total > 0.0 {
            index.mean_length = total / index.lengths.len() as f64;
        }
        index
    }

    fn add(&mut self, tool: &Indexed<'_>) {
        let place = self.lengths.len();
        let mut counts: BTreeMap<String, f64> = BTreeMap::new();
        let fields = [
            (tool.name, NAME),
            (tool.description, DESCRIPTION),
            (&*tool.parameters, PARAMETERS),
        ];
        for (text, weight) in fields {
            for word in words(text) {
                *counts.entry(word).or_default() += weight;
            }
        }
        self.lengths.push(counts.values().sum());
        self.groups.push(tool.group.to_owned());
        for (word, count) in counts {
            let postings = self.by_word.entry(word).or_default();
            postings.push(Posting { tool: place, count });
        }
    }

    /// The places of the best tools, best first; of those alone that `may` be
    /// found. Empty: no word of the query fits any.
    pub(super) fn best(&self, query: &str, most: usize, may: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut scores = self.scores(query);
        scores.retain(|&tool, _| may(tool));
        let mut found = Vec::new();
        let mut of_group: HashMap<&str, i32> = HashMap::new();
        while found.len() < most {
            let mut best: Option<(usize, f64)> = None;
            for (&tool, &score) in &scores {
                let group = &*self.groups[tool];
                let found_before = of_group.get(group).copied().unwrap_or(0);
                let score = score * SAME_GROUP.powi(found_before);
                if best.is_none_or(|(_, highest)| score > highest) {
                    best = Some((tool, score));
                }
            }
            let Some((tool, _)) = best else { break };
            scores.remove(&tool);
            let group = &*self.groups[tool];
            *of_group.entry(group).or_default() += 1;
            found.push(tool);
        }
        found
    }

    /// By the tools' places, so that equal scores stand in the order of the set.
    fn scores(&self, query: &str) -> BTreeMap<usize, f64> {
        let mut scores = BTreeMap::new();
        let query_words: BTreeSet<String> = words(query).into_iter().collect();
        for word in &query_words {
            // A tool counts once for a word: by the word itself, or by the best of the others.
            let mut of_word: BTreeMap<usize, f64> = BTreeMap::new();
            self.add_word(word, 1.0, &mut of_word);
            for other in others(word) {
                if !query_words.contains(other) {
                    self.add_word(other, OTHER_WORD, &mut of_word);
                }
            }
            for (tool, score) in of_word {
                *scores.entry(tool).or_default() += score;
            }
        }
        scores
    }

    fn add_word(&self, word: &str, weight: f64, to: &mut BTreeMap<usize, f64>) {
        let Some(postings) = self.by_word.get(word) else {
            return;
        };
        // BM25: a word that few tools have says more, and so does one that a short tool has often.
        let tools = self.lengths.len() as f64;
        let with_word = postings.len() as f64;
        let without_word = tools - with_word;
        let rarity = (1.0 + (without_word + 0.5) / (with_word + 0.5)).ln();
        for Posting { tool, count } in postings {
            let length = 1.0 - LENGTH + LENGTH * self.lengths[*tool] / self.mean_length;
            let frequency = count * (SATURATION + 1.0) / (count + SATURATION * length);
            let score = weight * rarity * frequency;
            let best = to.entry(*tool).or_default();
            *best = best.max(score);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: &str = include_str!("cases/tools.tsv");
    const QUERIES: &str = include_str!("cases/queries.tsv");

    fn group_of(name: &str) -> &str {
        name.split('_').next().unwrap()
    }

    fn columns(line: &str) -> [&str; 3] {
        let columns: Vec<&str> = line.split('\t').collect();
        columns.try_into().unwrap()
    }

    fn made_set() -> (Vec<&'static str>, Index) {
        let tools = TOOLS.lines().map(columns);
        let names = tools.clone().map(|[name, ..]| name).collect();
        let index = Index::of(tools.map(|[name, description, parameters]| Indexed {
            name,
            description,
            parameters: parameters.to_owned(),
            group: group_of(name),
        }));
        (names, index)
    }

    /// The share of queries of a kind that find what they ask for.
    fn recall(kind: &str) -> f64 {
        let (names, index) = made_set();
        let mut questions = 0.0;
        let mut hit = 0.0;
        for [of_kind, query, expected] in QUERIES.lines().map(columns) {
            if of_kind != kind {
                continue;
            }
            questions += 1.0;
            let found = index.best(query, 5, |_| true);
            let found: Vec<&str> = found.iter().map(|&at| names[at]).collect();
            if expected.split(',').any(|name| found.contains(&name)) {
                hit += 1.0;
            } else {
                println!("{query}: {found:?}");
            }
        }
        println!("{kind}: {hit} of {questions}");
        hit / questions
    }

    #[test]
    fn queries_in_the_words_of_tools_find_them() {
        assert!(recall("own") >= 0.9);
    }

    #[test]
    fn most_queries_in_the_words_of_others_find_them() {
        assert!(recall("other") >= 0.6);
    }

    fn index(tools: &[[&'static str; 2]]) -> Index {
        Index::of(tools.iter().map(|&[name, description]| Indexed {
            name,
            description,
            parameters: String::new(),
            group: group_of(name),
        }))
    }

    #[test]
    fn one_server_does_not_fill_the_list() {
        let mut tools: Vec<[&str; 2]> = vec![
            ["a_search_issues", "Searches issues."],
            ["a_search_code", "Searches code."],
            ["a_search_users", "Searches users."],
            ["a_search_commits", "Searches commits."],
            ["a_search_labels", "Searches labels."],
            ["a_search_topics", "Searches topics."],
        ];
        tools.push(["b_search_tickets", "Searches tickets of all the projects."]);
        let found = index(&tools).best("search", 5, |_| true);
        assert!(found.contains(&6), "{found:?}");
    }

    #[test]
    fn what_fits_nothing_finds_nothing() {
        let index = index(&[["refund_order", "Refunds an order."]]);
        assert!(index.best("weather tomorrow", 5, |_| true).is_empty());
        assert!(index.best("", 5, |_| true).is_empty());
        assert!(index.best("refund", 5, |_| false).is_empty());
        assert_eq!(index.best("Refunds", 5, |_| true), [0]);
        assert!(Index::of([]).best("refund", 5, |_| true).is_empty());
    }
}
