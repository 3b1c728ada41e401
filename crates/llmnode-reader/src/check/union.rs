//! Explains why no variant of a union matches.

use super::checker::{CheckMode, Checker, MAX_CACHED};
use super::describe::{describe, display_value, excerpt, expected, join_some};
use super::variant::Variants;
use super::{Fault, Location, Rule, Rules, Severity};
use crate::json::{Json, Members};
use crate::text::one_line;

/// What is said of one form: its first faults, each on a line of its own in a longer report.
const MOST_LACKS: usize = 2;
const MOST_OF_ONE: usize = 90;

impl<'s> Checker<'s> {
    pub(super) fn union(
        &self,
        forms: &'s [usize],
        exclusive: bool,
        value: &Json<'_>,
        place: &Location<'_>,
        depth: u32,
    ) -> Vec<Fault> {
        let key = (
            forms.as_ptr(),
            std::ptr::from_ref(value).cast(),
            self.first_fault_only.get(),
            self.type_faults_only.get(),
        );
        if let Some(cached) = self.cached.borrow().get(&key) {
            return cached.clone();
        }
        let found = self.forms(forms, exclusive, value, place, depth);
        let mut cached = self.cached.borrow_mut();
        if cached.len() >= MAX_CACHED {
            cached.clear();
        }
        cached.insert(key, found.clone());
        found
    }

    fn forms(
        &self,
        forms: &'s [usize],
        exclusive: bool,
        value: &Json<'_>,
        place: &Location<'_>,
        depth: u32,
    ) -> Vec<Fault> {
        let mut outcomes = Vec::with_capacity(forms.len());
        for (index, form) in forms.iter().map(|form| self.rules.at(*form)).enumerate() {
            let outcome = self.apply(form, value, place, depth + 1);
            // serde takes the first form that matches, so an earlier one may drop members.
            if outcome.is_empty() && !exclusive {
                if self.mode == CheckMode::Type
                    && !self.type_faults_only.get()
                    && forms[..index]
                        .iter()
                        .any(|one: &usize| self.serde_accepts(self.rules.at(*one), value, depth))
                {
                    return vec![Fault::lossy(
                        place,
                        "matches several forms, and the first of them would drop properties; name the intended form",
                    )];
                }
                return self
                    .dropped_member(forms, form, value, place)
                    .into_iter()
                    .collect();
            }
            outcomes.push(outcome);
        }
        match outcomes.iter().filter(|outcome| outcome.is_empty()).count() {
            0 if self.first_fault_only.get() => outcomes.into_iter().next().unwrap_or_default(),
            0 => self.explain_mismatch(forms, outcomes, value, place),
            fits if fits > 1 && exclusive => {
                vec![Fault::at(
                    place,
                    format!("matches {fits} forms and must match only one"),
                )]
            }
            _ => Vec::new(),
        }
    }

    /// A member that another form has, but that serde would drop with the form it takes.
    fn dropped_member(
        &self,
        forms: &[usize],
        taken: &'s Rule,
        value: &Json<'_>,
        place: &Location<'_>,
    ) -> Option<Fault> {
        let Json::Object(members) = value else {
            return None;
        };
        if self.mode != CheckMode::Type || self.type_faults_only.get() {
            return None;
        }
        let taken = self.rules.leaves(taken);
        let all = forms
            .iter()
            .flat_map(|form| self.rules.leaves(self.rules.at(*form)))
            .collect::<Vec<_>>();
        let is_free = |name: &str| taken.iter().any(|rule| rule.member(name).is_some());
        let lost = |name: &str| !is_free(name) && all.iter().any(|rule| rule.has_property(name));
        let (name, _) = members.iter().find(|(name, _)| lost(name))?;
        let message = format!(
            "has `{}`, which belongs to a different form than the other properties",
            excerpt(name)
        );
        Some(Fault::lossy(place, message))
    }

    fn explain_mismatch(
        &self,
        forms: &'s [usize],
        outcomes: Vec<Vec<Fault>>,
        value: &Json<'_>,
        place: &Location<'_>,
    ) -> Vec<Fault> {
        let leaves: Vec<&Rule> = forms
            .iter()
            .flat_map(|form| self.rules.leaves(self.rules.at(*form)))
            .collect();
        if let Some(variants) = Variants::of(&leaves) {
            return match variants.fault(self.rules, value, place) {
                Some(fault) => vec![fault],
                None => self.nearest(forms, outcomes, value, place),
            };
        }
        let of_its_kind: Vec<_> = leaves
            .iter()
            .copied()
            .filter(|rule| self.is_kind(rule, value))
            .collect();
        if of_its_kind.is_empty() && !leaves.is_empty() {
            return vec![Fault::at(
                place,
                format!(
                    "is {}, expected {}",
                    describe(value),
                    one_of(&leaves, " or ")
                ),
            )];
        }
        if let Json::Object(members) = value {
            if let Some(fault) = wrong_tag(self.rules, &of_its_kind, members, place) {
                return vec![fault];
            }
            if of_its_kind.len() > 1
                && !of_its_kind
                    .iter()
                    .any(|rule: &&Rule| members.iter().any(|(name, _)| rule.member(name).is_some()))
            {
                let forms = of_its_kind.iter().map(|rule| expected(rule));
                return vec![Fault::none_of(forms, place)];
            }
        }
        self.nearest(forms, outcomes, value, place)
    }

