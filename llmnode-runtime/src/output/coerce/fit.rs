//! How one value is made to fit one part of a schema.

use std::cell::RefCell;
use std::collections::HashMap;

use serde_json::Value;

use super::super::check::{Check, Place, list, target, words::told, words::types};
use super::super::reader::Json;
use super::{Change, Misfit};
use crate::flag::Coercion;
use crate::output::schema::Node;
use crate::validate::Violation;

/// How deep parts of a schema are applied within one another, and how much is put around one value or taken off it. A
/// type that contains itself would take for ever.
const DEEPEST: u32 = 320;
const SHAPES: u8 = 2;

/// How far the way to a value has led, and what is tried at its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    deep: u32,
    pub(super) shapes: u8,
    pub(super) tried: Tried,
    /// The value is one of an enum: what is no variant is not made the content of one.
    variant: bool,
    /// Another form of a union takes scalars: a text that is none of them is not what an object holds.
    pub(super) scalars: bool,
}

/// What is tried to make a value fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Tried {
    /// To leave it where it is; and if that fails, to put something around it or take it off.
    All,
    /// Only the former.
    Direct,
    /// Only the latter.
    Shape,
}

impl At {
    pub(super) const BEGIN: At = At { deep: 0, shapes: 0, tried: Tried::All, variant: false, scalars: false };

    /// The same value by another part of the schema.
    pub(super) fn here(self) -> At {
        At { deep: self.deep + 1, ..self }
    }

    /// A value within this one.
    pub(super) fn within(self) -> At {
        At { deep: self.deep + 1, ..At::BEGIN }
    }

    /// The same value with something around it or taken off.
    pub(super) fn shaped(self) -> At {
        At { deep: self.deep + 1, shapes: self.shapes + 1, tried: Tried::All, ..self }
    }

    pub(super) fn variant(self, variant: bool) -> At {
        At { variant, ..self }
    }

    pub(super) fn beside_scalars(self, scalars: bool) -> At {
        At { scalars: self.scalars || scalars, ..self }
    }

    pub(super) fn trying(self, tried: Tried) -> At {
        At { tried, ..self }
    }

    pub(super) fn tries(self, tried: Tried) -> bool {
        (self.tried == Tried::All || self.tried == tried) && (tried != Tried::Shape || self.shapes < SHAPES)
    }

    pub(super) fn tries_all(self) -> bool {
        self.tried == Tried::All
    }
}

/// A value that was changed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Changed<'t> {
    pub(super) json: Json<'t>,
    pub(super) changes: Vec<Change>,
    /// How far it is from what was written, which says which form of a union is nearer.
    pub(super) tier: Tier,
}

/// What was changed at the place itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tier {
    /// The value is of the kind that it was.
    Kind,
    /// A scalar became one of another kind.
    Scalar,
    /// Something was put around it, or taken off.
    Shape,
}

impl<'t> Changed<'t> {
    pub(super) fn new(json: Json<'t>, coercion: Coercion, place: &Place<'_>, tier: Tier) -> Self {
        Changed { json, changes: vec![Change::at(coercion, place)], tier }
    }

    /// The same with one more change before its own.
    pub(super) fn within(mut self, json: Json<'t>, coercion: Coercion, place: &Place<'_>) -> Self {
        self.changes.insert(0, Change::at(coercion, place));
        Changed { json, changes: self.changes, tier: Tier::Shape }
    }
}

/// `None`: it fits as it is.
pub(super) type Fit<'t> = Result<Option<Changed<'t>>, Misfit>;

pub(super) fn misfit<'t>() -> Fit<'t> {
    Err(Misfit(None))
}

/// Makes values of one tree fit. Its check counts the work.
pub(super) struct Fitter<'c, 's, 't> {
    pub(super) check: &'c Check<'s>,
    /// What came of unions: where they nest, each form of one asks the same of the next.
    pub(super) known: RefCell<HashMap<Asked, Fit<'t>>>,
}

/// What is asked of a union: its own place in memory and that of the value, and what may be tried.
pub(super) type Asked = (*const Value, *const (), u8, Tried, bool);

impl<'c, 's, 't> Fitter<'c, 's, 't> {
    pub(super) fn new(check: &'c Check<'s>) -> Self {
        Fitter { check, known: RefCell::default() }
    }

