//! Writing documents, as a node: cut, embed what is new, and write each source as a whole.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use llmnode_model::internal::sha256_hex;
use llmnode_runtime::{BoxError, Category, Cx, Exec, Node, NodeError, NodeFacts};

use crate::collection_config::CollectionConfig;
use crate::document::Document;
use crate::embed::{Embedding, Purpose, batches};
use crate::store::{Chunk, IngestReport, KnownSources, Source};

/// Documents are written together up to this many chunks.
const MAX_GROUP_CHUNKS: usize = 512;

/// Writes documents into a [`Collection`](crate::Collection). It is a node: `run.call(&write)`, `cx.call(&write)`. The requests for
/// vectors are separate calls within it, `embeddings`. If one fails, nothing of its group of documents is written.
///
/// ```
/// # mod llmnode { pub use llmnode_runtime::*; pub mod rag { pub use llmnode_rag::*; } }
/// use llmnode::rag::{Collection, Document, MemoryStore};
/// use llmnode::{Run, ScriptedModel};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let docs = Collection::builder(MemoryStore::new(), "docs").open().await?;
/// let run = Run::new(ScriptedModel::new());
/// let house = || Document::new("house.md", "The key is under the mat.");
/// let first = run.call(&docs.write(house())).await?;
/// let again = run.call(&docs.write(house())).await?;
/// assert_eq!((first.chunks, again.chunks, again.kept), (1, 0, 1)); // nothing has changed
/// # Ok::<(), llmnode_runtime::NodeError>(()) }).unwrap();
/// ```
#[derive(Clone)]
#[must_use = "nothing is written until it is called"]
pub struct Ingest {
    docs: Arc<CollectionConfig>,
    documents: Vec<Document>,
}

impl Ingest {
    pub(crate) fn new(docs: Arc<CollectionConfig>, documents: Vec<Document>) -> Self {
        Ingest { docs, documents }
    }

    fn check(&self) -> Result<(), NodeError> {
        let mut seen = BTreeSet::new();
        for document in &self.documents {
            document.check()?;
            if !seen.insert(&document.source) {
                let message = format!(
                    "the source {:?} is to be written twice; keep one of them",
                    document.source
                );
                return Err(NodeError::new(Category::ConfigError, message));
            }
        }
        Ok(())
    }

    fn source(&self, document: &Document) -> (Source, usize) {
        let CollectionConfig {
            chunker, embedder, ..
        } = &*self.docs;
        let Document {
            source,
            text,
            metadata,
        } = document;
        let embedder = embedder.as_ref().map(|embedder| embedder.id());
        let identity = serde_json::json!([
            text,
            metadata,
            chunker.size,
            chunker.overlap,
            embedder,
            self.docs.dedup
        ]);
        let fingerprint = sha256_hex(identity.to_string().as_bytes());
        let mut seen = BTreeSet::new();
        let pieces = chunker.chunks(text);
        let all = pieces.len();
        let chunks: Vec<_> = pieces
            .into_iter()
            .filter(|piece| seen.insert(*piece))
            .map(Chunk::new)
            .collect();
        let again = all - chunks.len();
        (
            Source::new(source.clone(), fingerprint, metadata.clone(), chunks),
            again,
        )
    }

    async fn group<S>(
        &self,
        cx: &Cx<'_, S>,
        sources: Vec<Source>,
    ) -> Result<IngestReport, NodeError>
    where
        S: ?Sized + Sync,
    {
        let CollectionConfig {
            store, name, dedup, ..
        } = &*self.docs;
        let KnownSources {
            unchanged, vectors, ..
        } = store.known(name, &sources).await?;
        let mut written = IngestReport::default();
        let mut changed = Vec::new();
        for (at, source) in sources.into_iter().enumerate() {
            match unchanged.get(at).copied().flatten() {
                Some(chunks) => written.kept += chunks,
                None => changed.push(source),
            }
        }
        if changed.is_empty() {
            return Ok(written);
        }
        self.embed(cx, &mut changed, vectors).await?;
        let chunks = changed.iter().flat_map(|source| &source.chunks);
        let zero_vectors = chunks
            .filter(|chunk| chunk.vector.as_deref().is_some_and(is_zero))
            .count();
        written += store.upsert(name, changed, *dedup).await?;
        written.zero_vectors += zero_vectors;
        Ok(written)
    }

