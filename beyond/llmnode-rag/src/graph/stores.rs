//! The stores that graphs may use, by the names that the program gives them.

use std::sync::Arc;

use crate::embed::Embedder;
use crate::store::DocumentStore;

#[derive(Default)]
pub(super) struct Stores {
    pub(super) all: Vec<RegisteredStore>,
    pub(super) has_type: bool,
}

pub(super) struct RegisteredStore {
    pub(super) name: String,
    pub(super) store: Arc<dyn DocumentStore>,
    pub(super) embedder: Option<Arc<dyn Embedder>>,
}

impl Stores {
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|one| one.name.as_str())
    }

    pub(super) fn named(&self, name: &str) -> Option<&RegisteredStore> {
        self.all.iter().find(|one| one.name == name)
    }
}
