use super::*;

/// How a value is written that is nearly JSON.
#[derive(Debug, Clone, Copy)]
struct Style {
    quote: (char, char),
    bare_keys: bool,
    commas: bool,
    comments: bool,
    python: bool,
    raw: bool,
    spaces: bool,
}

fn any_style() -> impl Strategy<Value = Style> {
    let quote = prop_oneof![Just(('"', '"')), Just(('\'', '\'')), Just(('“', '”')), Just(('`', '`'))];
    (quote, any::<[bool; 6]>()).prop_map(|(quote, [bare_keys, commas, comments, python, raw, spaces])| {
        Style { quote, bare_keys, commas, comments, python, raw, spaces }
    })
}

impl Style {
    fn write(self, value: &Value, to: &mut String) {
        match value {
            Value::Null if self.python => to.push_str("None"),
            Value::Bool(value) if self.python => to.push_str(if *value { "True" } else { "False" }),
            Value::String(text) => self.string(text, to),
            Value::Array(items) => {
                to.push('[');
                for item in items {
                    self.gap(to);
                    self.write(item, to);
                    to.push(',');
                }
                self.close(!items.is_empty(), ']', to);
            }
            Value::Object(members) => {
                to.push('{');
                for (key, value) in members {
                    self.gap(to);
                    if self.bare_keys && !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_lowercase())
                    {
                        to.push_str(key);
                    } else {
                        self.string(key, to);
                    }
                    self.gap(to);
                    to.push(':');
                    self.gap(to);
                    self.write(value, to);
                    to.push(',');
                }
                self.close(!members.is_empty(), '}', to);
            }
            other => to.push_str(&other.to_string()),
        }
    }

    fn close(self, items: bool, closer: char, to: &mut String) {
        if items && !self.commas {
            to.pop();
        }
        self.gap(to);
        to.push(closer);
    }

    fn gap(self, to: &mut String) {
        to.push_str(if self.comments { " /* {it's} */ // [\n" } else { "" });
        to.push_str(if self.spaces { "\u{3000}\u{200b}" } else { "" });
    }

    /// In this style's quotes, if those can hold the text.
    fn string(self, text: &str, to: &mut String) {
        let marks = ['“', '”', '`', '´'];
        let (open, close) = if text.contains(marks) || text.contains("${") { ('"', '"') } else { self.quote };
        let json = Value::from(text).to_string();
        let mut inner = json[1..json.len() - 1].to_owned();
        if open != '"' {
            inner = inner.replace("\\\"", "\"");
        }
        if open == '\'' {
            inner = inner.replace('\'', "\\'");
        }
        if self.raw && !inner.contains("\\\\") && !inner.ends_with("\\n") && !inner.ends_with("\\r") {
            inner = inner.replace("\\n", "\n").replace("\\t", "\t");
        }
        to.push(open);
        to.push_str(&inner);
        to.push(close);
    }
}

proptest! {
    #[test]
    fn a_mangled_value_is_read_back_equal_and_flagged(value in any_json(), style in any_style(), list: bool) {
        let value = if list { json!([value, "end"]) } else { json!({"it": value, "end": true}) };
        let mut text = String::new();
        style.write(&value, &mut text);
        let read = read_value(&text, Effort::Repair);
        let read = read.map_err(|violations| TestCaseError::fail(format!("{text}: {}", violations[0])))?;
        let value: Value = serde_json::from_str(&value.to_string()).unwrap();
        prop_assert_eq!(&read.value, &value, "{}", text);
        prop_assert_eq!(read.notes.is_empty(), serde_json::from_str::<Value>(&text).is_ok(), "{}", text);
        prop_assert!(flags(&read.notes).iter().all(|flag| matches!(flag, Flag::Repaired(_))), "{:?}", read.notes);
    }

    #[test]
    fn what_is_not_flagged_as_repaired_is_json_in_the_text(
        parts in proptest::collection::vec(
            prop_oneof![
                Just("{"), Just("}"), Just("["), Just("]"), Just("\""), Just("'"), Just(":"), Just(","), Just("\\"), Just("nul"),
                Just("\"a\":1"), Just("a"), Just("```"), Just("\n"), Just("//"), Just("/*"), Just("*/"), Just("#"), Just("<think>"),
                Just("</think>"), Just("“"), Just("”"), Just("é"), Just("\u{feff}"), Just("12"), Just("."), Just("-"), Just(" "), Just("("), Just("f("), Just(")"),
            ],
            0..40,
        ),
        object: bool,
    ) {
        let text = parts.concat();
        if let Ok(found) = find_json(&text, wanted(object)) {
            let is_repaired = flags(&found.notes).iter().any(|flag| matches!(flag, Flag::Repaired(_)));
            prop_assert!(is_repaired || text.contains(&*found.json), "{}", text);
            prop_assert!(serde_json::from_str::<serde::de::IgnoredAny>(&found.json).is_ok(), "{}", text);
        }
        let strict = Wanted { object, repaired: false };
        if let Ok(found) = find_json(&text, strict) {
            prop_assert!(text.contains(&*found.json));
            // What is JSON is read alike, or refused for what may be meant as JSON beside it.
            let lenient = find_json(&text, wanted(object));
            prop_assert!(lenient.is_err() || lenient.unwrap().json == found.json, "{}", text);
        }
    }
}
