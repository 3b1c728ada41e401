//! Every shape as each API gets it that does not enforce it: as an output, and as the parameters of a tool.

use llmnode_reader::ask::{Profile, sent};
use serde_json::{Value, json};

use crate::conforms::conforms;
use crate::llama::llama_takes;
use crate::rules;
use crate::shape::Shape;
use crate::zoo::zoo;

const PROFILES: [Profile; 5] = [
    Profile::Output,
    Profile::Function,
    Profile::Anthropic,
    Profile::Gemini,
    Profile::OpenApi,
];

fn written(shape: &Shape, profile: Profile) -> Value {
    serde_json::from_str(sent(&shape.schema, profile).get()).unwrap()
}

/// The values of a shape as a model writes them.
fn answers(shape: &Shape) -> impl Iterator<Item = Value> {
    let wrapped = |sample: &Value| match shape.schema.is_wrapped() {
        true => json!({"value": sample}),
        false => sample.clone(),
    };
    shape.samples.iter().map(wrapped)
}

#[test]
fn every_shape_keeps_the_rules_of_every_profile() {
    for shape in zoo() {
        for profile in PROFILES {
            let schema = written(&shape, profile);
            assert_eq!(
                rules::sent(&schema, &format!("{profile:?}")),
                Vec::<String>::new(),
                "{} as {profile:?}",
                shape.name
            );
        }
    }
}

/// A value of the type is one of what is sent, so that a server that enforces it allows each.
#[test]
fn what_is_sent_allows_every_value_of_the_type() {
    for shape in zoo() {
        for answer in answers(&shape) {
            for profile in [Profile::Output, Profile::Function, Profile::Gemini] {
                let schema = written(&shape, profile);
                conforms(&answer, &schema).unwrap_or_else(|fault| {
                    panic!("{} as {profile:?}: {fault}\n{schema}", shape.name)
                });
            }
            let schema = written(&shape, Profile::OpenApi);
            conforms(&answer, &nullable(&schema))
                .unwrap_or_else(|fault| panic!("{}: {fault}\n{schema}", shape.name));
        }
    }
}

/// OpenAPI's word for a type that may be null.
fn nullable(schema: &Value) -> Value {
    match schema {
        Value::Object(node) => {
            let mut inner: serde_json::Map<_, _> = node
                .iter()
                .map(|(key, value)| (key.clone(), nullable(value)))
                .collect();
            match inner.remove("nullable") {
                Some(Value::Bool(true)) => json!({"anyOf": [inner, {"type": "null"}]}),
                _ => Value::Object(inner),
            }
        }
        Value::Array(list) => list.iter().map(nullable).collect(),
        other => other.clone(),
    }
}

/// llama.cpp compiles what it is sent to a grammar, by rules of its own.
#[test]
fn the_grammar_of_llama_allows_every_value_of_the_type() {
    for shape in zoo() {
        for profile in [Profile::Output, Profile::Function] {
            let schema = written(&shape, profile);
            for answer in answers(&shape) {
                assert!(
                    llama_takes(&schema, &answer),
                    "{} as {profile:?}: {answer}\n{schema}",
                    shape.name
                );
            }
        }
    }
}
