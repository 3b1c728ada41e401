//! Names of members that an API refuses, and those that stand for them in what is sent.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::profile::Profile;
use crate::tree::{Node, children, children_mut, required};

const LONGEST: usize = 64;
const DIGITS: usize = 8;

/// Each refused name has one name on the wire, the same at every place of the schema and in every process. No member of the
/// schema has that name itself.
#[derive(Debug)]
pub(crate) struct WireNames {
    by_own: BTreeMap<String, String>,
    by_wire: BTreeMap<String, String>,
}

impl WireNames {
    /// `None`: all names are taken as they are.
    pub(super) fn of(tree: &Value, profile: Profile) -> Option<WireNames> {
        let mut found = Found::default();
        found.add(tree);
        let mut names = WireNames {
            by_own: BTreeMap::new(),
            by_wire: BTreeMap::new(),
        };
        for own in found.names.iter().filter(|name| !profile.takes_key(name)) {
            let is_free =
                |wire: &String| !found.names.contains(wire) && !names.by_wire.contains_key(wire);
            // Where a model may choose names itself, one that it would choose must not be taken for this member.
            let short = Some(readable(own)).filter(|wire| !found.has_free_names && is_free(wire));
            let wire = short.unwrap_or_else(|| {
                (0..)
                    .map(|salt| marked(own, salt))
                    .find(is_free)
                    .unwrap_or_default()
            });
            names.by_wire.insert(wire.clone(), own.clone());
            names.by_own.insert(own.clone(), wire);
        }
        Some(names).filter(|names| !names.by_own.is_empty())
    }

    pub(crate) fn wire(&self, own: &str) -> Option<&str> {
        self.by_own.get(own).map(String::as_str)
    }

    /// In a schema that was written with the members' own names.
    pub(super) fn rename(&self, schema: &mut Value) {
        let Some(node) = schema.as_object_mut() else {
            return;
        };
        if let Some(Value::Object(members)) = node.get_mut("properties") {
            let renamed = |(own, mut member): (String, Value)| match self.wire(&own) {
                Some(wire) => {
                    name_in_words(&mut member, &own);
                    (wire.to_owned(), member)
                }
                None => (own, member),
            };
            *members = std::mem::take(members).into_iter().map(renamed).collect();
        }
        for name in node
            .get_mut("required")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            if let Some(wire) = name.as_str().and_then(|own| self.wire(own)) {
                *name = wire.into();
            }
        }
        children_mut(node).for_each(|(_, child)| self.rename(child));
    }

    pub(crate) fn own(&self, wire: &str) -> Option<&str> {
        self.by_wire.get(wire).map(String::as_str)
    }
}

#[derive(Default)]
struct Found {
    names: BTreeSet<String>,
    has_free_names: bool,
}

impl Found {
    fn add(&mut self, tree: &Value) {
        let mut open = vec![tree];
        while let Some(schema) = open.pop() {
            let Some(node) = schema.as_object() else {
                continue;
            };
            let members = node.get("properties").and_then(Value::as_object);
            self.names
                .extend(members.into_iter().flat_map(Node::keys).cloned());
            self.names
                .extend(required(node).into_iter().map(str::to_owned));
            let is_free = |keyword: &str| {
                node.get(keyword)
                    .is_some_and(|rest| *rest != Value::Bool(false))
            };
            self.has_free_names |= is_free("additionalProperties") || is_free("patternProperties");
            open.extend(children(node));
        }
    }
}

fn readable(own: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-') {
            c
        } else {
            '_'
        }
    };
    let name: String = own.chars().map(plain).take(LONGEST - DIGITS - 1).collect();
    match name.trim_matches('_') {
        "" => "member".to_owned(),
        name if own.chars().count() > LONGEST - DIGITS - 1 => {
            format!("{name}_{:08x}", hash(own, 0))
        }
        name => name.to_owned(),
    }
}

fn marked(own: &str, salt: u32) -> String {
    let name: String = readable(own).chars().take(LONGEST - DIGITS - 1).collect();
    format!("{name}_{:08x}", hash(own, salt))
}

/// FNV-1a, which is the same in every version of the compiler.
fn hash(text: &str, salt: u32) -> u32 {
    salt.to_le_bytes()
        .into_iter()
        .chain(text.bytes())
        .fold(0x811c_9dc5, |hash: u32, byte: u8| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        })
}

/// The name that prompts and complaints use. A reference has no place for it.
pub(super) fn name_in_words(property: &mut Value, own: &str) {
    let Some(node) = property.as_object_mut() else {
        return;
    };
    let told = match node.get("description").and_then(Value::as_str) {
        Some(description) => format!("`{own}`: {description}"),
        None => format!("`{own}`"),
    };
    if let Some(reference) = node.shift_remove("$ref") {
        node.insert("anyOf".to_owned(), json!([{"$ref": reference}]));
    }
    node.insert("description".to_owned(), Value::String(told));
}
