//! A value that fills in a form of llmnode's: JSON with what belongs in each place in angle brackets.

use serde_json::{Map, Value, json};

/// For recursive forms.
const MAX_DEPTH: usize = 30;

/// `text` ends with the form and the definitions that it names.
pub(super) fn filled(text: &str) -> Option<Value> {
    let form = text.split_once("of this form")?.1;
    let begins = form.find("\n{")?;
    Filler {
        rest: &form[begins + 1..],
        form,
        depth: 0,
    }
    .value()
}

struct Filler<'a> {
    rest: &'a str,
    form: &'a str,
    depth: usize,
}

impl<'a> Filler<'a> {
    fn value(&mut self) -> Option<Value> {
        if self.depth > MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let value = if self.take("{") {
            self.members()?
        } else if self.take("[") {
            self.items()?
        } else if self.take("\"<") {
            let words = self.until(">\"")?;
            let length = number_in(words, "of ").map_or(4, |least| {
                if words.contains("at most") {
                    least.min(4)
                } else {
                    least
                }
            });
            json!(
                "text"
                    .chars()
                    .cycle()
                    .take(usize::try_from(length).ok()?)
                    .collect::<String>()
            )
        } else if self.rest.trim_start().starts_with('<') {
            self.placeholder()?
        } else {
            self.literal()?
        };
        self.depth -= 1;
        while self.take("or ") {
            self.value()?;
        }
        Some(value)
    }

    fn members(&mut self) -> Option<Value> {
        let mut members = Map::new();
        while !self.take("}") {
            if self.take(",") || self.take("...") {
                continue;
            }
            let Value::String(name) = self.literal()? else {
                return None;
            };
            self.take(":");
            let value = self.value()?;
            self.note();
            if !self.take("(may be left out)") && name != "<name>" {
                members.insert(name, value);
            }
        }
        Some(Value::Object(members))
    }

    fn items(&mut self) -> Option<Value> {
        let mut items = Vec::new();
        let mut repeats = false;
        while !self.take("]") {
            if self.take(",") {
                continue;
            }
            if self.take("...") {
                repeats = true;
                continue;
            }
            items.push(self.value()?);
            self.note();
        }
        let note = self.note().unwrap_or_default();
        if repeats {
            let item = items.pop()?;
            let least = if note.contains("at most") {
                0
            } else {
                number_in(note, "").unwrap_or(0)
            };
            items = vec![item; usize::try_from(least).ok()?.min(1000)];
        }
        Some(Value::Array(items))
    }

    fn placeholder(&mut self) -> Option<Value> {
        self.take("<");
        if self.take("one of ") {
            let first = self.literal()?;
            while self.take(",") {
                self.literal()?;
            }
            self.until(">")?;
            return Some(first);
        }
        let words = self.until(">")?;
        let kind = words.split([',', ':']).next().unwrap_or_default();
        Some(match kind.split(" from ").next().unwrap_or_default() {
            "true or false" => json!(false),
            "any JSON value" => json!("text"),
            "whole number" | "number" => {
                let least = number_in(words, "from ").or_else(|| number_in(words, ", "));
                json!(least.unwrap_or(0))
            }
            name => return self.defined(name),
        })
    }

    fn defined(&mut self, name: &str) -> Option<Value> {
        let definition = self.form.split_once(&format!("\nwhere <{name}> is"))?.1;
        let rest = match definition.split_once(": ") {
            Some((between, rest)) if !between.contains("the whole form again") => rest,
            _ => &self.form[self.form.find("\n{")? + 1..],
        };
        Filler {
            rest,
            form: self.form,
            depth: self.depth,
        }
        .value()
    }

    fn note(&mut self) -> Option<&'a str> {
        self.take("<").then(|| self.until(">"))?
    }

    fn literal(&mut self) -> Option<Value> {
        let mut values = serde_json::Deserializer::from_str(self.rest).into_iter::<Value>();
        let value = values.next()?.ok()?;
        self.rest = &self.rest[values.byte_offset()..];
        Some(value)
    }

    fn take(&mut self, words: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(words);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn until(&mut self, end: &str) -> Option<&'a str> {
        let (words, rest) = self.rest.split_once(end)?;
        self.rest = rest;
        Some(words)
    }
}

fn number_in(words: &str, before: &str) -> Option<i64> {
    let rest = words.split_once(before)?.1.trim_start_matches("at most ");
    let digits = rest
        .find(|c: char| !c.is_ascii_digit() && c != '-')
        .unwrap_or(rest.len());
    rest[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_filled_in() {
        for (form, value) in [
            (
                r#"{"a": "<text: of it>", "b": <whole number from 3 to 9: how many>, "c": <true or false>}"#,
                json!({"a": "text", "b": 3, "c": false}),
            ),
            (
                r#"{"a": <one of "x>", "y": which> or null, "b": ["<text>", ...] <2 items or more>}"#,
                json!({"a": "x>", "b": ["text", "text"]}),
            ),
            (
                r#"{"a": {"b": <number>} <it>, "c": "<text>" (may be left out), "d": {"<name>": <number>, ...}}"#,
                json!({"a": {"b": 0}, "d": {}}),
            ),
            (
                "{\"a\": <A>, \"b\": [<A>, ...]}\nwhere <A> is (an A): {\"do\": \"x\", \"t\": [<number>, \"<text>\"]}\nor {\"do\": \"y\"}",
                json!({"a": {"do": "x", "t": [0, "text"]}, "b": []}),
            ),
        ] {
            assert_eq!(
                filled(&format!(
                    "Be brief.\n\nAnswer with one JSON object of this form. Do.\n{form}"
                )),
                Some(value),
                "{form}"
            );
        }
        assert_eq!(filled("of this form.\n{\"a\": <B>}"), None);
    }
}
