//! Which form of a union a value is meant to have.

use serde_json::Value;

use super::super::check::{Place, Said, has_another_tag, member_schema, properties, tag, types, values};
use super::super::json::Json;
use super::super::schema::Node;
use super::{Fit, has_required};
use crate::flag::Note;
use crate::text::same_letters;

impl Fit<'_> {
    /// The form that takes the value unchanged; else the only one that takes it changed.
    pub(super) fn union(&mut self, schema: &Value, json: &mut Json<'_>, place: &Place<'_>, depth: u32) {
        let mut leaves = self.check.leaves(schema);
        leaves.retain(|node| self.may_be(node, json));
        let same_kind = |node: &Node| self.check.is_kind(node, json);
        if matches!(json, Json::Array(_) | Json::Object(_)) && leaves.iter().any(|node| same_kind(node)) {
            leaves.retain(|node| same_kind(node));
        }
        if let [form] = &leaves[..] {
            return self.node(form, Said::of(form), json, place, depth + 1);
        }
        let knows_all = |node: &Node| match &*json {
            Json::Object(members) => members.iter().all(|(name, _)| member_schema(node, name).is_some()),
            _ => true,
        };
        if leaves.iter().any(|form| knows_all(form) && self.check.fits_node(form, json)) {
            return;
        }
        // A form that takes the value itself is nearer than one that takes a list of it.
        let as_one = std::mem::replace(&mut self.as_one, true);
        let mut taken = self.only_taken(&leaves, json, place, depth);
        self.as_one = as_one;
        if !as_one && matches!(taken, Ok(None)) {
            taken = self.only_taken(&leaves, json, place, depth);
        }
        if let Ok(Some((tried, notes))) = taken {
            self.changed |= *json != tried;
            *json = tried;
            self.notes = notes;
        }
    }

    /// What the only form makes of the value that takes it.
    ///
    /// # Errors
    /// Several take it, and make different values of it.
    fn only_taken<'j>(
        &mut self,
        leaves: &[&Node],
        json: &Json<'j>,
        place: &Place<'_>,
        depth: u32,
    ) -> Result<Option<(Json<'j>, Vec<Note>)>, ()> {
        let (notes, changed) = (self.notes.clone(), self.changed);
        let mut taken: Option<(Json<'j>, Vec<Note>)> = None;
        for form in leaves {
            let mut tried = json.clone();
            self.node(form, Said::of(form), &mut tried, place, depth + 1);
            let found = std::mem::replace(&mut self.notes, notes.clone());
            self.changed = changed;
            if !self.check.fits_node(form, &tried) {
                continue;
            }
            match &taken {
                Some((other, _)) if *other != tried => return Err(()),
                _ => taken = Some((tried, found)),
            }
        }
        Ok(taken)
    }

    /// Whether a value may be meant as this form: its kind, its tag and its required members fit, or could be made to.
    fn may_be(&self, node: &Node, json: &Json<'_>) -> bool {
        match json {
            Json::Object(members) => {
                let kind = self.check.is_kind(node, json) || types(node).contains(&"array");
                let tags = properties(node).into_iter().flat_map(|named| named.keys());
                let other = |name: &String| match (
                    tag(node, name),
                    members.iter().find(|(given, _)| given == name),
                ) {
                    (Some(Value::String(tag)), Some((_, Json::String(text)))) => {
                        tag != text && !same_letters(tag, text)
                    }
                    (Some(_), Some(_)) => has_another_tag(node, members),
                    _ => false,
                };
                kind && !tags.into_iter().any(other)
                    && (has_required(node, members) || !self.check.is_kind(node, json))
            }
            Json::String(text) if !values(node).is_empty() => {
                let names = values(node).iter().filter_map(Value::as_str);
                names.into_iter().any(|name| same_letters(name, text))
            }
            _ => true,
        }
    }
}
