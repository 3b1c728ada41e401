//! One thing that is wrong with a value, and what of it can be told by the value and the schema at one place.

use super::describe::{describe, display_value, excerpt, expected};
use super::number::Decimal;
use super::{Location, Rule, json_eq};
use crate::output::json::Json;
use crate::text::{misspelling_of, plural};
use crate::validate::Violation;

/// How many allowed values a fault lists at most.
const MAX_LISTED: usize = 100;

/// One thing that is wrong.
#[derive(Debug, Clone)]
pub(in crate::output) struct Fault {
    pub(in crate::output) violation: Violation,
    pub(in crate::output) severity: Severity,
    misspelling: Misspelling,
}

/// What is a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::output) enum Severity {
    /// What serde refuses as well, or else knows better: a member by an alias, say.
    Type,
    /// A bound that is crossed, of which serde knows nothing.
    Bound,
    /// What serde would take, and lose something.
    Lossy,
    /// It would take too long to see what is wrong, and to read the value.
    TooDeep,
}

/// Of what it is looked for whether it is only misspelled. Not before the fault is told: most never are.
#[derive(Debug, Clone)]
enum Misspelling {
    Nothing,
    /// This is none of the allowed values.
    Value(String),
    /// This member is none of the known ones.
    Unknown(String),
    /// This member lacks, and these are there that nobody knows.
    Member(String, Vec<String>),
}

impl Fault {
    pub(super) fn at(place: &Location<'_>, message: impl Into<String>) -> Self {
        Fault::of(Violation::new(place.path(), message))
    }

    fn of(violation: Violation) -> Self {
        Fault { violation, severity: Severity::Type, misspelling: Misspelling::Nothing }
    }

    pub(super) fn too_deep(message: &str) -> Self {
        Fault { severity: Severity::TooDeep, ..Fault::at(&Location::ROOT, message) }
    }

    /// What something else than the schema of the type has against a value.
    pub(in crate::output) fn from_extra_check(violation: Violation) -> Self {
        Fault { severity: Severity::Lossy, ..Fault::of(violation) }
    }

    /// What serde would take all the same.
    pub(super) fn lossy(place: &Location<'_>, message: impl Into<String>) -> Self {
        Fault { severity: Severity::Lossy, ..Fault::at(place, message) }
    }

    pub(super) fn bound(place: &Location<'_>, message: impl Into<String>) -> Self {
        Fault { severity: Severity::Bound, ..Fault::at(place, message) }
    }

    /// A value of a type that the schema does not have.
    pub(super) fn kind(rule: &Rule, value: &Json<'_>, place: &Location<'_>) -> Self {
        let mut message = format!("is {}, expected {}", describe(value), expected(rule));
        if let Json::Number(digits) = value
            && let Some(plain) = Decimal::parse(digits).and_then(|number| number.plain_integer())
            && rule.has_type("integer")
        {
            message.push_str("; write ");
            message.push_str(&plain);
        }
        Fault::at(place, message)
    }

    /// A member that is not there; `unknown`: those that nobody knows.
    pub(super) fn missing(name: &str, unknown: &[&str], place: &Location<'_>) -> Self {
        let unknown = unknown.iter().map(|name| excerpt(name)).collect();
        let misspelling = Misspelling::Member(name.to_owned(), unknown);
        Fault { misspelling, ..Fault::at(place, format!("missing property `{name}`")) }
    }

    pub(super) fn allowed(mut self, values: impl IntoIterator<Item = String>) -> Self {
        let mut values = values.into_iter();
        self.violation.allowed = values.by_ref().take(MAX_LISTED).collect();
        self.violation.more = values.next().is_some();
        self
    }

    /// The name that is none of the allowed ones.
    pub(super) fn with_value(self, name: &str) -> Self {
        Fault { misspelling: Misspelling::Value(excerpt(name)), ..self }
    }

    /// The member that is none of the known ones.
    pub(super) fn unknown_member(self, name: &str) -> Self {
        Fault { misspelling: Misspelling::Unknown(excerpt(name)), ..self }
    }

