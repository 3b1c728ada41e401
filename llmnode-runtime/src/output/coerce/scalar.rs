//! Numbers and Booleans that came as strings, and the other way round.

use std::borrow::Cow;

use super::super::check::{Decimal, Place};
use super::super::reader::Json;
use super::choice::{Named, named};
use super::fit::{Changed, Fit, Fitter, Tier, misfit, two};
use crate::flag::Coercion;

impl<'t> Fitter<'_, '_, 't> {
    /// A scalar of another kind.
    pub(super) fn scalar(&self, kind: &str, value: &Json<'t>, place: &Place<'_>) -> Fit<'t> {
        let changed = |json, coercion, tier| Ok(Some(Changed::new(json, coercion, place, tier)));
        match (kind, value) {
            ("integer", Json::Number(digits)) => {
                match Decimal::parse(digits).and_then(|it| it.plain_integer()) {
                    Some(plain) => changed(Json::Number(plain.into()), Coercion::Integer, Tier::Kind),
                    None => misfit(),
                }
            }
            ("integer" | "number", Json::String(text)) => match number(text, kind) {
                Some(digits) => changed(Json::Number(digits), Coercion::NumberFromString, Tier::Scalar),
                None => misfit(),
            },
            ("string", Json::Number(digits)) => {
                changed(Json::String(digits.clone()), Coercion::StringFromNumber, Tier::Scalar)
            }
            ("boolean", Json::String(text)) => match named(text, &["true", "false"], true) {
                Named::One(index, Coercion::Mentioned) => {
                    changed(Json::Bool(index == 0), Coercion::Mentioned, Tier::Scalar)
                }
                Named::One(index, _) => changed(Json::Bool(index == 0), Coercion::Boolean, Tier::Scalar),
                Named::Two(..) => Err(two(&Json::Bool(true), &Json::Bool(false), place)),
                Named::None => misfit(),
            },
            _ => misfit(),
        }
    }
}

/// The number that a text is, where no digit is lost: in JSON's grammar, and for floating point what it keeps.
fn number<'t>(text: &Cow<'t, str>, kind: &str) -> Option<Cow<'t, str>> {
    let digits = match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    };
    let number = Decimal::parse(&digits)?;
    if kind == "integer" {
        return Some(Cow::Owned(number.plain_integer()?));
    }
    number.is_exact_float(&digits).then_some(digits.clone())
}
