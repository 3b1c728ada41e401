//! Checks the members of an object against a schema.

use llmnode_reader::internal::nearest;
use serde_json::{Map, Value};

use super::{FRONT_END, SchemaChecker, X_ALSO, X_INNER, X_SEED};
use crate::faults::{FaultKind, escaped, shown};

impl<'f> SchemaChecker<'f> {
    pub(super) fn members(&mut self, rules: &'f Map<String, Value>, members: &Map<String, Value>, at: &str) {
        let known = rules.get("properties").and_then(Value::as_object);
        let required = rules.get("required").and_then(Value::as_array).into_iter().flatten();
        let mut missing: Vec<&str> =
            required.filter_map(Value::as_str).filter(|name| !members.contains_key(*name)).collect();
        for (name, value) in members {
            let place = format!("{at}/{}", escaped(name));
            match self.rule_of(rules, name) {
                Some(rule) => self.value(rule, value, &place),
                None if self.is_allowed(rules, name) => {}
                None => self.unknown_member(rules, known, name, &place, &mut missing),
            }
        }
        for name in missing {
            self.fault(at, FaultKind::Missing, format!("{name:?} is missing"));
        }
    }

    fn rule_of(&self, rules: &'f Map<String, Value>, name: &str) -> Option<&'f Value> {
        match rules.get("properties").and_then(|known| known.get(name)) {
            Some(rule) => Some(rule),
            None => rules.get("additionalProperties").filter(|rule| rule.is_object()),
        }
    }

    fn is_allowed(&self, rules: &Map<String, Value>, name: &str) -> bool {
        let known = rules.get("properties");
        let is_open = match rules.get("additionalProperties") {
            Some(Value::Bool(allowed)) => *allowed,
            _ => self.allows_unknown || known.is_none(),
        };
        let of_seed = rules.get(X_SEED).and_then(Value::as_array).filter(|_| self.is_react_flow);
        is_open && known.is_none_or(|known| known.get(name).is_none())
            || FRONT_END.contains(&name)
            || of_seed.is_some_and(|names| names.iter().any(|one| one == name))
    }

    /// A misspelled required member is reported once.
    fn unknown_member(
        &mut self,
        rules: &Map<String, Value>,
        known: Option<&Map<String, Value>>,
        name: &str,
        place: &str,
        missing: &mut Vec<&str>,
    ) {
        let known = || known.into_iter().flatten();
        let names: Vec<&str> = known().map(|(name, _)| name.as_str()).collect();
        let also = |rule: &Value| {
            let others = rule.get(X_ALSO).and_then(Value::as_array);
            others.is_some_and(|others| others.iter().any(|other| other == name))
        };
        let other = known().find(|(_, rule)| also(rule)).map(|(name, _)| name.as_str());
        let meant = nearest(name, missing.iter().copied())
            .or_else(|| missing.iter().copied().find(|one| Some(*one) == other));
        missing.retain(|one| Some(*one) != meant);
        let is_closed = rules.get("additionalProperties") == Some(&Value::Bool(false));
        let is_fault = !self.is_react_flow || is_closed || meant.is_some();
        let mut message = format!("unknown member {:?}", shown(name));
        let near = other.or_else(|| nearest(name, names.iter().copied())).unwrap_or_default();
        if let Some(inner) = rules.get(X_INNER).and_then(Value::as_str).filter(|_| near.is_empty()) {
            message.push_str(&format!("; if it is a setting, move it into {inner:?}"));
        }
        self.faults.unknown(is_fault, self.place(place), FaultKind::UnknownMember, message, near, names);
    }
}
