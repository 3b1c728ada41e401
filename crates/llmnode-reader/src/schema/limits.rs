//! Limits of OpenAI's strict dialect on the size of a schema.

use std::collections::HashMap;

use serde_json::Value;

use super::strict_error::StrictProblem;
use crate::tree::{Node, children, def_name};

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

pub(super) fn too_deep(name: &str) -> StrictProblem {
    StrictProblem {
        path: name.to_owned(),
        what: "nested too deep for any reader of JSON",
        remedy: "flatten it",
    }
}

pub(super) fn problems(root: &Value, name: &str) -> Vec<StrictProblem> {
    let mut found = Sizes::default();
    let mut open = vec![root];
    while let Some(schema) = open.pop() {
        let Some(node) = schema.as_object() else {
            continue;
        };
        found.add(node);
        open.extend(children(node));
    }
    let mut levels = Levels {
        defs: super::nulls::definitions(root),
        known: HashMap::new(),
        frames: 0,
    };
    let faults = [
        (
            levels.of(root) > MAX_LEVELS,
            "within more than 10 levels of objects",
            "flatten some of them",
        ),
        (
            found.properties > MAX_PROPERTIES,
            "a schema of more than 5000 properties",
            "ask for less at once",
        ),
        (
            found.values > MAX_ENUM_VALUES,
            "a schema with more than 1000 values of enums",
            "use a String, and check it in a validator",
        ),
        (
            found.long_enum,
            "an enum of more than 250 values that have more than 15000 characters",
            "shorten them, or use a String, and check it in a validator",
        ),
        (
            found.text > MAX_TEXT,
            "a schema whose names and values have more than 120000 characters",
            "ask for less at once",
        ),
    ];
    let faults = faults.into_iter().filter(|(is, ..)| *is);
    faults
        .map(|(_, what, remedy)| StrictProblem {
            path: name.to_owned(),
            what,
            remedy,
        })
        .collect()
}

#[derive(Default)]
struct Sizes {
    properties: usize,
    values: usize,
    text: usize,
    long_enum: bool,
}

impl Sizes {
    fn add(&mut self, node: &Node) {
        for named in ["properties", "$defs"] {
            let names = node.get(named).and_then(Value::as_object);
            self.text += names.map_or(0, |names| {
                names.keys().map(|name| name.chars().count()).sum()
            });
        }
        self.properties += node
            .get("properties")
            .and_then(Value::as_object)
            .map_or(0, Node::len);
        if let Some(values) = node.get("enum").and_then(Value::as_array) {
            let text: usize = values
                .iter()
                .filter_map(Value::as_str)
                .map(|text| text.chars().count())
                .sum();
            self.values += values.len();
            self.text += text;
            self.long_enum |= values.len() > LARGE_ENUM && text > MAX_LARGE_ENUM_TEXT;
        }
    }
}

/// A type inside itself counts once.
struct Levels<'a> {
    defs: Option<&'a Node>,
    known: HashMap<String, usize>,
    frames: usize,
}

impl Levels<'_> {
    fn of(&mut self, schema: &Value) -> usize {
        let Some(node) = schema.as_object() else {
            return 0;
        };
        if self.frames >= MAX_FRAMES {
            return MAX_LEVELS + 1;
        }
        self.frames += 1;
        let own = usize::from(node.contains_key("properties"));
        let named = node.get("$ref").and_then(Value::as_str).and_then(def_name);
        let referred = named.map_or(0, |name| self.of_def(&name));
        let properties = node
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Node::values);
        let branches = node
            .get("anyOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let inner = properties.chain(branches).chain(node.get("items"));
        let inner = inner.map(|child| self.of(child)).max().unwrap_or(0);
        self.frames -= 1;
        own + inner.max(referred)
    }

    fn of_def(&mut self, name: &str) -> usize {
        if let Some(levels) = self.known.get(name) {
            return *levels;
        }
        let Some(def) = self.defs.and_then(|defs| defs.get(name)) else {
            return 0;
        };
        self.known.insert(name.to_owned(), 0);
        let levels = self.of(def);
        self.known.insert(name.to_owned(), levels);
        levels
    }
}
