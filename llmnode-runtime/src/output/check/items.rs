//! What is wrong with the items of a list; and whether two values are equal, which no two items of a set may be.

use std::borrow::Cow;

use super::fault::count_fault;
use super::{Check, Decimal, Fault, Judge, Place, Rule};
use crate::output::json::Json;

impl<'s> Check<'s> {
    pub(super) fn array(
        &self,
        rule: &'s Rule,
        items: &[Json<'_>],
        place: &Place<'_>,
        depth: u32,
        found: &mut Vec<Fault>,
    ) {
        found.extend(count_fault(rule, ["minItems", "maxItems"], items.len() as u64, "item", place));
        for (index, item) in items.iter().enumerate().take_while(|_| self.ends()) {
            if self.is_enough(found) {
                break;
            }
            if let Some(number) = rule.item(index) {
                found.extend(self.apply(self.rules.at(number), item, &place.item(index), depth + 1));
            }
        }
        if self.judge == Judge::Schema && rule.is_set {
            let again = |index: &usize| items[..*index].iter().any(|earlier| same(earlier, &items[*index]));
            let twice = (0..items.len()).take_while(|index| self.spend(*index as u64, depth)).find(again);
            found.extend(twice.map(|index| Fault::at(&place.item(index), "appears twice")));
        }
    }
}

/// Equality as JSON Schema has it: `1` is `1.0`.
pub(crate) fn same(one: &Json<'_>, other: &Json<'_>) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => {
            one == other || Decimal::parse(one).is_some_and(|one| Some(one) == Decimal::parse(other))
        }
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            let equal = |(name, value): &(Cow<'_, str>, Json<'_>)| {
                other.iter().any(|(key, other)| key == name && same(value, other))
            };
            one.len() == other.len() && one.iter().all(equal)
        }
        _ => one == other,
    }
}
