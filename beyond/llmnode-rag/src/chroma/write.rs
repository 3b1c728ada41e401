//! Writing sources. The server has no transactions: new chunks come first, then old ones are deleted, and the fingerprint comes
//! last, so that a write that broke off is done again.

use std::collections::{BTreeMap, BTreeSet};

use llmnode_runtime::NodeError;
use serde_json::{Map, Value, json};

use super::records::{BATCH, GetRequest, PAGE, Records, mark, sources};
use super::{Inner, OpenCollection};
use crate::matrix::Matrix;
use crate::store::{Chunk, IngestReport, Source};

/// The one with the largest cosine, if that is large enough.
fn nearest_of(candidates: Vec<(String, f64)>, least: f32) -> Option<String> {
    let nearest = candidates
        .into_iter()
        .max_by(|(_, one), (_, other)| one.total_cmp(other));
    let (id, cosine) = nearest?;
    (cosine >= f64::from(least)).then_some(id)
}

impl Inner {
    pub(super) async fn upsert(
        &self,
        collection: &str,
        sources: Vec<Source>,
        dedup: Option<f32>,
    ) -> Result<IngestReport, NodeError> {
        let opened = self.opened(collection)?;
        let mut written = IngestReport::default();
        for source in sources {
            written += self.put(&opened, source, dedup).await?;
        }
        Ok(written)
    }

    pub(super) async fn delete(&self, collection: &str, source: &str) -> Result<usize, NodeError> {
        let opened = self.opened(collection)?;
        let old = self.old(&opened, source).await?;
        self.unmark(&opened, source, &old).await?;
        self.detach_source(&opened, source, &old, &BTreeSet::new())
            .await
    }

    /// Comes first: until all requests have succeeded, the source is neither the old version nor the new one.
    async fn unmark(
        &self,
        opened: &OpenCollection,
        source: &str,
        old: &BTreeMap<String, bool>,
    ) -> Result<(), NodeError> {
        let unmarked = Map::from_iter([(mark("fp", source), Value::Null)]);
        self.update(opened, &old.keys().cloned().collect(), &unmarked)
            .await
    }

    /// The chunks that a source has, and whether it alone has them.
    async fn old(
        &self,
        opened: &OpenCollection,
        source: &str,
    ) -> Result<BTreeMap<String, bool>, NodeError> {
        let mut old = BTreeMap::new();
        let mut begin = 0;
        loop {
            let request = GetRequest {
                filter: Some(json!({mark("in", source): true})),
                include: &["metadatas"],
                page: Some((begin, PAGE)),
                ..GetRequest::default()
            };
            let Records { ids, metadatas, .. } = self.get(opened, request).await?;
            let before = old.len();
            begin += ids.len();
            let is_last = ids.len() < PAGE;
            for (id, metadata) in ids.into_iter().zip(metadatas) {
                let is_alone = sources(&metadata).count() == 1;
                old.insert(id, is_alone);
            }
            // A server that knows no pages returns the same ones.
            if is_last || old.len() == before {
                break;
            }
        }
        Ok(old)
    }

    /// Writes a source. The order is what makes an interrupted write harmless: see the page.
    async fn put(
        &self,
        opened: &OpenCollection,
        source: Source,
        dedup: Option<f32>,
    ) -> Result<IngestReport, NodeError> {
        let old = self.old(opened, &source.name).await?;
        let existing = self.existing(opened, &source.chunks).await?;
        let near_duplicates = self
            .near_duplicates(opened, &source.chunks, &existing, &old, dedup)
            .await?;
        let mut report = IngestReport::default();
        let mut ids = BTreeSet::new();
        let mut new = Vec::new();
        for (chunk, near_duplicate) in source.chunks.into_iter().zip(near_duplicates) {
            let stored = if existing.contains(&chunk.id) {
                Some(chunk.id.clone())
            } else {
                near_duplicate
            };
            match stored {
                Some(id) if old.contains_key(&id) && !ids.contains(&id) => {
                    report.kept += 1;
                    ids.insert(id);
                }
                Some(id) => {
                    report.duplicates += 1;
                    ids.insert(id);
                }
                None => {
                    report.chunks += 1;
                    new.push(chunk);
                }
            }
        }
        let mut metadata: Map<String, Value> = source.metadata.into_iter().collect();
        metadata.insert(mark("in", &source.name), json!(true));
        self.unmark(opened, &source.name, &old).await?;
        self.add(opened, &new, &metadata).await?;
        // The metadata of existing chunks may have changed.
        let mut changed = self.dropped_metadata(opened, &ids, &metadata).await?;
        changed.extend(metadata);
        self.update(opened, &ids, &changed).await?;
        ids.extend(new.into_iter().map(|chunk| chunk.id));
        report.replaced = self.detach_source(opened, &source.name, &old, &ids).await?;
        let fingerprint = Map::from_iter([(mark("fp", &source.name), json!(source.fingerprint))]);
        self.update(opened, &ids, &fingerprint).await?;
        Ok(report)
    }

    /// What these chunks have and the source has not, to be removed: an update leaves what it does not name.
    async fn dropped_metadata(
        &self,
        opened: &OpenCollection,
        ids: &BTreeSet<String>,
        metadata: &Map<String, Value>,
    ) -> Result<Map<String, Value>, NodeError> {
        let mut dropped = Map::new();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        for ids in ids.chunks(BATCH) {
            let request = GetRequest {
                ids: Some(ids),
                include: &["metadatas"],
                ..GetRequest::default()
            };
            let records = self.get(opened, request).await?;
            for (name, _) in records.metadatas.into_iter().flatten() {
                let is_mark = name.contains(':');
                if !is_mark && !metadata.contains_key(&name) {
                    dropped.insert(name, Value::Null);
                }
            }
        }
        Ok(dropped)
    }

