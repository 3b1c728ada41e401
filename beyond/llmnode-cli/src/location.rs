//! Where React Flow's files look for a store.

use std::path::Path;

use serde_json::Value;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Location {
    File(String),
    Server(String),
}

impl Location {
    /// Reads the block `chroma` as a `rag_node` does.
    pub(crate) fn of(chroma: &Value) -> Option<Self> {
        let chroma = chroma.as_object()?;
        let path = chroma.get("path").and_then(Value::as_str);
        let host = chroma.get("host").and_then(Value::as_str);
        let is_server = match chroma.get("mode").and_then(Value::as_str) {
            Some(mode) => mode != "local",
            None => host.is_some() && path.is_none(),
        };
        let location = if is_server { host } else { path }?.trim_end_matches('/');
        Some(match is_server {
            true if location.contains("://") => Location::Server(location.to_owned()),
            true => Location::Server(format!("http://{location}")),
            false => Location::File(location.to_owned()),
        })
    }

    pub(crate) fn is(&self, file: &Path) -> bool {
        match self {
            Location::File(path) => [path.clone(), format!("{path}.db")]
                .iter()
                .any(|path| file == Path::new(path)),
            Location::Server(_) => false,
        }
    }
}
