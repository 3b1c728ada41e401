//! Draws a value from a schema.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::height::Heights;
use super::keywords::{Kind, Schema, bounds, each, kinds, resolve};
use super::merge::merge;
use super::pattern::Pattern;
use super::rng::Rng;
use super::{number, string};

/// Below this many levels, or after this many values, only what is required is drawn, by the shortest way.
const LEAN_DEPTH: usize = 7;
const LEAN_DRAWN: usize = 256;
/// Where a schema offers no way out at all, `null` is drawn below this many levels, and once this much has been
/// spent, counted in characters.
const MAX_DEPTH: usize = 100;
const BUDGET: usize = 1 << 20;
const VALUE_COST: usize = 32;
const COMBINED_COST: usize = 32;
/// Draws for an item, or a key, that is not there yet.
const UNIQUE_TRIES: usize = 200;

const COMBINED: [&str; 4] = ["$ref", "allOf", "anyOf", "oneOf"];

pub(super) struct Drawer<'a> {
    root: &'a Value,
    heights: Heights<'a>,
    rng: Rng,
    depth: usize,
    drawn: usize,
    left: usize,
}

impl<'a> Drawer<'a> {
    pub(super) fn new(root: &'a Value, rng: Rng) -> Self {
        Self { root, heights: Heights::new(root), rng, depth: 0, drawn: 0, left: BUDGET }
    }

    /// A value that `schema`, a part of the root, admits.
    pub(super) fn value(&mut self, schema: &Value) -> Value {
        self.drawn += 1;
        let drawn = self.deeper(VALUE_COST, |drawer| {
            let schema = drawer.flat(schema);
            drawer.flat_value(&schema)
        });
        drawn.unwrap_or_default()
    }

    fn is_lean(&self) -> bool {
        self.depth > LEAN_DEPTH || self.drawn > LEAN_DRAWN
    }

    /// Runs `draw` one level deeper; `None` where the schema has led nowhere for too long.
    fn deeper<T>(&mut self, cost: usize, draw: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= MAX_DEPTH || self.left < cost {
            return None;
        }
        self.depth += 1;
        self.left -= cost;
        let drawn = draw(self);
        self.depth -= 1;
        Some(drawn)
    }

