//! Lists, item by item; one value for a list, and a list of one for a value.

use super::super::check::{Place, list};
use super::super::reader::Json;
use super::fit::{At, Changed, Fit, Fitter, Tier, Tried, misfit, two};
use super::{Change, Misfit};
use crate::flag::Coercion;
use crate::output::schema::Node;

impl<'t> Fitter<'_, '_, 't> {
    pub(super) fn array(&self, node: &Node, items: &[Json<'t>], place: &Place<'_>, at: At) -> Fit<'t> {
        let prefix = list(node, "prefixItems");
        let mut changes = Vec::new();
        let mut fitted = Vec::with_capacity(items.len());
        let mut why = None;
        for (index, item) in items.iter().enumerate() {
            let schema = prefix.get(index).or_else(|| node.get("items"));
            match schema.map_or(Ok(None), |schema| self.fit(schema, item, &place.item(index), at.within())) {
                Ok(None) => fitted.push(item.clone()),
                Ok(Some(changed)) => {
                    changes.extend(changed.changes);
                    fitted.push(changed.json);
                }
                Err(Misfit(Some(known))) => why = why.or(Some(known)),
                Err(Misfit(None)) => return misfit(),
            }
        }
        if why.is_some() {
            return Err(Misfit(why));
        }
        let whole = self.as_one_item(node, items, &changes, place, at);
        let changed = Changed { json: Json::Array(fitted), changes, tier: Tier::Kind };
        if let Some(whole) = whole.filter(|whole| *whole != changed.json) {
            return Err(two(&changed.json, &whole, place));
        }
        Ok(Some(changed).filter(|changed| !changed.changes.is_empty()))
    }

    /// The list whose only item is this one, where each of its items was made a list: `[1, 2]` may be a row, or two of
    /// them.
    fn as_one_item(
        &self,
        node: &Node,
        items: &[Json<'t>],
        changes: &[Change],
        place: &Place<'_>,
        at: At,
    ) -> Option<Json<'t>> {
        let put = |index: usize| {
            let path = place.item(index).path();
            changes.iter().any(|change| change.coercion == Coercion::List && change.path == path)
        };
        let schema = node.get("items").filter(|_| list(node, "prefixItems").is_empty())?;
        if items.is_empty() || items.iter().any(|item| matches!(item, Json::Array(_))) || !put(0) {
            return None;
        }
        let whole = Json::Array(items.to_vec());
        let fit = self.fit(schema, &whole, &place.item(0), at.within().trying(Tried::Direct)).ok()?;
        Some(Json::Array(vec![fit.map_or(whole, |changed| changed.json)]))
    }

    /// One value where a list is wanted.
    pub(super) fn one_for_list(&self, node: &Node, value: &Json<'t>, place: &Place<'_>, at: At) -> Fit<'t> {
        let Some(schema) = node.get("items").filter(|_| list(node, "prefixItems").is_empty()) else {
            return misfit();
        };
        if matches!(value, Json::Array(_)) || is_list_or_blank(value) || !self.knows_all(schema, value) {
            return misfit();
        }
        Ok(Some(match self.fit(schema, value, &place.item(0), at.shaped())? {
            None => Changed::new(Json::Array(vec![value.clone()]), Coercion::List, place, Tier::Shape),
            Some(inner) => {
                let json = Json::Array(vec![inner.json.clone()]);
                inner.within(json, Coercion::List, place)
            }
        }))
    }

    /// A list of one where its value is wanted; `fit` makes that fit.
    pub(super) fn single(
        &self,
        node: &Node,
        items: &[Json<'t>],
        place: &Place<'_>,
        at: At,
        fit: impl Fn(&Json<'t>, At) -> Fit<'t>,
    ) -> Fit<'t> {
        let [item] = items else { return misfit() };
        if !self.knows_all_in(&[node], item) {
            return misfit();
        }
        Ok(Some(match fit(item, at.shaped())? {
            None => Changed::new(item.clone(), Coercion::Single, place, Tier::Shape),
            Some(inner) => {
                let json = inner.json.clone();
                inner.within(json, Coercion::Single, place)
            }
        }))
    }
}

/// Whether a text may be the whole list, written as a text, or none: as one item it would be another value.
fn is_list_or_blank(value: &Json<'_>) -> bool {
    let Json::String(text) = value else { return false };
    let text = text.trim();
    text.is_empty() || (text.starts_with('[') && text.ends_with(']')) || has_bullets(text)
}

/// Whether a text has several lines, each of which is one of a list: `- a↵- b`, `1. a↵2. b`.
fn has_bullets(text: &str) -> bool {
    let is_one = |line: &str| {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = rest.len() < line.len() && rest.starts_with(['.', ')']);
        numbered || line.starts_with(['-', '*', '•', '–', '+'])
    };
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.clone().nth(1).is_some() && lines.all(is_one)
}
