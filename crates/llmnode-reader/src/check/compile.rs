//! Compiles the keywords of a schema to rules.
//!
//! Each part of a schema is compiled once, however many references lead to it, and
//! gets its number when it is first met. So a schema that contains itself ends, and
//! the number of a rule is its place in the list. Keywords that no code here knows
//! are left out: who takes schemas from others rejects those before.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;

use super::rules::{Property, Rule, Rules};
use super::text_format::{TextFormat, format_in_words, pattern_in_words};
use crate::json::Json;
use crate::tree::{Node, is_annotation, percent_decoded};

impl Rules {
    /// `own`: the part of `root` that the answer is of, which a wrapper may be around.
    pub(crate) fn new(root: &Value, answer: &Value) -> Self {
        let mut compiler = Compiler {
            root,
            numbers: HashMap::new(),
            found: Vec::new(),
        };
        // The first number is 0, which `root_rule` relies on.
        compiler.number(root);
        let answer = compiler.number(answer);
        let mut all = Vec::new();
        // Compiling a part finds others, which go to the end.
        while let Some(&schema) = compiler.found.get(all.len()) {
            let rule = compiler.rule(schema);
            all.push(rule);
        }
        Rules { all, answer }
    }

    /// The rules of a type that may be anything.
    pub(crate) fn any() -> &'static Rules {
        static ANY: LazyLock<Rules> = LazyLock::new(|| {
            let anything = Value::Bool(true);
            Rules::new(&anything, &anything)
        });
        &ANY
    }
}

/// The part of a schema that a `$ref` names. Some programs write the pointer's
/// escapes as in a URL, others as they are.
pub fn target<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    let pointer = reference.strip_prefix('#')?;
    match root.pointer(pointer) {
        Some(part) => Some(part),
        None => {
            let decoded = percent_decoded(pointer)?;
            root.pointer(&decoded)
        }
    }
}

/// The parts of one schema, as they are found.
struct Compiler<'v> {
    root: &'v Value,
    /// By the address of a part.
    numbers: HashMap<*const Value, usize>,
    /// In the order of their numbers.
    found: Vec<&'v Value>,
}

impl<'v> Compiler<'v> {
    /// The number of a part of the schema, which is compiled later if it is new.
    fn number(&mut self, schema: &'v Value) -> usize {
        let next = self.found.len();
        let number = *self
            .numbers
            .entry(std::ptr::from_ref(schema))
            .or_insert(next);
        if number == next {
            self.found.push(schema);
        }
        number
    }

    fn numbers(&mut self, schemas: &'v Value) -> Vec<usize> {
        let mut numbers = Vec::new();
        for schema in schemas.as_array().into_iter().flatten() {
            numbers.push(self.number(schema));
        }
        numbers
    }

    /// Compiles one part. Members come last, as they depend on which of them are required.
    fn rule(&mut self, schema: &'v Value) -> Rule {
        let Some(node) = schema.as_object() else {
            return Rule {
                boolean: Some(*schema != Value::Bool(false)),
                ..Rule::default()
            };
        };
        let mut rule = Rule::default();
        for (keyword, value) in node {
            if is_annotation(keyword) {
                continue;
            }
            rule.is_constraining = true;
            self.keyword(keyword, value, &mut rule);
        }
        self.members(node, &mut rule);
        rule
    }

    /// Takes over what one keyword says. One whose value has another shape than it
    /// should have says nothing.
    fn keyword(&mut self, keyword: &str, value: &'v Value, rule: &mut Rule) {
        match keyword {
            "type" => rule.types = Some(texts(value)),
            "const" => {
                rule.only = Some(Json::from(value).into_owned());
                rule.lists = true;
            }
            "enum" => {
                rule.choices = value.as_array().map(|choices| choices_of(choices));
                rule.lists = true;
            }
            "$ref" => {
                let part = value
                    .as_str()
                    .and_then(|reference| target(self.root, reference));
                rule.ref_target = part.map(|schema| self.number(schema));
            }
            "allOf" => rule.all_of = self.numbers(value),
            "anyOf" => rule.any_of = self.numbers(value),
            "oneOf" => rule.one_of = self.numbers(value),
            "not" => rule.not = Some(self.number(value)),
            "required" if value.is_array() => rule.required = texts(value),
            "additionalProperties" if *value != Value::Bool(false) => {
                rule.additional = Some(self.number(value));
            }
            "prefixItems" => rule.prefix = self.numbers(value),
            "items" => rule.items = Some(self.number(value)),
            "format" => {
                rule.format = value.as_str().and_then(TextFormat::named);
                rule.format_in_words = value.as_str().and_then(format_in_words);
            }
            "pattern" => rule.pattern_in_words = value.as_str().and_then(pattern_in_words),
            "uniqueItems" => rule.is_set = *value == Value::Bool(true),
            // All bounds are numbers, and no other keyword with a number is known.
            _ if value.is_number() => {
                let bound = value.to_string();
                rule.bounds.push((keyword.to_owned(), bound));
            }
            _ => {}
        }
    }

    /// The members that the schema names, and what others may be.
    fn members(&mut self, node: &'v Node, rule: &mut Rule) {
        if let Some(Value::Object(properties)) = node.get("properties") {
            rule.has_properties = true;
            for (name, schema) in properties {
                let is_required = rule.required.contains(name);
                rule.property_index.insert(name.clone(), rule.named.len());
                rule.named.push(Property {
                    name: name.clone(),
                    rule: self.number(schema),
                    is_required,
                });
            }
        }
        rule.is_closed = node.get("additionalProperties") == Some(&Value::Bool(false));
        let Some(Value::Object(patterns)) = node.get("patternProperties") else {
            return;
        };
        for (pattern, schema) in patterns {
            // schemars writes these for maps with integer keys.
            match pattern.as_str() {
                r"^\d+$" => rule.numeric_keys.push((false, self.number(schema))),
                r"^-?\d+$" => rule.numeric_keys.push((true, self.number(schema))),
                _ => rule.is_closed = false,
            }
        }
    }
}

fn choices_of(choices: &[Value]) -> Vec<Json<'static>> {
    choices
        .iter()
        .map(|choice| Json::from(choice).into_owned())
        .collect()
}

/// The strings of a list, or the one that stands without a list.
fn texts(value: &Value) -> Vec<String> {
    let all = match value {
        Value::Array(list) => list.as_slice(),
        single => std::slice::from_ref(single),
    };
    all.iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}
