//! Compiles the keywords of a schema to rules.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;

use super::rules::{Property, Rule, Rules};
use super::text_format::{TextFormat, format_in_words, pattern_in_words};
use crate::json::Json;
use crate::tree::{Node, is_annotation, percent_decoded};

impl Rules {
    pub(crate) fn of(root: &Value, own: &Value) -> Self {
        let (all, own) = compiled(root, own);
        Rules { all, own }
    }

    pub(crate) fn any() -> &'static Rules {
        static ANY: LazyLock<Rules> =
            LazyLock::new(|| Rules::of(&Value::Bool(true), &Value::Bool(true)));
        &ANY
    }
}

/// Follows only keywords that apply a schema. Returns the rules, that of `root` first, and the number of `own`.
fn compiled(root: &Value, own: &Value) -> (Vec<Rule>, usize) {
    let mut compiler = Compiler {
        root,
        known: HashMap::new(),
        found: Vec::new(),
    };
    compiler.number(root);
    let own = compiler.number(own);
    let mut all = Vec::new();
    while let Some(&schema) = compiler.found.get(all.len()) {
        let rule = compiler.rule(schema);
        all.push(rule);
    }
    (all, own)
}

/// The part of a schema that a `$ref` names.
pub fn target<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    let pointer = reference.strip_prefix('#')?;
    root.pointer(pointer)
        .or_else(|| root.pointer(&percent_decoded(pointer)?))
}

struct Compiler<'v> {
    root: &'v Value,
    known: HashMap<*const Value, usize>,
    found: Vec<&'v Value>,
}

impl<'v> Compiler<'v> {
    fn number(&mut self, schema: &'v Value) -> usize {
        *self
            .known
            .entry(std::ptr::from_ref(schema))
            .or_insert_with(|| {
                self.found.push(schema);
                self.found.len() - 1
            })
    }

    fn numbers(&mut self, schemas: &'v Value) -> Vec<usize> {
        schemas
            .as_array()
            .into_iter()
            .flatten()
            .map(|schema| self.number(schema))
            .collect()
    }

    fn rule(&mut self, schema: &'v Value) -> Rule {
        let Some(node) = schema.as_object() else {
            return Rule {
                boolean: Some(*schema != Value::Bool(false)),
                ..Rule::default()
            };
        };
        let mut rule = Rule::default();
        for (keyword, value) in node.iter().filter(|(keyword, _)| !is_annotation(keyword)) {
            rule.is_constraining = true;
            match keyword.as_str() {
                "type" => rule.types = Some(texts(value)),
                "const" => rule.only = Some(Json::from(value).into_owned()),
                "enum" => {
                    rule.choices = value.as_array().map(|choices| {
                        choices
                            .iter()
                            .map(|choice| Json::from(choice).into_owned())
                            .collect()
                    });
                }
                "$ref" => {
                    let to = value
                        .as_str()
                        .and_then(|reference| target(self.root, reference));
                    rule.ref_target = to.map(|schema| self.number(schema));
                }
                "allOf" => rule.all_of = self.numbers(value),
                "anyOf" => rule.any_of = self.numbers(value),
                "oneOf" => rule.one_of = self.numbers(value),
                "not" => rule.not = Some(self.number(value)),
                "required" if value.is_array() => rule.required = texts(value),
                "additionalProperties" if *value != Value::Bool(false) => {
                    rule.additional = Some(self.number(value))
                }
                "prefixItems" => rule.prefix = self.numbers(value),
                "items" => rule.items = Some(self.number(value)),
                "format" => {
                    rule.format = value.as_str().and_then(TextFormat::named);
                    rule.format_in_words = value.as_str().and_then(format_in_words);
                }
                "pattern" => rule.pattern_in_words = value.as_str().and_then(pattern_in_words),
                "uniqueItems" => rule.is_set = *value == Value::Bool(true),
                _ if value.is_number() => rule.bounds.push((keyword.clone(), value.to_string())),
                _ => {}
            }
            rule.lists |= matches!(keyword.as_str(), "const" | "enum");
        }
        self.members(node, &mut rule);
        rule
    }

    fn members(&mut self, node: &'v Node, rule: &mut Rule) {
        let named = node.get("properties").and_then(Value::as_object);
        rule.has_properties = named.is_some();
        for (name, schema) in named.into_iter().flatten() {
            let is_required = rule.required.contains(name);
            rule.property_index.insert(name.clone(), rule.named.len());
            rule.named.push(Property {
                name: name.clone(),
                rule: self.number(schema),
                is_required,
            });
        }
        rule.is_closed = node.get("additionalProperties") == Some(&Value::Bool(false));
        for (pattern, schema) in node
            .get("patternProperties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            // schemars writes these for maps with integer keys.
            match pattern.as_str() {
                r"^\d+$" => rule.numeric_keys.push((false, self.number(schema))),
                r"^-?\d+$" => rule.numeric_keys.push((true, self.number(schema))),
                _ => rule.is_closed = false,
            }
        }
    }
}

fn texts(value: &Value) -> Vec<String> {
    let all = value
        .as_array()
        .map_or(std::slice::from_ref(value), Vec::as_slice);
    all.iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}
