//! Limits of OpenAI's strict dialect on the size of a schema.
//!
//! OpenAI refuses a request whose schema is beyond one of them. It is found here,
//! before a request, and said with a remedy.

use std::collections::HashMap;

use serde_json::Value;

use super::strict_error::StrictProblem;
use crate::tree::{Node, children, def_name};

/// The limits are OpenAI's: <https://platform.openai.com/docs/guides/structured-outputs>.
const MAX_PROPERTIES: usize = 5000;
const MAX_LEVELS: usize = 10;
const MAX_ENUM_VALUES: usize = 1000;
/// Characters in an enum with more than [`LARGE_ENUM`] values.
const MAX_LARGE_ENUM_TEXT: usize = 15_000;
const LARGE_ENUM: usize = 250;
/// Characters in all names and values of enums.
const MAX_TEXT: usize = 120_000;
/// Deeper schemas are not examined, with references followed.
const MAX_FRAMES: usize = 400;

/// Of a schema of which levels were cut off.
pub(super) fn too_deep(name: &str) -> StrictProblem {
    StrictProblem {
        path: name.to_owned(),
        what: "nested too deep for any reader of JSON",
        remedy: "flatten it",
    }
}

/// The limits that a schema in the strict dialect exceeds.
pub(super) fn problems(root: &Value, name: &str) -> Vec<StrictProblem> {
    let mut sizes = Sizes::default();
    let mut open = vec![root];
    while let Some(schema) = open.pop() {
        let Some(node) = schema.as_object() else {
            continue;
        };
        sizes.add(node);
        open.extend(children(node));
    }
    let mut levels = Levels {
        defs: super::nulls::definitions(root),
        by_name: HashMap::new(),
        frames: 0,
    };
    let limits = [
        (
            levels.of_schema(root) > MAX_LEVELS,
            "within more than 10 levels of objects",
            "flatten some of them",
        ),
        (
            sizes.properties > MAX_PROPERTIES,
            "a schema of more than 5000 properties",
            "ask for less at once",
        ),
        (
            sizes.values > MAX_ENUM_VALUES,
            "a schema with more than 1000 values of enums",
            "use a String, and check it in a validator",
        ),
        (
            sizes.long_enum,
            "an enum of more than 250 values that have more than 15000 characters",
            "shorten them, or use a String, and check it in a validator",
        ),
        (
            sizes.text > MAX_TEXT,
            "a schema whose names and values have more than 120000 characters",
            "ask for less at once",
        ),
    ];
    let mut problems = Vec::new();
    for (is_exceeded, what, remedy) in limits {
        if is_exceeded {
            problems.push(StrictProblem {
                path: name.to_owned(),
                what,
                remedy,
            });
        }
    }
    problems
}

/// What is counted in a schema, with its definitions once.
#[derive(Default)]
struct Sizes {
    properties: usize,
    values: usize,
    text: usize,
    long_enum: bool,
}

impl Sizes {
    fn add(&mut self, node: &Node) {
        for keyword in ["properties", "$defs"] {
            if let Some(Value::Object(named)) = node.get(keyword) {
                self.text += characters(named.keys().map(String::as_str));
            }
        }
        if let Some(Value::Object(properties)) = node.get("properties") {
            self.properties += properties.len();
        }
        if let Some(Value::Array(values)) = node.get("enum") {
            let text = characters(values.iter().filter_map(Value::as_str));
            self.values += values.len();
            self.text += text;
            self.long_enum |= values.len() > LARGE_ENUM && text > MAX_LARGE_ENUM_TEXT;
        }
    }
}

/// A type inside itself counts once.
fn characters<'t>(texts: impl Iterator<Item = &'t str>) -> usize {
    texts.map(|text| text.chars().count()).sum()
}

/// Counts levels of objects. A type inside itself counts once.
struct Levels<'a> {
    defs: Option<&'a Node>,
    /// The levels of definitions; 0 for those that are being counted.
    by_name: HashMap<String, usize>,
    frames: usize,
}

impl Levels<'_> {
    /// The levels of objects in a schema, with references followed.
    fn of_schema(&mut self, schema: &Value) -> usize {
        let Some(node) = schema.as_object() else {
            return 0;
        };
        if self.frames >= MAX_FRAMES {
            return MAX_LEVELS + 1;
        }
        self.frames += 1;
        let mut below = 0;
        if let Some(reference) = node.get("$ref").and_then(Value::as_str)
            && let Some(name) = def_name(reference)
        {
            below = self.of_def(&name);
        }
        if let Some(Value::Object(properties)) = node.get("properties") {
            for property in properties.values() {
                below = below.max(self.of_schema(property));
            }
        }
        if let Some(Value::Array(forms)) = node.get("anyOf") {
            for form in forms {
                below = below.max(self.of_schema(form));
            }
        }
        if let Some(items) = node.get("items") {
            below = below.max(self.of_schema(items));
        }
        self.frames -= 1;
        let is_object = node.contains_key("properties");
        usize::from(is_object) + below
    }

    /// The same of a definition, once.
    fn of_def(&mut self, name: &str) -> usize {
        if let Some(levels) = self.by_name.get(name) {
            return *levels;
        }
        let Some(definition) = self.defs.and_then(|defs| defs.get(name)) else {
            return 0;
        };
        self.by_name.insert(name.to_owned(), 0);
        let levels = self.of_schema(definition);
        self.by_name.insert(name.to_owned(), levels);
        levels
    }
}
