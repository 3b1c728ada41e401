//! The types that a file declares for its inputs and its state.

use serde_json::Value;

use super::schema_check::schema_mismatch;
use crate::faults::{FaultKind, Faults};

const TYPES: &[&str] = &["string", "number", "integer", "boolean", "array", "object", "null"];

pub(super) fn check_default(schema: &Value, at: &str, faults: &mut Faults) {
    if let Some(default) = schema.get("default")
        && let Some(wrong) = schema_mismatch(schema, default)
    {
        let message = format!("does not fit the type: it {wrong}");
        faults.fault(format!("{at}/default"), FaultKind::WrongKind, message);
    }
}

/// A schema without a type allows all values.
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
