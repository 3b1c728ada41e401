//! Applies rules to a value. What is wrong with members, items and unions is in files of their own.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use super::describe::describe;
use super::fault::{length_fault, unlisted};
use super::number::number_faults;
use super::{Fault, Location, Rule, Rules, Severity, into_violations, number};
use crate::decimal::Decimal;
use crate::json::Json;
use crate::tree::WRAPPER;
use crate::violation::Violation;

/// Work budget of one check; recursive unions would otherwise be exponential.
const MAX_WORK: u64 = 50_000;
const WORK_PER_VALUE: u64 = 32;
const MAX_DEPTH: u32 = 320;
const MAX_FAULTS: usize = 50;

pub(crate) fn violations(rules: &Rules, value: &Json<'_>, wrapped: bool) -> Vec<Violation> {
    into_violations(faults(
        rules,
        rules.own(),
        CheckMode::Schema,
        value,
        wrapped,
    ))
}

/// Whole numbers that a `Value` does not hold exactly.
pub(crate) fn rounded(value: &Json<'_>, wrapped: bool) -> Vec<Violation> {
    let any = Rules::any();
    into_violations(faults(any, any.own(), CheckMode::Type, value, wrapped))
}

/// `wrapped`: paths begin with the wrapper's member.
pub(crate) fn faults(
    rules: &Rules,
    rule: &Rule,
    mode: CheckMode,
    value: &Json<'_>,
    wrapped: bool,
) -> Vec<Fault> {
    const ROOT: &Location<'static> = &Location::ROOT;
    let check = Checker::new(rules, mode, value.value_count());
    let place = if wrapped { ROOT.member(WRAPPER) } else { *ROOT };
    let found = check.apply(rule, value, &place, 0);
    if check.is_complete() {
        return found;
    }
    let message = "is nested too deeply, or is too long, to be checked against the schema";
    vec![Fault::too_deep(message)]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckMode {
    Schema,
    /// As serde reads the type: `3.0` is not an integer, optional members may be `null`, and a set may repeat an item.
    Type,
}

pub(crate) struct Checker<'s> {
    pub(crate) rules: &'s Rules,
    pub(super) mode: CheckMode,
    work: Cell<u64>,
    exhausted: Cell<bool>,
    pub(super) first_fault_only: Cell<bool>,
    pub(super) type_faults_only: Cell<bool>,
    pub(super) cached: RefCell<UnionCache>,
}

/// Keyed by addresses of forms and value, and what counts as a fault: nested unions ask the same for each form.
pub(super) type UnionCache = HashMap<(*const usize, *const (), bool, bool), Vec<Fault>>;

pub(super) const MAX_CACHED: usize = 4096;

impl<'s> Checker<'s> {
    pub(crate) fn new(rules: &'s Rules, mode: CheckMode, value_count: u64) -> Self {
        let work = Cell::new(MAX_WORK.saturating_add(value_count.saturating_mul(WORK_PER_VALUE)));
        Checker {
            rules,
            mode,
            work,
            exhausted: Cell::new(false),
            first_fault_only: Cell::new(false),
            type_faults_only: Cell::new(false),
            cached: RefCell::default(),
        }
    }

    pub(crate) fn fits(&self, rule: &'s Rule, value: &Json<'_>) -> bool {
        let first_fault_only = self.first_fault_only.replace(true);
        let found = self.apply(rule, value, &Location::ROOT, 0);
        self.first_fault_only.set(first_fault_only);
        if !first_fault_only {
            // The value may be dropped before the next one is checked, and its address used again.
            self.cached.borrow_mut().clear();
        }
        found.is_empty() && self.is_complete()
    }

    pub(crate) fn is_complete(&self) -> bool {
        !self.exhausted.get()
    }

    pub(super) fn is_enough(&self, found: &[Fault]) -> bool {
        found.len() > MAX_FAULTS
            || (self.first_fault_only.get()
                && found
                    .iter()
                    .any(|fault| !self.type_faults_only.get() || fault.severity == Severity::Type))
    }

    pub(crate) fn spend(&self, work: u64, depth: u32) -> bool {
        let left = self
            .work
            .get()
            .checked_sub(work)
            .filter(|_| depth <= MAX_DEPTH);
        self.work.set(left.unwrap_or(0));
        self.exhausted.set(self.exhausted.get() || left.is_none());
        left.is_some()
    }

