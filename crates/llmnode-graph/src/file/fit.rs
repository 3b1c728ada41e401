//! Whether JSON is what a schema says: everything that is wrong with it, each at its place.
//!
//! It knows the rules that the types of a graph's file have, and those that a file may declare for its values. What it
//! does not know is left to serde.

use serde_json::{Map, Value};

use super::words::{beyond, had, kinds, told, wrong_kind};
use crate::faults::{FaultKind, Faults, escaped, shown};

/// Members of a schema that are for the files of React Flow alone: on a property `true`, on an object the names of further
/// members that mean nothing to a run.
pub(crate) const SEED: &str = "x-seed";
/// What a value of an `enum` is called in a message: `condition`.
pub(crate) const WHAT: &str = "x-what";
/// Members that belong to a front end, at any level.
pub(crate) const FRONT_END: &[&str] = &["position", "measured", "ui"];

/// A check of values by a schema.
pub(crate) struct Fit<'f> {
    /// Where definitions are.
    root: &'f Value,
    /// Whether unknown members are allowed unless the schema says otherwise, as in JSON Schema.
    open: bool,
    /// Whether the file is one of React Flow's: it has members of its own, and unknown ones are warnings.
    seed: bool,
    /// From a pointer into the value to the pointer into the file.
    place: &'f dyn Fn(&str) -> String,
    faults: &'f mut Faults,
}

impl<'f> Fit<'f> {
    /// A check of what a file holds by our own types: members that they do not have are unknown.
    pub(crate) fn of_file(
        root: &'f Value,
        seed: bool,
        place: &'f dyn Fn(&str) -> String,
        faults: &'f mut Faults,
    ) -> Self {
        Fit { root, open: false, seed, place, faults }
    }

    /// Notes everything that is wrong with a value.
    pub(crate) fn check(&mut self, value: &Value) {
        self.value(self.root, value, "");
    }

    /// Notes everything that is wrong with an object.
    pub(crate) fn check_members(&mut self, members: &Map<String, Value>) {
        if let Some(rules) = self.resolved(self.root) {
            self.members(rules, members, "");
        }
    }

    fn value(&mut self, schema: &'f Value, value: &Value, at: &str) {
        let Some(rules) = self.resolved(schema) else { return };
        if let Some(forms) = rules.get("anyOf").or_else(|| rules.get("oneOf")).and_then(Value::as_array) {
            return match constants(forms) {
                Some(allowed) if value.is_string() => self.one_of(rules, allowed, value, at),
                _ => self.forms(forms, value, at),
            };
        }
        if let Some(expected) = wrong_kind(rules, value) {
            let message = format!("is {}, and has to be {expected}", told(value));
            self.faults.fault((self.place)(at), FaultKind::WrongKind, message);
            return;
        }
        if let Some(allowed) = rules.get("enum").and_then(Value::as_array) {
            self.one_of(rules, allowed.iter().collect(), value, at);
        }
        if let Some(only) = rules.get("const").filter(|only| *only != value) {
            let message = format!("is {}, and has to be {}", told(value), told(only));
            self.faults.fault((self.place)(at), FaultKind::WrongKind, message);
        }
        if let Some(bound) = beyond(rules, value) {
            let message = format!("{}, and has to {bound}", had(value));
            self.faults.fault((self.place)(at), FaultKind::OutOfRange, message);
        }
        match value {
            Value::Array(list) => {
                let items = rules.get("items").filter(|items| items.is_object());
                for (index, item) in list.iter().enumerate().filter(|_| items.is_some()) {
                    self.value(items.unwrap_or(&Value::Null), item, &format!("{at}/{index}"));
                }
            }
            Value::Object(members) => self.members(rules, members, at),
            _ => {}
        }
    }

    /// One of several forms: the one whose type the value has is meant.
    fn forms(&mut self, forms: &'f [Value], value: &Value, at: &str) {
        let fits = |form: &Value| {
            let mut faults = Faults::default();
            let place = |_: &str| String::new();
            let mut fit =
                Fit { root: self.root, open: self.open, seed: self.seed, place: &place, faults: &mut faults };
            fit.value(form, value, "");
            faults.is_empty()
        };
        let of_kind =
            |form: &&Value| self.resolved(form).is_some_and(|rules| wrong_kind(rules, value).is_none());
        // A form that is alone is looked at once: forms within forms would double the work with each.
        match &*forms.iter().filter(of_kind).collect::<Vec<_>>() {
            [only] => self.value(only, value, at),
            several if several.iter().any(|form| fits(form)) => {}
            _ => {
                let kinds: Vec<String> =
                    forms.iter().filter_map(|form| self.resolved(form)).filter_map(kinds).collect();
                let message = format!("is {}, and has to be {}", told(value), kinds.join(" or "));
                self.faults.fault((self.place)(at), FaultKind::WrongKind, message);
            }
        }
    }

