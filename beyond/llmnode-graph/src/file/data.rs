//! The settings of a node, by the names of our format, and their places in the file.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

#[derive(Clone, Debug, Default)]
pub(crate) struct NodeSettings {
    pub(crate) values: Map<String, Value>,
    /// Pointers into the file, by pointers into `values`; only of values that were moved.
    pub(crate) origin: BTreeMap<String, String>,
}

impl NodeSettings {
    /// `at`: where the settings are, such as `/nodes/3/data`.
    pub(crate) fn new(values: Map<String, Value>, at: String) -> Self {
        NodeSettings {
            values,
            origin: BTreeMap::from([(String::new(), at)]),
        }
    }

    pub(crate) fn at(&self) -> String {
        self.pointer("")
    }

    /// `inner`: a pointer into `values`, such as `/tools/1`.
    pub(crate) fn pointer(&self, inner: &str) -> String {
        let mut outer = inner;
        loop {
            if let Some(place) = self.origin.get(outer) {
                return format!("{place}{}", &inner[outer.len()..]);
            }
            match outer.rsplit_once('/') {
                Some((shorter, _)) => outer = shorter,
                None => return inner.to_owned(),
            }
        }
    }
}