    /// The schema with its references and combinations resolved into one set of keywords.
    fn flat<'s>(&mut self, schema: &'s Value) -> Cow<'s, Schema>
    where
        'a: 's,
    {
        let map = match schema {
            Value::Object(map) => map,
            Value::Bool(false) => return Cow::Owned(never()),
            _ => return Cow::default(),
        };
        if !COMBINED.iter().any(|key| map.contains_key(*key)) {
            return Cow::Borrowed(map);
        }
        let flat = self.deeper(COMBINED_COST, |drawer| {
            let own = map.iter().filter(|(key, _)| !COMBINED.contains(&key.as_str()));
            let mut all: Schema = own.map(|(key, value)| (key.clone(), value.clone())).collect();
            let referred =
                map.get("$ref").and_then(Value::as_str).and_then(|name| resolve(drawer.root, name));
            let mut parts: Vec<&Value> = referred.into_iter().chain(each(map, "allOf")).collect();
            parts.extend(["anyOf", "oneOf"].iter().filter_map(|key| drawer.branch(map, key)));
            if let ([only], true) = (parts.as_slice(), all.is_empty()) {
                return drawer.flat(only);
            }
            for part in parts {
                merge(&mut all, &drawer.flat(part));
            }
            Cow::Owned(all)
        });
        flat.unwrap_or_else(|| Cow::Owned(never()))
    }

    fn branch<'s>(&mut self, map: &'s Schema, key: &str) -> Option<&'s Value> {
        let open: Vec<&Value> = each(map, key).filter(|branch| !self.heights.is_never(branch)).collect();
        if self.is_lean() {
            return open.into_iter().min_by_key(|branch| self.heights.of(branch));
        }
        self.rng.pick(&open).copied().or(each(map, key).next())
    }

    fn flat_value(&mut self, schema: &Schema) -> Value {
        let kinds = kinds(schema);
        if let Some(only) = schema.get("const") {
            return only.clone();
        }
        if schema.contains_key("enum") {
            let typed = schema.contains_key("type");
            let fits = |v: &&Value| !typed || kinds.iter().any(|kind| kind.admits(v));
            let values: Vec<&Value> = each(schema, "enum").filter(fits).collect();
            return self.rng.pick(&values).copied().cloned().unwrap_or_default();
        }
        let kind = if self.is_lean() { kinds.iter().min() } else { self.rng.pick(&kinds) };
        match kind {
            None | Some(Kind::Null) => Value::Null,
            Some(Kind::Boolean) => Value::Bool(self.rng.chance(1, 2)),
            Some(Kind::Integer) => number::integer(schema, &mut self.rng),
            Some(Kind::Number) => number::number(schema, &mut self.rng),
            Some(Kind::String) => Value::String(self.string(schema)),
            Some(Kind::Array) => self.array(schema),
            Some(Kind::Object) => self.object(schema),
        }
    }

    fn string(&mut self, schema: &Schema) -> String {
        let text = string::string(schema, &mut self.rng, self.left);
        self.left = self.left.saturating_sub(text.len());
        text
    }

    fn array(&mut self, schema: &Schema) -> Value {
        let prefix: Vec<&Value> = each(schema, "prefixItems").collect();
        let items = schema.get("items");
        let (min, max) = bounds(schema, "minItems", "maxItems");
        let can_go_on = match items {
            Some(items) => !self.heights.is_never(items),
            None => prefix.is_empty(),
        };
        let possible = prefix.iter().take_while(|item| !self.heights.is_never(item)).count();
        let count = if self.is_lean() {
            min
        } else if can_go_on && possible == prefix.len() {
            let from = prefix.len().max(min).max(1).min(max);
            self.rng.between(from, from.saturating_add(2).min(max))
        } else {
            possible.min(max).max(min)
        };
        let unique = schema.get("uniqueItems") == Some(&Value::Bool(true));
        let mut out = Vec::new();
        while out.len() < count && self.left > 0 {
            let item = prefix.get(out.len()).copied().or(items).unwrap_or(&Value::Bool(true));
            let tries = if unique { UNIQUE_TRIES } else { 1 };
            let fresh = (0..tries).map(|_| self.value(item)).find(|item| !unique || !out.contains(item));
            match fresh {
                Some(item) => out.push(item),
                None => break,
            }
        }
        Value::Array(out)
    }

    fn object(&mut self, schema: &Schema) -> Value {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required: HashSet<&str> = each(schema, "required").filter_map(Value::as_str).collect();
        let (min, max) = bounds(schema, "minProperties", "maxProperties");
        let mut room = max.saturating_sub(required.len());
        let mut out = Map::new();
        let mut left_out = Vec::new();
        for (name, property) in properties {
            let is_required = required.contains(name.as_str());
            let is_wanted = room > 0 && !self.is_lean() && self.rng.chance(3, 4);
            if is_required || (is_wanted && !self.heights.is_never(property)) {
                room -= usize::from(!is_required);
                out.insert(name.clone(), self.value(property));
            } else {
                left_out.push((name, property));
            }
        }
        for name in each(schema, "required").filter_map(Value::as_str) {
            if !out.contains_key(name) {
                let other = schema.get("additionalProperties").unwrap_or(&Value::Bool(true));
                out.insert(name.to_owned(), self.value(other));
            }
        }
        for (name, property) in left_out {
            if out.len() < min && !self.heights.is_never(property) {
                out.insert(name.clone(), self.value(property));
            }
        }
        self.entries(schema, properties, min..=max, &mut out);
        Value::Object(out)
    }

    /// Adds what a map holds beside named properties.
    fn entries(
        &mut self,
        schema: &Schema,
        properties: &Schema,
        size: RangeInclusive<usize>,
        out: &mut Schema,
    ) {
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
        let wanted = if is_map && !self.is_lean() { self.rng.between(1, 3) } else { 0 };
        let target = out.len().saturating_add(wanted).clamp(*size.start(), (*size.end()).max(*size.start()));
        while out.len() < target && self.left > 0 {
            let key = (0..UNIQUE_TRIES)
                .map(|_| self.key(schema, pattern.as_ref()))
                .find(|key| !out.contains_key(key) && !properties.contains_key(key));
            let Some(key) = key else { return };
            let value = self.value(entry);
            out.insert(key, value);
        }
    }

    fn key(&mut self, schema: &Schema, pattern: Option<&Pattern>) -> String {
        if let Some(key) = pattern.and_then(|pattern| pattern.draw(&mut self.rng, 0)) {
            return key;
        }
        let named = schema.get("propertyNames").map(|names| self.value(names));
        match named {
            Some(Value::String(key)) => key,
            _ => format!("{}_{}", string::word(&mut self.rng), self.rng.between(1, 999)),
        }
    }
}

/// The schema that nothing satisfies.
fn never() -> Schema {
    Map::from_iter([("enum".to_owned(), Value::Array(Vec::new()))])
}
