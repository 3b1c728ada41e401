//! Stores to test, and embedders whose vectors are known.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use llmnode_rag::*;
use llmnode_runtime::{BoxFuture, Category, ModelError, Run, ScriptedModel, Sink};

/// A run whose model is never asked.
pub(crate) fn run() -> Run {
    Run::new(ScriptedModel::new())
}

/// A folder of its own, which goes with the test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!(
            "llmnode-rag-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn store(&self) -> SqliteStore {
        SqliteStore::open(self.0.join("docs.db")).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Every store that needs no server, with its name.
pub(crate) fn stores(folder: &Folder) -> Vec<(&'static str, Arc<dyn DocumentStore>)> {
    let _ = folder;
    vec![
        ("memory", Arc::new(MemoryStore::new())),
        #[cfg(feature = "sqlite")]
        ("sqlite", Arc::new(folder.store())),
    ]
}

/// Vectors by text; of any other text, the last axis. It counts what it is asked, and fails on demand.
#[derive(Clone, Default)]
pub(crate) struct Planted {
    vectors: Arc<BTreeMap<String, Vec<f32>>>,
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
    /// How many requests go well before one fails.
    pub(crate) fails_after: Arc<Mutex<Option<usize>>>,
}

impl Planted {
    pub(crate) fn new(vectors: impl IntoIterator<Item = (&'static str, Vec<f32>)>) -> Self {
        let vectors = vectors
            .into_iter()
            .map(|(text, vector)| (text.to_owned(), vector))
            .collect();
        Planted {
            vectors: Arc::new(vectors),
            ..Planted::default()
        }
    }

    pub(crate) fn of(vectors: BTreeMap<String, Vec<f32>>) -> Self {
        Planted {
            vectors: Arc::new(vectors),
            ..Planted::default()
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl Embedder for Planted {
    fn embed<'a>(
        &'a self,
        request: &'a EmbedRequest<'a>,
        _: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Embedded, ModelError>> {
        Box::pin(async move {
            if let Some(left) = &mut *self.fails_after.lock().unwrap() {
                if *left == 0 {
                    return Err(ModelError::new(Category::BadRequest, "no more vectors"));
                }
                *left -= 1;
            }
            self.asked
                .lock()
                .unwrap()
                .extend(request.texts.iter().map(|text| (*text).to_owned()));
            let columns = self.vectors.values().next().map_or(2, Vec::len);
            let other = || -> Vec<f32> {
                (0..columns)
                    .map(|at| f32::from(at + 1 == columns))
                    .collect()
            };
            let vector = |text: &&str| self.vectors.get(*text).cloned().unwrap_or_else(other);
            Ok(Embedded::new(request.texts.iter().map(vector).collect()))
        })
    }

    fn id(&self) -> &str {
        "planted"
    }

    fn dimensions(&self) -> Option<usize> {
        None
    }

    fn is_local(&self) -> bool {
        true
    }

    fn batch(&self) -> (usize, usize) {
        (2, 1000)
    }
}

pub(crate) fn sources(hits: &Hits) -> Vec<&str> {
    hits.iter().map(|hit| hit.source.as_str()).collect()
}
