//! What single keywords of a schema say.

use serde_json::{Map, Value};

/// The keywords of a schema that is an object.
pub(super) type Schema = Map<String, Value>;

/// The elements of an array keyword.
pub(super) fn each<'m>(map: &'m Schema, key: &str) -> impl Iterator<Item = &'m Value> {
    map.get(key).and_then(Value::as_array).into_iter().flatten()
}

/// A least and a greatest number of items or properties.
pub(super) fn bounds(schema: &Schema, min: &str, max: &str) -> (usize, usize) {
    let bound = |key: &str| schema.get(key).and_then(Value::as_u64);
    let bound = |key: &str| bound(key).map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    (bound(min).unwrap_or(0), bound(max).unwrap_or(usize::MAX))
}

/// What the root's reference `name` refers to: the root itself, or a part of it by its JSON pointer.
pub(super) fn resolve<'a>(root: &'a Value, name: &str) -> Option<&'a Value> {
    root.pointer(name.strip_prefix('#')?)
}

/// The type of a value, the simplest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "string" => Self::String,
            "array" => Self::Array,
            "object" => Self::Object,
            _ => return None,
        })
    }

    pub(super) fn admits(self, value: &Value) -> bool {
        match self {
            Self::Null => value.is_null(),
            Self::Boolean => value.is_boolean(),
            Self::Integer => value.as_f64().is_some_and(|x| x.fract() == 0.0),
            Self::Number => value.is_number(),
            Self::String => value.is_string(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
        }
    }
}

/// The types that a schema names; where it names none, the one that its keywords are about.
pub(super) fn kinds(schema: &Schema) -> Vec<Kind> {
    match schema.get("type") {
        Some(Value::String(name)) => Kind::named(name).into_iter().collect(),
        Some(_) => each(schema, "type").filter_map(Value::as_str).filter_map(Kind::named).collect(),
        None => {
            let has = |keys: &[&str]| keys.iter().any(|key| schema.contains_key(*key));
            let object =
                ["properties", "required", "additionalProperties", "patternProperties", "minProperties"];
            let number = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
            vec![if has(&object) {
                Kind::Object
            } else if has(&["items", "prefixItems", "minItems", "uniqueItems"]) {
                Kind::Array
            } else if has(&number) {
                Kind::Number
            } else {
                Kind::String
            }]
        }
    }
}
