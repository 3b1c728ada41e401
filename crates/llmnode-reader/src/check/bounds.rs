//! Whether a schema states bounds that serde does not check.

use serde_json::{Value, json};

use super::text_format::TextFormat;
use crate::tree::{Node, children};

/// Without the bounds that schemars writes for integer types: serde checks those.
pub(crate) fn any(schema: &Value) -> bool {
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        let Some(node) = schema.as_object() else {
            continue;
        };
        let own = |keyword: &str| match node.get("format").and_then(Value::as_str) {
            Some(format) => intrinsic_bound(format, keyword),
            None => Value::Null,
        };
        let is_bound = |keyword: &str| {
            let begins = ["min", "max", "exclusiveM"]
                .iter()
                .any(|begin| keyword.starts_with(begin));
            (begins || keyword == "multipleOf") && !(keyword.ends_with("Items") && is_tuple(node))
        };
        let format = node
            .get("format")
            .and_then(Value::as_str)
            .and_then(TextFormat::named);
        if format.is_some()
            || node
                .iter()
                .any(|(keyword, bound)| is_bound(keyword) && *bound != own(keyword))
        {
            return true;
        }
        open.extend(children(node));
    }
    false
}

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

/// Whose length serde checks.
fn is_tuple(node: &Node) -> bool {
    let length = node
        .get("prefixItems")
        .and_then(Value::as_array)
        .map(|items| json!(items.len()));
    length.is_some()
        && node.get("minItems") == length.as_ref()
        && node.get("maxItems") == length.as_ref()
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;

    fn states<T: JsonSchema>() -> bool {
        super::any(schemars::schema_for!(T).as_value())
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
