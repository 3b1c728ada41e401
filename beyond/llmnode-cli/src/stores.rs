//! The stores of rag nodes: files of the command line for a run, and placeholders for a check.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::PathBuf;

use llmnode_graph::Registry;
use llmnode_rag::{
    CollectionSize, DocumentStore, EmbeddingSpace, Embeddings, Hit, IngestReport, KnownSources,
    Source, SqliteStore, StoreExt, StoreQuery,
};
use llmnode_runtime::{BoxFuture, Category, NodeError};

use crate::location::Location;
use crate::placeholders::Named;

pub(crate) const MODEL: &str = "OPENAI_EMBEDDING_MODEL";

type Files = BTreeMap<String, Option<PathBuf>>;

/// Embeddings cost money, so a variable has to ask for them.
pub(crate) fn has_embeddings() -> bool {
    std::env::var_os(MODEL).is_some_and(|model| !model.is_empty())
}

pub(crate) fn open(mut registry: Registry, files: &Files) -> Result<Registry, Box<dyn Error>> {
    let is_asked = !files.is_empty() && has_embeddings();
    let embeddings = if is_asked {
        Some(Embeddings::openai_from_env()?)
    } else {
        None
    };
    for (name, file) in files {
        let Some(file) = file else { continue };
        // A misspelled path would create an empty store, in which nothing is found.
        if !file.exists() {
            let file = file.display();
            return Err(format!(
                "--store {name}={file}: there is no such file; if the graph is to fill it, make an empty one first"
            )
            .into());
        }
        let store = SqliteStore::open(file)?;
        registry = match &embeddings {
            Some(embeddings) => registry.store(name, store, embeddings.clone()),
            None => registry.store_of_words(name, store),
        };
    }
    Ok(registry)
}

/// Those of the command line, or else all that the graph uses.
pub(crate) fn placeholders(named: &Named, files: &Files) -> Vec<(String, Placeholder)> {
    if !files.is_empty() {
        let of_options = files.iter().map(|(name, file)| {
            let location = file
                .as_ref()
                .map(|file| Location::File(file.display().to_string()));
            (name.clone(), Placeholder(location))
        });
        return of_options.collect();
    }
    let names: BTreeSet<&String> = named.stores.union(&named.possible_stores).collect();
    let of_names = names
        .iter()
        .map(|name| ((*name).clone(), Placeholder(None)));
    let free = (0_u32..)
        .map(|number| format!("store_{number}"))
        .filter(|name| !names.contains(name));
    let located = named
        .locations
        .iter()
        .map(|location| Placeholder(Some(location.clone())));
    of_names.chain(free.zip(located)).collect()
}

pub(crate) struct Placeholder(Option<Location>);

fn never<'a, T>() -> BoxFuture<'a, Result<T, NodeError>> {
    Box::pin(async {
        Err(NodeError::new(
            Category::ConfigError,
            "a check opens no store",
        ))
    })
}

impl DocumentStore for Placeholder {
    fn open<'a>(
        &'a self,
        _: &'a str,
        _: &'a EmbeddingSpace,
    ) -> BoxFuture<'a, Result<(), NodeError>> {
        never()
    }

    fn known_sources<'a>(
        &'a self,
        _: &'a str,
        _: &'a [Source],
    ) -> BoxFuture<'a, Result<KnownSources, NodeError>> {
        never()
    }

    fn upsert<'a>(
        &'a self,
        _: &'a str,
        _: Vec<Source>,
        _: Option<f32>,
    ) -> BoxFuture<'a, Result<IngestReport, NodeError>> {
        never()
    }

    fn search<'a>(
        &'a self,
        _: &'a str,
        _: StoreQuery<'a>,
    ) -> BoxFuture<'a, Result<Vec<Hit>, NodeError>> {
        never()
    }

    fn delete<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<usize, NodeError>> {
        never()
    }

    fn count<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<CollectionSize, NodeError>> {
        never()
    }

    fn place(&self) -> (&'static str, String) {
        match &self.0 {
            Some(Location::File(path)) => ("local", path.clone()),
            Some(Location::Server(url)) => ("server", url.clone()),
            None => ("memory", String::new()),
        }
    }
}
