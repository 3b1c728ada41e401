//! Labels of training cases as examples.

use llmnode_runtime::{Category, NodeError};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::program::Program;
use crate::signature::{Demo, REASONING, Smart};

/// Each case as an example of its inputs and whatever its label has of the outputs. `None`: it has none of them.
pub(super) fn labels<N: Smart, E: Serialize>(cases: &[(N, E)]) -> Result<Vec<Option<Demo>>, NodeError> {
    cases.iter().map(|(input, expected)| label(input, expected)).collect()
}

fn label<N: Smart, E: Serialize>(input: &N, expected: &E) -> Result<Option<Demo>, NodeError> {
    let mut values =
        input.values().map_err(|faults| refused(format!("a training case cannot be written: {faults}")))?;
    let expected = serde_json::to_value(expected)
        .map_err(|error| refused(format!("the label of a training case cannot be written: {error}")))?;
    let labelled = labelled::<N>(expected);
    if labelled.is_empty() {
        return Ok(None);
    }
    values.extend(labelled);
    Ok(Some(Demo::from_values(values)))
}

/// What a label has of the outputs. One that is no object stands for the only output.
fn labelled<N: Smart>(label: Value) -> Map<String, Value> {
    let outputs = N::signature().outputs();
    match label {
        Value::Object(mut members) => {
            outputs.iter().filter_map(|field| members.remove_entry(field.name())).collect()
        }
        Value::Null => Map::new(),
        value => {
            let mut outputs = outputs.iter().filter(|field| field.name() != REASONING);
            match (outputs.next(), outputs.next()) {
                (Some(only), None) => [(only.name().to_owned(), value)].into_iter().collect(),
                _ => Map::new(),
            }
        }
    }
}

/// A program with these examples.
pub(super) fn showing<N: Smart>(program: &Program<N>, demos: Vec<Demo>) -> Result<Program<N>, NodeError> {
    let shown = program.clone().with_demos(demos);
    shown.map_err(|error| refused(format!("the training cases cannot be shown as examples: {error}")))
}

fn refused(message: String) -> NodeError {
    NodeError::new(Category::ConfigError, message)
}
