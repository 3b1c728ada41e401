//! Writes values as models do that know JSON from hearsay. All is left out that has another meaning.

use serde_json::Value;

use super::draw::Draw;
use super::values::MARK;

/// `value` in a text: nearly JSON, and other words around it.
pub(crate) fn text(value: &Value, draw: &mut Draw<'_>) -> String {
    let mut writer = Writer {
        text: String::new(),
        faults: if draw.once_in(4) { 1 } else { 5 },
        draw,
    };
    writer.value(value);
    let json = writer.text;
    match draw.below(8) {
        0 => format!("Here it is:\n{json}\nAnything else?"),
        1 => format!("```json\n{json}\n```"),
        2 => format!("Sure!\n\n```\n{json}\n```\nAnything else?"),
        3 => format!("<think>\nA {{draft}}: {{\"a\": 1}}\n</think>\n{json}"),
        4 => format!("\u{feff}{json}\n"),
        5 => format!("```js\nconst answer = {json};\n```"),
        _ => json,
    }
}

struct Writer<'d, 'b> {
    text: String,
    /// Once in so many places something is wrong.
    faults: usize,
    draw: &'d mut Draw<'b>,
}

impl Writer<'_, '_> {
    fn fault(&mut self) -> bool {
        self.draw.once_in(self.faults + 1)
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.literal("null", "None"),
            Value::Bool(true) => self.literal("true", "True"),
            Value::Bool(false) => self.literal("false", "False"),
            Value::Number(number) => self.push(&number.to_string()),
            Value::String(text) => self.string(text),
            Value::Array(items) => {
                self.push("[");
                for (index, item) in items.iter().enumerate() {
                    self.before(index);
                    self.value(item);
                }
                self.close("]", items.is_empty());
            }
            Value::Object(members) => {
                self.push("{");
                for (index, (key, value)) in members.iter().enumerate() {
                    self.before(index);
                    self.key(key);
                    self.push(if self.text.len().is_multiple_of(2) {
                        ":"
                    } else {
                        ": "
                    });
                    self.value(value);
                }
                self.close("}", members.is_empty());
            }
        }
    }

    fn literal(&mut self, json: &str, python: &str) {
        let literal = if self.fault() { python } else { json };
        self.push(literal);
    }

    fn before(&mut self, index: usize) {
        if index > 0 {
            self.push(",");
        }
        self.space();
    }

    fn space(&mut self) {
        if !self.fault() {
            return;
        }
        let space = self.draw.of(&[
            " ",
            "\n  ",
            "\r\n",
            "// a {comment}, \"too\"\n",
            "/* one: 'x' */",
            "# and\n",
            "\u{a0}",
        ]);
        self.push(space);
    }

    fn close(&mut self, closer: &str, empty: bool) {
        if !empty && self.fault() {
            self.push(",");
        }
        self.space();
        self.push(closer);
    }

    fn key(&mut self, key: &str) {
        let word = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_lowercase());
        if word && self.fault() {
            self.push(key)
        } else {
            self.string(key)
        }
    }

    fn string(&mut self, text: &str) {
        let quoted = Value::from(text).to_string();
        let inner = &quoted[1..quoted.len() - 1];
        let written = if !self.fault() {
            quoted.clone()
        } else {
            match self.draw.below(4) {
                0 => format!("'{}'", inner.replace('\'', "\\'")),
                1 => format!("'{}'", inner.replace('\'', "\\'").replace("\\\"", "\"")),
                2 => quoted.replace("\\n", "\n").replace("\\t", "\t"),
                _ if !text.contains(['“', '”']) => format!("“{inner}”"),
                _ => quoted.clone(),
            }
        };
        // A line end that is one only behind a backslash that was escaped.
        let written = if text.contains('\\') { quoted } else { written };
        self.push(&written);
    }
}

/// The text with a lone surrogate in its first marked string in quotes, which is then no string of any value.
pub(crate) fn poisoned(text: &str) -> Option<String> {
    let quoted = format!("\"{MARK}\"");
    (text.contains(&quoted) && !text.contains("</think>"))
        .then(|| text.replacen(&quoted, "\"\\ud800\"", 1))
}

/// Takes the end away, or nothing.
pub(crate) fn cut(text: &mut String, draw: &mut Draw<'_>) {
    let at = draw.below(text.len() + 1);
    if let Some(at) = (at..=text.len())
        .find(|at| text.is_char_boundary(*at))
        .filter(|at| *at > 0)
    {
        text.truncate(at);
    }
}

/// Puts in, takes away or replaces a few characters.
pub(crate) fn change(text: &mut String, draw: &mut Draw<'_>) {
    const PARTS: [&str; 24] = [
        "\"", "'", ",", ":", "{", "}", "[", "]", "\\", "\n", "/", "*", "#", "`", " ", "1", "e",
        ".", "-", "null", "“", "\u{0}", "\\u", "é",
    ];
    for _ in 0..=draw.below(3) {
        let at = draw.below(text.len() + 1);
        let Some(at) = (at..=text.len()).find(|at| text.is_char_boundary(*at)) else {
            continue;
        };
        if draw.once_in(2) && at < text.len() {
            text.remove(at);
        }
        if draw.once_in(2) {
            text.insert_str(at, draw.of(&PARTS));
        }
    }
}
