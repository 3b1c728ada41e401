//! Whether JSON is what a schema says, with words that a model can act on: everything that is wrong, not the first of it.
//!
//! `pattern`, `format` and what else is not named here are not checked; a primitive does not let such rules in (its
//! `supported`), so that none is silently passed over.

mod again;
mod bounds;
mod fault;
mod items;
mod members;
mod names;
mod node;
mod number;
mod place;
mod shape;
mod union;
mod variant;
pub(crate) mod words;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use serde_json::Value;

use super::json::Json;
use super::schema::{Node, WRAPPER};
use crate::validate::Violation;

pub(super) use self::again::may_be as may_read_again;
pub(super) use self::bounds::any as states_bounds;
pub(super) use self::fault::{Fault, Weight, tell};
use self::fault::{count_fault, unlisted};
pub(crate) use self::items::same;
pub(crate) use self::names::in_json_names;
pub(crate) use self::node::target;
pub(super) use self::node::{Said, list, member_schema, properties, required};
pub(crate) use self::number::Decimal;
use self::number::number_faults;
pub(super) use self::place::Place;
pub(super) use self::shape::shape;
pub(super) use self::union::{has_another_tag, tag};
pub(super) use self::words::{types, values};

/// How many schemas are applied to parts of one answer at most, beside some for each part that it has, and how deep within
/// one another. What needs more cannot be checked: unions nested in recursion would take for ever.
const WORK: u64 = 50_000;
const WORK_OF_A_PART: u64 = 32;
const DEPTH: u32 = 320;
/// How many violations are told of one answer at most.
const MOST: usize = 50;

/// What is wrong with a value by a schema, of which every rule counts; `wrapped` as in [`inside`].
pub(crate) fn violations(root: &Value, value: &Json<'_>, wrapped: bool) -> Vec<Violation> {
    by_schema(root, root, value, wrapped)
}

/// The same for a part of `root`, from which references start.
pub(super) fn by_schema(root: &Value, schema: &Value, value: &Json<'_>, wrapped: bool) -> Vec<Violation> {
    tell(faults(root, schema, Judge::Schema, value, wrapped))
}

/// All that is wrong with a value; `wrapped` as in [`inside`].
pub(super) fn faults(
    root: &Value,
    schema: &Value,
    judge: Judge,
    value: &Json<'_>,
    wrapped: bool,
) -> Vec<Fault> {
    let check = Check::new(root, judge, [value]);
    let found = check.apply(schema, value, &inside(wrapped), 0);
    if check.ends() {
        return found;
    }
    let message = "is nested too deeply, or is too long, to be checked against the schema";
    vec![Fault::endless(message)]
}

/// Where a value stands in the answer. `wrapped`: as the member that wraps it, so that paths begin with that.
pub(super) fn inside(wrapped: bool) -> Place<'static> {
    const WHOLE: &Place<'static> = &Place::WHOLE;
    if wrapped { WHOLE.member(WRAPPER) } else { Place::WHOLE }
}

/// Whether this part of a schema can be applied at all: not if it refers to itself without going deeper.
pub(crate) fn ends(root: &Value, schema: &Value) -> bool {
    let check = Check::new(root, Judge::Ends, []);
    // Nothing is inside `null`, so only the references and unions at this very place are followed.
    check.apply(schema, &Json::Null, &Place::WHOLE, 0);
    check.ends()
}

/// By what a value is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judge {
    /// The schema alone, as JSON Schema has it.
    Schema,
    /// A type of serde's, which the schema describes: `3.0` is no integer, members that may be absent may be null, and a
    /// set may have an item twice.
    Type,
    /// Nothing; every way through the schema is gone to see whether it ends.
    Ends,
}

/// A check of values, which counts the work.
pub(crate) struct Check<'s> {
    root: &'s Value,
    judge: Judge,
    work: Cell<u64>,
    exhausted: Cell<bool>,
    /// Whether the first fault is enough.
    brief: Cell<bool>,
    /// Whether only what serde refuses as well is a fault.
    lax: Cell<bool>,
    known: RefCell<Known>,
}

