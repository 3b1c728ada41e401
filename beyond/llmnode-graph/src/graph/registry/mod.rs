//! What a program allows graphs to use: tools, node types, models, a folder of subgraphs.

mod registered;

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use llmnode_runtime::{Category, ChatModel, Exec, Node, NodeError, Settings, Toolset};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::graph::name::{LONGEST, is_name};
use crate::graph::node_type::{CheckedRegistry, Extensions, NodeType, RegisteredInner};
use crate::graph::nodes::BuiltIn;
use crate::state::State;

pub use registered::refused_arguments;

/// What graphs may use. [`build`](Registry::build) checks it as a whole.
///
/// ```
/// # mod llmnode { pub use llmnode_runtime::*; pub mod graph { pub use llmnode_graph::*; } }
/// use llmnode::graph::{Graph, Registry};
/// use llmnode::{BoxError, NodeError, ScriptedModel, Toolset};
///
/// let tools = Toolset::new().function("shout", "Shouts a text.", |text: String| async move {
///     Ok::<_, BoxError>(text.to_uppercase())
/// });
/// let registry = Registry::new().tools(tools).model("good", ScriptedModel::new()).build()?;
///
/// let file = r#"{"format": "llmnode/graph", "version": 1,
///     "nodes": [{"id": "write", "type": "agent", "data": {"profile": "god", "tools": ["shout"]}}], "edges": []}"#;
/// let faults = Graph::parse(file, &registry).unwrap_err();
/// assert_eq!(
///     faults.faults[0].to_string(),
///     r#"/nodes/0/data/profile: no profile "god"; did you mean "good"?"#
/// );
/// # Ok::<(), NodeError>(())
/// ```
#[derive(Default)]
#[must_use = "`build` makes it of use"]
pub struct Registry {
    tools: Toolset,
    types: Vec<Arc<dyn NodeType>>,
    models: Vec<(String, Arc<dyn ChatModel>, Settings)>,
    folder: Option<PathBuf>,
    extensions: Extensions,
}

/// A node whose fields are read from JSON: what [`Registry::node`] takes.
#[diagnostic::on_unimplemented(
    message = "the fields of `{Self}` cannot be read from a graph's values",
    label = "lacks `Deserialize` or `JsonSchema`",
    note = "put `#[llm_output]` on its definition, or derive `serde::Deserialize` and `schemars::JsonSchema`"
)]
pub trait FieldsFromJson: DeserializeOwned + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> FieldsFromJson for T {}

impl Registry {
    /// Creates a registry with the built-in node types and nothing else.
    pub fn new() -> Self {
        Registry::default()
    }

    /// Adds tools, which agents list by name.
    pub fn tools(mut self, tools: Toolset) -> Self {
        self.tools = self.tools.with(tools);
        self
    }

    /// Adds one of the program's nodes as a node type with the node's name. Its fields come from `data.input` and from values of the state
    /// with the same names; its output is written to `save_as`, or else to the id of the node.
    pub fn node<N>(self) -> Self
    where
        N: Node<Output: Serialize> + Exec<State> + FieldsFromJson + Send + 'static,
    {
        self.node_type(BuiltIn::registered::<N>())
    }

    /// Adds a node type.
    pub fn node_type(mut self, node_type: impl NodeType) -> Self {
        self.types.push(Arc::new(node_type));
        self
    }

    /// Adds a model under the name that agents give as their `profile`.
    pub fn model(self, name: impl Into<String>, model: impl ChatModel + 'static) -> Self {
        self.model_with(name, model, Settings::new())
    }

    /// Adds a model with its own settings.
    pub fn model_with(
        mut self,
        name: impl Into<String>,
        model: impl ChatModel + 'static,
        settings: Settings,
    ) -> Self {
        self.models.push((name.into(), Arc::new(model), settings));
        self
    }

