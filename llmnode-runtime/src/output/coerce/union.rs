//! Unions: the form that fits as it is, or else the one that fits with a change.

use serde_json::{Map, Value};

use super::super::check::Place;
use super::super::reader::Json;
use super::Misfit;
use super::fit::{Changed, Fit, Fitter, only};

impl Fitter<'_, '_> {
    pub(super) fn union<'t>(
        &self,
        forms: &[&Value],
        whole: &Value,
        value: &Json<'t>,
        place: &Place<'_>,
        depth: u32,
    ) -> Fit<'t> {
        if self.check.fits(whole, value) {
            return Ok(None);
        }
        let found = forms.iter().map(|form| self.fit(form, value, place, depth + 1)).collect();
        nearest(found, place)
    }

    /// A schema of several types is a union of them.
    pub(super) fn kinds<'t>(
        &self,
        kinds: &[&str],
        node: &Map<String, Value>,
        value: &Json<'t>,
        place: &Place<'_>,
        depth: u32,
    ) -> Fit<'t> {
        let of_kind = |kind: &&str| {
            let mut node = node.clone();
            node.insert("type".to_owned(), Value::String((*kind).to_owned()));
            self.kind(kind, &node, value, place, depth + 1)
        };
        nearest(kinds.iter().map(of_kind).collect(), place)
    }
}

/// The one value among those that changed least.
fn nearest<'t>(found: Vec<Fit<'t>>, place: &Place<'_>) -> Fit<'t> {
    let tier = |fit: &Fit<'t>| match fit {
        Ok(Some(Changed { tier, .. })) => Some(*tier),
        _ => None,
    };
    let least = found.iter().filter_map(tier).min();
    let unclear = |fit: &Fit<'t>| matches!(fit, Ok(None) | Err(Misfit(Some(_))));
    only(found.into_iter().filter(|fit| unclear(fit) || tier(fit) == least).collect(), place)
}
