//! One thing that is wrong with a value, and the faults that one value and its
//! schema alone can show.
//!
//! A fault is a violation before it is reported: it also has how bad it is, which
//! decides what may be done about the value, and which name may be misspelt. Names
//! are compared only when it is reported (`into_violations`): most faults are of
//! forms of a union that were tried, and nobody sees them.

use super::describe::{describe, display_value, excerpt, expected};
use super::{Location, Rule};
use crate::decimal::Decimal;
use crate::json::{Json, json_eq};
use crate::text::{misspelling_of, plural};
use crate::violation::Violation;

/// Something that is wrong at a place.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) violation: Violation,
    pub(crate) severity: Severity,
    misspelling: Misspelling,
}

/// What a fault means for reading the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    /// serde refuses it too, or knows better (a member by its alias).
    Type,
    /// The schema refuses it, and serde would take it.
    Bound,
    /// serde would accept it, but lose something.
    Lossy,
    /// Checking and reading would take too long.
    TooDeep,
}

/// A name that may be misspelt.
#[derive(Debug, Clone)]
enum Misspelling {
    Nothing,
    /// This value is not among the allowed ones.
    Value(String),
    /// This member is not among the allowed ones.
    Unknown(String),
    /// This member is missing, and one of these unknown ones may be it.
    Member(String, Vec<String>),
}

impl Fault {
    /// A fault that serde will find as well, or knows better.
    pub(super) fn at(place: &Location<'_>, message: impl Into<String>) -> Self {
        Fault::new(Violation::new(place.path(), message))
    }

    fn new(violation: Violation) -> Self {
        Fault {
            violation,
            severity: Severity::Type,
            misspelling: Misspelling::Nothing,
        }
    }

    pub(super) fn too_deep(message: &str) -> Self {
        Fault {
            severity: Severity::TooDeep,
            ..Fault::at(&Location::ROOT, message)
        }
    }

    /// Lossy, as serde knows nothing of what a check beside the schema says.
    pub(crate) fn from_extra_check(violation: Violation) -> Self {
        Fault {
            severity: Severity::Lossy,
            ..Fault::new(violation)
        }
    }

    /// A value that serde would take and change.
    pub(super) fn lossy(place: &Location<'_>, message: impl Into<String>) -> Self {
        Fault {
            severity: Severity::Lossy,
            ..Fault::at(place, message)
        }
    }

    /// A value of the right type that is out of bounds.
    pub(super) fn bound(place: &Location<'_>, message: impl Into<String>) -> Self {
        Fault {
            severity: Severity::Bound,
            ..Fault::at(place, message)
        }
    }

    /// Types of dates and ids refuse such texts too, but say less.
    pub(super) fn format(rule: &Rule, text: &str, place: &Location<'_>) -> Option<Self> {
        let format = rule.format?;
        if format.is_of(text) {
            return None;
        }
        let message = format!("is {:?}, must be {}", excerpt(text), format.words());
        Some(Fault::bound(place, message))
    }

    /// The value is of another kind than the rule's. A whole number that was
    /// written as a fraction gets the digits to write.
    pub(super) fn kind(rule: &Rule, value: &Json<'_>, place: &Location<'_>) -> Self {
        let mut message = format!("is {}, expected {}", describe(value), expected(rule));
        if rule.has_type("integer")
            && let Json::Number(digits) = value
            && let Some(number) = Decimal::parse(digits)
            && let Some(plain) = number.plain_integer()
        {
            message.push_str("; write ");
            message.push_str(&plain);
        }
        Fault::at(place, message)
    }

    /// `unknown`: unknown members of the object; one may be `name`, misspelt.
    pub(super) fn missing(name: &str, unknown: &[&str], place: &Location<'_>) -> Self {
        let unknown = unknown.iter().map(|name| excerpt(name)).collect();
        let misspelling = Misspelling::Member(name.to_owned(), unknown);
        Fault {
            misspelling,
            ..Fault::at(place, format!("missing property `{name}`"))
        }
    }

    /// Lists what would be right.
    pub(super) fn allowed(mut self, values: impl IntoIterator<Item = String>) -> Self {
        self.violation.list_allowed(values);
        self
    }

    /// The value that may be a misspelling of an allowed one.
    pub(super) fn with_value(self, name: &str) -> Self {
        Fault {
            misspelling: Misspelling::Value(excerpt(name)),
            ..self
        }
    }

    /// The member that may be a misspelling of an allowed one.
    pub(super) fn unknown_member(self, name: &str) -> Self {
        Fault {
            misspelling: Misspelling::Unknown(excerpt(name)),
            ..self
        }
    }

    /// The name that is meant by the misspelt one, or that was written for the missing one.
    fn nearest(&self) -> Option<&str> {
        match &self.misspelling {
            Misspelling::Nothing => None,
            Misspelling::Value(name) | Misspelling::Unknown(name) => {
                let allowed = self.violation.allowed.iter().map(String::as_str);
                misspelling_of(name, allowed)
            }
            Misspelling::Member(name, unknown) => {
                let unknown = unknown.iter().map(String::as_str);
                misspelling_of(name, unknown)
            }
        }
    }
}

