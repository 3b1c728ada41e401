//! What a model or a tool answered, for reading: texts with their lines, and JSON to fold.

use llmnode_model::internal::pretty;
use serde_json::Value;

use crate::html::Html;

/// Shorter JSON without lines in it is read as it is.
const SHORT: usize = 120;
/// Members and items that are shown one by one.
const MEMBERS: usize = 64;

/// Writes a text. A long object or list is written member by member, with its JSON to unfold.
pub fn reading(html: &mut Html, text: &str) {
    let value = if is_long(text) {
        serde_json::from_str(text).ok()
    } else {
        None
    };
    match value {
        Some(Value::Object(members)) if !members.is_empty() => {
            let members = members
                .iter()
                .take(MEMBERS)
                .map(|(name, value)| (name.clone(), value));
            all(html, members, text);
        }
        Some(Value::Array(items)) if !items.is_empty() => {
            let items = items.iter().take(MEMBERS).enumerate();
            all(
                html,
                items.map(|(at, value)| ((at + 1).to_string(), value)),
                text,
            );
        }
        _ => html.verbatim(text),
    }
}

fn is_long(text: &str) -> bool {
    let is_json = text.trim_start().starts_with(['{', '[']);
    is_json && (text.len() > SHORT || text.contains("\\n"))
}

fn all<'v>(html: &mut Html, members: impl Iterator<Item = (String, &'v Value)>, text: &str) {
    html.element("div", &[("class", "read")], |html| {
        for (name, value) in members {
            html.element("div", &[("class", "member")], |html| {
                html.leaf("span", "name", name);
                match value {
                    Value::String(text) => html.verbatim(text),
                    Value::Object(_) | Value::Array(_) => {
                        let json = serde_json::to_string_pretty(value).unwrap_or_default();
                        if json.len() <= SHORT {
                            html.verbatim(&value.to_string());
                        } else {
                            folded(html, &about(value), &json);
                        }
                    }
                    scalar => html.verbatim(&scalar.to_string()),
                }
            });
        }
        folded(
            html,
            "as JSON",
            &pretty(text).unwrap_or_else(|| text.to_owned()),
        );
    });
}

fn about(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(members) => format!("an object of {}", members.len()),
        _ => String::new(),
    }
}

/// A browser finds words in it, too, and unfolds it then.
pub(crate) fn folded(html: &mut Html, what: &str, text: &str) {
    html.element("details", &[("class", "json")], |html| {
        html.leaf("summary", "", what);
        html.verbatim(text);
    });
}
