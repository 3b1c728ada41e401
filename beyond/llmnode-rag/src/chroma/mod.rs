//! A store behind Chroma's server, over its HTTP API, version 2.

mod client;
mod records;
mod search;
mod write;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use llmnode_runtime::{BoxFuture, Category, NodeError};
use serde_json::{Value, json};

use self::client::Client;
use self::records::{GetRequest, PAGE, Records, source_of_mark};
use crate::hits::Hit;
use crate::store::{
    CollectionSize, DocumentStore, EmbeddingSpace, IngestReport, KnownSources, Source, StoreQuery,
    not_open,
};

const EMBEDDER: &str = "llmnode:embedder";
const DIMENSIONS: &str = "llmnode:dimensions";
const FORMAT: &str = "llmnode:documents";
const VERSION: u64 = 1;

/// Keeps collections on a Chroma server (`chroma run`), for more documents than one file can hold, or for several machines. A cheap handle.
///
/// How it differs from a file: Chroma has no transactions, so a crash in the middle of a write may leave chunks of the old and of the
/// new text, until the source is written again. It finds vectors by an index that may miss some. It has no search by words of its
/// own: at most 16 words of a query are looked for, and texts that have one of them are ranked here. A text that several sources have
/// carries the metadata of the one that was written last.
///
/// Feature `rag-chroma`.
///
/// ```no_run
/// # use llmnode_rag as llmnode;
/// use llmnode::{ChromaStore, Collection, HashEmbedder};
///
/// # async fn open() -> Result<(), llmnode_runtime::NodeError> {
/// let store = ChromaStore::open("http://127.0.0.1:8000")?;
/// let docs = Collection::builder(store, "docs").embedder(HashEmbedder::new(256)).open().await?;
/// # let _ = docs;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ChromaStore(Arc<Inner>);

pub(super) struct Inner {
    client: Client,
    open: Mutex<BTreeMap<String, OpenCollection>>,
}

#[derive(Clone)]
pub(super) struct OpenCollection {
    id: String,
    has_vectors: bool,
}

impl ChromaStore {
    /// Takes the URL of a server, such as `http://127.0.0.1:8000`. The first requests make the connections.
    ///
    /// # Errors
    /// `config_error` if it is not a URL, such as the path of Chroma's data.
    pub fn open(url: &str) -> Result<Self, NodeError> {
        Ok(Self::with(Client::new(url, None)?))
    }

    /// Takes the URL of a server, and the token in this environment variable. The token is sent as `x-chroma-token`, over https
    /// or to this machine.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open), and `api_key_error` if the variable is not set.
    pub fn open_with_token(url: &str, variable: &str) -> Result<Self, NodeError> {
        match std::env::var(variable) {
            Ok(token) if !token.trim().is_empty() => {
                Ok(Self::with(Client::new(url, Some(token.trim()))?))
            }
            _ => Err(NodeError::new(
                Category::ApiKeyError,
                format!(
                    "the environment variable {variable} is not set; set it to the token of Chroma's server"
                ),
            )),
        }
    }

    fn with(client: Client) -> Self {
        ChromaStore(Arc::new(Inner {
            client,
            open: Mutex::default(),
        }))
    }
}

impl std::fmt::Debug for ChromaStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChromaStore")
            .field("url", &self.0.client.url())
            .finish_non_exhaustive()
    }
}

