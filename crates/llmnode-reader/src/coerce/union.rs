//! Chooses the form of a union for a value.
//!
//! In this order: forms that the value cannot be are left out, by its kind, its tag
//! and the members that it lacks; if one is left, the value is coerced to it. If
//! one of several takes the value as it is, nothing is changed. Else each is tried
//! on a copy, first without adding or removing lists, and only if all that fit
//! agree on the result, that is taken.

use super::super::check::{Location, Rule};
use super::super::json::{Json, Members};
use super::{Coercer, has_required};
use crate::flag::Repair;
use crate::text::same_letters;

/// Whether the form names all members that the value has, so that none would be dropped.
fn has_all_members(form: &Rule, json: &Json<'_>) -> bool {
    match json {
        Json::Object(members) => members.iter().all(|(name, _)| form.member(name).is_some()),
        _ => true,
    }
}

impl<'s> Coercer<'s> {
    /// A form that takes the value unchanged wins; otherwise the only one that takes it coerced.
    pub(super) fn union(
        &mut self,
        union: &'s Rule,
        json: &mut Json<'_>,
        place: &Location<'_>,
        depth: u32,
    ) {
        let mut leaves = self.check.rules.leaves(union);
        leaves.retain(|form| self.could_match(form, json));
        let is_container = matches!(json, Json::Array(_) | Json::Object(_));
        if is_container && leaves.iter().any(|form| self.check.is_kind(form, json)) {
            leaves.retain(|form| self.check.is_kind(form, json));
        }
        if let [form] = &leaves[..] {
            return self.node(form, json, place, depth + 1);
        }
        for form in &leaves {
            if has_all_members(form, json) && self.check.fits(form, json) {
                return;
            }
        }
        // A form that takes the value itself is closer than one that takes a list of it.
        let keeps_lists = std::mem::replace(&mut self.keeps_lists, true);
        let mut taken = self.unique_coercion(&leaves, json, place, depth);
        self.keeps_lists = keeps_lists;
        if !keeps_lists && matches!(taken, Ok(None)) {
            taken = self.unique_coercion(&leaves, json, place, depth);
        }
        if let Ok(Some((tried, notes))) = taken {
            self.changed |= *json != tried;
            *json = tried;
            self.notes = notes;
        }
    }

    /// What all forms that take the value make of it, and the notes. `Err`: they
    /// disagree. `Ok(None)`: none takes it.
    fn unique_coercion<'j>(
        &mut self,
        leaves: &[&'s Rule],
        json: &Json<'j>,
        place: &Location<'_>,
        depth: u32,
    ) -> Result<Option<(Json<'j>, Vec<Repair>)>, ()> {
        let notes = self.notes.clone();
        let changed = self.changed;
        let mut taken: Option<(Json<'j>, Vec<Repair>)> = None;
        for form in leaves {
            let mut tried = json.clone();
            self.node(form, &mut tried, place, depth + 1);
            let found = std::mem::replace(&mut self.notes, notes.clone());
            self.changed = changed;
            if !self.check.fits(form, &tried) {
                continue;
            }
            match &taken {
                Some((other, _)) if *other != tried => return Err(()),
                _ => taken = Some((tried, found)),
            }
        }
        Ok(taken)
    }

    /// Whether the value, coerced, may be of this form. In doubt it may.
    fn could_match(&self, form: &Rule, json: &Json<'_>) -> bool {
        match json {
            Json::Object(members) => {
                let is_kind = self.check.is_kind(form, json);
                if !is_kind && !form.has_type("array") {
                    return false;
                }
                if self.has_other_tag(form, members) {
                    return false;
                }
                // Of a list of objects, this is one object.
                !is_kind || has_required(form, members)
            }
            Json::String(text) if !form.values().is_empty() => {
                form.texts().any(|name| same_letters(name, text))
            }
            _ => true,
        }
    }

    /// Whether a member says that the object is of another form. A tag in other
    /// letters says that it is of this one.
    fn has_other_tag(&self, form: &Rule, members: &Members<'_>) -> bool {
        let rules = self.check.rules;
        for name in form.names() {
            let Some(tag) = rules.tag(form, name) else {
                continue;
            };
            let Some((_, value)) = members.iter().find(|(member, _)| member == name) else {
                continue;
            };
            let is_other = match (tag, value) {
                (Json::String(tag), Json::String(text)) => tag != text && !same_letters(tag, text),
                _ => rules.has_another_tag(form, members),
            };
            if is_other {
                return true;
            }
        }
        false
    }
}
