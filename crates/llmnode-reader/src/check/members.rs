//! Faults in the members of an object: missing, unknown or misspelled ones.

use std::collections::HashMap;

use super::checker::{CheckMode, Checker};
use super::describe::{excerpt, join_some, property_list};
use super::fault::count_fault;
use super::{Fault, Location, Rule};
use crate::json::{Json, Members};
use crate::text::{misspelling_of, same_letters};

pub(crate) const REPEATED_SCHEMA: &str = "repeats the schema instead of filling it in";

const MAX_UNKNOWN: usize = 16;

/// Of a name in a map whose keys are integers.
fn no_number(name: &str, rule: &Rule) -> String {
    let may_be_negative = rule.numeric_keys.iter().any(|(signed, _)| *signed);
    let wanted = if may_be_negative {
        "a whole number"
    } else {
        "a whole number that is not negative"
    };
    format!(
        "has the key {:?}, must be {wanted}, in digits",
        excerpt(name)
    )
}

impl<'s> Checker<'s> {
    pub(super) fn object(
        &self,
        rule: &'s Rule,
        members: &Members<'_>,
        place: &Location<'_>,
        depth: u32,
        found: &mut Vec<Fault>,
    ) {
        let count = members.len() as u64;
        found.extend(count_fault(
            rule,
            ["minProperties", "maxProperties"],
            count,
            "member",
            place,
        ));
        if self.mode == CheckMode::Type
            && !self.type_faults_only.get()
            && let Some(fault) = self.unknown_member(rule, members, place)
        {
            return found.push(fault);
        }
        let respelled = self.missing_members(rule, members, place, found);
        for (name, value) in members.iter().take_while(|_| self.is_complete()) {
            if self.is_enough(found) {
                break;
            }
            if self.is_null_for_absent(rule, name, value) {
                continue;
            }
            let meant = respelled
                .iter()
                .find(|(given, _)| given == name)
                .map(|(_, meant)| *meant);
            match rule.member(meant.unwrap_or(name)) {
                Some(number) => {
                    found.extend(self.apply(
                        self.rules.at(number),
                        value,
                        &place.member(name),
                        depth + 1,
                    ));
                }
                None if rule.is_closed && !rule.numeric_keys.is_empty() => {
                    found.push(Fault::at(place, no_number(name, rule)));
                }
                None if rule.is_closed && meant.is_none() => {
                    let known = rule.names().map(str::to_owned);
                    let fault = Fault::at(place, format!("unknown property `{}`", excerpt(name)));
                    found.push(fault.allowed(known).unknown_member(name));
                }
                None => {}
            }
        }
    }

    /// serde would accept the object, and drop such members.
    fn unknown_member(
        &self,
        rule: &'s Rule,
        members: &Members<'_>,
        place: &Location<'_>,
    ) -> Option<Fault> {
        let fault = |message: String| Some(Fault::lossy(place, message));
        if let [(name, _)] = members
            && name == "error"
            && !rule.has_property(name)
            && rule.has_type("object")
        {
            return fault("is an error, not a value of the type".to_owned());
        }
        if rule.names().next().is_none() || rule.additional.is_some() || members.is_empty() {
            return None;
        }
        let given = |name: &str| members.iter().any(|(given, _)| given == name);
        if given("type")
            && given("properties")
            && !rule.has_property("type")
            && !rule.has_property("properties")
        {
            return fault(REPEATED_SCHEMA.to_owned());
        }
        let texts = || members.iter().filter_map(|(_, value)| value.as_text());
        if texts().count() > 1 && texts().all(|text| text == "string") {
            return fault("has placeholders for its texts; write the real values".to_owned());
        }
        let unknown: Vec<_> = members
            .iter()
            .filter(|(name, _)| rule.member(name).is_none())
            .collect();
        if unknown.is_empty() {
            return None;
        }
        let given: HashMap<&str, &Json<'_>> = members
            .iter()
            .filter(|(name, _)| rule.has_property(name))
            .map(|(name, value)| (&**name, value))
            .collect();
        for (name, value) in &unknown {
            let known = rule.names().find(|known| same_letters(known, name));
            let rival = known.and_then(|known| Some((known, given.get(known)?)));
            if let Some((known, _)) = rival.filter(|(_, other)| **other != value) {
                return fault(format!(
                    "has `{}` beside `{known}`, with different values",
                    excerpt(name)
                ));
            }
        }
        if rule.required.is_empty() && unknown.len() * 2 > members.len() {
            let most = if unknown.len() == members.len() {
                "no property"
            } else {
                "few properties"
            };
            return fault(format!(
                "has {most} of the type, which are {}",
                property_list(rule)
            ));
        }
        let absent: Vec<&str> = rule
            .names()
            .filter(|name| {
                !given.contains_key(name) && !rule.required.iter().any(|one| one == name)
            })
            .collect();
        for (name, _) in unknown.iter().filter(|_| !rule.is_closed) {
            if let Some(meant) = misspelling_of(name, absent.iter().copied()) {
                return fault(format!(
                    "unknown property `{}` (did you mean {meant:?}?)",
                    excerpt(name)
                ));
            }
        }
        let (name, _) = unknown.into_iter().find(|(_, value)| {
            let known = |inner: &Members<'_>| inner.iter().any(|(name, _)| rule.has_property(name));
            matches!(value, Json::Object(inner) if known(inner) && self.fits(rule, value))
        })?;
        fault(format!(
            "the value is inside `{}`; answer with that value alone",
            excerpt(name)
        ))
    }

    /// Returns the missing members that are written with another spelling, which is reported, with the right names.
    fn missing_members<'n>(
        &self,
        rule: &'n Rule,
        members: &'n Members<'_>,
        place: &Location<'_>,
        found: &mut Vec<Fault>,
    ) -> Vec<(&'n str, &'n str)> {
        let mut respelled = Vec::new();
        let is_lacking = |name: &&String| !members.iter().any(|(given, _)| given == *name);
        for name in rule.required.iter().filter(is_lacking) {
            if self.is_enough(found) {
                break;
            }
            if self.first_fault_only.get() {
                found.push(Fault::at(place, String::new()));
                break;
            }
            let unknown = members
                .iter()
                .map(|(name, _)| &**name)
                .filter(|name| rule.member(name).is_none());
            let unknown: Vec<&str> = unknown.take(MAX_UNKNOWN).collect();
            match unknown.iter().find(|given| same_letters(given, name)) {
                Some(given) => {
                    let message =
                        format!("has `{}`, which must be written `{name}`", excerpt(given));
                    found.push(Fault::at(place, message));
                    respelled.push((*given, name.as_str()));
                }
                None if rule
                    .member(name)
                    .is_some_and(|number| self.would_hold(number, &unknown)) =>
                {
                    let belong = join_some(
                        unknown.iter().map(|name| format!("`{}`", excerpt(name))),
                        ", ",
                    );
                    let message = format!("missing property `{name}`, which must contain {belong}");
                    found.push(Fault::at(place, message));
                }
                None => found.push(Fault::missing(name, &unknown, place)),
            }
        }
        respelled
    }

    fn would_hold(&self, number: usize, names: &[&str]) -> bool {
        let leaves = self.rules.leaves(self.rules.at(number));
        matches!(leaves[..], [rule] if !names.is_empty() && names.iter().all(|name| rule.has_property(name)))
    }
}
