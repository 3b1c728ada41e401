//! What is wrong with the members of an object: which lack, which are not known, and which only have another name.

use std::borrow::Cow;

use serde_json::Value;

use super::fault::count_fault;
use super::node::{is_closed, member_schema, properties, required};
use super::words::{several, shown};
use super::{Check, Fault, Place};
use crate::output::reader::Json;
use crate::output::schema::Node;
use crate::text::same_letters;

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
        if let Some((name, inner)) = within_one(node, members).filter(|_| !self.brief.get()) {
            let name = shown(name);
            let message = format!(
                "stands under the member `{name}`, which must not be there; its members belong one level up"
            );
            found.push(Fault::at(place, message));
            return self.object(node, inner, place, depth + 1, found);
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
                    let fault =
                        Fault::at(place, format!("has the member `{}`, which is not allowed", shown(name)));
                    found.push(fault.allowed(known).stranger(name));
                }
                None => {}
            }
        }
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
            if self.mends.is_some() && schema.is_some_and(|schema| self.fits(schema, &Json::Null)) {
                continue;
            }
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
                    let message = format!("lacks the member `{name}`, within which {belong} must stand");
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

/// The one member that is not known, and holds what the object itself should.
fn within_one<'j, 't>(node: &Node, members: &'j Members<'t>) -> Option<(&'j str, &'j Members<'t>)> {
    let [(name, Json::Object(inner))] = members else { return None };
    if member_schema(node, name).is_some() {
        return None;
    }
    let named = properties(node)?;
    let known = inner.iter().filter(|(name, _)| named.contains_key(&**name)).count();
    let required = required(node).count();
    let speaks = if required == 0 { is_closed(node) } else { known * 2 >= required };
    (known > 0 && speaks).then_some((name, inner))
}
