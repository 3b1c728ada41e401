//! Faults in the items of a list, and JSON equality for lists that are sets.

use std::borrow::Cow;

use super::fault::count_fault;
use super::{CheckMode, Checker, Decimal, Fault, Location, Rule};
use crate::json::Json;

impl<'s> Checker<'s> {
    pub(super) fn array(
        &self,
        rule: &'s Rule,
        items: &[Json<'_>],
        place: &Location<'_>,
        depth: u32,
        found: &mut Vec<Fault>,
    ) {
        found.extend(count_fault(rule, ["minItems", "maxItems"], items.len() as u64, "item", place));
        for (index, item) in items.iter().enumerate().take_while(|_| self.is_complete()) {
            if self.is_enough(found) {
                break;
            }
            if let Some(number) = rule.item(index) {
                found.extend(self.apply(self.rules.at(number), item, &place.item(index), depth + 1));
            }
        }
        if self.mode == CheckMode::Schema && rule.is_set {
            let again =
                |index: &usize| items[..*index].iter().any(|earlier| json_eq(earlier, &items[*index]));
            let twice = (0..items.len()).take_while(|index| self.spend(*index as u64, depth)).find(again);
            found.extend(twice.map(|index| Fault::at(&place.item(index), "appears twice")));
        }
    }
}

/// Equality as in JSON Schema: `1` equals `1.0`.
pub(crate) fn json_eq(one: &Json<'_>, other: &Json<'_>) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => {
            one == other || Decimal::parse(one).is_some_and(|one| Some(one) == Decimal::parse(other))
        }
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| json_eq(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            let equal = |(name, value): &(Cow<'_, str>, Json<'_>)| {
                other.iter().any(|(key, other)| key == name && json_eq(value, other))
            };
            one.len() == other.len() && one.iter().all(equal)
        }
        _ => one == other,
    }
}
