//! How deep the shallowest value of a schema is: what tells a recursive schema's way out.

use std::collections::BTreeMap;

use serde_json::Value;

use super::keywords::{Kind, Schema, bounds, each, kinds, resolve};

/// The height of a schema that no (finite) value satisfies.
pub(super) const NEVER: u32 = u32::MAX;

/// Longest chain of references followed to a way out.
const MAX_ROUNDS: usize = 64;

/// The heights of all that the schema refers to.
pub(super) struct Heights<'a> {
    of_refs: BTreeMap<&'a str, u32>,
}

impl<'a> Heights<'a> {
    /// Starts from "never" and lowers each height until none changes.
    pub(super) fn new(root: &'a Value) -> Self {
        let mut heights = Self { of_refs: BTreeMap::new() };
        collect_refs(root, &mut heights.of_refs);
        let names: Vec<&str> = heights.of_refs.keys().copied().collect();
        for _ in 0..MAX_ROUNDS {
            let mut changed = false;
            for name in &names {
                let height = resolve(root, name).map_or(0, |target| heights.of(target));
                changed |= heights.of_refs.insert(name, height) != Some(height);
            }
            if !changed {
                break;
            }
        }
        heights
    }

    pub(super) fn is_never(&self, schema: &Value) -> bool {
        self.of(schema) == NEVER
    }

    /// The height of a schema under this root: 0 for scalars, one more for each array or object around.
    pub(super) fn of(&self, schema: &Value) -> u32 {
        let map = match schema {
            Value::Object(map) => map,
            Value::Bool(false) => return NEVER,
            _ => return 0,
        };
        let own = if map.contains_key("enum") || map.contains_key("const") {
            if map.get("enum").and_then(Value::as_array).is_some_and(Vec::is_empty) { NEVER } else { 0 }
        } else {
            kinds(map).into_iter().map(|kind| self.of_kind(map, kind)).min().unwrap_or(NEVER)
        };
        let referred = map.get("$ref").and_then(Value::as_str).and_then(|name| self.of_refs.get(name));
        let all = each(map, "allOf").map(|part| self.of(part));
        let any = ["anyOf", "oneOf"].iter().filter(|key| map.contains_key(**key));
        let any = any.map(|key| each(map, key).map(|part| self.of(part)).min().unwrap_or(0));
        all.chain(any).chain(referred.copied()).fold(own, u32::max)
    }

    fn of_kind(&self, map: &Schema, kind: Kind) -> u32 {
        let inner = match kind {
            Kind::Object => {
                let schemas = map.get("properties").and_then(Value::as_object);
                let names = each(map, "required").filter_map(Value::as_str);
                let schema = |name| schemas.and_then(|s| s.get(name)).or(map.get("additionalProperties"));
                names.filter_map(schema).map(|schema| self.of(schema)).max()
            }
            Kind::Array => {
                let (least, _) = bounds(map, "minItems", "maxItems");
                let first = each(map, "prefixItems").take(least).map(|item| self.of(item)).max();
                let more = least > each(map, "prefixItems").count();
                first.max(map.get("items").filter(|_| more).map(|items| self.of(items)))
            }
            _ => return 0,
        };
        inner.unwrap_or(0).saturating_add(1)
    }
}

fn collect_refs<'a>(schema: &'a Value, into: &mut BTreeMap<&'a str, u32>) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::String(name)) = map.get("$ref") {
                into.insert(name, NEVER);
            }
            map.values().for_each(|inner| collect_refs(inner, into));
        }
        Value::Array(items) => items.iter().for_each(|inner| collect_refs(inner, into)),
        _ => {}
    }
}
