//! Faults in the items of a list.

use super::checker::{CheckMode, Checker};
use super::fault::count_fault;
use super::{Fault, Location, Rule};
use crate::json::{Json, json_eq};

impl<'s> Checker<'s> {
    pub(super) fn array(
        &self,
        rule: &'s Rule,
        items: &[Json<'_>],
        place: &Location<'_>,
        depth: u32,
        found: &mut Vec<Fault>,
    ) {
        found.extend(count_fault(
            rule,
            ["minItems", "maxItems"],
            items.len() as u64,
            "item",
            place,
        ));
        for (index, item) in items.iter().enumerate().take_while(|_| self.is_complete()) {
            if self.is_enough(found) {
                break;
            }
            if let Some(number) = rule.item(index) {
                found.extend(self.apply(
                    self.rules.at(number),
                    item,
                    &place.item(index),
                    depth + 1,
                ));
            }
        }
        if self.mode == CheckMode::Schema && rule.is_set {
            let twice = (0..items.len())
                .take_while(|index| self.spend(*index as u64, depth))
                .find(|index: &usize| {
                    items[..*index]
                        .iter()
                        .any(|earlier| json_eq(earlier, &items[*index]))
                });
            found.extend(twice.map(|index| Fault::at(&place.item(index), "appears twice")));
        }
    }
}
