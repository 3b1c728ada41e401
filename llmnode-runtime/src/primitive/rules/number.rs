//! What a schema says of numbers. Whole ones are compared as they are: as floating point, the ids of large systems
//! would be the same as their neighbours.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

pub(super) fn is_integer(number: &Number) -> bool {
    !number.is_f64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}

/// What is wrong with a number by the bounds in a schema.
pub(super) fn number_faults(node: &Map<String, Value>, number: &Number) -> impl Iterator<Item = String> {
    /// Whether a number fits to the one in the schema.
    type Fits = fn(&Number, &Number) -> Option<bool>;
    let bounds: [(&str, Fits, &str); 5] = [
        ("minimum", |value, bound| Some(compare(value, bound)?.is_ge()), "at least"),
        ("maximum", |value, bound| Some(compare(value, bound)?.is_le()), "at most"),
        ("exclusiveMinimum", |value, bound| Some(compare(value, bound)?.is_gt()), "more than"),
        ("exclusiveMaximum", |value, bound| Some(compare(value, bound)?.is_lt()), "less than"),
        ("multipleOf", is_multiple, "a multiple of"),
    ];
    bounds.into_iter().filter_map(move |(keyword, fits, words)| {
        let Value::Number(bound) = node.get(keyword)? else { return None };
        (!fits(number, bound)?).then(|| format!("is {number}, must be {words} {bound}"))
    })
}

/// The order of two numbers: `1` is `1.0`.
pub(super) fn compare(one: &Number, other: &Number) -> Option<Ordering> {
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

fn is_multiple(value: &Number, of: &Number) -> Option<bool> {
    if let (Some(value), Some(of)) = (whole(value), whole(of)) {
        return value.checked_rem(of).map(|rest| rest == 0);
    }
    // Up to what floating point makes of it: 0.3 is a multiple of 0.1.
    let times = value.as_f64()? / of.as_f64()?;
    Some((times - times.round()).abs() <= times.abs() * 4.0 * f64::EPSILON)
}

fn whole(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}
