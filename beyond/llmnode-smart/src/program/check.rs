//! Checks examples and names against a signature.

use std::collections::BTreeMap;

use llmnode_reader::text::nearest;
use llmnode_runtime::{OutputSchema, Reader};
use serde_json::Value;

use super::ProgramFault;
use crate::signature::{Demo, Field, FieldFaults, Signature};

pub(crate) type DemoCheck = dyn Fn(&Demo) -> FieldFaults;

pub(crate) const MOST_DEMOS: usize = 64;

const DSPY_MEMBERS: [&str; 3] = ["augmented", "dspy_uuid", "dspy_split"];

/// `at`: the place of their list.
pub(crate) fn demos(
    at: &str,
    demos: &[Demo],
    signature: &Signature,
    typed: &DemoCheck,
) -> Vec<ProgramFault> {
    if demos.len() > MOST_DEMOS {
        let message = format!(
            "there are {} examples, and {MOST_DEMOS} are the most; drop some",
            demos.len()
        );
        return vec![ProgramFault::new(at, message)];
    }
    if let Some(fault) = signature.doubled() {
        return vec![ProgramFault::new("", fault)];
    }
    let mut schemas = BTreeMap::new();
    let mut faults = Vec::new();
    for (index, demo) in demos.iter().enumerate() {
        let place = format!("{at}/{index}");
        let before = faults.len();
        for (name, value) in demo
            .values()
            .iter()
            .filter(|(name, _)| !DSPY_MEMBERS.contains(&name.as_str()))
        {
            match signature.fields().find(|field| field.name == *name) {
                None => faults.push(unknown_field(&place, name, signature)),
                // In DSPy, `null` means that it is not supplied.
                Some(_) if value.is_null() => {}
                Some(field) => {
                    let schema = schemas
                        .entry(field.name.clone())
                        .or_insert_with(|| schema(field));
                    faults.extend(
                        value_fault(schema, value)
                            .map(|fault| ProgramFault::new(member(&place, name), fault)),
                    );
                }
            }
        }
        let complete = signature
            .fields()
            .all(|field| demo.get(&field.name).is_some_and(|value| !value.is_null()));
        if complete && faults.len() == before {
            faults.extend(
                typed(demo)
                    .iter()
                    .map(|(name, fault)| ProgramFault::new(member(&place, name), fault)),
            );
        }
    }
    faults
}

fn schema(field: &Field) -> OutputSchema {
    OutputSchema::from_value(&field.name, field.schema.clone())
}

fn value_fault(schema: &OutputSchema, value: &Value) -> Option<String> {
    let error = Reader::new()
        .exact(true)
        .conforming(&value.to_string(), schema)
        .err()?;
    let sentences: Vec<_> = error.violations().iter().map(ToString::to_string).collect();
    Some(sentences.join("; "))
}

pub(crate) fn unknown_field(at: &str, name: &str, signature: &Signature) -> ProgramFault {
    let names = signature.names();
    let mend = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("it has {}", listed(&names)),
    };
    ProgramFault::new(
        member(at, name),
        format!("the node has no field `{name}`; {mend}"),
    )
}

pub(crate) fn member(at: &str, name: &str) -> String {
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
}

pub(crate) fn listed(names: &[&str]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}
