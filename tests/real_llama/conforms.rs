//! Whether a JSON value conforms to a JSON schema: the keywords that the schemas here use, and an error for any other, so
//! that nothing passes unchecked.

use serde_json::{Map, Value};

/// The value's path, for messages, and the root that `$ref`s start from.
struct Place<'a> {
    root: &'a Value,
    path: String,
}

/// `Err`: the first fault that was found.
pub(crate) fn conforms(value: &Value, schema: &Value) -> Result<(), String> {
    Place {
        root: schema,
        path: "$".into(),
    }
    .check(value, schema)
}

impl Place<'_> {
    fn at(&self, step: &str) -> Self {
        Place {
            root: self.root,
            path: format!("{}.{step}", self.path),
        }
    }

    fn holds(&self, holds: bool, what: impl std::fmt::Display) -> Result<(), String> {
        if holds {
            Ok(())
        } else {
            Err(format!("{}: {what}", self.path))
        }
    }

    fn check(&self, value: &Value, schema: &Value) -> Result<(), String> {
        let Value::Object(schema) = schema else {
            return self.holds(schema == &Value::Bool(true), "no value is allowed");
        };
        schema
            .iter()
            .try_for_each(|(keyword, limit)| self.keyword(value, keyword, limit, schema))
    }

    fn keyword(
        &self,
        value: &Value,
        keyword: &str,
        limit: &Value,
        schema: &Map<String, Value>,
    ) -> Result<(), String> {
        let fault = || format!("{value} against {keyword} {limit}");
        match keyword {
            "$ref" => self.check(value, self.referred(limit.as_str().unwrap())),
            "type" => self.holds(types(limit).any(|name| is(value, name)), fault()),
            "const" => self.holds(value == limit, fault()),
            "enum" => self.holds(limit.as_array().unwrap().contains(value), fault()),
            "anyOf" => self.holds(self.matches(value, limit) > 0, fault()),
            "oneOf" => self.holds(self.matches(value, limit) == 1, fault()),
            "properties" | "additionalProperties" | "patternProperties" => {
                self.properties(value, keyword, limit, schema)
            }
            "required" => {
                let has = |name: &Value| value.get(name.as_str().unwrap()).is_some();
                self.holds(
                    !value.is_object() || limit.as_array().unwrap().iter().all(has),
                    fault(),
                )
            }
            "items" | "prefixItems" => self.items(value, keyword, limit, schema),
            "minItems" => self.holds(
                value.as_array().is_none_or(|all| all.len() >= size(limit)),
                fault(),
            ),
            "maxItems" => self.holds(
                value.as_array().is_none_or(|all| all.len() <= size(limit)),
                fault(),
            ),
            "minLength" => self.holds(
                value
                    .as_str()
                    .is_none_or(|s| s.chars().count() >= size(limit)),
                fault(),
            ),
            "maxLength" => self.holds(
                value
                    .as_str()
                    .is_none_or(|s| s.chars().count() <= size(limit)),
                fault(),
            ),
            "minimum" => self.holds(
                value.as_f64().is_none_or(|n| n >= limit.as_f64().unwrap()),
                fault(),
            ),
            "maximum" => self.holds(
                value.as_f64().is_none_or(|n| n <= limit.as_f64().unwrap()),
                fault(),
            ),
            "exclusiveMinimum" => self.holds(
                value.as_f64().is_none_or(|n| n > limit.as_f64().unwrap()),
                fault(),
            ),
            "exclusiveMaximum" => self.holds(
                value.as_f64().is_none_or(|n| n < limit.as_f64().unwrap()),
                fault(),
            ),
            "uniqueItems" => {
                let items = value.as_array().map_or(&[][..], Vec::as_slice);
                let twice = items
                    .iter()
                    .enumerate()
                    .any(|(at, item)| items[..at].contains(item));
                self.holds(limit != true || !twice, fault())
            }
            // Notes, and `pattern`, which the tests check by hand.
            "$defs" | "default" | "description" | "format" | "pattern" => Ok(()),
            _ => self.holds(
                false,
                format_args!("the keyword {keyword} is unknown to this check"),
            ),
        }
    }

    fn referred(&self, reference: &str) -> &Value {
        self.root
            .pointer(reference.trim_start_matches('#'))
            .unwrap()
    }

    fn matches(&self, value: &Value, branches: &Value) -> usize {
        let branches = branches.as_array().unwrap().iter();
        branches
            .filter(|branch| self.check(value, branch).is_ok())
            .count()
    }

    fn properties(
        &self,
        value: &Value,
        keyword: &str,
        limit: &Value,
        schema: &Map<String, Value>,
    ) -> Result<(), String> {
        // Patterns are those of maps with integer keys.
        let by_pattern = |name: &str| {
            let patterns = schema.get("patternProperties").and_then(Value::as_object)?;
            patterns
                .values()
                .next()
                .filter(|_| name.parse::<i128>().is_ok())
        };
        let known = |name: &str| {
            let named = schema.get("properties").and_then(|known| known.get(name));
            named.or_else(|| by_pattern(name))
        };
        value
            .as_object()
            .into_iter()
            .flatten()
            .try_for_each(|(name, member)| match (keyword, known(name)) {
                ("properties" | "patternProperties", Some(schema)) => {
                    self.at(name).check(member, schema)
                }
                ("additionalProperties", None) => self.at(name).check(member, limit),
                _ => Ok(()),
            })
    }

    fn items(
        &self,
        value: &Value,
        keyword: &str,
        limit: &Value,
        schema: &Map<String, Value>,
    ) -> Result<(), String> {
        let prefix = schema
            .get("prefixItems")
            .and_then(Value::as_array)
            .map_or(0, Vec::len);
        value
            .as_array()
            .into_iter()
            .flatten()
            .enumerate()
            .try_for_each(|(index, item)| match keyword {
                "prefixItems" if index < prefix => {
                    self.at(&index.to_string()).check(item, &limit[index])
                }
                "items" if index >= prefix => self.at(&index.to_string()).check(item, limit),
                _ => Ok(()),
            })
    }
}

fn size(limit: &Value) -> usize {
    usize::try_from(limit.as_u64().unwrap()).unwrap()
}

fn types(limit: &Value) -> impl Iterator<Item = &str> {
    let one = limit.as_str();
    one.into_iter().chain(
        limit
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str),
    )
}

fn is(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0)
        }
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

#[test]
fn the_check_finds_faults() {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A"}, "t": {"prefixItems": [{"type": "string"}], "items": false}},
        "required": ["a"],
        "additionalProperties": {"maxLength": 2},
        "$defs": {"A": {"anyOf": [{"type": "integer", "minimum": 3}, {"type": ["null", "boolean"]}]}},
    });
    let found = |text: &str| conforms(&serde_json::from_str(text).unwrap(), &schema);
    for good in [
        r#"{"a": 3}"#,
        r#"{"a": null, "t": ["x"]}"#,
        r#"{"a": true, "b": "xy"}"#,
    ] {
        assert_eq!(found(good), Ok(()));
    }
    for bad in [
        "[]",
        "{}",
        r#"{"a": 2}"#,
        r#"{"a": "x"}"#,
        r#"{"a": 3, "t": [1]}"#,
        r#"{"a": 3, "t": ["x", 1]}"#,
    ] {
        assert!(found(bad).is_err(), "{bad}");
    }
    assert!(
        found(r#"{"a": 3, "b": "xyz"}"#)
            .unwrap_err()
            .starts_with("$.b: ")
    );
    assert!(conforms(&Value::Null, &serde_json::json!({"multipleOf": 5})).is_err());
}
