//! Unions: the form that fits as it is, or else the one that fits with a change.

use serde_json::Value;

use super::super::check::{Place, words::kinds_of};
use super::super::reader::Json;
use super::Misfit;
use super::fit::{At, Changed, Fit, Fitter, Tried, only};
use crate::output::schema::Node;

/// Of how many unions it is kept what came of them.
const KNOWN: usize = 1024;

impl<'t> Fitter<'_, '_, 't> {
    pub(super) fn union(
        &self,
        forms: &[&Value],
        whole: &Value,
        value: &Json<'t>,
        place: &Place<'_>,
        at: At,
    ) -> Fit<'t> {
        let memory = std::ptr::from_ref(value).cast();
        let asked = (std::ptr::from_ref(whole), memory, at.shapes, at.tried, at.scalars);
        let here = place.path();
        if let Some(known) = self.known.borrow().get(&asked) {
            return moved(known.clone(), "", &here);
        }
        let fit = self.forms(forms, whole, value, place, at);
        let mut known = self.known.borrow_mut();
        if known.len() >= KNOWN {
            known.clear();
        }
        known.insert(asked, moved(fit.clone(), &here, ""));
        fit
    }

    fn forms(&self, forms: &[&Value], whole: &Value, value: &Json<'t>, place: &Place<'_>, at: At) -> Fit<'t> {
        if self.check.fits(whole, value) {
            return Ok(None);
        }
        let takes_scalars = |form: &&Value| self.check.leaves(form).into_iter().any(takes_scalars);
        let at = at.variant(self.check.are_variants(forms)).beside_scalars(forms.iter().any(takes_scalars));
        self.nearest(place, at, |at| forms.iter().map(|form| self.fit(form, value, place, at)).collect())
    }

    /// A schema of several types is a union of them.
    pub(super) fn kinds(
        &self,
        kinds: &[&str],
        node: &Node,
        value: &Json<'t>,
        place: &Place<'_>,
        at: At,
    ) -> Fit<'t> {
        let at = at.beside_scalars(takes_scalars(node));
        let of_kind = |kind: &str, at: At| self.kind(kind, node, value, place, at);
        self.nearest(place, at, |at| kinds.iter().map(|kind| of_kind(kind, at)).collect())
    }

    /// The one value among those that the forms come to: something is put around it or taken off only if nothing else
    /// makes it fit.
    fn nearest(&self, place: &Place<'_>, at: At, forms: impl Fn(At) -> Vec<Fit<'t>>) -> Fit<'t> {
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

/// Whether a form is of scalars. `null` is what stands for none.
fn takes_scalars(node: &Node) -> bool {
    kinds_of(node).iter().any(|kind| matches!(*kind, "boolean" | "integer" | "number" | "string"))
}

/// What came of a value at one place, as it is told of another.
fn moved<'t>(fit: Fit<'t>, from: &str, to: &str) -> Fit<'t> {
    let path = |path: &str| {
        let inner = path.strip_prefix(from).unwrap_or(path).trim_start_matches('.');
        let dot = if to.is_empty() || inner.is_empty() || inner.starts_with('[') { "" } else { "." };
        format!("{to}{dot}{inner}")
    };
    match fit {
        Ok(None) => Ok(None),
        Ok(Some(mut changed)) => {
            changed.changes.iter_mut().for_each(|change| change.path = path(&change.path));
            Ok(Some(changed))
        }
        Err(Misfit(why)) => Err(Misfit(why.map(|mut why| {
            why.path = path(&why.path);
            why
        }))),
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
