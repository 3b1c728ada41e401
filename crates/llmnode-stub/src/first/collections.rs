//! Lists and objects.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::finder::Finder;
use super::keywords::{Schema, bounds, each};
use super::nth::Nth;
use super::pattern::Pattern;

/// How many values in a row may be there already when a new item or key is looked for.
const UNIQUE_TRIES: usize = 200;

impl Finder<'_> {
    /// As many items as the schema demands, and one where it allows any: an empty list shows little.
    pub(super) fn array(&mut self, schema: &Schema) -> Value {
        let prefix: Vec<&Value> = each(schema, "prefixItems").collect();
        let items = schema.get("items").unwrap_or(&Value::Bool(true));
        let at = |index: usize| prefix.get(index).copied().unwrap_or(items);
        let (min, max) = bounds(schema, "minItems", "maxItems");
        let mut count = min;
        if !self.is_short() {
            // An item that nothing satisfies ends the list.
            let possible = (0..=prefix.len()).take_while(|&index| !self.heights.is_never(at(index))).count();
            count = count.max(possible.min(prefix.len().max(1)).min(max));
        }
        if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
            return self.distinct(count, at);
        }
        let mut out = Vec::new();
        while out.len() < count && self.left > 0 {
            out.push(self.value(at(out.len())));
        }
        Value::Array(out)
    }

    fn distinct<'s>(&mut self, count: usize, at: impl Fn(usize) -> &'s Value) -> Value {
        let (mut out, mut seen) = (Vec::new(), HashSet::new());
        let (mut n, mut tries) = (self.nth.rest(), 0);
        while out.len() < count && self.left > 0 && tries < UNIQUE_TRIES {
            self.nth = Nth::new(n);
            let item = self.value(at(out.len()));
            n = n.saturating_add(1);
            tries += 1;
            if seen.insert(item.to_string()) {
                out.push(item);
                tries = 0;
            }
        }
        Value::Array(out)
    }

    /// All properties that there is room for, or only the required ones where the value is to end soon.
    pub(super) fn object(&mut self, schema: &Schema) -> Value {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required: HashSet<&str> = each(schema, "required").filter_map(Value::as_str).collect();
        let (min, max) = bounds(schema, "minProperties", "maxProperties");
        let most = if self.is_short() { min } else { max };
        let mut room = most.saturating_sub(required.len());
        let mut out = Map::new();
        for (name, property) in properties {
            let is_required = required.contains(name.as_str());
            if is_required || (room > 0 && !self.heights.is_never(property)) {
                room -= usize::from(!is_required);
                out.insert(name.clone(), self.value(property));
            }
        }
        for name in each(schema, "required").filter_map(Value::as_str) {
            if !out.contains_key(name) {
                let other = schema.get("additionalProperties").unwrap_or(&Value::Bool(true));
                out.insert(name.to_owned(), self.value(other));
            }
        }
        self.entries(schema, properties, &mut out);
        Value::Object(out)
    }

    /// Adds what a map holds beside named properties: one entry to an empty one, or as many as are demanded.
    fn entries(&mut self, schema: &Schema, properties: &Schema, out: &mut Schema) {
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        let patterned =
            patterns.into_iter().flatten().find_map(|(key, value)| Some((Pattern::parse(key)?, value)));
        let additional = schema.get("additionalProperties");
        let (pattern, entry) = match patterned {
            Some((pattern, entry)) => (Some(pattern), entry),
            None => (None, additional.unwrap_or(&Value::Bool(true))),
        };
        if self.heights.is_never(entry) {
            return;
        }
        let is_map = pattern.is_some() || additional.is_some_and(Value::is_object);
        let (min, max) = bounds(schema, "minProperties", "maxProperties");
        let count = min.max(usize::from(is_map && !self.is_short()).min(max));
        let (mut n, mut tries) = (0, 0);
        while out.len() < count && self.left > 0 && tries < UNIQUE_TRIES {
            let key = self.key(schema, pattern.as_ref(), n);
            n += 1;
            tries += 1;
            if !out.contains_key(&key) && !properties.contains_key(&key) {
                let value = self.value(entry);
                out.insert(key, value);
                tries = 0;
            }
        }
    }

    fn key(&mut self, schema: &Schema, pattern: Option<&Pattern>, n: usize) -> String {
        if let Some(key) = pattern.and_then(|pattern| pattern.text(n, 0)) {
            return key;
        }
        if let Some(names) = schema.get("propertyNames") {
            let of_values = std::mem::replace(&mut self.nth, Nth::new(n));
            let name = self.value(names);
            self.nth = of_values;
            if let Value::String(key) = name {
                return key;
            }
        }
        if n == 0 { "key".to_owned() } else { format!("key{n}") }
    }
}
