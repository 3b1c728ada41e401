//! The settings of a node, by our names, and where they stand in the file.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Form;
use super::fit::Fit;
use super::mend::{Mends, through};
use crate::faults::Faults;

/// The settings of one node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Data {
    /// The settings, by our names.
    pub(crate) values: Map<String, Value>,
    /// Where a setting stands in the file, by its pointer into `values`. What is not here is at its own place.
    pub(crate) origin: BTreeMap<String, String>,
}

impl Data {
    /// The settings that stand at this place: `/nodes/3/data`.
    pub(crate) fn new(values: Map<String, Value>, at: String) -> Self {
        Data { values, origin: BTreeMap::from([(String::new(), at)]) }
    }

    /// Where they stand in the file.
    pub(crate) fn at(&self) -> String {
        self.pointer("")
    }

    /// The place in the file of a setting, by its pointer into `values`: `/tools/1`.
    pub(crate) fn pointer(&self, inner: &str) -> String {
        through(&self.origin, inner)
    }

    /// Notes everything in which the settings are not those of a schema. They become what was probably meant; what is lost
    /// is returned.
    pub(crate) fn check(&mut self, schema: &Value, form: Form, faults: &mut Faults) -> Mends {
        let place = |inner: &str| self.pointer(inner);
        let (values, mends) = Fit::of_file(schema, form == Form::Seed, &place, faults).settings(&self.values);
        let Some(values) = values else { return mends };
        self.origin = self
            .origin
            .iter()
            .filter(|(inner, _)| !mends.moves(inner))
            .map(|(inner, at)| (inner.clone(), at.clone()))
            .chain(mends.moved.iter().map(|(to, from)| (to.clone(), self.pointer(from))))
            .collect();
        self.values = values;
        mends
    }
}
