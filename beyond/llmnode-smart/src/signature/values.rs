//! Converts nodes and outputs to the values of their fields, and back.

use std::any::Any;

use llmnode_reader::ext::Parsed;
use llmnode_runtime::{Reader, Violation};
use serde_json::{Map, Value};

use super::{FieldFaults, REASONING, Smart, TypedSignature, VALUE};

/// Writes the inputs of a node.
pub struct InputWriter<'d> {
    declared: &'d TypedSignature,
    values: Map<String, Value>,
    faults: FieldFaults,
}

impl<'d> InputWriter<'d> {
    /// Begins without values.
    pub fn new(declared: &'d TypedSignature) -> Self {
        InputWriter {
            declared,
            values: Map::new(),
            faults: FieldFaults::default(),
        }
    }

    /// Adds the value of the next field.
    pub fn add(&mut self, value: &dyn Any) {
        let at = self.values.len();
        let Some((field, codec)) = self
            .declared
            .signature
            .inputs
            .get(at)
            .zip(self.declared.inputs.get(at))
        else {
            return;
        };
        let written = (codec.write)(value).unwrap_or_else(|fault| {
            self.faults.add(&field.name, fault);
            Value::Null
        });
        self.values.insert(field.name.clone(), written);
    }

    /// Returns all values.
    ///
    /// # Errors
    /// Those that cannot be written.
    pub fn done(self) -> Result<Map<String, Value>, FieldFaults> {
        self.faults.into_result(self.values)
    }
}

/// Reads the inputs of a node.
pub struct InputReader<'d> {
    declared: &'d TypedSignature,
    values: &'d Map<String, Value>,
    at: usize,
    faults: FieldFaults,
}

impl<'d> InputReader<'d> {
    /// Begins with the first field.
    pub fn new(declared: &'d TypedSignature, values: &'d Map<String, Value>) -> Self {
        InputReader {
            declared,
            values,
            at: 0,
            faults: FieldFaults::default(),
        }
    }

    /// Takes the value of the next field. `None`: there is a fault.
    pub fn field<T: 'static>(&mut self) -> Option<T> {
        let (field, codec) = self
            .declared
            .signature
            .inputs
            .get(self.at)
            .zip(self.declared.inputs.get(self.at))?;
        self.at += 1;
        let value = self.values.get(&field.name);
        // An absent optional field reads as `null`.
        match ((codec.read)(value.unwrap_or(&Value::Null)), value) {
            (Ok(value), _) => value.downcast::<T>().ok().map(|value| *value),
            (Err(_), None) => {
                self.faults.add(&field.name, "is missing");
                None
            }
            (Err(fault), Some(_)) => {
                self.faults.add(&field.name, fault);
                None
            }
        }
    }

    /// Returns the node, or the mistakes.
    ///
    /// # Errors
    /// Every input that was missing or of another type.
    pub fn done<N>(self, node: Option<N>) -> Result<N, FieldFaults> {
        node.ok_or(self.faults)
    }
}

/// Returns an output as the values of its fields, in order. An output that is not an object becomes the single field `value`.
/// `reasoning` comes first if it is given.
///
/// # Errors
/// The output cannot be written as JSON.
pub fn output_values<N: Smart>(
    output: &N::Output,
    reasoning: Option<&str>,
) -> Result<Map<String, Value>, FieldFaults> {
    let TypedSignature {
        signature,
        output: codec,
        ..
    } = N::declared();
    let mut faults = FieldFaults::default();
    let mut all = Map::new();
    if let Some(reasoning) = reasoning {
        all.insert(REASONING.to_owned(), reasoning.into());
    }
    match (codec.write)(output) {
        Ok(Value::Object(members)) if signature.object => all.extend(members),
        Ok(value) => {
            all.insert(VALUE.to_owned(), value);
        }
        Err(fault) => faults.add(VALUE, fault),
    }
    faults.into_result(all)
}

/// Creates an output from the values of its fields. Other members are ignored.
///
/// # Errors
fn faults_of(violations: Vec<Violation>) -> FieldFaults {
    let mut faults = FieldFaults::default();
    for violation in violations {
        let at = if violation.path.is_empty() {
            VALUE
        } else {
            violation.path.as_str()
        };
        faults.add(at, violation.message.as_str());
    }
    faults
}

/// What is missing or of another type.
pub fn read_output<N: Smart>(values: &Map<String, Value>) -> Result<N::Output, FieldFaults> {
    let signature = N::signature();
    let json = if signature.object {
        let written = signature
            .outputs
            .iter()
            .filter(|field| !(signature.thinks && field.name == REASONING));
        written
            .filter_map(|field| Some((field.name.clone(), values.get(&field.name)?.clone())))
            .collect::<Map<_, _>>()
            .into()
    } else {
        values.get(VALUE).cloned().unwrap_or_default()
    };
    let Parsed { value, .. } =
        (N::declared().output.read)(&json.to_string(), Reader::new().exact(true))
            .map_err(faults_of)?;
    value
        .downcast()
        .map(|value| *value)
        .map_err(|_| faults_of(Vec::new()))
}
