//! Placeholders for a program's tools, models and node types where only the file is at hand.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use llmnode_graph::{GraphNode, NodeContext, NodeLoader, NodeType, Update};
use llmnode_runtime::{BoxError, BoxFuture, Toolset};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::location::Location;

#[derive(Default)]
pub(crate) struct Named {
    pub(crate) tools: BTreeSet<String>,
    pub(crate) profiles: BTreeSet<String>,
    pub(crate) stores: BTreeSet<String>,
    pub(crate) possible_stores: BTreeSet<String>,
    /// The stores of React Flow's files, which have no names.
    pub(crate) locations: BTreeSet<Location>,
    pub(crate) has_programs: bool,
}

impl Named {
    fn add(&mut self, more: Named) {
        let Named {
            tools,
            profiles,
            stores,
            possible_stores,
            locations,
            has_programs,
        } = more;
        self.tools.extend(tools);
        self.profiles.extend(profiles);
        self.stores.extend(stores);
        self.possible_stores.extend(possible_stores);
        self.locations.extend(locations);
        self.has_programs |= has_programs;
    }
}

pub(crate) fn named(file: Value, folder: &Path) -> Named {
    let mut all = Named::default();
    let mut seen = BTreeSet::new();
    let mut left = vec![file];
    while let Some(file) = left.pop() {
        all.add(named_by(&file));
        for node in list(&file, "nodes") {
            let Some(name) = node.pointer("/data/flow_id").and_then(Value::as_str) else {
                continue;
            };
            // Loading reports wrong names and files as faults of the graph.
            let is_new = name == sanitised_exactly(name) && seen.insert(name.to_owned());
            let text = is_new.then(|| subgraph(folder, name)).flatten();
            left.extend(text.and_then(|text| serde_json::from_str(&text).ok()));
        }
    }
    all
}

/// Nothing outside the folder is opened, and no large file.
fn subgraph(folder: &Path, name: &str) -> Option<String> {
    const BYTES: u64 = 1 << 24;
    let path = folder.join(format!("{name}.json")).canonicalize().ok()?;
    let is_here = path.parent() == Some(&*folder.canonicalize().ok()?);
    if !is_here {
        return None;
    }
    let metadata = path.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > BYTES {
        return None;
    }
    std::fs::read_to_string(path).ok()
}

/// A node's name means that node, not a tool.
fn named_by(file: &Value) -> Named {
    let mut names_of_nodes: BTreeSet<String> = BTreeSet::new();
    let mut named = Named::default();
    for node in list(file, "nodes") {
        let names = [node.get("id"), node.pointer("/data/label")];
        let names = names.into_iter().flatten().filter_map(text);
        names_of_nodes.extend(names.map(|name| sanitised(&name)));
        if let Some(data) = node.get("data") {
            named.add(named_in(data));
        }
    }
    named
        .tools
        .retain(|name| is_name(name) && !names_of_nodes.contains(&sanitised(name)));
    named.profiles.retain(is_name);
    named.possible_stores.retain(is_name);
    named
}

/// What the data of one node names.
fn named_in(data: &Value) -> Named {
    let mut named = Named::default();
    let tools = list(data, "tools").chain(data.get("tool_name"));
    named.tools.extend(tools.filter_map(text));
    for name in ["profile", "profile_id", "llm_profile"] {
        named.profiles.extend(data.get(name).and_then(text));
    }
    if let Some(profile) = data.get("llm_profile") {
        let name = profile.get("name").or_else(|| profile.get("id"));
        named.profiles.extend(name.and_then(text));
    }
    match data.get("store") {
        Some(store) => named.stores.extend(text(store)),
        // `store` may be misspelled.
        None => {
            let members = data.as_object().into_iter().flat_map(Map::values);
            named.possible_stores.extend(members.filter_map(text));
        }
    }
    let location = data.get("chroma").and_then(Location::of);
    named.locations.extend(location);
    named.has_programs = data.get("program").is_some_and(Value::is_string);
    named
}

fn list<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value
        .get(name)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// Ids and names may be numbers.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        value => value.as_u64().map(|number| number.to_string()),
    }
}

fn is_name(name: &String) -> bool {
    *name == sanitised_exactly(name) && (1..=64).contains(&name.len())
}

fn sanitised_exactly(name: &str) -> String {
    name.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') {
                c
            } else {
                '_'
            }
        })
        .collect()
}

fn sanitised(name: &str) -> String {
    sanitised_exactly(name).to_lowercase()
}

pub(crate) fn tools(names: impl IntoIterator<Item = String>) -> Toolset {
    names.into_iter().fold(Toolset::new(), |tools, name| {
        tools.function(name, "A tool of the program.", |_: String| async {
            Ok::<String, BoxError>(String::new())
        })
    })
}

pub(crate) struct AnyType(pub(crate) String);

impl NodeType for AnyType {
    fn name(&self) -> &str {
        &self.0
    }

    fn schema(&self) -> Value {
        schemars::schema_for!(AnyData).to_value()
    }

    fn load(&self, node: &mut NodeLoader<'_>) -> Option<Arc<dyn GraphNode>> {
        let AnyData { save_as } = node.data()?;
        node.writes(save_as.unwrap_or_else(|| node.id().to_owned()));
        node.writes_anything();
        Some(Arc::new(Nothing))
    }
}

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
struct AnyData {
    save_as: Option<String>,
}

struct Nothing;

impl GraphNode for Nothing {
    fn exec<'a>(&'a self, _: &'a NodeContext<'a>) -> BoxFuture<'a, Result<Update, BoxError>> {
        Box::pin(async { Ok(Update::new()) })
    }
}
