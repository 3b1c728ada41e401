//! A registry that was checked.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use llmnode_runtime::internal::ToolsetInternals as _;
use llmnode_runtime::{ChatModel, Run, ToolCall};
use serde_json::Value;

use super::names;
use crate::file;
use crate::graph::node_type::{CheckedRegistry, NodeType, RegisteredInner};

impl CheckedRegistry {
    /// Creates a run on a model, together with the registered models. Agents without a profile ask this model.
    pub fn run(&self, model: impl ChatModel + 'static) -> Run {
        let mut run = Run::new(model);
        for (name, model, settings) in &self.0.models {
            run = run.model_with(name.clone(), Arc::clone(model), settings.clone());
        }
        run
    }

    /// Returns the node types by name, with their aliases.
    pub fn types(&self) -> impl Iterator<Item = (&str, &dyn NodeType)> {
        self.0
            .types
            .iter()
            .map(|(name, one)| (name.as_str(), &**one))
    }

    /// Returns the JSON Schema of graph files with these node types, for editors that complete and check files.
    pub fn schema(&self) -> Value {
        let mut seen = BTreeSet::new();
        let types = self
            .0
            .types
            .values()
            .filter(|one| seen.insert(one.name().to_owned()));
        file::schema(types.map(|one| (names(&**one).collect(), one.schema())))
    }

    pub(crate) fn profiles(&self) -> impl Iterator<Item = &str> {
        self.0.models.iter().map(|(name, ..)| name.as_str())
    }
}

/// What is wrong with these arguments of a tool of the registry; the tool does not run. `None`: nothing, or there is no such tool.
pub fn refused_arguments(
    registry: &CheckedRegistry,
    tool: &str,
    arguments: &str,
) -> Option<String> {
    registry
        .0
        .tools
        .refused_arguments(&ToolCall::new("call_1", tool, arguments))
}

impl fmt::Debug for CheckedRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RegisteredInner {
            tools,
            types,
            folder,
            ..
        } = &*self.0;
        f.debug_struct("CheckedRegistry")
            .field("tools", tools)
            .field("types", &types.keys())
            .field("profiles", &self.profiles().collect::<Vec<_>>())
            .field("folder", folder)
            .finish_non_exhaustive()
    }
}
