//! `#[cfg]` inside a flow. The macro sees it before it is evaluated, and which steps there are decides what is judged.
//! So the flow is written twice, as it is under the first condition and as it is without, each below that condition.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Attribute;

use super::syntax::{Exit, Flow, Stop};
use crate::configured::{assume, condition};
use crate::crate_path;
use crate::keyed::value;

/// Both ways of the flow, if a condition stands in it.
pub(super) fn branches(flow: &Flow) -> Option<TokenStream> {
    let predicate = conditional(flow).find_map(condition)?.predicate;
    let krate = crate_path::resolve(value(&flow.krate));
    let branch = |holds: bool| {
        let (way, keeps) = way(flow.clone(), &mut |attrs| assume(attrs, &predicate, holds));
        let when = if holds { predicate.clone() } else { quote!(not(#predicate)) };
        keeps.then(|| quote!(#[cfg(#when)] #krate::flow! { #way }))
    };
    let (with, without) = (branch(true), branch(false));
    Some(quote!(#with #without))
}

/// The attributes that may be conditions.
fn conditional(flow: &Flow) -> impl Iterator<Item = &Attribute> {
    let parameters = flow.parameters.iter().flatten().flat_map(|parameter| &parameter.attrs);
    let stops = flow.stops.iter().flat_map(|stop| {
        let arms = match &stop.exit {
            Exit::Match(arms) => &arms[..],
            Exit::Arrow(_) => &[],
        };
        stop.attrs.iter().chain(arms.iter().flat_map(|arm| &arm.attrs))
    });
    flow.attrs.iter().chain(parameters).chain(stops)
}

/// The flow as it is when conditions are decided; tells whether it is there at all.
fn way(mut flow: Flow, decide: &mut dyn FnMut(&mut Vec<Attribute>) -> bool) -> (Flow, bool) {
    let keeps = decide(&mut flow.attrs);
    if let Some(parameters) = &mut flow.parameters {
        parameters.retain_mut(|parameter| decide(&mut parameter.attrs));
    }
    flow.stops.retain_mut(|Stop { attrs, exit, .. }| {
        if let Exit::Match(arms) = exit {
            arms.retain_mut(|arm| decide(&mut arm.attrs));
        }
        decide(attrs)
    });
    (flow, keeps)
}