impl Inner {
    fn opened(&self, collection: &str) -> Result<OpenCollection, NodeError> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.get(collection)
            .cloned()
            .ok_or_else(|| not_open(collection))
    }

    async fn open(&self, collection: &str, space: &EmbeddingSpace) -> Result<(), NodeError> {
        let mut metadata = json!({FORMAT: VERSION});
        if let Some(embedder) = &space.embedder {
            metadata[EMBEDDER] = json!(embedder);
        }
        if let Some(dimensions) = space.dimensions {
            metadata[DIMENSIONS] = json!(dimensions);
        }
        let body = json!({
            "name": collection, "get_or_create": true, "metadata": metadata, "configuration": {"hnsw": {"space": "cosine"}},
        });
        let created = self.client.post("", &body).await?;
        let metadata = &created["metadata"];
        let Some(id) = created["id"].as_str() else {
            return Err(self.client.bad_response("has no id of the collection"));
        };
        match metadata[FORMAT].as_u64() {
            Some(version) if version > VERSION => {
                return Err(NodeError::new(
                    Category::ConfigError,
                    format!(
                        "the collection {collection:?}: llmnode/documents version {version} is newer than version {VERSION}, the \
                         newest supported by this version; use a newer one"
                    ),
                ));
            }
            Some(_) => {}
            None => {
                return Err(NodeError::new(
                    Category::ConfigError,
                    format!(
                        "the collection {collection:?} was made by another program; name another collection"
                    ),
                ));
            }
        }
        let dimensions = created["dimension"]
            .as_u64()
            .or(metadata[DIMENSIONS].as_u64());
        let embedder = metadata[EMBEDDER].as_str().map(str::to_owned);
        let dimensions = dimensions
            .filter(|_| embedder.is_some())
            .and_then(|count| usize::try_from(count).ok());
        let existing_space = EmbeddingSpace::new(embedder, dimensions);
        existing_space.check(collection, space)?;
        let opened = OpenCollection {
            id: id.to_owned(),
            has_vectors: space.embedder.is_some(),
        };
        self.open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(collection.to_owned(), opened);
        Ok(())
    }

    async fn known_sources(
        &self,
        collection: &str,
        sources: &[Source],
    ) -> Result<KnownSources, NodeError> {
        let opened = self.opened(collection)?;
        let mut known_sources = KnownSources::default();
        for source in sources {
            let is_same = json!({records::mark("fp", &source.name): source.fingerprint});
            let same = self
                .get(
                    &opened,
                    GetRequest {
                        filter: Some(is_same),
                        ..GetRequest::default()
                    },
                )
                .await?;
            let unchanged = (!same.ids.is_empty()).then_some(same.ids.len());
            if unchanged.is_none() && opened.has_vectors {
                let ids: Vec<&str> = source
                    .chunks
                    .iter()
                    .map(|chunk| chunk.id.as_str())
                    .collect();
                for ids in ids.chunks(records::BATCH) {
                    let request = GetRequest {
                        ids: Some(ids),
                        include: &["embeddings"],
                        ..GetRequest::default()
                    };
                    let existing = self.get(&opened, request).await?;
                    known_sources
                        .vectors
                        .extend(existing.ids.into_iter().zip(existing.embeddings));
                }
            }
            known_sources.unchanged.push(unchanged);
        }
        Ok(known_sources)
    }

    async fn count(&self, collection: &str) -> Result<CollectionSize, NodeError> {
        let opened = self.opened(collection)?;
        let all = self.send_count(&opened).await?;
        let mut chunks = 0;
        let mut sources = std::collections::BTreeSet::new();
        while chunks < all {
            let page = GetRequest {
                include: &["metadatas"],
                page: Some((chunks, PAGE)),
                ..GetRequest::default()
            };
            let Records { ids, metadatas, .. } = self.get(&opened, page).await?;
            for name in metadatas.iter().flat_map(|metadata| metadata.keys()) {
                if let Some(source) = source_of_mark("in", name) {
                    sources.insert(source.to_owned());
                }
            }
            // Others may have deleted chunks meanwhile.
            if ids.is_empty() {
                break;
            }
            chunks += ids.len();
        }
        Ok(CollectionSize::new(sources.len(), chunks))
    }

    async fn get(
        &self,
        opened: &OpenCollection,
        request: GetRequest<'_>,
    ) -> Result<Records, NodeError> {
        self.records(opened, "get", &request.json()).await
    }

    async fn records(
        &self,
        opened: &OpenCollection,
        path: &str,
        body: &Value,
    ) -> Result<Records, NodeError> {
        let path = format!("/{}/{path}", opened.id);
        let response = self.client.post_raw(&path, body).await?;
        Records::read(&response).ok_or_else(|| {
            self.client
                .bad_response("is not a list of records, or has too many values")
        })
    }

    async fn send(
        &self,
        opened: &OpenCollection,
        path: &str,
        body: Value,
    ) -> Result<Value, NodeError> {
        self.client
            .post(&format!("/{}/{path}", opened.id), &body)
            .await
    }
}

impl DocumentStore for ChromaStore {
    fn open<'a>(
        &'a self,
        collection: &'a str,
        space: &'a EmbeddingSpace,
    ) -> BoxFuture<'a, Result<(), NodeError>> {
        Box::pin(self.0.open(collection, space))
    }

    fn known_sources<'a>(
        &'a self,
        collection: &'a str,
        sources: &'a [Source],
    ) -> BoxFuture<'a, Result<KnownSources, NodeError>> {
        Box::pin(self.0.known_sources(collection, sources))
    }

    fn upsert<'a>(
        &'a self,
        collection: &'a str,
        sources: Vec<Source>,
        dedup: Option<f32>,
    ) -> BoxFuture<'a, Result<IngestReport, NodeError>> {
        Box::pin(self.0.upsert(collection, sources, dedup))
    }

    fn search<'a>(
        &'a self,
        collection: &'a str,
        query: StoreQuery<'a>,
    ) -> BoxFuture<'a, Result<Vec<Hit>, NodeError>> {
        Box::pin(self.0.search(collection, query))
    }

    fn delete<'a>(
        &'a self,
        collection: &'a str,
        source: &'a str,
    ) -> BoxFuture<'a, Result<usize, NodeError>> {
        Box::pin(self.0.delete(collection, source))
    }

    fn count<'a>(
        &'a self,
        collection: &'a str,
    ) -> BoxFuture<'a, Result<CollectionSize, NodeError>> {
        Box::pin(self.0.count(collection))
    }

    fn place(&self) -> (&'static str, String) {
        ("server", self.0.client.url().to_owned())
    }
}
