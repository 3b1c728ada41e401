//! Checks JSON against a schema: reports everything that is wrong at its place, and corrects it to what was probably
//! intended.
//!
//! It supports the rules that the types of a graph's file have, and those that a file may declare for its values.
//! Anything else is left to serde.

mod members;

use serde_json::{Map, Value};

use super::describe::{describe, describe_size, kinds, out_of_bounds, wrong_kind};
use super::recovery::{Recovered, Repairs, intended};
use crate::faults::{FaultKind, Faults};

/// For files of React Flow only: `true` on a property; on an object the names of further members, which a run ignores.
pub(crate) const X_SEED: &str = "x-seed";
/// Other names of a property, which people write from habit.
pub(crate) const X_ALSO: &str = "x-also";
/// The member that should contain what is written beside it by mistake.
pub(crate) const X_INNER: &str = "x-inner";
/// What messages call a value of an `enum`: `condition`.
pub(crate) const X_WHAT: &str = "x-what";
/// Members that belong to a front end, at any level.
pub(crate) const FRONT_END: &[&str] = &["position", "measured", "ui"];

pub(crate) struct SchemaChecker<'f> {
    root: &'f Value,
    /// As in JSON Schema, where unknown members are allowed unless the schema says otherwise.
    allows_unknown: bool,
    /// Files of React Flow have members of their own, and unknown ones are warnings.
    is_react_flow: bool,
    /// An object in a list stays there if a required member is missing.
    keeps_incomplete: bool,
    /// From a pointer into the value to a pointer into the file.
    place: &'f dyn Fn(&str) -> String,
    faults: &'f mut Faults,
    repairs: Repairs,
}

/// The pointer to a value, and the one that it has after corrections.
#[derive(Clone, Copy)]
struct At<'p>(&'p str, &'p str);

impl<'f> SchemaChecker<'f> {
    /// For our own types: members that they do not have are unknown.
    pub(crate) fn of_file(
        root: &'f Value,
        is_react_flow: bool,
        place: &'f dyn Fn(&str) -> String,
        faults: &'f mut Faults,
    ) -> Self {
        SchemaChecker {
            root,
            allows_unknown: false,
            is_react_flow,
            keeps_incomplete: false,
            place,
            faults,
            repairs: Repairs::default(),
        }
    }

    pub(crate) fn check(mut self, value: &Value) {
        self.value(self.root, value, At("", ""));
    }

    /// Returns the file as it was probably intended, with all of its nodes and edges.
    pub(crate) fn file(mut self, value: Value) -> (Value, Repairs) {
        self.keeps_incomplete = true;
        match self.value(self.root, &value, At("", "")) {
            Recovered::New(value) => (value, self.repairs),
            Recovered::Same | Recovered::Lost => (value, self.repairs),
        }
    }

    pub(crate) fn settings(mut self, members: &Map<String, Value>) -> (Option<Map<String, Value>>, Repairs) {
        let mended = self.resolved(self.root).and_then(|rules| self.members(rules, members, At("", "")).0);
        (mended, self.repairs)
    }

    fn fault(&mut self, at: At<'_>, kind: FaultKind, message: String) {
        self.faults.fault((self.place)(at.0), kind, message);
    }

    fn value(&mut self, schema: &'f Value, value: &Value, at: At<'_>) -> Recovered {
        let Some(rules) = self.resolved(schema) else { return Recovered::Same };
        if let Some(forms) = rules.get("anyOf").or_else(|| rules.get("oneOf")).and_then(Value::as_array) {
            return match constants(forms) {
                Some(allowed) if value.is_string() => self.one_of(rules, allowed, value, at),
                _ => self.forms(forms, value, at),
            };
        }
        if let Some(expected) = wrong_kind(rules, value) {
            self.fault(at, FaultKind::WrongKind, format!("is {}, but must be {expected}", describe(value)));
            return match intended(rules, value, !self.keeps_incomplete)
                .filter(|intended| self.fits(schema, intended))
            {
                Some(intended) => {
                    self.repairs.guesses.push(at.1.to_owned());
                    if intended.is_array() {
                        self.repairs.moved.insert(format!("{}/0", at.1), at.0.to_owned());
                    }
                    Recovered::New(intended)
                }
                None => self.lost(rules, value, at),
            };
        }
        let mut mended = Recovered::Same;
        if let Some(allowed) = rules.get("enum").and_then(Value::as_array) {
            mended = self.one_of(rules, allowed.iter().collect(), value, at);
        }
        if let Some(only) = rules.get("const").filter(|only| *only != value) {
            self.fault(
                at,
                FaultKind::WrongKind,
                format!("is {}, but must be {}", describe(value), describe(only)),
            );
            return Recovered::New(only.clone());
        }
        if let Some(bound) = out_of_bounds(rules, value) {
            self.fault(at, FaultKind::OutOfRange, format!("{}, but must {bound}", describe_size(value)));
            return self.lost(rules, value, at);
        }
        match value {
            Value::Array(list) => match rules.get("items").filter(|items| items.is_object()) {
                Some(items) => self.items(items, list, at),
                None => mended,
            },
            Value::Object(members) => match self.members(rules, members, at) {
                (_, true) if !self.keeps_incomplete => self.lost(rules, value, at),
                (Some(members), _) => Recovered::New(Value::Object(members)),
                (None, _) => mended,
            },
            _ => mended,
        }
    }

