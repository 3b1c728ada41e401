//! The settings of a node, by our names, and where they stand in the file.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::Form;
use super::fit::Fit;
use crate::faults::{FaultKind, Faults};

/// The settings of one node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Data {
    /// The settings, by our names.
    pub(crate) values: Map<String, Value>,
    /// Where a setting stands in the file, by its pointer into `values`, if its name or its place is another there.
    pub(crate) origin: BTreeMap<String, String>,
    /// Where the settings stand in the file: `/nodes/3/data`.
    pub(crate) at: String,
}

impl Data {
    /// The place in the file of a setting, by its pointer into `values`: `/tools/1`.
    pub(crate) fn pointer(&self, inner: &str) -> String {
        let mut outer = inner;
        loop {
            if let Some(origin) = self.origin.get(outer) {
                return format!("{origin}{}", &inner[outer.len()..]);
            }
            match outer.rsplit_once('/') {
                Some((shorter, _)) => outer = shorter,
                None => return format!("{}{inner}", self.at),
            }
        }
    }

    /// Notes everything in which the settings are not those that a schema has.
    pub(crate) fn check(&self, schema: &Value, form: Form, faults: &mut Faults) {
        let place = |inner: &str| self.pointer(inner);
        Fit::of_file(schema, form == Form::Seed, &place, faults).check_members(&self.values);
    }

    /// Reads the settings as a type of this schema, after everything is noted in which they are not what its schema says. What can be read in
    /// spite of that is given, so that further mistakes are found in one go.
    pub(crate) fn read<T: DeserializeOwned>(
        &self,
        schema: &Value,
        form: Form,
        faults: &mut Faults,
    ) -> Option<T> {
        let before = faults.len();
        self.check(schema, form, faults);
        match T::deserialize(Value::Object(self.values.clone())) {
            Ok(data) => Some(data),
            Err(error) => {
                if faults.len() == before {
                    faults.fault(&self.at, FaultKind::WrongKind, error.to_string());
                }
                None
            }
        }
    }
}