    fn one_of(&mut self, rules: &'f Map<String, Value>, allowed: Vec<&'f Value>, value: &Value, at: &str) {
        if allowed.contains(&value) {
            return;
        }
        let what = rules.get(WHAT).and_then(Value::as_str).unwrap_or("value");
        let known = allowed.into_iter().filter_map(Value::as_str);
        let message = format!("no {what} {}", told(value));
        let name = value.as_str().unwrap_or_default();
        self.faults.unknown(true, (self.place)(at), FaultKind::UnknownName, message, name, known);
    }

    fn members(&mut self, rules: &'f Map<String, Value>, members: &Map<String, Value>, at: &str) {
        let known = rules.get("properties").and_then(Value::as_object);
        let is_seeds = |name: &str| {
            known
                .and_then(|known| known.get(name))
                .is_some_and(|rule| rule.get(SEED) == Some(&Value::Bool(true)))
        };
        let further = match rules.get("additionalProperties") {
            Some(Value::Bool(allowed)) => Further::Any(*allowed),
            Some(rule @ Value::Object(_)) => Further::Of(rule),
            _ => Further::Any(self.open || known.is_none()),
        };
        let ignored = rules.get(SEED).and_then(Value::as_array).filter(|_| self.seed);
        let mut strangers = Vec::new();
        for (name, value) in members {
            let place = format!("{at}/{}", escaped(name));
            match (known.and_then(|known| known.get(name)), &further) {
                (Some(rule), _) if self.seed || !is_seeds(name) => self.value(rule, value, &place),
                (None, Further::Of(rule)) => self.value(rule, value, &place),
                (None, Further::Any(true)) => {}
                _ if FRONT_END.contains(&&**name) => {}
                _ if ignored.is_some_and(|ignored| ignored.iter().any(|one| one == name)) => {}
                _ => strangers.push((name, place)),
            }
        }
        let required = rules.get("required").and_then(Value::as_array).into_iter().flatten();
        let mut lacks: Vec<&str> =
            required.filter_map(Value::as_str).filter(|name| !members.contains_key(*name)).collect();
        for (name, place) in strangers {
            let names = known.into_iter().flat_map(Map::keys).map(String::as_str);
            let names: Vec<&str> = names.filter(|name| self.seed || !is_seeds(name)).collect();
            let meant = llmnode_runtime::internal::nearest(name, lacks.iter().copied()).map(str::to_owned);
            // A member that has to be there and is misspelled is one mistake.
            lacks.retain(|lacking| meant.as_deref() != Some(lacking));
            let is_fault = !self.seed || meant.is_some();
            let message = format!("no member {:?} is known here", shown(name));
            let place = (self.place)(&place);
            self.faults.unknown(is_fault, place, FaultKind::UnknownMember, message, name, names);
        }
        for name in lacks {
            let message = format!("{name:?} is missing");
            self.faults.fault((self.place)(at), FaultKind::Missing, message);
        }
    }

    /// The rules of a schema, through references; `None`: everything is allowed.
    fn resolved(&self, mut schema: &'f Value) -> Option<&'f Map<String, Value>> {
        for _ in 0..8 {
            let rules = schema.as_object()?;
            let Some(to) = rules.get("$ref").and_then(Value::as_str) else { return Some(rules) };
            schema = self.root.pointer(to.strip_prefix('#')?)?;
        }
        None
    }
}

/// The values of an enum whose variants have docs of their own: each is a form, with one value.
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

/// What further members of an object may be.
enum Further<'f> {
    Any(bool),
    Of(&'f Value),
}

/// What is wrong with a value by a schema that the file declares; the first of it. `None`: it fits.
pub(crate) fn misfit(schema: &Value, value: &Value) -> Option<String> {
    let mut faults = Faults::default();
    let place = |pointer: &str| pointer.to_owned();
    Fit { root: schema, open: true, seed: false, place: &place, faults: &mut faults }.check(value);
    let first = faults.into_parts(None).faults.into_iter().next()?;
    Some(if first.pointer.is_empty() {
        first.message
    } else {
        format!("{}: {}", first.pointer, first.message)
    })
}
