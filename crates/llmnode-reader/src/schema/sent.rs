//! Schemas that are not enforced, each written when it is first sent.

use std::sync::OnceLock;

use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::profile::Profile;
use super::wire_names::WireNames;
use super::writer;

/// The schema as each API takes it.
#[derive(Default)]
pub(super) struct Sent {
    schemas: [OnceLock<Box<RawValue>>; Profile::ALL.len()],
    /// Anthropic alone refuses names.
    names: OnceLock<Option<Box<WireNames>>>,
}

impl Sent {
    /// The schema as this API takes it. `tree`: the plain dialect, always the same one.
    pub(super) fn written(&self, profile: Profile, tree: &Value) -> &RawValue {
        self.schemas[profile as usize].get_or_init(|| {
            let names = self.names(profile, tree);
            raw(&writer::written(tree, profile, names))
        })
    }

    /// The names that stand for those that the API refuses.
    pub(super) fn names(&self, profile: Profile, tree: &Value) -> Option<&WireNames> {
        if profile != Profile::Anthropic {
            return None;
        }
        let names = self
            .names
            .get_or_init(|| WireNames::from_tree(tree, profile).map(Box::new));
        names.as_deref()
    }
}

/// Cannot fail; `true` allows anything.
pub(super) fn raw(tree: &Value) -> Box<RawValue> {
    to_raw_value(tree).unwrap_or_else(|_| RawValue::TRUE.to_owned())
}
