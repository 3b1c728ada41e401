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
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let is_key =
        (1..=200).contains(&name.len()) && !name.starts_with('_') && name.chars().all(fits);
    if !is_key || matches!(name, "messages" | "context") {
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

type InputsAndState = (BTreeMap<String, Value>, BTreeMap<String, Field>);

pub(super) fn inputs_and_state(
    file: &Map<String, Value>,
    faulty: &HashSet<String>,
    faults: &mut Faults,
) -> InputsAndState {
    let members = |part: &str| {
        file.get(part)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
    };
    let (mut inputs, mut state) = InputsAndState::default();
    for (name, schema) in members("inputs") {
        declared("inputs", name, schema, faulty, faults);
        inputs.insert(name.clone(), schema.clone());
    }
    for (name, field) in members("state") {
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

pub(super) fn limits(file: &Map<String, Value>) -> Limits {
    let of = |name: &str| file.get("limits").and_then(|limits| limits.get(name));
    let mut limits = Limits::new();
    limits.requests = of("requests").and_then(Value::as_u64);
    limits.tokens = of("tokens").and_then(Value::as_u64);
    limits.money = of("money").and_then(Value::as_f64);
    limits
}
