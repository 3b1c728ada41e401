//! All that is wrong with an answer to a type: what the schema shows, beside the first fault that serde met.

use super::fault::tell;
use super::words::shown;
use super::{Check, Judge, by_schema, inside, unchecked};
use crate::output::OutputSchema;
use crate::output::reader::{EXPECTED_INTEGER, HAS_MEMBER, Json, doubled_key, parse};
use crate::output::schema::WRAPPER;
use crate::validate::Violation;

/// What speaks against JSON by a schema alone.
pub(in crate::output) fn objections_by_schema(
    schema: &OutputSchema,
    value: &Json<'_>,
    wrapped: bool,
) -> Vec<Violation> {
    by_schema(&schema.tree, schema.own(), value, wrapped)
}

/// What speaks against JSON of a type: all that is wrong, where serde refused it, else the bounds that it crosses.
pub(in crate::output) fn objections(
    json: &str,
    schema: &OutputSchema,
    wrapped: bool,
    serde: Option<Violation>,
) -> Vec<Violation> {
    match (serde, parse(json)) {
        (Some(serde), Some(tree)) => explained(schema, &tree, wrapped, serde),
        (Some(serde), None) if serde.message.starts_with(HAS_MEMBER) => vec![serde],
        (Some(serde), None) => doubled(json).into_iter().chain([serde]).collect(),
        (None, Some(tree)) => out_of_bounds(schema, &tree, wrapped),
        (None, None) => vec![doubled(json).unwrap_or_else(unchecked)],
    }
}

/// What is said of JSON that has a member twice: which value is meant is not known.
pub(super) fn doubled(json: &str) -> Option<Violation> {
    let key = doubled_key(json)?;
    let message = format!("{HAS_MEMBER}`{}` twice with different values; write it once", shown(&key));
    Some(Violation::new("", message))
}

/// Everything that is wrong with an answer that serde refused, in the words of the schema; `serde` is what it said.
/// `wrapped`: the answer's paths begin with the member that wraps it.
fn explained(schema: &OutputSchema, value: &Json<'_>, wrapped: bool, serde: Violation) -> Vec<Violation> {
    let mut found = faults(schema, value, wrapped, |_| true).unwrap_or_default();
    let told = |one: &Violation| is_within(&one.path, &serde.path) || is_within(&serde.path, &one.path);
    if !found.iter().any(told) {
        let path =
            if wrapped { serde.path.strip_prefix(WRAPPER).unwrap_or(&serde.path) } else { &serde.path };
        found.push(match at(value, path) {
            Some(Json::Number(digits)) => as_written(serde, digits),
            _ => serde,
        });
    }
    found
}

/// A number that serde rounds before it refuses it, by the digits that were written.
fn as_written(serde: Violation, digits: &str) -> Violation {
    match serde.message.split_once(EXPECTED_INTEGER) {
        Some((_, bounds)) => {
            Violation { message: format!("is {}{EXPECTED_INTEGER}{bounds}", shown(digits)), ..serde }
        }
        None => serde,
    }
}

/// The value at a path of serde's.
fn at<'j, 't>(value: &'j Json<'t>, path: &str) -> Option<&'j Json<'t>> {
    let rest = path.strip_prefix('.').unwrap_or(path);
    match value {
        _ if rest.is_empty() => Some(value),
        Json::Array(items) => {
            let (index, rest) = rest.strip_prefix('[')?.split_once(']')?;
            at(items.get(index.parse::<usize>().ok()?)?, rest)
        }
        Json::Object(members) => members.iter().find_map(|(name, value)| {
            let rest = rest.strip_prefix(&**name)?;
            (rest.is_empty() || rest.starts_with(['.', '['])).then(|| at(value, rest)).flatten()
        }),
        _ => None,
    }
}

/// The bounds that an answer crosses which serde took.
fn out_of_bounds(schema: &OutputSchema, value: &Json<'_>, wrapped: bool) -> Vec<Violation> {
    faults(schema, value, wrapped, |bound| bound).unwrap_or_else(|| vec![unchecked()])
}

/// `None`: it would take too long.
fn faults(
    schema: &OutputSchema,
    value: &Json<'_>,
    wrapped: bool,
    counts: impl Fn(bool) -> bool,
) -> Option<Vec<Violation>> {
    let check = Check::new(&schema.tree, Judge::Type, [value]);
    let found = check.apply(schema.own(), value, &inside(wrapped), 0);
    let counted = found.into_iter().filter(|fault| counts(fault.bound)).collect();
    check.ends().then(|| tell(counted))
}

/// Whether one path leads to a place in or at that of the other.
fn is_within(inner: &str, outer: &str) -> bool {
    inner
        .strip_prefix(outer)
        .is_some_and(|rest| outer.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
}