    pub(super) fn fit(&self, schema: &Value, value: &Json<'t>, place: &Place<'_>, at: At) -> Fit<'t> {
        if at.deep > DEEPEST || !self.check.spend(1, 0) {
            return misfit();
        }
        let node = match schema {
            Value::Object(node) => node,
            Value::Bool(false) => return misfit(),
            _ => return Ok(None),
        };
        if let Some(reference) = node.get("$ref").and_then(Value::as_str) {
            return match target(self.check.root(), reference) {
                Some(schema) => self.fit(schema, value, place, at.here()),
                None => misfit(),
            };
        }
        let forms = list(node, "anyOf").iter().chain(list(node, "oneOf"));
        if node.contains_key("anyOf") || node.contains_key("oneOf") {
            let forms: Vec<&Value> = forms.collect();
            return self.union(&forms, schema, value, place, at);
        }
        if node.contains_key("const") || node.contains_key("enum") {
            return self.choice(node, value, place, at);
        }
        match types(node).as_slice() {
            [] => self.as_it_is(schema, value),
            [kind] => self.kind(kind, node, value, place, at),
            kinds => self.kinds(kinds, node, value, place, at),
        }
    }

    /// A value that is not changed, whatever it is.
    pub(super) fn as_it_is(&self, schema: &Value, value: &Json<'t>) -> Fit<'t> {
        if self.check.fits(schema, value) { Ok(None) } else { misfit() }
    }

    /// A value for a schema of one type.
    pub(super) fn kind(
        &self,
        kind: &str,
        node: &Node,
        value: &Json<'t>,
        place: &Place<'_>,
        at: At,
    ) -> Fit<'t> {
        if !self.check.spend(1, 0) {
            return misfit();
        }
        if at.tries(Tried::Direct) {
            let direct = match (kind, value) {
                ("object", Json::Object(members)) => self.object(node, members, place, at),
                ("array", Json::Array(items)) => self.array(node, items, place, at),
                (kind, value) if self.check.is_type(kind, value) => Ok(None),
                _ => self.scalar(kind, value, place),
            };
            if !matches!(direct, Err(Misfit(None))) {
                return direct;
            }
        }
        if !at.tries(Tried::Shape) || *value == Json::Null {
            return misfit();
        }
        let is_no_content = at.variant || (at.scalars && matches!(value, Json::String(_)));
        let put = match kind {
            "array" => self.one_for_list(node, value, place, at),
            "object" if !is_no_content => self.bare_member(node, value, place, at),
            _ => misfit(),
        };
        let taken = match value {
            Json::Array(items) if kind != "array" => {
                self.single(node, items, place, at, |item, at| self.kind(kind, node, item, place, at))
            }
            _ => misfit(),
        };
        only(vec![put, taken], place)
    }
}

/// The one value that was found; what says less about a misfit gives way to what says more.
pub(super) fn only<'t>(found: Vec<Fit<'t>>, place: &Place<'_>) -> Fit<'t> {
    let mut kept: Option<Changed<'t>> = None;
    let mut why = Misfit(None);
    for fit in found {
        match (fit, &kept) {
            (Ok(None), _) => return Ok(None),
            (Ok(Some(changed)), None) => kept = Some(changed),
            (Ok(Some(changed)), Some(first)) if first.json == changed.json => {
                if changed.changes.len() < first.changes.len() {
                    kept = Some(changed);
                }
            }
            (Ok(Some(changed)), Some(first)) => return Err(two(&first.json, &changed.json, place)),
            (Err(misfit), _) => why = Misfit(why.0.or(misfit.0)),
        }
    }
    kept.map_or(Err(why), |changed| Ok(Some(changed)))
}

/// Two values that could be meant.
pub(super) fn two(first: &Json<'_>, second: &Json<'_>, place: &Place<'_>) -> Misfit {
    let shown = |value: &Json<'_>| match value {
        Json::Array(_) | Json::Object(_) => super::super::check::words::shown(&value.to_string()),
        scalar => told(scalar),
    };
    let message = format!("could mean {} or {}; write the one that is meant", shown(first), shown(second));
    Misfit(Some(Violation::new(place.path(), message)))
}
