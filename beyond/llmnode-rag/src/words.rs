//! Words of texts and of queries, and ranking by Okapi's BM25 with the parameters of SQLite's FTS5.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// A long message has too many words for a search.
const MAX_QUERY_WORDS: usize = 64;

/// A longer one is not a word, and could be a phrase of any length.
const MAX_WORD_CHARS: usize = 256;

/// Unique words between blanks, with a letter or a digit.
pub(crate) fn query_words(query: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let words = query
        .split_whitespace()
        .filter(|word| word.chars().any(char::is_alphanumeric));
    let words = words.filter(|word| word.chars().nth(MAX_WORD_CHARS).is_none());
    let words = words.filter(|word| seen.insert(word.to_lowercase()));
    words.take(MAX_QUERY_WORDS).map(str::to_owned).collect()
}

/// Runs of letters and digits, in lower case.
pub(crate) fn tokens(text: &str) -> Vec<Cow<'_, str>> {
    let parts = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|token| !token.is_empty());
    let is_lowercase = |token: &str| {
        token
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    parts
        .map(|token| {
            if is_lowercase(token) {
                token.into()
            } else {
                token.to_lowercase().into()
            }
        })
        .collect()
}

pub(crate) struct Bm25 {
    phrases: Vec<Vec<String>>,
    by_first: HashMap<String, Vec<usize>>,
    /// Includes those without any of the words.
    texts: usize,
    doc_freq: Vec<usize>,
    tokens: usize,
    /// Set if it differs from that of the added texts.
    average: Option<f64>,
    /// By added text: its tokens, and how often it has each phrase.
    seen: Vec<(usize, Vec<usize>)>,
}

impl Bm25 {
    pub(crate) fn new(words: &[String], texts: usize) -> Self {
        let phrase = |word: &String| {
            tokens(word)
                .into_iter()
                .map(Cow::into_owned)
                .collect::<Vec<_>>()
        };
        let phrases: Vec<_> = words
            .iter()
            .map(phrase)
            .filter(|phrase| !phrase.is_empty())
            .collect();
        let mut by_first: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, phrase) in phrases.iter().enumerate() {
            by_first.entry(phrase[0].clone()).or_default().push(at);
        }
        let doc_freq = vec![0; phrases.len()];
        Bm25 {
            phrases,
            by_first,
            texts,
            doc_freq,
            tokens: 0,
            average: None,
            seen: Vec::new(),
        }
    }

    /// A word in so many texts says nothing.
    #[cfg(feature = "chroma")]
    pub(crate) fn mark_common(&mut self, word: usize) {
        if let Some(doc_freq) = self.doc_freq.get_mut(word) {
            *doc_freq = self.texts;
        }
    }

    #[cfg(feature = "chroma")]
    pub(crate) fn sample(&mut self, texts: &[String]) {
        let all: usize = texts.iter().map(|text| tokens(text).len()).sum();
        self.average = (all > 0).then(|| all as f64 / texts.len() as f64);
    }

    pub(crate) fn add_text(&mut self, text: &str) {
        let tokens = tokens(text);
        let mut counts = vec![0; self.phrases.len()];
        for (at, token) in tokens.iter().enumerate() {
            for phrase in self.by_first.get(&**token).into_iter().flatten() {
                let words = &self.phrases[*phrase];
                counts[*phrase] += usize::from(
                    tokens
                        .get(at..at + words.len())
                        .is_some_and(|part| part == words),
                );
            }
        }
        for (doc_freq, count) in self.doc_freq.iter_mut().zip(&counts) {
            *doc_freq += usize::from(*count > 0);
        }
        self.tokens += tokens.len();
        self.seen.push((tokens.len(), counts));
    }

    /// In the order of adding. `None`: the text has none of the words.
    pub(crate) fn scores(&self) -> Vec<Option<f64>> {
        const K: f64 = 1.2;
        const B: f64 = 0.75;
        let texts = self.texts.max(self.seen.len()) as f64;
        let of_seen = self.tokens.max(1) as f64 / self.seen.len().max(1) as f64;
        let average = self.average.unwrap_or(of_seen);
        let weight = |doc_freq: &usize| {
            let doc_freq = *doc_freq as f64;
            ((texts - doc_freq + 0.5) / (doc_freq + 0.5)).ln().max(1e-6)
        };
        let weights: Vec<f64> = self.doc_freq.iter().map(weight).collect();
        let score = |(length, counts): &(usize, Vec<usize>)| {
            let each = weights.iter().zip(counts).map(|(weight, count)| {
                let count = *count as f64;
                weight * count * (K + 1.0) / (count + K * (1.0 - B + B * *length as f64 / average))
            });
            counts.iter().any(|count| *count > 0).then(|| each.sum())
        };
        self.seen.iter().map(score).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_query_are_what_has_a_letter_or_a_digit() {
        assert_eq!(
            query_words("don't \"*\" a OR A body:x 🙂 —"),
            ["don't", "a", "OR", "body:x"]
        );
        assert_eq!(query_words(&"a b c ".repeat(1000)), ["a", "b", "c"]);
        let long: String = (0..1000).map(|at| format!("w{at} ")).collect();
        assert_eq!(query_words(&long).len(), MAX_QUERY_WORDS);
    }

    #[test]
    fn rare_words_and_short_texts_count_more() {
        let mut ranking = Bm25::new(&["ERR_NOT_FOUND".into(), "the".into()], 3);
        for text in [
            "the file and the folder",
            "ERR_NOT_FOUND in the file",
            "nothing of it",
            "not found: err",
        ] {
            ranking.add_text(text);
        }
        let scores = ranking.scores();
        assert!(scores[1] > scores[0] && scores[0].is_some());
        assert_eq!(
            (scores[2], scores[3]),
            (None, None),
            "a phrase is its words in their order"
        );
    }
}
