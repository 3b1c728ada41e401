//! Checks JSON against a schema: reports everything that is wrong at its place.
//!
//! It supports the rules that the types of a graph's file have, and those that a file may declare for its values.
//! Anything else is left to serde.

use llmnode_reader::text::nearest;
use serde_json::{Map, Value};

use super::NodeSettings;
use super::describe::{describe, describe_size, out_of_bounds};
use super::json_types::{kinds, wrong_kind};
use crate::faults::{FaultKind, Faults, escaped, shown};

/// Names of members that a run ignores, only in React Flow's files.
pub(crate) const X_SEED: &str = "x-seed";
/// Names that people write from habit.
pub(crate) const X_ALSO: &str = "x-also";
/// The member in which misplaced members belong.
pub(crate) const X_INNER: &str = "x-inner";
/// The word for a value of an `enum` in messages, such as `condition`.
pub(crate) const X_WHAT: &str = "x-what";
/// A front end's members, at any level.
pub(crate) const FRONT_END: &[&str] = &["position", "measured", "ui"];

/// Checks what has one of our own types, whose unknown members are faults.
pub(crate) fn check(
    root: &Value,
    is_react_flow: bool,
    members: &Map<String, Value>,
    settings: Option<&NodeSettings>,
    faults: &mut Faults,
) {
    let mut checker = SchemaChecker {
        root,
        allows_unknown: false,
        is_react_flow,
        settings,
        faults,
    };
    if let Some(rules) = checker.resolved(root) {
        checker.members(rules, members, "");
    }
}

/// The checking of one value by a schema of schemars'. What is wrong is said for people, with its place in the file.
struct SchemaChecker<'f> {
    root: &'f Value,
    /// As in JSON Schema, where unknown members are allowed unless the schema says otherwise.
    allows_unknown: bool,
    is_react_flow: bool,
    settings: Option<&'f NodeSettings>,
    faults: &'f mut Faults,
}

impl<'f> SchemaChecker<'f> {
    fn place(&self, at: &str) -> String {
        self.settings
            .map_or_else(|| at.to_owned(), |settings| settings.pointer(at))
    }

    fn fault(&mut self, at: &str, kind: FaultKind, message: String) {
        self.faults.fault(self.place(at), kind, message);
    }

    fn value(&mut self, schema: &'f Value, value: &Value, at: &str) {
        let Some(rules) = self.resolved(schema) else {
            return;
        };
        if let Some(forms) = rules
            .get("anyOf")
            .or_else(|| rules.get("oneOf"))
            .and_then(Value::as_array)
        {
            return match constants(forms) {
                Some(allowed) if value.is_string() => self.one_of(rules, allowed, value, at),
                _ => self.forms(forms, value, at),
            };
        }
        if let Some(expected) = wrong_kind(rules, value) {
            let message = format!("is {}, but must be {expected}", describe(value));
            return self.fault(at, FaultKind::WrongKind, message);
        }
        if let Some(allowed) = rules.get("enum").and_then(Value::as_array) {
            self.one_of(rules, allowed.iter().collect(), value, at);
        }
        if let Some(only) = rules.get("const").filter(|only| *only != value) {
            let message = format!("is {}, but must be {}", describe(value), describe(only));
            return self.fault(at, FaultKind::WrongKind, message);
        }
        if let Some(bound) = out_of_bounds(rules, value) {
            let message = format!("{}, but must {bound}", describe_size(value));
            return self.fault(at, FaultKind::OutOfRange, message);
        }
        match (value, rules.get("items")) {
            (Value::Array(list), Some(items)) => {
                for (index, item) in list.iter().enumerate() {
                    self.value(items, item, &format!("{at}/{index}"));
                }
            }
            (Value::Object(members), _) => self.members(rules, members, at),
            _ => {}
        }
    }

    /// Whether a value has no fault. Nothing is reported.
    fn fits(&self, schema: &'f Value, value: &Value) -> bool {
        let mut faults = Faults::default();
        SchemaChecker {
            faults: &mut faults,
            ..*self
        }
        .value(schema, value, "");
        faults.is_empty()
    }

    fn forms(&mut self, forms: &'f [Value], value: &Value, at: &str) {
        let mut of_kind = Vec::new();
        for form in forms {
            if let Some(rules) = self.resolved(form)
                && wrong_kind(rules, value).is_none()
            {
                of_kind.push(form);
            }
        }
        // A single form is checked only once: nested forms would double the work with each level.
        match &*of_kind {
            [only] => self.value(only, value, at),
            several if several.iter().any(|form| self.fits(form, value)) => {}
            _ => {
                let kinds: Vec<String> = forms
                    .iter()
                    .filter_map(|form| self.resolved(form))
                    .filter_map(kinds)
                    .collect();
                let message = format!("is {}, but must be {}", describe(value), kinds.join(" or "));
                self.fault(at, FaultKind::WrongKind, message);
            }
        }
    }

