//! A store in one file: texts and words in SQLite, vectors in memory and searched exactly.

mod fault;
mod loaded;
mod open;
mod search;
#[cfg(test)]
mod tests;
mod write;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use llmnode_runtime::{BoxFuture, Category, NodeError};

use self::fault::Fault;
use self::loaded::Inner;
use crate::hits::Hit;
use crate::store::{
    CollectionSize, Criterion, DocumentStore, EmbeddingSpace, IngestReport, KnownSources, Source,
    StoreQuery, wrong_length,
};

/// Each search looks at all vectors.
const MOST: usize = 200_000;

/// Keeps collections in one SQLite file: words by its full-text search (FTS5), vectors in memory, where each search looks at all of
/// them. It is for up to 200,000 chunks per collection. It is a cheap handle; clones share the file.
///
/// Several processes may use one file. A process that writes waits up to 5 seconds for another writer. A search by words ignores
/// case and accents.
///
/// Feature `rag-sqlite`.
///
/// ```
/// # use llmnode_rag as llmnode;
/// use llmnode::{Collection, HashEmbedder, SqliteStore};
///
/// # let folder = std::env::temp_dir().join(format!("llmnode-rag-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let store = SqliteStore::open(folder.join("docs.db"))?;
/// let docs = Collection::builder(store, "docs").embedder(HashEmbedder::new(256)).open().await?;
/// assert_eq!(docs.count().await?.chunks, 0);
/// # Ok::<(), llmnode_runtime::NodeError>(()) }).unwrap();
/// # std::fs::remove_dir_all(&folder).unwrap();
/// ```
#[derive(Clone)]
pub struct SqliteStore {
    path: PathBuf,
    inner: Arc<Mutex<Inner>>,
}

impl SqliteStore {
    /// Opens the file, and creates it if it does not exist.
    ///
    /// # Errors
    /// `config_error` if the path is empty, `:memory:`, a URI, or that of a directory, of a file that is not an SQLite file, or of one that another program or a newer
    /// llmnode made; `exec_error` if the file cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, NodeError> {
        let path = path.as_ref().to_owned();
        let connection = open::open(&path).map_err(|fault| fault.into_node_error(&path))?;
        let inner = Inner {
            connection,
            collections: BTreeMap::new(),
        };
        Ok(SqliteStore {
            path,
            inner: Arc::new(Mutex::new(inner)),
        })
    }

    /// Work that has begun is not cancelled: a transaction is written completely or not at all.
    fn work<'a, T: Send + 'static>(
        &'a self,
        work: impl FnOnce(&mut Inner) -> Result<T, Fault> + Send + 'static,
    ) -> BoxFuture<'a, Result<T, NodeError>> {
        self.run_blocking(move |inner| work(&mut lock(inner)))
    }

    fn run_blocking<'a, T: Send + 'static>(
        &'a self,
        work: impl FnOnce(&Mutex<Inner>) -> Result<T, Fault> + Send + 'static,
    ) -> BoxFuture<'a, Result<T, NodeError>> {
        let SqliteStore { path, inner } = self.clone();
        Box::pin(async move {
            let worked = tokio::task::spawn_blocking(move || {
                work(&inner).map_err(|fault| fault.into_node_error(&path))
            });
            worked.await.unwrap_or_else(|fault| {
                Err(NodeError::new(
                    Category::ExecError,
                    format!("the store stopped in its work: {fault}"),
                ))
            })
        })
    }
}

/// A transaction that panicked was rolled back, so the lock is good.
fn lock(inner: &Mutex<Inner>) -> MutexGuard<'_, Inner> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl DocumentStore for SqliteStore {
    fn open<'a>(
        &'a self,
        collection: &'a str,
        space: &'a EmbeddingSpace,
    ) -> BoxFuture<'a, Result<(), NodeError>> {
        let collection = collection.to_owned();
        let space = space.clone();
        self.work(move |inner| inner.open(&collection, &space))
    }

    fn known_sources<'a>(
        &'a self,
        collection: &'a str,
        sources: &'a [Source],
    ) -> BoxFuture<'a, Result<KnownSources, NodeError>> {
        let mut identities: Vec<(String, String, Vec<String>)> = Vec::with_capacity(sources.len());
        for source in sources {
            let ids = source.chunks.iter().map(|chunk| chunk.id.clone()).collect();
            identities.push((source.name.clone(), source.fingerprint.clone(), ids));
        }
        let collection = collection.to_owned();
        self.work(move |inner| inner.known_sources(&collection, &identities))
    }

    fn upsert<'a>(
        &'a self,
        collection: &'a str,
        sources: Vec<Source>,
        dedup: Option<f32>,
    ) -> BoxFuture<'a, Result<IngestReport, NodeError>> {
        let collection = collection.to_owned();
        self.work(move |inner| inner.upsert(&collection, sources, dedup))
    }

    fn search<'a>(
        &'a self,
        collection: &'a str,
        query: StoreQuery<'a>,
    ) -> BoxFuture<'a, Result<Vec<Hit>, NodeError>> {
        let collection = collection.to_owned();
        let filter = query.filter.clone();
        let k = query.k;
        match query.criterion {
            Criterion::Words(words) => {
                let words = words.to_vec();
                self.work(move |inner| inner.by_words(&collection, &words, &filter, k))
            }
            Criterion::Vector(vector) => {
                let vector = vector.to_vec();
                self.run_blocking(move |inner| {
                    let (matrix, allowed) = lock(inner).candidates(&collection, &filter)?;
                    if let Some(length) = matrix.other_length(&vector) {
                        return Err(wrong_length(length, vector.len()).into());
                    }
                    // Without the lock, so that concurrent searches share the vectors.
                    let nearest = matrix.nearest(&vector, k, |row| match &allowed {
                        Some(allowed) => allowed.contains(&row),
                        None => true,
                    });
                    lock(inner).hits(&collection, nearest, &filter, k)
                })
            }
        }
    }

    fn delete<'a>(
        &'a self,
        collection: &'a str,
        source: &'a str,
    ) -> BoxFuture<'a, Result<usize, NodeError>> {
        let collection = collection.to_owned();
        let source = source.to_owned();
        self.work(move |inner| inner.delete(&collection, &source))
    }

    fn count<'a>(
        &'a self,
        collection: &'a str,
    ) -> BoxFuture<'a, Result<CollectionSize, NodeError>> {
        let collection = collection.to_owned();
        self.work(move |inner| inner.count(&collection))
    }

    fn place(&self) -> (&'static str, String) {
        ("local", self.path.display().to_string())
    }
}
