//! What the grammars of llama.cpp allow, by the precedence of its converter (`json-schema-to-grammar.cpp`). The order of
//! members aside.

use serde_json::{Map, Value};

pub(crate) fn llama_takes(root: &Value, value: &Value) -> bool {
    Grammar { root }.takes(root, value)
}

struct Grammar<'s> {
    root: &'s Value,
}

impl Grammar<'_> {
    fn takes(&self, schema: &Value, value: &Value) -> bool {
        let Some(node) = schema.as_object() else {
            panic!("the converter fails at {schema}")
        };
        if let Some(reference) = node.get("$ref").and_then(Value::as_str) {
            let path = reference.strip_prefix("#/").unwrap().split('/');
            // Names are not decoded.
            let target = path.fold(self.root, |schema, step| schema.get(step).unwrap());
            return self.takes(target, value);
        }
        if let Some(forms) = node
            .get("oneOf")
            .or(node.get("anyOf"))
            .and_then(Value::as_array)
        {
            return forms.iter().any(|form| self.takes(form, value));
        }
        if let Some(kinds) = node.get("type").and_then(Value::as_array) {
            return kinds.iter().any(|kind| {
                let mut one = node.clone();
                one.insert("type".into(), kind.clone());
                self.takes(&Value::Object(one), value)
            });
        }
        if let Some(only) = node.get("const") {
            return only == value;
        }
        if let Some(values) = node.get("enum").and_then(Value::as_array) {
            return values.contains(value);
        }
        self.of_kind(node, value)
    }

    fn of_kind(&self, node: &Map<String, Value>, value: &Value) -> bool {
        let kind = node.get("type").and_then(Value::as_str);
        let is = |name: &str| kind.is_none_or(|kind| kind == name);
        let rest = node.get("additionalProperties");
        if is("object")
            && (node.contains_key("properties") || rest.is_some_and(|rest| *rest != true))
        {
            return self.object(node, value);
        }
        if is("array") && (node.contains_key("items") || node.contains_key("prefixItems")) {
            let items = node.get("items").or(node.get("prefixItems")).unwrap();
            return value.as_array().is_some_and(|list| match items {
                Value::Array(places) => places.len() == list.len(),
                items => list.iter().all(|item| self.takes(items, item)),
            });
        }
        if let (true, Some(pattern)) = (is("string"), node.get("pattern").and_then(Value::as_str)) {
            assert!(
                pattern.starts_with('^') && pattern.ends_with('$'),
                "the converter fails at {pattern}"
            );
            return value.is_string();
        }
        match kind {
            _ if node.is_empty() => value.is_object(),
            None => true,
            Some("object") => value.is_object(),
            Some("array") => value.is_array(),
            Some("string") => value.is_string(),
            Some("number") => value.is_number(),
            Some("integer") => value.is_i64() || value.is_u64(),
            Some("boolean") => value.is_boolean(),
            Some("null") => value.is_null(),
            Some(other) => panic!("the converter fails at {other}"),
        }
    }

    fn object(&self, node: &Map<String, Value>, value: &Value) -> bool {
        let Some(members) = value.as_object() else {
            return false;
        };
        let known = |name: &str| node.get("properties").and_then(|all| all.get(name));
        let required = node
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let is_given = |name: &Value| {
            known(name.as_str().unwrap()).is_none() || members.contains_key(name.as_str().unwrap())
        };
        required.into_iter().all(is_given)
            && members.iter().all(|(name, member)| {
                match (known(name), node.get("additionalProperties")) {
                    (Some(schema), _) => self.takes(schema, member),
                    (None, Some(Value::Bool(is_free))) => *is_free,
                    (None, Some(schema)) => self.takes(schema, member),
                    (None, None) => false,
                }
            })
    }
}
