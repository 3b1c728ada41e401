//! Values and types as Python writes them.

use std::fmt::Write;

use serde_json::{Map, Value, json};

/// `json.dumps(value, ensure_ascii=False)`.
pub(super) fn json(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<_> = members
                .iter()
                .map(|(name, value)| format!("{}: {}", quoted(name), json(value)))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Array(items) => format!(
            "[{}]",
            items.iter().map(json).collect::<Vec<_>>().join(", ")
        ),
        Value::String(text) => quoted(text),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(figure) => float(figure),
            None => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// `json.dumps(value, ensure_ascii=False, indent=2)`.
pub(crate) fn indented(value: &Value) -> String {
    let mut text = String::new();
    indent(value, 0, &mut text);
    text
}

fn indent(value: &Value, depth: usize, to: &mut String) {
    let pad = "  ".repeat(depth + 1);
    let (open, close) = match value {
        Value::Object(members) if !members.is_empty() => ('{', '}'),
        Value::Array(items) if !items.is_empty() => ('[', ']'),
        other => return to.push_str(&json(other)),
    };
    to.push(open);
    match value {
        Value::Object(members) => {
            for (at, (name, value)) in members.iter().enumerate() {
                begin_line(at, &pad, to);
                let _ = write!(to, "{}: ", quoted(name));
                indent(value, depth + 1, to);
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                begin_line(at, &pad, to);
                indent(value, depth + 1, to);
            }
        }
        _ => {}
    }
    to.push('\n');
    to.push_str(&"  ".repeat(depth));
    to.push(close);
}

/// The line of a member or an item: the ones before it end with a comma.
fn begin_line(at: usize, pad: &str, to: &mut String) {
    to.push_str(if at == 0 { "\n" } else { ",\n" });
    to.push_str(pad);
}

/// serde_json and Python escape the same characters.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// `repr` of a float.
fn float(figure: f64) -> String {
    let written = format!("{figure:e}");
    let Some((mantissa, exponent)) = written.split_once('e') else {
        return written;
    };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if figure != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    let plain = figure.to_string();
    if plain.contains('.') {
        plain
    } else {
        plain + ".0"
    }
}

/// `str(value)`.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        other => json(other),
    }
}

pub(super) fn annotation(schema: &Value) -> String {
    let Some(members) = schema.as_object() else {
        return "Any".to_owned();
    };
    if let Some(choices) = choices(schema) {
        let choices: Vec<_> = choices.iter().map(literal).collect();
        return format!("Literal[{}]", choices.join(", "));
    }
    if let Some(forms) = ["anyOf", "oneOf"]
        .iter()
        .find_map(|key| members.get(*key)?.as_array())
    {
        return union(forms.iter().map(annotation).collect());
    }
    if let Some(target) = members.get("$ref").and_then(Value::as_str) {
        return target.rsplit('/').next().unwrap_or("Any").to_owned();
    }
    match members.get("type") {
        Some(Value::String(kind)) => kind_annotation(kind, members),
        Some(Value::Array(kinds)) => union(
            kinds
                .iter()
                .filter_map(Value::as_str)
                .map(|kind| kind_annotation(kind, members))
                .collect(),
        ),
        _ => "Any".to_owned(),
    }
}

fn union(forms: Vec<String>) -> String {
    match &forms[..] {
        [one] => one.clone(),
        _ => format!("Union[{}]", forms.join(", ")),
    }
}

fn annotation_of(schema: &Map<String, Value>, keyword: &str) -> String {
    schema
        .get(keyword)
        .map_or_else(|| "Any".to_owned(), annotation)
}

fn kind_annotation(kind: &str, schema: &Map<String, Value>) -> String {
    match kind {
        "string" => "str".to_owned(),
        "integer" => "int".to_owned(),
        "number" => "float".to_owned(),
        "boolean" => "bool".to_owned(),
        "null" => "NoneType".to_owned(),
        "array" => match schema.get("prefixItems").and_then(Value::as_array) {
            Some(items) => format!(
                "tuple[{}]",
                items.iter().map(annotation).collect::<Vec<_>>().join(", ")
            ),
            None => {
                let kind = if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
                    "set"
                } else {
                    "list"
                };
                format!("{kind}[{}]", annotation_of(schema, "items"))
            }
        },
        "object" if schema.contains_key("properties") => schema
            .get("title")
            .and_then(Value::as_str)
            .unwrap_or("dict[str, Any]")
            .to_owned(),
        "object" => {
            format!(
                "dict[str, {}]",
                annotation_of(schema, "additionalProperties")
            )
        }
        _ => "Any".to_owned(),
    }
}