    pub(super) fn apply(
        &self,
        rule: &'s Rule,
        value: &Json<'_>,
        place: &Location<'_>,
        depth: u32,
    ) -> Vec<Fault> {
        if !self.spend(1, depth) {
            return Vec::new();
        }
        if rule.boolean == Some(false) {
            return vec![Fault::at(place, "must not be present")];
        }
        if self.mode == CheckMode::Type && !rule.is_constraining {
            return self.rounded(value, place);
        }
        let mut found = Vec::new();
        if rule.lists {
            found.extend(unlisted(rule, value, place));
        }
        let has_type = rule.is_type(|name| self.is_type(name, value));
        if found.is_empty() && !has_type {
            found.push(Fault::kind(rule, value, place));
        }
        if self.is_enough(&found) {
            return found;
        }
        match value {
            Json::Number(digits) => {
                if self.mode == CheckMode::Type && has_type {
                    found.extend(
                        number::unrepresentable(rule, digits)
                            .map(|fault| Fault::lossy(place, fault)),
                    );
                }
                if !rule.bounds.is_empty() {
                    found.extend(
                        number_faults(rule, digits).map(|fault| Fault::bound(place, fault)),
                    );
                }
            }
            Json::String(text) => {
                if !rule.bounds.is_empty() {
                    found.extend(length_fault(rule, text, place));
                }
                found.extend(Fault::format(rule, text, place));
            }
            Json::Array(items) => self.array(rule, items, place, depth, &mut found),
            Json::Object(members) => self.object(rule, members, place, depth, &mut found),
            Json::Null | Json::Bool(_) => {}
        }
        if !self.is_enough(&found) {
            self.combined(rule, value, place, depth, &mut found);
        }
        if self.type_faults_only.get() {
            found.retain(|fault| fault.severity == Severity::Type);
        }
        found.truncate(MAX_FAULTS);
        found
    }

    /// Even if serde would drop something.
    pub(super) fn serde_accepts(&self, form: &'s Rule, value: &Json<'_>, depth: u32) -> bool {
        let first_fault_only = self.first_fault_only.replace(true);
        let type_faults_only = self.type_faults_only.replace(true);
        let found = self.apply(form, value, &Location::ROOT, depth + 1);
        self.first_fault_only.set(first_fault_only);
        self.type_faults_only.set(type_faults_only);
        found.is_empty()
    }

    /// Coercion removes such a `null`.
    pub(crate) fn is_null_for_absent(&self, rule: &Rule, name: &str, value: &Json<'_>) -> bool {
        *value == Json::Null
            && self.mode == CheckMode::Type
            && rule.named(name).is_some_and(|named| !named.is_required)
    }

    /// Integers that a `serde_json::Value` does not hold exactly, where the schema allows anything.
    fn rounded(&self, value: &Json<'_>, place: &Location<'_>) -> Vec<Fault> {
        match value {
            _ if self.mode != CheckMode::Type => Vec::new(),
            Json::Number(digits) => {
                let fault = number::rounded(digits).map(|fault| Fault::lossy(place, fault));
                fault.into_iter().collect()
            }
            Json::Array(items) => {
                let items = items.iter().enumerate();
                items
                    .flat_map(|(index, item)| self.rounded(item, &place.item(index)))
                    .collect()
            }
            Json::Object(members) => members
                .iter()
                .flat_map(|(name, value)| self.rounded(value, &place.member(name)))
                .collect(),
            _ => Vec::new(),
        }
    }

    fn combined(
        &self,
        rule: &'s Rule,
        value: &Json<'_>,
        place: &Location<'_>,
        depth: u32,
        found: &mut Vec<Fault>,
    ) {
        let apply = |number: &usize| self.apply(self.rules.at(*number), value, place, depth + 1);
        found.extend(rule.ref_target.iter().chain(&rule.all_of).flat_map(apply));
        for (forms, exclusive) in [
            (&rule.any_of, false),
            (&rule.one_of, self.mode == CheckMode::Schema),
        ] {
            if !forms.is_empty() {
                found.extend(self.union(forms, exclusive, value, place, depth));
            }
        }
        if rule.not.iter().any(|number| apply(number).is_empty()) {
            let message = match value {
                Json::Array(_) | Json::Object(_) => "matches a form that is not allowed".to_owned(),
                value => format!("is {}, which is not allowed", describe(value)),
            };
            found.push(Fault::at(place, message));
        }
    }

    pub(crate) fn is_type(&self, name: &str, value: &Json<'_>) -> bool {
        match (name, value) {
            ("integer", Json::Number(digits)) if self.mode == CheckMode::Type => {
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