/// What was found of unions, by the places in memory of forms and value, and whether the first fault was enough. Where
/// unions nest, each form of one asks the same of the next.
type Known = HashMap<(*const Value, *const (), bool, bool), Vec<Fault>>;

/// How much of it is kept.
const KNOWN: usize = 4096;

impl<'s> Check<'s> {
    /// A check of these values together.
    pub(crate) fn new<'j, 't: 'j>(
        root: &'s Value,
        judge: Judge,
        values: impl IntoIterator<Item = &'j Json<'t>>,
    ) -> Self {
        let parts = values.into_iter().map(Json::parts).fold(0, u64::saturating_add);
        let work = Cell::new(WORK.saturating_add(parts.saturating_mul(WORK_OF_A_PART)));
        Check {
            root,
            judge,
            work,
            exhausted: Cell::new(false),
            brief: Cell::new(false),
            lax: Cell::new(false),
            known: RefCell::default(),
        }
    }

    pub(crate) fn root(&self) -> &'s Value {
        self.root
    }

    /// Whether a value is what this part of the schema says.
    pub(crate) fn fits(&self, schema: &Value, value: &Json<'_>) -> bool {
        self.found_none(|check| check.apply(schema, value, &Place::WHOLE, 0))
    }

    /// The same for a schema that is no union and no reference.
    pub(super) fn fits_node(&self, node: &Node, value: &Json<'_>) -> bool {
        self.found_none(|check| check.apply_node(node, value, &Place::WHOLE, 0))
    }

    fn found_none(&self, apply: impl Fn(&Self) -> Vec<Fault>) -> bool {
        let brief = self.brief.replace(true);
        let found = apply(self);
        self.brief.set(brief);
        if !brief {
            // The value may be gone before the next one is looked at.
            self.known.borrow_mut().clear();
        }
        found.is_empty() && self.ends()
    }

    /// Whether everything was looked at.
    pub(crate) fn ends(&self) -> bool {
        !self.exhausted.get()
    }

    /// Whether no more faults are looked for.
    fn is_enough(&self, found: &[Fault]) -> bool {
        found.len() > MOST
            || (self.brief.get() && found.iter().any(|fault| !self.lax.get() || fault.weight == Weight::Type))
    }

    pub(crate) fn spend(&self, work: u64, depth: u32) -> bool {
        let left = self.work.get().checked_sub(work).filter(|_| depth <= DEPTH);
        self.work.set(left.unwrap_or(0));
        self.exhausted.set(self.exhausted.get() || left.is_none());
        left.is_some()
    }

    /// What is wrong with `value`, which stands at `place`, by this part of the schema.
    pub(super) fn apply(
        &self,
        schema: &Value,
        value: &Json<'_>,
        place: &Place<'_>,
        depth: u32,
    ) -> Vec<Fault> {
        if !self.spend(1, depth) {
            return Vec::new();
        }
        let node = match schema {
            Value::Object(node) => node,
            Value::Bool(false) => return vec![Fault::at(place, "must not be there")],
            _ => return self.rounded(value, place),
        };
        self.apply_node(node, value, place, depth)
    }

    fn apply_node(&self, node: &Node, value: &Json<'_>, place: &Place<'_>, depth: u32) -> Vec<Fault> {
        let said = Said::of(node);
        if self.judge == Judge::Type && !said.anything {
            return self.rounded(value, place);
        }
        let mut found = Vec::new();
        if said.lists {
            found.extend(unlisted(node, value, place));
        }
        let has_type = said.is_type(|name| self.is_type(name, value));
        if found.is_empty() && !has_type {
            found.push(Fault::kind(node, value, place));
        }
        if self.is_enough(&found) {
            return found;
        }
        match value {
            Json::Number(digits) => {
                if self.judge == Judge::Type && has_type {
                    found.extend(number::not_held(node, digits).map(|fault| Fault::firm(place, fault)));
                }
                if said.bounds {
                    found.extend(number_faults(node, digits).map(|fault| Fault::bound(place, fault)));
                }
            }
            Json::String(text) if said.bounds => {
                let length = text.chars().count() as u64;
                found.extend(count_fault(node, "minLength", "maxLength", length, "character", place));
            }
            Json::Array(items) => self.array(node, items, place, depth, &mut found),
            Json::Object(members) => self.object(node, members, place, depth, &mut found),
            Json::String(_) | Json::Null | Json::Bool(_) => {}
        }
        if said.combines && !self.is_enough(&found) {
            self.combined(node, value, place, depth, &mut found);
        }
        if self.lax.get() {
            found.retain(|fault| fault.weight == Weight::Type);
        }
        found.truncate(MOST);
        found
    }

    /// Whether serde takes a value as this form, whatever it loses.
    fn is_taken(&self, form: &Value, value: &Json<'_>, depth: u32) -> bool {
        let (brief, lax) = (self.brief.replace(true), self.lax.replace(true));
        let found = self.apply(form, value, &Place::WHOLE, depth + 1);
        self.brief.set(brief);
        self.lax.set(lax);
        found.is_empty()
    }

    /// A null in place of a member that may be absent: the reader takes it out.
    pub(crate) fn stands_for_absent(&self, node: &Node, name: &str, value: &Json<'_>) -> bool {
        self.judge == Judge::Type
            && *value == Json::Null
            && properties(node).is_some_and(|named| named.contains_key(name))
            && !list(node, "required").iter().any(|required| required == name)
    }

    /// Whole numbers that a program does not hold exactly, in a value of any kind.
    fn rounded(&self, value: &Json<'_>, place: &Place<'_>) -> Vec<Fault> {
        match value {
            _ if self.judge != Judge::Type => Vec::new(),
            Json::Number(digits) => {
                let fault = number::rounded(digits).map(|fault| Fault::firm(place, fault));
                fault.into_iter().collect()
            }
            Json::Array(items) => {
                let items = items.iter().enumerate();
                items.flat_map(|(index, item)| self.rounded(item, &place.item(index))).collect()
            }
            Json::Object(members) => {
                members.iter().flat_map(|(name, value)| self.rounded(value, &place.member(name))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// References and combinations. To see whether they end, all of them are applied, also where one would decide.
    fn combined(&self, node: &Node, value: &Json<'_>, place: &Place<'_>, depth: u32, found: &mut Vec<Fault>) {
        let apply = |schema: &Value| self.apply(schema, value, place, depth + 1);
        if let Some(schema) = node.get("$ref").and_then(Value::as_str).and_then(|to| target(self.root, to)) {
            found.extend(apply(schema));
        }
        found.extend(list(node, "allOf").iter().flat_map(apply));
        for keyword in ["anyOf", "oneOf"] {
            let forms = list(node, keyword);
            if !forms.is_empty() {
                let alone = keyword == "oneOf" && self.judge == Judge::Schema;
                found.extend(self.union(forms, alone, value, place, depth));
            }
        }
        if node.get("not").is_some_and(|schema| apply(schema).is_empty()) {
            found.push(Fault::at(place, "is of a form that is excluded"));
        }
    }

    pub(crate) fn is_type(&self, name: &str, value: &Json<'_>) -> bool {
        match (name, value) {
            ("integer", Json::Number(digits)) if self.judge == Judge::Type => {
                digits != "-0" && !digits.contains(['.', 'e', 'E'])
            }
            ("integer", Json::Number(digits)) => {
                Decimal::parse(digits).is_some_and(|number| number.is_integer())
            }
            ("number", Json::Number(_))
            | ("string", Json::String(_))
            | ("boolean", Json::Bool(_))
            | ("array", Json::Array(_))
            | ("object", Json::Object(_))
            | ("null", Json::Null) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
