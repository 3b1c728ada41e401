//! Whether a JSON value is what a schema says, with words that a model can act on.
//!
//! Only keywords that are checked are let in (see [`supported`](super::supported)), so that no rule is silently passed
//! over.

mod number;

use std::cell::Cell;
use std::cmp::Ordering;

use serde_json::{Map, Value};

use self::number::{compare, is_integer, number_faults};
use crate::validate::Violation;

/// How many schemas are applied to parts of one answer at most, and how deep within one another. What needs more
/// cannot be checked: unions nested in recursion would take for ever.
const WORK: u32 = 200_000;
const DEPTH: u32 = 320;

/// What is wrong with a value by a schema; `root` is what its references start from.
pub(super) fn violations(root: &Value, value: &Value) -> Vec<Violation> {
    let check = Check::new(root);
    let found = check.apply(root, value, "", 0);
    if check.ends() {
        return found;
    }
    vec![Violation::new("", "is nested too deeply, or is too long, to be checked against the schema")]
}

/// Whether this part of a schema can be applied at all: not if it refers to itself without going deeper.
pub(super) fn ends(root: &Value, schema: &Value) -> bool {
    let check = Check::new(root);
    // Nothing is inside `null`, so only the references and unions at this very place are followed.
    check.apply(schema, &Value::Null, "", 0);
    check.ends()
}

/// The schema that a reference within the schema leads to.
pub(super) fn target<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    root.pointer(reference.strip_prefix('#')?)
}

struct Check<'s> {
    root: &'s Value,
    work: Cell<u32>,
    exhausted: Cell<bool>,
}

impl<'s> Check<'s> {
    fn new(root: &'s Value) -> Self {
        Check { root, work: Cell::new(0), exhausted: Cell::new(false) }
    }

    fn ends(&self) -> bool {
        !self.exhausted.get()
    }

    /// What is wrong with `value`, which stands at `path`, by this part of the schema.
    fn apply(&self, schema: &Value, value: &Value, path: &str, depth: u32) -> Vec<Violation> {
        self.work.set(self.work.get().saturating_add(1));
        if depth > DEPTH || self.work.get() > WORK {
            self.exhausted.set(true);
            return Vec::new();
        }
        let node = match schema {
            Value::Object(node) => node,
            Value::Bool(false) => return vec![Violation::new(path, "must not be there")],
            _ => return Vec::new(),
        };
        let here = |message: String| Violation::new(path, message);
        let mut found = Vec::new();
        if !has_type(node, value) {
            found.push(here(format!("is {}, expected {}", kind(value), expected(node))));
        }
        found.extend(
            unlisted(node, value).map(|allowed| Violation { allowed, ..here("is not allowed".into()) }),
        );
        match value {
            Value::Number(number) => found.extend(number_faults(node, number).map(here)),
            Value::String(text) => {
                let length = text.chars().count() as u64;
                found.extend(count_fault(node, "minLength", "maxLength", length, "characters").map(here));
            }
            Value::Array(items) => self.array(node, items, path, depth, &mut found),
            Value::Object(members) => self.object(node, members, path, depth, &mut found),
            Value::Null | Value::Bool(_) => {}
        }
        self.combined(node, value, path, depth, &mut found);
        found
    }

    fn array(
        &self,
        node: &Map<String, Value>,
        items: &[Value],
        path: &str,
        depth: u32,
        found: &mut Vec<Violation>,
    ) {
        let here = |message: String| Violation::new(path, message);
        found.extend(count_fault(node, "minItems", "maxItems", items.len() as u64, "items").map(here));
        let prefix = list(node, "prefixItems");
        for (index, item) in items.iter().enumerate() {
            if let Some(schema) = prefix.get(index).or_else(|| node.get("items")) {
                found.extend(self.apply(schema, item, &format!("{path}[{index}]"), depth + 1));
            }
        }
        if node.get("uniqueItems") == Some(&Value::Bool(true)) {
            let again = |index: &usize| {
                self.work.set(self.work.get().saturating_add(u32::try_from(*index).unwrap_or(u32::MAX)));
                items[..*index].iter().any(|earlier| same(earlier, &items[*index]))
            };
            found.extend(
                (0..items.len())
                    .take_while(|_| self.work.get() <= WORK)
                    .find(again)
                    .map(|index| Violation::new(format!("{path}[{index}]"), "stands there twice")),
            );
            self.exhausted.set(self.exhausted.get() || self.work.get() > WORK);
        }
    }

