//! Values that a person typed: into a form, or on a command line.

use llmnode_model::internal::inexact_number;
use serde_json::Value;

use super::json;
use super::schema_check::schema_mismatch;

/// Nothing that a person types nests deeper.
const DEPTH: usize = 64;

/// Reads JSON. What would be read as something else than what is written is refused: a number with more digits than are kept, and
/// a name that occurs twice.
pub fn exact_json(text: &str) -> Result<Value, String> {
    let document = json::read(text, DEPTH).map_err(|error| format!("it is no JSON: {error}"))?;
    if let Some(name) = document.duplicates.first() {
        return Err(format!("{name} is there twice"));
    }
    match inexact_number(text) {
        None => Ok(document.value),
        Some(number) => Err(format!(
            "the number {number} has more digits than are kept; if it is a name or an account, write it as a text, in quotes"
        )),
    }
}

/// Reads the text of an input by its schema: a text stays one, and what is no text is JSON. `None`: nothing was typed.
pub fn typed_input(schema: Option<&Value>, text: &str) -> Result<Option<Value>, String> {
    let as_text = Value::String(text.to_owned());
    let rules = schema.unwrap_or(&Value::Null);
    if let Some(choices) = rules.get("enum").and_then(Value::as_array) {
        let chosen = choices
            .iter()
            .find(|choice| **choice == as_text || is_written_as(choice, text));
        return Ok(Some(chosen.cloned().unwrap_or(as_text)));
    }
    if rules.get("type").and_then(Value::as_str) == Some("string") {
        return Ok(Some(as_text));
    }
    if text.trim().is_empty() {
        return Ok(None);
    }
    match exact_json(text) {
        Ok(value) if fits(schema, &value) || !fits(schema, &as_text) => Ok(Some(value)),
        Ok(_) => Ok(Some(as_text)),
        // A text that happens to look like JSON, such as an account, stays as it is.
        Err(_) if fits(schema, &as_text) => Ok(Some(as_text)),
        Err(why) => Err(format!("{why}{}", how_to_write(rules, text))),
    }
}

/// What to write for a value of this type, to those who typed something else.
fn how_to_write(rules: &Value, text: &str) -> &'static str {
    let is_json = serde_json::from_str::<Value>(text).is_ok();
    match rules.get("type").and_then(Value::as_str) {
        Some("array") if !is_json => r#"; write a list as ["a", "b"]"#,
        Some("object") if !is_json => r#"; write an object as {"a": "b"}"#,
        Some("integer") if !is_json => "; write a whole number, such as 3",
        Some("number") if !is_json => "; write a number, such as 2.5",
        Some("boolean") if !is_json => "; write true or false",
        _ => "",
    }
}

fn is_written_as(choice: &Value, text: &str) -> bool {
    serde_json::to_string(choice).is_ok_and(|json| json == text)
}

fn fits(schema: Option<&Value>, value: &Value) -> bool {
    match schema {
        Some(schema) => schema_mismatch(schema, value).is_none(),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_input_is_read_by_its_schema() {
        let string = json!({"type": "string"});
        let integer = json!({"type": "integer"});
        let either = json!({"type": ["string", "null"]});
        let choice = json!({"enum": ["a", 1, true]});
        for (schema, text, expected) in [
            (Some(&string), "5", json!("5")),
            (Some(&string), "", json!("")),
            (Some(&integer), "5", json!(5)),
            (
                Some(&integer),
                "9007199254740993",
                json!(9_007_199_254_740_993_u64),
            ),
            (Some(&integer), "[5]", json!([5])),
            (Some(&either), "5", json!("5")),
            (Some(&either), "null", json!(null)),
            (Some(&choice), "\"a\"", json!("a")),
            (Some(&choice), "a", json!("a")),
            (Some(&choice), "1", json!(1)),
            (None, "5", json!(5)),
            (None, "hello", json!("hello")),
            (
                None,
                "123456789012345678901",
                json!("123456789012345678901"),
            ),
        ] {
            assert_eq!(typed_input(schema, text), Ok(Some(expected)), "{text}");
        }
        assert_eq!(typed_input(Some(&integer), " "), Ok(None));
        assert_eq!(typed_input(None, ""), Ok(None));
        let refused = typed_input(Some(&integer), "123456789012345678901").unwrap_err();
        assert!(
            refused.contains("123456789012345678901 has more digits"),
            "{refused}"
        );
        let list = json!({"type": "array"});
        let refused = typed_input(Some(&list), "a, b").unwrap_err();
        assert!(
            refused.ends_with(r#"; write a list as ["a", "b"]"#),
            "{refused}"
        );
        for (kind, remedy) in [
            ("integer", "; write a whole number, such as 3"),
            ("number", "; write a number, such as 2.5"),
            ("boolean", "; write true or false"),
        ] {
            let refused = typed_input(Some(&json!({"type": kind})), "five").unwrap_err();
            assert!(
                refused.contains("no JSON") && refused.ends_with(remedy),
                "{refused}"
            );
        }
    }

    #[test]
    fn json_that_would_be_read_as_something_else_is_refused() {
        assert_eq!(exact_json(" {\"a\": 1.50} "), Ok(json!({"a": 1.5})));
        for (text, why) in [
            ("{\"a\": 1", "no JSON"),
            ("{\"a\": 1, \"a\": 99999}", "twice"),
            ("{\"a\": 123456789012345678901}", "more digits"),
        ] {
            assert!(exact_json(text).unwrap_err().contains(why), "{text}");
        }
    }
}
