//! Labels of training cases as examples.

use llmnode_runtime::{BoxError, Category, NodeError};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::program::{Program, ProgramError};
use crate::signature::{Demo, REASONING, Smart};

/// `None`: the label has none of the outputs. The error names every case whose label cannot be shown.
pub(super) fn labels<N: Smart, E: Serialize>(
    cases: &[(N, E)],
) -> Result<Vec<Option<Demo>>, NodeError> {
    let mut labels = Vec::with_capacity(cases.len());
    let mut faults = Vec::new();
    for (at, (input, expected)) in cases.iter().enumerate() {
        match label(input, expected) {
            Ok(label) => labels.push(label),
            Err(fault) => faults.push(format!("training case {at}: {fault}")),
        }
    }
    if faults.is_empty() {
        Ok(labels)
    } else {
        Err(NodeError::new(Category::ConfigError, faults.join("\n")))
    }
}

fn label<N: Smart, E: Serialize>(input: &N, expected: &E) -> Result<Option<Demo>, BoxError> {
    let mut values = input.values()?;
    let labelled = labelled::<N>(serde_json::to_value(expected)?);
    if labelled.is_empty() {
        return Ok(None);
    }
    values.extend(labelled);
    let demo = Demo::from_values(values);
    check_demo::<N>(&demo)?;
    Ok(Some(demo))
}

pub(super) fn check_demo<N: Smart>(demo: &Demo) -> Result<(), ProgramError> {
    Program::<N>::new().with_demos([demo.clone()]).map(|_| ())
}

/// A label that is not an object is that of the only output.
fn labelled<N: Smart>(label: Value) -> Map<String, Value> {
    let outputs = N::signature().outputs();
    match label {
        Value::Object(mut members) => outputs
            .iter()
            .filter_map(|field| members.remove_entry(field.name()))
            .collect(),
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

pub(super) fn program_with_demos<N: Smart>(
    program: &Program<N>,
    demos: Vec<Demo>,
) -> Result<Program<N>, NodeError> {
    let shown = program.clone().with_demos(demos);
    shown.map_err(|error| NodeError::new(Category::ConfigError, error.to_string()))
}
