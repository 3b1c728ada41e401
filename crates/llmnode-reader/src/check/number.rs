//! Faults of numbers: bounds, and digits that the type cannot hold.
//!
//! Bounds are compared digit by digit: as floating point, a value next to its bound
//! would pass for it.

use super::Rule;
use super::describe::excerpt;
use crate::decimal::Decimal;

/// Why an `f64` does not hold the number. Only of types that are numbers: what an
/// integer holds is a bound.
pub(super) fn unrepresentable(rule: &Rule, digits: &str) -> Option<String> {
    if !rule.has_type("number") {
        return None;
    }
    let shown = excerpt(digits);
    if digits.parse::<f64>().is_ok_and(f64::is_infinite) {
        return Some(format!(
            "is {shown}, which is too large; must be within ±{:e}",
            f64::MAX
        ));
    }
    if is_rounded(digits) {
        return Some(format!(
            "is {shown}, which the number type cannot hold exactly"
        ));
    }
    None
}

/// Integers beyond `i64` and `u64`, unless an `f64` holds them exactly.
pub(super) fn rounded(digits: &str) -> Option<String> {
    let is_integer = digits.parse::<i64>().is_ok() || digits.parse::<u64>().is_ok();
    if is_integer || !is_rounded(digits) {
        return None;
    }
    Some(format!(
        "is {}, which cannot be held exactly; put it in quotes",
        excerpt(digits)
    ))
}

/// A point or an exponent marks a number as inexact: `6.02214076e23`.
fn is_rounded(digits: &str) -> bool {
    // As many digits an `f64` holds, whichever they are.
    const FEW: usize = 15;
    if digits.len() <= FEW || digits.contains(['.', 'e', 'E']) {
        return false;
    }
    let Some(number) = Decimal::parse(digits) else {
        return false;
    };
    let Ok(held) = digits.parse::<f64>() else {
        return true;
    };
    let held_digits = format!("{held:.0}");
    Decimal::parse(&held_digits) != Some(number)
}

/// A fault for each bound that the number exceeds.
pub(super) fn number_faults(rule: &Rule, digits: &str) -> Vec<String> {
    type Fits = fn(&Decimal<'_>, &Decimal<'_>) -> bool;
    const BOUNDS: [(&str, Fits, &str); 5] = [
        ("minimum", |value, bound| value >= bound, "at least"),
        ("maximum", |value, bound| value <= bound, "at most"),
        (
            "exclusiveMinimum",
            |value, bound| value > bound,
            "more than",
        ),
        (
            "exclusiveMaximum",
            |value, bound| value < bound,
            "less than",
        ),
        ("multipleOf", is_multiple, "a multiple of"),
    ];
    let Some(value) = Decimal::parse(digits) else {
        return Vec::new();
    };
    let mut faults = Vec::new();
    for (keyword, fits, words) in BOUNDS {
        let Some(bound) = rule.bound(keyword) else {
            continue;
        };
        if let Some(parsed) = Decimal::parse(bound)
            && !fits(&value, &parsed)
        {
            let shown = excerpt(digits);
            faults.push(format!("is {shown}, must be {words} {bound}"));
        }
    }
    faults
}

/// Exact unless there are too many digits; then within the precision of floating point.
fn is_multiple(value: &Decimal<'_>, of: &Decimal<'_>) -> bool {
    let unit = value.last().min(of.last());
    if let (Some(value), Some(of)) = (value.scaled(unit), of.scaled(unit)) {
        return value.checked_rem(of).is_none_or(|rest| rest == 0);
    }
    let times = value.magnitude() / of.magnitude();
    (times - times.round()).abs() <= times.abs() * 4.0 * f64::EPSILON
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_floats_are_told_from_the_others() {
        for (text, rounded) in [
            ("150", false),
            ("9007199254740992", false),
            ("9007199254740993", true),
            ("1e22", false),
            ("100000000000000000000001", true),
            ("0.1234567890123456789", false),
            ("6.02214076e23", false),
            ("1.2345678901234568e+20", false),
            ("123456789012345678901.0", false),
        ] {
            assert_eq!(is_rounded(text), rounded, "{text}");
        }
    }
}
