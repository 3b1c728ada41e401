//! One thing that is wrong with a value, and the faults that one value and its schema alone can show.

use super::describe::{describe, display_value, excerpt, expected};
use super::{Location, Rule};
use crate::decimal::Decimal;
use crate::json::{Json, json_eq};
use crate::text::{misspelling_of, plural};
use crate::violation::Violation;

#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) violation: Violation,
    pub(crate) severity: Severity,
    misspelling: Misspelling,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    /// serde refuses it too, or knows better (a member by its alias).
    Type,
    Bound,
    /// serde would accept it, but lose something.
    Lossy,
    /// Checking and reading would take too long.
    TooDeep,
}

/// Resolved only when the fault is reported, which is rare.
#[derive(Debug, Clone)]
enum Misspelling {
    Nothing,
    Value(String),
    Unknown(String),
    Member(String, Vec<String>),
}

impl Fault {
    pub(super) fn at(place: &Location<'_>, message: impl Into<String>) -> Self {
        Fault::of(Violation::new(place.path(), message))
    }

    fn of(violation: Violation) -> Self {
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

    pub(crate) fn from_extra_check(violation: Violation) -> Self {
        Fault {
            severity: Severity::Lossy,
            ..Fault::of(violation)
        }
    }

    pub(super) fn lossy(place: &Location<'_>, message: impl Into<String>) -> Self {
        Fault {
            severity: Severity::Lossy,
            ..Fault::at(place, message)
        }
    }

    pub(super) fn bound(place: &Location<'_>, message: impl Into<String>) -> Self {
        Fault {
            severity: Severity::Bound,
            ..Fault::at(place, message)
        }
    }

    /// Types of dates and ids refuse such texts too, but say less.
    pub(super) fn format(rule: &Rule, text: &str, place: &Location<'_>) -> Option<Self> {
        let format = rule.format.filter(|format| !format.is_of(text))?;
        let message = format!("is {:?}, must be {}", excerpt(text), format.words());
        Some(Fault::bound(place, message))
    }

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

    /// `unknown`: unknown members of the object; one may be `name`, misspelt.
    pub(super) fn missing(name: &str, unknown: &[&str], place: &Location<'_>) -> Self {
        let unknown = unknown.iter().map(|name| excerpt(name)).collect();
        let misspelling = Misspelling::Member(name.to_owned(), unknown);
        Fault {
            misspelling,
            ..Fault::at(place, format!("missing property `{name}`"))
        }
    }

    pub(super) fn allowed(mut self, values: impl IntoIterator<Item = String>) -> Self {
        self.violation.list_allowed(values);
        self
    }

    pub(super) fn with_value(self, name: &str) -> Self {
        Fault {
            misspelling: Misspelling::Value(excerpt(name)),
            ..self
        }
    }

    pub(super) fn unknown_member(self, name: &str) -> Self {
        Fault {
            misspelling: Misspelling::Unknown(excerpt(name)),
            ..self
        }
    }

    fn nearest(&self) -> Option<&str> {
        match &self.misspelling {
            Misspelling::Nothing => None,
            Misspelling::Value(name) | Misspelling::Unknown(name) => {
                misspelling_of(name, self.violation.allowed.iter().map(String::as_str))
            }
            Misspelling::Member(name, unknown) => {
                misspelling_of(name, unknown.iter().map(String::as_str))
            }
        }
    }
}

/// Reports a misspelled required member once: as missing, not also as unknown.
pub(crate) fn into_violations(faults: Vec<Fault>) -> Vec<Violation> {
    let nearest: Vec<Option<String>> = faults
        .iter()
        .map(|fault| fault.nearest().map(str::to_owned))
        .collect();
    let is_told = |fault: &Fault, meant: Option<&str>| {
        let Misspelling::Unknown(written) = &fault.misspelling else {
            return false;
        };
        faults.iter().zip(&nearest).any(|(other, found)| {
            let missing =
                matches!(&other.misspelling, Misspelling::Member(name, _) if Some(name.as_str()) == meant);
            missing && found.as_ref() == Some(written) && other.violation.path == fault.violation.path
        })
    };
    let told_elsewhere: Vec<bool> = faults
        .iter()
        .zip(&nearest)
        .map(|(fault, meant)| is_told(fault, meant.as_deref()))
        .collect();
    let reported = faults
        .into_iter()
        .zip(nearest)
        .zip(told_elsewhere)
        .filter(|(_, elsewhere)| !elsewhere);
    reported
        .map(|((fault, meant), _)| fault.with_hint(meant))
        .collect()
}

impl Fault {
    fn with_hint(self, meant: Option<String>) -> Violation {
        let mut violation = self.violation;
        match (meant, self.misspelling) {
            (Some(written), Misspelling::Member(..)) => violation
                .message
                .push_str(&format!(" (is it `{written}`?)")),
            (Some(meant), _) => violation
                .message
                .push_str(&format!(" (did you mean {meant:?}?)")),
            (None, _) => {}
        }
        violation
    }
}

pub(super) fn unlisted(
    rule: &Rule,
    value: &Json<'_>,
    place: &Location<'_>,
) -> impl Iterator<Item = Fault> {
    let only = rule.only.as_ref().map(std::slice::from_ref);
    let missed = [only, rule.choices.as_deref()]
        .into_iter()
        .flatten()
        .filter(move |choices: &&[Json<'_>]| !choices.iter().any(|choice| json_eq(choice, value)));
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
            let is_choice =
                |name: &str| choices.iter().any(|choice| choice.as_text() == Some(name));
            match members.as_slice() {
                [(name, _)] if is_choice(name) => name_as_object(name, place),
                _ => Fault::at(place, "is an object, which is not allowed").allowed(allowed),
            }
        }
        value => Fault::at(
            place,
            format!("is {}, which is not allowed", describe(value)),
        )
        .allowed(allowed),
    }
}

pub(super) fn name_as_object(name: &str, place: &Location<'_>) -> Fault {
    Fault::at(
        place,
        format!("is an object with `{name}`; write the string {name:?} in its place"),
    )
}

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
    Some(Fault::bound(
        place,
        format!("has {}, must have {words}", plural(count, what)),
    ))
}

pub(super) fn length_fault(rule: &Rule, text: &str, place: &Location<'_>) -> Option<Fault> {
    const LENGTHS: [&str; 2] = ["minLength", "maxLength"];
    let fault = count_fault(
        rule,
        LENGTHS,
        text.chars().count() as u64,
        "character",
        place,
    )?;
    let is_character = LENGTHS.iter().all(|keyword| rule.count(keyword) == Some(1));
    Some(match is_character {
        true => Fault::bound(
            place,
            format!("is {:?}, must be one character", excerpt(text)),
        ),
        false => fault,
    })
}
