//! The settings of a `rag_node`, in llmnode's files and in React Flow's.

use llmnode_graph::NodeLoader;
use schemars::JsonSchema;
use serde::Deserialize;

use super::stores::{RegisteredStore, Stores};

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

pub(super) fn read<'l>(node: &mut NodeLoader<'l>) -> Option<Settings<'l>> {
    let stores = node.extension::<Stores>()?;
    let settings = if node.is_seed() {
        read_react_flow(node, stores)?
    } else {
        read_native(node, stores)?
    };
    let Settings {
        store, collection, ..
    } = &settings;
    if stores.names().filter(|name| *name == store.name).count() > 1 {
        node.fault(
            "/store",
            format!(
                "two stores are registered as {:?}; rename one of them",
                store.name
            ),
        );
        return None;
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !(1..=64).contains(&collection.len()) || !collection.chars().all(is_name) {
        let place = if node.is_seed() {
            "/chroma/collection_name"
        } else {
            "/collection"
        };
        node.fault(
            place,
            format!("{collection:?} is no name of a collection; use 1 to 64 of a-z A-Z 0-9 _ -"),
        );
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

fn read_react_flow<'l>(node: &mut NodeLoader<'l>, stores: &'l Stores) -> Option<Settings<'l>> {
    let ReactFlowData {
        chroma,
        action,
        capabilities,
        k,
        enable_dedup,
        dedup_threshold,
    } = node.data()?;
    let Chroma {
        mode,
        path,
        host,
        collection_name,
    } = chroma;
    let is_server = mode
        .as_deref()
        .map_or(host.is_some() && path.is_none(), |mode| mode != "local");
    let place = if is_server {
        host.unwrap_or_default()
    } else {
        path.unwrap_or_default()
    };
    let found = stores.all.iter().find(|one| is_at(one, is_server, &place));
    let Some(store) = found else {
        // The program opens the stores that a graph names.
        let (file, name) = (format!("{}.db", place.trim_end_matches('/')), "docs");
        let line = match is_server {
            true => format!(
                ".store({name:?}, ChromaStore::open({:?})?, embedder)",
                with_scheme(&place)
            ),
            false => format!(".store({name:?}, SqliteStore::open({file:?})?, embedder)"),
        };
        let what = if is_server {
            "at the host"
        } else {
            "at the path"
        };
        node.fault(
            "/chroma",
            format!("no registered store is {what} {place:?}; add `{line}` to the registry"),
        );
        return None;
    };
    let writes = |able: &Vec<String>| {
        able.iter().any(|one| one == "write") && !able.iter().any(|one| one == "read")
    };
    let action = action.unwrap_or(if capabilities.as_ref().is_some_and(writes) {
        Action::Write
    } else {
        Action::Read
    });
    let dedup = (enable_dedup == Some(true)).then(|| dedup_threshold.unwrap_or(0.95));
    let collection = collection_name.unwrap_or_else(|| store.name.clone());
    Some(Settings {
        store,
        collection,
        action,
        k,
        input: None,
        dedup: dedup.filter(|_| store.embedder.is_some()),
    })
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
