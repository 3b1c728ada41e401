//! Finds a value for a schema and, through it, for its parts.

use serde_json::Value;

use super::height::Heights;
use super::keywords::{Kind, Schema, each, kinds};
use super::nth::Nth;
use super::{number, string};

/// After this many values only what is required is added, by the shortest way.
const MANY_VALUES: usize = 256;
/// Where a schema offers no way out at all, `null` is the value below this many levels, and once this much has
/// been spent, counted in characters.
const MAX_DEPTH: usize = 100;
const BUDGET: usize = 1 << 20;
const VALUE_COST: usize = 32;

pub(super) struct Finder<'a> {
    pub(super) root: &'a Value,
    pub(super) heights: Heights<'a>,
    pub(super) nth: Nth,
    /// The references that lead to the current value.
    open: Vec<String>,
    /// Whether one of them appears twice.
    recursing: bool,
    depth: usize,
    values: usize,
    pub(super) left: usize,
}

impl<'a> Finder<'a> {
    pub(super) fn new(root: &'a Value, nth: Nth) -> Self {
        Self {
            root,
            heights: Heights::new(root),
            nth,
            open: vec!["#".to_owned()],
            recursing: false,
            depth: 0,
            values: 0,
            left: BUDGET,
        }
    }

    /// A value that `schema`, a part of the root, allows.
    pub(super) fn value(&mut self, schema: &Value) -> Value {
        self.values += 1;
        let (open, recursing) = (self.open.len(), self.recursing);
        let found = self.deeper(VALUE_COST, |finder| {
            let schema = finder.flat(schema);
            finder.flat_value(&schema)
        });
        self.open.truncate(open);
        self.recursing = recursing;
        found.unwrap_or_default()
    }

    /// Whether to end by the shortest way: a type is within itself, or the value has grown large.
    pub(super) fn is_short(&self) -> bool {
        self.recursing || self.values > MANY_VALUES
    }

    pub(super) fn follow(&mut self, reference: &str) {
        self.recursing |= self.open.iter().any(|open| open == reference);
        self.open.push(reference.to_owned());
    }

    /// Runs `find` one level deeper; `None` where the schema has led nowhere for too long.
    pub(super) fn deeper<T>(&mut self, cost: usize, find: impl FnOnce(&mut Self) -> T) -> Option<T> {
        // What leads nowhere costs as much, or a list could take as many of it as it is told to.
        let paid = self.left.checked_sub(cost);
        self.left = paid.unwrap_or(0);
        if self.depth >= MAX_DEPTH || paid.is_none() {
            return None;
        }
        self.depth += 1;
        let found = find(self);
        self.depth -= 1;
        Some(found)
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
            return values.get(self.nth.choose(values.len())).copied().cloned().unwrap_or_default();
        }
        let kind = if self.is_short() { kinds.iter().min() } else { kinds.get(self.nth.choose(kinds.len())) };
        match kind {
            None | Some(Kind::Null) => Value::Null,
            Some(Kind::Boolean) => Value::Bool(self.nth.choose(2) == 1),
            Some(Kind::Integer) => number::integer(schema, &mut self.nth),
            Some(Kind::Number) => number::number(schema, &mut self.nth),
            Some(Kind::String) => Value::String(self.string(schema)),
            Some(Kind::Array) => self.array(schema),
            Some(Kind::Object) => self.object(schema),
        }
    }

    fn string(&mut self, schema: &Schema) -> String {
        let text = string::string(schema, &mut self.nth, self.left);
        self.left = self.left.saturating_sub(text.len());
        text
    }
}
