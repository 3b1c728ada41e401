//! Chooses the form of a union for a value.

use super::super::check::{Location, Rule};
use super::super::json::Json;
use super::{Coercer, has_required};
use crate::flag::Repair;
use crate::text::same_letters;

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
        let same_kind = |form: &Rule| self.check.is_kind(form, json);
        if matches!(json, Json::Array(_) | Json::Object(_))
            && leaves.iter().any(|form| same_kind(form))
        {
            leaves.retain(|form| same_kind(form));
        }
        if let [form] = &leaves[..] {
            return self.node(form, json, place, depth + 1);
        }
        let knows_all = |form: &Rule| match &*json {
            Json::Object(members) => members.iter().all(|(name, _)| form.member(name).is_some()),
            _ => true,
        };
        if leaves
            .iter()
            .any(|form| knows_all(form) && self.check.fits(form, json))
        {
            return;
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

    fn could_match(&self, form: &Rule, json: &Json<'_>) -> bool {
        let rules = self.check.rules;
        match json {
            Json::Object(members) => {
                let is_kind = self.check.is_kind(form, json);
                let other = |name: &str| match (
                    rules.tag(form, name),
                    members.iter().find(|(member, _)| member == name),
                ) {
                    (Some(Json::String(tag)), Some((_, Json::String(text)))) => {
                        tag != text && !same_letters(tag, text)
                    }
                    (Some(_), Some(_)) => rules.has_another_tag(form, members),
                    _ => false,
                };
                (is_kind || form.has_type("array"))
                    && !form.names().any(other)
                    && (!is_kind || has_required(form, members))
            }
            Json::String(text) if !form.values().is_empty() => {
                form.texts().any(|name| same_letters(name, text))
            }
            _ => true,
        }
    }
}
