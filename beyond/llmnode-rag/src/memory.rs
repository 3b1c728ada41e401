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

/// One collection. A chunk is stored once, however many sources have it.
#[derive(Debug, Default)]
struct StoredCollection {
    space: EmbeddingSpace,
    sources: BTreeMap<String, StoredSource>,
    chunks: BTreeMap<String, StoredChunk>,
    /// The ids of chunks by the rows of their vectors.
    ids: HashMap<i64, String>,
    matrix: Matrix,
    /// The number of the last row. None is used again.
    rows: i64,
}

#[derive(Debug)]
struct StoredChunk {
    row: i64,
    text: String,
    /// The names of those that have it.
    sources: BTreeSet<String>,
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
        match self.collections().get(collection) {
            Some(stored) => Ok(look(stored)),
            None => Err(not_open(collection)),
        }
    }

    fn change<T>(
        &self,
        collection: &str,
        change: impl FnOnce(&mut StoredCollection) -> Result<T, NodeError>,
    ) -> Result<T, NodeError> {
        match self.collections().get_mut(collection) {
            Some(stored) => change(stored),
            None => Err(not_open(collection)),
        }
    }
}

impl StoredCollection {
    /// Removes a source, and returns its chunks, which stay until it is clear that no other source has them.
    fn detach_source(&mut self, name: &str) -> Vec<String> {
        let Some(source) = self.sources.remove(name) else {
            return Vec::new();
        };
        for id in &source.chunks {
            if let Some(chunk) = self.chunks.get_mut(id) {
                chunk.sources.remove(name);
            }
        }
        source.chunks
    }

    /// Removes those of the chunks that no source has, and returns how many.
    fn remove_orphans(&mut self, ids: impl IntoIterator<Item = String>) -> usize {
        let mut removed = 0;
        for id in ids {
            let is_orphan = match self.chunks.get(&id) {
                Some(chunk) => chunk.sources.is_empty(),
                None => false,
            };
            if is_orphan && let Some(chunk) = self.chunks.remove(&id) {
                self.matrix.remove(chunk.row);
                self.ids.remove(&chunk.row);
                removed += 1;
            }
        }
        removed
    }

    /// Ignores chunks that only the source's old version had: small changes count.
    fn near_duplicate(&self, chunk: &Chunk, dedup: Option<f32>) -> Option<String> {
        let vector = chunk.vector.as_deref()?;
        let least = dedup?;
        let nearest = self
            .matrix
            .nearest_above(least, vector, 1, |row| self.has_source(row));
        let (row, cosine) = *nearest.first()?;
        if cosine < f64::from(least) {
            return None;
        }
        self.ids.get(&row).cloned()
    }

