//! Whether a schema states bounds that serde does not check.
//!
//! If it states none, the fast path may leave the answer to serde. So what serde
//! checks by the type alone, such as the range of an integer or the length of a
//! tuple, must not count, or nearly every answer would be checked twice.

use serde_json::{Value, json};

use super::text_format::TextFormat;
use crate::tree::{Node, children};

/// Whether a bound stands anywhere in the schema that the types themselves do not have.
pub(crate) fn states_bounds(schema: &Value) -> bool {
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        let Some(node) = schema.as_object() else {
            continue;
        };
        if states_bound(node) {
            return true;
        }
        open.extend(children(node));
    }
    false
}

/// The same of one part of the schema, without those in it.
fn states_bound(node: &Node) -> bool {
    let format = node.get("format").and_then(Value::as_str);
    if format.is_some_and(|format| TextFormat::named(format).is_some()) {
        return true;
    }
    for (keyword, bound) in node {
        let intrinsic = match format {
            Some(format) => intrinsic_bound(format, keyword),
            None => Value::Null,
        };
        if is_bound(node, keyword) && *bound != intrinsic {
            return true;
        }
    }
    false
}

/// Whether the keyword states a bound: `minimum`, `maxLength`, `exclusiveMinimum`, `multipleOf`.
fn is_bound(node: &Node, keyword: &str) -> bool {
    let is_limit = ["min", "max", "exclusiveM"]
        .iter()
        .any(|begin| keyword.starts_with(begin));
    let is_length_of_tuple = keyword.ends_with("Items") && is_tuple(node);
    (is_limit || keyword == "multipleOf") && !is_length_of_tuple
}

/// The bound that schemars writes for an integer of this format. `null`: it writes none.
fn intrinsic_bound(format: &str, keyword: &str) -> Value {
    let (least, most) = match format {
        "int8" => (json!(i8::MIN), json!(i8::MAX)),
        "int16" => (json!(i16::MIN), json!(i16::MAX)),
        "uint8" => (json!(0), json!(u8::MAX)),
        "uint16" => (json!(0), json!(u16::MAX)),
        "uint32" | "uint64" | "uint128" | "uint" => (json!(0), Value::Null),
        _ => (Value::Null, Value::Null),
    };
    match keyword {
        "minimum" => least,
        "maximum" => most,
        _ => Value::Null,
    }
}

/// Whether it is of one length, with a schema for each item. serde checks the
/// length of such a type.
fn is_tuple(node: &Node) -> bool {
    let Some(Value::Array(items)) = node.get("prefixItems") else {
        return false;
    };
    let length = json!(items.len());
    node.get("minItems") == Some(&length) && node.get("maxItems") == Some(&length)
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;

    fn states<T: JsonSchema>() -> bool {
        super::states_bounds(schemars::schema_for!(T).as_value())
    }

    #[allow(dead_code, reason = "only its schema counts")]
    #[derive(JsonSchema)]
    struct Plain {
        a: (u8, i8, u16, i16, u32, i32, u64, i64, u128, usize),
        b: Vec<Option<f32>>,
        c: std::collections::BTreeMap<u32, std::collections::HashSet<String>>,
    }

    #[allow(dead_code, reason = "only its schema counts")]
    #[derive(JsonSchema)]
    struct Bounded<T> {
        #[schemars(range(min = 0))]
        at_least_zero: T,
    }

    #[allow(dead_code, reason = "only its schema counts")]
    #[derive(JsonSchema)]
    struct Few {
        #[schemars(length(max = 3))]
        names: Vec<String>,
    }

    #[test]
    fn the_bounds_of_a_type_itself_do_not_count() {
        assert!(!states::<Plain>());
        assert!(!states::<Bounded<u64>>(), "it is the type's own bound");
        assert!(states::<Bounded<i64>>() && states::<Bounded<f64>>() && states::<Vec<Few>>());
    }
}
