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
    let mut words = Vec::new();
    for word in query.split_whitespace() {
        let is_word = word.chars().any(char::is_alphanumeric);
        let is_short = word.chars().nth(MAX_WORD_CHARS).is_none();
        if is_word && is_short && seen.insert(word.to_lowercase()) {
            words.push(word.to_owned());
        }
        if words.len() == MAX_QUERY_WORDS {
            break;
        }
    }
    words
}

/// Runs of letters and digits, in lower case.
pub(crate) fn tokens(text: &str) -> Vec<Cow<'_, str>> {
    let mut tokens = Vec::new();
    for token in text.split(|c: char| !c.is_alphanumeric()) {
        if token.is_empty() {
            continue;
        }
        let is_lowercase = token
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        tokens.push(if is_lowercase {
            token.into()
        } else {
            token.to_lowercase().into()
        });
    }
    tokens
}

/// The ranking of texts by the words of a query. A word may be a phrase: `node-1` is two tokens, one behind the other.
pub(crate) struct Bm25 {
    phrases: Vec<Vec<String>>,
    /// Which phrases begin with a token.
    by_first: HashMap<String, Vec<usize>>,
    /// Includes those without any of the words.
    texts: usize,
    /// By phrase: how many texts have it.
    doc_freq: Vec<usize>,
    tokens: usize,
    /// Set if it differs from that of the added texts.
    average: Option<f64>,
    seen: Vec<AddedText>,
}

struct AddedText {
    tokens: usize,
    /// How often it has each phrase.
    counts: Vec<usize>,
}

impl AddedText {
    /// `average`: the tokens of a text on average.
    fn score(&self, weights: &[f64], average: f64) -> Option<f64> {
        const K: f64 = 1.2;
        const B: f64 = 0.75;
        if self.counts.iter().all(|count| *count == 0) {
            return None;
        }
        let length = self.tokens as f64;
        let mut score = 0.0;
        for (weight, count) in weights.iter().zip(&self.counts) {
            let count = *count as f64;
            score += weight * count * (K + 1.0) / (count + K * (1.0 - B + B * length / average));
        }
        Some(score)
    }
}

impl Bm25 {
    pub(crate) fn new(words: &[String], texts: usize) -> Self {
        let mut phrases: Vec<Vec<String>> = Vec::new();
        let mut by_first: HashMap<String, Vec<usize>> = HashMap::new();
        for word in words {
            let phrase: Vec<String> = tokens(word).into_iter().map(Cow::into_owned).collect();
            let Some(first) = phrase.first() else {
                continue;
            };
            by_first
                .entry(first.clone())
                .or_default()
                .push(phrases.len());
            phrases.push(phrase);
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

    /// Counts the phrases of a text.
    pub(crate) fn add_text(&mut self, text: &str) {
        let tokens = tokens(text);
        let mut counts = vec![0; self.phrases.len()];
        for (index, token) in tokens.iter().enumerate() {
            let Some(phrases) = self.by_first.get(&**token) else {
                continue;
            };
            for phrase in phrases {
                let words = &self.phrases[*phrase];
                if let Some(part) = tokens.get(index..index + words.len())
                    && part == words
                {
                    counts[*phrase] += 1;
                }
            }
        }
        for (doc_freq, count) in self.doc_freq.iter_mut().zip(&counts) {
            *doc_freq += usize::from(*count > 0);
        }
        self.tokens += tokens.len();
        self.seen.push(AddedText {
            tokens: tokens.len(),
            counts,
        });
    }

    /// In the order of adding. `None`: the text has none of the words.
    pub(crate) fn scores(&self) -> Vec<Option<f64>> {
        let texts = self.texts.max(self.seen.len()) as f64;
        let average_of_seen = self.tokens.max(1) as f64 / self.seen.len().max(1) as f64;
        let average = self.average.unwrap_or(average_of_seen);
        let mut weights = Vec::with_capacity(self.doc_freq.len());
        for doc_freq in &self.doc_freq {
            let doc_freq = *doc_freq as f64;
            let weight = ((texts - doc_freq + 0.5) / (doc_freq + 0.5)).ln();
            // A word that most texts have counts for little, and never against one.
            weights.push(weight.max(1e-6));
        }
        let mut scores = Vec::with_capacity(self.seen.len());
        for text in &self.seen {
            scores.push(text.score(&weights, average));
        }
        scores
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
