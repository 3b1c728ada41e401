//! `rag_node` in graphs from JSON: reads and writes collections of registered stores.

mod data;
mod node;
mod stores;

pub use stores::StoreExt;
