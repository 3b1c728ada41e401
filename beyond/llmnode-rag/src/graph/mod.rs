//! `rag_node` in graphs from JSON: reads and writes collections of registered stores.

mod data;
mod node;
mod store_ext;
mod stores;

pub use store_ext::StoreExt;