    fn has_source(&self, row: i64) -> bool {
        let Some(id) = self.ids.get(&row) else {
            return false;
        };
        match self.chunks.get(id) {
            Some(chunk) => !chunk.sources.is_empty(),
            None => false,
        }
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

    /// Stores a source, whose old version is detached. `old`: the chunks of that.
    fn put(&mut self, source: Source, dedup: Option<f32>, old: &BTreeSet<String>) -> IngestReport {
        let Source {
            name,
            fingerprint,
            metadata,
            chunks,
        } = source;
        let mut report = IngestReport::default();
        let mut ids = Vec::new();
        let mut seen = BTreeSet::new();
        for chunk in chunks {
            let stored = if self.chunks.contains_key(&chunk.id) {
                Some(chunk.id.clone())
            } else {
                self.near_duplicate(&chunk, dedup)
            };
            let id = match stored {
                Some(id) if old.contains(&id) && !seen.contains(&id) => {
                    report.kept += 1;
                    id
                }
                Some(id) => {
                    report.duplicates += 1;
                    id
                }
                None => {
                    report.chunks += 1;
                    self.add(chunk)
                }
            };
            if let Some(chunk) = self.chunks.get_mut(&id) {
                chunk.sources.insert(name.clone());
            }
            if seen.insert(id.clone()) {
                ids.push(id);
            }
        }
        let stored = StoredSource {
            fingerprint,
            metadata,
            chunks: ids,
        };
        self.sources.insert(name, stored);
        report
    }

    /// Stores a new chunk, and returns its id.
    fn add(&mut self, chunk: Chunk) -> String {
        self.rows += 1;
        if let Some(vector) = &chunk.vector {
            self.matrix.insert(self.rows, vector);
        }
        self.ids.insert(self.rows, chunk.id.clone());
        let stored = StoredChunk {
            row: self.rows,
            text: chunk.text,
            sources: BTreeSet::new(),
        };
        self.chunks.insert(chunk.id.clone(), stored);
        chunk.id
    }

    /// The first source by name that has the chunk and meets the filter.
    fn source_of(&self, id: &str, filter: &Metadata) -> Option<(&String, &Metadata)> {
        for name in &self.chunks.get(id)?.sources {
            let Some(source) = self.sources.get(name) else {
                continue;
            };
            let metadata = &source.metadata;
            let is_met = filter
                .iter()
                .all(|(name, value)| metadata.get(name) == Some(value));
            if is_met {
                return Some((name, metadata));
            }
        }
        None
    }

    /// The best of the scored chunks that meet the filter.
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
        let mut hits = Vec::new();
        for (id, score) in scored {
            if hits.len() == k {
                break;
            }
            let Some((source, metadata)) = self.source_of(&id, filter) else {
                continue;
            };
            let Some(chunk) = self.chunks.get(&id) else {
                continue;
            };
            hits.push(Hit {
                id,
                text: chunk.text.clone(),
                source: source.clone(),
                metadata: metadata.clone(),
                score,
                rank: 0,
            });
        }
        hits
    }

    /// What of these sources is stored as they are, and the vectors of their chunks.
    fn known_sources(&self, sources: &[Source]) -> KnownSources {
        let mut known_sources = KnownSources::default();
        for source in sources {
            let unchanged = match self.sources.get(&source.name) {
                Some(stored) if stored.fingerprint == source.fingerprint => {
                    Some(stored.chunks.len())
                }
                _ => None,
            };
            known_sources.unchanged.push(unchanged);
            for chunk in &source.chunks {
                if let Some(stored) = self.chunks.get(&chunk.id)
                    && let Some(vector) = self.matrix.row(stored.row)
                {
                    known_sources
                        .vectors
                        .insert(chunk.id.clone(), vector.to_vec());
                }
            }
        }
        known_sources
    }

    fn by_words(&self, words: &[String], k: usize, filter: &Metadata) -> Vec<Hit> {
        let mut ranking = Bm25::new(words, self.chunks.len());
        for chunk in self.chunks.values() {
            ranking.add_text(&chunk.text);
        }
        let mut scored = Vec::new();
        for (id, score) in self.chunks.keys().zip(ranking.scores()) {
            if let Some(score) = score {
                scored.push((id.clone(), score));
            }
        }
        self.hits(scored, filter, k)
    }

    fn by_vector(
        &self,
        vector: &[f32],
        k: usize,
        filter: &Metadata,
    ) -> Result<Vec<Hit>, NodeError> {
        if let Some(length) = self.matrix.other_length(vector) {
            return Err(wrong_length(length, vector.len()));
        }
        // Ranked only among those that meet the filter, or it could leave none of the nearest.
        let nearest = self.matrix.nearest(vector, k, |row| {
            filter.is_empty() || self.row_meets(row, filter)
        });
        let mut scored = Vec::new();
        for (row, score) in nearest {
            if let Some(id) = self.ids.get(&row) {
                scored.push((id.clone(), score));
            }
        }
        Ok(self.hits(scored, filter, k))
    }

    fn row_meets(&self, row: i64, filter: &Metadata) -> bool {
        match self.ids.get(&row) {
            Some(id) => self.source_of(id, filter).is_some(),
            None => false,
        }
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

    fn known_sources<'a>(
        &'a self,
        collection: &'a str,
        sources: &'a [Source],
    ) -> BoxFuture<'a, Result<KnownSources, NodeError>> {
        Box::pin(async move { self.look(collection, |stored| stored.known_sources(sources)) })
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
                Criterion::Words(words) => Ok(stored.by_words(words, k, filter)),
                Criterion::Vector(vector) => stored.by_vector(vector, k, filter),
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
