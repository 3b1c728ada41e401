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
    /// Adds the node type `rag_node`, also called `rag`, without a store: for its schema, and so that a node whose store is missing
    /// says so. The other methods add it, too.
    #[must_use]
    fn rag_nodes(self) -> Self;

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
    fn rag_nodes(self) -> Self {
        let mut has_type = false;
        let registry = self.extend_with(|stores: &mut Stores| {
            has_type = std::mem::replace(&mut stores.has_type, true);
        });
        if has_type {
            registry
        } else {
            registry.node_type(RagType)
        }
    }

    fn store(
        self,
        name: impl Into<String>,
        store: impl DocumentStore + 'static,
        embedder: impl Embedder + 'static,
    ) -> Self {
        add(
            self,
            RegisteredStore {
                name: name.into(),
                store: Arc::new(store),
                embedder: Some(Arc::new(embedder)),
            },
        )
    }

    fn store_of_words(self, name: impl Into<String>, store: impl DocumentStore + 'static) -> Self {
        add(
            self,
            RegisteredStore {
                name: name.into(),
                store: Arc::new(store),
                embedder: None,
            },
        )
    }
}

fn add(registry: Registry, one: RegisteredStore) -> Registry {
    registry
        .rag_nodes()
        .extend_with(|stores: &mut Stores| stores.all.push(one))
}
