//! Applies rules to a value. What is wrong with members, items and unions is in files of their own.
//!
//! At each place, in this order: values that are listed, the kind of the value,
//! what is within it, and what the rule combines. The first two come first because
//! a fault of theirs makes most of the others needless. Whoever only asks whether a
//! value fits stops at the first fault (`is_enough`).
//!
//! The work is counted, and a check that has spent its budget is not complete: it
//! says neither that a value fits nor what is wrong.

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
/// Long answers have more.
const WORK_PER_VALUE: u64 = 32;
/// Deeper than any answer that parses, as references and unions count too.
const MAX_DEPTH: u32 = 320;
/// More would not help a model.
const MAX_FAULTS: usize = 50;

/// All that the schema says against a value.
pub(crate) fn violations(rules: &Rules, value: &Json<'_>, wrapped: bool) -> Vec<Violation> {
    let found = faults(
        rules,
        rules.answer_rule(),
        CheckMode::Schema,
        value,
        wrapped,
    );
    into_violations(found)
}

/// Whole numbers that a `Value` does not hold exactly.
pub(crate) fn rounded(value: &Json<'_>, wrapped: bool) -> Vec<Violation> {
    let any = Rules::any();
    into_violations(faults(
        any,
        any.answer_rule(),
        CheckMode::Type,
        value,
        wrapped,
    ))
}

/// All that is wrong with a value. `wrapped`: paths begin with the wrapper's member.
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

/// How much of the schema is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckMode {
    /// All that it says.
    Schema,
    /// As serde reads the type: `3.0` is not an integer, optional members may be
    /// `null`, and a set may repeat an item.
    Type,
}

/// One check. What has to outlast a recursion is in cells, as a check is shared by
/// all that it calls.
pub(crate) struct Checker<'s> {
    pub(crate) rules: &'s Rules,
    pub(super) mode: CheckMode,
    /// What is left of the budget.
    work: Cell<u64>,
    /// The budget was too small, or the value too deep. This stays.
    exhausted: Cell<bool>,
    /// Set while it is only asked whether a value fits.
    pub(super) first_fault_only: Cell<bool>,
    /// Set while it is asked whether serde takes a value, whatever it loses.
    pub(super) type_faults_only: Cell<bool>,
    pub(super) cached: RefCell<UnionCache>,
}

/// What was found for unions of this check: nested unions ask the same for each form.
pub(super) type UnionCache = HashMap<UnionKey, Vec<Fault>>;

/// Addresses of forms and value, and what counts as a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct UnionKey {
    pub(super) forms: *const usize,
    pub(super) value: *const (),
    pub(super) first_fault_only: bool,
    pub(super) type_faults_only: bool,
}

/// How many unions are remembered. Each keeps its faults.
pub(super) const MAX_CACHED: usize = 4096;

impl<'s> Checker<'s> {
    /// `value_count`: of the value that is checked, as its length decides how much
    /// work a check may be.
    pub(crate) fn new(rules: &'s Rules, mode: CheckMode, value_count: u64) -> Self {
        let for_values = value_count.saturating_mul(WORK_PER_VALUE);
        let work = MAX_WORK.saturating_add(for_values);
        Checker {
            rules,
            mode,
            work: Cell::new(work),
            exhausted: Cell::new(false),
            first_fault_only: Cell::new(false),
            type_faults_only: Cell::new(false),
            cached: RefCell::default(),
        }
    }

    /// Whether the value has no fault at all.
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

    /// Whether the budget was enough. If not, what was found is not all.
    pub(crate) fn is_complete(&self) -> bool {
        !self.exhausted.get()
    }

    /// Whether what was found decides, so that nothing more is looked for.
    pub(super) fn is_enough(&self, found: &[Fault]) -> bool {
        if found.len() > MAX_FAULTS {
            return true;
        }
        if !self.first_fault_only.get() {
            return false;
        }
        let only_type = self.type_faults_only.get();
        found
            .iter()
            .any(|fault| !only_type || fault.severity == Severity::Type)
    }

    /// Takes work from the budget. `false`: nothing is left, or the value is too deep.
    pub(crate) fn spend(&self, work: u64, depth: u32) -> bool {
        let left = self.work.get().checked_sub(work);
        match left {
            Some(left) if depth <= MAX_DEPTH => {
                self.work.set(left);
                true
            }
            _ => {
                self.work.set(0);
                self.exhausted.set(true);
                false
            }
        }
    }

