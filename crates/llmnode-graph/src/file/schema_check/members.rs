//! Checks the members of an object against a schema.

use llmnode_reader::internal::nearest;
use serde_json::{Map, Value};

use super::{At, FRONT_END, SchemaChecker, X_ALSO, X_INNER, X_SEED};
use crate::faults::{FaultKind, escaped, shown};
use crate::file::recovery::Recovered;

impl<'f> SchemaChecker<'f> {
    /// Returns the object as it was probably intended, if something is wrong, and whether a required member is missing.
    pub(super) fn members(
        &mut self,
        rules: &'f Map<String, Value>,
        members: &Map<String, Value>,
        at: At<'_>,
    ) -> (Option<Map<String, Value>>, bool) {
        let known = rules.get("properties").and_then(Value::as_object);
        let rule_of = |name: &str| known.and_then(|known| known.get(name));
        let is_seeds =
            |name: &str| rule_of(name).is_some_and(|rule| rule.get(X_SEED) == Some(&Value::Bool(true)));
        let further = match rules.get("additionalProperties") {
            Some(Value::Bool(allowed)) => AdditionalProperties::Any(*allowed),
            Some(rule @ Value::Object(_)) => AdditionalProperties::Of(rule),
            _ => AdditionalProperties::Any(self.allows_unknown || known.is_none()),
        };
        let ignored = rules.get(X_SEED).and_then(Value::as_array).filter(|_| self.is_react_flow);
        let required: Vec<&str> = match rules.get("required").and_then(Value::as_array) {
            Some(names) => names.iter().filter_map(Value::as_str).collect(),
            None => Vec::new(),
        };
        let mut object = Object { old: members, new: None };
        let mut unknown_members = Vec::new();
        for (name, value) in members {
            let (from, to) = (format!("{}/{}", at.0, escaped(name)), format!("{}/{}", at.1, escaped(name)));
            let rule = match (rule_of(name), &further) {
                (Some(rule), _) if self.is_react_flow || !is_seeds(name) => rule,
                (None, AdditionalProperties::Of(rule)) => rule,
                (None, AdditionalProperties::Any(true)) => continue,
                _ if FRONT_END.contains(&&**name) => continue,
                _ if ignored.is_some_and(|ignored| ignored.iter().any(|one| one == name)) => continue,
                _ => {
                    unknown_members.push((name, value, from));
                    continue;
                }
            };
            object.put(name, self.value(rule, value, At(&from, &to)));
        }
        let mut lacks: Vec<&str> =
            required.iter().copied().filter(|name| !members.contains_key(*name)).collect();
        for (name, value, from) in unknown_members {
            let names = known.into_iter().flat_map(Map::keys).map(String::as_str);
            let names: Vec<&str> = names.filter(|name| self.is_react_flow || !is_seeds(name)).collect();
            let also = |rule: &Value| {
                let others = rule.get(X_ALSO).and_then(Value::as_array);
                others.is_some_and(|others| others.iter().any(|other| other == name))
            };
            let other =
                known.into_iter().flatten().find(|(_, rule)| also(rule)).map(|(name, _)| name.as_str());
            let lacking = nearest(name, lacks.iter().copied())
                .or_else(|| lacks.iter().copied().find(|one| Some(*one) == other));
            // A misspelled required member is one mistake, and not also a missing one.
            lacks.retain(|one| Some(*one) != lacking);
            let is_fault = !self.is_react_flow || lacking.is_some();
            let mut message = format!("unknown member {:?}", shown(name));
            let near = other.or_else(|| nearest(name, names.iter().copied())).unwrap_or_default();
            if let Some(inner) = rules.get(X_INNER).and_then(Value::as_str).filter(|_| near.is_empty()) {
                message.push_str(&format!("; if it is a setting, move it into {inner:?}"));
            }
            let place = (self.place)(&from);
            let meant = self.faults.unknown(is_fault, place, FaultKind::UnknownMember, message, near, names);
            match lacking.or(meant).filter(|meant| is_fault && !object.has(meant)) {
                Some(meant) => {
                    let to = format!("{}/{}", at.1, escaped(meant));
                    self.repairs.moved.insert(to.clone(), from.clone());
                    let mended = match rule_of(meant) {
                        Some(rule) => self.value(rule, value, At(&from, &to)),
                        None => Recovered::Same,
                    };
                    object.rename(name, meant, mended);
                }
                None if is_fault => self.repairs.keep_texts(value),
                None => {}
            }
        }
        for name in lacks {
            let message = format!("{name:?} is missing");
            self.fault(at, FaultKind::Missing, message);
        }
        let is_incomplete = self.complete(&required, known, &mut object, at);
        (object.new, is_incomplete)
    }

    /// Adds a word or an empty list for a missing required member; returns whether one is still missing.
    fn complete(
        &mut self,
        required: &[&str],
        known: Option<&'f Map<String, Value>>,
        object: &mut Object<'_>,
        at: At<'_>,
    ) -> bool {
        let mut is_incomplete = false;
        for name in required.iter().filter(|name| !object.has(name)).copied().collect::<Vec<_>>() {
            let rules = known.and_then(|known| self.resolved(known.get(name)?));
            let first = rules.and_then(|rules| rules.get("enum")?.get(0));
            let is_list = rules.is_some_and(|rules| rules.get("type").is_some_and(|kind| kind == "array"));
            self.repairs.lost.push(format!("{}/{}", at.0, escaped(name)));
            match first {
                Some(first) => object.put(name, Recovered::New(first.clone())),
                None if is_list => object.put(name, Recovered::New(Value::Array(Vec::new()))),
                None => (is_incomplete, self.repairs.is_unclear) = (true, true),
            }
        }
        is_incomplete
    }
}

/// Copied with the first change.
struct Object<'o> {
    old: &'o Map<String, Value>,
    new: Option<Map<String, Value>>,
}

impl Object<'_> {
    fn has(&self, name: &str) -> bool {
        self.new.as_ref().unwrap_or(self.old).contains_key(name)
    }

    fn changed(&mut self) -> &mut Map<String, Value> {
        self.new.get_or_insert_with(|| self.old.clone())
    }

    fn put(&mut self, name: &str, mended: Recovered) {
        match mended {
            Recovered::Same => {}
            Recovered::New(value) => _ = self.changed().insert(name.to_owned(), value),
            Recovered::Lost => _ = self.changed().remove(name),
        }
    }

    fn rename(&mut self, from: &str, to: &str, mended: Recovered) {
        if let Some(value) = self.changed().remove(from) {
            self.changed().insert(to.to_owned(), value);
            self.put(to, mended);
        }
    }
}

enum AdditionalProperties<'f> {
    Any(bool),
    Of(&'f Value),
}
