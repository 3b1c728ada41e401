//! Checks before the first request.

use std::collections::BTreeMap;

use llmnode_runtime::{Category, Limits, NodeError};
use serde_json::Value;

use super::optimiser::Optimiser;
use crate::signature::Smart;
use llmnode_eval::Dataset;

pub(super) fn check<N: Smart, E>(
    optimiser: &Optimiser,
    [train, validation]: [&Dataset<N, E>; 2],
    limits: Limits,
) -> Result<u64, NodeError> {
    for (set, name) in [(train, "training"), (validation, "validation")] {
        if set.is_empty() {
            return refused(format!("there is no {name} case; add one"));
        }
    }
    if let Some(fault) = optimiser.fault() {
        return refused(fault);
    }
    check_disjoint(train, validation)?;
    let needs = optimiser.needs(train.len(), validation.len());
    match limits.requests {
        None => refused(format!(
            "an optimiser needs a limit of requests; set `.limits(Limits::new().requests({needs}))`, which affords three proposals, or \
             more"
        )),
        Some(requests) if requests < needs => refused(format!(
            "{requests} requests do not afford three proposals; allow {needs} or more, or take fewer validation cases than {}",
            validation.len()
        )),
        Some(requests) => Ok(requests),
    }
}

fn refused<T>(message: String) -> Result<T, NodeError> {
    Err(NodeError::new(Category::ConfigError, message))
}

/// Inputs in both sets would make the validation worthless.
fn check_disjoint<N: Smart, E>(
    train: &Dataset<N, E>,
    validation: &Dataset<N, E>,
) -> Result<(), NodeError> {
    let places: BTreeMap<String, usize> = keys(train)?.into_iter().zip(0..).collect();
    let keys = keys(validation)?;
    let both: Vec<_> = keys
        .iter()
        .enumerate()
        .filter_map(|(at, key)| Some((at, places.get(key)?)))
        .collect();
    let Some((of_validation, of_train)) = both.first() else {
        return Ok(());
    };
    refused(format!(
        "{} of {} validation cases have the inputs of a training case, the first being case {of_validation}, with those of training \
         case {of_train}; keep the sets apart, as `Dataset::split` does",
        both.len(),
        validation.len()
    ))
}

fn keys<N: Smart, E>(set: &Dataset<N, E>) -> Result<Vec<String>, NodeError> {
    set.rows()
        .iter()
        .enumerate()
        .map(|(at, (input, _)): (usize, &(N, E))| match input.values() {
            Ok(values) => Ok(Value::Object(values).to_string()),
            Err(faults) => refused(format!(
                "the inputs of case {at} cannot be written: {faults}"
            )),
        })
        .collect()
}
