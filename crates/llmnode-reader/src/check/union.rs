//! Explains why no variant of a union matches.
//!
//! A value that is of one form is fine. Else one explanation is chosen, from the
//! one that tells most: the tag is wrong, the kind is wrong, or the faults of the
//! form that is *nearest*, which is the one that the value was probably meant to
//! be. Forms that are equally near are all named, with what is missing for each.

use super::checker::{CheckMode, Checker, MAX_CACHED, UnionKey};
use super::describe::{describe, display_value, excerpt, expected, join_some};
use super::variant::Variants;
use super::{Fault, Location, Rule, Rules, Severity};
use crate::json::{Json, Members};
use crate::text::one_line;

/// What is said of one form: its first faults, each on a line of its own in a longer report.
const MOST_LACKS: usize = 2;
const MOST_OF_ONE: usize = 90;

/// A form that did not take the value.
struct RankedForm<'s> {
    distance: usize,
    form: &'s Rule,
    faults: Vec<Fault>,
}

impl RankedForm<'_> {
    /// Lower is nearer. Of two at one distance, the one with fewer faults.
    fn key(&self) -> (usize, usize) {
        (self.distance, self.faults.len())
    }
}

impl<'s> Checker<'s> {
    /// What `forms` says, kept for the next form that asks the same.
    pub(super) fn union(
        &self,
        forms: &'s [usize],
        exclusive: bool,
        value: &Json<'_>,
        place: &Location<'_>,
        depth: u32,
    ) -> Vec<Fault> {
        let key = UnionKey {
            forms: forms.as_ptr(),
            value: std::ptr::from_ref(value).cast(),
            first_fault_only: self.first_fault_only.get(),
            type_faults_only: self.type_faults_only.get(),
        };
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

    /// What is wrong with a value that must be of one of these forms. `exclusive`: of one alone.
    fn forms(
        &self,
        forms: &'s [usize],
        exclusive: bool,
        value: &Json<'_>,
        place: &Location<'_>,
        depth: u32,
    ) -> Vec<Fault> {
        let mut outcomes = Vec::with_capacity(forms.len());
        for (index, number) in forms.iter().enumerate() {
            let form = self.rules.at(*number);
            let outcome = self.apply(form, value, place, depth + 1);
            if outcome.is_empty() && !exclusive {
                return self.taken_form(forms, index, value, place, depth);
            }
            outcomes.push(outcome);
        }
        let fitting = outcomes.iter().filter(|outcome| outcome.is_empty()).count();
        if fitting == 0 {
            if self.first_fault_only.get() {
                return outcomes.into_iter().next().unwrap_or_default();
            }
            return self.explain_mismatch(forms, outcomes, value, place);
        }
        if fitting > 1 && exclusive {
            let message = format!("matches {fitting} forms and must match only one");
            return vec![Fault::at(place, message)];
        }
        Vec::new()
    }

    /// What serde would lose although a form takes the value.
    ///
    /// serde takes the first form that matches, so an earlier one may drop members.
    fn taken_form(
        &self,
        forms: &'s [usize],
        index: usize,
        value: &Json<'_>,
        place: &Location<'_>,
        depth: u32,
    ) -> Vec<Fault> {
        if self.mode != CheckMode::Type || self.type_faults_only.get() {
            return Vec::new();
        }
        for earlier in &forms[..index] {
            if self.serde_accepts(self.rules.at(*earlier), value, depth) {
                let message = "matches several forms, and the first of them would drop properties; \
                               name the intended form";
                return vec![Fault::lossy(place, message)];
            }
        }
        let taken = self.rules.at(forms[index]);
        let dropped = self.dropped_member(forms, taken, value, place);
        dropped.into_iter().collect()
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
        let taken = self.rules.leaves(taken);
        let all = self.leaves_of(forms);
        for (name, _) in members {
            let is_kept = taken.iter().any(|rule| rule.member(name).is_some());
            if is_kept || !all.iter().any(|rule| rule.has_property(name)) {
                continue;
            }
            let message = format!(
                "has `{}`, which belongs to a different form than the other properties",
                excerpt(name)
            );
            return Some(Fault::lossy(place, message));
        }
        None
    }

    /// All that a value may be by these forms.
    fn leaves_of(&self, forms: &[usize]) -> Vec<&'s Rule> {
        let mut leaves = Vec::new();
        for form in forms {
            leaves.extend(self.rules.leaves(self.rules.at(*form)));
        }
        leaves
    }

    /// What is said of a value that no form takes. `outcomes`: the faults of each form.
    fn explain_mismatch(
        &self,
        forms: &'s [usize],
        outcomes: Vec<Vec<Fault>>,
        value: &Json<'_>,
        place: &Location<'_>,
    ) -> Vec<Fault> {
        let leaves = self.leaves_of(forms);
        if let Some(variants) = Variants::from_forms(&leaves) {
            return match variants.fault(self.rules, value, place) {
                Some(fault) => vec![fault],
                None => self.nearest(forms, outcomes, value, place),
            };
        }
        let mut of_its_kind = leaves.clone();
        of_its_kind.retain(|rule| self.is_kind(rule, value));
        if of_its_kind.is_empty() && !leaves.is_empty() {
            let expected = one_of(&leaves, " or ");
            let message = format!("is {}, expected {expected}", describe(value));
            return vec![Fault::at(place, message)];
        }
        if let Json::Object(members) = value {
            if let Some(fault) = wrong_tag(self.rules, &of_its_kind, members, place) {
                return vec![fault];
            }
            // Without any member that a form has, none is nearer than the others.
            if of_its_kind.len() > 1 && !has_member_of_any(&of_its_kind, members) {
                let forms = of_its_kind.iter().map(|rule| expected(rule));
                return vec![Fault::none_of(forms, place)];
            }
        }
        self.nearest(forms, outcomes, value, place)
    }

