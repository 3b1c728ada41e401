//! The settings of a `rag_node`, in llmnode's files and in React Flow's.

use llmnode_graph::NodeLoader;
use schemars::JsonSchema;
use serde::Deserialize;

use super::stores::{RegisteredStore, Stores};
use crate::collection::is_collection_name;

/// The settings of a `rag_node`.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Data {
    /// The store, by the name that the program gave it.
    store: String,
    /// The collection. Default: of the store's name.
    collection: Option<String>,
    /// Whether the node searches or writes. Nothing else decides it.
    #[serde(default)]
    action: Action,
    /// The most hits.
    #[schemars(range(min = 1, max = 100))]
    #[serde(default = "five")]
    k: usize,
    /// What is searched for, or written: a template. Default: the value `query`, else `content`, else the last message.
    input: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Action {
    #[default]
    Read,
    Write,
}

/// The settings of a `rag_node` of React Flow.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ReactFlowData {
    #[serde(default)]
    chroma: Chroma,
    action: Option<Action>,
    /// What the node may do; one that may only write, writes.
    capabilities: Option<Vec<String>>,
    #[schemars(range(min = 1, max = 100))]
    #[serde(default = "five")]
    k: usize,
    enable_dedup: Option<bool>,
    #[schemars(range(min = 0.01, max = 1.0))]
    dedup_threshold: Option<f32>,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Chroma {
    mode: Option<String>,
    path: Option<String>,
    host: Option<String>,
    collection_name: Option<String>,
}

fn five() -> usize {
    5
}

pub(super) struct Settings<'l> {
    pub(super) store: &'l RegisteredStore,
    pub(super) collection: String,
    pub(super) action: Action,
    pub(super) k: usize,
    pub(super) input: Option<String>,
    pub(super) dedup: Option<f32>,
}

/// Reads the settings of either format, and checks that they name one store.
pub(super) fn read<'l>(node: &mut NodeLoader<'l>) -> Option<Settings<'l>> {
    let stores = node.extension::<Stores>()?;
    let settings = if node.is_seed() {
        read_react_flow(node, stores)?
    } else {
        read_native(node, stores)?
    };
    let name = &settings.store.name;
    if stores.names().filter(|other| other == name).count() > 1 {
        let message = format!("two stores are registered as {name:?}; rename one of them");
        node.fault("/store", message);
        return None;
    }
    let collection = &settings.collection;
    if !is_collection_name(collection) {
        let place = if node.is_seed() {
            "/chroma/collection_name"
        } else {
            "/collection"
        };
        let message =
            format!("{collection:?} is no name of a collection; use 1 to 64 of a-z A-Z 0-9 _ -");
        node.fault(place, message);
        return None;
    }
    Some(settings)
}

fn read_native<'l>(node: &mut NodeLoader<'l>, stores: &'l Stores) -> Option<Settings<'l>> {
    let Data {
        store,
        collection,
        action,
        k,
        input,
    } = node.data()?;
    let Some(named) = stores.named(&store) else {
        node.unknown("/store", "store", &store, stores.names());
        return None;
    };
    Some(Settings {
        store: named,
        collection: collection.unwrap_or(store),
        action,
        k,
        input,
        dedup: None,
    })
}

/// Finds the registered store that a graph of React Flow names by its place, which the program has opened.
fn read_react_flow<'l>(node: &mut NodeLoader<'l>, stores: &'l Stores) -> Option<Settings<'l>> {
    let data: ReactFlowData = node.data()?;
    let chroma = data.chroma;
    let is_server = match chroma.mode.as_deref() {
        Some(mode) => mode != "local",
        None => chroma.host.is_some() && chroma.path.is_none(),
    };
    let place = if is_server { chroma.host } else { chroma.path };
    let place = place.unwrap_or_default();
    let found = stores
        .all
        .iter()
        .find(|store| is_at(store, is_server, &place));
    let Some(store) = found else {
        node.fault("/chroma", no_store(is_server, &place));
        return None;
    };
    let action = match (data.action, &data.capabilities) {
        (Some(action), _) => action,
        (None, Some(capabilities)) if may_only_write(capabilities) => Action::Write,
        (None, _) => Action::Read,
    };
    let wants_dedup = data.enable_dedup == Some(true) && store.embedder.is_some();
    let collection = chroma.collection_name.unwrap_or_else(|| store.name.clone());
    Some(Settings {
        store,
        collection,
        action,
        k: data.k,
        input: None,
        dedup: wants_dedup.then(|| data.dedup_threshold.unwrap_or(0.95)),
    })
}

/// The line that a program lacks: it opens the stores that a graph names.
fn no_store(is_server: bool, place: &str) -> String {
    if is_server {
        let url = with_scheme(place);
        return format!(
            "no registered store is at the host {place:?}; add `.store(\"docs\", ChromaStore::open({url:?})?, embedder)` to the registry"
        );
    }
    let file = format!("{}.db", place.trim_end_matches('/'));
    format!(
        "no registered store is at the path {place:?}; add `.store(\"docs\", SqliteStore::open({file:?})?, embedder)` to the registry"
    )
}

fn may_only_write(capabilities: &[String]) -> bool {
    let may_write = capabilities.iter().any(|one| one == "write");
    let may_read = capabilities.iter().any(|one| one == "read");
    may_write && !may_read
}

/// The path of a folder also means the file `{path}.db`.
fn is_at(one: &RegisteredStore, is_server: bool, place: &str) -> bool {
    match one.store.place() {
        ("server", url) => is_server && url == with_scheme(place),
        ("local", path) => {
            let place = place.trim_end_matches('/');
            !is_server && (path == place || path == format!("{place}.db"))
        }
        _ => false,
    }
}

fn with_scheme(host: &str) -> String {
    let host = host.trim_end_matches('/');
    if host.contains("://") {
        host.to_owned()
    } else {
        format!("http://{host}")
    }
}
