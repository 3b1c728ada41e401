//! What a file declares beside its nodes: inputs, the state, limits.

use std::collections::{BTreeMap, HashSet};

use llmnode_runtime::Limits;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::describe::describe;
use super::{Field, Reducer, allows, schema_mismatch};
use crate::faults::{FaultKind, Faults, escaped, shown};

/// Checks a declared value, and returns where it is declared.
fn declared(
    part: &str,
    name: &str,
    schema: &Value,
    faulty: &HashSet<String>,
    faults: &mut Faults,
) -> String {
    let at = format!("/{part}/{}", escaped(name));
    if !is_key(name) || matches!(name, "messages" | "context") {
        let message = format!(
            "{:?} is not a valid name of a value: use letters, digits, `_` and `-`, without `_` at the beginning; `messages` and `context` are reserved",
            shown(name)
        );
        faults.fault(&at, FaultKind::BadName, message);
    }
    if !faulty.contains(&at)
        && let Some(default) = schema.get("default")
        && let Some(wrong) = schema_mismatch(schema, default)
    {
        let message = format!("does not fit the type: it {wrong}");
        faults.fault(format!("{at}/default"), FaultKind::WrongKind, message);
    }
    at
}

/// Names that begin with `_` are the graph's own.
fn is_key(name: &str) -> bool {
    let has_key_length = (1..=200).contains(&name.len());
    let has_key_chars = name
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    has_key_length && has_key_chars && !name.starts_with('_')
}

/// The members of a part of the file.
fn members<'f>(
    file: &'f Map<String, Value>,
    part: &str,
) -> impl Iterator<Item = (&'f String, &'f Value)> {
    let members = file.get(part).and_then(Value::as_object);
    members.into_iter().flatten()
}
type InputsAndState = (BTreeMap<String, Value>, BTreeMap<String, Field>);

/// The declared inputs and values of the state. `faulty`: places that were reported, whose defaults are not checked.
pub(super) fn inputs_and_state(
    file: &Map<String, Value>,
    faulty: &HashSet<String>,
    faults: &mut Faults,
) -> InputsAndState {
    let (mut inputs, mut state) = InputsAndState::default();
    for (name, schema) in members(file, "inputs") {
        declared("inputs", name, schema, faulty, faults);
        inputs.insert(name.clone(), schema.clone());
    }
    for (name, field) in members(file, "state") {
        let at = declared("state", name, field, faulty, faults);
        let Value::Object(mut rules) = field.clone() else {
            continue;
        };
        let written = rules.remove("reducer").unwrap_or_default();
        let reducer = Reducer::deserialize(&written).unwrap_or_default();
        let needs = match reducer {
            Reducer::Replace => None,
            Reducer::Append => Some(("array", "a list")),
            Reducer::Merge => Some(("object", "an object")),
        };
        let default = rules.remove("default");
        let schema = Value::Object(rules);
        if let Some((kind, words)) = needs.filter(|(kind, _)| !allows(&schema, kind)) {
            let declared = schema.get("type").map(describe).unwrap_or_default();
            let message = format!(
                "{} makes {words} of the value, but its type is {declared}: write \"type\": {kind:?}, or remove the reducer",
                describe(&written)
            );
            faults.fault(format!("{at}/reducer"), FaultKind::WrongKind, message);
        }
        state.insert(
            name.clone(),
            Field {
                schema,
                reducer,
                default,
            },
        );
    }
    (inputs, state)
}

/// The limits of a run, as far as the file sets any.
pub(super) fn limits(file: &Map<String, Value>) -> Limits {
    let mut limits = Limits::new();
    let Some(declared) = file.get("limits") else {
        return limits;
    };
    limits.requests = declared.get("requests").and_then(Value::as_u64);
    limits.tokens = declared.get("tokens").and_then(Value::as_u64);
    limits.money = declared.get("money").and_then(Value::as_f64);
    limits
}
