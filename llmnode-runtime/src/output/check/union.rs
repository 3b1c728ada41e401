//! What is wrong with a value that is of none of the forms of a union: what the form lacks that was meant.

use serde_json::Value;

use super::fault::only_value;
use super::members::Members;
use super::node::{list, member_schema, properties, target};
use super::variant::Variants;
use super::words::{expected, kinds_of, listed, several, shown, told};
use super::{Check, Fault, Judge, KNOWN, Place, Weight};
use crate::output::json::Json;
use crate::output::schema::Node;

impl<'s> Check<'s> {
    pub(super) fn union(
        &self,
        forms: &'s [Value],
        alone: bool,
        value: &Json<'_>,
        place: &Place<'_>,
        depth: u32,
    ) -> Vec<Fault> {
        if self.judge == Judge::Ends || *value == Json::Null {
            return self.forms(forms, alone, value, place, depth);
        }
        let key = (forms.as_ptr(), std::ptr::from_ref(value).cast(), self.brief.get(), self.lax.get());
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        let found = self.forms(forms, alone, value, place, depth);
        let mut known = self.known.borrow_mut();
        if known.len() >= KNOWN {
            known.clear();
        }
        known.insert(key, found.clone());
        found
    }

    fn forms(
        &self,
        forms: &'s [Value],
        alone: bool,
        value: &Json<'_>,
        place: &Place<'_>,
        depth: u32,
    ) -> Vec<Fault> {
        let mut outcomes = Vec::with_capacity(forms.len());
        for (index, form) in forms.iter().enumerate() {
            let outcome = self.apply(form, value, place, depth + 1);
            // serde takes the first form that fits.
            if outcome.is_empty() && !alone && self.judge != Judge::Ends {
                let is_first = |one: &Value| self.is_taken(one, value, depth);
                if self.judge == Judge::Type && !self.lax.get() && forms[..index].iter().any(is_first) {
                    return vec![Fault::firm(
                        place,
                        "matches several forms, and the first of them would drop properties; name the form that is meant",
                    )];
                }
                return self.dropped(forms, form, value, place).into_iter().collect();
            }
            outcomes.push(outcome);
        }
        match outcomes.iter().filter(|outcome| outcome.is_empty()).count() {
            0 if self.brief.get() => outcomes.into_iter().next().unwrap_or_default(),
            0 => self.meant(forms, outcomes, value, place),
            fits if fits > 1 && alone => {
                vec![Fault::at(place, format!("fits {fits} of the forms of which it may have one"))]
            }
            _ => Vec::new(),
        }
    }

    /// A member that serde would drop with the form that it takes, though another one knows it.
    fn dropped(&self, forms: &[Value], taken: &Value, value: &Json<'_>, place: &Place<'_>) -> Option<Fault> {
        let Json::Object(members) = value else { return None };
        if self.judge != Judge::Type || self.lax.get() {
            return None;
        }
        let knows = |form: &Value, name: &str| {
            let has = |node: &&Node| properties(node).is_some_and(|named| named.contains_key(name));
            self.leaves(form).iter().any(has)
        };
        let is_free = |name: &str| self.leaves(taken).iter().any(|node| member_schema(node, name).is_some());
        let lost = |name: &str| !is_free(name) && forms.iter().any(|form| knows(form, name));
        let (name, _) = members.iter().find(|(name, _)| lost(name))?;
        let message =
            format!("has `{}`, which belongs to a different form than the other properties", shown(name));
        Some(Fault::firm(place, message))
    }

    /// What keeps a value from the form that it was meant to have, as far as that can be told.
    fn meant(
        &self,
        forms: &'s [Value],
        outcomes: Vec<Vec<Fault>>,
        value: &Json<'_>,
        place: &Place<'_>,
    ) -> Vec<Fault> {
        let leaves: Vec<&Node> = forms.iter().flat_map(|form| self.leaves(form)).collect();
        if let Some(variants) = Variants::of(&leaves) {
            return match variants.fault(self, value, place) {
                Some(fault) => vec![fault],
                None => self.nearest(forms, outcomes, value, place),
            };
        }
        let of_its_kind: Vec<_> = leaves.iter().copied().filter(|node| self.is_kind(node, value)).collect();
        if of_its_kind.is_empty() && !leaves.is_empty() {
            return vec![Fault::at(
                place,
                format!("is {}, expected {}", told(value), one_of(&leaves, " or ")),
            )];
        }
        if let Json::Object(members) = value {
            if let Some(fault) = wrong_tag(&of_its_kind, members, place) {
                return vec![fault];
            }
            let knows = |node: &&Node| members.iter().any(|(name, _)| member_schema(node, name).is_some());
            if of_its_kind.len() > 1 && !of_its_kind.iter().any(knows) {
                return vec![Fault::none_of(&of_its_kind, place)];
            }
        }
        self.nearest(forms, outcomes, value, place)
    }