    fn object(
        &self,
        node: &Map<String, Value>,
        members: &Map<String, Value>,
        path: &str,
        depth: u32,
        found: &mut Vec<Violation>,
    ) {
        let here = |message: String| Violation::new(path, message);
        let count = members.len() as u64;
        found.extend(count_fault(node, "minProperties", "maxProperties", count, "members").map(here));
        for name in list(node, "required").iter().filter_map(Value::as_str) {
            if !members.contains_key(name) {
                found.push(here(format!("lacks the member `{name}`")));
            }
        }
        let named = node.get("properties").and_then(Value::as_object);
        for (name, value) in members {
            let schema = named.and_then(|named| named.get(name));
            let inside = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            match schema.or_else(|| node.get("additionalProperties")) {
                None => {}
                Some(Value::Bool(false)) if schema.is_none() => {
                    let allowed = named.map(|named| named.keys().take(100).cloned().collect());
                    let unknown = here(format!("has no member `{name}`"));
                    found.push(Violation { allowed: allowed.unwrap_or_default(), ..unknown });
                }
                Some(schema) => found.extend(self.apply(schema, value, &inside, depth + 1)),
            }
        }
    }

    /// References and combinations. All of them are applied, also where one would decide: so [`ends`] sees every way.
    fn combined(
        &self,
        node: &Map<String, Value>,
        value: &Value,
        path: &str,
        depth: u32,
        found: &mut Vec<Violation>,
    ) {
        let apply = |schema: &Value| self.apply(schema, value, path, depth + 1);
        if let Some(schema) = node.get("$ref").and_then(Value::as_str).and_then(|to| target(self.root, to)) {
            found.extend(apply(schema));
        }
        found.extend(list(node, "allOf").iter().flat_map(apply));
        for keyword in ["anyOf", "oneOf"] {
            let outcomes: Vec<_> = list(node, keyword).iter().map(apply).collect();
            match outcomes.iter().filter(|outcome| outcome.is_empty()).count() {
                0 => found.extend(nearest(outcomes)),
                1 => {}
                _ if keyword == "anyOf" => {}
                fits => found
                    .push(Violation::new(path, format!("fits {fits} of the forms of which it may have one"))),
            }
        }
        if node.get("not").is_some_and(|schema| apply(schema).is_empty()) {
            found.push(Violation::new(path, "is of a form that is excluded"));
        }
    }
}

/// What keeps a value from the form that it is nearest to.
fn nearest(outcomes: Vec<Vec<Violation>>) -> Vec<Violation> {
    let forms = outcomes.len();
    let mut nearest = outcomes.into_iter().min_by_key(Vec::len).unwrap_or_default();
    if let Some(first) = nearest.first_mut().filter(|_| forms > 1) {
        first.message += &format!(" (or another of {forms} forms)");
    }
    nearest
}

fn list<'s>(node: &'s Map<String, Value>, keyword: &str) -> &'s [Value] {
    node.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn types(node: &Map<String, Value>) -> Vec<&str> {
    match node.get("type") {
        Some(Value::String(only)) => vec![only],
        _ => list(node, "type").iter().filter_map(Value::as_str).collect(),
    }
}

fn has_type(node: &Map<String, Value>, value: &Value) -> bool {
    let types = types(node);
    let fits = |name: &&str| match (*name, value) {
        ("integer", Value::Number(number)) => is_integer(number),
        ("number", Value::Number(_))
        | ("string", Value::String(_))
        | ("boolean", Value::Bool(_))
        | ("array", Value::Array(_))
        | ("object", Value::Object(_))
        | ("null", Value::Null) => true,
        _ => false,
    };
    types.is_empty() || types.iter().any(fits)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if is_integer(number) => "an integer",
        Value::Number(_) => "a number with a fraction",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn expected(node: &Map<String, Value>) -> String {
    types(node).join(" or ")
}

/// The values that are allowed, by `const` and by `enum`, where this one is none of them.
fn unlisted(node: &Map<String, Value>, value: &Value) -> impl Iterator<Item = Vec<String>> {
    let only = node.get("const").map(std::slice::from_ref);
    let choices = node.get("enum").and_then(Value::as_array).map(Vec::as_slice);
    let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let misses = move |choices: &&[Value]| !choices.iter().any(|choice| same(choice, value));
    let missed = [only, choices].into_iter().flatten().filter(misses);
    missed.map(move |choices| choices.iter().take(100).map(shown).collect())
}

fn count_fault(node: &Map<String, Value>, least: &str, most: &str, count: u64, what: &str) -> Option<String> {
    let bound = |keyword: &str| node.get(keyword).and_then(Value::as_u64);
    match (bound(least), bound(most)) {
        (Some(least), _) if count < least => Some(format!("has {count} {what}, must have at least {least}")),
        (_, Some(most)) if count > most => Some(format!("has {count} {what}, must have at most {most}")),
        _ => None,
    }
}

/// Equality as JSON Schema has it: `1` is `1.0`.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => compare(one, other) == Some(Ordering::Equal),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let member = |(name, value): (&String, &Value)| other.get(name).is_some_and(|it| same(value, it));
            one.len() == other.len() && one.iter().all(member)
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests;
