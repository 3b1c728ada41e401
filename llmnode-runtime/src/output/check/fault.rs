//! One thing that is wrong with a value, and what of it can be told by the value and the schema at one place.

use super::number::Decimal;
use super::words::{expected, listed, shown, told};
use super::{Place, Rule, same};
use crate::output::json::Json;
use crate::text::{counted, slip};
use crate::validate::Violation;

/// How many allowed values a fault lists at most.
const LISTED: usize = 100;

/// One thing that is wrong.
#[derive(Debug, Clone)]
pub(in crate::output) struct Fault {
    pub(in crate::output) violation: Violation,
    pub(in crate::output) weight: Weight,
    near: Near,
}

/// What is a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::output) enum Weight {
    /// What serde refuses as well, or else knows better: a member by an alias, say.
    Type,
    /// A bound that is crossed, of which serde knows nothing.
    Bound,
    /// What serde would take, and lose something.
    Firm,
    /// It would take too long to see what is wrong, and to read the value.
    Endless,
}

/// Of what it is looked for whether it is only misspelled. Not before the fault is told: most never are.
#[derive(Debug, Clone)]
enum Near {
    Nothing,
    /// This is none of the allowed values.
    Value(String),
    /// This member is none of the known ones.
    Unknown(String),
    /// This member lacks, and these are there that nobody knows.
    Member(String, Vec<String>),
}

impl Fault {
    pub(super) fn at(place: &Place<'_>, message: impl Into<String>) -> Self {
        Fault::of(Violation::new(place.path(), message))
    }

    fn of(violation: Violation) -> Self {
        Fault { violation, weight: Weight::Type, near: Near::Nothing }
    }

    pub(super) fn endless(message: &str) -> Self {
        Fault { weight: Weight::Endless, ..Fault::at(&Place::WHOLE, message) }
    }

    /// What something else than the schema of the type has against a value.
    pub(in crate::output) fn objection(violation: Violation) -> Self {
        Fault { weight: Weight::Firm, ..Fault::of(violation) }
    }

    /// What serde would take all the same.
    pub(super) fn firm(place: &Place<'_>, message: impl Into<String>) -> Self {
        Fault { weight: Weight::Firm, ..Fault::at(place, message) }
    }

    pub(super) fn bound(place: &Place<'_>, message: impl Into<String>) -> Self {
        Fault { weight: Weight::Bound, ..Fault::at(place, message) }
    }

    /// A value of a type that the schema does not have.
    pub(super) fn kind(rule: &Rule, value: &Json<'_>, place: &Place<'_>) -> Self {
        let mut message = format!("is {}, expected {}", told(value), expected(rule));
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
    pub(super) fn lacks(name: &str, unknown: &[&str], place: &Place<'_>) -> Self {
        let unknown = unknown.iter().map(|name| shown(name)).collect();
        let near = Near::Member(name.to_owned(), unknown);
        Fault { near, ..Fault::at(place, format!("missing property `{name}`")) }
    }

    pub(super) fn allowed(mut self, values: impl IntoIterator<Item = String>) -> Self {
        let mut values = values.into_iter();
        self.violation.allowed = values.by_ref().take(LISTED).collect();
        self.violation.more = values.next().is_some();
        self
    }

    /// The name that is none of the allowed ones.
    pub(super) fn given(self, name: &str) -> Self {
        Fault { near: Near::Value(shown(name)), ..self }
    }

    /// The member that is none of the known ones.
    pub(super) fn stranger(self, name: &str) -> Self {
        Fault { near: Near::Unknown(shown(name)), ..self }
    }

    /// The name that was meant, or for a member that lacks the one that was written; `None`: none is near.
    fn nearest(&self) -> Option<&str> {
        match &self.near {
            Near::Nothing => None,
            Near::Value(name) | Near::Unknown(name) => {
                slip(name, self.violation.allowed.iter().map(String::as_str))
            }
            Near::Member(name, unknown) => slip(name, unknown.iter().map(String::as_str)),
        }
    }
}

/// Faults as the model is told of them. A required member that is misspelled is one fault: what lacks, not what is unknown.
pub(in crate::output) fn tell(faults: Vec<Fault>) -> Vec<Violation> {
    let nearest: Vec<Option<String>> =
        faults.iter().map(|fault| fault.nearest().map(str::to_owned)).collect();
    let is_told = |fault: &Fault, meant: Option<&str>| {
        let Near::Unknown(written) = &fault.near else { return false };
        faults.iter().zip(&nearest).any(|(other, found)| {
            let lacks = matches!(&other.near, Near::Member(name, _) if Some(name.as_str()) == meant);
            lacks && found.as_ref() == Some(written) && other.violation.path == fault.violation.path
        })
    };
    let told_elsewhere: Vec<bool> =
        faults.iter().zip(&nearest).map(|(fault, meant)| is_told(fault, meant.as_deref())).collect();
    let told = faults.into_iter().zip(nearest).zip(told_elsewhere).filter(|(_, elsewhere)| !elsewhere);
    told.map(|((fault, meant), _)| fault.with_hint(meant)).collect()
}

impl Fault {
    fn with_hint(self, meant: Option<String>) -> Violation {
        let mut violation = self.violation;
        match (meant, self.near) {
            (Some(written), Near::Member(..)) => {
                violation.message.push_str(&format!(" (is it `{written}`?)"))
            }
            (Some(meant), _) => violation.message.push_str(&format!(" (did you mean {meant:?}?)")),
            (None, _) => {}
        }
        violation
    }
}

/// A value that is none of those that are allowed, by `const` and by `enum`.
pub(super) fn unlisted(rule: &Rule, value: &Json<'_>, place: &Place<'_>) -> impl Iterator<Item = Fault> {
    let only = rule.only.as_ref().map(std::slice::from_ref);
    let misses = move |choices: &&[Json<'_>]| !choices.iter().any(|choice| same(choice, value));
    let missed = [only, rule.choices.as_deref()].into_iter().flatten().filter(misses);
    missed.map(move |choices| not_allowed(value, choices, place))
}

fn not_allowed(value: &Json<'_>, choices: &[Json<'_>], place: &Place<'_>) -> Fault {
    let allowed = choices.iter().map(listed);
    match value {
        Json::String(text) => {
            let message = format!("is {}, which is not allowed", told(value));
            Fault::at(place, message).allowed(allowed).given(text)
        }
        Json::Object(members) => {
            let is_choice = |name: &str| choices.iter().any(|choice| choice.as_text() == Some(name));
            match members.as_slice() {
                [(name, _)] if is_choice(name) => alone(name, place),
                _ => Fault::at(place, "is an object, which is not allowed").allowed(allowed),
            }
        }
        value => Fault::at(place, format!("is {}, which is not allowed", told(value))).allowed(allowed),
    }
}

/// A name that was written as the member of an object.
pub(super) fn alone(name: &str, place: &Place<'_>) -> Fault {
    Fault::at(place, format!("is an object with `{name}`; write the string {name:?} in its place"))
}

/// Of a bound of lengths that is crossed; `bounds`: the keywords of the least and the most.
pub(super) fn count_fault(
    rule: &Rule,
    bounds: [&str; 2],
    count: u64,
    what: &str,
    place: &Place<'_>,
) -> Option<Fault> {
    let words = match bounds.map(|keyword| rule.count(keyword)) {
        [Some(least), Some(most)] if least == most && count != most => format!("exactly {least}"),
        [Some(least), _] if count < least => format!("at least {least}"),
        [_, Some(most)] if count > most => format!("at most {most}"),
        _ => return None,
    };
    Some(Fault::bound(place, format!("has {}, must have {words}", counted(count, what))))
}
