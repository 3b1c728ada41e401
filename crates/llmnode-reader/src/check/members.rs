//! Faults in the members of an object: missing, unknown or misspelled ones.
//!
//! First what serde would lose without a word (`loss`): if members are unknown, it
//! is likely that the whole object is something else, and then this is all that is
//! said. Then what is missing, where a member in another spelling is taken for the
//! missing one, so that it is not reported twice; and at last each member that is
//! there.

use std::collections::HashMap;

use super::checker::{CheckMode, Checker};
use super::describe::{excerpt, join_some, property_list};
use super::fault::count_fault;
use super::{Fault, Location, Rule};
use crate::json::{Json, Members};
use crate::text::{misspelling_of, same_letters};

/// Of an answer that is the schema. Those who show a form in place of the schema
/// look for this text.
pub(crate) const REPEATED_SCHEMA: &str = "repeats the schema instead of filling it in";

/// How many unknown members are looked at for each missing one.
const MAX_UNKNOWN: usize = 16;

/// Of a name in a map whose keys are integers.
fn no_number(name: &str, rule: &Rule) -> String {
    let may_be_negative = rule.numeric_keys.iter().any(|(signed, _)| *signed);
    let expected = if may_be_negative {
        "a whole number"
    } else {
        "a whole number that is not negative"
    };
    format!(
        "has the key {:?}, must be {expected}, in digits",
        excerpt(name)
    )
}

/// A member in another spelling than the required one that it is.
struct Respelled<'n> {
    written: &'n str,
    name: &'n str,
}

impl<'s> Checker<'s> {
    /// What is wrong with an object. See the page for the order.
    pub(super) fn object(
        &self,
        rule: &'s Rule,
        members: &Members<'_>,
        place: &Location<'_>,
        depth: u32,
        found: &mut Vec<Fault>,
    ) {
        const COUNTS: [&str; 2] = ["minProperties", "maxProperties"];
        let count = members.len() as u64;
        found.extend(count_fault(rule, COUNTS, count, "member", place));
        if self.mode == CheckMode::Type
            && !self.type_faults_only.get()
            && let Some(message) = self.loss(rule, members)
        {
            return found.push(Fault::lossy(place, message));
        }
        let respelled = self.missing_members(rule, members, place, found);
        for (name, value) in members {
            if !self.is_complete() || self.is_enough(found) {
                break;
            }
            if self.is_null_for_absent(rule, name, value) {
                continue;
            }
            let respelled = respelled.iter().find(|one| one.written == name);
            let right_name = respelled.map_or(&**name, |one| one.name);
            match rule.member(right_name) {
                Some(number) => {
                    let member_rule = self.rules.at(number);
                    let inner = self.apply(member_rule, value, &place.member(name), depth + 1);
                    found.extend(inner);
                }
                None if rule.is_closed && !rule.numeric_keys.is_empty() => {
                    found.push(Fault::at(place, no_number(name, rule)));
                }
                None if rule.is_closed && respelled.is_none() => {
                    let message = format!("unknown property `{}`", excerpt(name));
                    let names = rule.names().map(str::to_owned);
                    let fault = Fault::at(place, message).allowed(names);
                    found.push(fault.unknown_member(name));
                }
                None => {}
            }
        }
    }

    /// What serde would drop of the object without a word, or what the object is in
    /// place of a value.
    ///
    /// From what leaves no doubt to what is only likely: the first that holds is said.
    fn loss(&self, rule: &'s Rule, members: &Members<'_>) -> Option<String> {
        if is_error_object(rule, members) {
            return Some("is an error, not a value of the type".to_owned());
        }
        let takes_any = rule.names().next().is_none() || rule.additional.is_some();
        if takes_any || members.is_empty() {
            return None;
        }
        if is_schema(rule, members) {
            return Some(REPEATED_SCHEMA.to_owned());
        }
        if has_placeholders(members) {
            return Some("has placeholders for its texts; write the real values".to_owned());
        }
        let mut unknown = Vec::new();
        for (name, value) in members {
            if rule.member(name).is_none() {
                unknown.push((&**name, value));
            }
        }
        // Nearly always this is all.
        if unknown.is_empty() {
            return None;
        }
        let mut present: HashMap<&str, &Json<'_>> = HashMap::new();
        for (name, value) in members {
            if rule.has_property(name) {
                present.insert(name, value);
            }
        }
        rival(rule, &present, &unknown)
            .or_else(|| few_properties(rule, unknown.len(), members.len()))
            .or_else(|| misspelled_optional(rule, &present, &unknown))
            .or_else(|| self.value_within(rule, &unknown))
    }

