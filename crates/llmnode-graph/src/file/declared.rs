//! The types that a file declares for its inputs and its state.

use serde_json::Value;

use super::describe::describe;
use super::schema_check::schema_mismatch;
use crate::faults::{FaultKind, Faults, escaped, shown};

/// The supported rules. Others would be ignored in silence.
const RULES: &[&str] = &[
    "type",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "anyOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "title",
    "description",
    "examples",
    "default",
];
const TYPES: &[&str] = &["string", "number", "integer", "boolean", "array", "object", "null"];

/// `also`: members beside the rules.
pub(super) fn check(schema: &Value, at: &str, also: &[&str], faults: &mut Faults) {
    let before = faults.len();
    rules(schema, at, also, faults);
    if faults.len() == before
        && let Some(default) = schema.get("default")
        && let Some(wrong) = schema_mismatch(schema, default)
    {
        faults.fault(
            format!("{at}/default"),
            FaultKind::WrongKind,
            format!("does not fit the type: it {wrong}"),
        );
    }
}

fn rules(schema: &Value, at: &str, also: &[&str], faults: &mut Faults) {
    let Value::Object(all) = schema else {
        let message =
            format!("is {}, but must be a JSON schema, such as {{\"type\": \"string\"}}", describe(schema));
        faults.fault(at, FaultKind::WrongKind, message);
        return;
    };
    for (name, rule) in all {
        let place = format!("{at}/{}", escaped(name));
        match (name.as_str(), rule) {
            ("type", kind) => types(kind, &place, faults),
            ("enum", Value::Array(values)) if !values.is_empty() => {}
            ("required", Value::Array(names)) if names.iter().all(Value::is_string) => {}
            ("items", schema) => rules(schema, &place, &[], faults),
            ("additionalProperties", Value::Bool(_)) => {}
            ("additionalProperties", schema) => rules(schema, &place, &[], faults),
            ("anyOf", Value::Array(forms)) if !forms.is_empty() => {
                for (index, form) in forms.iter().enumerate() {
                    rules(form, &format!("{place}/{index}"), &[], faults);
                }
            }
            ("properties", Value::Object(members)) => {
                for (member, schema) in members {
                    rules(schema, &format!("{place}/{}", escaped(member)), &[], faults);
                }
            }
            ("minLength" | "maxLength" | "minItems" | "maxItems", rule) if rule.is_u64() => {}
            ("minimum" | "maximum" | "exclusiveMinimum", rule) if rule.is_number() => {}
            ("title" | "description" | "examples" | "default" | "const", _) => {}
            (known, rule) if RULES.contains(&known) => {
                faults.fault(
                    place,
                    FaultKind::WrongKind,
                    format!("is {}, which is not a valid {known:?}", describe(rule)),
                );
            }
            (name, _) if also.contains(&name) => {}
            (name, _) => {
                let known = RULES.iter().chain(also).copied();
                let message = format!("unknown rule {:?} in a declared type", shown(name));
                faults.unknown(true, place, FaultKind::UnknownMember, message, name, known);
            }
        }
    }
}

fn types(kind: &Value, at: &str, faults: &mut Faults) {
    let mut one = |kind: &Value, at: &str| match kind {
        Value::String(name) if TYPES.contains(&&**name) => {}
        Value::String(name) => {
            let message = format!("no type {:?}", shown(name));
            faults.unknown(true, at, FaultKind::UnknownName, message, name, TYPES.iter().copied());
        }
        other => {
            let message = format!("is {}, but must be the name of a type", describe(other));
            faults.fault(at, FaultKind::WrongKind, message);
        }
    };
    match kind {
        Value::Array(kinds) if !kinds.is_empty() => {
            for (index, kind) in kinds.iter().enumerate() {
                one(kind, &format!("{at}/{index}"));
            }
        }
        kind => one(kind, at),
    }
}

/// Something that is not a type allows all values.
pub(crate) fn allows(schema: &Value, kind: &str) -> bool {
    let is = |one: &Value| match one.as_str() {
        Some("number") => matches!(kind, "number" | "integer"),
        Some(name) => name == kind || !TYPES.contains(&name),
        None => true,
    };
    match schema.get("type") {
        None => true,
        Some(Value::Array(kinds)) => kinds.iter().any(is),
        Some(one) => is(one),
    }
}
