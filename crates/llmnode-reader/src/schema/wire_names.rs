//! Names of members that an API refuses, and those that stand for them in what is sent.
//!
//! A model sees the name of the wire; the description says the member's own, which
//! prompts and complaints use. Answers are renamed back before anybody reads them
//! (`renamer.rs`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::profile::{Profile, is_plain_char};
use crate::tree::{Node, children, children_mut, required};

/// Bytes of a name on the wire.
const LONGEST: usize = 64;
/// Of the number behind a name that is not clear without it.
const DIGITS: usize = 8;

/// Each refused name has one name on the wire, the same at every place of the
/// schema and in every process. No member of the schema has that name itself.
#[derive(Debug)]
pub(crate) struct WireNames {
    by_own: BTreeMap<String, String>,
    by_wire: BTreeMap<String, String>,
}

impl WireNames {
    /// `None`: all names are taken as they are.
    pub(super) fn from_tree(tree: &Value, profile: Profile) -> Option<WireNames> {
        let mut members = Members::default();
        members.add(tree);
        let mut names = WireNames {
            by_own: BTreeMap::new(),
            by_wire: BTreeMap::new(),
        };
        for of_type in &members.names {
            if profile.takes_key(of_type) {
                continue;
            }
            let wire = names.free_name(of_type, &members);
            names.by_wire.insert(wire.clone(), of_type.clone());
            names.by_own.insert(of_type.clone(), wire);
        }
        (!names.by_own.is_empty()).then_some(names)
    }

    /// A name for the wire that nothing else has.
    fn free_name(&self, of_type: &str, members: &Members) -> String {
        // Where a model may choose names itself, one that it would choose must not
        // be taken for this member.
        if !members.has_free_names {
            let short = readable(of_type);
            if self.is_free(&short, members) {
                return short;
            }
        }
        for salt in 0.. {
            let name = marked(of_type, salt);
            if self.is_free(&name, members) {
                return name;
            }
        }
        String::new()
    }

    fn is_free(&self, name: &str, members: &Members) -> bool {
        !members.names.contains(name) && !self.by_wire.contains_key(name)
    }

    /// The name that stands for this one. `None`: the API takes it as it is.
    pub(crate) fn wire(&self, of_type: &str) -> Option<&str> {
        self.by_own.get(of_type).map(String::as_str)
    }

    /// Renames members in a schema that was written with their own names.
    pub(super) fn rename(&self, schema: &mut Value) {
        let Some(node) = schema.as_object_mut() else {
            return;
        };
        if let Some(Value::Object(members)) = node.get_mut("properties") {
            let mut renamed = Node::new();
            for (of_type, mut member) in std::mem::take(members) {
                match self.wire(&of_type) {
                    Some(wire) => {
                        name_in_words(&mut member, &of_type);
                        renamed.insert(wire.to_owned(), member);
                    }
                    None => {
                        renamed.insert(of_type, member);
                    }
                }
            }
            *members = renamed;
        }
        if let Some(Value::Array(names)) = node.get_mut("required") {
            for name in names {
                if let Some(wire) = name.as_str().and_then(|of_type| self.wire(of_type)) {
                    *name = wire.into();
                }
            }
        }
        for (_, child) in children_mut(node) {
            self.rename(child);
        }
    }

    /// The type's name for which this one stands.
    pub(crate) fn of_type(&self, wire: &str) -> Option<&str> {
        self.by_wire.get(wire).map(String::as_str)
    }
}

/// The names of a schema's members, at all of its places.
#[derive(Default)]
struct Members {
    names: BTreeSet<String>,
    /// Some place takes members of any name.
    has_free_names: bool,
}

impl Members {
    /// Looks through the schema and all schemas in it.
    fn add(&mut self, tree: &Value) {
        let mut open = vec![tree];
        while let Some(schema) = open.pop() {
            let Some(node) = schema.as_object() else {
                continue;
            };
            if let Some(Value::Object(members)) = node.get("properties") {
                self.names.extend(members.keys().cloned());
            }
            for name in required(node) {
                self.names.insert(name.to_owned());
            }
            for keyword in ["additionalProperties", "patternProperties"] {
                if let Some(rest) = node.get(keyword) {
                    self.has_free_names |= *rest != Value::Bool(false);
                }
            }
            open.extend(children(node));
        }
    }
}

/// The name in characters that the API takes; a long one is cut, and told apart by its number.
fn readable(of_type: &str) -> String {
    let cut = cut_and_plain(of_type);
    let name = cut.trim_matches('_');
    if name.is_empty() {
        return "member".to_owned();
    }
    if of_type.chars().count() > LONGEST - DIGITS - 1 {
        return format!("{name}_{:08x}", hash(of_type, 0));
    }
    name.to_owned()
}

fn cut_and_plain(of_type: &str) -> String {
    let mut name = String::new();
    for c in of_type.chars().take(LONGEST - DIGITS - 1) {
        name.push(if is_plain_char(c) { c } else { '_' });
    }
    name
}

/// The same always with its number. `salt`: another number, if the first is taken.
fn marked(of_type: &str, salt: u32) -> String {
    let name: String = readable(of_type)
        .chars()
        .take(LONGEST - DIGITS - 1)
        .collect();
    format!("{name}_{:08x}", hash(of_type, salt))
}

/// FNV-1a, which is the same in every version of the compiler.
fn hash(text: &str, salt: u32) -> u32 {
    let mut hash: u32 = 0x811c_9dc5;
    for byte in salt.to_le_bytes().into_iter().chain(text.bytes()) {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    hash
}

/// Says the member's own name in its description. A reference has no place for one,
/// so it becomes a union of one.
pub(super) fn name_in_words(property: &mut Value, of_type: &str) {
    let Some(node) = property.as_object_mut() else {
        return;
    };
    let text = match node.get("description").and_then(Value::as_str) {
        Some(description) => format!("`{of_type}`: {description}"),
        None => format!("`{of_type}`"),
    };
    if let Some(reference) = node.shift_remove("$ref") {
        node.insert("anyOf".to_owned(), json!([{"$ref": reference}]));
    }
    node.insert("description".to_owned(), Value::String(text));
}
