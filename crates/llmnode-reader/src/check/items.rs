//! Faults in the items of a list.

use super::checker::{CheckMode, Checker};
use super::fault::count_fault;
use super::{Fault, Location, Rule};
use crate::json::{Json, json_eq};

impl<'s> Checker<'s> {
    /// Their number first, then each item in order, and at last whether one is there twice.
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
        for (index, item) in items.iter().enumerate() {
            if !self.is_complete() || self.is_enough(found) {
                break;
            }
            if let Some(number) = rule.item(index) {
                let item_rule = self.rules.at(number);
                found.extend(self.apply(item_rule, item, &place.item(index), depth + 1));
            }
        }
        if self.mode == CheckMode::Schema
            && rule.is_set
            && let Some(index) = self.first_repeated(items, depth)
        {
            found.push(Fault::at(&place.item(index), "appears twice"));
        }
    }

    /// The first item that an earlier one equals. Each comparison is work, as there
    /// are as many as pairs.
    fn first_repeated(&self, items: &[Json<'_>], depth: u32) -> Option<usize> {
        for (index, item) in items.iter().enumerate() {
            if !self.spend(index as u64, depth) {
                return None;
            }
            let earlier = &items[..index];
            if earlier.iter().any(|other| json_eq(other, item)) {
                return Some(index);
            }
        }
        None
    }
}
