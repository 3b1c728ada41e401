//! A store in memory, for tests and small programs.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use llmnode_runtime::{BoxFuture, NodeError};

use crate::document::Metadata;
use crate::hits::Hit;
use crate::matrix::Matrix;
use crate::store::{
    Chunk, CollectionSize, Criterion, DocumentStore, EmbeddingSpace, IngestReport, KnownSources,
    Source, StoreQuery, not_open, wrong_length,
};
use crate::words::Bm25;

/// Keeps collections in memory until the last clone is dropped. Searches look at every chunk.
///
/// A search by words ignores case but not accents; `SqliteStore` ignores both.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore(Arc<Mutex<BTreeMap<String, StoredCollection>>>);

#[derive(Debug, Default)]
struct StoredCollection {
    space: EmbeddingSpace,
    sources: BTreeMap<String, StoredSource>,
    chunks: BTreeMap<String, (i64, String, BTreeSet<String>)>,
    ids: HashMap<i64, String>,
    matrix: Matrix,
    rows: i64,
}

#[derive(Debug)]
struct StoredSource {
    fingerprint: String,
    metadata: Metadata,
    chunks: Vec<String>,
}

impl MemoryStore {
    /// Creates an empty store.
    pub fn new() -> Self {
        MemoryStore::default()
    }

    fn collections(&self) -> MutexGuard<'_, BTreeMap<String, StoredCollection>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look<T>(
        &self,
        collection: &str,
        look: impl FnOnce(&StoredCollection) -> T,
    ) -> Result<T, NodeError> {
        self.collections()
            .get(collection)
            .map(look)
            .ok_or_else(|| not_open(collection))
    }

    fn change<T>(
        &self,
        collection: &str,
        change: impl FnOnce(&mut StoredCollection) -> Result<T, NodeError>,
    ) -> Result<T, NodeError> {
        change(
            self.collections()
                .get_mut(collection)
                .ok_or_else(|| not_open(collection))?,
        )
    }
}

impl StoredCollection {
    fn detach_source(&mut self, name: &str) -> Vec<String> {
        let Some(kept) = self.sources.remove(name) else {
            return Vec::new();
        };
        for id in &kept.chunks {
            if let Some((_, _, sources)) = self.chunks.get_mut(id) {
                sources.remove(name);
            }
        }
        kept.chunks
    }

    fn remove_orphans(&mut self, ids: impl IntoIterator<Item = String>) -> usize {
        let mut gone = 0;
        for id in ids {
            if self
                .chunks
                .get(&id)
                .is_some_and(|(_, _, sources)| sources.is_empty())
                && let Some((row, ..)) = self.chunks.remove(&id)
            {
                self.matrix.remove(row);
                self.ids.remove(&row);
                gone += 1;
            }
        }
        gone
    }

    /// Ignores chunks that only the source's old version had: small changes count.
    fn near_duplicate(&self, chunk: &Chunk, dedup: Option<f32>) -> Option<String> {
        let (vector, least) = (chunk.vector.as_deref()?, dedup?);
        let stays = |row| {
            let id = self.ids.get(&row).and_then(|id| self.chunks.get(id));
            id.is_some_and(|(_, _, sources)| !sources.is_empty())
        };
        let (row, cosine) = *self.matrix.nearest_above(least, vector, 1, stays).first()?;
        (cosine >= f64::from(least)).then(|| self.ids.get(&row).cloned())?
    }

    fn check(&mut self, sources: &[Source]) -> Result<(), NodeError> {
        let mut columns = (!self.chunks.is_empty()).then(|| self.matrix.columns());
        for vector in sources
            .iter()
            .flat_map(|source| &source.chunks)
            .filter_map(|chunk| chunk.vector.as_ref())
        {
            if *columns.get_or_insert(vector.len()) != vector.len() {
                return Err(wrong_length(columns.unwrap_or(0), vector.len()));
            }
        }
        self.space.dimensions = self.space.dimensions.or(columns);
        Ok(())
    }

    fn put(&mut self, source: Source, dedup: Option<f32>, old: &BTreeSet<String>) -> IngestReport {
        let Source {
            name,
            fingerprint,
            metadata,
            chunks,
        } = source;
        let mut written = IngestReport::default();
        let (mut ids, mut own) = (Vec::new(), BTreeSet::new());
        for chunk in chunks {
            let known = self.chunks.contains_key(&chunk.id);
            let id = if known {
                Some(chunk.id.clone())
            } else {
                self.near_duplicate(&chunk, dedup)
            };
            let id = match id {
                Some(id) => {
                    if old.contains(&id) && !own.contains(&id) {
                        written.kept += 1
                    } else {
                        written.duplicates += 1
                    }
                    id
                }
                None => {
                    written.chunks += 1;
                    self.add(chunk)
                }
            };
            if let Some((_, _, sources)) = self.chunks.get_mut(&id) {
                sources.insert(name.clone());
            }
            if own.insert(id.clone()) {
                ids.push(id);
            }
        }
        self.sources.insert(
            name,
            StoredSource {
                fingerprint,
                metadata,
                chunks: ids,
            },
        );
        written
    }

    fn add(&mut self, chunk: Chunk) -> String {
        self.rows += 1;
        if let Some(vector) = &chunk.vector {
            self.matrix.insert(self.rows, vector);
        }
        self.ids.insert(self.rows, chunk.id.clone());
        self.chunks
            .insert(chunk.id.clone(), (self.rows, chunk.text, BTreeSet::new()));
        chunk.id
    }