    fn lost(&mut self, rules: &Map<String, Value>, value: &Value, at: At<'_>) -> Recovered {
        let is = |kind: &Value| matches!(kind.as_str(), Some("string" | "array" | "object"));
        let may_name = match rules.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().any(is),
            kind => kind.is_none_or(is),
        };
        self.repairs.lose(at.0, value, may_name);
        // A node or an edge keeps its place, whatever is wrong with it.
        match rules.get("type").is_some_and(|kind| kind == "object") && self.keeps_incomplete {
            true => Recovered::New(Value::Object(Map::new())),
            false => Recovered::Lost,
        }
    }

    fn fits(&self, schema: &'f Value, value: &Value) -> bool {
        let mut faults = Faults::default();
        let place = |_: &str| String::new();
        let SchemaChecker { root, allows_unknown, is_react_flow, keeps_incomplete, .. } = *self;
        let repairs = Repairs::default();
        let mut fit = SchemaChecker {
            root,
            allows_unknown,
            is_react_flow,
            keeps_incomplete,
            place: &place,
            faults: &mut faults,
            repairs,
        };
        fit.value(schema, value, At("", ""));
        faults.is_empty()
    }

    fn items(&mut self, items: &'f Value, list: &[Value], at: At<'_>) -> Recovered {
        let mut new: Option<Vec<Value>> = None;
        for (index, item) in list.iter().enumerate() {
            let from = format!("{}/{index}", at.0);
            let to = format!("{}/{}", at.1, new.as_ref().map_or(index, Vec::len));
            let mended = self.value(items, item, At(&from, &to));
            match (mended, &mut new) {
                (Recovered::Same, None) => continue,
                (Recovered::Same, Some(new)) => new.push(item.clone()),
                (Recovered::New(item), _) => new.get_or_insert_with(|| list[..index].to_vec()).push(item),
                (Recovered::Lost, _) => {
                    new.get_or_insert_with(|| list[..index].to_vec());
                    continue;
                }
            }
            if from[at.0.len()..] != to[at.1.len()..] {
                self.repairs.moved.insert(to, from);
            }
        }
        new.map_or(Recovered::Same, |new| Recovered::New(Value::Array(new)))
    }

    /// The form that has the value's type was intended.
    fn forms(&mut self, forms: &'f [Value], value: &Value, at: At<'_>) -> Recovered {
        let of_kind =
            |form: &&Value| self.resolved(form).is_some_and(|rules| wrong_kind(rules, value).is_none());
        // A single form is checked only once: forms within forms would double the work with each level.
        match &*forms.iter().filter(of_kind).collect::<Vec<_>>() {
            [only] => self.value(only, value, at),
            several if several.iter().any(|form| self.fits(form, value)) => Recovered::Same,
            _ => {
                let kinds: Vec<String> =
                    forms.iter().filter_map(|form| self.resolved(form)).filter_map(kinds).collect();
                let message = format!("is {}, but must be {}", describe(value), kinds.join(" or "));
                self.fault(at, FaultKind::WrongKind, message);
                self.lost(&Map::new(), value, at)
            }
        }
    }

    /// An unknown word counts as the nearest one, or else as the first.
    fn one_of(
        &mut self,
        rules: &'f Map<String, Value>,
        allowed: Vec<&'f Value>,
        value: &Value,
        at: At<'_>,
    ) -> Recovered {
        if allowed.contains(&value) {
            return Recovered::Same;
        }
        let what = rules.get(X_WHAT).and_then(Value::as_str).unwrap_or("value");
        let known = allowed.iter().filter_map(|one| one.as_str());
        let message = format!("no {what} {}", describe(value));
        let name = value.as_str().unwrap_or_default();
        let intended =
            self.faults.unknown(true, (self.place)(at.0), FaultKind::UnknownName, message, name, known);
        if intended.is_none() {
            self.repairs.guesses.push(at.1.to_owned());
        }
        let intended = intended.map(Value::from).or_else(|| allowed.first().map(|first| (*first).clone()));
        intended.map_or(Recovered::Same, Recovered::New)
    }

    /// Follows references. `None`: everything is allowed.
    fn resolved(&self, mut schema: &'f Value) -> Option<&'f Map<String, Value>> {
        for _ in 0..8 {
            let rules = schema.as_object()?;
            let Some(to) = rules.get("$ref").and_then(Value::as_str) else { return Some(rules) };
            schema = self.root.pointer(to.strip_prefix('#')?)?;
        }
        None
    }
}

/// An enum whose variants have docs is a list of forms, each with one value.
fn constants(forms: &[Value]) -> Option<Vec<&Value>> {
    let mut values = Vec::new();
    for form in forms {
        match (form.get("const"), form.get("enum").and_then(Value::as_array)) {
            (Some(only), _) => values.push(only),
            (None, Some(all)) => values.extend(all),
            (None, None) => return None,
        }
    }
    Some(values)
}

pub(crate) fn schema_mismatch(schema: &Value, value: &Value) -> Option<String> {
    let mut faults = Faults::default();
    let place = |pointer: &str| pointer.to_owned();
    SchemaChecker { allows_unknown: true, ..SchemaChecker::of_file(schema, false, &place, &mut faults) }
        .check(value);
    let first = faults.into_parts(None).faults.into_iter().next()?;
    Some(if first.pointer.is_empty() {
        first.message
    } else {
        format!("{}: {}", first.pointer, first.message)
    })
}
