//! The store and the settings of a collection.

use std::sync::Arc;

use crate::chunks::Chunker;
use crate::embed::Embedder;
use crate::store::DocumentStore;

#[derive(Clone)]
pub(crate) struct CollectionConfig {
    pub(crate) name: String,
    pub(crate) store: Arc<dyn DocumentStore>,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    pub(crate) chunker: Chunker,
    pub(crate) dedup: Option<f32>,
}