    fn one_of(
        &mut self,
        rules: &Map<String, Value>,
        allowed: Vec<&Value>,
        value: &Value,
        at: &str,
    ) {
        if allowed.contains(&value) {
            return;
        }
        let what = rules.get(X_WHAT).and_then(Value::as_str).unwrap_or("value");
        let allowed_names = allowed.iter().filter_map(|one| one.as_str());
        let message = format!("no {what} {}", describe(value));
        let name = value.as_str().unwrap_or_default();
        self.faults.unknown(
            true,
            self.place(at),
            FaultKind::UnknownName,
            message,
            name,
            allowed_names,
        );
    }

    fn members(&mut self, rules: &'f Map<String, Value>, members: &Map<String, Value>, at: &str) {
        let required = rules
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let mut missing: Vec<&str> = required
            .filter_map(Value::as_str)
            .filter(|name| !members.contains_key(*name))
            .collect();
        for (name, value) in members {
            let place = format!("{at}/{}", escaped(name));
            let rule = rules
                .get("properties")
                .and_then(|properties| properties.get(name));
            match rule.or_else(|| {
                rules
                    .get("additionalProperties")
                    .filter(|rule| rule.is_object())
            }) {
                Some(rule) => self.value(rule, value, &place),
                None if self.is_allowed(rules, name) => {}
                None => self.unknown_member(rules, name, &place, &mut missing),
            }
        }
        for name in missing {
            self.fault(at, FaultKind::Missing, format!("{name:?} is missing"));
        }
    }

    fn is_allowed(&self, rules: &Map<String, Value>, name: &str) -> bool {
        let is_open = match rules.get("additionalProperties") {
            Some(Value::Bool(allowed)) => *allowed,
            _ => self.allows_unknown || !rules.contains_key("properties"),
        };
        let of_seed = rules
            .get(X_SEED)
            .and_then(Value::as_array)
            .filter(|_| self.is_react_flow);
        is_open
            || FRONT_END.contains(&name)
            || of_seed.is_some_and(|names| names.iter().any(|one| one == name))
    }

    /// A misspelled required member is reported once.
    fn unknown_member(
        &mut self,
        rules: &Map<String, Value>,
        name: &str,
        place: &str,
        missing: &mut Vec<&str>,
    ) {
        let mut names: Vec<&str> = Vec::new();
        let mut other = None;
        let properties = rules.get("properties").and_then(Value::as_object);
        for (property, rule) in properties.into_iter().flatten() {
            names.push(property);
            if other.is_none() && is_also_named(rule, name) {
                other = Some(property.as_str());
            }
        }
        let meant = nearest(name, missing.iter().copied())
            .or_else(|| missing.iter().copied().find(|one| Some(*one) == other));
        missing.retain(|one| Some(*one) != meant);
        let is_closed = rules.get("additionalProperties") == Some(&Value::Bool(false));
        let is_fault = !self.is_react_flow || is_closed || meant.is_some();
        let mut message = format!("unknown member {:?}", shown(name));
        let near = other
            .or_else(|| nearest(name, names.iter().copied()))
            .unwrap_or_default();
        if let Some(inner) = rules
            .get(X_INNER)
            .and_then(Value::as_str)
            .filter(|_| near.is_empty())
        {
            message.push_str(&format!("; if it is a setting, move it into {inner:?}"));
        }
        self.faults.unknown(
            is_fault,
            self.place(place),
            FaultKind::UnknownMember,
            message,
            near,
            names,
        );
    }

    /// Follows references, of which a schema has few in a row.
    fn resolved(&self, mut schema: &'f Value) -> Option<&'f Map<String, Value>> {
        for _ in 0..8 {
            let rules = schema.as_object()?;
            let Some(to) = rules.get("$ref").and_then(Value::as_str) else {
                return Some(rules);
            };
            schema = self.root.pointer(to.strip_prefix('#')?)?;
        }
        None
    }
}

/// An enum whose variants have docs: a list of forms with one value each.
fn constants(forms: &[Value]) -> Option<Vec<&Value>> {
    let mut values = Vec::new();
    for form in forms {
        match (
            form.get("const"),
            form.get("enum").and_then(Value::as_array),
        ) {
            (Some(only), _) => values.push(only),
            (None, Some(all)) => values.extend(all),
            (None, None) => return None,
        }
    }
    Some(values)
}

/// Whether a property has this name in other programs' files.
fn is_also_named(rule: &Value, name: &str) -> bool {
    match rule.get(X_ALSO) {
        Some(Value::Array(others)) => others.iter().any(|other| other == name),
        _ => false,
    }
}

/// What of a value does not fit a schema, with its place.
pub(crate) fn schema_mismatch(schema: &Value, value: &Value) -> Option<String> {
    let mut faults = Faults::default();
    let root = schema;
    let allows_unknown = true;
    let is_react_flow = false;
    let settings = None;
    SchemaChecker {
        root,
        allows_unknown,
        is_react_flow,
        settings,
        faults: &mut faults,
    }
    .value(schema, value, "");
    let first = faults.into_parts(None).faults.into_iter().next()?;
    let place = if first.pointer.is_empty() {
        String::new()
    } else {
        first.pointer + ": "
    };
    Some(place + &first.message)
}