    /// The ids of those chunks that the collection has.
    async fn existing(
        &self,
        opened: &OpenCollection,
        chunks: &[Chunk],
    ) -> Result<BTreeSet<String>, NodeError> {
        let mut existing = BTreeSet::new();
        let ids: Vec<&str> = chunks.iter().map(|chunk| chunk.id.as_str()).collect();
        for ids in ids.chunks(BATCH) {
            let request = GetRequest {
                ids: Some(ids),
                ..GetRequest::default()
            };
            let records = self.get(opened, request).await?;
            existing.extend(records.ids);
        }
        Ok(existing)
    }

    /// Searches the server and earlier chunks, but not those that only the source's old version had.
    async fn near_duplicates(
        &self,
        opened: &OpenCollection,
        chunks: &[Chunk],
        existing: &BTreeSet<String>,
        old: &BTreeMap<String, bool>,
        dedup: Option<f32>,
    ) -> Result<Vec<Option<String>>, NodeError> {
        let mut near_duplicates: Vec<Option<String>> = Vec::with_capacity(chunks.len());
        let mut new = Matrix::default();
        for (index, chunk) in (0_i64..).zip(chunks) {
            let (Some(least), Some(vector)) = (dedup, chunk.vector.as_deref()) else {
                near_duplicates.push(None);
                continue;
            };
            let mut near_duplicate = None;
            if !existing.contains(&chunk.id) {
                let mut candidates = self.nearest_stored(opened, vector, old).await?;
                for (earlier, cosine) in new.nearest_above(least, vector, 1, |_| true) {
                    if let Ok(earlier) = usize::try_from(earlier)
                        && let Some(chunk) = chunks.get(earlier)
                    {
                        candidates.push((chunk.id.clone(), cosine));
                    }
                }
                near_duplicate = nearest_of(candidates, least);
            }
            if near_duplicate.is_none() {
                new.insert(index, vector);
            }
            near_duplicates.push(near_duplicate);
        }
        Ok(near_duplicates)
    }

    /// The stored chunks that are nearest to a vector, with their cosines, without those that go with the old version.
    async fn nearest_stored(
        &self,
        opened: &OpenCollection,
        vector: &[f32],
        old: &BTreeMap<String, bool>,
    ) -> Result<Vec<(String, f64)>, NodeError> {
        // One more than may have to be left out.
        let orphans = old.values().filter(|is_alone| **is_alone).count();
        let body = json!({"query_embeddings": [vector], "n_results": orphans + 1, "include": ["distances"]});
        let records = self.records(opened, "query", &body).await?;
        let mut nearest = Vec::new();
        for (id, distance) in records.ids.into_iter().zip(records.distances) {
            if old.get(&id) != Some(&true) {
                nearest.push((id, 1.0 - distance));
            }
        }
        Ok(nearest)
    }

    async fn add(
        &self,
        opened: &OpenCollection,
        chunks: &[Chunk],
        metadata: &Map<String, Value>,
    ) -> Result<(), NodeError> {
        for chunks in chunks.chunks(BATCH) {
            let mut ids = Vec::with_capacity(chunks.len());
            let mut documents = Vec::with_capacity(chunks.len());
            let mut embeddings = Vec::with_capacity(chunks.len());
            for chunk in chunks {
                ids.push(&chunk.id);
                documents.push(&chunk.text);
                // The server requires a vector for each.
                embeddings.push(chunk.vector.clone().unwrap_or_else(|| vec![1.0]));
            }
            let body = json!({
                "ids": ids,
                "documents": documents,
                "embeddings": embeddings,
                "metadatas": vec![metadata; chunks.len()],
            });
            self.send(opened, "upsert", body).await?;
        }
        Ok(())
    }

    /// `null` removes metadata.
    async fn update(
        &self,
        opened: &OpenCollection,
        ids: &BTreeSet<String>,
        metadata: &Map<String, Value>,
    ) -> Result<(), NodeError> {
        let ids: Vec<&String> = ids.iter().collect();
        for ids in ids.chunks(BATCH) {
            let body = json!({"ids": ids, "metadatas": vec![metadata; ids.len()]});
            self.send(opened, "update", body).await?;
        }
        Ok(())
    }

    /// Takes the old chunks away from a source, but for those that it still has. Also deletes chunks without a source, and returns
    /// how many.
    async fn detach_source(
        &self,
        opened: &OpenCollection,
        source: &str,
        old: &BTreeMap<String, bool>,
        but: &BTreeSet<String>,
    ) -> Result<usize, NodeError> {
        let mut deleted = Vec::new();
        let mut shared = BTreeSet::new();
        for (id, is_alone) in old {
            if but.contains(id) {
                continue;
            }
            if *is_alone {
                deleted.push(id);
            } else {
                shared.insert(id.clone());
            }
        }
        for ids in deleted.chunks(BATCH) {
            self.send(opened, "delete", json!({"ids": ids})).await?;
        }
        let marks = Map::from_iter([
            (mark("in", source), Value::Null),
            (mark("fp", source), Value::Null),
        ]);
        self.update(opened, &shared, &marks).await?;
        Ok(deleted.len())
    }
}
