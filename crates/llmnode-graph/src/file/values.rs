//! What a file declares beside its nodes: inputs, the state, limits.

use std::collections::{BTreeMap, HashSet};

use llmnode_runtime::Limits;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::describe::describe;
use super::{Field, Reducer, declared};
use crate::faults::{FaultKind, Faults, escaped, shown};

fn name_of_key(name: &str, at: &str, faults: &mut Faults) {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let is_key = (1..=200).contains(&name.len()) && !name.starts_with('_') && name.chars().all(fits);
    if !is_key || matches!(name, "messages" | "context") {
        let message = format!(
            "{:?} is not a valid name of a value: use letters, digits, `_` and `-`, without `_` at the beginning; `messages` and `context` are reserved",
            shown(name)
        );
        faults.fault(at, FaultKind::BadName, message);
    }
}

pub(super) fn inputs(
    file: &Map<String, Value>,
    faulty: &HashSet<String>,
    faults: &mut Faults,
) -> BTreeMap<String, Value> {
    let mut inputs = BTreeMap::new();
    for (name, schema) in file.get("inputs").and_then(Value::as_object).into_iter().flatten() {
        let at = format!("/inputs/{}", escaped(name));
        name_of_key(name, &at, faults);
        if !faulty.contains(&at) {
            declared::check_default(schema, &at, faults);
        }
        inputs.insert(name.clone(), schema.clone());
    }
    inputs
}

pub(super) fn state(
    file: &Map<String, Value>,
    faulty: &HashSet<String>,
    faults: &mut Faults,
) -> BTreeMap<String, Field> {
    let mut state = BTreeMap::new();
    for (name, field) in file.get("state").and_then(Value::as_object).into_iter().flatten() {
        let at = format!("/state/{}", escaped(name));
        name_of_key(name, &at, faults);
        let Value::Object(rules) = field else { continue };
        let mut rules = rules.clone();
        let written = rules.remove("reducer").unwrap_or_default();
        let reducer = Reducer::deserialize(&written).unwrap_or_default();
        if !faulty.contains(&at) {
            declared::check_default(field, &at, faults);
        }
        let needs = match reducer {
            Reducer::Replace => None,
            Reducer::Append => Some(("array", "a list")),
            Reducer::Merge => Some(("object", "an object")),
        };
        let schema = Value::Object(rules.clone());
        if let Some((kind, words)) = needs.filter(|(kind, _)| !declared::allows(&schema, kind)) {
            let message = format!(
                "{} makes {words} of the value, but its type is {}: write \"type\": {kind:?}, or remove the reducer",
                describe(&written),
                rules.get("type").map(describe).unwrap_or_default()
            );
            faults.fault(format!("{at}/reducer"), FaultKind::WrongKind, message);
        }
        let default = rules.remove("default");
        state.insert(name.clone(), Field { schema: Value::Object(rules), reducer, default });
    }
    state
}

pub(super) fn limits(file: &Map<String, Value>) -> Limits {
    let of = |name: &str| file.get("limits").and_then(|limits| limits.get(name));
    let mut limits = Limits::new();
    limits.requests = of("requests").and_then(Value::as_u64);
    limits.tokens = of("tokens").and_then(Value::as_u64);
    limits.money = of("money").and_then(Value::as_f64);
    limits
}