    /// `known` vectors are not requested again.
    async fn embed<S: ?Sized + Sync>(
        &self,
        cx: &Cx<'_, S>,
        sources: &mut [Source],
        mut known: HashMap<String, Vec<f32>>,
    ) -> Result<(), NodeError> {
        let Some(embedder) = self.docs.embedder.as_deref() else {
            return Ok(());
        };
        let mut new: Vec<(&str, &str)> = Vec::new();
        let mut seen = BTreeSet::new();
        for chunk in sources.iter().flat_map(|source| &source.chunks) {
            if !known.contains_key(&chunk.id) && seen.insert(&chunk.id) {
                new.push((&chunk.id, &chunk.text));
            }
        }
        let texts: Vec<&str> = new.iter().map(|(_, text)| *text).collect();
        let mut vectors = Vec::with_capacity(texts.len());
        let mut left = batches(&texts, embedder.batch());
        left.reverse();
        while let Some(texts) = left.pop() {
            // What a server takes at once is learned from its refusals.
            let most = embedder.batch().0.max(1);
            if texts.len() > most {
                left.extend(texts.chunks(most).rev());
                continue;
            }
            match cx
                .call(&Embedding {
                    embedder,
                    texts,
                    purpose: Purpose::Document,
                })
                .await
            {
                Ok(new) => vectors.extend(new),
                Err(error) => left.extend(smaller(texts, embedder.batch().0, error)?),
            }
        }
        known.extend(new.into_iter().map(|(id, _)| id.to_owned()).zip(vectors));
        for chunk in sources.iter_mut().flat_map(|source| &mut source.chunks) {
            chunk.vector = known.get(&chunk.id).cloned();
        }
        Ok(())
    }
}

/// The texts of a request that was refused for its size, for smaller ones, the last first.
fn smaller<'t, 'a>(
    texts: &'a [&'t str],
    most: usize,
    error: NodeError,
) -> Result<impl Iterator<Item = &'a [&'t str]>, NodeError> {
    let most = match error.category() {
        Category::BadRequest if most < texts.len() => most,
        // One of them may be too long, or all together.
        Category::ContextLengthError if texts.len() > 1 => texts.len() / 2,
        _ => return Err(error),
    };
    Ok(texts.chunks(most.max(1)).rev())
}

/// A vector without a direction is near to nothing.
fn is_zero(vector: &[f32]) -> bool {
    vector.iter().all(|number| *number == 0.0)
}

#[diagnostic::do_not_recommend]
impl Node for Ingest {
    type Output = IngestReport;
    const NAME: &'static str = "write";
    const FACTS: NodeFacts = NodeFacts::new().description("Writes documents into a store.");
}

#[diagnostic::do_not_recommend]
impl<S: ?Sized + Sync> Exec<S> for Ingest {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<IngestReport, BoxError> {
        self.check()?;
        let mut written = IngestReport::default();
        let (mut group, mut chunks) = (Vec::new(), 0);
        for document in &self.documents {
            let (source, again) = self.source(document);
            written.duplicates += again;
            chunks += source.chunks.len();
            group.push(source);
            if chunks >= MAX_GROUP_CHUNKS {
                written += self.group(cx, std::mem::take(&mut group)).await?;
                chunks = 0;
            }
        }
        if !group.is_empty() {
            written += self.group(cx, group).await?;
        }
        Ok(written)
    }
}

impl fmt::Debug for Ingest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (collection, documents) = (&self.docs.name, self.documents.len());
        f.debug_struct("Ingest")
            .field("collection", collection)
            .field("documents", &documents)
            .finish()
    }
}