    fn source_of(&self, id: &str, filter: &Metadata) -> Option<(&String, &Metadata)> {
        let (_, _, sources) = self.chunks.get(id)?;
        let kept = sources
            .iter()
            .filter_map(|name| Some((name, &self.sources.get(name)?.metadata)));
        kept.into_iter().find(|(_, metadata)| {
            filter
                .iter()
                .all(|(name, value)| metadata.get(name) == Some(value))
        })
    }

    fn hits(
        &self,
        scored: impl IntoIterator<Item = (String, f64)>,
        filter: &Metadata,
        k: usize,
    ) -> Vec<Hit> {
        let mut scored: Vec<_> = scored.into_iter().collect();
        scored.sort_by(|(one, score), (other, than)| {
            than.total_cmp(score).then_with(|| one.cmp(other))
        });
        let hit = |(id, score): (String, f64)| {
            let (source, metadata) = self.source_of(&id, filter)?;
            let (source, metadata) = (source.clone(), metadata.clone());
            let text = self.chunks.get(&id)?.1.clone();
            Some(Hit {
                id,
                text,
                source,
                metadata,
                score,
                rank: 0,
            })
        };
        scored.into_iter().filter_map(hit).take(k).collect()
    }
}

impl DocumentStore for MemoryStore {
    fn open<'a>(
        &'a self,
        collection: &'a str,
        space: &'a EmbeddingSpace,
    ) -> BoxFuture<'a, Result<(), NodeError>> {
        Box::pin(async move {
            let mut collections = self.collections();
            let stored =
                collections
                    .entry(collection.to_owned())
                    .or_insert_with(|| StoredCollection {
                        space: space.clone(),
                        ..StoredCollection::default()
                    });
            stored.space.check(collection, space)
        })
    }

    fn known<'a>(
        &'a self,
        collection: &'a str,
        sources: &'a [Source],
    ) -> BoxFuture<'a, Result<KnownSources, NodeError>> {
        Box::pin(async move {
            self.look(collection, |stored| {
                let same = |source: &Source| {
                    let kept = stored.sources.get(&source.name)?;
                    (kept.fingerprint == source.fingerprint).then_some(kept.chunks.len())
                };
                let unchanged = sources.iter().map(same).collect();
                let vector = |chunk: &Chunk| {
                    let (row, ..) = stored.chunks.get(&chunk.id)?;
                    Some((chunk.id.clone(), stored.matrix.row(*row)?.to_vec()))
                };
                let vectors = sources
                    .iter()
                    .flat_map(|source| &source.chunks)
                    .filter_map(vector)
                    .collect();
                KnownSources { unchanged, vectors }
            })
        })
    }

    fn upsert<'a>(
        &'a self,
        collection: &'a str,
        sources: Vec<Source>,
        dedup: Option<f32>,
    ) -> BoxFuture<'a, Result<IngestReport, NodeError>> {
        Box::pin(async move {
            self.change(collection, |stored| {
                stored.check(&sources)?;
                let mut written = IngestReport::default();
                for source in sources {
                    let old = stored.detach_source(&source.name);
                    let set = old.iter().cloned().collect();
                    written += stored.put(source, dedup, &set);
                    written.replaced += stored.remove_orphans(old);
                }
                Ok(written)
            })
        })
    }

    fn search<'a>(
        &'a self,
        collection: &'a str,
        query: StoreQuery<'a>,
    ) -> BoxFuture<'a, Result<Vec<Hit>, NodeError>> {
        let StoreQuery {
            criterion,
            k,
            filter,
        } = query;
        Box::pin(async move {
            self.look(collection, |stored| match criterion {
                Criterion::Words(words) => {
                    let mut ranking = Bm25::new(words, stored.chunks.len());
                    stored
                        .chunks
                        .values()
                        .for_each(|(_, text, _)| ranking.add_text(text));
                    let scores = stored.chunks.keys().zip(ranking.scores());
                    Ok(stored.hits(
                        scores.filter_map(|(id, score)| Some((id.clone(), score?))),
                        filter,
                        k,
                    ))
                }
                Criterion::Vector(vector) => {
                    if let Some(own) = stored.matrix.other_length(vector) {
                        return Err(wrong_length(own, vector.len()));
                    }
                    let allowed = |row| {
                        filter.is_empty()
                            || stored
                                .ids
                                .get(&row)
                                .is_some_and(|id| stored.source_of(id, filter).is_some())
                    };
                    let nearest = stored.matrix.nearest(vector, k, allowed).into_iter();
                    let named = nearest
                        .filter_map(|(row, score)| Some((stored.ids.get(&row)?.clone(), score)));
                    Ok(stored.hits(named, filter, k))
                }
            })?
        })
    }

    fn delete<'a>(
        &'a self,
        collection: &'a str,
        source: &'a str,
    ) -> BoxFuture<'a, Result<usize, NodeError>> {
        Box::pin(async move {
            self.change(collection, |stored| {
                let old = stored.detach_source(source);
                Ok(stored.remove_orphans(old))
            })
        })
    }

    fn count<'a>(
        &'a self,
        collection: &'a str,
    ) -> BoxFuture<'a, Result<CollectionSize, NodeError>> {
        Box::pin(async move {
            self.look(collection, |stored| CollectionSize {
                sources: stored.sources.len(),
                chunks: stored.chunks.len(),
            })
        })
    }

    fn place(&self) -> (&'static str, String) {
        ("memory", String::new())
    }
}
