//! What one object of a schema says.

use serde_json::Value;

use super::super::schema::{Node, is_annotation, percent_decoded};

/// The schema that a reference within the schema leads to.
pub(crate) fn target<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    let pointer = reference.strip_prefix('#')?;
    root.pointer(pointer).or_else(|| root.pointer(&percent_decoded(pointer)?))
}

pub(in crate::output) fn list<'s>(node: &'s Node, keyword: &str) -> &'s [Value] {
    node.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// What a schema says, found in one look at its keywords: most say no more than a type.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::output) struct Said<'s> {
    pub(in crate::output) types: Option<&'s Value>,
    /// `const` or `enum`.
    pub(in crate::output) lists: bool,
    /// A reference, a union or another combination.
    pub(in crate::output) combines: bool,
    /// A bound of numbers or lengths.
    pub(in crate::output) bounds: bool,
    /// Anything at all that is no annotation.
    pub(in crate::output) anything: bool,
}

impl<'s> Said<'s> {
    pub(in crate::output) fn of(node: &'s Node) -> Self {
        let mut said = Said::default();
        for (key, value) in node {
            match key.as_str() {
                "type" => said.types = Some(value),
                "const" | "enum" => said.lists = true,
                "$ref" | "allOf" | "anyOf" | "oneOf" | "not" => said.combines = true,
                "properties" | "required" | "items" | "prefixItems" | "additionalProperties" => {}
                key if is_annotation(key) => continue,
                _ => said.bounds = true,
            }
            said.anything = true;
        }
        said
    }

    /// Whether one of its types is one; without any, each is.
    pub(in crate::output) fn is_type(&self, is_one: impl Fn(&str) -> bool) -> bool {
        match self.types {
            None => true,
            Some(Value::String(only)) => is_one(only),
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).any(is_one),
            Some(_) => false,
        }
    }
}

/// The members that have to be there.
pub(in crate::output) fn required(node: &Node) -> impl Iterator<Item = &str> {
    list(node, "required").iter().filter_map(Value::as_str)
}

pub(in crate::output) fn properties(node: &Node) -> Option<&Node> {
    node.get("properties")?.as_object()
}

/// The schema of a member; `None`: nothing is said of it.
pub(in crate::output) fn member_schema<'s>(node: &'s Node, name: &str) -> Option<&'s Value> {
    let named = properties(node).and_then(|named| named.get(name));
    let by_pattern = || {
        let patterns = node.get("patternProperties")?.as_object()?;
        patterns.iter().find(|(pattern, _)| matches(pattern, name)).map(|(_, schema)| schema)
    };
    let other = || node.get("additionalProperties").filter(|schema| **schema != Value::Bool(false));
    named.or_else(by_pattern).or_else(other)
}

/// Whether members of which nothing is said are forbidden. Not so where they may be of a pattern, which is not matched.
pub(super) fn is_closed(node: &Node) -> bool {
    let patterns = node.get("patternProperties").and_then(Value::as_object);
    node.get("additionalProperties") == Some(&Value::Bool(false))
        && patterns.is_none_or(|patterns| patterns.keys().all(|pattern| is_known(pattern)))
}

/// The patterns that schemars writes for the keys of maps that are numbers.
fn is_known(pattern: &str) -> bool {
    matches!(pattern, r"^\d+$" | r"^-?\d+$")
}

fn matches(pattern: &str, name: &str) -> bool {
    let digits = if pattern == r"^-?\d+$" { name.strip_prefix('-').unwrap_or(name) } else { name };
    is_known(pattern) && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
