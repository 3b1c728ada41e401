//! A graph that was loaded and checked: a flow over [`State`].

mod approval;
mod compile;
mod folder;
mod load;
mod loaded;
mod loading;
mod name;
mod node_type;
mod nodes;
mod registry;
mod roles;
mod step;
mod subgraphs;
mod summary;
mod visit;

pub use loaded::{Graph, GraphNode, NodeContext};
pub use node_type::{CheckedRegistry, NodeLoader, NodeType};
pub use registry::{Registry, refused_arguments};

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;

use llmnode_flow::flow::{Flow, Outline};
use llmnode_flow::private::{RunFlow, Runner};
use llmnode_reader::text::{nearest, one_line};
use llmnode_runtime::{Category, NodeError};
use serde_json::{Map, Value};

use crate::faults::{Fault, GraphFaults};
use crate::file::schema_mismatch;
use crate::state::State;
use loaded::Inputs;

/// What `Registry::build` returns.
#[diagnostic::on_unimplemented(
    message = "a graph is loaded with a registry that is built, and this is `{Self}`",
    label = "not built",
    note = "write `.build()?` at the end of the registry"
)]
pub trait BuiltRegistry {
    /// Itself.
    fn registered(&self) -> &CheckedRegistry;
}

impl BuiltRegistry for CheckedRegistry {
    fn registered(&self) -> &CheckedRegistry {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<T: Deref<Target = CheckedRegistry>> BuiltRegistry for T {
    fn registered(&self) -> &CheckedRegistry {
        self
    }
}

impl Graph {
    /// Loads a graph from the registry's folder by the name of its file, without `.json`.
    ///
    /// # Errors
    /// All mistakes in it and in its subgraphs.
    pub fn open(name: &str, registry: &impl BuiltRegistry) -> Result<Graph, GraphFaults> {
        load::open(name, registry.registered())
    }

    /// Loads a graph from the text of a file.
    ///
    /// # Errors
    /// All mistakes in it and in its subgraphs.
    pub fn parse(text: &str, registry: &impl BuiltRegistry) -> Result<Graph, GraphFaults> {
        load::parse(text, registry.registered())
    }

    pub(crate) fn needs(&self) -> impl Iterator<Item = &str> {
        let Inputs { declared, read, .. } = &self.loaded.inputs;
        let declared = declared
            .iter()
            .filter(|(_, schema)| schema.get("default").is_none());
        declared
            .map(|(name, _)| name.as_str())
            .chain(read.iter().map(String::as_str))
    }

    /// Returns its name. Without one, it is the name of the file, or empty.
    pub fn name(&self) -> &str {
        &self.loaded.name
    }

    /// Returns the inputs that a run needs: those that the file declares, with their types as JSON schemas, or else the values
    /// that its nodes read and none of them writes.
    pub fn inputs(&self) -> BTreeMap<&str, Option<&Value>> {
        let Inputs { declared, read, .. } = &self.loaded.inputs;
        let read = read.iter().map(|name| (name.as_str(), None));
        read.chain(
            declared
                .iter()
                .map(|(name, schema)| (name.as_str(), Some(schema))),
        )
        .collect()
    }

    /// Returns possible mistakes that did not stop the graph from loading.
    pub fn warnings(&self) -> &[Fault] {
        &self.loaded.warnings
    }

    /// Returns its outline.
    pub fn outline(&self) -> Outline {
        self.flow.outline()
    }

    /// Returns it as a flow, for use as a step of another flow: `Flow::builder(..).flow_in("support", |world| &mut world.support,
    /// graph.flow())`. The limits and `max_steps` of its file are not part of it.
    pub fn flow(&self) -> &Flow<State> {
        &self.flow
    }

    /// Returns the state that a run begins with: the inputs (an object) and the defaults of the file.
    ///
    /// # Errors
    /// A `config_error` that lists all mistakes in the inputs: missing ones, unknown ones, and those of the wrong type.
    pub fn start(&self, inputs: impl Into<Value>) -> Result<State, NodeError> {
        let mut values = match inputs.into() {
            Value::Object(values) => values,
            Value::Null => Map::new(),
            _ => return Err(refused(vec!["they must be an object".to_owned()])),
        };
        let Inputs {
            declared,
            allows_unknown,
            ..
        } = &self.loaded.inputs;
        let mut faults = Vec::new();
        for (name, value) in &values {
            let of_state = self.loaded.rules.0.get(name);
            let schema = match declared.get(name) {
                Some(schema) => Some(schema),
                None => of_state.map(|field| &field.schema),
            };
            match schema {
                _ if name.starts_with('_') => {
                    faults.push(format!(
                        "{:?} is reserved for the graph",
                        one_line(name, 80)
                    ));
                }
                Some(schema) => {
                    faults.extend(
                        schema_mismatch(schema, value).map(|wrong| format!("{name:?} {wrong}")),
                    );
                }
                None if *allows_unknown => {}
                None => {
                    let meant = nearest(name, declared.keys().map(String::as_str));
                    let meant = meant
                        .map(|meant| format!("; did you mean {meant:?}?"))
                        .unwrap_or_default();
                    faults.push(format!("there is no input {:?}{meant}", one_line(name, 80)));
                }
            }
        }
        let missing = self
            .needs()
            .filter(|name| values.get(*name).is_none_or(Value::is_null));
        faults.extend(missing.map(|name| format!("the input {name:?} is missing")));
        if !faults.is_empty() {
            return Err(refused(faults));
        }
        let rules = self.loaded.rules.0.iter();
        let defaults = rules.filter_map(|(key, field)| Some((key, field.default.as_ref()?)));
        let of_inputs = declared
            .iter()
            .filter_map(|(name, schema)| Some((name, schema.get("default")?)));
        for (key, default) in defaults.chain(of_inputs) {
            values.entry(key.clone()).or_insert_with(|| default.clone());
        }
        Ok(State::new(Vec::new(), values))
    }
}

fn refused(faults: Vec<String>) -> NodeError {
    NodeError::new(
        Category::ConfigError,
        format!("the inputs do not fit: {}", faults.join("; ")),
    )
}

impl<'r> RunFlow<'r, State> for &Graph {
    type Action = String;

    fn runner(self) -> Runner<'r, State, String> {
        (&self.flow)
            .runner()
            .within(self.loaded.bounds)
            .showing(State::shown)
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes: Vec<&str> = self
            .loaded
            .loaded_nodes
            .iter()
            .map(|one| one.id.as_str())
            .collect();
        f.debug_struct("Graph")
            .field("name", &self.name())
            .field("nodes", &nodes)
            .finish_non_exhaustive()
    }
}
