//! Writing sources. The server has no transactions: new chunks come first, then old ones are deleted, and the fingerprint comes
//! last, so that a write that broke off is done again.

use std::collections::{BTreeMap, BTreeSet};

use llmnode_runtime::NodeError;
use serde_json::{Map, Value, json};

use super::records::{BATCH, GetRequest, Records, mark, sources};
use super::{Inner, OpenCollection};
use crate::matrix::Matrix;
use crate::store::{Chunk, IngestReport, Source};

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

    async fn old(
        &self,
        opened: &OpenCollection,
        source: &str,
    ) -> Result<BTreeMap<String, bool>, NodeError> {
        let has = json!({mark("in", source): true});
        let wanted = GetRequest {
            filter: Some(has),
            include: &["metadatas"],
            ..GetRequest::default()
        };
        let Records { ids, metadatas, .. } = self.get(opened, wanted).await?;
        let alone = metadatas
            .iter()
            .map(|metadata| sources(metadata).count() == 1);
        Ok(ids.into_iter().zip(alone).collect())
    }

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
        let (mut written, mut ids, mut new) =
            (IngestReport::default(), BTreeSet::new(), Vec::new());
        for (chunk, near_duplicates) in source.chunks.into_iter().zip(near_duplicates) {
            let known = if existing.contains(&chunk.id) {
                Some(chunk.id.clone())
            } else {
                near_duplicates
            };
            match known {
                Some(id) if old.contains_key(&id) && !ids.contains(&id) => {
                    written.kept += 1;
                    ids.insert(id);
                }
                Some(id) => {
                    written.duplicates += 1;
                    ids.insert(id);
                }
                None => {
                    written.chunks += 1;
                    new.push(chunk);
                }
            }
        }
        let mut metadata: Map<String, Value> = source.metadata.into_iter().collect();
        metadata.insert(mark("in", &source.name), json!(true));
        self.unmark(opened, &source.name, &old).await?;
        self.add(opened, &new, &metadata).await?;
        // The metadata of existing chunks may have changed.
        self.update(opened, &ids, &metadata).await?;
        ids.extend(new.into_iter().map(|chunk| chunk.id));
        written.replaced = self.detach_source(opened, &source.name, &old, &ids).await?;
        let fingerprint = Map::from_iter([(mark("fp", &source.name), json!(source.fingerprint))]);
        self.update(opened, &ids, &fingerprint).await?;
        Ok(written)
    }

    async fn existing(
        &self,
        opened: &OpenCollection,
        chunks: &[Chunk],
    ) -> Result<BTreeSet<String>, NodeError> {
        let mut existing = BTreeSet::new();
        let ids: Vec<&str> = chunks.iter().map(|chunk| chunk.id.as_str()).collect();
        for ids in ids.chunks(BATCH) {
            existing.extend(
                self.get(
                    opened,
                    GetRequest {
                        ids: Some(ids),
                        ..GetRequest::default()
                    },
                )
                .await?
                .ids,
            );
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
        let mut own = Matrix::default();
        let orphans = old.values().filter(|alone| **alone).count();
        for (at, chunk) in (0_i64..).zip(chunks) {
            let (Some(least), Some(vector)) = (dedup, chunk.vector.as_deref()) else {
                near_duplicates.push(None);
                continue;
            };
            let mut best = None;
            if !existing.contains(&chunk.id) {
                let body = json!({"query_embeddings": [vector], "n_results": orphans + 1, "include": ["distances"]});
                let found = self.send(opened, "query", body).await?;
                let found = Records::read(found)
                    .ok_or_else(|| self.client.bad_response("is not a list of hits"))?;
                let stays = |(id, _): &(String, f64)| old.get(id) != Some(&true);
                let server = found
                    .ids
                    .into_iter()
                    .zip(found.distances.iter().map(|distance| 1.0 - distance));
                let own = own.nearest_above(least, vector, 1, |_| true).into_iter();
                let own = own.filter_map(|(at, cosine)| {
                    Some((chunks.get(usize::try_from(at).ok()?)?.id.clone(), cosine))
                });
                let all = server.filter(stays).chain(own);
                best = all
                    .max_by(|(_, one), (_, other)| one.total_cmp(other))
                    .filter(|(_, cosine)| *cosine >= f64::from(least));
            }
            let best = best.map(|(id, _)| id);
            if best.is_none() {
                own.insert(at, vector);
            }
            near_duplicates.push(best);
        }
        Ok(near_duplicates)
    }

    async fn add(
        &self,
        opened: &OpenCollection,
        chunks: &[Chunk],
        metadata: &Map<String, Value>,
    ) -> Result<(), NodeError> {
        for chunks in chunks.chunks(BATCH) {
            // The server requires a vector for each.
            let vector = |chunk: &Chunk| chunk.vector.clone().unwrap_or_else(|| vec![1.0]);
            let body = json!({
                "ids": chunks.iter().map(|chunk| &chunk.id).collect::<Vec<_>>(),
                "documents": chunks.iter().map(|chunk| &chunk.text).collect::<Vec<_>>(),
                "embeddings": chunks.iter().map(vector).collect::<Vec<_>>(),
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

    /// Also deletes chunks without a source, and returns how many.
    async fn detach_source(
        &self,
        opened: &OpenCollection,
        source: &str,
        old: &BTreeMap<String, bool>,
        but: &BTreeSet<String>,
    ) -> Result<usize, NodeError> {
        let gone = |alone: bool| {
            let gone = old
                .iter()
                .filter(move |(id, is)| **is == alone && !but.contains(*id));
            gone.map(|(id, _)| id.clone()).collect::<BTreeSet<_>>()
        };
        let (deleted, shared) = (gone(true), gone(false));
        for ids in deleted.iter().collect::<Vec<_>>().chunks(BATCH) {
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