    /// The faults of the form that has the fewest; if several are as near, all of them are named.
    fn nearest(
        &self,
        forms: &'s [Value],
        outcomes: Vec<Vec<Fault>>,
        value: &Json<'_>,
        place: &Place<'_>,
    ) -> Vec<Fault> {
        let mut ranked: Vec<_> = forms
            .iter()
            .zip(outcomes)
            .map(|(form, outcome)| {
                let of_type = outcome.iter().filter(|fault| fault.weight != Weight::Bound).count();
                let distance = self.distance(form, value).saturating_add(of_type);
                (distance, outcome.len(), form, outcome)
            })
            .collect();
        ranked.sort_by_key(|(distance, length, ..)| (*distance, *length));
        let rank = ranked.first().map(|(distance, length, ..)| (*distance, *length));
        let as_near = ranked.iter().take_while(|(distance, length, ..)| rank == Some((*distance, *length)));
        let leaves: Vec<_> = as_near.flat_map(|(_, _, form, _)| self.leaves(form)).collect();
        let several = leaves.len() > 1
            && ranked.get(1).is_some_and(|(distance, length, ..)| rank == Some((*distance, *length)));
        if several {
            return vec![Fault::none_of(&leaves, place)];
        }
        ranked.into_iter().next().map(|(.., outcome)| outcome).unwrap_or_default()
    }

    /// How much of a value a form does not know, or what shows that another one was meant.
    fn distance(&self, form: &'s Value, value: &Json<'_>) -> usize {
        const ANOTHER_KIND: usize = 1000;
        const ANOTHER_TAG: usize = 100;
        let each = self.leaves(form).into_iter().map(|node| {
            if !self.is_kind(node, value) {
                return ANOTHER_KIND;
            }
            let Json::Object(members) = value else { return 0 };
            let unknown = members.iter().filter(|(name, _)| member_schema(node, name).is_none()).count();
            if has_another_tag(node, members) { ANOTHER_TAG + unknown } else { unknown }
        });
        each.min().unwrap_or(0)
    }

    /// The forms of a schema that are no unions themselves, each once.
    pub(crate) fn leaves<'v>(&self, form: &'v Value) -> Vec<&'v Node>
    where
        's: 'v,
    {
        let (mut leaves, mut open, mut seen) = (Vec::new(), vec![form], Vec::new());
        while let Some(node) = open.pop() {
            let Some(node) = node.as_object() else { continue };
            let to = node.get("$ref").and_then(Value::as_str).and_then(|to| target(self.root, to));
            let inner = ["anyOf", "oneOf"].into_iter().flat_map(|keyword| list(node, keyword));
            if let Some(schema) = to {
                // One that leads to itself says nothing more.
                if !seen.iter().any(|known| std::ptr::eq(*known, schema)) {
                    seen.push(schema);
                    open.push(schema);
                }
                continue;
            }
            let length = open.len();
            open.extend(inner);
            // In their order: the last one is looked at first.
            open[length..].reverse();
            if open.len() == length {
                leaves.push(node);
            }
        }
        leaves
    }

    pub(crate) fn is_kind(&self, node: &Node, value: &Json<'_>) -> bool {
        let kinds = kinds_of(node);
        let number = matches!(value, Json::Number(_)) && kinds.contains(&"integer");
        number || kinds.is_empty() || kinds.into_iter().any(|kind| self.is_type(kind, value))
    }
}

impl Fault {
    fn none_of(leaves: &[&Node], place: &Place<'_>) -> Fault {
        Fault::at(place, format!("has none of the forms that it may have: {}", one_of(leaves, "; or ")))
    }
}

/// Each form in words, once.
fn one_of(leaves: &[&Node], between: &str) -> String {
    let mut forms: Vec<String> = Vec::new();
    for form in leaves.iter().map(|node| expected(node)) {
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    several(forms.into_iter(), between)
}

/// The one value that a member of a form may have, and that tells it from others.
pub(in crate::output) fn tag<'s>(node: &'s Node, name: &str) -> Option<&'s Value> {
    only_value(properties(node)?.get(name)?.as_object()?)
}

pub(in crate::output) fn has_another_tag(node: &Node, members: &Members<'_>) -> bool {
    members.iter().any(|(name, value)| tag(node, name).is_some_and(|tag| Json::from(tag) != *value))
}

/// What is wrong with the member that says which form is meant: it names none, or is not there.
fn wrong_tag(forms: &[&Node], members: &Members<'_>, place: &Place<'_>) -> Option<Fault> {
    let [first, _, ..] = forms else { return None };
    let given = |name: &str| members.iter().find(|(given, _)| given == name).map(|(_, value)| value);
    for name in properties(first)?.keys() {
        let Some(tags) = forms.iter().map(|node| tag(node, name)).collect::<Option<Vec<_>>>() else {
            continue;
        };
        let allowed = tags.iter().map(|tag| listed(tag));
        match given(name) {
            None => return Some(Fault::at(place, format!("missing property `{name}`")).allowed(allowed)),
            Some(value) if tags.iter().all(|tag| Json::from(*tag) != *value) => {
                let message = format!("is {}, which is not allowed", told(value));
                let fault = Fault::at(&place.member(name), message).allowed(allowed);
                return Some(if let Json::String(text) = value { fault.given(text) } else { fault });
            }
            Some(_) => return None,
        }
    }
    None
}
