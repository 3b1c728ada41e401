//! An example that is shown to the model.

use std::fmt;

use serde_json::{Map, Value};

use super::{FieldFaults, Smart, output_values};

/// An example that is shown to the model: values of inputs and outputs by name. It may be incomplete.
#[derive(Clone, Default, PartialEq)]
pub struct Demo(Map<String, Value>);

impl Demo {
    /// Creates an example of a node, its output and, for a node that thinks, the reasoning.
    ///
    /// # Errors
    /// The values that cannot be written as JSON.
    pub fn of<N: Smart>(
        node: &N,
        output: &N::Output,
        reasoning: Option<&str>,
    ) -> Result<Demo, FieldFaults> {
        let mut values = node.values()?;
        values.extend(output_values::<N>(output, reasoning)?);
        Ok(Demo(values))
    }

    /// Creates an example from these values.
    pub fn from_values(values: Map<String, Value>) -> Demo {
        Demo(values)
    }

    /// Returns the values by name.
    pub fn values(&self) -> &Map<String, Value> {
        &self.0
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }
}

/// Values may be private.
impl fmt::Debug for Demo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}