/// A fault with the name that is nearest to the misspelt one.
struct HintedFault {
    fault: Fault,
    nearest: Option<String>,
}

/// Reports a misspelled required member once: as missing, not also as unknown.
pub(crate) fn into_violations(faults: Vec<Fault>) -> Vec<Violation> {
    let mut hinted = Vec::with_capacity(faults.len());
    for fault in faults {
        let nearest = fault.nearest().map(str::to_owned);
        hinted.push(HintedFault { fault, nearest });
    }
    // All are looked at before one is left out: either of a pair may come first.
    let mut are_repeated = Vec::with_capacity(hinted.len());
    for fault in &hinted {
        are_repeated.push(fault.is_repeated_in(&hinted));
    }
    let mut violations = Vec::with_capacity(hinted.len());
    for (fault, is_repeated) in hinted.into_iter().zip(are_repeated) {
        if !is_repeated {
            violations.push(fault.into_violation());
        }
    }
    violations
}

impl HintedFault {
    /// Whether this is an unknown member that another fault of the same object
    /// takes for a missing one.
    fn is_repeated_in(&self, others: &[HintedFault]) -> bool {
        let Misspelling::Unknown(written) = &self.fault.misspelling else {
            return false;
        };
        for other in others {
            let is_missing = match &other.fault.misspelling {
                Misspelling::Member(name, _) => Some(name) == self.nearest.as_ref(),
                _ => false,
            };
            let same_object = other.fault.violation.path == self.fault.violation.path;
            if is_missing && other.nearest.as_ref() == Some(written) && same_object {
                return true;
            }
        }
        false
    }

    /// Adds the hint to the message, in which a model looks for it.
    fn into_violation(self) -> Violation {
        let mut violation = self.fault.violation;
        let Some(nearest) = self.nearest else {
            return violation;
        };
        let hint = match self.fault.misspelling {
            Misspelling::Member(..) => format!(" (is it `{nearest}`?)"),
            _ => format!(" (did you mean {nearest:?}?)"),
        };
        violation.message.push_str(&hint);
        violation
    }
}

/// A fault for each list of the rule's that does not have the value: its `const` and its `enum`.
pub(super) fn unlisted(
    rule: &Rule,
    value: &Json<'_>,
    place: &Location<'_>,
    found: &mut Vec<Fault>,
) {
    let only = rule.only.as_ref().map(std::slice::from_ref);
    let lists = [only, rule.choices.as_deref()];
    for choices in lists.into_iter().flatten() {
        if !choices.iter().any(|choice| json_eq(choice, value)) {
            found.push(not_allowed(value, choices, place));
        }
    }
}

/// A choice that is written as an object of its name gets words of its own, as an
/// enum with content looks like that.
fn not_allowed(value: &Json<'_>, choices: &[Json<'_>], place: &Location<'_>) -> Fault {
    let allowed = choices.iter().map(display_value);
    match value {
        Json::String(text) => {
            let message = format!("is {}, which is not allowed", describe(value));
            Fault::at(place, message).allowed(allowed).with_value(text)
        }
        Json::Object(members) => {
            if let [(name, _)] = members.as_slice()
                && is_choice(name, choices)
            {
                return name_as_object(name, place);
            }
            Fault::at(place, "is an object, which is not allowed").allowed(allowed)
        }
        value => {
            let message = format!("is {}, which is not allowed", describe(value));
            Fault::at(place, message).allowed(allowed)
        }
    }
}

fn is_choice(name: &str, choices: &[Json<'_>]) -> bool {
    choices.iter().any(|choice| choice.as_text() == Some(name))
}

/// `{"Red": ..}` in place of `"Red"`.
pub(super) fn name_as_object(name: &str, place: &Location<'_>) -> Fault {
    let message = format!("is an object with `{name}`; write the string {name:?} in its place");
    Fault::at(place, message)
}

/// A count that is out of bounds. `bounds`: the keywords of the least and the most.
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
    let message = format!("has {}, must have {words}", plural(count, what));
    Some(Fault::bound(place, message))
}

/// A text that is too short or too long, in characters. Of a type that is one
/// character, the text is shown.
pub(super) fn length_fault(rule: &Rule, text: &str, place: &Location<'_>) -> Option<Fault> {
    const LENGTHS: [&str; 2] = ["minLength", "maxLength"];
    let length = text.chars().count() as u64;
    let fault = count_fault(rule, LENGTHS, length, "character", place)?;
    let is_character = LENGTHS.iter().all(|keyword| rule.count(keyword) == Some(1));
    if is_character {
        let message = format!("is {:?}, must be one character", excerpt(text));
        return Some(Fault::bound(place, message));
    }
    Some(fault)
}
