//! Unions: the form that fits as it is, or else the one that fits with a change.

use serde_json::{Map, Value};

use super::super::check::Place;
use super::super::reader::Json;
use super::Misfit;
use super::fit::{At, Changed, Fit, Fitter, Tried, only};

impl Fitter<'_, '_> {
    pub(super) fn union<'t>(
        &self,
        forms: &[&Value],
        whole: &Value,
        value: &Json<'t>,
        place: &Place<'_>,
        at: At,
    ) -> Fit<'t> {
        if self.check.fits(whole, value) {
            return Ok(None);
        }
        let at = at.variant(self.check.are_variants(forms));
        self.nearest(place, at, |at| forms.iter().map(|form| self.fit(form, value, place, at)).collect())
    }

    /// A schema of several types is a union of them.
    pub(super) fn kinds<'t>(
        &self,
        kinds: &[&str],
        node: &Map<String, Value>,
        value: &Json<'t>,
        place: &Place<'_>,
        at: At,
    ) -> Fit<'t> {
        let of_kind = |kind: &str, at: At| {
            let mut node = node.clone();
            node.insert("type".to_owned(), Value::String(kind.to_owned()));
            self.kind(kind, &node, value, place, at)
        };
        self.nearest(place, at, |at| kinds.iter().map(|kind| of_kind(kind, at)).collect())
    }

    /// The one value among those that the forms come to: something is put around it or taken off only if nothing else
    /// makes it fit.
    fn nearest<'t>(&self, place: &Place<'_>, at: At, forms: impl Fn(At) -> Vec<Fit<'t>>) -> Fit<'t> {
        let at = at.here();
        if !at.tries_all() {
            return nearest(forms(at), place);
        }
        match nearest(forms(at.trying(Tried::Direct)), place) {
            Err(Misfit(None)) => nearest(forms(at.trying(Tried::Shape)), place),
            found => found,
        }
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
