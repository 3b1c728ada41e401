//! The settings of a node, by the names of our format, and their places in the file.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::FileFormat;
use super::recovery::{Repairs, remap_pointer};
use super::schema_check::SchemaChecker;
use crate::faults::Faults;

#[derive(Clone, Debug, Default)]
pub(crate) struct NodeSettings {
    pub(crate) values: Map<String, Value>,
    /// Places in the file, by pointers into `values`. What is not here is at its own place.
    pub(crate) origin: BTreeMap<String, String>,
}

impl NodeSettings {
    /// `at`: the place of the settings, such as `/nodes/3/data`.
    pub(crate) fn new(values: Map<String, Value>, at: String) -> Self {
        NodeSettings { values, origin: BTreeMap::from([(String::new(), at)]) }
    }

    pub(crate) fn at(&self) -> String {
        self.pointer("")
    }

    /// `inner`: a pointer into `values`, such as `/tools/1`.
    pub(crate) fn pointer(&self, inner: &str) -> String {
        remap_pointer(&self.origin, inner)
    }

    /// The settings become what was probably intended; returns what was changed and lost.
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