    /// The faults of the form that is nearest to the value. If several are equally
    /// near, all are named.
    fn nearest(
        &self,
        forms: &'s [usize],
        outcomes: Vec<Vec<Fault>>,
        value: &Json<'_>,
        place: &Location<'_>,
    ) -> Vec<Fault> {
        let mut ranked = Vec::with_capacity(forms.len());
        for (number, outcome) in forms.iter().zip(outcomes) {
            let form = self.rules.at(*number);
            ranked.push(self.rank(form, outcome, value));
        }
        let nearest = ranked.iter().map(RankedForm::key).min();
        ranked.retain(|ranked| Some(ranked.key()) == nearest);
        let is_one_of_several = ranked.len() > 1 && !self.rules.leaves(ranked[0].form).is_empty();
        if is_one_of_several {
            let forms = ranked
                .iter()
                .map(|ranked| self.lacking(ranked.form, &ranked.faults, place));
            return vec![Fault::none_of(forms, place)];
        }
        match ranked.into_iter().next() {
            Some(nearest) => nearest.faults,
            None => Vec::new(),
        }
    }

    /// Bounds do not count for the distance: a value that is out of bounds is of
    /// the form all the same.
    fn rank(&self, form: &'s Rule, faults: Vec<Fault>, value: &Json<'_>) -> RankedForm<'s> {
        let of_type = faults
            .iter()
            .filter(|fault| fault.severity != Severity::Bound)
            .count();
        RankedForm {
            distance: self.distance(form, value).saturating_add(of_type),
            form,
            faults,
        }
    }

    /// A form, and what the value lacks of it.
    fn lacking(&self, form: &'s Rule, faults: &[Fault], place: &Location<'_>) -> String {
        let name = one_of(&self.rules.leaves(form), " or ");
        let place = place.path();
        let mut lacks = Vec::new();
        for fault in faults.iter().take(MOST_LACKS) {
            let path = &fault.violation.path;
            let inner = path.strip_prefix(place.as_str()).unwrap_or(path);
            let inner = inner.trim_start_matches('.');
            let message = one_line(&fault.violation.message, MOST_OF_ONE);
            lacks.push(if inner.is_empty() {
                message
            } else {
                format!("{inner} {message}")
            });
        }
        if faults.len() > MOST_LACKS {
            lacks.push("…".to_owned());
        }
        format!("{name} ({})", lacks.join(", "))
    }

    /// How far the value is from a form, by its nearest leaf. Lower is closer.
    fn distance(&self, form: &'s Rule, value: &Json<'_>) -> usize {
        let mut least: Option<usize> = None;
        for rule in self.rules.leaves(form) {
            let distance = self.distance_of_leaf(rule, value);
            least = Some(least.map_or(distance, |least| least.min(distance)));
        }
        least.unwrap_or(0)
    }

    /// Each unknown member counts one; a wrong tag or type outweighs them all.
    fn distance_of_leaf(&self, rule: &Rule, value: &Json<'_>) -> usize {
        const ANOTHER_KIND: usize = 1000;
        const ANOTHER_TAG: usize = 100;
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
            return ANOTHER_TAG + unknown;
        }
        unknown
    }

    /// Whether the value is of the rule's kind, whatever else is wrong with it. Any
    /// number is of an integer's.
    pub(crate) fn is_kind(&self, rule: &Rule, value: &Json<'_>) -> bool {
        let is_number = matches!(value, Json::Number(_));
        let mut takes_any = true;
        for kind in rule.kinds() {
            takes_any = false;
            if (is_number && kind == "integer") || self.is_type(kind, value) {
                return true;
            }
        }
        takes_any
    }
}

impl Fault {
    /// Of a value that is as near to one form as to another.
    fn none_of(forms: impl Iterator<Item = String>, place: &Location<'_>) -> Fault {
        let forms = each_once(forms, "; or ");
        let message = format!("matches none of the allowed forms: {forms}");
        Fault::at(place, message)
    }
}

fn has_member_of_any(forms: &[&Rule], members: &Members<'_>) -> bool {
    for rule in forms {
        if members.iter().any(|(name, _)| rule.member(name).is_some()) {
            return true;
        }
    }
    false
}

fn one_of(leaves: &[&Rule], between: &str) -> String {
    each_once(leaves.iter().map(|rule| expected(rule)), between)
}

/// Forms that differ only in what messages do not show are named once.
fn each_once(all: impl Iterator<Item = String>, between: &str) -> String {
    let mut forms: Vec<String> = Vec::new();
    for form in all {
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    join_some(forms.into_iter(), between)
}

/// The fault of an object whose tag is missing or is that of no form.
///
/// The tag is the first property that has one value in each of the forms. With an
/// allowed one, something else is wrong.
fn wrong_tag(
    rules: &Rules,
    forms: &[&Rule],
    members: &Members<'_>,
    place: &Location<'_>,
) -> Option<Fault> {
    let [first, _, ..] = forms else { return None };
    for name in first.names() {
        let mut tags = Vec::new();
        for rule in forms {
            tags.extend(rules.tag(rule, name));
        }
        if tags.len() < forms.len() {
            continue;
        }
        let allowed = tags.iter().map(|tag| display_value(tag));
        let Some((_, value)) = members.iter().find(|(member, _)| member == name) else {
            let fault = Fault::at(place, format!("missing property `{name}`"));
            return Some(fault.allowed(allowed));
        };
        if tags.contains(&value) {
            return None;
        }
        let message = format!("is {}, which is not allowed", describe(value));
        let fault = Fault::at(&place.member(name), message).allowed(allowed);
        return Some(match value {
            Json::String(text) => fault.with_value(text),
            _ => fault,
        });
    }
    None
}