    /// The name that was meant, or for a member that lacks the one that was written; `None`: none is near.
    fn nearest(&self) -> Option<&str> {
        match &self.misspelling {
            Misspelling::Nothing => None,
            Misspelling::Value(name) | Misspelling::Unknown(name) => {
                misspelling_of(name, self.violation.allowed.iter().map(String::as_str))
            }
            Misspelling::Member(name, unknown) => misspelling_of(name, unknown.iter().map(String::as_str)),
        }
    }
}

/// Faults as the model is told of them. A required member that is misspelled is one fault: what lacks, not what is unknown.
pub(in crate::output) fn into_violations(faults: Vec<Fault>) -> Vec<Violation> {
    let nearest: Vec<Option<String>> =
        faults.iter().map(|fault| fault.nearest().map(str::to_owned)).collect();
    let is_told = |fault: &Fault, meant: Option<&str>| {
        let Misspelling::Unknown(written) = &fault.misspelling else { return false };
        faults.iter().zip(&nearest).any(|(other, found)| {
            let missing =
                matches!(&other.misspelling, Misspelling::Member(name, _) if Some(name.as_str()) == meant);
            missing && found.as_ref() == Some(written) && other.violation.path == fault.violation.path
        })
    };
    let told_elsewhere: Vec<bool> =
        faults.iter().zip(&nearest).map(|(fault, meant)| is_told(fault, meant.as_deref())).collect();
    let reported = faults.into_iter().zip(nearest).zip(told_elsewhere).filter(|(_, elsewhere)| !elsewhere);
    reported.map(|((fault, meant), _)| fault.with_hint(meant)).collect()
}

impl Fault {
    fn with_hint(self, meant: Option<String>) -> Violation {
        let mut violation = self.violation;
        match (meant, self.misspelling) {
            (Some(written), Misspelling::Member(..)) => {
                violation.message.push_str(&format!(" (is it `{written}`?)"))
            }
            (Some(meant), _) => violation.message.push_str(&format!(" (did you mean {meant:?}?)")),
            (None, _) => {}
        }
        violation
    }
}

/// A value that is none of those that are allowed, by `const` and by `enum`.
pub(super) fn unlisted(rule: &Rule, value: &Json<'_>, place: &Location<'_>) -> impl Iterator<Item = Fault> {
    let only = rule.only.as_ref().map(std::slice::from_ref);
    let misses = move |choices: &&[Json<'_>]| !choices.iter().any(|choice| json_eq(choice, value));
    let missed = [only, rule.choices.as_deref()].into_iter().flatten().filter(misses);
    missed.map(move |choices| not_allowed(value, choices, place))
}

fn not_allowed(value: &Json<'_>, choices: &[Json<'_>], place: &Location<'_>) -> Fault {
    let allowed = choices.iter().map(display_value);
    match value {
        Json::String(text) => {
            let message = format!("is {}, which is not allowed", describe(value));
            Fault::at(place, message).allowed(allowed).with_value(text)
        }
        Json::Object(members) => {
            let is_choice = |name: &str| choices.iter().any(|choice| choice.as_text() == Some(name));
            match members.as_slice() {
                [(name, _)] if is_choice(name) => name_as_object(name, place),
                _ => Fault::at(place, "is an object, which is not allowed").allowed(allowed),
            }
        }
        value => Fault::at(place, format!("is {}, which is not allowed", describe(value))).allowed(allowed),
    }
}

/// A name that was written as the member of an object.
pub(super) fn name_as_object(name: &str, place: &Location<'_>) -> Fault {
    Fault::at(place, format!("is an object with `{name}`; write the string {name:?} in its place"))
}

/// Of a bound of lengths that is crossed; `bounds`: the keywords of the least and the most.
pub(super) fn count_fault(
    rule: &Rule,
    bounds: [&str; 2],
    count: u64,
    what: &str,
    place: &Location<'_>,
) -> Option<Fault> {
    let words = match bounds.map(|keyword| rule.count(keyword)) {
        [Some(least), Some(most)] if least == most && count != most => format!("exactly {least}"),
        [Some(least), _] if count < least => format!("at least {least}"),
        [_, Some(most)] if count > most => format!("at most {most}"),
        _ => return None,
    };
    Some(Fault::bound(place, format!("has {}, must have {words}", plural(count, what))))
}