    /// What is wrong with a value, and all within it.
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
            let mut found = Vec::new();
            rounded_in(value, place, &mut found);
            return found;
        }
        let mut found = Vec::new();
        if rule.lists {
            unlisted(rule, value, place, &mut found);
        }
        let has_type = rule.is_type(|name| self.is_type(name, value));
        if found.is_empty() && !has_type {
            found.push(Fault::kind(rule, value, place));
        }
        if self.is_enough(&found) {
            return found;
        }
        match value {
            Json::Number(digits) => self.number(rule, digits, has_type, place, &mut found),
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

    /// What a type cannot hold of a number counts only where the type takes
    /// numbers: else its kind is wrong already.
    fn number(
        &self,
        rule: &Rule,
        digits: &str,
        has_type: bool,
        place: &Location<'_>,
        found: &mut Vec<Fault>,
    ) {
        if self.mode == CheckMode::Type
            && has_type
            && let Some(message) = number::unrepresentable(rule, digits)
        {
            found.push(Fault::lossy(place, message));
        }
        if rule.bounds.is_empty() {
            return;
        }
        for message in number_faults(rule, digits) {
            found.push(Fault::bound(place, message));
        }
    }

    /// Whether serde reads the value as this form, even if it would drop something.
    pub(super) fn serde_accepts(&self, form: &'s Rule, value: &Json<'_>, depth: u32) -> bool {
        let first_fault_only = self.first_fault_only.replace(true);
        let type_faults_only = self.type_faults_only.replace(true);
        let found = self.apply(form, value, &Location::ROOT, depth + 1);
        self.first_fault_only.set(first_fault_only);
        self.type_faults_only.set(type_faults_only);
        found.is_empty()
    }

    /// Whether this is `null` in place of a member that may be left out. Coercion
    /// removes such a `null`.
    pub(crate) fn is_null_for_absent(&self, rule: &Rule, name: &str, value: &Json<'_>) -> bool {
        if *value != Json::Null || self.mode != CheckMode::Type {
            return false;
        }
        match rule.named(name) {
            Some(property) => !property.is_required,
            None => false,
        }
    }

    /// What the rule says by other rules: by reference, by all of them, by any or
    /// one of them, by none of one.
    fn combined(
        &self,
        rule: &'s Rule,
        value: &Json<'_>,
        place: &Location<'_>,
        depth: u32,
        found: &mut Vec<Fault>,
    ) {
        for number in rule.ref_target.iter().chain(&rule.all_of) {
            found.extend(self.apply(self.rules.at(*number), value, place, depth + 1));
        }
        if !rule.any_of.is_empty() {
            found.extend(self.union(&rule.any_of, false, value, place, depth));
        }
        if !rule.one_of.is_empty() {
            // serde takes the first of several.
            let exclusive = self.mode == CheckMode::Schema;
            found.extend(self.union(&rule.one_of, exclusive, value, place, depth));
        }
        let Some(number) = rule.not else {
            return;
        };
        let is_refused = self
            .apply(self.rules.at(number), value, place, depth + 1)
            .is_empty();
        if is_refused {
            let message = match value {
                Json::Array(_) | Json::Object(_) => "matches a form that is not allowed".to_owned(),
                value => format!("is {}, which is not allowed", describe(value)),
            };
            found.push(Fault::at(place, message));
        }
    }

    /// Whether the value is of a type by its name in schemas.
    pub(crate) fn is_type(&self, name: &str, value: &Json<'_>) -> bool {
        match (name, value) {
            // serde reads `-0` and `3.0` as fractions.
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

/// Integers that a `serde_json::Value` does not hold exactly, where the schema allows anything.
fn rounded_in(value: &Json<'_>, place: &Location<'_>, found: &mut Vec<Fault>) {
    match value {
        Json::Number(digits) => {
            if let Some(message) = number::rounded(digits) {
                found.push(Fault::lossy(place, message));
            }
        }
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                rounded_in(item, &place.item(index), found);
            }
        }
        Json::Object(members) => {
            for (name, member) in members {
                rounded_in(member, &place.member(name), found);
            }
        }
        Json::Null | Json::Bool(_) | Json::String(_) => {}
    }
}
