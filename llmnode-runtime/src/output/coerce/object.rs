//! Objects, member by member; and a bare value for an object that has one member.

use std::borrow::Cow;

use serde_json::Value;

use super::super::check::{Place, list, member_schema, properties};
use super::super::reader::Json;
use super::fit::{At, Changed, Fit, Fitter, Tier, misfit};
use super::{Change, Misfit};
use crate::flag::Coercion;
use crate::output::schema::Node;

type Members<'t> = [(Cow<'t, str>, Json<'t>)];

impl<'t> Fitter<'_, '_, 't> {
    pub(super) fn object(&self, node: &Node, members: &Members<'t>, place: &Place<'_>, at: At) -> Fit<'t> {
        let mut changes = Vec::new();
        let mut fitted = Vec::with_capacity(members.len());
        let mut why = None;
        for (name, value) in members {
            let schema = member_schema(node, name);
            let fit = match schema {
                Some(_) if self.check.stands_for_absent(node, name, value) => Ok(None),
                Some(schema) => self.fit(schema, value, &place.member(name), at.within()),
                None => Ok(None),
            };
            match fit {
                Ok(None) => fitted.push((name.clone(), value.clone())),
                Ok(Some(changed)) => {
                    changes.extend(changed.changes);
                    fitted.push((name.clone(), changed.json));
                }
                Err(Misfit(Some(known))) => why = why.or(Some(known)),
                Err(Misfit(None)) => return misfit(),
            }
        }
        if why.is_some() {
            return Err(Misfit(why));
        }
        for name in list(node, "required").iter().filter_map(Value::as_str) {
            if members.iter().any(|(given, _)| given == name) {
                continue;
            }
            if !member_schema(node, name).is_some_and(|schema| self.check.fits(schema, &Json::Null)) {
                return misfit();
            }
            changes.push(Change::at(Coercion::Null, &place.member(name)));
            fitted.push((Cow::Owned(name.to_owned()), Json::Null));
        }
        let changed = Changed { json: Json::Object(fitted), changes, tier: Tier::Kind };
        Ok(Some(changed).filter(|changed| !changed.changes.is_empty()))
    }

    /// A value that is not the object, but what its only member holds.
    pub(super) fn bare_member(&self, node: &Node, value: &Json<'t>, place: &Place<'_>, at: At) -> Fit<'t> {
        let mut named = properties(node).into_iter().flatten();
        let (Some((name, schema)), None) = (named.next(), named.next()) else { return misfit() };
        let is_it = |value: &Json<'t>| matches!(value, Json::Object(members) if members.iter().any(|(key, _)| key == name));
        if node.get("additionalProperties").is_some_and(|schema| *schema != Value::Bool(false))
            || list(node, "required").iter().any(|required| required != name)
            || is_it(value)
            || !self.knows_all(schema, value)
        {
            return misfit();
        }
        let wrap = |json| Json::Object(vec![(Cow::Owned(name.clone()), json)]);
        Ok(Some(match self.fit(schema, value, &place.member(name), at.shaped())? {
            None => Changed::new(wrap(value.clone()), Coercion::Member, place, Tier::Shape),
            Some(inner) => {
                let json = wrap(inner.json.clone());
                inner.within(json, Coercion::Member, place)
            }
        }))
    }

    /// Whether a schema has a name for each member of an object: one that knows some of them only would lose the rest,
    /// which serde passes over.
    pub(super) fn knows_all(&self, schema: &Value, value: &Json<'_>) -> bool {
        !matches!(value, Json::Object(_)) || self.knows_all_in(&self.check.leaves(schema), value)
    }

    /// The same for one of these forms.
    pub(super) fn knows_all_in(&self, leaves: &[&Node], value: &Json<'_>) -> bool {
        let Json::Object(members) = value else { return true };
        let knows = |node: &Node| members.iter().all(|(name, _)| member_schema(node, name).is_some());
        // Items of a list, of which this may be the only one.
        let items =
            leaves.iter().filter_map(|node| node.get("items")).flat_map(|items| self.check.leaves(items));
        items.chain(leaves.iter().copied()).any(knows)
    }
}
