//! What is wrong with a value that is of none of the forms of a union: what the form lacks that was meant.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::words::{either, listed, told, type_of, types};
use super::{Check, Fault, Judge, Place, is_closed, list, member_schema, properties, target};
use crate::output::reader::Json;

/// References and unions that are followed to see what a form is.
const HOPS: u8 = 16;

type Members<'j> = [(Cow<'j, str>, Json<'j>)];

impl<'s> Check<'s> {
    pub(super) fn union(
        &self,
        forms: &'s [Value],
        alone: bool,
        value: &Json<'_>,
        place: &Place<'_>,
        depth: u32,
    ) -> Vec<Fault> {
        let mut outcomes = Vec::with_capacity(forms.len());
        for form in forms {
            let outcome = self.apply(form, value, place, depth + 1);
            // serde takes the first form that fits.
            if outcome.is_empty() && !alone && self.judge != Judge::Ends {
                return outcome;
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

    /// What keeps a value from the form that it was meant to have, as far as that can be told.
    fn meant(
        &self,
        forms: &'s [Value],
        outcomes: Vec<Vec<Fault>>,
        value: &Json<'_>,
        place: &Place<'_>,
    ) -> Vec<Fault> {
        let leaves: Vec<&Map<String, Value>> = forms.iter().flat_map(|form| self.leaves(form)).collect();
        let of_its_kind: Vec<_> = leaves.iter().copied().filter(|node| self.is_kind(node, value)).collect();
        if of_its_kind.is_empty() && !leaves.is_empty() {
            let mut kinds: Vec<&str> = Vec::new();
            for kind in leaves.iter().flat_map(|node| kinds_of(node)) {
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
            return vec![Fault::at(place, format!("is {}, expected {}", told(value), either(&kinds)))];
        }
        if let Json::Object(members) = value
            && let Some(fault) = wrong_tag(&of_its_kind, members, place)
        {
            return vec![fault];
        }
        self.nearest(forms, outcomes, value)
    }

    /// The faults of the form that has the fewest; if several are as near, that is said.
    fn nearest(&self, forms: &'s [Value], outcomes: Vec<Vec<Fault>>, value: &Json<'_>) -> Vec<Fault> {
        let mut ranked: Vec<_> = forms
            .iter()
            .zip(outcomes)
            .map(|(form, outcome)| {
                let of_type = outcome.iter().filter(|fault| !fault.bound).count();
                let distance = self.distance(form, value).saturating_add(of_type);
                (distance, outcome.len(), outcome)
            })
            .collect();
        ranked.sort_by_key(|(distance, length, _)| (*distance, *length));
        let several = ranked.len() > 1 && ranked[0].0 == ranked[1].0 && ranked[0].1 == ranked[1].1;
        let forms = ranked.len();
        let mut nearest = ranked.into_iter().next().map(|(_, _, outcome)| outcome).unwrap_or_default();
        if let Some(first) = nearest.first_mut().filter(|_| several) {
            first.violation.message += &format!(" (or another of {forms} forms)");
        }
        nearest
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

    /// The forms of a schema that are no unions themselves.
    pub(crate) fn leaves<'v>(&'v self, form: &'v Value) -> Vec<&'v Map<String, Value>> {
        self.leaves_within(form, HOPS)
    }

    fn leaves_within<'v>(&'v self, form: &'v Value, hops: u8) -> Vec<&'v Map<String, Value>> {
        let Some(node) = form.as_object() else { return Vec::new() };
        if hops == 0 {
            return Vec::new();
        }
        if let Some(schema) = node.get("$ref").and_then(Value::as_str).and_then(|to| target(self.root, to)) {
            return self.leaves_within(schema, hops - 1);
        }
        let inner = ["anyOf", "oneOf"].into_iter().flat_map(|keyword| list(node, keyword));
        let mut leaves: Vec<_> = inner.flat_map(|form| self.leaves_within(form, hops - 1)).collect();
        if leaves.is_empty() {
            leaves.push(node);
        }
        leaves
    }

    pub(crate) fn is_kind(&self, node: &Map<String, Value>, value: &Json<'_>) -> bool {
        let kinds = kinds_of(node);
        let number = matches!(value, Json::Number(_)) && kinds.contains(&"integer");
        number || kinds.is_empty() || kinds.into_iter().any(|kind| self.is_type(kind, value))
    }
}

/// The types that a form may have.
fn kinds_of(node: &Map<String, Value>) -> Vec<&str> {
    let named = types(node);
    if !named.is_empty() {
        return named;
    }
    let values = node.get("const").map(std::slice::from_ref).unwrap_or_else(|| list(node, "enum"));
    values.iter().map(type_of).collect()
}

/// The one value that a member of a form may have, and that tells it from others.
fn tag<'s>(node: &'s Map<String, Value>, name: &str) -> Option<&'s Value> {
    let schema = properties(node)?.get(name)?.as_object()?;
    match (schema.get("const"), list(schema, "enum")) {
        (Some(only), _) | (None, [only]) => Some(only),
        _ => None,
    }
}

fn has_another_tag(node: &Map<String, Value>, members: &Members<'_>) -> bool {
    members.iter().any(|(name, value)| tag(node, name).is_some_and(|tag| Json::from(tag) != *value))
}

/// What is wrong with the member that says which form is meant: it names none, or is not there.
fn wrong_tag(forms: &[&Map<String, Value>], members: &Members<'_>, place: &Place<'_>) -> Option<Fault> {
    let [first, _, ..] = forms else { return None };
    let given = |name: &str| members.iter().find(|(given, _)| given == name).map(|(_, value)| value);
    for name in properties(first)?.keys() {
        let Some(tags) = forms.iter().map(|node| tag(node, name)).collect::<Option<Vec<_>>>() else {
            continue;
        };
        let allowed = tags.iter().map(|tag| listed(tag));
        match given(name) {
            None => return Some(Fault::at(place, format!("lacks the member `{name}`")).allowed(allowed)),
            Some(value) if tags.iter().all(|tag| Json::from(*tag) != *value) => {
                let fault = Fault::at(&place.member(name), super::not_allowed(value));
                return Some(fault.allowed(allowed));
            }
            Some(_) => return None,
        }
    }
    let names: Option<Vec<&String>> = forms.iter().map(|node| only_member(node)).collect();
    let names = names.filter(|names| !names.iter().any(|name| given(name).is_some()))?;
    let message = match members {
        [(name, _)] => format!("has no member `{}`", super::shown(name)),
        _ => "must have one member, the name of a form".to_owned(),
    };
    Some(Fault::at(place, message).allowed(names.into_iter().cloned()))
}

/// The name of the variant, where the form is the object that serde wraps a variant in.
fn only_member(node: &Map<String, Value>) -> Option<&String> {
    let mut names = properties(node)?.keys();
    let only = names.next().filter(|_| names.next().is_none() && is_closed(node))?;
    list(node, "required").iter().any(|required| required == only).then_some(only)
}
