//! What is wrong with the members of an object: which lack, which are not known, and which only have another name.

use std::borrow::Cow;

use serde_json::Value;

use super::fault::count_fault;
use super::node::{is_closed, member_schema, properties, required};
use super::words::{known, several, shown, types};
use super::{Check, Fault, Judge, Place};
use crate::output::json::Json;
use crate::output::schema::Node;
use crate::text::{same_letters, slip};

/// How many unknown members are looked at for what lacks.
const UNKNOWN: usize = 16;

pub(super) type Members<'j> = [(Cow<'j, str>, Json<'j>)];

impl Check<'_> {
    pub(super) fn object(
        &self,
        node: &Node,
        members: &Members<'_>,
        place: &Place<'_>,
        depth: u32,
        found: &mut Vec<Fault>,
    ) {
        let count = members.len() as u64;
        found.extend(count_fault(node, "minProperties", "maxProperties", count, "member", place));
        if self.judge == Judge::Type
            && !self.lax.get()
            && let Some(fault) = self.stranger(node, members, place)
        {
            return found.push(fault);
        }
        let respelled = self.lacking(node, members, place, found);
        for (name, value) in members.iter().take_while(|_| self.ends()) {
            if self.is_enough(found) {
                break;
            }
            if self.stands_for_absent(node, name, value) {
                continue;
            }
            let meant = respelled.iter().find(|(given, _)| given == name).map(|(_, meant)| *meant);
            match member_schema(node, meant.unwrap_or(name)) {
                Some(schema) => found.extend(self.apply(schema, value, &place.member(name), depth + 1)),
                None if is_closed(node) && meant.is_none() => {
                    let known = properties(node).into_iter().flat_map(|named| named.keys().cloned());
                    let fault = Fault::at(place, format!("unknown property `{}`", shown(name)));
                    found.push(fault.allowed(known).stranger(name));
                }
                None => {}
            }
        }
    }

    /// Why an object is none of the type's, though serde would take it and lose what it holds.
    fn stranger(&self, node: &Node, members: &Members<'_>, place: &Place<'_>) -> Option<Fault> {
        let named = properties(node).filter(|named| !named.is_empty());
        let is_free = node.get("additionalProperties").is_some_and(|other| *other != Value::Bool(false));
        let fault = |message: String| Some(Fault::firm(place, message));
        let is_own = |name: &str| named.is_some_and(|named| named.contains_key(name));
        if let [(name, _)] = members
            && is_error(name)
            && !is_own(name)
            && types(node).contains(&"object")
        {
            return fault("is an error, not a value of the type".to_owned());
        }
        let named = named.filter(|_| !is_free && !members.is_empty())?;
        let given = |name: &str| members.iter().any(|(given, _)| given == name);
        if given("type") && given("properties") && !is_own("type") && !is_own("properties") {
            return fault("is a schema; write a value that conforms to it".to_owned());
        }
        let texts = || members.iter().filter(|(_, value)| matches!(value, Json::String(_)));
        if texts().count() > 1 && texts().all(|(_, value)| *value == Json::String(Cow::Borrowed("string"))) {
            return fault("has placeholders for its texts; write the real values".to_owned());
        }
        let is_unknown = |name: &str| member_schema(node, name).is_none();
        let unknown: Vec<_> = members.iter().filter(|(name, _)| is_unknown(name)).collect();
        if unknown.is_empty() {
            return None;
        }
        for (name, value) in &unknown {
            let known = named.keys().find(|known| same_letters(known, name));
            let rival = known.and_then(|known| members.iter().find(|(given, _)| given == known));
            if let Some((known, _)) = rival.filter(|(_, other)| other != value) {
                return fault(format!("has `{}` beside `{known}`, with different values", shown(name)));
            }
        }
        let nothing_required = required(node).next().is_none();
        if nothing_required && unknown.len() * 2 > members.len() {
            let most = if unknown.len() == members.len() { "no property" } else { "few properties" };
            return fault(format!("has {most} of the type, which are {}", known(node)));
        }
        let absent =
            named.keys().filter(|name| !given(name)).filter(|name| !required(node).any(|one| one == *name));
        let absent: Vec<&str> = absent.map(String::as_str).collect();
        for (name, _) in unknown.iter().filter(|_| !is_closed(node)) {
            if let Some(meant) = slip(name, absent.iter().copied()) {
                return fault(format!("unknown property `{}` (did you mean {meant:?}?)", shown(name)));
            }
        }
        let (name, _) = unknown.into_iter().find(|(_, value)| {
            let known = |inner: &Members<'_>| inner.iter().any(|(name, _)| named.contains_key(&**name));
            matches!(value, Json::Object(inner) if known(inner) && self.fits_node(node, value))
        })?;
        fault(format!("the value stands inside `{}`; answer with that value alone", shown(name)))
    }

    /// Adds the required members that are not there. Gives those that are there by another spelling, which is told as
    /// such, with the right one.
    fn lacking<'n>(
        &self,
        node: &'n Node,
        members: &'n Members<'_>,
        place: &Place<'_>,
        found: &mut Vec<Fault>,
    ) -> Vec<(&'n str, &'n str)> {
        let mut respelled = Vec::new();
        let is_lacking = |name: &&str| !members.iter().any(|(given, _)| given == name);
        for name in required(node).filter(is_lacking) {
            if self.is_enough(found) {
                break;
            }
            let schema = member_schema(node, name);
            if self.brief.get() {
                found.push(Fault::at(place, String::new()));
                break;
            }
            let unknown: Vec<&str> = unknown(node, members).take(UNKNOWN).collect();
            match unknown.iter().find(|given| same_letters(given, name)) {
                Some(given) => {
                    let message = format!("has `{}`, which must be written `{name}`", shown(given));
                    found.push(Fault::at(place, message));
                    respelled.push((*given, name));
                }
                None if schema.is_some_and(|schema| self.holds(schema, &unknown)) => {
                    let belong = several(unknown.iter().map(|name| format!("`{}`", shown(name))), ", ");
                    let message = format!("missing property `{name}`, within which {belong} must stand");
                    found.push(Fault::at(place, message));
                }
                None => found.push(Fault::lacks(name, &unknown, place)),
            }
        }
        respelled
    }

    /// Whether a schema is that of one object, which has all of these members.
    fn holds(&self, schema: &Value, names: &[&str]) -> bool {
        let leaves = self.leaves(schema);
        let [node] = leaves.as_slice() else { return false };
        let knows = |name: &&str| properties(node).is_some_and(|named| named.contains_key(*name));
        !names.is_empty() && names.iter().all(knows)
    }
}

/// The members of which the schema says nothing.
fn unknown<'j>(node: &Node, members: &'j Members<'_>) -> impl Iterator<Item = &'j str> {
    members.iter().map(|(name, _)| &**name).filter(|name| member_schema(node, name).is_none())
}

/// Whether it stands for an error: no type's wrapper has this name.
fn is_error(name: &str) -> bool {
    name == "error"
}
