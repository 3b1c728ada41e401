//! Searches: vectors by the server, words by the server's regular expressions and ranked here.

use std::collections::BTreeMap;

use llmnode_runtime::NodeError;
use serde_json::{Value, json};

use super::records::{GetRequest, Records};
use super::{Inner, OpenCollection};
use crate::document::Metadata;
use crate::hits::{Hit, best};
use crate::store::{Criterion, StoreQuery};
use crate::words::{Bm25, tokens};

/// Each takes a request.
const MAX_WORDS: usize = 16;
/// Texts from which the average length is estimated.
const SAMPLE: usize = 200;
/// A word in this many texts says little, and no more of them are read.
const COMMON_WORD_TEXTS: usize = 500;

impl Inner {
    pub(super) async fn search(
        &self,
        collection: &str,
        query: StoreQuery<'_>,
    ) -> Result<Vec<Hit>, NodeError> {
        let opened = self.opened(collection)?;
        let hits = match query.criterion {
            Criterion::Vector(vector) => {
                self.by_vector(&opened, vector, query.filter, query.k)
                    .await?
            }
            Criterion::Words(words) => self.by_words(&opened, words, query.filter).await?,
        };
        Ok(best(hits, query.k))
    }

    async fn by_vector(
        &self,
        opened: &OpenCollection,
        vector: &[f32],
        filter: &Metadata,
        k: usize,
    ) -> Result<Vec<Hit>, NodeError> {
        let mut body = json!({
            "query_embeddings": [vector], "n_results": k, "include": ["documents", "metadatas", "distances"],
        });
        if let Some(filter) = condition(filter) {
            body["where"] = filter;
        }
        let records = self.records(opened, "query", &body).await?;
        let Some(scores) = records.scores() else {
            return Err(self.client.bad_response("is not a list of hits"));
        };
        Ok(records.hits(&scores))
    }

    /// The server finds the texts that have a word, and the ranking is made here, from an estimate of the average length.
    async fn by_words(
        &self,
        opened: &OpenCollection,
        words: &[String],
        filter: &Metadata,
    ) -> Result<Vec<Hit>, NodeError> {
        let all = self.send_count(opened).await?;
        let words = &words[..words.len().min(MAX_WORDS)];
        let mut rare = BTreeMap::new();
        let mut common = BTreeMap::new();
        let mut ranking = Bm25::new(words, all);
        let sample = GetRequest {
            include: &["documents"],
            page: Some((0, SAMPLE)),
            ..GetRequest::default()
        };
        ranking.sample(&self.get(opened, sample).await?.documents);
        for (index, word) in words.iter().enumerate() {
            let Some(pattern) = pattern(word) else {
                continue;
            };
            let request = GetRequest {
                filter: condition(filter),
                text: Some(json!({"$regex": pattern})),
                include: &["documents", "metadatas"],
                page: Some((0, COMMON_WORD_TEXTS)),
                ..GetRequest::default()
            };
            let Records {
                ids,
                documents,
                metadatas,
                ..
            } = self.get(opened, request).await?;
            let is_common = ids.len() >= COMMON_WORD_TEXTS;
            if is_common {
                ranking.mark_common(index);
            }
            let found = if is_common { &mut common } else { &mut rare };
            found.extend(ids.into_iter().zip(documents.into_iter().zip(metadatas)));
        }
        // If all words are common, any of their texts is as good as another.
        let found = if rare.is_empty() { common } else { rare };
        let mut records = Records::default();
        for (id, (document, metadata)) in found {
            ranking.add_text(&document);
            records.ids.push(id);
            records.documents.push(document);
            records.metadatas.push(metadata);
        }
        // The pattern also matches parts of words; such texts have no score.
        let mut scores = Vec::new();
        for score in ranking.scores() {
            scores.push(score.unwrap_or(f64::NAN));
        }
        let mut hits = records.hits(&scores);
        hits.retain(|hit| !hit.score.is_nan());
        Ok(hits)
    }

    pub(super) async fn send_count(&self, opened: &OpenCollection) -> Result<usize, NodeError> {
        let count = self.client.get(&format!("/{}/count", opened.id)).await?;
        let count = count.as_u64().and_then(|count| usize::try_from(count).ok());
        count.ok_or_else(|| self.client.bad_response("is no count"))
    }
}

fn condition(filter: &Metadata) -> Option<Value> {
    let mut each: Vec<Value> = filter
        .iter()
        .map(|(name, value)| json!({name: {"$eq": value}}))
        .collect();
    match each.len() {
        0 => None,
        1 => each.pop(),
        _ => Some(json!({"$and": each})),
    }
}

/// Ignores case, and what separates the parts of the word. Parts are letters and digits, so nothing is syntax.
fn pattern(word: &str) -> Option<String> {
    let parts = tokens(word);
    (!parts.is_empty()).then(|| format!("(?i){}", parts.join(r"[^\p{L}\p{N}]+")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_no_syntax_in_a_pattern() {
        assert_eq!(
            pattern("a.*(b|c)[").as_deref(),
            Some(r"(?i)a[^\p{L}\p{N}]+b[^\p{L}\p{N}]+c")
        );
        assert_eq!(pattern("**"), None);
    }
}
