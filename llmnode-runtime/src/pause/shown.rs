//! What a conversation was based on when it stopped: what must be the same where it continues, and what may differ.
//!
//! The node's own values tell one call from another, so they must be the same; the tools of calls that wait must be those that were
//! shown. All else may change with a deployment, and the record says so. Only hashes are stored, and the names of tools.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Hashes of what the model and the person saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shown {
    /// The rendered values of the node's own fields. `None`: the node does not say which these are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) values: Option<String>,
    /// The history that the node was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) history: Option<String>,
    /// The system message and the examples.
    pub(crate) instructions: String,
    pub(crate) prompt: String,
    /// Name, description and parameters of each tool, by its name.
    pub(crate) tools: BTreeMap<String, String>,
    pub(crate) output: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
}

impl Shown {
    /// What is another now, in words for records and logs.
    pub(crate) fn changes(&self, now: &Shown) -> Vec<String> {
        let mut changes = Vec::new();
        let parts = [
            ("instructions", self.instructions != now.instructions),
            ("prompt", self.prompt != now.prompt),
            ("output", self.output != now.output),
            ("model", self.model != now.model),
        ];
        changes.extend(
            parts
                .into_iter()
                .filter(|(_, changed)| *changed)
                .map(|(name, _)| name.to_owned()),
        );
        for (name, shown) in &self.tools {
            match now.tools.get(name) {
                None => changes.push(format!("tool removed: {name}")),
                Some(tool) if tool != shown => changes.push(format!("tool changed: {name}")),
                Some(_) => {}
            }
        }
        let added = now
            .tools
            .keys()
            .filter(|name| !self.tools.contains_key(*name));
        changes.extend(added.map(|name| format!("tool added: {name}")));
        changes
    }
}
