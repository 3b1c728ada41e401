//! Registers stores for graphs.

use std::sync::Arc;

use llmnode_graph::Registry;

use super::node::RagType;
use super::stores::{RegisteredStore, Stores};
use crate::embed::Embedder;
use crate::store::DocumentStore;

/// Lets graphs use stores: adds the node type `rag_node`, and stores under the names that nodes use for them.
///
/// ```
/// # mod llmnode { pub use llmnode_runtime::*; pub mod graph { pub use llmnode_graph::*; } pub mod rag { pub use llmnode_rag::*; } }
/// use llmnode::graph::{Graph, Registry};
/// use llmnode::rag::{HashEmbedder, MemoryStore, StoreExt};
///
/// let registry = Registry::new().store("docs", MemoryStore::new(), HashEmbedder::new(256)).build()?;
/// let file = r#"{"format": "llmnode/graph", "version": 1, "inputs": {"query": {"type": "string"}},
///     "nodes": [{"id": "find", "type": "rag_node", "data": {"store": "docs", "k": 3}}], "edges": []}"#;
/// assert!(Graph::parse(file, &registry).is_ok());
/// # Ok::<(), llmnode_runtime::NodeError>(())
/// ```
pub trait StoreExt: Sized {
    /// Adds a store, and the embedder of its collections. A second store with the same name is a fault of each node that names it.
    #[must_use]
    fn store(
        self,
        name: impl Into<String>,
        store: impl DocumentStore + 'static,
        embedder: impl Embedder + 'static,
    ) -> Self;

    /// Adds a store whose collections have no vectors and are searched by words.
    #[must_use]
    fn store_of_words(self, name: impl Into<String>, store: impl DocumentStore + 'static) -> Self;
}

impl StoreExt for Registry {
    fn store(
        self,
        name: impl Into<String>,
        store: impl DocumentStore + 'static,
        embedder: impl Embedder + 'static,
    ) -> Self {
        add(
            self,
            RegisteredStore { name: name.into(), store: Arc::new(store), embedder: Some(Arc::new(embedder)) },
        )
    }

    fn store_of_words(self, name: impl Into<String>, store: impl DocumentStore + 'static) -> Self {
        add(self, RegisteredStore { name: name.into(), store: Arc::new(store), embedder: None })
    }
}

fn add(registry: Registry, one: RegisteredStore) -> Registry {
    let mut is_first = false;
    let registry = registry.extend_with(|stores: &mut Stores| {
        is_first = stores.0.is_empty();
        stores.0.push(one);
    });
    if is_first { registry.node_type(RagType) } else { registry }
}
