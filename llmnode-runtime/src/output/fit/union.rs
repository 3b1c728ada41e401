//! Which form of a union a value is meant to have.

use serde_json::Value;

use super::super::check::{Place, has_another_tag, member_schema, properties, tag, types, values};
use super::super::json::Json;
use super::super::schema::Node;
use super::{Fit, has_required, scalar};

impl Fit<'_> {
    /// The form that takes the value unchanged; else the only one that takes it changed.
    pub(super) fn union(&mut self, schema: &Value, json: &mut Json<'_>, place: &Place<'_>, depth: u32) {
        let leaves: Vec<Value> = self
            .check
            .leaves(schema)
            .into_iter()
            .filter(|node| self.may_be(node, json))
            .map(|node| Value::Object(node.clone()))
            .collect();
        if let [form] = &leaves[..] {
            return self.value(form, json, place, depth + 1);
        }
        let knows_all = |form: &Value| match (form.as_object(), &*json) {
            (Some(node), Json::Object(members)) => {
                members.iter().all(|(name, _)| member_schema(node, name).is_some())
            }
            _ => true,
        };
        if leaves.iter().any(|form| knows_all(form) && self.check.fits(form, json)) {
            return;
        }
        let (notes, changed) = (self.notes.clone(), self.changed);
        let mut taken: Option<(Json<'_>, Vec<crate::flag::Note>)> = None;
        for form in &leaves {
            let mut tried = json.clone();
            self.value(form, &mut tried, place, depth + 1);
            let found = std::mem::replace(&mut self.notes, notes.clone());
            self.changed = changed;
            if !self.check.fits(form, &tried) {
                continue;
            }
            match &taken {
                Some((other, _)) if *other != tried => return,
                _ => taken = Some((tried, found)),
            }
        }
        if let Some((tried, found)) = taken {
            self.changed |= *json != tried;
            *json = tried;
            self.notes = found;
        }
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
                        tag != text && !scalar::is_same_name(tag, text)
                    }
                    (Some(_), Some(_)) => has_another_tag(node, members),
                    _ => false,
                };
                kind && !tags.into_iter().any(other)
                    && (has_required(node, members) || !self.check.is_kind(node, json))
            }
            Json::String(text) if !values(node).is_empty() => {
                let names = values(node).iter().filter_map(Value::as_str);
                names.into_iter().any(|name| scalar::is_same_name(name, text))
            }
            _ => true,
        }
    }
}
