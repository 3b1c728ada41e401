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
    let (mut all, mut seen, mut left) = (Named::default(), BTreeSet::new(), vec![file]);
    while let Some(file) = left.pop() {
        all.add(named_by(&file));
        let nodes = file
            .get("nodes")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        for name in nodes.filter_map(|node| node.pointer("/data/flow_id")?.as_str()) {
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
    let is_small = || {
        path.metadata()
            .is_ok_and(|metadata| metadata.is_file() && metadata.len() <= BYTES)
    };
    if is_here && is_small() {
        std::fs::read_to_string(path).ok()
    } else {
        None
    }
}

/// A node's name means that node, not a tool.
fn named_by(file: &Value) -> Named {
    let nodes = || {
        file.get("nodes")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    let text = |value: &Value| {
        value
            .as_str()
            .map(str::to_owned)
            .or_else(|| value.as_u64().map(|n| n.to_string()))
    };
    let of_nodes: BTreeSet<String> = nodes()
        .flat_map(|node| [node.get("id"), node.pointer("/data/label")])
        .flatten()
        .filter_map(text)
        .map(|name| sanitised(&name))
        .collect();
    let (mut tools, mut named) = (BTreeSet::new(), Named::default());
    for data in nodes().filter_map(|node| node.get("data")) {
        let listed = data
            .get("tools")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        tools.extend(listed.chain(data.get("tool_name")).filter_map(text));
        named.profiles.extend(
            ["profile", "profile_id", "llm_profile"]
                .iter()
                .filter_map(|name| text(data.get(name)?)),
        );
        let whole = data.get("llm_profile");
        named
            .profiles
            .extend(whole.and_then(|whole| text(whole.get("name").or_else(|| whole.get("id"))?)));
        match data.get("store") {
            Some(store) => named.stores.extend(text(store)),
            // `store` may be misspelled.
            None => named.possible_stores.extend(
                data.as_object()
                    .into_iter()
                    .flat_map(Map::values)
                    .filter_map(text),
            ),
        }
        named
            .locations
            .extend(data.get("chroma").and_then(Location::of));
        named.has_programs |= data.get("program").is_some_and(Value::is_string);
    }
    let is_name =
        |name: &String| *name == sanitised_exactly(name) && (1..=64).contains(&name.len());
    Named {
        tools: tools
            .into_iter()
            .filter(|name| is_name(name) && !of_nodes.contains(&sanitised(name)))
            .collect(),
        profiles: named.profiles.into_iter().filter(is_name).collect(),
        possible_stores: named.possible_stores.into_iter().filter(is_name).collect(),
        ..named
    }
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
