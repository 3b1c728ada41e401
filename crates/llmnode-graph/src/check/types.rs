//! What nodes read and write, and the types that the file declares.

use serde_json::Value;

use crate::facts::{Facts, Read, Write};
use crate::faults::{FaultKind, Faults, shown};
use crate::file::{Field, GraphFile, Reducer, allows};
use crate::template::path;

/// Notes what cannot be of a declared type.
pub(super) fn check(file: &GraphFile, facts: &[Facts], faults: &mut Faults) {
    for facts in facts {
        for read in facts.reads.iter().chain(&facts.reads_or_message) {
            members(file, read, faults);
        }
        if let Some(read) = &facts.iterates
            && let Some(schema) = declared(file, read).filter(|schema| !allows(schema, "array"))
        {
            let message = format!(
                "{:?} is declared as {}, but an iterator takes a list: declare it as \"array\"",
                shown(&read.name),
                named(schema)
            );
            faults.fault(&read.at, FaultKind::WrongKind, message);
        }
        for write in &facts.writes {
            if let Some(field) = file.state.get(&write.key).filter(|field| !field.is_unclear) {
                written(write, field, faults);
            }
        }
    }
}

/// The type that is declared of what is read; `None`: nothing is declared of it.
fn declared<'f>(file: &'f GraphFile, read: &Read) -> Option<&'f Value> {
    let mut parts = path(&read.name);
    let first = of_key(file, parts.next()?)?;
    parts.try_fold(first, |schema, part| match member(schema, part) {
        Member::Of(schema) => Some(schema),
        Member::Unknown | Member::Absent => None,
    })
}

fn of_key<'f>(file: &'f GraphFile, key: &str) -> Option<&'f Value> {
    file.inputs.get(key).or_else(|| file.state.get(key).map(|field| &field.schema))
}

/// What a schema says of a member or an item.
enum Member<'s> {
    Unknown,
    Of(&'s Value),
    Absent,
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
    match (schema.get("properties").and_then(|members| members.get(part)), schema.get("additionalProperties"))
    {
        (Some(member), _) => Member::Of(member),
        (None, Some(Value::Bool(false))) => Member::Absent,
        (None, Some(others @ Value::Object(_))) => Member::Of(others),
        (None, _) => Member::Unknown,
    }
}

/// Notes a member that what is read does not have.
fn members(file: &GraphFile, read: &Read, faults: &mut Faults) {
    let mut parts = path(&read.name);
    let Some(key) = parts.next() else { return };
    let (mut so_far, mut schema) = (key.to_owned(), of_key(file, key));
    for part in parts {
        let Some(of) = schema else { return };
        match member(of, part) {
            Member::Unknown => return,
            Member::Of(next) => schema = Some(next),
            Member::Absent => {
                let message = format!(
                    "{:?} is declared as {} and has no member {:?}",
                    shown(&so_far),
                    named(of),
                    shown(part)
                );
                let known = of.get("properties").and_then(Value::as_object).into_iter().flatten();
                match known.clone().next() {
                    Some(_) => {
                        let known = known.map(|(name, _)| name.as_str());
                        faults.unknown(true, &read.at, FaultKind::Data, message, part, known);
                    }
                    None => {
                        let message =
                            format!("{message}: write {:?}, or declare it as \"object\"", shown(&so_far));
                        faults.fault(&read.at, FaultKind::Data, message);
                    }
                }
                return;
            }
        }
        so_far = format!("{so_far}.{part}");
    }
}

/// Notes a node that writes what its key cannot hold.
fn written(write: &Write, field: &Field, faults: &mut Faults) {
    let fits = |schema: Option<&Value>| {
        schema.is_none_or(|schema| write.types.iter().any(|kind| allows(schema, kind)))
    };
    let (is_fit, what) = match field.reducer {
        Reducer::Replace => (fits(Some(&field.schema)), named(&field.schema)),
        // Of a list each item is added.
        Reducer::Append => (
            write.types.contains(&"array") || fits(field.schema.get("items")),
            "a list of other items".to_owned(),
        ),
        Reducer::Merge => (write.types.contains(&"object"), "an object".to_owned()),
    };
    if is_fit || write.types.is_empty() {
        return;
    }
    let key = shown(&write.key);
    let remedy = match &*write.types {
        ["string"] => format!(
            "answer with an \"output_schema\" that has the member {key:?}, or declare {key:?} as \"string\""
        ),
        _ => format!("declare {key:?} as what is written, or write to another value"),
    };
    let message = format!(
        "{key:?} is declared as {what}, but the node writes {}: {remedy}",
        write.types.iter().map(|kind| format!("{kind:?}")).collect::<Vec<_>>().join(" or ")
    );
    faults.fault(&write.at, FaultKind::WrongKind, message);
}

/// The type of a schema as a message names it.
fn named(schema: &Value) -> String {
    schema.get("type").map_or_else(|| "another type".to_owned(), Value::to_string)
}
