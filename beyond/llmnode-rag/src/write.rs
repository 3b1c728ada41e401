//! Writing documents, as a node: cut, embed what is new, and write each source as a whole.
//!
//! Documents go through in groups, each in this order: cut into chunks, ask the store which sources it has as they are, embed the
//! chunks of the others that no source has, write them. So an interrupted write is taken up where it stopped, and nothing is
//! embedded twice.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use llmnode_model::internal::sha256_hex;
use llmnode_runtime::{BoxError, Category, Cx, Exec, Node, NodeError, NodeFacts};

use crate::collection_config::CollectionConfig;
use crate::document::Document;
use crate::embed::{Embedder, Embedding, Purpose, batches};
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

    /// The document as a source, and how many of its chunks are repeated in it.
    ///
    /// The fingerprint is of all that decides what is stored, so that a source is written anew when any of it changes.
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
        let mut chunks = Vec::new();
        let mut repeated = 0;
        for piece in chunker.chunks(text) {
            if seen.insert(piece) {
                chunks.push(Chunk::new(piece));
            } else {
                repeated += 1;
            }
        }
        let source = Source::new(source.clone(), fingerprint, metadata.clone(), chunks);
        (source, repeated)
    }

    /// Writes the sources of a group that have changed.
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
        } = store.known_sources(name, &sources).await?;
        let mut report = IngestReport::default();
        let mut changed = Vec::new();
        for (index, source) in sources.into_iter().enumerate() {
            match unchanged.get(index).copied().flatten() {
                Some(chunks) => report.kept += chunks,
                None => changed.push(source),
            }
        }
        if changed.is_empty() {
            return Ok(report);
        }
        self.embed(cx, &mut changed, vectors).await?;
        let mut zero_vectors = 0;
        for chunk in changed.iter().flat_map(|source| &source.chunks) {
            if chunk.vector.as_deref().is_some_and(is_zero) {
                zero_vectors += 1;
            }
        }
        report += store.upsert(name, changed, *dedup).await?;
        report.zero_vectors += zero_vectors;
        Ok(report)
    }

    /// Gives the chunks their vectors. Those in `vectors` are not requested again.
    async fn embed<S: ?Sized + Sync>(
        &self,
        cx: &Cx<'_, S>,
        sources: &mut [Source],
        mut vectors: HashMap<String, Vec<f32>>,
    ) -> Result<(), NodeError> {
        let Some(embedder) = self.docs.embedder.as_deref() else {
            return Ok(());
        };
        let mut new_ids: Vec<String> = Vec::new();
        let mut texts: Vec<&str> = Vec::new();
        let mut seen = BTreeSet::new();
        for chunk in sources.iter().flat_map(|source| &source.chunks) {
            if !vectors.contains_key(&chunk.id) && seen.insert(&chunk.id) {
                new_ids.push(chunk.id.clone());
                texts.push(&chunk.text);
            }
        }
        let new_vectors = embed_all(cx, embedder, &texts).await?;
        vectors.extend(new_ids.into_iter().zip(new_vectors));
        for chunk in sources.iter_mut().flat_map(|source| &mut source.chunks) {
            chunk.vector = vectors.get(&chunk.id).cloned();
        }
        Ok(())
    }
}

/// The vectors of the texts, in their order, by as many requests as it takes.
async fn embed_all<S: ?Sized + Sync>(
    cx: &Cx<'_, S>,
    embedder: &dyn Embedder,
    texts: &[&str],
) -> Result<Vec<Vec<f32>>, NodeError> {
    let mut vectors = Vec::with_capacity(texts.len());
    // The next one is the last.
    let mut open = batches(texts, embedder.batch());
    open.reverse();
    while let Some(texts) = open.pop() {
        // What a server takes at once is learned from its refusals.
        let (most, _) = embedder.batch();
        let most = most.max(1);
        if texts.len() > most {
            open.extend(texts.chunks(most).rev());
            continue;
        }
        let embedding = Embedding {
            embedder,
            texts,
            purpose: Purpose::Document,
        };
        match cx.call(&embedding).await {
            Ok(new) => vectors.extend(new),
            Err(error) => {
                let (most, _) = embedder.batch();
                open.extend(smaller(texts, most, error)?);
            }
        }
    }
    Ok(vectors)
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
        let mut report = IngestReport::default();
        let mut group = Vec::new();
        let mut chunks = 0;
        for document in &self.documents {
            let (source, repeated) = self.source(document);
            report.duplicates += repeated;
            chunks += source.chunks.len();
            group.push(source);
            if chunks >= MAX_GROUP_CHUNKS {
                report += self.group(cx, std::mem::take(&mut group)).await?;
                chunks = 0;
            }
        }
        if !group.is_empty() {
            report += self.group(cx, group).await?;
        }
        Ok(report)
    }
}

impl fmt::Debug for Ingest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ingest")
            .field("collection", &self.docs.name)
            .field("documents", &self.documents.len())
            .finish()
    }
}