    /// If several are equally close, all are named.
    fn nearest(
        &self,
        forms: &'s [usize],
        outcomes: Vec<Vec<Fault>>,
        value: &Json<'_>,
        place: &Location<'_>,
    ) -> Vec<Fault> {
        let mut ranked: Vec<_> = forms
            .iter()
            .map(|form| self.rules.at(*form))
            .zip(outcomes)
            .map(|(form, outcome)| {
                let of_type = outcome
                    .iter()
                    .filter(|fault| fault.severity != Severity::Bound)
                    .count();
                let distance = self.distance(form, value).saturating_add(of_type);
                (distance, outcome.len(), form, outcome)
            })
            .collect();
        let nearest = ranked
            .iter()
            .map(|(distance, length, ..)| (*distance, *length))
            .min();
        ranked.retain(|(distance, length, ..)| Some((*distance, *length)) == nearest);
        if let [(.., form, _), _, ..] = &ranked[..]
            && !self.rules.leaves(form).is_empty()
        {
            let forms = ranked
                .iter()
                .map(|(.., form, outcome)| self.lacking(form, outcome, place));
            return vec![Fault::none_of(forms, place)];
        }
        ranked
            .into_iter()
            .next()
            .map(|(.., outcome)| outcome)
            .unwrap_or_default()
    }

    /// A form, and what the value lacks of it.
    fn lacking(&self, form: &'s Rule, faults: &[Fault], place: &Location<'_>) -> String {
        let name = one_of(&self.rules.leaves(form), " or ");
        let place = place.path();
        let mut lacks = Vec::new();
        for Fault { violation, .. } in faults.iter().take(MOST_LACKS) {
            let inner = violation
                .path
                .strip_prefix(place.as_str())
                .unwrap_or(&violation.path);
            let inner = inner.trim_start_matches('.');
            let told = one_line(&violation.message, MOST_OF_ONE);
            lacks.push(if inner.is_empty() {
                told
            } else {
                format!("{inner} {told}")
            });
        }
        if faults.len() > MOST_LACKS {
            lacks.push("…".to_owned());
        }
        format!("{name} ({})", lacks.join(", "))
    }

    /// Lower is closer. Each unknown member counts one; a wrong tag or type outweighs them all.
    fn distance(&self, form: &'s Rule, value: &Json<'_>) -> usize {
        const ANOTHER_KIND: usize = 1000;
        const ANOTHER_TAG: usize = 100;
        let each = self.rules.leaves(form).into_iter().map(|rule| {
            if !self.is_kind(rule, value) {
                return ANOTHER_KIND;
            }
            let Json::Object(members) = value else {
                return 0;
            };
            let unknown = members
                .iter()
                .filter(|(name, _)| rule.member(name).is_none())
                .count();
            if self.rules.has_another_tag(rule, members) {
                ANOTHER_TAG + unknown
            } else {
                unknown
            }
        });
        each.min().unwrap_or(0)
    }

    pub(crate) fn is_kind(&self, rule: &Rule, value: &Json<'_>) -> bool {
        let number = matches!(value, Json::Number(_)) && rule.kinds().any(|kind| kind == "integer");
        number
            || rule.kinds().next().is_none()
            || rule.kinds().any(|kind| self.is_type(kind, value))
    }
}

impl Fault {
    fn none_of(forms: impl Iterator<Item = String>, place: &Location<'_>) -> Fault {
        Fault::at(
            place,
            format!(
                "matches none of the allowed forms: {}",
                each_once(forms, "; or ")
            ),
        )
    }
}

fn one_of(leaves: &[&Rule], between: &str) -> String {
    each_once(leaves.iter().map(|rule| expected(rule)), between)
}

fn each_once(all: impl Iterator<Item = String>, between: &str) -> String {
    let mut forms: Vec<String> = Vec::new();
    for form in all {
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    join_some(forms.into_iter(), between)
}

fn wrong_tag(
    rules: &Rules,
    forms: &[&Rule],
    members: &Members<'_>,
    place: &Location<'_>,
) -> Option<Fault> {
    let [first, _, ..] = forms else { return None };
    let given = |name: &str| {
        members
            .iter()
            .find(|(given, _)| given == name)
            .map(|(_, value)| value)
    };
    for name in first.names() {
        let Some(tags) = forms
            .iter()
            .map(|rule| rules.tag(rule, name))
            .collect::<Option<Vec<_>>>()
        else {
            continue;
        };
        let allowed = tags.iter().map(|tag| display_value(tag));
        match given(name) {
            None => {
                return Some(
                    Fault::at(place, format!("missing property `{name}`")).allowed(allowed),
                );
            }
            Some(value) if tags.iter().all(|tag| *tag != value) => {
                let message = format!("is {}, which is not allowed", describe(value));
                let fault = Fault::at(&place.member(name), message).allowed(allowed);
                return Some(if let Json::String(text) = value {
                    fault.with_value(text)
                } else {
                    fault
                });
            }
            Some(_) => return None,
        }
    }
    None
}