    /// A member that no property is may hold the whole value.
    fn value_within(&self, rule: &'s Rule, unknown: &[(&str, &Json<'_>)]) -> Option<String> {
        for (name, value) in unknown {
            let Json::Object(inner) = value else {
                continue;
            };
            let has_property = inner.iter().any(|(name, _)| rule.has_property(name));
            if has_property && self.fits(rule, value) {
                return Some(format!(
                    "the value is inside `{}`; answer with that value alone",
                    excerpt(name)
                ));
            }
        }
        None
    }

    /// Reports required members that are missing. Returns those that are written
    /// with another spelling, which is reported.
    fn missing_members<'n>(
        &self,
        rule: &'n Rule,
        members: &'n Members<'_>,
        place: &Location<'_>,
        found: &mut Vec<Fault>,
    ) -> Vec<Respelled<'n>> {
        let mut respelled = Vec::new();
        for name in &rule.required {
            if members.iter().any(|(member, _)| member == name) {
                continue;
            }
            if self.is_enough(found) {
                break;
            }
            // Nobody reads the message then.
            if self.first_fault_only.get() {
                found.push(Fault::at(place, String::new()));
                break;
            }
            let unknown = unknown_names(rule, members);
            if let Some(written) = unknown.iter().find(|other| same_letters(other, name)) {
                let message = format!("has `{}`, which must be written `{name}`", excerpt(written));
                found.push(Fault::at(place, message));
                respelled.push(Respelled { written, name });
                continue;
            }
            let would_hold = match rule.member(name) {
                Some(number) => self.would_hold(number, &unknown),
                None => false,
            };
            if would_hold {
                let quoted = unknown.iter().map(|name| format!("`{}`", excerpt(name)));
                let names = join_some(quoted, ", ");
                let message = format!("missing property `{name}`, which must contain {names}");
                found.push(Fault::at(place, message));
            } else {
                found.push(Fault::missing(name, &unknown, place));
            }
        }
        respelled
    }

    /// Whether all these names are properties of the member: then its own object
    /// was left out around them.
    fn would_hold(&self, number: usize, names: &[&str]) -> bool {
        let leaves = self.rules.leaves(self.rules.at(number));
        let [rule] = leaves[..] else {
            return false;
        };
        !names.is_empty() && names.iter().all(|name| rule.has_property(name))
    }
}

/// The first members that the type does not have.
fn unknown_names<'n>(rule: &Rule, members: &'n Members<'_>) -> Vec<&'n str> {
    let mut unknown = Vec::new();
    for (name, _) in members {
        if unknown.len() == MAX_UNKNOWN {
            break;
        }
        if rule.member(name).is_none() {
            unknown.push(&**name);
        }
    }
    unknown
}

/// `{"error": ..}` for a type that is an object without such a property.
fn is_error_object(rule: &Rule, members: &Members<'_>) -> bool {
    let [(name, _)] = members else {
        return false;
    };
    name == "error" && !rule.has_property(name) && rule.has_type("object")
}

/// Whether the object is a schema, and the type has neither of the properties that show it.
fn is_schema(rule: &Rule, members: &Members<'_>) -> bool {
    ["type", "properties"].iter().all(|keyword| {
        let is_there = members.iter().any(|(name, _)| name == keyword);
        is_there && !rule.has_property(keyword)
    })
}

/// Whether all texts, of which there are several, are the name of their type.
fn has_placeholders(members: &Members<'_>) -> bool {
    let mut texts = 0;
    for (_, value) in members {
        match value.as_text() {
            Some("string") => texts += 1,
            Some(_) => return false,
            None => {}
        }
    }
    texts > 1
}

/// A property that is there in two spellings, with two values.
fn rival(
    rule: &Rule,
    present: &HashMap<&str, &Json<'_>>,
    unknown: &[(&str, &Json<'_>)],
) -> Option<String> {
    for (name, value) in unknown {
        let Some(property) = rule.names().find(|property| same_letters(property, name)) else {
            continue;
        };
        let Some(other) = present.get(property) else {
            continue;
        };
        if other != value {
            return Some(format!(
                "has `{}` beside `{property}`, with different values",
                excerpt(name)
            ));
        }
    }
    None
}

/// A type that requires nothing takes any object. One that has hardly any of its
/// properties is probably another one.
fn few_properties(rule: &Rule, unknown: usize, all: usize) -> Option<String> {
    if !rule.required.is_empty() || unknown * 2 <= all {
        return None;
    }
    let number = if unknown == all {
        "no property"
    } else {
        "few properties"
    };
    Some(format!(
        "has {number} of the type, which are {}",
        property_list(rule)
    ))
}

/// An optional property in another spelling. Of a required one it is said that it
/// is missing; of a closed type, that the member is unknown.
fn misspelled_optional(
    rule: &Rule,
    present: &HashMap<&str, &Json<'_>>,
    unknown: &[(&str, &Json<'_>)],
) -> Option<String> {
    if rule.is_closed {
        return None;
    }
    let mut absent = Vec::new();
    for name in rule.names() {
        let is_required = rule.required.iter().any(|required| required == name);
        if !is_required && !present.contains_key(name) {
            absent.push(name);
        }
    }
    for (name, _) in unknown {
        if let Some(nearest) = misspelling_of(name, absent.iter().copied()) {
            return Some(format!(
                "unknown property `{}` (did you mean {nearest:?}?)",
                excerpt(name)
            ));
        }
    }
    None
}