    /// Sets the folder of the subgraphs: `flow_id` is the name of a file there, without `.json`. Nothing outside the folder is
    /// opened.
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Changes the value of this type which the registry keeps for node types: see
    /// [`NodeLoader::extension`](crate::NodeLoader::extension).
    pub fn extend_with<T: Any + Send + Sync + Default>(
        mut self,
        change: impl FnOnce(&mut T),
    ) -> Self {
        let value = self
            .extensions
            .entry(TypeId::of::<T>())
            .or_insert_with(|| Box::<T>::default());
        // The key is the type's id, so this cannot fail.
        if let Some(value) = value.downcast_mut() {
            change(value);
        }
        self
    }

    /// Checks the whole registry.
    ///
    /// # Errors
    /// A `config_error` that lists all mistakes: names that are used twice, and invalid names.
    pub fn build(self) -> Result<CheckedRegistry, NodeError> {
        let Registry {
            tools,
            types,
            models,
            folder,
            extensions,
        } = self;
        let mut faults = Vec::new();
        let built_in = BuiltIn::types().map(|one| Arc::new(one) as Arc<dyn NodeType>);
        let all: Vec<Arc<dyn NodeType>> = built_in.into_iter().chain(types).collect();
        let mut named: BTreeMap<String, Arc<dyn NodeType>> = BTreeMap::new();
        for one in &all {
            named.extend(names(&**one).map(|name| (name.to_owned(), Arc::clone(one))));
        }
        check_names(
            "node type",
            all.iter().flat_map(|one| names(&**one)),
            &mut faults,
        );
        check_names("tool", tools.names(), &mut faults);
        check_names(
            "profile",
            models.iter().map(|(name, ..)| name.as_str()),
            &mut faults,
        );
        // Types of other crates replace the placeholders of the same names.
        for one in BuiltIn::missing() {
            let one: Arc<dyn NodeType> = Arc::new(one);
            if !named.contains_key(one.name()) {
                for name in names(&*one) {
                    named
                        .entry(name.to_owned())
                        .or_insert_with(|| Arc::clone(&one));
                }
            }
        }
        if let Some(folder) = folder.as_ref().filter(|folder| !folder.is_dir()) {
            faults.push(format!(
                "the folder {:?} is not there, or is no folder",
                folder.display().to_string()
            ));
        }
        if !faults.is_empty() {
            let message = format!("the registry cannot be built: {}", faults.join("; "));
            return Err(NodeError::new(Category::ConfigError, message));
        }
        Ok(CheckedRegistry(Arc::new(RegisteredInner {
            tools,
            types: named,
            models,
            folder,
            extensions,
        })))
    }
}

#[cfg(feature = "openai")]
impl Registry {
    /// Adds the models of profiles (feature `openai`), each under its name.
    pub fn profiles(mut self, profiles: crate::Profiles) -> Self {
        for (name, model, settings) in profiles.into_models() {
            self.models.push((name, Arc::new(model), settings));
        }
        self
    }
}

pub(super) fn names(of: &dyn NodeType) -> impl Iterator<Item = &str> {
    std::iter::once(of.name()).chain(of.aliases().iter().copied())
}

fn check_names<'n>(what: &str, names: impl Iterator<Item = &'n str>, faults: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    let mut duplicates = BTreeSet::new();
    for name in names {
        if !is_name(name) {
            faults.push(format!(
                "the {what} {name:?} has a name that a graph cannot use: 1 to {LONGEST} of `A-Z a-z 0-9 _ -`"
            ));
        }
        if !seen.insert(name) {
            duplicates.insert(name);
        }
    }
    for name in duplicates {
        faults.push(format!(
            "two {what}s are called {name:?}; give one of them another name"
        ));
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types: Vec<&str> = self.types.iter().map(|one| one.name()).collect();
        let models: Vec<&String> = self.models.iter().map(|(name, ..)| name).collect();
        f.debug_struct("Registry")
            .field("tools", &self.tools)
            .field("types", &types)
            .field("models", &models)
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}
