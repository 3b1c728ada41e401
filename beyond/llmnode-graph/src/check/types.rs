//! Checks what nodes read and write against the types that the file declares.

use std::collections::HashMap;
use std::sync::LazyLock;

use llmnode_reader::text::nearest;
use serde_json::Value;

use super::keys::ERROR;
use crate::facts::{Facts, Read, Write};
use crate::faults::{FaultKind, Faults, escaped, shown};
use crate::file::{Field, GraphFile, Reducer, allows};
use crate::template::path;

pub(super) fn check(file: &GraphFile, facts: &[Facts], faults: &mut Faults) {
    let schemas = schemas(file, facts);
    for facts in facts {
        for read in facts.reads.iter().chain(&facts.reads_or_message) {
            members(&schemas, read, faults);
        }
        if let Some(read) = &facts.iterates
            && let Some(schema) = declared(&schemas, read).filter(|schema| !allows(schema, "array"))
        {
            let name = shown(&read.name);
            let kind = named(schema);
            let message = format!(
                "{name:?} is declared as {kind}, but an iterator takes a list: declare it as \"array\""
            );
            faults.fault(&read.at, FaultKind::WrongKind, message);
        }
        for write in &facts.writes {
            let field = file.state.get(&write.key);
            // The type may fit with the reducer that a conflict asks for.
            let Some(field) = field else {
                continue;
            };
            let place = format!("/state/{}", escaped(&write.key));
            let has_conflict = faults.has(FaultKind::Conflict, &place);
            if !has_conflict {
                written(write, field, faults);
            }
        }
    }
}

static OF_ERROR: LazyLock<Value> = LazyLock::new(|| {
    let text = serde_json::json!({"type": "string"});
    serde_json::json!({
        "type": "object", "additionalProperties": false,
        "properties": {"node": text, "category": text, "message": text},
    })
});

type Schemas<'f> = HashMap<&'f str, &'f Value>;

fn schemas<'f>(file: &'f GraphFile, facts: &'f [Facts]) -> Schemas<'f> {
    let mut by_nodes: HashMap<&str, Option<&Value>> = HashMap::new();
    for facts in facts {
        for write in &facts.writes {
            let schema = write.schema.as_ref();
            by_nodes
                .entry(&write.key)
                .and_modify(|entry| *entry = None)
                .or_insert(schema);
        }
        facts
            .also_writes
            .iter()
            .for_each(|key| _ = by_nodes.insert(key, None));
    }
    let is_open = facts.iter().any(|facts| facts.writes_anything);
    let by_nodes = by_nodes
        .into_iter()
        .filter(|_| !is_open)
        .filter_map(|(key, schema)| Some((key, schema?)));
    let inputs = file
        .inputs
        .iter()
        .map(|(key, schema)| (key.as_str(), schema));
    let state = file
        .state
        .iter()
        .map(|(key, field)| (key.as_str(), &field.schema));
    [(ERROR, &*OF_ERROR)]
        .into_iter()
        .chain(by_nodes)
        .chain(state)
        .chain(inputs)
        .collect()
}

fn declared<'f>(schemas: &Schemas<'f>, read: &Read) -> Option<&'f Value> {
    let mut parts = path(&read.name);
    let first = *schemas.get(parts.next()?)?;
    parts.try_fold(first, |schema, part| match member(schema, part) {
        Member::Of(schema) => Some(schema),
        Member::Unknown | Member::Absent | Member::Unlisted => None,
    })
}

enum Member<'s> {
    Unknown,
    Of(&'s Value),
    Absent,
    Unlisted,
}

fn member<'s>(schema: &'s Value, part: &str) -> Member<'s> {
    let index = part.parse::<usize>().is_ok() && allows(schema, "array");
    if schema.get("type").is_none() || index && allows(schema, "object") {
        return Member::Unknown;
    }
    if index {
        return schema.get("items").map_or(Member::Unknown, Member::Of);
    }
    if !allows(schema, "object") {
        return Member::Absent;
    }
    match (
        schema
            .get("properties")
            .and_then(|members| members.get(part)),
        schema.get("additionalProperties"),
    ) {
        (Some(member), _) => Member::Of(member),
        (None, Some(Value::Bool(false))) => Member::Absent,
        (None, Some(others @ Value::Object(_))) => Member::Of(others),
        (None, _) => Member::Unlisted,
    }
}

fn members(schemas: &Schemas<'_>, read: &Read, faults: &mut Faults) {
    let mut parts = path(&read.name);
    let Some(key) = parts.next() else { return };
    let mut so_far = key.to_owned();
    let mut schema = schemas.get(key).copied();
    for part in parts {
        let Some(of) = schema else { return };
        let listed = of
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten();
        let listed = listed.map(|(name, _)| name.as_str());
        let outer = shown(&so_far);
        let name = shown(part);
        match member(of, part) {
            Member::Unknown => return,
            Member::Of(next) => schema = Some(next),
            Member::Unlisted => {
                if nearest(part, listed.clone()).is_some() {
                    let message = format!("the schema of {outer:?} does not list {name:?}");
                    faults.unknown(false, &read.at, FaultKind::Data, message, part, listed);
                }
                return;
            }
            Member::Absent => {
                let message = format!(
                    "{outer:?} is declared as {} and has no member {name:?}",
                    named(of)
                );
                if listed.clone().next().is_some() {
                    faults.unknown(true, &read.at, FaultKind::Data, message, part, listed);
                } else {
                    let message =
                        format!("{message}: write {outer:?}, or declare it as \"object\"");
                    faults.fault(&read.at, FaultKind::Data, message);
                }
                return;
            }
        }
        so_far = format!("{so_far}.{part}");
    }
}

fn written(write: &Write, field: &Field, faults: &mut Faults) {
    let (is_fit, what) = match field.reducer {
        Reducer::Replace => (takes(Some(&field.schema), write), &*named(&field.schema)),
        Reducer::Append => (
            write.types.contains(&"array") || takes(field.schema.get("items"), write),
            "a list of other items",
        ),
        Reducer::Merge => (write.types.contains(&"object"), "an object"),
    };
    if is_fit || write.types.is_empty() {
        return;
    }
    let key = shown(&write.key);
    let is_item = field.reducer == Reducer::Replace && allows(&field.schema, "array");
    let remedy = match &*write.types {
        _ if is_item && takes(field.schema.get("items"), write) => {
            format!(
                "set \"reducer\": \"append\" in \"/state/{}\" to add to the list",
                escaped(&write.key)
            )
        }
        ["string"] => format!(
            "answer with an \"output_schema\" that has the member {key:?}, or declare {key:?} as \"string\""
        ),
        _ => format!("declare {key:?} as what is written, or write to another value"),
    };
    let types: Vec<String> = write.types.iter().map(|kind| format!("{kind:?}")).collect();
    let types = types.join(" or ");
    let message = format!("{key:?} is declared as {what}, but the node writes {types}: {remedy}");
    faults.fault(&write.at, FaultKind::WrongKind, message);
}

/// Whether a schema takes one of the types that are written. None takes any.
fn takes(schema: Option<&Value>, write: &Write) -> bool {
    match schema {
        Some(schema) => write.types.iter().any(|kind| allows(schema, kind)),
        None => true,
    }
}
fn named(schema: &Value) -> String {
    schema
        .get("type")
        .map_or_else(|| "another type".to_owned(), Value::to_string)
}
