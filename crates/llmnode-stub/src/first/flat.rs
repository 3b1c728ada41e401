//! A schema with its references and combinations resolved into one set of keywords.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::finder::Finder;
use super::keywords::{Schema, each, resolve};
use super::merge::merge;

const COMBINED: [&str; 4] = ["$ref", "allOf", "anyOf", "oneOf"];
const COMBINED_COST: usize = 32;

impl<'a> Finder<'a> {
    pub(super) fn flat<'s>(&mut self, schema: &'s Value) -> Cow<'s, Schema>
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
        let flat = self.deeper(COMBINED_COST, |finder| {
            let own = map.iter().filter(|(key, _)| !COMBINED.contains(&key.as_str()));
            let mut all: Schema = own.map(|(key, value)| (key.clone(), value.clone())).collect();
            let parts = finder.parts(map);
            if let ([only], true) = (parts.as_slice(), all.is_empty()) {
                return only.first().map_or_else(|| Cow::Owned(never()), |part| finder.flat(part));
            }
            for alternatives in parts {
                all = finder.joined(all, &alternatives);
            }
            Cow::Owned(all)
        });
        flat.unwrap_or_else(|| Cow::Owned(never()))
    }

    /// What the schema demands beside its own keywords: one out of each of these lists.
    fn parts<'s>(&mut self, map: &'s Schema) -> Vec<Vec<&'s Value>>
    where
        'a: 's,
    {
        let mut parts = Vec::new();
        if let Some(name) = map.get("$ref").and_then(Value::as_str) {
            self.follow(name);
            parts.extend(resolve(self.root, name).map(|target| vec![target]));
        }
        parts.extend(each(map, "allOf").map(|part| vec![part]));
        for key in ["anyOf", "oneOf"] {
            if each(map, key).next().is_some() {
                parts.push(self.branches(map, key));
            }
        }
        parts
    }

    /// The branches that some value satisfies, the preferred one first.
    fn branches<'s>(&mut self, map: &'s Schema, key: &str) -> Vec<&'s Value> {
        let mut open: Vec<&Value> = each(map, key).filter(|branch| !self.heights.is_never(branch)).collect();
        if self.is_short() {
            open.sort_by_cached_key(|branch| self.heights.of(branch));
        } else {
            let chosen = self.nth.choose(open.len());
            open.rotate_left(chosen);
        }
        open
    }

    /// `all` together with the first of the alternatives that does not contradict it.
    fn joined(&mut self, mut all: Schema, alternatives: &[&Value]) -> Schema {
        if let [only] = alternatives {
            merge(&mut all, &self.flat(only));
            return all;
        }
        for alternative in alternatives {
            let mut both = all.clone();
            merge(&mut both, &self.flat(alternative));
            if !is_impossible(&both) {
                return both;
            }
        }
        never()
    }
}

/// Whether no type or no value is left.
fn is_impossible(schema: &Schema) -> bool {
    let is_empty = |key: &str| schema.get(key).and_then(Value::as_array).is_some_and(Vec::is_empty);
    is_empty("type") || is_empty("enum")
}

/// The schema that nothing satisfies.
fn never() -> Schema {
    Map::from_iter([("enum".to_owned(), Value::Array(Vec::new()))])
}
