//! The settings of a node, by our names, and where they stand in the file.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::FileFormat;
use super::recovery::{Repairs, remap_pointer};
use super::schema_check::SchemaChecker;
use crate::faults::Faults;

/// The settings of one node.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeSettings {
    /// The settings, by our names.
    pub(crate) values: Map<String, Value>,
    /// Where a setting stands in the file, by its pointer into `values`. What is not here is at its own place.
    pub(crate) origin: BTreeMap<String, String>,
}

impl NodeSettings {
    /// The settings that stand at this place: `/nodes/3/data`.
    pub(crate) fn new(values: Map<String, Value>, at: String) -> Self {
        NodeSettings { values, origin: BTreeMap::from([(String::new(), at)]) }
    }

    /// Where they stand in the file.
    pub(crate) fn at(&self) -> String {
        self.pointer("")
    }

    /// The place in the file of a setting, by its pointer into `values`: `/tools/1`.
    pub(crate) fn pointer(&self, inner: &str) -> String {
        remap_pointer(&self.origin, inner)
    }

    /// Notes everything in which the settings are not those of a schema. They become what was probably meant; what is lost
    /// is returned.
    pub(crate) fn check(&mut self, schema: &Value, form: FileFormat, faults: &mut Faults) -> Repairs {
        let place = |inner: &str| self.pointer(inner);
        let (values, repairs) = SchemaChecker::of_file(schema, form == FileFormat::ReactFlow, &place, faults)
            .settings(&self.values);
        let Some(values) = values else { return repairs };
        self.origin = self
            .origin
            .iter()
            .filter(|(inner, _)| !repairs.moves(inner))
            .map(|(inner, at)| (inner.clone(), at.clone()))
            .chain(repairs.moved.iter().map(|(to, from)| (to.clone(), self.pointer(from))))
            .collect();
        self.values = values;
        repairs
    }
}
