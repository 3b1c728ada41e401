//! Whether a JSON value is what a schema says, with words that a model can act on.
//!
//! Only keywords that are checked are let in (see [`supported`](super::supported)), so that no rule is silently passed
//! over.

use std::cell::Cell;

use serde_json::{Map, Number, Value};

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
        self.work.set(self.work.get() + 1);
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
            listed(node, value).map(|allowed| Violation { allowed, ..here("is not allowed".into()) }),
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

fn is_integer(number: &Number) -> bool {
    !number.is_f64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
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

/// The values that are allowed, if this one is none of them.
fn listed(node: &Map<String, Value>, value: &Value) -> Option<Vec<String>> {
    let only = node.get("const").map(std::slice::from_ref);
    let choices = || node.get("enum").and_then(Value::as_array).map(Vec::as_slice);
    let choices = only.or_else(choices)?;
    let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let fits = choices.iter().any(|choice| same(choice, value));
    (!fits).then(|| choices.iter().take(100).map(shown).collect())
}

/// Whether a number fits to the one in the schema.
type Fits = fn(f64, f64) -> bool;

fn number_faults(node: &Map<String, Value>, number: &Number) -> impl Iterator<Item = String> {
    let bounds: [(&str, Fits, &str); 5] = [
        ("minimum", |value, bound| value >= bound, "at least"),
        ("maximum", |value, bound| value <= bound, "at most"),
        ("exclusiveMinimum", |value, bound| value > bound, "more than"),
        ("exclusiveMaximum", |value, bound| value < bound, "less than"),
        ("multipleOf", is_multiple, "a multiple of"),
    ];
    bounds.into_iter().filter_map(move |(keyword, fits, words)| {
        let bound = node.get(keyword)?;
        let fits = fits(number.as_f64()?, bound.as_f64()?);
        (!fits).then(|| format!("is {number}, must be {words} {bound}"))
    })
}

/// Up to what floating point makes of it: 0.3 is a multiple of 0.1.
fn is_multiple(value: f64, of: f64) -> bool {
    let times = value / of;
    (times - times.round()).abs() <= 1e-9 * times.abs().max(1.0)
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
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
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
mod tests {
    use serde_json::json;

    use super::*;

    fn said(schema: &Value, value: &Value) -> Vec<String> {
        violations(schema, value).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_keyword_accepts_and_rejects() {
        for (schema, good, bad, message) in [
            (
                json!({"type": "integer"}),
                json!(1.0),
                json!(1.5),
                "is a number with a fraction, expected integer",
            ),
            (
                json!({"type": ["string", "null"]}),
                json!(null),
                json!([]),
                "is an array, expected string or null",
            ),
            (json!({"enum": ["a", 1]}), json!(1.0), json!("b"), r#"is not allowed; allowed: "a", "1""#),
            (
                json!({"const": {"a": [1]}}),
                json!({"a": [1.0]}),
                json!({"a": 1}),
                r#"is not allowed; allowed: "{\"a\":[1]}""#,
            ),
            (json!({"required": ["a"]}), json!({"a": null}), json!({}), "lacks the member `a`"),
            (
                json!({"properties": {"a": {"type": "null"}}}),
                json!({"b": 1}),
                json!({"a": 1}),
                "a: is an integer, expected null",
            ),
            (
                json!({"properties": {"a": {}}, "additionalProperties": false}),
                json!({"a": 1}),
                json!({"b": 1}),
                r#"has no member `b`; allowed: "a""#,
            ),
            (
                json!({"additionalProperties": {"type": "string"}}),
                json!({"b": ""}),
                json!({"b": 1}),
                "b: is an integer, expected string",
            ),
            (json!({"properties": {"a": false}}), json!({}), json!({"a": 1}), "a: must not be there"),
            (json!({"minProperties": 1}), json!({"a": 1}), json!({}), "has 0 members, must have at least 1"),
            (
                json!({"items": {"type": "string"}}),
                json!(["a"]),
                json!(["a", 1]),
                "[1]: is an integer, expected string",
            ),
            (
                json!({"prefixItems": [{"type": "null"}], "items": false}),
                json!([null]),
                json!([null, 1]),
                "[1]: must not be there",
            ),
            (json!({"maxItems": 1}), json!([1]), json!([1, 2]), "has 2 items, must have at most 1"),
            (json!({"uniqueItems": true}), json!([1, 2]), json!([1, 2, 1.0]), "[2]: stands there twice"),
            (json!({"minLength": 2}), json!("äö"), json!("ä"), "has 1 characters, must have at least 2"),
            (json!({"minimum": 1}), json!(1), json!(0), "is 0, must be at least 1"),
            (json!({"maximum": 1.5}), json!(1.5), json!(2), "is 2, must be at most 1.5"),
            (json!({"exclusiveMinimum": 1}), json!(2), json!(1), "is 1, must be more than 1"),
            (json!({"exclusiveMaximum": 1}), json!(0), json!(1), "is 1, must be less than 1"),
            (json!({"multipleOf": 0.1}), json!(0.3), json!(0.35), "is 0.35, must be a multiple of 0.1"),
            (
                json!({"allOf": [{"minimum": 1}, {"maximum": 2}]}),
                json!(1),
                json!(3),
                "is 3, must be at most 2",
            ),
            (
                json!({"anyOf": [{"minimum": 1}, {"type": "string"}]}),
                json!(1),
                json!(0),
                "is 0, must be at least 1 (or another of 2 forms)",
            ),
            (
                json!({"oneOf": [{"minimum": 1}, {"minimum": 2}]}),
                json!(1),
                json!(2),
                "fits 2 of the forms of which it may have one",
            ),
            (json!({"not": {"type": "null"}}), json!(1), json!(null), "is of a form that is excluded"),
            (
                json!({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"type": "null"}}}),
                json!(null),
                json!(1),
                "is an integer, expected null",
            ),
        ] {
            assert_eq!(said(&schema, &good), Vec::<String>::new(), "{schema}");
            assert_eq!(said(&schema, &bad), [message], "{schema}");
        }
    }

    #[test]
    fn all_that_is_wrong_is_said_with_its_path() {
        let item = json!({"type": "object", "properties": {"n": {"minimum": 0}}, "required": ["n"]});
        let schema = json!({"properties": {"items": {"items": item}, "name": {"type": "string"}}});
        let value = json!({"items": [{"n": -1}, {}, 7], "name": null});
        assert_eq!(
            said(&schema, &value),
            [
                "items[0].n: is -1, must be at least 0",
                "items[1]: lacks the member `n`",
                "items[2]: is an integer, expected object",
                "name: is null, expected string",
            ]
        );
    }

    #[test]
    fn recursion_into_the_value_ends_and_recursion_on_the_spot_is_known() {
        let tree =
            json!({"type": "object", "properties": {"child": {"$ref": "#"}}, "additionalProperties": false});
        assert!(ends(&tree, &tree));
        assert_eq!(
            said(&tree, &json!({"child": {"child": {"x": 1}}})),
            [r#"child.child: has no member `x`; allowed: "child""#]
        );
        for endless in
            [json!({"$ref": "#"}), json!({"type": "object", "anyOf": [{}, {"not": {"$ref": "#"}}]})]
        {
            assert!(!ends(&endless, &endless));
        }
    }

    #[test]
    fn what_takes_too_long_is_no_pass() {
        let node = json!({"anyOf": [
            {"properties": {"a": {"$ref": "#"}}, "required": ["b"]},
            {"properties": {"a": {"$ref": "#"}}, "required": ["c"]},
        ]});
        let deep = (0..100).fold(json!({}), |inner, _| json!({"a": inner}));
        assert!(said(&node, &deep)[0].contains("to be checked"));
        let long = json!((0..10_000).collect::<Vec<_>>());
        assert!(said(&json!({"uniqueItems": true}), &long)[0].contains("to be checked"));
    }
}
