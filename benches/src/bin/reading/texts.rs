//! What is read: the answers of a model that reports what is in stock, in many ways of writing.

use llmnode::llm_output;
use serde_json::{Value, json};

#[llm_output]
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub title: String,
    pub complete: bool,
    pub lines: Vec<Line>,
}

#[llm_output]
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub name: String,
    pub quantity: u32,
    pub price: f64,
    pub in_stock: bool,
    pub color: Color,
    pub note: Option<String>,
    pub tags: Vec<String>,
}

#[llm_output]
#[derive(Clone, Debug, PartialEq)]
pub enum Color {
    Red,
    Green,
    Blue,
}

/// A report of lines that may leave members out: strict mode makes a model write them as `null`.
#[llm_output]
#[derive(Clone, Debug, PartialEq)]
pub struct Sparse {
    pub title: String,
    pub complete: bool,
    pub lines: Vec<SparseLine>,
}

#[llm_output]
#[derive(Clone, Debug, PartialEq)]
pub struct SparseLine {
    pub name: String,
    pub quantity: u32,
    pub price: f64,
    pub in_stock: bool,
    pub color: Color,
    pub note: Option<String>,
    pub tags: Vec<String>,
    #[serde(default)]
    pub shelf: u32,
}

impl Report {
    /// A report whose compact JSON has about so many bytes.
    pub fn of_bytes(bytes: usize) -> Report {
        let mut report = Report {
            title: "Stock of the week".to_owned(),
            complete: true,
            lines: Vec::new(),
        };
        let mut length = 0;
        while length < bytes {
            let line = Line::nth(report.lines.len());
            length += serde_json::to_string(&line).unwrap().len() + 1;
            report.lines.push(line);
        }
        report
    }

    pub fn value(&self) -> Value {
        serde_json::to_value(self).unwrap()
    }
}

impl Line {
    // No comma stands within a string: jsonrepair 0.1 ends strings there, and would have no figures.
    fn nth(n: usize) -> Line {
        const NAMES: [&str; 4] = [
            "lamp",
            "oil lamp of brass",
            "rope of 30 m",
            "Schlüssel (alt)",
        ];
        Line {
            name: format!("{} {n}", NAMES[n % 4]),
            quantity: (n * 7 % 100) as u32,
            price: n as f64 / 4.0 + 0.25,
            in_stock: n.is_multiple_of(3),
            color: [Color::Red, Color::Green, Color::Blue][n % 3].clone(),
            note: (!n.is_multiple_of(4))
                .then(|| format!("Seen on shelf {n}.\nTo be counted again next week.")),
            tags: vec!["stock".to_owned(), format!("row-{}", n % 10)],
        }
    }
}

/// The report with what a type with defaults may leave out.
pub fn sparse(report: &Report, shelf: Value) -> Value {
    let mut value = report.value();
    for line in value["lines"].as_array_mut().unwrap() {
        line["shelf"] = shelf.clone();
    }
    value
}

/// The report as models write it that mix up types: numbers and Booleans as strings, colors in lower case, other spellings of
/// members.
pub fn untyped(report: &Report) -> Value {
    let mut value = report.value();
    for line in value["lines"].as_array_mut().unwrap() {
        line["quantity"] = json!(line["quantity"].to_string());
        line["price"] = json!(line["price"].to_string());
        line["in_stock"] = json!(line["in_stock"].to_string());
        line["color"] = json!(format!(
            " {} ",
            line["color"].as_str().unwrap().to_lowercase()
        ));
        let members = line.as_object_mut().unwrap();
        let in_stock = members.remove("in_stock").unwrap();
        members.insert("inStock".to_owned(), in_stock);
    }
    value
}

/// A way of writing that is nearly JSON.
#[derive(Clone, Copy, Default)]
pub struct Style {
    pub trailing_commas: bool,
    pub single_quotes: bool,
    pub comments: bool,
    pub python: bool,
    pub bare_keys: bool,
    pub raw_line_ends: bool,
}

impl Style {
    /// The value as models write it, on many lines.
    pub fn write(&self, value: &Value) -> String {
        let mut text = String::new();
        self.value(value, 1, &mut text);
        text
    }

    fn value(&self, value: &Value, depth: usize, to: &mut String) {
        match value {
            Value::Null => to.push_str(if self.python { "None" } else { "null" }),
            Value::Bool(it) if self.python => to.push_str(if *it { "True" } else { "False" }),
            Value::String(text) => self.string(text, to),
            Value::Array(items) => self.list("[]", items.iter(), depth, to, |item, to| {
                self.value(item, depth + 1, to)
            }),
            Value::Object(members) => {
                self.list("{}", members.iter(), depth, to, |(key, value), to| {
                    if self.bare_keys {
                        to.push_str(key)
                    } else {
                        self.string(key, to)
                    }
                    to.push_str(": ");
                    self.value(value, depth + 1, to);
                })
            }
            other => to.push_str(&other.to_string()),
        }
    }

    fn list<T>(
        &self,
        around: &str,
        all: impl ExactSizeIterator<Item = T>,
        depth: usize,
        to: &mut String,
        mut each: impl FnMut(T, &mut String),
    ) {
        let last = all.len();
        let line = |depth: usize, to: &mut String| {
            to.push('\n');
            to.push_str(&"  ".repeat(depth));
        };
        to.push_str(&around[..1]);
        for (index, one) in all.enumerate() {
            if self.comments && depth == 2 && around == "[]" {
                line(depth, to);
                to.push_str(if index % 2 == 0 {
                    "// the next one"
                } else {
                    "/* and one more */"
                });
            }
            line(depth, to);
            each(one, to);
            if self.trailing_commas || index + 1 < last {
                to.push(',');
            }
        }
        line(depth - 1, to);
        to.push_str(&around[1..]);
    }

    fn string(&self, text: &str, to: &mut String) {
        let mut written = json!(text).to_string();
        if self.single_quotes {
            written = format!("'{}'", &written[1..written.len() - 1]);
        }
        if self.raw_line_ends {
            written = written.replace("\\n", "\n");
        }
        to.push_str(&written);
    }
}