pub(super) fn choices(schema: &Value) -> Option<Vec<Value>> {
    if let Some(values) = schema.get("enum") {
        return values.as_array().cloned();
    }
    if let Some(value) = schema.get("const") {
        return Some(vec![value.clone()]);
    }
    let forms = schema.get("oneOf")?.as_array()?;
    let all: Option<Vec<Vec<Value>>> = forms.iter().map(choices).collect();
    all.map(|all| all.concat())
}

fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => match (text.contains('\''), text.contains('"')) {
            (true, false) => format!("\"{text}\""),
            (true, true) => format!("'{}'", text.replace('\'', "\\'")),
            _ => format!("'{text}'"),
        },
        other => self::text(other),
    }
}

/// DSPy's words for the bounds of a scalar.
pub(super) fn constraints(schema: &Value) -> Option<String> {
    const WORDS: [(&str, &str); 7] = [
        ("exclusiveMinimum", "greater than: "),
        ("minimum", "greater than or equal to: "),
        ("exclusiveMaximum", "less than: "),
        ("maximum", "less than or equal to: "),
        ("minLength", "minimum length: "),
        ("maxLength", "maximum length: "),
        ("multipleOf", "a multiple of the given number: "),
    ];
    let scalar = schema
        .get("type")?
        .as_str()
        .filter(|kind| matches!(*kind, "string" | "integer" | "number"));
    let members = scalar.and(schema.as_object())?;
    let bounds: Vec<_> = members
        .iter()
        .filter_map(|(name, value): (&String, &Value)| {
            let (_, words) = WORDS.iter().find(|(keyword, _)| keyword == name)?;
            Some(format!("{words}{}", text(value)))
        })
        .collect();
    (!bounds.is_empty()).then(|| bounds.join(", "))
}

/// pydantic's form: a nullable type is a union of two, and a number has no format.
pub(super) fn to_pydantic(schema: &Value) -> Value {
    /// Members that stay outside the union.
    const OUTER: [&str; 5] = ["$defs", "default", "description", "examples", "title"];
    let Value::Object(members) = schema else {
        return match schema {
            Value::Array(items) => items.iter().map(to_pydantic).collect(),
            other => other.clone(),
        };
    };
    let kinds: Vec<&str> = match members.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let is_number = kinds
        .iter()
        .any(|kind| matches!(*kind, "integer" | "number"));
    let members = members
        .iter()
        .filter(|(name, value)| !(is_number && *name == "format" && value.is_string()));
    let members = members.map(|(name, value)| (name.clone(), to_pydantic(value)));
    if !(kinds.len() > 1 && kinds.contains(&"null")) {
        return Value::Object(members.collect());
    }
    let (mut outer, mut form): (Map<_, _>, Map<_, _>) =
        members.partition(|(name, _)| OUTER.contains(&name.as_str()));
    if let Some(Value::Array(choices)) = form.get_mut("enum") {
        choices.retain(|choice| !choice.is_null());
    }
    let others = kinds.iter().filter(|kind| **kind != "null").map(|kind| {
        form.insert("type".to_owned(), (*kind).into());
        Value::Object(form.clone())
    });
    let forms: Vec<Value> = others.chain([json!({"type": "null"})]).collect();
    outer.insert("anyOf".to_owned(), forms.into());
    Value::Object(outer)
}

/// DSPy's order: `type` first, then by name.
pub(super) fn sorted(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let mut members: Vec<_> = members
                .iter()
                .map(|(name, value)| (name.clone(), sorted(value)))
                .collect();
            members.sort_by(|(a, _), (b, _)| (a != "type", a).cmp(&(b != "type", b)));
            Value::Object(members.into_iter().collect())
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}
